package agenttest

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
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/random"
)

// eventBuffer is how many events wait for the consumer before the agent does.
const eventBuffer = 256

// errDied is why a session that was killed ended.
var errDied = errors.New("agenttest: the agent died")

// Session is a session of the scripted provider. Its reactions depend on the text of the prompt
// only.
type Session struct {
	provider *Provider
	id       string
	opts     agent.Options
	kit      *agentkit.Session
	inputs   chan struct{} // signals that there is an input

	mu        sync.Mutex
	queue     []agent.Input
	interrupt context.CancelFunc // of the running turn; nil if none runs, or it was interrupted
	busy      bool               // a turn runs
	early     bool               // the next turn begins interrupted
	model     string
	mode      string
	thinking  *int64
	effort    string
	tasks     map[string]bool
	runID     string // tells the ids of this run from those before a resume
	numbered  int
	turns     int64
}

func newSession(p *Provider, id string, opts agent.Options) *Session {
	s := &Session{
		provider: p, id: id, opts: opts, kit: agentkit.New(agentkit.Options{Limit: eventBuffer}), inputs: make(chan struct{}, 1), tasks: map[string]bool{},
		model: opts.Model, mode: opts.Mode, thinking: opts.Thinking, effort: opts.Effort, runID: random.UUID()[:8],
	}
	if s.model == "" {
		s.model = "sim-1"
	}
	if s.mode == "" {
		s.mode = "default"
	}
	return s
}

// ID returns the session's id, which the options gave it or which the provider made up.
func (s *Session) ID() string { return s.id }

// Events returns an iterator over the session's events. It can be used once; a second use is an
// error.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] { return s.kit.Events(ctx) }

// Send gives the agent an input, which is either a text or content blocks. It waits while a
// turn runs.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := cmp.Or(agentkit.CheckInput(in), s.kit.Alive()); err != nil {
		return err
	}
	if in.UUID == "" {
		in.UUID = random.UUID()
	}
	if err := s.provider.write(s.id, line{Role: "user", UUID: in.UUID, Text: textOf(in), Dir: s.opts.Dir}); err != nil {
		return err
	}
	if in.Priority == "now" {
		s.queue = slices.Insert(s.queue, 0, in)
	} else {
		s.queue = append(s.queue, in)
	}
	select {
	case s.inputs <- struct{}{}:
	default:
	}
	return nil
}

// textOf is the text of an input.
func textOf(in agent.Input) string {
	text := in.Text
	for _, raw := range in.Content {
		var block struct{ Text string }
		if json.Unmarshal(raw, &block) == nil {
			text += block.Text
		}
	}
	return text
}

// Interrupt stops the turn that is running, or the one that is about to begin. Inputs that are
// queued after it still run.
func (s *Session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	if err := ctx.Err(); err != nil {
		return agent.Interrupted{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kit.Alive(); err != nil {
		return agent.Interrupted{}, err
	}
	waiting := s.queue
	switch {
	case s.interrupt != nil:
		s.interrupt()
		s.interrupt = nil
	case !s.busy && len(waiting) > 0:
		s.early = true
		waiting = waiting[1:]
	}
	var result agent.Interrupted
	for _, in := range waiting {
		result.StillQueued = append(result.StillQueued, in.UUID)
	}
	return result, nil
}

// Answer answers an open request of the agent, which its id names, with the type that its kind
// needs.
func (s *Session) Answer(ctx context.Context, requestID string, a agent.Answer) error {
	return s.kit.Answer(ctx, requestID, a)
}

// Close ends the agent and returns when its goroutine is gone. Its events end without an error.
func (s *Session) Close() error {
	s.kit.Stop(nil)
	<-s.kit.Done()
	return nil
}

// Kill ends the agent as a crash does: its events end with an error, and its file stays.
func (s *Session) Kill() {
	s.kit.Stop(errDied)
	<-s.kit.Done()
}

// SetModel changes the model that the agent reports and returns it. Only "no-such-model" is
// refused, for tests.
func (s *Session) SetModel(_ context.Context, model string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.kit.Alive() != nil:
		return "", agent.ErrClosed
	case model == "":
		model = "sim-1"
	case model == "no-such-model":
		return "", fmt.Errorf("%w: model %s", agent.ErrInvalid, model)
	}
	s.model = model
	return model, nil
}

// Modes returns the permission modes that the session accepts, bypassPermissions only if the
// options allow it.
func (s *Session) Modes() []string {
	modes := []string{"default", "acceptEdits", "plan"}
	if s.opts.AllowBypass {
		modes = append(modes, "bypassPermissions")
	}
	return modes
}

// SetMode changes the permission mode. A mode that [Session.Modes] does not return is
// [agent.ErrInvalid].
func (s *Session) SetMode(_ context.Context, mode string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kit.Alive(); err != nil {
		return err
	}
	if !slices.Contains(s.Modes(), mode) {
		return fmt.Errorf("%w: mode %q", agent.ErrInvalid, mode)
	}
	s.mode = mode
	return nil
}

// Efforts returns the efforts that the scripted agent accepts, which change nothing about its
// answers.
func (s *Session) Efforts() []string { return []string{"low", "high"} }

// SetEffort changes how hard the agent claims to try. Unknown efforts are [agent.ErrInvalid];
// empty is the default.
func (s *Session) SetEffort(_ context.Context, effort string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kit.Alive(); err != nil {
		return err
	}
	if effort != "" && !slices.Contains(s.Efforts(), effort) {
		return fmt.Errorf("%w: effort %q", agent.ErrInvalid, effort)
	}
	s.effort = effort
	return nil
}

// SetThinking notes the number of tokens that the agent may think with, which changes nothing
// else.
func (s *Session) SetThinking(_ context.Context, tokens *int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kit.Alive(); err != nil {
		return err
	}
	s.thinking = tokens
	return nil
}
