package acp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
)

// toolCall is a call of a tool that the client was shown, or will be.
type toolCall struct {
	id, name, parent, messageID string
	givenTitle, givenKind       string // the provider's own
	input                       event.JSON
	partial                     partial
	shown                       view
	status                      ToolCallStatus
	hidden                      bool // shown as the plan, not as a call
	asked                       bool // a permission is open
	task                        string
	done                        bool
}

// toolEvent maps the life of tool calls.
func (m *Mapper) toolEvent(ev event.Event) bool {
	switch ev := ev.(type) {
	case *event.ToolStart:
		input, _ := ev.Block.Member("input")
		m.startTool(&toolCall{
			id: ev.ToolUseID, name: ev.Name, parent: ev.ParentToolUseID, messageID: ev.MessageID,
			givenTitle: ev.Title, givenKind: ev.Kind, input: orEmpty(input),
		})
	case *event.ToolInputDelta:
		if t := m.tools[ev.ToolUseID]; t != nil && !t.done {
			if input, ok := t.partial.add(ev.PartialJSON); ok {
				m.setInput(t, event.JSON(input))
			}
		}
	case *event.ToolInputComplete:
		if t := m.tools[ev.ToolUseID]; t != nil {
			t.partial = partial{}
			m.setInput(t, ev.Input)
		}
	case *event.ToolProgress:
		if t := m.tools[ev.ToolUseID]; t != nil {
			m.running(t)
		}
	case *event.ToolComplete:
		m.endTool(ev)
	case *event.TurnDiff:
		m.diff(ev)
	case *event.PermissionRequest:
		m.ask(ev.ToolUseID, ev.ToolName, ev.Input)
	case *event.QuestionRequest:
		m.ask(ev.ToolUseID, "", "")
	case *event.PermissionResolved:
		m.answered(ev.ToolUseID, ev.Behavior == event.ResolvedAllow)
	case *event.QuestionResolved:
		m.answered(ev.ToolUseID, true)
	default:
		return false
	}
	return true
}

func orEmpty(j event.JSON) event.JSON {
	if j == "" {
		return "{}"
	}
	return j
}

// planTools are shown as the plan that they change.
var planTools = map[string]bool{"TodoWrite": true, "TaskCreate": true, "TaskUpdate": true, "TaskList": true, "TaskGet": true}

// startTool shows a new call.
func (m *Mapper) startTool(t *toolCall) {
	if t.id == "" || m.tools[t.id] != nil {
		return
	}
	t.hidden = planTools[t.name]
	m.tools[t.id] = t
	m.order = append(m.order, t.id)
	t.status = ToolCallStatusPending
	t.shown = m.view(t)
	if !t.hidden {
		m.showTool(t)
	}
}

// showTool sends a whole tool call.
func (m *Mapper) showTool(t *toolCall) {
	c := &ToolCall{
		ToolCallID: ToolCallID(t.id), Title: t.shown.title, Kind: Some(t.shown.kind), Status: Some(t.status),
		Content: t.shown.content, Locations: t.shown.locations, RawInput: json.RawMessage(t.input), Meta: t.meta(),
	}
	if t.name != "" {
		c.Name = Some(t.name)
	}
	if c.Content == nil {
		c.Content = []ToolCallContent{}
	}
	m.emit(SessionUpdateIsToolCall, c)
}

// meta names the tool, and the call whose subagent this belongs to.
func (t *toolCall) meta() map[string]json.RawMessage {
	own := map[string]string{"toolName": t.name}
	if t.parent != "" {
		own["parentToolUseId"] = t.parent
	}
	text, err := marshal(own)
	if err != nil {
		return nil // a map of texts
	}
	return map[string]json.RawMessage{"claudeCode": text}
}

// view is how a call looks with the input that it has.
func (m *Mapper) view(t *toolCall) view {
	v := viewOf(t.name, t.input, m.Dir)
	if t.givenTitle != "" {
		v.title = t.givenTitle
	}
	if t.givenKind != "" {
		v.kind = kindOf(t.givenKind)
	}
	return v
}

