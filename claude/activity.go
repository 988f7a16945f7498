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

// activity is what the reader notes of every line, which must cost next to
// nothing: most lines are not decoded by it.
type activity struct {
	begun time.Time
	at    atomic.Int64           // of the last line, since begun; 0 if there was none
	kind  atomic.Pointer[string] // of the last line, as Kind has it
	flow  atomic.Pointer[string] // of the last one that tells how a turn goes
	tools toolLedger
}

// hotKinds are the kinds of the lines that the reader leaves alone.
var hotKinds = map[string]*string{"stream_event": new("stream_event"), "assistant": new("assistant"), "user": new("user")}

// hot notes a line that is not decoded.
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

// mayUseTool looks at the first block of an answer. The CLI writes a line for
// each block, and most are long texts that are not worth a search.
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

// touch notes that something has come. Lines that come together have one time.
func (a *activity) touch() { a.at.Store(int64(time.Since(a.begun))) }

// message notes a line that was decoded.
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

// last is the last line: its kind and when it came.
func (a *activity) last() (kind string, at time.Time) {
	if k := a.kind.Load(); k != nil {
		return *k, a.begun.Add(time.Duration(a.at.Load()))
	}
	return "", time.Time{}
}

// phase is how the turn that runs goes, by its last line.
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

// answered takes out the calls whose results are in a user line. Results can be
// long: the line is searched for the ids of calls, not decoded.
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
