package acpagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
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
	// closeWait limits how long Close waits for running calls.
	closeWait = 30 * time.Second
	// leaveWait is the time that an idle agent has to close its session before its input is closed.
	leaveWait = 2 * time.Second
	// startWait limits how long an interrupt waits until a sent prompt has begun.
	startWait = 5 * time.Second
)

// Session is a session of an agent in its own process. Close takes at most 30 seconds in addition
// to ending the process.
type Session struct {
	provider *Provider
	dir      string
	extra    []string // further directories
	env      []string
	files    agent.Files // nil means only the disk
	conn     *jsonrpc.Conn
	sup      *proc.Supervisor // nil for a dialled agent
	hello    acp.InitializeResponse
	ctx      context.Context // ends with the connection
	stop     context.CancelFunc
	turns    chan *turn // queued prompts
	work     sync.WaitGroup

	terminals terminals
	keeper    agent.Keeper // runs the terminals of an agent under a host; nil without one

	hosted    *agentkit.Hosted // nil without a host
	connected chan struct{}    // closed when conn is set
	begun     chan struct{}    // closed when the session has an id

	kit      *agentkit.Session // its methods guard what follows
	conv     acpevent.Converter
	id       string
	settings acpevent.Settings
	model    string // the initial one
	effort   string // the initial one
	commands []acp.AvailableCommand
	spent    tokens   // of the running turn
	printed  []string // output lines of the agent that are not messages
	asked    int
	replay   *replay
	live     bool // updates belong to this session, not to a replay
	// The numbers of prompts that were accepted, written to the agent, and ended.
	accepted, written, finished int
	// The rest is for an agent under a host.
	collected []event.Event           // of the line that is being handled
	requests  map[jsonrpc.ID]*request // without an answer
	past      map[string]bool         // prompts that an earlier process has written
	earlier   <-chan struct{}         // closed when the last turn of an earlier process has ended; nil without one
}

// turn is a prompt that was sent.
type turn struct {
	uuid   string
	blocks []acp.ContentBlock
}

func newSession(p *Provider, dir string, opts agent.Options) *Session {
	s := &Session{provider: p, dir: dir, extra: opts.AdditionalDirectories, env: opts.Env, files: opts.Files, turns: make(chan *turn, 1000)}
	s.keeper = opts.Keeper
	s.connected, s.begun = make(chan struct{}), make(chan struct{})
	s.requests, s.past = map[jsonrpc.ID]*request{}, map[string]bool{}
	if s.env == nil {
		s.env = os.Environ()
	}
	s.env = slices.Concat(s.env, p.Env)
	s.kit = agentkit.New(agentkit.Options{Cancel: func(r *agentkit.Prompt) []event.Event {
		if s.hosted != nil {
			return nil // the line of the answer, or the end of the agent, causes the events
		}
		end := resolution{behavior: event.ResolvedCancelled}
		if r.Kind == event.QuestionElicitation {
			end.behavior = "cancel"
		}
		return s.resolve(r, end, "")
	}})
	s.ctx, s.stop = context.WithCancel(s.kit.Context())
	s.conv.Provider, s.conv.Partial = p.Name(), opts.Partial
	return s
}

// call calls a method of the agent and decodes its answer.
func (s *Session) call(ctx context.Context, method string, params, to any) error {
	return s.callThen(ctx, method, params, to, nil)
}

// callThen is like call, but if the call succeeds it runs a function before later messages of the
// agent are processed.
func (s *Session) callThen(ctx context.Context, method string, params, to any, then func()) error {
	var decodeErr error
	_, err := s.conn.CallThen(ctx, method, params, func(raw json.RawMessage, err error) {
		if err != nil {
			return
		}
		if decodeErr = decodeAnswer(method, raw, to); decodeErr == nil && then != nil {
			then()
		}
	})
	if err == nil {
		err = decodeErr
	}
	return s.translate(err)
}

// decodeAnswer decodes the result of a call of the agent.
func decodeAnswer(method string, raw json.RawMessage, to any) error {
	if err := json.Unmarshal(raw, to); err != nil {
		return fmt.Errorf("the agent's answer to %s is invalid: %w", method, err)
	}
	return nil
}

// opened begins a new session with the answer of the agent.
func (s *Session) opened(answer *acp.NewSessionResponse) {
	s.begin(string(answer.SessionID), answer.Modes, answer.ConfigOptions, answer.Extra)
}

