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

// release lets held inputs run. Inputs with an unknown fate stay, because a person has to decide
// whether each of them ran already.
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

// inputStatus is the progress of an input.
type inputStatus string

const (
	inputQueued    inputStatus = "queued"    // waits for the running turn
	inputHeld      inputStatus = "held"      // waits for a person, after a restart
	inputUnknown   inputStatus = "unknown"   // may have reached an agent that died
	inputSent      inputStatus = "sent"      // passed to the agent
	inputDelivered inputStatus = "delivered" // confirmed by the agent
)

// priorityNow is the priority of an input that becomes part of the running turn.
const priorityNow = "now"

// input is a prompt of a person. It is in the core from its acceptance to the end of its turn.
type input struct {
	ID       string      `json:"id"` // also its uuid for the agent
	Content  event.JSON  `json:"content,omitempty"`
	Priority string      `json:"priority,omitempty"`
	Status   inputStatus `json:"status"`
	By       string      `json:"by,omitempty"`
	Trace    string      `json:"trace,omitempty"` // the trace context of the request that sent it
}

// OwnerName is the name of the server's owner. Prompts of the owner have no name.
const OwnerName = "owner"

// sender returns the name of the person who sent an input, for others.
func (in input) sender() string {
	if in.By == OwnerName {
		return ""
	}
	return in.By
}

// waits reports whether an input is in the visible queue.
func (in input) waits() bool {
	return in.Status == inputQueued || in.Status == inputHeld || in.Status == inputUnknown
}

// forAgent converts the input to package agent.
func (in input) forAgent() (agent.Input, error) {
	out := agent.Input{UUID: in.ID, Priority: in.Priority}
	if !in.isText() {
		return out, in.Content.Decode(&out.Content)
	}
	if !jsonwire.Valid(string(in.Content)) {
		return out, errContent
	}
	out.Text = in.Content.Text() // shares the content, if it has no escapes: it may be large
	return out, nil
}

var errContent = errors.New("server: the text of an input is not JSON")

// isText reports whether the content is a plain text and not blocks.
func (in input) isText() bool { return strings.HasPrefix(string(in.Content), `"`) }

// text returns the text of an input, for titles: of a large one its beginning.
func (in input) text() string {
	if in.isText() {
		in.Content = startOf(in.Content, len(`\u0000`)*maxTitled)
	}
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

// startOf returns a JSON string, cut to n bytes if it is longer.
func startOf(text event.JSON, n int) event.JSON {
	if len(text) <= n {
		return text
	}
	at := len(`"`)
	for at < n-len(`"`) {
		switch {
		case text[at] != '\\':
			at++
		case strings.HasPrefix(string(text[at:]), `\u`):
			at += len(`\u0000`)
		default:
			at += len(`\n`)
		}
	}
	return text[:min(at, len(text)-len(`"`))] + `"`
}

// blocks returns the content of an input for events.
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

// checkContent rejects content that no agent can accept: it must be a non-empty text, or blocks
// that are JSON objects with a type.
func checkContent(content event.JSON) error {
	in := input{Content: content}
	if in.isText() && content != `""` && jsonwire.Valid(string(content)) {
		return nil // without a copy of the text
	}
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

// queue returns the waiting inputs, in order.
func (c *core) queue() []input {
	var q []input
	for _, in := range c.Inputs {
		if in.waits() {
			q = append(q, in)
		}
	}
	return q
}

// queueItems returns the queue for viewers.
func (c *core) queueItems() []event.QueueItem {
	items := []event.QueueItem{}
	for _, in := range c.queue() {
		items = append(items, in.item())
	}
	return items
}

// queueEvent returns an event with the changes of the queue since the last one for viewers. It
// contains the whole queue if no part of the queue is unchanged.
func (c *core) queueEvent() event.Event {
	u := &event.QueueUpdated{Header: c.header("")}
	told, now := c.told, c.queue()
	c.told = now
	var ids, follows []string // the ids in the queue, and their order if viewers only apply the items
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

// knowQueue records the queue of a conversation as the queue that viewers have.
func (c *core) knowQueue(items []event.QueueItem) {
	known := byID(c.Inputs)
	c.told = nil
	for _, item := range items {
		in := known[item.ID] // the conversation has the same content of an input as the log
		in.ID, in.Priority, in.Status = item.ID, item.Priority, cmp.Or(inputStatus(item.Status), inputQueued)
		c.told = append(c.told, in)
	}
}

// unknown returns the facts without the contents of inputs that the core already has.
func (c *core) unknown(f *facts) *facts {
	return f.without(func(in input) bool {
		old, ok := c.input(in.ID)
		return ok && old.Content == in.Content
	})
}

// beside returns the facts for a record with this event, without the contents of inputs that are in
// the event.
func (f *facts) beside(ev event.Event) *facts {
	items := itemsOf(ev)
	return f.without(func(in input) bool {
		return slices.ContainsFunc(items, func(item event.QueueItem) bool { return item.ID == in.ID && item.Content != "" })
	})
}

// without returns facts without the contents of some inputs.
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

// complete adds the contents that are in the event to the inputs. It is the inverse of beside.
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

// itemsOf returns the queue items in an event.
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

// inflight returns the inputs that the agent has.
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

// enqueue accepts an input, after the waiting ones.
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

// holding reports whether an input is held, so that later ones are held as well.
func (c *core) holding() bool {
	return slices.ContainsFunc(c.Inputs, func(in input) bool { return in.Status == inputHeld })
}

// editInput changes the content of a waiting input.
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

// removeInput drops a waiting input.
func (c *core) removeInput(id string) (draft, error) {
	if _, err := c.queued(id); err != nil {
		return draft{}, err
	}
	return c.queueDraft(&facts{Removed: []string{id}}), nil
}

// reorder sets the order of all waiting inputs.
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

// first puts an input before all others in the queue.
func (c *core) first(in input) draft {
	order := []string{in.ID}
	for _, other := range c.queue() {
		if other.ID != in.ID {
			order = append(order, other.ID)
		}
	}
	return c.queueDraft(&facts{Inputs: []input{in}, Order: order})
}

// urgent returns the queued input that should become part of the running turn.
func (c *core) urgent() (input, bool) {
	i := slices.IndexFunc(c.Inputs, func(in input) bool { return in.Status == inputQueued && in.Priority == priorityNow })
	if i < 0 || !c.State.busy() {
		return input{}, false
	}
	return c.Inputs[i], true
}

// nextInput returns the input to send next, if the session can accept one. Held inputs and those of
// unknown fate wait for a person.
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

// send passes an input to the agent: it moves from the queue to the conversation.
func (c *core) send(in input) []draft {
	in.Status = inputSent
	f := &facts{Inputs: []input{in}}
	if c.Memory.Fresh {
		f.Memory = &memory{}
	}
	return []draft{
		{event: &event.UserMessage{Header: c.header(in.ID), Blocks: in.blocks(), IsText: in.isText(), IsPrompt: true, By: in.sender()}, facts: f},
		{queue: true},
	}
}

// maxQueue is the maximum number of waiting inputs of a session.
const maxQueue = 1000

// queueDraft returns a change of the queue. Its event shows the queue afterwards.
func (c *core) queueDraft(f *facts) draft { return draft{queue: true, facts: f} }

func (in input) String() string { return fmt.Sprintf("%s (%s)", in.ID, in.Status) }
