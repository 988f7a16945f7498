package claude

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// activity is what the reader notes of every line, which must cost next to
// nothing: most lines are not decoded by it.
type activity struct {
	begun time.Time
	at    atomic.Int64           // of the last line, since begun; 0 if there was none
	kind  atomic.Pointer[string] // of the last line, as Kind has it
	tools toolLedger
}

// hotKinds are the kinds of the lines that the reader leaves alone.
var hotKinds = map[string]*string{"stream_event": new("stream_event"), "assistant": new("assistant"), "user": new("user")}

// hot notes a line that is not decoded.
func (a *activity) hot(typ, text string) {
	switch typ {
	case "stream_event":
		a.note(hotStreamEvent)
	case "assistant":
		a.note(hotAssistant)
		if strings.Contains(text, `"tool_use"`) {
			a.tools.used(text)
		}
	case "user":
		a.note(hotUser)
		if strings.Contains(text, `"tool_result"`) {
			a.tools.answered(text)
		}
	}
}

var hotStreamEvent, hotAssistant, hotUser = hotKinds["stream_event"], hotKinds["assistant"], hotKinds["user"]

func (a *activity) note(kind *string) {
	a.kind.Store(kind)
	a.at.Store(int64(time.Since(a.begun)))
}

// message notes a line that was decoded.
func (a *activity) message(m Message, text string) {
	kind := Kind(m)
	if hotKinds[kind] != nil {
		a.hot(kind, text)
		return
	}
	a.note(&kind)
	switch m := m.(type) {
	case *ResultMessage:
		a.tools.turnEnded()
	case *TaskNotificationMessage:
		a.tools.taskEnded(m.ToolUseID)
	}
}

// last is the last line: its kind and when it came.
func (a *activity) last() (kind string, at time.Time) {
	if k := a.kind.Load(); k != nil {
		return *k, a.begun.Add(time.Duration(a.at.Load()))
	}
	return "", time.Time{}
}

// RunningTool is a tool call that has no result yet. It may still wait for a
// permission.
type RunningTool struct {
	Name            string
	ToolUseID       string
	ParentToolUseID string // set: in the subagent of this tool use
	Since           time.Time
}

// toolLedger knows which tool calls have no result yet.
type toolLedger struct {
	mu    sync.Mutex
	tools []RunningTool
	// parents are the calls that were made inside of a subagent, and the calls
	// of these subagents.
	parents map[string]string
}

// keptParents is how many calls inside of subagents are remembered.
const keptParents = 4096

// used notes the calls in an assistant line.
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

// answered takes out the calls whose results are in a user line.
func (l *toolLedger) answered(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tools) == 0 {
		return
	}
	var line struct {
		Message struct {
			Content []struct {
				Type      string `json:"type"`
				ToolUseID string `json:"tool_use_id"`
			} `json:"content"`
		} `json:"message"`
	}
	if jsonwire.Unmarshal(text, &line) != nil {
		return
	}
	for _, b := range line.Message.Content {
		if b.Type == "tool_result" {
			l.remove(func(t RunningTool) bool { return t.ToolUseID == b.ToolUseID })
		}
	}
}

// turnEnded takes out the calls of the main conversation; an interrupt may have
// left them without a result.
func (l *toolLedger) turnEnded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(func(t RunningTool) bool { return t.ParentToolUseID == "" })
}

// taskEnded takes out the calls of a subagent.
func (l *toolLedger) taskEnded(toolUseID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(func(t RunningTool) bool { return t.ParentToolUseID != "" && t.ParentToolUseID == toolUseID })
}

func (l *toolLedger) remove(is func(RunningTool) bool) { l.tools = slices.DeleteFunc(l.tools, is) }

// running are the calls without a result, the oldest first.
func (l *toolLedger) running() []RunningTool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tools)
}

// parent is the call of the subagent that has made a call, "" if none has.
func (l *toolLedger) parent(toolUseID string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.parents[toolUseID]
}
