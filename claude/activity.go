package claude

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// activity is the reader's record of every line. It must be very cheap: most lines are
// not decoded for it.
type activity struct {
	begun time.Time
	at    atomic.Int64           // time of the last line since begun; 0 before the first
	kind  atomic.Pointer[string] // kind of the last line, as Kind returns it
	flow  atomic.Pointer[string] // kind of the last line that indicates the phase of a turn
	tools toolLedger
}

// hotKinds are the kinds of the lines that the reader does not decode.
var hotKinds = map[string]*string{"stream_event": new("stream_event"), "assistant": new("assistant"), "user": new("user")}

// hot records a line that is not decoded.
func (a *activity) hot(typ, text string) {
	switch typ {
	case "stream_event":
		a.turn(hotStreamEvent)
	case "assistant":
		a.turn(hotAssistant)
		if mayUseTool(text) {
			a.tools.used(text)
		}
	case "user":
		a.turn(hotUser)
		a.tools.answered(text)
	}
}

var hotStreamEvent, hotAssistant, hotUser = hotKinds["stream_event"], hotKinds["assistant"], hotKinds["user"]

// mayUseTool checks the first block of an answer. The CLI writes a line for each block,
// and most lines are long texts, which are not searched.
func mayUseTool(text string) bool {
	_, blocks, found := strings.Cut(text[:min(len(text), 512)], `"content":[{"type":"`)
	if !found {
		return strings.Contains(text, `"tool_use"`)
	}
	return !strings.HasPrefix(blocks, `text"`) && !strings.HasPrefix(blocks, `thinking"`)
}

func (a *activity) turn(kind *string) {
	if a.flow.Load() != kind {
		a.flow.Store(kind)
	}
	if a.kind.Load() != kind {
		a.kind.Store(kind)
	}
}

// touch records the time of a line. Lines that arrive together share one time.
func (a *activity) touch() { a.at.Store(int64(time.Since(a.begun))) }

// message records a decoded line.
func (a *activity) message(m message.Message, text string) {
	kind := message.Kind(m)
	if hotKinds[kind] != nil {
		a.hot(kind, text)
		return
	}
	a.kind.Store(&kind)
	switch m := m.(type) {
	case *message.Init, *message.Status, *message.APIRetry:
		a.flow.Store(&kind)
	case *message.Result:
		a.flow.Store(&kind)
		a.tools.turnEnded()
	case *message.TaskNotification:
		a.tools.taskEnded(m.ToolUseID)
	}
}

// last returns the kind and the time of the last line.
func (a *activity) last() (kind string, at time.Time) {
	if k := a.kind.Load(); k != nil {
		return *k, a.begun.Add(time.Duration(a.at.Load()))
	}
	return "", time.Time{}
}

// phase returns the phase of the running turn, derived from its last line.
func (a *activity) phase() Phase {
	kind := a.flow.Load()
	switch {
	case kind == nil:
		return PhaseWaiting
	case *kind == "system/api_retry":
		return PhaseRetrying
	case *kind == "stream_event" || *kind == "assistant":
		return PhaseStreaming
	}
	return PhaseWaiting
}

// RunningTool is a tool call that has no result yet. It may still wait for a
// permission.
type RunningTool struct {
	Name            string
	ToolUseID       string
	ParentToolUseID string // set for a call in a subagent: the tool use that started it
	Since           time.Time
}

// toolLedger tracks the tool calls without a result.
type toolLedger struct {
	mu    sync.Mutex
	tools []RunningTool
	// parents maps the calls made in subagents to the calls that started these subagents.
	parents map[string]string
}

// keptParents limits the number of remembered calls in subagents.
const keptParents = 4096

// used adds the calls in an assistant line.
func (l *toolLedger) used(text string) {
	var line struct {
		Message struct {
			Content []struct {
				Type string `json:"type"`
				ID   string `json:"id"`
				Name string `json:"name"`
			} `json:"content"`
		} `json:"message"`
		ParentToolUseID string `json:"parent_tool_use_id"`
	}
	if jsonwire.Unmarshal(text, &line) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	parent := strings.Clone(line.ParentToolUseID)
	for _, b := range line.Message.Content {
		if b.Type != "tool_use" {
			continue
		}
		tool := RunningTool{strings.Clone(b.Name), strings.Clone(b.ID), parent, time.Now()}
		l.tools = append(l.tools, tool)
		if parent != "" && len(l.parents) < keptParents {
			if l.parents == nil {
				l.parents = map[string]string{}
			}
			l.parents[tool.ToolUseID] = parent
		}
	}
}

// answered removes the calls with a result in a user line. Results can be long, so it
// searches the line for the ids of calls and does not decode it.
func (l *toolLedger) answered(text string) {
	const key = `"tool_use_id":"`
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.tools) > 0 {
		_, rest, found := strings.Cut(text, key)
		if !found {
			return
		}
		id, rest, _ := strings.Cut(rest, `"`)
		l.remove(func(t RunningTool) bool { return t.ToolUseID == id })
		text = rest
	}
}

// turnEnded removes the calls of the main conversation; an interrupt may have left them
// without a result.
func (l *toolLedger) turnEnded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(func(t RunningTool) bool { return t.ParentToolUseID == "" })
}

// taskEnded removes the calls of a subagent.
func (l *toolLedger) taskEnded(toolUseID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(func(t RunningTool) bool { return t.ParentToolUseID != "" && t.ParentToolUseID == toolUseID })
}

func (l *toolLedger) remove(is func(RunningTool) bool) { l.tools = slices.DeleteFunc(l.tools, is) }

// running returns the calls without a result, the oldest first.
func (l *toolLedger) running() []RunningTool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tools)
}

// parent returns the call of the subagent that has made a call, or "".
func (l *toolLedger) parent(toolUseID string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parents[toolUseID]
}
