package acpagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/acpevent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/proc"
)

const (
	// closeWait bounds the wait for what is under way when a session is closed.
	closeWait = 30 * time.Second
	// startWait bounds how long an interrupt waits for a prompt that was just sent.
	startWait = 5 * time.Second
)

// Session is a session of an agent with a process of its own. Its Close takes at most the time in
// which the process is ended, and half a minute.
type Session struct {
	provider *Provider
	dir      string
	conn     *jsonrpc.Conn
	sup      *proc.Supervisor // nil for one that was dialled
	caps     acp.AgentCapabilities
	ctx      context.Context // ends with the connection
	stop     context.CancelFunc
	turns    chan *turn // prompts in their order
	work     sync.WaitGroup

	kit   *agentkit.Session // its methods guard what follows
	conv  acpevent.Converter
	id    string
	modes []string
	mode  string
	// The option with which the mode is set; empty for an agent with session modes.
	modeOption string
	asked      int
	live       bool // updates are of this session, not of a replay
	// How many prompts were accepted, were written to the agent, and have ended.
	accepted, written, finished int
}

// turn is a prompt that was sent.
type turn struct {
	uuid   string
	blocks []acp.ContentBlock
}

var _ agent.ModeSetter = (*Session)(nil)

func newSession(p *Provider, dir string, opts agent.Options) *Session {
	s := &Session{provider: p, dir: dir, turns: make(chan *turn, 1000)}
	s.kit = agentkit.New(agentkit.Options{Cancel: func(r *agentkit.Prompt) []event.Event {
		return s.resolve(r, event.ResolvedCancelled, "", "cancel", "")
	}})
	s.ctx, s.stop = context.WithCancel(s.kit.Context())
	s.conv.Provider, s.conv.Partial = p.Name(), opts.Partial
	return s
}

// call calls a method of the agent and decodes its answer.
func (s *Session) call(ctx context.Context, method string, params, to any) error {
	raw, err := s.conn.Call(ctx, method, params)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	return s.translate(err)
}

// translate makes an error of the protocol one of package agent.
func (s *Session) translate(err error) error {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case err == nil:
		return nil
	case !ok && (s.conn.Err() != nil || errors.Is(err, jsonrpc.ErrClosed)):
		return fmt.Errorf("%w: %w", agent.ErrClosed, err)
	case !ok:
		return err
	}
	for code, to := range map[int64]error{
		acp.CodeAuthRequired: agent.ErrAuth, acp.CodeResourceNotFound: agent.ErrNotFound,
		jsonrpc.CodeInvalidParams: agent.ErrInvalid, jsonrpc.CodeMethodNotFound: agent.ErrUnsupported,
	} {
		if e.Code == code {
			return fmt.Errorf("%w: %w", to, err)
		}
	}
	return err
}

// begin takes over what the agent says of the session, and runs prompts from then on.
func (s *Session) begin(id string, modes acp.Optional[acp.SessionModeState], options acp.Optional[[]acp.SessionConfigOption]) {
	s.kit.Update(func() []event.Event {
		s.id, s.conv.SessionID, s.live = id, id, true
		if m, ok := modes.Get(); ok {
			s.mode = string(m.CurrentModeID)
			for _, one := range m.AvailableModes {
				s.modes = append(s.modes, string(one.ID))
			}
		} else {
			s.modeOption, s.mode, s.modes = acpevent.ModeOption(options.Or(nil))
		}
		return s.conv.Mode(s.mode)
	})
	s.work.Go(s.run)
}

// run gives prompts to the agent, one after the other.
func (s *Session) run() {
	for {
		select {
		case t := <-s.turns:
			s.prompt(t)
		case <-s.ctx.Done():
			return
		}
	}
}

// sent notes that a prompt was written. Everything that is sent later arrives later.
func (s *Session) sent(line []byte) {
	if bytes.Contains(line, []byte(`"method":"`+acp.MethodSessionPrompt+`"`)) {
		s.kit.Do(func() { s.written++ })
	}
}

