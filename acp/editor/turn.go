package editor

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/random"
)

// outcome is the result or the error of a prompt.
type outcome struct {
	reason acp.StopReason
	err    error
	usage  *acp.Usage
}

// prompt is an unanswered prompt. The fields after again are guarded by the session's mutex.
type prompt struct {
	session *session
	uuid    string
	turn    chan struct{} // closed when it is the first in the queue
	once    sync.Once
	over    chan struct{} // closed when result is set
	result  outcome
	again   chan struct{} // receives a value when the prompt must be sent again

	sent      bool // it was sent to the agent, or is being sent
	accepted  bool // the agent has accepted it
	shown     bool // it has had a visible effect since
	repeated  bool // it was sent again
	cancelled bool
	waiting   bool        // it is in the queue of a session that runs elsewhere
	begun     bool        // its turn has begun
	removed   *time.Timer // ends the prompt if it left the queue without a turn
	held      *outcome    // its outcome, while it still waits for background work
	timer     *time.Timer
}

// finish sets the outcome of a prompt; only the first call has an effect.
func (p *prompt) finish(o outcome) {
	p.once.Do(func() {
		p.result = o
		close(p.over)
	})
}

// observe queues prompts in the order of their arrival, so that a later cancellation finds a prompt
// even if its handler has not begun.
func (s *server) observe(m *jsonrpc.Message) {
	if m.IsRequest() && m.Method == acp.MethodInitialize {
		s.opens()
	}
	if !m.IsRequest() || m.Method != acp.MethodSessionPrompt {
		return
	}
	var p struct {
		SessionID string `json:"sessionId"`
	}
	if json.Unmarshal([]byte(m.Params), &p) != nil {
		return
	}
	one := s.session(p.SessionID)
	if one == nil {
		return
	}
	entry := one.enqueue()
	s.mu.Lock()
	s.arrived[m] = entry
	s.mu.Unlock()
}

