package codexagent

import (
	"cmp"
	"context"
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

// Session is a Codex thread with a separate server. Each step of its Close takes at most
// codex.Options.CloseGrace.
type Session struct {
	provider *Provider
	opts     agent.Options
	client   *codex.Client
	thread   *codex.Thread
	hosted   *agentkit.Hosted // nil if no host is used

	kit     *agentkit.Session // its methods guard the fields below
	conv    codexevent.Converter
	sent    []*sentInput
	mode    string
	model   string
	effort  string
	planned bool            // the last prompt started a planning turn
	written map[string]bool // prompts that an earlier process has written
	turn    runningTurn     // used only under a host
}

var (
	_ agent.ModelSetter    = (*Session)(nil)
	_ agent.ModeSetter     = (*Session)(nil)
	_ agent.ThinkingSetter = (*Session)(nil)
	_ agent.EffortSetter   = (*Session)(nil)
	_ agent.Catalog        = (*Session)(nil)
	_ agent.MCPController  = (*Session)(nil)
)

type sentInput struct {
	uuid string
	turn *codex.Turn
}

func newSession(p *Provider, opts agent.Options) *Session {
	s := &Session{provider: p, opts: opts, effort: opts.Effort}
	s.kit = agentkit.New(agentkit.Options{Observe: s.complete})
	s.conv.SkipHistory = true
	return s
}

// run waits for the server to end.
func (s *Session) run() {
	go func() {
		<-s.client.Done()
		if s.hosted != nil {
			s.hosted.End()
		}
		err := s.client.Wait(context.Background())
		if errors.Is(err, codex.ErrClosed) {
			err = nil
		}
		s.kit.End(err, func() []event.Event { return s.conv.End(nil) })
	}()
}

// observe converts the lines of client and server to events. It blocks the server while the
// consumer is too slow.
func (s *Session) observe(l item.Line, client bool) {
	if client {
		s.kit.Update(func() []event.Event { return s.conv.Client(l) })
		return
	}
	s.kit.Add(func() []event.Event { return s.conv.Server(l) })
}

// ID returns the thread's id, with which the session can be resumed. It is part of the names of its
// files.
func (s *Session) ID() string { return s.thread.ID() }

// PID returns the process id of the session's server, or 0 if the spawner did not report it.
func (s *Session) PID() int { return s.client.PID() }

// Events returns an iterator over the events of the session. It can be used once; a second use
// is an error.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] { return s.kit.Events(ctx) }

// Send sends a prompt to the thread. During a turn the prompt waits in a queue of this process.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	p, err := prompt(in)
	if err != nil {
		return err
	}
	if done, err := s.sentBefore(ctx, in.UUID); done || err != nil {
		return err
	}
	s.kit.Do(func() {
		policy, box := permissions(s.mode)
		p.Model, p.Effort, p.ApprovalPolicy = s.model, s.effort, policy
		if box != "" {
			p.SandboxPolicy = sandboxPolicies[box]
		}
		p.Extra, p.OutputSchema = s.collaboration(), s.provider.OutputSchema
	})
	if c := commandOf(p); c != nil {
		p = c
	}
	turn, err := s.thread.Send(ctx, p)
	if err != nil {
		return translate(err)
	}
	turn.Discard() // the events come from the lines
	s.kit.Do(func() {
		s.sent = append(slices.DeleteFunc(s.sent, func(i *sentInput) bool { return i.turn.ID() != "" }), &sentInput{in.UUID, turn})
	})
	return nil
}

// collaboration returns the parameters that start or end planning turns, in which the agent asks
// questions. They are part of the experimental API; without it, the mode plan is a read-only
// sandbox.
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

// prompt converts an input to a prompt.
func prompt(in agent.Input) (*codex.Prompt, error) {
	blocks, err := agentkit.Blocks(in)
	if err != nil {
		return nil, err
	}
	p := &codex.Prompt{ClientID: in.UUID}
	for _, b := range blocks {
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
			return nil, fmt.Errorf("%w: Codex does not support blocks of the type %q", agent.ErrUnsupported, b.Type)
		}
	}
	return p, nil
}

// Interrupt stops the running turn. Queued prompts are sent after it. Without a turn it has no
// effect.
func (s *Session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	if err := s.kit.Alive(); err != nil {
		return agent.Interrupted{}, err
	}
	err := s.thread.Interrupt(ctx)
	if errors.Is(err, codex.ErrNoTurn) {
		err = nil
	}
	var out agent.Interrupted
	s.kit.Do(func() {
		for _, i := range s.sent {
			if i.turn.ID() == "" {
				out.StillQueued = append(out.StillQueued, i.uuid)
			}
		}
	})
	return out, translate(err)
}

// Close ends the server of the session and returns after its exit. It may be called several times.
func (s *Session) Close() error {
	s.kit.Stop(nil)
	err := s.client.Close()
	<-s.kit.Done()
	return err
}
