package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// release lets held inputs run. Those of unknown fate stay: whether they ran already is
// for a person to judge, one by one.
func (c *core) release() draft {
	f := &facts{}
	for _, in := range c.Inputs {
		if in.Status == inputHeld {
			in.Status = inputQueued
			f.Inputs = append(f.Inputs, in)
		}
	}
	return c.queueDraft(f)
}

// inputStatus is how far an input is.
type inputStatus string

const (
	inputQueued    inputStatus = "queued"    // it waits for the running turn
	inputHeld      inputStatus = "held"      // it waits for a person, after a restart
	inputUnknown   inputStatus = "unknown"   // it may have reached an agent that died
	inputSent      inputStatus = "sent"      // it was handed to the agent
	inputDelivered inputStatus = "delivered" // the agent has shown that it has it
)

// input is something a person sent. It is in the core from its acceptance to the end of
// its turn.
type input struct {
	ID       string      `json:"id"` // also its uuid for the agent
	Content  event.JSON  `json:"content,omitempty"`
	Priority string      `json:"priority,omitempty"`
	Status   inputStatus `json:"status"`
	By       string      `json:"by,omitempty"`
	Trace    string      `json:"trace,omitempty"` // the trace context of the request that sent it
}

// waits reports whether an input is in the queue that people see.
func (in input) waits() bool {
	return in.Status == inputQueued || in.Status == inputHeld || in.Status == inputUnknown
}

// forAgent is the input in the terms of package agent.
func (in input) forAgent() (agent.Input, error) {
	out := agent.Input{UUID: in.ID, Priority: in.Priority}
	if !in.isText() {
		return out, in.Content.Decode(&out.Content)
	}
	if !jsonwire.Valid(string(in.Content)) {
		return out, errContent
	}
	out.Text = in.Content.Text() // a part of the content, if nothing in it is escaped: it may be large
	return out, nil
}

var errContent = errors.New("server: the text of an input is not JSON")

// isText reports whether the content is a text, not blocks.
func (in input) isText() bool { return strings.HasPrefix(string(in.Content), `"`) }

// text is the text of an input, for titles.
func (in input) text() string {
	a, err := in.forAgent()
	if err != nil {
		return ""
	}
	text := a.Text
	for _, raw := range a.Content {
		var b struct{ Type, Text string }
		if json.Unmarshal(raw, &b) == nil && b.Type == "text" {
			text += b.Text
		}
	}
	return text
}

// blocks is the content of an input as events have it.
func (in input) blocks() []event.Content {
	a, err := in.forAgent()
	if err != nil {
		return nil
	}
	if a.Text != "" {
		return []event.Content{{Type: "text", Text: a.Text}}
	}
	var all []event.Content
	for _, raw := range a.Content {
		all = append(all, event.ContentOf(event.JSON(raw)))
	}
	return all
}

// checkContent refuses content that no agent can take: it must be a text that is not
// empty, or blocks that are JSON objects with a type.
func checkContent(content event.JSON) error {
	in := input{Content: content}
	a, err := in.forAgent()
	if err != nil {
		return Invalid("content is neither a string nor a list of blocks")
	}
	if a.Text == "" && len(a.Content) == 0 {
		return Invalid("the input is empty")
	}
	for i, raw := range a.Content {
		var block struct{ Type string }
		if json.Unmarshal(raw, &block) != nil || block.Type == "" {
			return Invalid("block %d is not an object with a type", i)
		}
	}
	return nil
}

// queue is what waits of the inputs, in order.
func (c *core) queue() []input {
	var q []input
	for _, in := range c.Inputs {
		if in.waits() {
			q = append(q, in)
		}
	}
	return q
}

// queueItems is the queue as viewers see it.
func (c *core) queueItems() []event.QueueItem {
	items := []event.QueueItem{}
	for _, in := range c.queue() {
		items = append(items, in.item())
	}
	return items
}

// queueEvent is what has changed in the queue since viewers were told of it last. The whole queue is
// sent where nothing of it is as it was.
func (c *core) queueEvent() event.Event {
	u := &event.QueueUpdated{Header: c.header("")}
	told, now := c.told, c.queue()
	c.told = now
	var ids, follows []string // of the queue, and as the items alone leave it
	added := map[string]bool{}
	known := byID(told)
	for _, in := range now {
		ids = append(ids, in.ID)
		old, ok := known[in.ID]
		item := in.item()
		if ok && old.Content == in.Content {
			if old.Status == in.Status && old.Priority == in.Priority {
				continue
			}
			item.Content = ""
		}
		added[in.ID] = !ok
		u.Items = append(u.Items, item)
	}
	waits := byID(now)
	for _, in := range told {
		if _, ok := waits[in.ID]; ok {
			follows = append(follows, in.ID)
		} else {
			u.Removed = append(u.Removed, in.ID)
		}
	}
	for _, item := range u.Items {
		if added[item.ID] {
			follows = append(follows, item.ID)
		}
	}
	if !slices.Equal(ids, follows) {
		u.Order = ids
	}
	if !slices.ContainsFunc(u.Items, func(item event.QueueItem) bool { return item.Content == "" }) && len(u.Items) == len(now) {
		return &event.QueueChanged{Header: u.Header, Items: u.Items}
	}
	return u
}

func byID(all []input) map[string]input {
	m := make(map[string]input, len(all))
	for _, in := range all {
		m[in.ID] = in
	}
	return m
}

// knowQueue takes over the queue of a conversation, which is what viewers were told.
func (c *core) knowQueue(items []event.QueueItem) {
	known := byID(c.Inputs)
	c.told = nil
	for _, item := range items {
		in := known[item.ID] // the log has no other content of an input than the conversation
		in.ID, in.Priority, in.Status = item.ID, item.Priority, cmp.Or(inputStatus(item.Status), inputQueued)
		c.told = append(c.told, in)
	}
}

