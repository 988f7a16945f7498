package editor

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// toolCall is a tool call that the client was shown or will be shown.
type toolCall struct {
	id, name, parent, messageID string
	givenTitle, givenKind       string // set by the provider
	givenContent                []acp.ToolCallContent
	givenLocations              []acp.ToolCallLocation
	input                       event.JSON
	partial                     partialInput
	shown                       view
	status                      acp.ToolCallStatus
	hidden                      bool // shown as the plan, not as a call
	terminal                    bool // the client draws a terminal for it
	asked                       bool // a permission request is open
	task                        string
	output                      output // output of a running command
	done                        bool
}

// toolEvent maps events about tool calls.
func (m *Mapper) toolEvent(ev event.Event) bool {
	switch ev := ev.(type) {
	case *event.ToolStart:
		if t := m.tools[ev.ToolUseID]; t != nil {
			t.partial = partialInput{} // its input is streamed again from the start
		}
		input, _ := ev.Block.Member("input")
		t := &toolCall{id: ev.ToolUseID, name: ev.Name, parent: ev.ParentToolUseID, messageID: ev.MessageID, input: orEmpty(input)}
		block := event.ContentOf(ev.Block)
		t.given(ev.Title, ev.Kind, block.Content, block.Locations)
		m.startTool(t)
	case *event.ToolInputDelta:
		if t := m.tools[ev.ToolUseID]; t != nil && !t.done {
			if input, ok := t.partial.add(ev.PartialJSON); ok {
				m.setInput(t, event.JSON(input))
			}
		}
	case *event.ToolInputComplete:
		if t := m.tools[ev.ToolUseID]; t != nil {
			t.partial = partialInput{}
			m.setInput(t, ev.Input)
		}
	case *event.ToolProgress:
		if t := m.tools[ev.ToolUseID]; t != nil {
			m.running(t)
			m.printed(t, ev.Output)
		}
	case *event.ToolComplete:
		m.endTool(ev)
	case *event.TurnDiff:
		m.diff(ev)
	case *event.PermissionRequest:
		t := &toolCall{id: ev.ToolUseID, name: ev.ToolName, input: orEmpty(ev.Input)}
		if ev.ToolKind != "" { // the provider describes its calls
			t.given(ev.DisplayName, ev.ToolKind, ev.Content, ev.Locations)
		}
		m.ask(t)
	case *event.QuestionRequest:
		m.ask(&toolCall{id: ev.ToolUseID, input: "{}"})
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

// planTools are the tools that change the plan. Their calls are shown as the plan.
var planTools = map[string]bool{"TodoWrite": true, "TaskCreate": true, "TaskUpdate": true, "TaskList": true, "TaskGet": true}

// startTool shows a new call.
func (m *Mapper) startTool(t *toolCall) {
	if t.id == "" || m.tools[t.id] != nil {
		return
	}
	t.hidden = planTools[t.name] || m.launches(t)
	t.terminal = m.Features.Terminals && (t.name == "Bash" || t.name == "commandExecution")
	m.tools[t.id] = t
	m.order = append(m.order, t.id)
	t.status = acp.ToolCallStatusPending
	t.shown = m.view(t)
	if !t.hidden {
		m.showTool(t)
	}
}

// showTool sends a whole tool call.
func (m *Mapper) showTool(t *toolCall) {
	c := &acp.ToolCall{
		ToolCallID: acp.ToolCallID(t.id), Title: t.shown.title, Kind: acp.Some(t.shown.kind), Status: acp.Some(t.status),
		Content: t.shown.content, Locations: t.shown.locations, RawInput: json.RawMessage(t.input), Object: acp.Object{Meta: t.meta()},
	}
	if t.terminal {
		c.Meta["terminal_info"] = terminalMeta(t.id, "cwd", m.Dir)
	}
	c.Name = acp.NonZero(t.name)
	if c.Content == nil {
		c.Content = []acp.ToolCallContent{}
	}
	m.emitTo(m.session(t.parent), acp.SessionUpdateIsToolCall, c)
}

// meta names the tool, and the call that began the subagent, if any.
func (t *toolCall) meta() map[string]json.RawMessage {
	own := map[string]string{"toolName": t.name}
	if t.parent != "" {
		own["parentToolUseId"] = t.parent
	}
	return claudeMeta(own)
}

// claudeMeta returns _meta with the members that the reference adapter sends.
func claudeMeta(own map[string]string) map[string]json.RawMessage {
	text, err := jsonwire.Marshal(own)
	if err != nil {
		return nil // texts can be encoded
	}
	return map[string]json.RawMessage{"claudeCode": text}
}

// view returns the display of a call with its current input.
func (m *Mapper) view(t *toolCall) view {
	v := viewOf(t.name, t.input, m.Dir)
	if t.givenTitle != "" {
		v.title = t.givenTitle
	}
	if t.givenKind != "" {
		v.kind = kindOf(t.givenKind)
	}
	if len(t.givenContent) > 0 {
		v.content = t.givenContent
	}
	if len(t.givenLocations) > 0 {
		v.locations = t.givenLocations
	}
	if t.terminal {
		v.content = terminalContent(t.id)
	}
	return v
}

// given stores the display data that the provider reports for a call. Missing members leave earlier values unchanged.
func (t *toolCall) given(title, kind string, content, locations event.JSON) {
	t.givenTitle, t.givenKind = cmp.Or(title, t.givenTitle), cmp.Or(kind, t.givenKind)
	if list := givenContent(content); len(list) > 0 {
		t.givenContent = list
	}
	var places []acp.ToolCallLocation
	if json.Unmarshal([]byte(locations), &places) == nil && len(places) > 0 {
		t.givenLocations = places
	}
}

// givenContent converts the blocks of an event, including diffs, to the content of a call.
func givenContent(blocks event.JSON) (list []acp.ToolCallContent) {
	for _, e := range blocks.Elements() {
		b := event.ContentOf(e)
		if c, ok := promptBlock(&b); ok {
			list = append(list, blockContent(c))
			continue
		}
		var c acp.ToolCallContent
		if json.Unmarshal([]byte(e), &c) == nil && c.Value != nil {
			list = append(list, c)
		} else {
			list = append(list, textContent(string(e)))
		}
	}
	return list
}

// kindOf returns the kind of the protocol with this name, or "other".
func kindOf(s string) acp.ToolKind {
	k := acp.ToolKind(s)
	if slices.Contains([]acp.ToolKind{acp.ToolKindRead, acp.ToolKindEdit, acp.ToolKindDelete, acp.ToolKindMove, acp.ToolKindSearch, acp.ToolKindExecute, acp.ToolKindThink, acp.ToolKindFetch, acp.ToolKindSwitchMode}, k) {
		return k
	}
	return acp.ToolKindOther
}

// setInput updates a call with further input.
func (m *Mapper) setInput(t *toolCall, input event.JSON) {
	if t.done {
		return
	}
	u := t.update()
	if input != t.input {
		t.input, u.RawInput = input, json.RawMessage(input)
	}
	next := m.view(t)
	if next.title != t.shown.title {
		u.Title = acp.Some(next.title)
	}
	if next.kind != t.shown.kind {
		u.Kind = acp.Some(next.kind)
	}
	if !same(next.content, t.shown.content) {
		u.Content = acp.Some(next.content)
	}
	if !same(next.locations, t.shown.locations) {
		u.Locations = acp.Some(next.locations)
	}
	t.shown = next
	if !same(u, t.update()) {
		m.send(t, u)
	}
}

func same(a, b any) bool {
	x, errX := jsonwire.Marshal(a)
	y, errY := jsonwire.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

func (t *toolCall) update() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(t.id), Object: acp.Object{Meta: t.meta()}}
}

func (m *Mapper) send(t *toolCall, u *acp.ToolCallUpdate) {
	if !t.hidden {
		m.emitTo(m.session(t.parent), acp.SessionUpdateIsToolCallUpdate, u)
	}
}

func (m *Mapper) setStatus(t *toolCall, s acp.ToolCallStatus) {
	if t.status == s {
		return
	}
	t.status = s
	u := t.update()
	u.Status = acp.Some(s)
	m.send(t, u)
}

// running reports a call as running, unless it waits for a person.
func (m *Mapper) running(t *toolCall) {
	if t.status == acp.ToolCallStatusPending && !t.asked && !t.done {
		m.setStatus(t, acp.ToolCallStatusInProgress)
	}
}

// wholeTool shows a call of a message that was not streamed.
func (m *Mapper) wholeTool(ev *event.AssistantMessage, b *event.Content) {
	if t := m.tools[b.ToolUseID]; t != nil {
		if !t.done {
			t.given(b.Title, b.Kind, b.Content, b.Locations)
			m.setInput(t, orEmpty(b.Input))
		}
		return
	}
	t := &toolCall{id: b.ToolUseID, name: b.Name, parent: ev.ParentToolUseID, messageID: ev.MessageID, input: orEmpty(b.Input)}
	t.given(b.Title, b.Kind, b.Content, b.Locations)
	m.startTool(t)
	if ev.ParentToolUseID != "" && !m.Replay {
		m.running(t)
	}
}

// ask records that a call waits for a person. If the call was not announced, it shows it.
func (m *Mapper) ask(call *toolCall) {
	if call.id == "" {
		return
	}
	if t := m.tools[call.id]; t != nil && t.done {
		delete(m.tools, call.id) // it is asked for again
	}
	m.startTool(call)
	t := m.tools[call.id]
	t.asked = true
	m.asking(t, acp.StateUpdateIsRequiresAction)
	if t.hidden {
		t.hidden = false
		m.showTool(t)
	}
}

func (m *Mapper) answered(id string, allowed bool) {
	t := m.tools[id]
	if t == nil {
		return
	}
	if t.asked {
		m.asking(t, acp.StateUpdateIsRunning)
	}
	t.asked = false
	if allowed {
		m.running(t)
	}
}

// Tool returns the description of a call for a request for permission, and whether the call is
// known.
func (m *Mapper) Tool(id string) (acp.ToolCallUpdate, bool) {
	t := m.tools[id]
	if t == nil {
		return acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(id)}, false
	}
	u := t.update()
	u.Status, u.Title, u.Kind = acp.Some(t.status), acp.Some(t.shown.title), acp.Some(t.shown.kind)
	u.RawInput = json.RawMessage(t.input)
	u.Name = acp.NonZero(t.name)
	u.Content = acp.Some(append([]acp.ToolCallContent{}, t.shown.content...))
	if t.shown.locations != nil {
		u.Locations = acp.Some(t.shown.locations)
	}
	return *u, true
}

