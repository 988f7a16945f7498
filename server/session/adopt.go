package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

const (
	// maxKept is the limit of the bytes of lines that the host keeps for an idle agent. Beyond it the agent is ended and resumed with the
	// next input, so that an adoption stays fast.
	maxKept = 32 << 20
	// maxTurn is how many bytes of lines a working agent may have at the host. With more, the host
	// discards them, and the turn does not survive the end of the server.
	maxTurn = 512 << 20
)

// adoption is the state of an actor while it reads the past lines of its agent. It belongs to the
// loop.
type adoption struct {
	rebuilding bool   // lines up to core.Line are read
	last       uint64 // of the lines when the agent was adopted; 0 when all of them were read
	// caught is closed when all these lines were read or the agent has ended. Until then the agent's turn and its open requests are
	// not known. It is nil for other agents.
	caught chan struct{}
	// unseen are open requests that the agent has not reported again. An answer to one is kept until the agent reports it.
	unseen map[string]bool
	// resolved are the past events that ended requests.
	resolved map[string]event.Event
}

// caughtUp is set when all lines that the host had at the adoption were read.
func (a *actor) caughtUp() {
	a.last = 0
	if a.caught != nil {
		close(a.caught)
		a.caught = nil
	}
}

// awaitAdoption waits until an adopted agent has read its kept lines, or has ended.
func (a *actor) awaitAdoption(ctx context.Context) error {
	var caught chan struct{}
	if err := a.call(ctx, func() error { caught = a.caught; return nil }); err != nil || caught == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, a.srv.opts.CallTimeout)
	defer cancel()
	select {
	case <-caught:
		return nil
	case <-a.done:
		return a.closed()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// keptAnswer is a person's logged answer. It is kept until the turn has ended, because the agent may not
// have received it.
type keptAnswer struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Answer json.RawMessage `json:"answer"`
}

// answerKinds are the types of answers, by the names in the log.
var answerKinds = map[string]func() agent.Answer{
	"permission":  func() agent.Answer { return &agent.PermissionAnswer{} },
	"plan":        func() agent.Answer { return &agent.PlanAnswer{} },
	"question":    func() agent.Answer { return &agent.QuestionAnswer{} },
	"elicitation": func() agent.Answer { return &agent.ElicitationAnswer{} },
}

// newKeptAnswer returns a logged answer, or nil for an unknown kind.
func newKeptAnswer(id string, a agent.Answer) *keptAnswer {
	for kind, make := range answerKinds {
		if reflect.TypeOf(make()) == reflect.TypeOf(a) {
			text, err := json.Marshal(a)
			if err != nil {
				return nil
			}
			return &keptAnswer{ID: id, Kind: kind, Answer: text}
		}
	}
	return nil
}

// answer converts the answer to the form of package agent.
func (g keptAnswer) answer() (agent.Answer, error) {
	make := answerKinds[g.Kind]
	if make == nil {
		return nil, fmt.Errorf("server: an answer of the kind %q", g.Kind)
	}
	a := make()
	return a, json.Unmarshal(g.Answer, a)
}

// givenAnswer returns the logged answer to a request.
func (c *core) givenAnswer(id string) (keptAnswer, bool) {
	for _, g := range c.Given {
		if g.ID == id {
			return g, true
		}
	}
	return keptAnswer{}, false
}

// adoptOne loads a session and adopts its agent from the host. If the adoption fails, the session is interrupted.
func (s *Sessions) adoptOne(ctx context.Context, id string, l *leftAgent) error {
	a, err := s.loadWith(ctx, id, func(a *actor) { a.order(ctx, l) })
	if err != nil {
		s.opts.Host.discard(ctx, l)
		return err
	}
	s.updated(id, a.core.AgentID, a.summary())
	return s.keepLoaded(id, a, s.run)
}

