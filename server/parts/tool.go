package parts

import (
	"cmp"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
)

// call is a tool call.
type call struct {
	id, name string
	input    bool // the input was shown
}

func (r *Reducer) call(id string) *call {
	for _, c := range r.tools {
		if c.id == id {
			return c
		}
	}
	return nil
}

func (r *Reducer) startTool(h *event.Header, id, name, title string) {
	if r.call(id) == nil && !r.whole["tool "+id] {
		r.tools = append(r.tools, &call{id: id, name: name})
		r.emit(h, Part{Kind: ToolStart, ID: id, Name: name, Title: title})
	}
}

// input emits the input of a call, once.
func (r *Reducer) input(h *event.Header, id string, input event.JSON) {
	if c := r.call(id); c != nil && !c.input {
		c.input = true
		r.emit(h, Part{Kind: ToolInput, ID: id, Name: c.name, Input: input})
	}
}

// ask emits a request to a person after its call. A request without a call gets one with the same
// id, which ends with the answer: clients show requests at calls.
func (r *Reducer) ask(h *event.Header, p Part, name string, input event.JSON) {
	id := p.ToolUseID()
	if r.call(id) == nil && !r.whole["tool "+id] {
		id = p.ID
		r.startTool(h, id, name, "")
	}
	r.input(h, id, cmp.Or(input, "{}"))
	p.Call = id
	r.emit(h, p)
}

// result ends a call. A result of a call of an earlier turn is not part of this one.
func (r *Reducer) result(h *event.Header, id string, content event.JSON, isError bool) {
	if r.call(id) == nil {
		return
	}
	r.input(h, id, "{}")
	r.emit(h, Part{Kind: ToolResult, ID: id, Content: content, Text: textOf(content), IsError: isError})
	r.whole["tool "+id] = true
	kept := r.tools[:0:0]
	for _, c := range r.tools {
		if c.id != id {
			kept = append(kept, c)
		}
	}
	r.tools = kept
}

// textOf returns the text of a result: a string, or the text of its blocks.
func textOf(content event.JSON) string {
	if content == "" || content[0] == '"' {
		return content.Text()
	}
	var blocks []struct{ Type, Text string }
	if content.Decode(&blocks) != nil {
		return string(content)
	}
	var b strings.Builder
	for _, block := range blocks {
		if block.Type == "text" {
			b.WriteString(block.Text)
		} else {
			b.WriteString("[" + block.Type + "]")
		}
	}
	return b.String()
}
