package claudeagent

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

var (
	_ agent.Adopter = (*Provider)(nil)
	_ agent.Hosted  = (*Session)(nil)
)

// hosted is the state of a session with a CLI under a host, which stores the CLI's lines.
type hosted struct {
	last, stored uint64        // from the adoption; 0 without one
	caught       chan struct{} // closed when the lines up to last have been read
	catch        func()        // closes caught
	kept         atomic.Int64

	asked map[string]bool // requests that were opened; guarded by the kit
}

func newHosted(a agent.Adoption) *hosted {
	h := &hosted{last: a.Last, stored: a.Stored, caught: make(chan struct{}), asked: map[string]bool{}}
	h.catch = sync.OnceFunc(func() { close(h.caught) })
	if a.Last == 0 {
		h.catch()
	}
	return h
}

// wait waits until the lines of the earlier process have been read, or ctx ends.
func (h *hosted) wait(ctx context.Context) {
	select {
	case <-h.caught:
	case <-ctx.Done():
	}
}

// ask records that a request was opened.
func (h *hosted) ask(id string) {
	if h != nil && h.last > 0 {
		h.asked[id] = true
	}
}

// Adopt takes over a CLI that runs under a host. See [claude.Adopt].
func (p *Provider) Adopt(ctx context.Context, id string, opts agent.Options, a agent.Adoption) (agent.Session, error) {
	opts.Spawner, opts.Box = nil, nil
	o, err := p.options(opts)
	if err != nil {
		return nil, err
	}
	o.Registry = nil
	s := newSession(p, opts, id)
	s.hosted = newHosted(a)
	o.CanUseTool, o.OnElicitation = s.permit, s.elicit
	client, err := claude.Adopt(ctx, o, claude.Adoption{Process: a.Process, Last: a.Last})
	if err != nil {
		return nil, translate(err)
	}
	s.begin(client)
	return s, nil
}

// Batches yields the events, grouped by the line of the CLI that caused them.
func (s *Session) Batches(ctx context.Context) iter.Seq2[agent.Batch, error] {
	return s.kit.Batches(ctx)
}

// Kept returns the total length in bytes of the CLI's lines.
func (s *Session) Kept() int64 {
	if s.hosted == nil {
		return 0
	}
	return s.hosted.kept.Load()
}

// orphanInput is the line that interrupts the running turn.
const orphanInput = `{"type":"control_request","request_id":"parley-orphan","request":{"subtype":"interrupt"}}` + "\n"

// OrphanInput returns the line that interrupts the running turn.
func (s *Session) OrphanInput() []byte { return []byte(orphanInput) }

// runLines reads the events of a CLI that runs under a host.
func (s *Session) runLines() {
	lines := s.client.Lines(context.Background())
	close(s.ready)
	go func() {
		defer close(s.done)
		defer s.provider.forget(s)
		defer s.hosted.catch()
		var failed error
		for l, err := range lines {
			if err != nil {
				failed = err
				break
			}
			s.addLine(l)
		}
		s.over(failed)
	}()
}

// addLine converts a line to events.
func (s *Session) addLine(l claude.Line) {
	h := s.hosted
	h.kept.Add(int64(len(l.Text)))
	if l.Message != nil && l.Number > h.stored {
		s.meter.add(l.Message)
		if s.opts.OnLine != nil {
			s.opts.OnLine(l.Message.Raw())
		}
	} else if l.Message != nil {
		s.meter.past(l.Message)
	}
	past := l.Number <= h.last
	s.kit.AddLine(l.Number, past, func() []event.Event {
		switch {
		case l.Message != nil:
			if _, ok := l.Message.(*message.Result); ok {
				clear(s.tools)
			}
			return s.conv.Add(l.Message)
		case l.Text == "":
			return nil
		}
		return s.control(l, past)
	})
	if l.Number >= h.last {
		h.catch()
	}
}

// control converts a line that is not a message to events. Events of requests come from the callbacks, except for
// earlier lines.
func (s *Session) control(l claude.Line, past bool) []event.Event {
	var m struct {
		Type      string          `json:"type"`
		RequestID string          `json:"request_id"`
		Request   json.RawMessage `json:"request"`
		Response  struct {
			RequestID string          `json:"request_id"`
			Response  json.RawMessage `json:"response"`
		} `json:"response"`
	}
	if l.Input && promptLine(l.Text) {
		return s.conv.Prompt(message.UserInput{Raw: json.RawMessage(l.Text)})
	}
	if !past || json.Unmarshal([]byte(l.Text), &m) != nil {
		return nil
	}
	switch {
	case !l.Input && m.Type == "control_request":
		return s.conv.Ask(m.RequestID, message.JSON(m.Request))
	case !l.Input && m.Type == "control_cancel_request":
		return s.conv.Answer(m.RequestID, "", "")
	case l.Input && m.Type == "control_response":
		return s.conv.Answer(m.Response.RequestID, message.JSON(cmp.Or(string(m.Response.Response), "{}")), "")
	}
	return nil
}

// promptLine reports whether a line to the CLI is a prompt.
func promptLine(line string) bool {
	var m struct {
		Type string `json:"type"`
	}
	return json.Unmarshal([]byte(line), &m) == nil && m.Type == "user"
}

// awaitAsked waits until a request that was open before an adoption has been opened again.
func (s *Session) awaitAsked(ctx context.Context, id string) {
	h := s.hosted
	if h == nil || h.last == 0 {
		return
	}
	h.wait(ctx)
	s.kit.Await(ctx, 2*orderWait, func() bool { return h.asked[id] })
}