// adopt adopts an agent that runs under the host.
func (a *actor) adopt(ctx context.Context, l *leftAgent) error {
	adopter, ok := a.provider.(agent.Adopter)
	switch {
	case !ok:
		return fmt.Errorf("server: agents of %s cannot be taken over", a.core.Provider)
	case a.core.State == Draining || a.core.State == Ended:
		return fmt.Errorf("server: the session is %s: the server before has ended the agent, with all of its lines in the log", a.core.State)
	case a.core.Host != l.Number || l.host != nil && a.core.HostIn != "" && a.core.HostIn != l.host.key:
		return fmt.Errorf("server: the session had agent %d", a.core.Host)
	case l.Checkpoint > 0:
		return fmt.Errorf("server: the first %d lines were given up", l.Checkpoint)
	case !reflect.DeepEqual(a.core.Box, a.box()):
		return errors.New("server: the agent runs in another box than the session has now")
	case a.core.Line > l.Last:
		return fmt.Errorf("server: the log has line %d, and the host %d", a.core.Line, l.Last)
	}
	ctx, cancel := context.WithTimeout(ctx, a.srv.opts.StartTimeout)
	defer cancel()
	opts := a.agentOptions()
	admitted, err := a.admit(ctx, &opts)
	if err != nil {
		return err
	}
	opts.MaxAbsence = l.OrphanTimeout + absenceMargin
	process, err := l.open(ctx)
	if err != nil {
		admitted.end()
		return err
	}
	if l.process != nil && a.machine() == "" {
		opts.Keeper = l.host.keeper(l.host.opts.agent(a.id, &opts), l.Number, l.kept)
	}
	session, err := adopter.Adopt(ctx, a.core.AgentID, opts, agent.Adoption{Process: process, Last: l.Last, Stored: a.core.Line})
	if err != nil {
		admitted.end()
		return err
	}
	// The lines repeat all deltas.
	a.stream = stream{}
	a.adoption = adoption{rebuilding: true, last: l.Last, resolved: map[string]event.Event{}}
	if l.Last > 0 {
		a.caught = make(chan struct{})
	}
	a.unseen = map[string]bool{}
	for _, r := range a.core.Requests {
		a.unseen[r.id()] = true
	}
	a.given = opts.Env
	a.takeAgent(&running{session: session, access: admitted, process: l.process, forget: l.drop, left: l})
	if a.core.Line == 0 {
		a.publish(a.rebuilt(nil))
	}
	return nil
}

// takeAgent makes an agent the session's agent.
func (a *actor) takeAgent(r *running) {
	r.events, r.close, r.ended = make(chan pumped, pumpBuffer), sync.OnceValue(r.session.Close), make(chan struct{})
	a.agent = r
	a.line, a.written, a.lineStart = 0, 0, 0
	a.capabilities = new(CapabilitiesOf(a.provider, r.session, a.mayBypass()))
	a.quiet = time.Now()
	a.srv.wg.Go(func() { a.pump(r) })
}

// takeBatch handles the events of one line of the agent as one write, or events that no line has
// caused.
func (a *actor) takeBatch(items []Item, p pumped) []Item {
	past := a.rebuilding && p.line > 0 && p.line <= a.core.Line
	if past {
		a.rebuild(p.events)
	}
	if a.rebuilding && p.line >= a.core.Line && p.line > 0 {
		items = a.rebuilt(items)
	}
	if !past {
		items = a.takeNew(items, p)
	}
	if a.last > 0 && p.line >= a.last {
		a.caughtUp()
		a.sendAgain()
	}
	return items
}

// takeNew handles events that are not in the log.
func (a *actor) takeNew(items []Item, p pumped) []Item {
	if p.line > 0 {
		a.line, a.lineStart = p.line, len(a.batch)
	}
	for _, ev := range p.events {
		if p.line == 0 && a.answerAgain(ev) || p.line > 0 && a.askedBefore(p.line, ev) {
			continue
		}
		items = a.take(items, ev)
	}
	a.lineStart = len(a.batch)
	return items
}

// askedBefore reports whether an event from before the adoption is a request that a person has
// answered; the agent gets the answer when it repeats the request. It marks other requests as
// unseen, so that a new answer waits for that too.
func (a *actor) askedBefore(line uint64, ev event.Event) bool {
	p, ok := event.NewPrompt(ev)
	if !ok || line > a.last {
		return false
	}
	if _, open := a.core.request(p.RequestID()); !open {
		if _, given := a.core.givenAnswer(p.RequestID()); given {
			return true
		}
	}
	a.unseen[p.RequestID()] = true
	return false
}

