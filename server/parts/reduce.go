package parts

import (
	"cmp"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
)

// Reducer converts the events of one turn to parts. Use [New]. It is not safe for concurrent use.
type Reducer struct {
	blocks []*block // incomplete blocks, in order of their starts
	tools  []*call  // calls without a result
	whole  map[string]bool
	again  map[string]int // number of restarts of each message
	done   bool
	out    []Part
}

// New returns a reducer that continues at a place; the zero place is the beginning of a turn.
func New(at Place) *Reducer {
	r := &Reducer{whole: map[string]bool{}, again: map[string]int{}}
	for _, m := range at.marks {
		switch m.kind {
		case markOpen:
			r.blocks = append(r.blocks, &block{id: m.id, shown: m.shown})
		case markEnded:
			r.blocks = append(r.blocks, &block{id: m.id, ended: true})
		case markCalled:
			r.tools = append(r.tools, &call{id: m.id, input: true})
		}
	}
	return r
}

// Place returns the position of the stream after the events so far; seq is the number of the last
// durable one.
func (r *Reducer) Place(epoch string, seq uint64) Place {
	p := Place{Epoch: epoch, Seq: seq}
	for _, b := range r.blocks {
		switch {
		case b.ended:
			p.marks = append(p.marks, mark{markEnded, b.id, 0})
		case b.tool == "" && b.shown > 0:
			p.marks = append(p.marks, mark{markOpen, b.id, b.shown})
		}
	}
	for _, c := range r.tools {
		if c.input { // otherwise it starts again
			p.marks = append(p.marks, mark{markCalled, c.id, 0})
		}
	}
	return p
}

// Apply returns the parts of an event. It returns nil for events after the end of the turn.
func (r *Reducer) Apply(ev event.Event) []Part {
	if r.done {
		return nil
	}
	r.out = nil
	h := ev.Head()
	switch ev := ev.(type) {
	case *event.MessageStart:
		r.restart(h)
	case *event.TextStart:
		r.begin(h, ev.Index, false).text = ev.Text
		r.flow(h, ev.Index)
	case *event.ThinkingStart:
		r.begin(h, ev.Index, true).text = ev.Thinking
		r.flow(h, ev.Index)
	case *event.TextDelta:
		r.add(h, ev.Index, ev.Text)
	case *event.ThinkingDelta:
		r.add(h, ev.Index, ev.Thinking)
	case *event.ToolInputDelta:
		r.add(h, ev.Index, ev.PartialJSON)
	case *event.ToolStart:
		b := r.begin(h, ev.Index, false)
		b.tool, b.text = ev.ToolUseID, ""
		r.startTool(h, ev.ToolUseID, ev.Name, ev.Title)
	case *event.BlockStop:
		r.stop(h, ev)
	case *event.AssistantMessage:
		for _, w := range ev.Blocks {
			r.wholeBlock(h, w)
		}
	case *event.MessageComplete:
		if from := ev.AbandonedFrom; from != nil {
			r.abandon(h, *from)
		}
	case *event.ToolComplete:
		r.result(h, ev.ToolUseID, ev.Content, ev.IsError)
	case *event.PermissionRequest:
		r.ask(h, Part{Kind: Ask, ID: ev.RequestID, Permission: ev}, ev.ToolName, ev.Input)
	case *event.QuestionRequest:
		r.ask(h, Part{Kind: Ask, ID: ev.RequestID, Question: ev}, cmp.Or(ev.MCPServerName, "question"), "")
	case *event.PermissionResolved:
		r.result(h, ev.RequestID, event.Quote(ev.Behavior), false)
	case *event.QuestionResolved:
		r.result(h, ev.RequestID, event.Quote(ev.Action), false)
	case *event.Error:
		r.emit(h, Part{Kind: Error, Text: ev.Message})
	case *event.ResultMessage:
		r.end(endOf(ev))
	}
	return r.out
}

// Close ends the turn for a reason that is not in the events.
func (r *Reducer) Close(e End) []Part {
	if r.done {
		return nil
	}
	r.out = nil
	r.end(&e)
	return r.out
}

func (r *Reducer) emit(h *event.Header, p Part) {
	p.Parent = h.ParentToolUseID
	r.out = append(r.out, p)
}

// end ends the open parts, then the turn.
func (r *Reducer) end(e *End) {
	for _, b := range r.blocks {
		if b.tool == "" {
			r.finish(&event.Header{ParentToolUseID: b.parent}, b)
		}
	}
	r.blocks, r.tools, r.done = nil, nil, true
	r.out = append(r.out, Part{Kind: Finish, End: e})
}

func endOf(m *event.ResultMessage) *End {
	e := &End{Reason: Stopped, Result: m}
	switch {
	case strings.HasPrefix(m.TerminalReason, "aborted_"):
		e.Reason = Cancelled
	case m.StopReason == "max_tokens":
		e.Reason = Length
	case m.StopReason == "refusal":
		e.Reason = Refused
	case m.IsError:
		e.Reason = Failed
		e.Message = cmp.Or(m.Result, strings.Join(m.Errors, "; "), "the turn failed: "+m.Subtype)
	}
	return e
}