// unknown is facts without the contents of inputs that the core has.
func (c *core) unknown(f *facts) *facts {
	return f.without(func(in input) bool {
		old, ok := c.input(in.ID)
		return ok && old.Content == in.Content
	})
}

// beside is facts without the contents of inputs that an event has.
func (f *facts) beside(ev event.Event) *facts {
	items := itemsOf(ev)
	return f.without(func(in input) bool {
		return slices.ContainsFunc(items, func(item event.QueueItem) bool { return item.ID == in.ID && item.Content != "" })
	})
}

// without is facts without the contents of some inputs.
func (f *facts) without(content func(input) bool) *facts {
	if f == nil || !slices.ContainsFunc(f.Inputs, content) {
		return f
	}
	g := *f
	g.Inputs = slices.Clone(f.Inputs)
	for i, in := range g.Inputs {
		if content(in) {
			g.Inputs[i].Content = ""
		}
	}
	return &g
}

// complete adds the contents that an event has of the inputs: the inverse of beside.
func (f *facts) complete(ev event.Event) {
	if f == nil {
		return
	}
	for i, in := range f.Inputs {
		for _, item := range itemsOf(ev) {
			if item.ID == in.ID && len(in.Content) == 0 {
				f.Inputs[i].Content = item.Content
			}
		}
	}
}

// itemsOf returns the items that an event about the queue has.
func itemsOf(ev event.Event) []event.QueueItem {
	switch ev := ev.(type) {
	case *event.QueueChanged:
		return ev.Items
	case *event.QueueUpdated:
		return ev.Items
	}
	return nil
}

func (in input) item() event.QueueItem {
	item := event.QueueItem{ID: in.ID, Content: in.Content, Priority: in.Priority}
	if in.Status != inputQueued {
		item.Status = string(in.Status)
	}
	return item
}

// inflight is what the agent has of the inputs.
func (c *core) inflight() []input {
	return slices.DeleteFunc(slices.Clone(c.Inputs), input.waits)
}

func (c *core) input(id string) (input, bool) {
	i := slices.IndexFunc(c.Inputs, func(in input) bool { return in.ID == id })
	if i < 0 {
		return input{}, false
	}
	return c.Inputs[i], true
}

// queued returns an input that can still be changed.
func (c *core) queued(id string) (input, error) {
	in, ok := c.input(id)
	switch {
	case !ok:
		return in, Conflict("no input %q waits", id)
	case !in.waits():
		return in, Conflict("input %q was sent already", id)
	}
	return in, nil
}

// enqueue accepts an input. Its place is after those that wait.
func (c *core) enqueue(in input, key string) (draft, error) {
	if err := checkContent(in.Content); err != nil {
		return draft{}, err
	}
	if len(c.queue()) >= maxQueue {
		return draft{}, LimitReached("the queue has %d inputs", maxQueue)
	}
	f := &facts{Inputs: []input{in}}
	if key != "" {
		f.Key = &accepted{Key: key, TurnID: in.ID}
	}
	return c.queueDraft(f), nil
}

// holding reports whether an input is held, so that one that comes after it is as well.
func (c *core) holding() bool {
	return slices.ContainsFunc(c.Inputs, func(in input) bool { return in.Status == inputHeld })
}

// editInput changes the content of an input that waits.
func (c *core) editInput(id string, content event.JSON) (draft, error) {
	in, err := c.queued(id)
	if err != nil {
		return draft{}, err
	}
	if err := checkContent(content); err != nil {
		return draft{}, err
	}
	in.Content = content
	return c.queueDraft(&facts{Inputs: []input{in}}), nil
}

// removeInput drops an input that waits.
func (c *core) removeInput(id string) (draft, error) {
	if _, err := c.queued(id); err != nil {
		return draft{}, err
	}
	return c.queueDraft(&facts{Removed: []string{id}}), nil
}

// reorder gives the order of all inputs that wait.
func (c *core) reorder(ids []string) (draft, error) {
	var have []string
	for _, in := range c.queue() {
		have = append(have, in.ID)
	}
	want := slices.Clone(ids)
	slices.Sort(want)
	slices.Sort(have)
	if !slices.Equal(want, have) {
		return draft{}, Conflict("the queue has other inputs now")
	}
	return c.queueDraft(&facts{Order: ids}), nil
}

// nextInput is the input to send next, if the session can take one. Held inputs and those
// of unknown fate wait for a person.
func (c *core) nextInput() (input, bool) {
	for _, in := range c.Inputs {
		switch in.Status {
		case inputSent, inputDelivered:
			return input{}, false
		case inputQueued:
			return in, true
		}
	}
	return input{}, false
}

// send hands an input to the agent: it leaves the queue and stands in the conversation.
func (c *core) send(in input) []draft {
	in.Status = inputSent
	f := &facts{Inputs: []input{in}}
	if c.Memory.Fresh {
		f.Memory = &memory{}
	}
	return []draft{
		{event: &event.UserMessage{Header: c.header(in.ID), Blocks: in.blocks(), IsText: in.isText(), IsPrompt: true}, facts: f},
		{queue: true},
	}
}

// maxQueue is how many inputs of a session can wait.
const maxQueue = 1000

// queueDraft is a change of the queue. Its event shows the queue after it.
func (c *core) queueDraft(f *facts) draft { return draft{queue: true, facts: f} }

func (in input) String() string { return fmt.Sprintf("%s (%s)", in.ID, in.Status) }