// rebuild applies events from the log to restore the message that is being streamed.
func (a *actor) rebuild(events []event.Event) {
	for _, ev := range events {
		if isDelta(ev) {
			a.stream.add(ev)
			continue
		}
		a.stream.durable(ev)
		if p, ok := event.NewPrompt(ev); ok {
			delete(a.resolved, p.RequestID())
		} else if id := event.ResolvedID(ev); id != "" {
			a.resolved[id] = ev
		}
	}
}

// rebuilt finishes the lines that the log already has. The record makes viewers drop their deltas, because the valid ones are sent again.
// It closes requests that the agent withdrew in one of these lines: the earlier server may have ended between the line and the event.
func (a *actor) rebuilt(items []Item) []Item {
	a.rebuilding = false
	a.missed = true
	for _, r := range slices.Clone(a.core.Requests) {
		if ev := a.resolved[r.id()]; ev != nil {
			items = a.take(items, ev)
		}
	}
	a.resolved = nil
	a.draft(a.core.stateDraft(a.core.State.asking(len(a.core.Requests) > 0)))
	_ = a.write() // kept and tried again by tick
	return items
}

// answerAgain reports whether an event repeats an earlier request. If the log has an answer, answerAgain sends it.
func (a *actor) answerAgain(ev event.Event) bool {
	p, ok := event.NewPrompt(ev)
	if !ok {
		return false
	}
	delete(a.unseen, p.RequestID())
	if r, open := a.core.request(p.RequestID()); open {
		return reflect.DeepEqual(r.Prompt, p)
	}
	g, ok := a.core.givenAnswer(p.RequestID())
	if !ok {
		return false
	}
	answer, err := g.answer()
	if err != nil {
		a.logger.Error("an answer of the log cannot be read", "err", err)
		return false
	}
	session := a.agent.session
	a.srv.wg.Go(func() {
		ctx, cancel := context.WithTimeout(a.ctx, a.srv.opts.CallTimeout)
		defer cancel()
		err := session.Answer(ctx, g.ID, answer)
		if err != nil {
			a.logger.Warn("an answer did not reach the agent", "request", g.ID, "err", err)
		}
		if errors.Is(err, agent.ErrInvalid) {
			a.post(func() { a.reopen(session, ev) })
		}
	})
	return true
}

// reopen asks the person again, because the agent refused the logged answer and waits for another
// answer.
func (a *actor) reopen(session agent.Session, ev event.Event) {
	if a.agent == nil || a.agent.session != session {
		return
	}
	a.publish(a.take(nil, ev))
	_ = a.write() // kept and tried again by tick
}

// sendAgain sends the inputs that the earlier server has logged as sent but not as written. The host writes each
// input once.
func (a *actor) sendAgain() {
	for _, in := range a.core.inflight() {
		if in.Status == inputSent {
			a.handOver(in, nil)
		}
	}
}

// leave ends an actor with an agent that stays in the host. It writes nothing: the next server derives the consequences from the
// lines.
func (a *actor) leave(ctx context.Context) {
	_ = a.call(ctx, func() error { // fails only if the actor has ended; then it has no agent
		if r := a.agent; r != nil && r.forget != nil {
			if h, ok := r.session.(agent.Hosted); ok {
				a.leaveInput(ctx, r, h)
			}
			a.left, a.agent, a.draining = r, nil, true
		}
		return nil
	})
}

// watchKept limits the size of the lines that the host keeps for the agent.
func (a *actor) watchKept() {
	r := a.agent
	if r == nil || r.forget == nil {
		return
	}
	h, ok := r.session.(agent.Hosted)
	if !ok {
		return
	}
	a.renewInput(r, h)
	switch kept := h.Kept(); {
	case kept > maxKept && a.evictable():
		a.stop(onEvict)
	case kept-r.gaveUp > maxTurn && r.process != nil && a.stored > 0: // with stored == 0 the host would not discard any
		r.gaveUp = kept
		number, process := a.stored, r.process
		a.logger.Warn("the turn is too long to outlive the server", "bytes", kept)
		a.srv.wg.Go(func() {
			ctx, cancel := context.WithTimeout(a.ctx, a.srv.opts.CallTimeout)
			defer cancel()
			if err := process.Checkpoint(ctx, number, nil); err != nil {
				a.logger.Warn("the host keeps lines that are no longer needed", "err", err)
			}
		})
	}
}
