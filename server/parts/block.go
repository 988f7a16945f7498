package parts

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
)

// block is a text or thinking block, or the block of a tool call.
type block struct {
	id, parent string
	tool       string // for a tool call
	thinking   bool
	text       string // text so far; in a resumed stream, from its start on
	shown      int    // number of bytes that the client has
	started    bool   // in this stream
	ended      bool
}

// id returns the id of a block for clients. A restarted message has other ids, because a client
// keeps the text of the first.
func (r *Reducer) id(h *event.Header, index int64) string {
	id := r.message(h)
	if n := r.again[id]; n > 0 {
		id += "~" + strconv.Itoa(n)
	}
	return id + ":" + strconv.FormatInt(index, 10)
}

func (r *Reducer) message(h *event.Header) string {
	id := cmp.Or(h.MessageID, h.UUID)
	if h.ParentToolUseID != "" {
		id = h.ParentToolUseID + "." + id
	}
	return id
}

func (r *Reducer) find(id string) *block {
	for _, b := range r.blocks {
		if b.id == id {
			return b
		}
	}
	return nil
}

func (r *Reducer) drop(match func(*block) bool) {
	kept := r.blocks[:0:0]
	for _, b := range r.blocks {
		if !match(b) {
			kept = append(kept, b)
		}
	}
	r.blocks = kept
}

// begin returns the block with an index. The start of a block is repeated after each durable
// message, with all of its text.
func (r *Reducer) begin(h *event.Header, index int64, thinking bool) *block {
	id := r.id(h, index)
	b := r.find(id)
	if b == nil {
		b = &block{id: id, ended: r.whole[id]}
		if !b.ended {
			r.blocks = append(r.blocks, b)
		}
	}
	b.parent, b.thinking = h.ParentToolUseID, thinking
	return b
}

func (r *Reducer) add(h *event.Header, index int64, text string) {
	if b := r.find(r.id(h, index)); b != nil {
		b.text += text
		r.flow(h, index)
	}
}

// flow emits the text of a block that is not shown yet.
func (r *Reducer) flow(h *event.Header, index int64) {
	b := r.find(r.id(h, index))
	if b == nil || b.ended || b.tool != "" || len(b.text) <= b.shown {
		return
	}
	start, delta := TextStart, TextDelta
	if b.thinking {
		start, delta = ThinkingStart, ThinkingDelta
	}
	if !b.started {
		b.started = true
		r.emit(h, Part{Kind: start, ID: b.id})
	}
	r.emit(h, Part{Kind: delta, ID: b.id, Text: b.text[b.shown:]})
	b.shown = len(b.text)
}

// finish ends a block. It emits no end for a block without text in this stream.
func (r *Reducer) finish(h *event.Header, b *block) {
	if b.ended {
		return
	}
	b.ended = true
	if !b.started {
		return
	}
	kind := TextEnd
	if b.thinking {
		kind = ThinkingEnd
	}
	r.emit(h, Part{Kind: kind, ID: b.id, Text: b.text})
}

func (r *Reducer) stop(h *event.Header, ev *event.BlockStop) {
	b := r.find(r.id(h, ev.Index))
	switch {
	case b == nil:
	case b.tool == "":
		r.finish(h, b)
	case strings.HasPrefix(string(event.NewJSON(b.text)), "{"):
		r.input(h, b.tool, event.JSON(b.text))
	case ev.Incomplete:
		r.input(h, b.tool, "")
	}
}

// restart drops the blocks of a message that starts, also when the agent retries.
func (r *Reducer) restart(h *event.Header) {
	if r.abandon(h, 0) {
		r.again[r.message(h)]++
	}
}

// abandon ends the blocks of a message from an index on and reports whether there were any. They
// stay shown: a stream cannot retract text.
func (r *Reducer) abandon(h *event.Header, from int64) bool {
	message, _, _ := strings.Cut(r.id(h, 0)+"\n", ":0\n")
	gone := func(id string) bool {
		text, ok := strings.CutPrefix(id, message+":")
		index, err := strconv.ParseInt(text, 10, 64)
		return ok && err == nil && index >= from
	}
	found := false
	for id := range r.whole {
		if gone(id) {
			delete(r.whole, id)
			found = true
		}
	}
	for _, b := range r.blocks {
		if gone(b.id) {
			r.finish(h, b)
			found = true
		}
	}
	r.drop(func(b *block) bool { return gone(b.id) })
	return found
}

// wholeBlock emits the part of a complete block that was not streamed.
func (r *Reducer) wholeBlock(h *event.Header, w event.IndexedBlock) {
	id, c := r.id(h, w.Index), &w.Block
	if r.whole[id] {
		return
	}
	switch {
	case c.Type == "text" || c.Type == "thinking":
		r.wholeText(h, w.Index, c)
	case strings.HasSuffix(c.Type, "tool_result"):
		r.result(h, c.ToolUseID, c.Raw, false)
	case c.ToolUseID != "":
		r.startTool(h, c.ToolUseID, c.Name, c.Title)
		r.input(h, c.ToolUseID, cmp.Or(c.Input, "{}"))
	}
	r.whole[id] = true
	r.drop(func(b *block) bool { return b.id == id })
}

func (r *Reducer) wholeText(h *event.Header, index int64, c *event.Content) {
	b := r.begin(h, index, c.Type == "thinking")
	if b.started && !strings.HasPrefix(c.Text, b.text[:b.shown]) && !b.ended { // differs from the streamed text
		r.finish(h, b)
		r.drop(func(x *block) bool { return x == b })
		r.again[r.message(h)]++
		b = r.begin(h, index, c.Type == "thinking")
	}
	b.text = c.Text
	r.flow(h, index)
	r.finish(h, b)
}