// enqueue puts a new prompt at the end of the queue.
func (s *session) enqueue() *prompt {
	p := &prompt{session: s, uuid: random.UUID(), turn: make(chan struct{}), over: make(chan struct{}), again: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue = append(s.queue, p); len(s.queue) == 1 {
		close(p.turn)
	}
	return p
}

// leave removes a prompt from the queue and begins the next one.
func (p *prompt) leave() {
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range []*time.Timer{p.timer, p.removed} {
		if t != nil {
			t.Stop()
		}
	}
	for i, q := range s.queue {
		if q != p {
			continue
		}
		s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
		if i == 0 && len(s.queue) > 0 {
			close(s.queue[0].turn)
		}
		return
	}
}

// prompt responds to session/prompt of version 1 when the turn has ended.
func (s *server) prompt(ctx context.Context, m *jsonrpc.Message) (any, error) {
	entry, params, err := s.admitted(m)
	if err != nil {
		return nil, err
	}
	defer entry.leave()
	input, err := promptInput(params.Prompt)
	if err != nil {
		return nil, err
	}
	entry.session.title(params.Prompt)
	o := entry.run(ctx, input)
	if o.err != nil {
		return nil, o.err
	}
	r := &acp.PromptResponse{StopReason: o.reason}
	if o.usage != nil {
		r.Usage = acp.Some(*o.usage)
	}
	return r, nil
}

// maxTitle limits the characters of a title.
const maxTitle = 80

// title names a new session after its first prompt. It asks no model for a better title, because
// the client did not request it; an agent with a title reports it.
func (s *session) title(blocks []acp.ContentBlock) {
	s.mu.Lock()
	titled := s.titled
	s.titled = true
	s.mu.Unlock()
	if titled || len(blocks) == 0 {
		return
	}
	t, ok := blocks[0].Value.(*acp.TextContent)
	if !ok {
		return
	}
	line, _, _ := strings.Cut(strings.TrimSpace(t.Text), "\n")
	if line == "" || strings.HasPrefix(line, "/") {
		return
	}
	if r := []rune(line); len(r) > maxTitle {
		line = string(r[:maxTitle-1]) + "…"
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	info := &acp.SessionInfoUpdate{Title: acp.Some(line), UpdatedAt: acp.Some(now)}
	s.send(Update{SessionUpdate: acp.SessionUpdate{SessionUpdate: acp.SessionUpdateIsSessionInfoUpdate, Value: info}})
}

// admitted decodes a prompt and finds its position in the queue.
func (s *server) admitted(m *jsonrpc.Message) (*prompt, *acp.PromptRequest, error) {
	s.mu.Lock()
	entry := s.arrived[m]
	delete(s.arrived, m)
	s.mu.Unlock()
	params, err := params[acp.PromptRequest](m)
	if err == nil && entry == nil {
		err = notFound(string(params.SessionID))
	}
	if err != nil {
		if entry != nil {
			entry.leave()
		}
		return nil, nil, err
	}
	return entry, params, nil
}

// run waits until the prompt is first in the queue, sends it to the agent and waits for the end of
// the turn.
func (p *prompt) run(ctx context.Context, input []json.RawMessage) outcome {
	select {
	case <-p.turn:
	case <-p.over:
		return p.result
	case <-ctx.Done():
		return outcome{reason: acp.StopReasonCancelled}
	}
	for {
		if err := p.send(ctx, input); err != nil {
			if ctx.Err() != nil {
				return outcome{reason: acp.StopReasonCancelled}
			}
			return outcome{err: err}
		}
		select {
		case <-p.over:
			return p.result
		case <-p.again:
		case <-ctx.Done(): // the client has cancelled the request or disconnected
			if p.session.abandoned() {
				return outcome{reason: acp.StopReasonCancelled}
			}
			p.session.cancelPrompt(p)
			<-p.over
			return p.result
		}
	}
}

// send sends the prompt to the agent. It sends it once more if the agent has died.
func (p *prompt) send(ctx context.Context, input []json.RawMessage) error {
	s := p.session
	for try := 0; ; try++ {
		live, err := s.agentOf(ctx)
		if err != nil {
			return err
		}
		s.mu.Lock()
		cancelled := p.cancelled
		s.mu.Unlock()
		if cancelled {
			p.finish(outcome{reason: acp.StopReasonCancelled})
			return nil
		}
		s.mu.Lock()
		p.sent = true
		s.shared.sent(p.uuid)
		s.mu.Unlock()
		err = live.Send(ctx, agent.Input{UUID: p.uuid, Content: input})
		if err == nil {
			p.setAccepted(live)
			return nil
		}
		s.mu.Lock()
		p.sent = false
		s.mu.Unlock()
		if !errors.Is(err, agent.ErrClosed) || try > 0 {
			return err
		}
		s.lost(live)
	}
}

// setAccepted records that the agent has accepted the prompt. If the agent has ended since, no
// answer will follow.
func (p *prompt) setAccepted(live agent.Session) {
	s := p.session
	s.mu.Lock()
	p.accepted = true
	gone, closed, cancelled := s.live != live, s.closed, p.cancelled
	s.mu.Unlock()
	switch {
	case gone && closed:
		p.finish(outcome{reason: acp.StopReasonCancelled})
	case gone:
		p.orphaned(nil)
	case cancelled: // during the call
		s.srv.work.Go(func() { s.interrupt(p, live) })
	}
}

// lost waits until the end of an agent was processed.
func (s *session) lost(live agent.Session) {
	s.mu.Lock()
	loop, same := s.loop, s.live == live
	s.mu.Unlock()
	if same {
		if err := live.Close(); err != nil {
			s.srv.opts.Logger.Debug("acp: closing a dead agent", "err", err)
		}
	}
	<-loop
}

// begun records the prompt of the running turn.
func (s *session) begun(ev *event.TurnStart) {
	s.mu.Lock()
	s.turnBy, s.turnOf = ev.By, ev.PromptID
	s.mu.Unlock()
	s.state2("running", "")
}

// ended ends the running turn and the prompt that began it.
func (s *session) ended(ev *event.ResultMessage) {
	s.mu.Lock()
	by, of := s.turnBy, s.turnOf
	s.turnBy, s.turnOf = "", ""
	reason, failed := s.mapper.Stop()
	var p *prompt
	if len(s.queue) > 0 && s.queue[0].sent {
		p = s.queue[0]
	}
	if p == nil || p.held == nil && (by == event.ByTask || by == event.ByAgent || of != "" && of != p.uuid || s.shared.on && !p.begun) { // the turn belongs to another origin
		s.mu.Unlock()
		if p == nil {
			s.state2("idle", string(reason))
		}
		return
	}
	o := outcome{reason: reason, usage: usageOf(ev.Usage)}
	if failed != nil {
		o.err = failed
	}
	if p.cancelled {
		o.reason, o.err = acp.StopReasonCancelled, nil
	}
	if p.held == nil {
		p.held = &o
	}
	more := s.followUp != followUpNone
	s.mu.Unlock()
	s.settle(!more)
}

// settle responds to the prompt of an ended turn, unless it must wait for background work.
// afterTurn reports that a turn has just ended.
func (s *session) settle(afterTurn bool) {
	s.mu.Lock()
	if len(s.queue) == 0 || s.queue[0].held == nil {
		s.mu.Unlock()
		return
	}
	p := s.queue[0]
	o := *p.held
	tasks, subagent := s.mapper.Background()
	wait := s.srv.opts.BackgroundWait
	if wait == 0 {
		wait = defaultBackgroundWait
	}
	hold := o.err == nil && o.reason == acp.StopReasonEndTurn && !p.cancelled && len(s.queue) == 1 && !s.closed
	hold = hold && (subagent || tasks > 0 && wait > 0 || !afterTurn && wait > 0)
	if hold && !subagent && p.timer == nil {
		p.timer = time.AfterFunc(wait, func() { p.finish(o) })
	}
	s.mu.Unlock()
	if !hold {
		p.finish(o)
	}
}

// cancel stops the running turn and all queued prompts.
func (s *session) cancel() {
	s.mu.Lock()
	all := append([]*prompt(nil), s.queue...)
	live, others := s.live, s.shared.on && s.shared.busy
	if len(all) > 0 && all[0].accepted && (s.turnOf == "" || s.turnOf == all[0].uuid) {
		others = false // the turn belongs to the cancelled prompt
	}
	s.mu.Unlock()
	if others && live != nil {
		s.srv.work.Go(func() { s.stopTurn(live) })
	}
	for i := len(all) - 1; i >= 0; i-- {
		s.cancelPrompt(all[i])
	}
}

// cancelPrompt cancels one prompt.
func (s *session) cancelPrompt(p *prompt) {
	s.mu.Lock()
	again := p.cancelled
	p.cancelled = true
	sent, accepted, held, live := p.sent, p.accepted, p.held != nil, s.live
	s.mu.Unlock()
	switch {
	case again:
	case !sent || held || live == nil:
		p.finish(outcome{reason: acp.StopReasonCancelled})
	case accepted:
		s.srv.work.Go(func() { s.interrupt(p, live) })
	}
}

// interrupt stops a turn. If the agent does not end the turn in time, interrupt ends the agent.
func (s *session) interrupt(p *prompt, live agent.Session) {
	wait := s.srv.opts.CancelWait
	if wait == 0 {
		wait = defaultCancelWait
	}
	ctx, cancel := context.WithTimeout(s.srv.ctx, wait)
	defer cancel()
	if _, err := live.Interrupt(ctx); err != nil {
		s.srv.opts.Logger.Debug("acp: interrupting", "err", err)
	}
	select {
	case <-p.over:
		return
	case <-ctx.Done():
	}
	p.finish(outcome{reason: acp.StopReasonCancelled})
	if s.srv.ctx.Err() == nil {
		s.lost(live)
	}
}

// steer sends a message to the running turn, or begins a turn without a waiting prompt.
func (s *server) steer(ctx context.Context, p *acp.PromptRequest) (any, error) {
	one := s.session(string(p.SessionID))
	if one == nil {
		return nil, notFound(string(p.SessionID))
	}
	input, err := promptInput(p.Prompt)
	if err != nil {
		return nil, err
	}
	one.mu.Lock()
	live, running := one.live, len(one.queue) > 0 && one.queue[0].sent
	one.mu.Unlock()
	if live == nil || !running {
		return map[string]string{"outcome": "noActiveTurn"}, nil
	}
	uuid := random.UUID()
	one.mu.Lock()
	one.shared.sent(uuid)
	one.mu.Unlock()
	if err := live.Send(ctx, agent.Input{UUID: uuid, Content: input, Priority: "next"}); err != nil {
		return nil, err
	}
	return map[string]string{"outcome": "injected"}, nil
}

// usageOf returns the usage of a turn.
func usageOf(j event.JSON) *acp.Usage {
	if j == "" {
		return nil
	}
	n := func(name string) int64 { return int64(j.Number(name)) }
	u := &acp.Usage{InputTokens: n("input_tokens"), OutputTokens: n("output_tokens")}
	read, write := n("cache_read_input_tokens"), n("cache_creation_input_tokens")
	u.CachedReadTokens, u.CachedWriteTokens = acp.Some(read), acp.Some(write)
	u.TotalTokens = u.InputTokens + u.OutputTokens + read + write
	return u
}
