package codexagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/agentkit"
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

	out      *agentkit.Box // its mutex guards what follows
	conv     codexevent.Converter
	requests map[string]*request
	sent     []*sentInput
	mode     string
	model    string
	effort   string
	planned  bool // the last prompt began a turn of planning
	closed   bool // by Close
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
	s.out = agentkit.New()
	s.conv.SkipHistory = true
	return s
}

// run waits for the end of the server.
func (s *Session) run() {
	go func() {
		defer close(s.done)
		<-s.client.Done()
		err := s.client.Wait(context.Background())
		s.out.Mu.Lock()
		defer s.out.Mu.Unlock()
		if s.closed || errors.Is(err, codex.ErrClosed) {
			err = nil
		}
		s.put(s.conv.End(nil))
		s.out.Over, s.out.Err = true, err
		s.out.Changed.Broadcast()
	}()
}

// observe makes events of what client and server say. When the reader is too slow, the server
// waits.
func (s *Session) observe(l item.Line, client bool) {
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
	if client {
		s.put(s.conv.Client(l))
		return
	}
	for len(s.out.Queue) > maxEvents && !s.closed {
		s.out.Changed.Wait()
	}
	s.put(s.conv.Server(l))
}

// put queues events, and opens and closes the requests among them.
func (s *Session) put(events []event.Event) {
	for _, ev := range events {
		s.nameMode(ev)
		switch ev := ev.(type) {
		case *event.PermissionRequest:
			s.requests[ev.RequestID] = &request{kind: ev.Kind, answer: make(chan agent.Answer, 1)}
		case *event.QuestionRequest:
			s.requests[ev.RequestID] = &request{kind: ev.Kind, answer: make(chan agent.Answer, 1)}
		case *event.PermissionResolved:
			delete(s.requests, ev.RequestID)
		case *event.QuestionResolved:
			delete(s.requests, ev.RequestID)
		}
		s.out.Queue = append(s.out.Queue, ev)
	}
	s.out.Changed.Broadcast()
}

// ID returns the thread's id, with which the session can be resumed and which its files have in
// their names.
func (s *Session) ID() string { return s.thread.ID() }

// PID returns the process id of the session's server, or 0 if the spawner did not report one.
func (s *Session) PID() int { return s.client.PID() }

// Events returns an iterator over the events of the session. It can be used once; a second use
// is an error.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] { return s.out.Events(ctx) }

// ended is agent.ErrClosed after the end of the server.
func (s *Session) ended() error {
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
	if s.closed || s.out.Over {
		return agent.ErrClosed
	}
	return nil
}

// Send gives the thread a prompt, which waits in this process while a turn is running.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := s.ended(); err != nil {
		return err
	}
	p, err := prompt(in)
	if err != nil {
		return err
	}
	s.out.Mu.Lock()
	policy, box := permissions(s.mode)
	p.Model, p.Effort, p.ApprovalPolicy = s.model, s.effort, policy
	if box != "" {
		p.SandboxPolicy = sandboxPolicies[box]
	}
	p.Extra = s.collaboration()
	s.out.Mu.Unlock()
	turn, err := s.thread.Send(ctx, p)
	if err != nil {
		return translate(err)
	}
	turn.Discard() // the events come from the lines
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
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

// Interrupt stops the turn that is running. Prompts that wait are sent after it. Without a turn
// it does nothing.
func (s *Session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	if err := s.ended(); err != nil {
		return agent.Interrupted{}, err
	}
	err := s.thread.Interrupt(ctx)
	if errors.Is(err, codex.ErrNoTurn) {
		err = nil
	}
	var out agent.Interrupted
	s.out.Mu.Lock()
	defer s.out.Mu.Unlock()
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

// Close ends the server of the session and returns when it is gone. It may be called many
// times.
func (s *Session) Close() error {
	s.out.Mu.Lock()
	s.closed = true
	s.out.Changed.Broadcast()
	s.out.Mu.Unlock()
	err := s.client.Close()
	<-s.done
	return err
}