// endTool shows the result of a call. A call that continues in the background has not ended.
func (m *Mapper) endTool(ev *event.ToolComplete) {
	t := m.tools[ev.ToolUseID]
	if t == nil || t.done {
		return
	}
	id := backgroundTask(ev)
	background := id != "" && !ev.IsError && !m.Replay
	if c := m.children[t.id]; t.hidden && c != nil && (c.announced || !ev.IsError) {
		m.endLaunch(t, ev, background)
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
	if background {
		m.background(t, id)
		return
	}
	m.finishTool(t, ev)
}

// endLaunch handles the result of a call that is shown as a subagent.
func (m *Mapper) endLaunch(t *toolCall, ev *event.ToolComplete, background bool) {
	id, _ := ev.ToolUseResult.Member("agentId")
	if background {
		m.announce(m.children[t.id], id.Text())
		m.background(t, backgroundTask(ev))
		return
	}
	m.report(t, resultOf(t, ev).text, id.Text(), endReason(ev.IsError))
	m.drop(t)
}

// finishTool shows the end of a call.
func (m *Mapper) finishTool(t *toolCall, ev *event.ToolComplete) {
	r := resultOf(t, ev)
	if !m.Replay && !ev.IsError {
		t.asked = false
		m.running(t) // the call has ended before it was reported as running
	}
	u := t.update()
	t.status = acp.ToolCallStatusCompleted
	if ev.IsError {
		t.status = acp.ToolCallStatusFailed
	}
	u.Status = acp.Some(t.status)
	u.RawOutput = r.raw
	if t.terminal {
		t.exit(u, r.text, ev.IsError)
		r.content = nil
	}
	if r.title != "" {
		u.Title = acp.Some(r.title)
	}
	if r.content != nil {
		u.Content = acp.Some(r.content)
	}
	m.send(t, u)
	m.report(t, r.text, "", endReason(ev.IsError))
	m.drop(t)
}

// endReason returns why a subagent has ended.
func endReason(failed bool) string {
	if failed {
		return acp.IdleStateUpdateIsError
	}
	return acp.IdleStateUpdateIsEndTurn
}

// drop forgets an ended call, except for its name, because a diff may follow.
func (m *Mapper) drop(t *toolCall) {
	t.done, t.input, t.partial, t.output = true, "{}", partialInput{}, output{}
	m.order = slices.DeleteFunc(m.order, func(id string) bool { return id == t.id })
}

// endTools removes the ended calls at the end of a turn. It shows calls that are still open as failed.
func (m *Mapper) endTools(ev *event.ResultMessage) {
	for _, id := range slices.Clone(m.order) {
		t := m.tools[id]
		if t.task != "" || t.parent != "" {
			continue
		}
		t.status = ""
		if c := m.children[id]; c != nil {
			m.endChild(c, acp.IdleStateUpdateIsCancelled)
		}
		if !t.hidden {
			m.setStatus(t, acp.ToolCallStatusFailed)
		}
		m.drop(t)
	}
	for id, t := range m.tools {
		if t.done && t.task == "" {
			delete(m.tools, id)
		}
	}
}

// diff shows the changes of a call, with a block for each hunk and its context.
func (m *Mapper) diff(ev *event.TurnDiff) {
	t := m.tools[ev.ToolUseID]
	if t == nil || t.hidden || t.name == "NotebookEdit" { // the JSON lines of a notebook are not readable for people
		return
	}
	var content []acp.ToolCallContent
	var locations []acp.ToolCallLocation
	for _, f := range ev.Files {
		if f.Kind == event.ChangeAdd {
			return // the call already shows the complete new file
		}
		for _, h := range f.Hunks {
			content = append(content, hunkContent(&f, &h))
			locations = append(locations, acp.ToolCallLocation{Path: f.Path, Line: acp.Some(max(h.NewStart, 1))})
		}
	}
	if len(content) == 0 {
		return
	}
	u := t.update()
	u.Content, u.Locations = acp.Some(content), acp.Some(locations)
	m.send(t, u)
}

// hunkContent returns a hunk as a diff of its old and new lines.
func hunkContent(f *event.FileChange, h *event.Hunk) acp.ToolCallContent {
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
	d := &acp.Diff{Path: f.Path, OldText: acp.Some(strings.Join(before, "\n")), NewText: strings.Join(after, "\n")}
	return acp.ToolCallContent{Type: acp.ToolCallContentIsDiff, Value: d}
}
