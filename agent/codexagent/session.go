package codexagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/ui"
	"github.com/seed7221b0f9/parley/ui/codexui"
)

// maxEvents is how many events wait for the reader before the server does.
const maxEvents = 10_000

// Session is a Codex thread with a server of its own. Its Close is bounded by
// codex.Options.CloseGrace for each step.
type Session struct {
	provider *Provider
	opts     agent.Options
	client   *codex.Client
	thread   *codex.Thread
	done     chan struct{} // closed when the last event is queued

	mu       sync.Mutex
	changed  *sync.Cond
	conv     codexui.Converter
	queue    []ui.Event
	requests map[string]*request
	sent     []*sentInput
	mode     string
	model    string
	effort   string
	planned  bool // the last prompt began a turn of planning
	used     bool
	left     bool // the reader has gone
	closed   bool // by Close
	over     bool
	err      error
}

var (
	_ agent.ModelSetter    = (*Session)(nil)
	_ agent.ModeSetter     = (*Session)(nil)
	_ agent.ThinkingSetter = (*Session)(nil)
	_ agent.EffortSetter   = (*Session)(nil)
	_ agent.Catalog        = (*Session)(nil)
	_ agent.MCPController  = (*Session)(nil)
)

// request is a request that waits for an answer.
type request struct {
	kind     string // of the event
	answer   chan agent.Answer
	answered bool // the callback may still have to fetch it
}

type sentInput struct {
	uuid string
	turn *codex.Turn
}

func newSession(p *Provider, opts agent.Options) *Session {
	s := &Session{provider: p, opts: opts, effort: opts.Effort, done: make(chan struct{}), requests: map[string]*request{}}
	s.changed = sync.NewCond(&s.mu)
	s.conv.SkipHistory = true
	return s
}

// run waits for the end of the server.
func (s *Session) run() {
	go func() {
		defer close(s.done)
		<-s.client.Done()
		err := s.client.Wait(context.Background())
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed || errors.Is(err, codex.ErrClosed) {
			err = nil
		}
		s.put(s.conv.End(nil))
		s.over, s.err = true, err
		s.changed.Broadcast()
	}()
}

// observe makes events of what client and server say. When the reader is far behind, the
// server waits.
func (s *Session) observe(l item.Line, client bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if client {
		s.put(s.conv.Client(l))
		return
	}
	for len(s.queue) > maxEvents && !s.left && !s.closed {
		s.changed.Wait()
	}
	s.put(s.conv.Server(l))
}

// put queues events, and opens and closes the requests among them.
func (s *Session) put(events []ui.Event) {
	for _, ev := range events {
		s.nameMode(ev)
		switch ev := ev.(type) {
		case *ui.PermissionRequest:
			s.requests[ev.RequestID] = &request{kind: ev.Kind, answer: make(chan agent.Answer, 1)}
		case *ui.QuestionRequest:
			s.requests[ev.RequestID] = &request{kind: ev.Kind, answer: make(chan agent.Answer, 1)}
		case *ui.PermissionResolved:
			delete(s.requests, ev.RequestID)
		case *ui.QuestionResolved:
			delete(s.requests, ev.RequestID)
		}
		if !s.left {
			s.queue = append(s.queue, ev)
		}
	}
	s.changed.Broadcast()
}

// ID returns the thread's id.
func (s *Session) ID() string { return s.thread.ID() }

// PID returns the id of the server's process, 0 if it is unknown.
func (s *Session) PID() int { return s.client.PID() }

// Events yields the events of the session, once.
func (s *Session) Events(ctx context.Context) iter.Seq2[ui.Event, error] {
	return func(yield func(ui.Event, error) bool) {
		s.mu.Lock()
		used := s.used
		s.used = true
		s.mu.Unlock()
		if used {
			yield(nil, fmt.Errorf("%w: events are ranged over once", agent.ErrInvalid))
			return
		}
		stop := context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed.Broadcast()
		})
		defer stop()
		for {
			ev, err, ok := s.next(ctx)
			if !ok {
				if err != nil {
					yield(nil, err)
				}
				return
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// next waits for the next event; false at the end.
func (s *Session) next(ctx context.Context) (ui.Event, error, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.over && ctx.Err() == nil {
		s.changed.Wait()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx), false
	}
	if len(s.queue) == 0 {
		return nil, s.err, false
	}
	ev := s.queue[0]
	s.queue[0] = nil
	s.queue = s.queue[1:]
	s.changed.Broadcast()
	return ev, nil, true
}

// ended is agent.ErrClosed after the end of the server.
func (s *Session) ended() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.over {
		return agent.ErrClosed
	}
	return nil
}

