package chat

import (
	"errors"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

// The reasons why a prompt has no result.
var (
	errTakenBack = errors.New("the prompt was withdrawn")
	errRemoved   = errors.New("another client removed the prompt from the queue")
	errNoResult  = errors.New("the agent gave no result")
)

// prompt is an input on its way to its result.
type prompt struct {
	id, text string
	queued   bool // sent while another was running
	listed   bool // a server has it in its queue
	canceled bool // is being cancelled here
	begun    time.Time
	done     bool // the agent has finished it, and a result may follow
}

// prompts are the unfinished inputs in the order of sending. A turn ends all prompts that it began or
// joined.
type prompts struct {
	list    []*prompt
	running bool // a turn of any origin is running
	since   time.Time
	begun   func(*prompt)
	over    func(*prompt, error) // the error is nil after a result
}

// busy reports whether a turn is running or a prompt is queued.
func (p *prompts) busy() bool { return p.running || len(p.list) > 0 }

// working returns the start time of the running turn, or the zero time if it is unknown.
func (p *prompts) working() time.Time {
	if len(p.list) > 0 {
		return p.list[0].begun
	}
	return p.since
}

// waiting returns the prompts that have not begun.
func (p *prompts) waiting() (list []*prompt) {
	for i, one := range p.list {
		if one.queued && one.begun.IsZero() && (i > 0 || p.running) {
			list = append(list, one)
		}
	}
	return list
}

func (p *prompts) find(id string) *prompt {
	if i := slices.IndexFunc(p.list, func(one *prompt) bool { return one.id == id }); i >= 0 && id != "" {
		return p.list[i]
	}
	return nil
}

// end removes the prompts that match.
func (p *prompts) end(err error, match func(*prompt) bool) {
	var ended []*prompt
	p.list = slices.DeleteFunc(p.list, func(one *prompt) bool {
		if match(one) {
			ended = append(ended, one)
			return true
		}
		return false
	})
	for _, one := range ended {
		p.over(one, err)
	}
}

// event updates the prompts from an event. For a result it is called after the result was shown.
func (p *prompts) event(ev event.Event) {
	switch ev := ev.(type) {
	case *event.TurnStart:
		p.running, p.since = true, time.Now()
		p.begin(ev.PromptID)
	case *event.UserMessage: // a server has sent it to the agent and will remove it from the queue
		if one := p.find(ev.UUID); one != nil {
			one.listed = false
		}
	case *event.QueueChanged:
		p.waitIn(ev.Items)
	case *event.SystemInit: // Claude names the prompts that it merged
		ids, _ := ev.Data.Member("user_message_uuids")
		for _, id := range ids.Elements() {
			p.begin(id.Text())
		}
	case *event.Unknown:
		if ev.OriginalType == "command_lifecycle" {
			p.lifecycle(ev.Data)
		}
	case *event.SessionState:
		if ev.State == string(message.StateIdle) {
			p.end(errNoResult, func(one *prompt) bool { return one.done })
		}
	case *event.ResultMessage:
		if ev.ParentToolUseID == "" {
			p.running = false
			p.end(nil, func(one *prompt) bool { return !one.begun.IsZero() })
		}
	}
}

// waitIn updates the prompts from the queue of a server. A prompt that disappeared without being sent
// was removed.
func (p *prompts) waitIn(queue []event.QueueItem) {
	for _, one := range slices.Clone(p.list) {
		listed := slices.ContainsFunc(queue, func(item event.QueueItem) bool { return item.ID == one.id })
		if one.listed && !listed {
			err := errRemoved
			if one.canceled {
				err = errTakenBack
			}
			p.end(err, func(other *prompt) bool { return other == one })
		}
		one.listed = listed
	}
}

func (p *prompts) begin(id string) {
	if one := p.find(id); one != nil && one.begun.IsZero() {
		one.begun = time.Now()
		p.begun(one)
	}
}

// lifecycle processes Claude's report about a queued prompt.
func (p *prompts) lifecycle(data event.JSON) {
	id, _ := data.Member("command_uuid")
	one := p.find(id.Text())
	if one == nil {
		return
	}
	state, _ := data.Member("state")
	switch message.CommandState(state.Text()) {
	case message.CommandStarted:
		p.begin(one.id)
	case message.CommandQueued: // again, after an interrupt
		one.begun = time.Time{}
	case message.CommandCompleted:
		one.done = true
	case message.CommandCancelled:
		if one.begun.IsZero() {
			p.end(errTakenBack, func(other *prompt) bool { return other == one })
		}
		one.done = true
	}
}
