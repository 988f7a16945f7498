package claude

import (
	"cmp"
	"time"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Phase is what a client is doing at the moment, derived from the messages of the CLI and from
// open requests.
type Phase string

// The phases of a client. A session begins with PhaseStarting and ends with PhaseEnded; the
// others follow each other in any order.
const (
	PhaseStarting   Phase = "starting"   // the handshake has not ended
	PhaseIdle       Phase = "idle"       // see [Client.WaitIdle]
	PhaseWaiting    Phase = "waiting"    // for the API, or for a turn to begin
	PhaseStreaming  Phase = "streaming"  // the model answers
	PhaseTool       Phase = "tool"       // a tool has no result yet
	PhaseAsking     Phase = "asking"     // the CLI waits for a callback of this process
	PhaseCompacting Phase = "compacting" // the conversation is being compacted
	PhaseRetrying   Phase = "retrying"   // the API has failed and is asked again
	PhaseBackground Phase = "background" // only tasks in the background run
	PhaseEnded      Phase = "ended"
)

// View is a snapshot of what a client is doing at one moment. It does not change afterwards;
// [Client.View] returns a new one.
type View struct {
	Phase     Phase
	SessionID string
	PID       int // 0 if unknown
	// LastEvent is the kind of the last line, as [message.Kind] has it, "" if there was
	// none; LastEventAt is when it came.
	LastEvent   string
	LastEventAt time.Time
	// Tools have no result yet, the oldest first.
	Tools []RunningTool
	// Callbacks are being asked, the oldest first.
	Callbacks []OpenCallback
	// Retry is the last time that the API failed, nil if it did not.
	Retry   *message.APIRetry
	RetryAt time.Time
	// Queued counts the prompts whose turn has not begun, LiveTasks the tasks in
	// the background; see [Client.Tasks].
	Queued    int
	LiveTasks int
}

// OpenCallback is a request of the CLI that a callback of this process has not
// answered yet.
type OpenCallback struct {
	ID        string
	Kind      string // can_use_tool, hook_callback, mcp_message, elicitation, request_user_dialog, …
	Subject   string // what it is about: the tool, the hook's event, the MCP server, the dialog's kind
	ToolUseID string
	Since     time.Time
}

// View returns what the client is doing now. It asks nothing of the CLI, works
// when that hangs or has ended, and costs little.
func (c *Client) View() View {
	v := View{Tools: c.s.activity.tools.running(), Queued: c.r.queued(), Callbacks: openCallbacks(c.s.mux.Open())}
	v.LastEvent, v.LastEventAt = c.s.activity.last()
	if p, ok := c.s.conn.(interface{ pid() int }); ok {
		v.PID = p.pid()
	} else if info := c.s.serverInfo(); info != nil {
		v.PID = int(info.PID)
	}
	c.s.update(func(st *sessionState) {
		v.SessionID, v.Retry, v.RetryAt = st.sessionID, st.retry, st.retryAt
		v.LiveTasks = st.end.tasks.live()
		v.Phase = c.s.phase(st, &v)
	})
	return v
}

// phase is the phase of a view; it runs inside update.
func (s *session) phase(st *sessionState, v *View) Phase {
	switch {
	case st.why != nil:
		return PhaseEnded
	case !st.handshake.ended:
		return PhaseStarting
	case len(v.Callbacks) > 0:
		return PhaseAsking
	case s.idle(st):
		return PhaseIdle
	case st.doing == "compacting":
		return PhaseCompacting
	case s.activity.phase() == PhaseRetrying:
		return PhaseRetrying
	case len(v.Tools) > 0:
		return PhaseTool
	case st.openTurns() == 0 && !st.end.turn && v.LiveTasks > 0:
		return PhaseBackground
	}
	return s.activity.phase()
}

func openCallbacks(open []control.Open) (list []OpenCallback) {
	for _, o := range open {
		c := OpenCallback{ID: o.ID, Kind: o.Subtype, Since: o.Since}
		var body struct {
			ToolName      string `json:"tool_name"`
			ToolUseID     string `json:"tool_use_id"`
			ServerName    string `json:"server_name"`
			MCPServerName string `json:"mcp_server_name"`
			DialogKind    string `json:"dialog_kind"`
			Input         struct {
				Event string `json:"hook_event_name"`
			} `json:"input"`
		}
		_ = jsonwire.Unmarshal(o.Body, &body) // what cannot be read is left out
		c.ToolUseID = body.ToolUseID
		for _, s := range []string{body.ToolName, body.Input.Event, body.ServerName, body.MCPServerName, body.DialogKind} {
			c.Subject = cmp.Or(c.Subject, s)
		}
		list = append(list, c)
	}
	return list
}