// continued begins a continued session, or a copy with the id in the answer.
func (s *Session) continued(id string, fork bool, answer *continued) {
	if fork {
		id = string(answer.SessionID)
	}
	s.begin(id, answer.Modes, answer.ConfigOptions, answer.members)
}

// begin stores the agent's report about the session and starts running prompts.
func (s *Session) begin(id string, modes acp.Optional[acp.SessionModeState], options acp.Optional[[]acp.SessionConfigOption], extra map[string]json.RawMessage) {
	s.kit.Do(func() {
		s.id, s.conv.SessionID, s.live = id, id, true
		s.settings.Begin(modes, options, extra)
		s.model, s.effort = s.settings.Model.Current, s.settings.Effort.Current
	})
	s.emit(func() []event.Event { return s.conv.Mode(s.settings.Mode.Current) })
	s.emit(func() []event.Event { return s.conv.Model(s.settings.Model.Current) })
	s.emit(func() []event.Event { return s.conv.Commands(s.commands) })
	select {
	case <-s.begun: // already closed if an adopted agent reports several times
	default:
		close(s.begun)
		s.work.Go(s.run)
	}
}

// run sends prompts to the agent, one after the other.
func (s *Session) run() {
	if s.awaitEarlier() != nil {
		return
	}
	for {
		select {
		case t := <-s.turns:
			s.prompt(t)
		case <-s.ctx.Done():
			return
		}
	}
}

// sent records that a prompt was written. It runs before later messages of the agent are processed.
func (s *Session) sent(line []byte) {
	if bytes.Contains(line, []byte(`"method":"`+acp.MethodSessionPrompt+`"`)) {
		s.kit.Do(func() { s.written++ })
	}
}

// prompt runs one turn.
func (s *Session) prompt(t *turn) {
	request := &promptRequest{session: s.ID(), blocks: t.blocks}
	if s.hosted != nil {
		request.hosted, request.uuid = true, t.uuid
	} else {
		s.kit.Update(func() []event.Event { return s.beginTurn(t.uuid) })
	}
	_, _ = s.conn.CallThen(s.ctx, acp.MethodSessionPrompt, request, s.endTurn)
}

// beginTurn returns the events for the start of a turn.
func (s *Session) beginTurn(uuid string) []event.Event {
	s.spent = tokens{}
	return s.conv.Turn(uuid)
}

// endTurn processes the answer to a prompt.
func (s *Session) endTurn(raw json.RawMessage, err error) {
	if err != nil && (s.conn.Err() != nil || s.ctx.Err() != nil) {
		return // watch reports the end of the agent
	}
	var answer acp.PromptResponse
	if err == nil {
		err = decodeAnswer(acp.MethodSessionPrompt, raw, &answer)
	}
	failed := ""
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code == jsonrpc.CodeCancelled {
		answer.StopReason, err = acp.StopReasonCancelled, nil // some agents answer a cancelled prompt with an error
	}
	if err = s.translate(err); err != nil {
		failed = err.Error()
	}
	s.endRequests()
	s.emit(func() []event.Event {
		s.finished++
		return s.conv.End(string(answer.StopReason), s.spent.of(&answer), failed)
	})
}

// notified processes an update. It blocks the agent while too many events are queued.
func (s *Session) notified(_ context.Context, m *jsonrpc.Message) {
	if m.Method != acp.MethodSessionUpdate {
		s.extension(m)
		return
	}
	var n acp.SessionNotification
	if err := json.Unmarshal([]byte(m.Params), &n); err != nil {
		s.provider.log().Warn("acpagent: unknown update", "err", err)
		s.emitUpdate(func() []event.Event { return s.conv.Unknown(event.NewJSON(m.Params)) })
		return
	}
	s.emitUpdate(func() []event.Event {
		s.note(&n.Update)
		if s.replay != nil {
			s.replay.take(&n.Update)
		}
		if !s.live {
			return nil
		}
		s.terminals.report(&n.Update)
		return s.conv.Update(&n.Update)
	})
	if _, ok := n.Update.Value.(*acp.ConfigOptionUpdate); ok {
		s.announce()
	}
}