// prompt is one turn.
func (s *Session) prompt(t *turn) {
	s.kit.Update(func() []event.Event { return s.conv.Turn(t.uuid) })
	_, _ = s.conn.CallThen(s.ctx, acp.MethodSessionPrompt, &acp.PromptRequest{SessionID: acp.SessionID(s.ID()), Prompt: t.blocks}, func(raw json.RawMessage, err error) {
		if err != nil && (s.conn.Err() != nil || s.ctx.Err() != nil) {
			return // the end of the agent says it
		}
		var answer acp.PromptResponse
		if err == nil {
			err = json.Unmarshal(raw, &answer)
		}
		failed, usage := "", event.JSON("")
		if err != nil {
			failed = err.Error()
		}
		if u, ok := answer.Usage.Get(); ok {
			usage = event.JSON(fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}`,
				u.InputTokens, u.OutputTokens, u.CachedReadTokens.Or(0), u.CachedWriteTokens.Or(0)))
		}
		s.kit.Withdraw(agentkit.All)
		s.kit.Update(func() []event.Event {
			s.finished++
			return s.conv.End(string(answer.StopReason), usage, failed)
		})
	})
}

// notified takes an update. The agent waits while too many events do.
func (s *Session) notified(_ context.Context, m *jsonrpc.Message) {
	if m.Method != acp.MethodSessionUpdate {
		return
	}
	var n acp.SessionNotification
	if err := json.Unmarshal([]byte(m.Params), &n); err != nil {
		s.provider.log().Warn("acpagent: an update that is not understood", "err", err)
		return
	}
	s.kit.Add(func() []event.Event {
		switch u := n.Update.Value.(type) {
		case *acp.CurrentModeUpdate:
			s.mode = string(u.CurrentModeID)
		case *acp.ConfigOptionUpdate:
			if _, mode, _ := acpevent.ModeOption(u.ConfigOptions); mode != "" {
				s.mode = mode
			}
		}
		if !s.live {
			return nil
		}
		return s.conv.Update(&n.Update)
	})
}

// watch ends the events when the agent has ended.
func (s *Session) watch() {
	<-s.conn.Done()
	s.stop()
	s.work.Wait()
	err := s.conn.Err()
	if s.sup != nil {
		_ = s.sup.Stop() // Exit says more
		if exit := s.sup.Exit(); exit.Code != 0 || exit.Signal != "" {
			err = fmt.Errorf("the agent ended with code %d %s: %.500s", exit.Code, exit.Signal, exit.Stderr)
		}
	}
	s.kit.End(fmt.Errorf("%w: %w", agent.ErrClosed, err), s.conv.Stop)
}

// ID returns the id that the agent has given the session, with which it can be resumed.
func (s *Session) ID() (id string) {
	s.kit.Do(func() { id = s.id })
	return id
}

// Events returns an iterator over the events of the session. It can be used once; a second use
// is an error.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] { return s.kit.Events(ctx) }

// Send queues a prompt. The agent gets it when the turns before it have ended.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	blocks, content, err := inputBlocks(in)
	if err != nil {
		return err
	}
	s.kit.Update(func() []event.Event {
		s.accepted++
		return s.conv.Prompt(in.UUID, content)
	})
	select {
	case s.turns <- &turn{uuid: in.UUID, blocks: blocks}:
		return nil
	case <-ctx.Done():
		s.kit.Do(func() { s.accepted-- })
		return context.Cause(ctx)
	case <-s.ctx.Done():
		return agent.ErrClosed
	}
}

// Interrupt cancels the turn that is running. Prompts that wait in the queue run after it.
func (s *Session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	if err := s.kit.Alive(); err != nil {
		return agent.Interrupted{}, err
	}
	// A cancellation before the prompt that is about to run would be lost.
	s.kit.Await(ctx, startWait, func() bool { return s.accepted <= s.finished || s.written != s.finished })
	err := s.conn.Notify(ctx, acp.MethodSessionCancel, &acp.CancelNotification{SessionID: acp.SessionID(s.ID())})
	s.kit.Withdraw(agentkit.All)
	return agent.Interrupted{}, s.translate(err)
}

// Modes returns the names of the modes that the agent offers for this session, as a copy.
func (s *Session) Modes() (modes []string) {
	s.kit.Do(func() { modes = slices.Clone(s.modes) })
	return modes
}

// SetMode changes the mode of the session. A mode that [Session.Modes] does not return is
// [agent.ErrInvalid].
func (s *Session) SetMode(ctx context.Context, mode string) error {
	if err := s.kit.Choose("mode", mode, s.Modes()); err != nil {
		return err
	}
	if s.modeOption != "" {
		request := &acp.SetSessionConfigOptionRequest{SessionID: acp.SessionID(s.ID()), ConfigID: acp.SessionConfigID(s.modeOption), Value: json.RawMessage(event.Quote(mode))}
		return s.call(ctx, acp.MethodSessionSetConfigOption, request, new(acp.SetSessionConfigOptionResponse))
	}
	return s.call(ctx, acp.MethodSessionSetMode, &acp.SetSessionModeRequest{SessionID: acp.SessionID(s.ID()), ModeID: acp.SessionModeID(mode)}, new(acp.SetSessionModeResponse))
}

// Close closes the agent's input, which ends it, and returns when its process is gone.
func (s *Session) Close() error {
	s.kit.Stop(nil)
	var err error
	if s.sup != nil {
		err = s.sup.Stop()
	}
	s.conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	err = errors.Join(err, s.conn.Wait(ctx))
	<-s.kit.Done()
	return err
}