// Send gives the thread a prompt, which waits while a turn runs.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := s.ended(); err != nil {
		return err
	}
	p, err := prompt(in)
	if err != nil {
		return err
	}
	s.mu.Lock()
	policy, box := permissions(s.mode)
	p.Model, p.Effort, p.ApprovalPolicy = s.model, s.effort, policy
	if box != "" {
		p.SandboxPolicy = sandboxPolicies[box]
	}
	p.Extra = s.collaboration()
	s.mu.Unlock()
	turn, err := s.thread.Send(ctx, p)
	if err != nil {
		return translate(err)
	}
	turn.Discard() // the events come from the lines
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = append(slices.DeleteFunc(s.sent, func(i *sentInput) bool { return i.turn.ID() != "" }), &sentInput{in.UUID, turn})
	return nil
}

// collaboration is what makes a turn one of planning, in which the agent asks the person
// questions, and what ends that. It is part of the experimental API; without that, the mode
// plan is a sandbox in which nothing can be written. The caller holds the lock.
func (s *Session) collaboration() map[string]any {
	plans := cmp.Or(s.mode, s.opts.Mode) == modePlan
	if !s.provider.Options.Experimental || !plans && !s.planned {
		return nil
	}
	s.planned = plans
	mode := "default"
	if plans {
		mode = "plan"
	}
	settings := map[string]any{"model": cmp.Or(s.model, s.thread.Info().Model), "reasoning_effort": nil, "developer_instructions": nil}
	if s.effort != "" {
		settings["reasoning_effort"] = s.effort
	}
	return map[string]any{"collaborationMode": map[string]any{"mode": mode, "settings": settings}}
}

// prompt makes a prompt of an input.
func prompt(in agent.Input) (*codex.Prompt, error) {
	if (in.Text == "") == (len(in.Content) == 0) {
		return nil, fmt.Errorf("%w: an input has either text or content", agent.ErrInvalid)
	}
	if in.Text != "" {
		p := codex.Text(in.Text)
		p.ClientID = in.UUID
		return p, nil
	}
	p := &codex.Prompt{ClientID: in.UUID}
	for _, raw := range in.Content {
		var b struct {
			Type   string `json:"type"`
			Text   string `json:"text"`
			Source struct {
				Type      string `json:"type"`
				MediaType string `json:"media_type"`
				Data      string `json:"data"`
				URL       string `json:"url"`
			} `json:"source"`
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, fmt.Errorf("%w: a block: %w", agent.ErrInvalid, err)
		}
		switch {
		case b.Type == "text":
			p.Input = append(p.Input, &item.Text{Text: b.Text})
		case b.Type == "image" && b.Source.Type == "base64":
			p.Input = append(p.Input, &item.Image{URL: "data:" + b.Source.MediaType + ";base64," + b.Source.Data})
		case b.Type == "image" && b.Source.Type == "url":
			p.Input = append(p.Input, &item.Image{URL: b.Source.URL})
		case b.Type == "document" && b.Source.Type == "text":
			p.Input = append(p.Input, &item.Text{Text: b.Source.Data})
		default:
			return nil, fmt.Errorf("%w: Codex takes no block of the type %q", agent.ErrUnsupported, b.Type)
		}
	}
	return p, nil
}

// Interrupt stops the turn that runs. Prompts that wait are sent after it.
func (s *Session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	if err := s.ended(); err != nil {
		return agent.Interrupted{}, err
	}
	err := s.thread.Interrupt(ctx)
	if errors.Is(err, codex.ErrNoTurn) {
		err = nil
	}
	var out agent.Interrupted
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range s.sent {
		if i.turn.ID() == "" {
			out.StillQueued = append(out.StillQueued, i.uuid)
		}
	}
	if err != nil {
		return out, translate(err)
	}
	return out, nil
}

// Close ends the server.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	err := s.client.Close()
	<-s.done
	return err
}
