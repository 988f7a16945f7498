package claudeagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/random"
)

const (
	// orderWait limits how long a request waits for the event of its tool use.
	orderWait = time.Second
	// startWait limits how long an interrupt waits for the start of a prompt that was just
	// sent: a CLI may lose an earlier interrupt.
	startWait = 5 * time.Second
)

// Session is a session of Claude Code with its own CLI. The graces of claude.Deadlines limit
// its Close.
type Session struct {
	provider *Provider
	opts     agent.Options
	id       string
	ready    chan struct{} // closed when client is set
	client   *claude.Client
	done     chan struct{} // closed when the CLI and the turns have ended
	turns    sync.WaitGroup
	meter    meter   // of the goroutine that reads messages
	hosted   *hosted // nil if no host keeps the lines

	kit   *agentkit.Session // its methods guard the fields below
	conv  claudeevent.Converter
	tools map[string]bool // the tool uses of this turn that have an event
	begun map[string]*claude.Turn
}

var (
	_ agent.ModelSetter     = (*Session)(nil)
	_ agent.ModeSetter      = (*Session)(nil)
	_ agent.ThinkingSetter  = (*Session)(nil)
	_ agent.EffortSetter    = (*Session)(nil)
	_ agent.Forker          = (*Session)(nil)
	_ agent.Rewinder        = (*Session)(nil)
	_ agent.Backgrounder    = (*Session)(nil)
	_ agent.TaskController  = (*Session)(nil)
	_ agent.ContextReporter = (*Session)(nil)
	_ agent.MCPController   = (*Session)(nil)
	_ agent.Catalog         = (*Session)(nil)
	_ agent.Titler          = (*Session)(nil)
	_ agent.Tuner           = (*Session)(nil)
)

func newSession(p *Provider, opts agent.Options, id string) *Session {
	s := &Session{
		provider: p, opts: opts, id: id, ready: make(chan struct{}), done: make(chan struct{}),
		tools: map[string]bool{}, begun: map[string]*claude.Turn{},
	}
	s.kit = agentkit.New(agentkit.Options{Observe: s.observe, Cancel: func(r *agentkit.Prompt) []event.Event { return s.conv.Answer(r.ID, "", "") }})
	s.conv.Provider = p.Name()
	s.meter.report = opts.OnUsed
	if opts.Spawner != nil && p.Options.Transport == nil {
		s.hosted = newHosted(agent.Adoption{})
	}
	return s
}

// run converts the CLI's messages to events until the CLI has ended.
func (s *Session) run() {
	if s.hosted != nil {
		s.runLines()
		return
	}
	messages := s.client.Messages(context.Background())
	close(s.ready)
	go func() {
		defer close(s.done)
		defer s.provider.forget(s)
		var failed error
		for m, err := range messages {
			if err != nil {
				failed = err
				break
			}
			s.add(m)
		}
		s.over(failed)
	}()
}

// over ends the events after the CLI has ended.
func (s *Session) over(failed error) {
	failed = cmp.Or(failed, s.client.Wait(), fmt.Errorf("%w: the CLI exited", agent.ErrClosed))
	s.kit.End(failed, func() []event.Event { return s.conv.End(nil) })
	s.turns.Wait()
}

// add converts a message to events.
func (s *Session) add(m message.Message) {
	s.meter.add(m)
	if s.opts.OnLine != nil {
		s.opts.OnLine(m.Raw())
	}
	s.kit.Add(func() []event.Event {
		if _, ok := m.(*message.Result); ok {
			clear(s.tools)
		}
		return s.conv.Add(m)
	})
}

// observe records the tool uses with an event.
func (s *Session) observe(ev event.Event) {
	switch ev := ev.(type) {
	case *event.ToolStart:
		s.tools[ev.ToolUseID] = true
	case *event.AssistantMessage:
		for _, b := range ev.Blocks {
			if b.Block.ToolUseID != "" {
				s.tools[b.Block.ToolUseID] = true
			}
		}
	}
}

