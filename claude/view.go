package claude

import (
	"cmp"
	"time"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Phase is the current activity of a client, derived from the messages of the CLI and from
// open requests.
type Phase string

// The phases of a client. A session begins with PhaseStarting and ends with PhaseEnded; the
// others follow each other in any order.
const (
	PhaseStarting   Phase = "starting"   // the handshake has not ended
	PhaseIdle       Phase = "idle"       // see [Client.WaitIdle]
	PhaseWaiting    Phase = "waiting"    // for the API, or for the start of a turn
	PhaseStreaming  Phase = "streaming"  // the model answers
	PhaseTool       Phase = "tool"       // a tool has no result yet
	PhaseAsking     Phase = "asking"     // the CLI waits for a callback of this process
	PhaseCompacting Phase = "compacting" // the conversation is being compacted
	PhaseRetrying   Phase = "retrying"   // a request to the API failed and is retried
	PhaseBackground Phase = "background" // only tasks in the background run
	PhaseEnded      Phase = "ended"
)

// View is a snapshot of a client's activity. It does not change; [Client.View] returns a new
// one.
type View struct {
	Phase     Phase
	SessionID string
	PID       int // 0 if unknown
	// LastEvent is the kind of the last line as [message.Kind] returns it, or ""; LastEventAt
	// is its time.
	LastEvent   string
	LastEventAt time.Time
	// Tools are the tool calls without a result, the oldest first.
	Tools []RunningTool
	// Callbacks are the running callbacks, the oldest first.
	Callbacks []OpenCallback
	// Retry is the last API failure of the turn, or nil.
	Retry   *message.APIRetry
	RetryAt time.Time
	// Queued counts the queued prompts, LiveTasks the running tasks in the background; see
	// [Client.Tasks].
	Queued    int
	LiveTasks int
}

// OpenCallback is a request of the CLI that a callback of this process has not
// answered yet.
type OpenCallback struct {
	ID        string
	Kind      string // can_use_tool, hook_callback, mcp_message, elicitation, request_user_dialog, …
	Subject   string // the tool, the hook's event, the MCP server, or the dialog's kind
	ToolUseID string
	Since     time.Time
}

// View returns the current activity of the client. It sends no request to the CLI, also works
// if the CLI hangs or has ended, and is cheap.
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

// phase returns the phase of a view; it runs inside update.
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
		_ = jsonwire.Unmarshal(o.Body, &body) // members that cannot be decoded are omitted
		c.ToolUseID = body.ToolUseID
		for _, s := range []string{body.ToolName, body.Input.Event, body.ServerName, body.MCPServerName, body.DialogKind} {
			c.Subject = cmp.Or(c.Subject, s)
		}
		list = append(list, c)
	}
	return list
}