// note stores the state of the session that an update reports. The agent may send the update before the session has an
// id.
func (s *Session) note(u *acp.SessionUpdate) {
	switch v := u.Value.(type) {
	case *acp.CurrentModeUpdate:
		s.settings.Mode.Current = string(v.CurrentModeID)
	case *acp.ConfigOptionUpdate:
		s.settings.Take(v.ConfigOptions)
	case *acp.AvailableCommandsUpdate:
		s.commands = v.AvailableCommands
	case *acp.ContentChunk:
		s.spent.add(v.Meta)
	}
}

// announce emits the current mode and model.
func (s *Session) announce() {
	s.emit(func() []event.Event {
		if !s.live {
			return nil
		}
		return s.conv.Mode(s.settings.Mode.Current)
	})
	s.emit(func() []event.Event {
		if !s.live {
			return nil
		}
		return s.conv.Model(s.settings.Model.Current)
	})
}

// extension processes a notification that is not part of the protocol. Some agents use one to
// report a change of the current mode.
func (s *Session) extension(m *jsonrpc.Message) {
	s.provider.log().Debug("acpagent: a notification outside of the protocol", "method", m.Method)
	current, _ := event.JSON(m.Params).Member("currentModeId")
	s.emitUpdate(func() []event.Event {
		if _, ok := s.settings.Mode.Find(current.Text()); !ok || !s.live {
			return nil
		}
		s.settings.Mode.Current = current.Text()
		return s.conv.Mode(current.Text())
	})
}

// watch ends the events when the agent has ended.
func (s *Session) watch() {
	<-s.conn.Done()
	s.stop()
	if s.hosted != nil {
		s.hosted.End()
	}
	s.work.Wait()
	err := s.conn.Err()
	if s.sup != nil {
		_ = s.sup.Stop() // Exit is more specific
		if exit := s.sup.Exit(); exit.Code != 0 || exit.Signal != "" {
			err = fmt.Errorf("the agent ended with code %d %s: %.500s", exit.Code, exit.Signal, exit.Stderr)
		}
	}
	s.kit.End(fmt.Errorf("%w: %w", agent.ErrClosed, err), func() []event.Event {
		return append(s.cancelRequests(), s.conv.Stop()...) // a call ends after its permission request
	})
}

// ID returns the session id that the agent has chosen, with which the session can be resumed.
func (s *Session) ID() (id string) {
	s.kit.Do(func() { id = s.id })
	return id
}

// Events returns an iterator over the events of the session. It can be used once; a second use
// is an error.
func (s *Session) Events(ctx context.Context) iter.Seq2[event.Event, error] { return s.kit.Events(ctx) }

// Send queues a prompt. The agent receives it when the earlier turns have ended.
func (s *Session) Send(ctx context.Context, in agent.Input) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	blocks, content, err := inputBlocks(in, s.hello.AgentCapabilities.Or(acp.AgentCapabilities{}).PromptCapabilities.Or(acp.PromptCapabilities{}))
	if err != nil {
		return err
	}
	if done, err := s.sentBefore(ctx, in.UUID); done || err != nil {
		return err
	}
	s.kit.Update(func() []event.Event {
		select {
		case s.turns <- &turn{uuid: in.UUID, blocks: blocks}:
		default:
			err = fmt.Errorf("acpagent: %d prompts wait already", cap(s.turns))
			return nil
		}
		s.accepted++
		if s.hosted != nil {
			return nil // the line of the prompt causes the event
		}
		return s.conv.Prompt(in.UUID, content)
	})
	return err
}

// Interrupt cancels the running turn. Queued prompts still run.
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

// leave asks an idle agent to close the session, if it supports that; otherwise the end of its input
// closes it.
func (s *Session) leave() {
	idle := false
	s.kit.Do(func() { idle = s.live && s.accepted == s.finished })
	if s.kit.Alive() != nil || !idle || !s.sessionCapabilities().Close.IsSet() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveWait)
	defer cancel()
	_, _ = s.conn.Call(ctx, acp.MethodSessionClose, map[string]string{"sessionId": s.ID()}) // the session ends in any case
}

// Close closes the agent's input, which ends the agent, and returns when its process has ended.
func (s *Session) Close() error {
	s.leave()
	s.kit.Stop(nil)
	err := s.terminals.close()
	if s.sup != nil {
		err = errors.Join(err, s.sup.Stop())
	}
	s.conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	err = errors.Join(err, s.conn.Wait(ctx))
	<-s.kit.Done()
	return err
}