// ID returns the session's id as the CLI last reported it. It changes when the conversation is
// cleared.
func (s *Session) ID() string { return cmp.Or(s.client.SessionID(), s.id) }

// PID returns the process id of the CLI, as the CLI itself reported it, or 0 if it is unknown.
func (s *Session) PID() int { return int(s.client.ServerInfo().PID) }

// Events returns an iterator over the events of the session. It can be used once; a second use
// is an error.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] { return s.kit.Events(ctx) }

// failed translates the error of a call; after the end of the session it returns the error of
// the end.
func (s *Session) failed(err error) error {
	if err == nil || errors.Is(err, agent.ErrClosed) {
		return err
	}
	if s.kit.Alive() != nil {
		return fmt.Errorf("%w: %w", agent.ErrClosed, err)
	}
	if _, ok := errors.AsType[*claude.ExitError](err); ok {
		return fmt.Errorf("%w: %w", agent.ErrClosed, err)
	}
	return translate(err)
}

// Send sends a prompt to the CLI. It returns when the prompt is written; the CLI queues it
// while a turn runs.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	p, err := prompt(in)
	if err != nil {
		return err
	}
	var turn *claude.Turn
	err = s.kit.Send(func() (err error) {
		turn, err = s.client.Send(ctx, p)
		return err
	}, func() []event.Event {
		s.begun[turn.ID] = turn
		s.turns.Go(func() { s.follow(turn) })
		if s.hosted != nil {
			return nil // the prompt's events come with its line
		}
		return s.conv.Prompt(p)
	})
	return s.failed(err)
}

// follow waits for the end of a turn, whose messages the session delivers.
func (s *Session) follow(turn *claude.Turn) {
	turn.Discard()
	_, _ = turn.Wait(context.Background()) // the events report the result
	s.kit.Do(func() { delete(s.begun, turn.ID) })
}

// prompt converts an input to a prompt.
func prompt(in agent.Input) (message.UserInput, error) {
	p := message.UserInput{UUID: in.UUID, Priority: message.Priority(in.Priority)}
	if err := agentkit.CheckInput(in); err != nil {
		return p, err
	}
	if p.UUID == "" {
		p.UUID = random.UUID()
	}
	if in.Text != "" {
		p.Content = claude.Text(in.Text).Content
		return p, nil
	}
	for _, raw := range in.Content {
		b, err := block(raw)
		if err != nil {
			return p, err
		}
		p.Content = append(p.Content, b)
	}
	return p, nil
}

// block decodes a block of an input.
func block(raw json.RawMessage) (message.InputBlock, error) {
	var object map[string]json.RawMessage
	var content message.Content
	if err := errors.Join(json.Unmarshal(raw, &object), json.Unmarshal([]byte("["+string(raw)+"]"), &content)); err != nil {
		return nil, fmt.Errorf("%w: a block: %w", agent.ErrInvalid, err)
	}
	for _, b := range content.Blocks() {
		if in, ok := b.(message.InputBlock); ok {
			return in, nil
		}
	}
	return nil, fmt.Errorf("%w: %.80s is not a block of a prompt", agent.ErrInvalid, raw)
}

// Interrupt stops the turn that is running. Queued prompts run after it.
func (s *Session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	if err := s.kit.Alive(); err != nil {
		return agent.Interrupted{}, err
	}
	s.kit.Await(ctx, startWait, s.interruptible)
	receipt, err := s.client.Interrupt(ctx)
	if err != nil {
		return agent.Interrupted{}, s.failed(err)
	}
	return agent.Interrupted{Dropped: receipt.Cancelled, StillQueued: receipt.StillQueued}, nil
}

// interruptible reports whether the CLI has begun a prompt or has no prompt.
func (s *Session) interruptible() bool {
	for _, t := range s.begun {
		if state := t.State(); state != "" && state != message.CommandQueued {
			return true
		}
	}
	return len(s.begun) == 0
}

// Close ends the CLI and returns when its processes have ended. It may be called several times.
func (s *Session) Close() error {
	s.kit.Stop(nil)
	err := s.client.Close()
	<-s.done
	return err
}