// kindOf is a kind of the protocol; others are other.
func kindOf(s string) ToolKind {
	k := ToolKind(s)
	if slices.Contains([]ToolKind{ToolKindRead, ToolKindEdit, ToolKindDelete, ToolKindMove, ToolKindSearch, ToolKindExecute, ToolKindThink, ToolKindFetch, ToolKindSwitchMode}, k) {
		return k
	}
	return ToolKindOther
}

// setInput shows a call with more of its input.
func (m *Mapper) setInput(t *toolCall, input event.JSON) {
	if input == t.input || t.done {
		return
	}
	t.input = input
	next := m.view(t)
	u := t.update()
	u.RawInput = json.RawMessage(input)
	if next.title != t.shown.title {
		u.Title = Some(next.title)
	}
	if !same(next.content, t.shown.content) {
		u.Content = Some(next.content)
	}
	if !same(next.locations, t.shown.locations) {
		u.Locations = Some(next.locations)
	}
	t.shown = next
	m.send(t, u)
}

func same(a, b any) bool {
	x, errX := marshal(a)
	y, errY := marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (t *toolCall) update() *ToolCallUpdate {
	return &ToolCallUpdate{ToolCallID: ToolCallID(t.id), Meta: t.meta()}
}

func (m *Mapper) send(t *toolCall, u *ToolCallUpdate) {
	if !t.hidden {
		m.emit(SessionUpdateIsToolCallUpdate, u)
	}
}

func (m *Mapper) setStatus(t *toolCall, s ToolCallStatus) {
	if t.status == s {
		return
	}
	t.status = s
	u := t.update()
	u.Status = Some(s)
	m.send(t, u)
}

// running says that a call runs, unless it waits for a person.
func (m *Mapper) running(t *toolCall) {
	if t.status == ToolCallStatusPending && !t.asked && !t.done {
		m.setStatus(t, ToolCallStatusInProgress)
	}
}

// wholeTool shows a call of a message that was not streamed.
func (m *Mapper) wholeTool(ev *event.AssistantMessage, b *event.Content) {
	if t := m.tools[b.ToolUseID]; t != nil {
		if !t.done {
			m.setInput(t, orEmpty(b.Input))
		}
		return
	}
	t := &toolCall{
		id: b.ToolUseID, name: b.Name, parent: ev.ParentToolUseID, messageID: ev.MessageID,
		givenTitle: b.Title, givenKind: b.Kind, input: orEmpty(b.Input),
	}
	m.startTool(t)
	if ev.ParentToolUseID != "" && !m.Replay {
		m.running(t)
	}
}

// ask notes that a call waits for a person. A call that was not announced is shown.
func (m *Mapper) ask(id, name string, input event.JSON) {
	if id == "" {
		return
	}
	t := m.tools[id]
	if t == nil {
		m.startTool(&toolCall{id: id, name: name, input: orEmpty(input)})
		t = m.tools[id]
	}
	t.asked = true
	if t.hidden {
		t.hidden = false
		m.showTool(t)
	}
	m.setStatus(t, ToolCallStatusPending)
}

func (m *Mapper) answered(id string, allowed bool) {
	t := m.tools[id]
	if t == nil {
		return
	}
	t.asked = false
	if allowed {
		m.running(t)
	}
}

// Tool describes a call as a request for permission names it, and whether it is known.
func (m *Mapper) Tool(id string) (ToolCallUpdate, bool) {
	t := m.tools[id]
	if t == nil {
		return ToolCallUpdate{ToolCallID: ToolCallID(id)}, false
	}
	u := t.update()
	u.Status, u.Title, u.Kind = Some(t.status), Some(t.shown.title), Some(t.shown.kind)
	u.RawInput = json.RawMessage(t.input)
	if t.name != "" {
		u.Name = Some(t.name)
	}
	u.Content = Some(append([]ToolCallContent{}, t.shown.content...))
	if t.shown.locations != nil {
		u.Locations = Some(t.shown.locations)
	}
	return *u, true
}

// endTool shows the result of a call. One that goes on in the background has not ended.
func (m *Mapper) endTool(ev *event.ToolComplete) {
	t := m.tools[ev.ToolUseID]
	if t == nil || t.done {
		return
	}
	if t.hidden && !ev.IsError {
		m.drop(t)
		return
	}
	if t.hidden {
		t.hidden = false
		m.showTool(t)
	}
	if id := backgroundTask(ev); id != "" && !ev.IsError && !m.Replay {
		if m.background(t, id) {
			return
		}
	}
	m.finishTool(t, ev)
}

// finishTool shows the end of a call.
func (m *Mapper) finishTool(t *toolCall, ev *event.ToolComplete) {
	r := resultOf(t, ev)
	if !m.Replay && !ev.IsError {
		t.asked = false
		m.running(t) // one that was too quick to be seen running
	}
	u := t.update()
	t.status = ToolCallStatusCompleted
	if ev.IsError {
		t.status = ToolCallStatusFailed
	}
	u.Status = Some(t.status)
	u.RawOutput = r.raw
	if r.title != "" {
		u.Title = Some(r.title)
	}
	if r.content != nil {
		u.Content = Some(r.content)
	}
	m.send(t, u)
	m.drop(t)
}

// drop forgets a call that has ended, but for its name: a diff can follow.
func (m *Mapper) drop(t *toolCall) {
	t.done, t.input, t.partial = true, "{}", partial{}
	m.order = slices.DeleteFunc(m.order, func(id string) bool { return id == t.id })
}

// endTools forgets, at the end of a turn, the calls that have ended. Calls that the turn
// left open are shown as failed.
func (m *Mapper) endTools(ev *event.ResultMessage) {
	for _, id := range slices.Clone(m.order) {
		t := m.tools[id]
		if t.task != "" || t.parent != "" {
			continue
		}
		t.status = ""
		if !t.hidden {
			m.setStatus(t, ToolCallStatusFailed)
		}
		m.drop(t)
	}
	for id, t := range m.tools {
		if t.done && t.task == "" {
			delete(m.tools, id)
		}
	}
}

// diff shows what a call has changed: a block for each hunk, with its context.
func (m *Mapper) diff(ev *event.TurnDiff) {
	t := m.tools[ev.ToolUseID]
	if t == nil || t.hidden || t.name == "NotebookEdit" { // lines of a notebook are not for people
		return
	}
	var content []ToolCallContent
	var locations []ToolCallLocation
	for _, f := range ev.Files {
		if f.Kind == event.ChangeAdd {
			return // the call shows the whole of a new file
		}
		for _, h := range f.Hunks {
			content = append(content, hunkContent(&f, &h))
			locations = append(locations, ToolCallLocation{Path: f.Path, Line: Some(max(h.NewStart, 1))})
		}
	}
	if len(content) == 0 {
		return
	}
	u := t.update()
	u.Content, u.Locations = Some(content), Some(locations)
	m.send(t, u)
}

// hunkContent is a hunk as a diff of its old and new lines.
func hunkContent(f *event.FileChange, h *event.Hunk) ToolCallContent {
	var before, after []string
	for _, line := range h.Lines {
		if line == "" {
			continue
		}
		text := line[1:]
		switch line[0] {
		case '-':
			before = append(before, text)
		case '+':
			after = append(after, text)
		case ' ':
			before, after = append(before, text), append(after, text)
		}
	}
	d := &Diff{Path: f.Path, OldText: Some(strings.Join(before, "\n")), NewText: strings.Join(after, "\n")}
	return ToolCallContent{Type: ToolCallContentIsDiff, Value: d}
}
