package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// promptMeta is the extension of session/prompt with the id of the prompt, for an agent under a host.
const promptMeta = "parley/prompt"

// request is a request of the agent to a person, under a host.
type request struct {
	id        string // the id in events
	toolUseID string
	elicits   bool
	options   []acp.PermissionOption
	answer    *resolution // the answer that this process has given, or nil
	over      bool        // it was resolved with its turn, or cancelled
}

// resolution is the outcome of a request.
type resolution struct{ behavior, scope, why string }

// Adopt takes over an agent that runs under a host. It restores the session from the earlier lines and writes no line.
// Prompts in the queue of the earlier process are lost.
func (p *Provider) Adopt(ctx context.Context, id string, opts agent.Options, a agent.Adoption) (agent.Session, error) {
	s, err := p.adopt(ctx, opts, a)
	if err != nil {
		return nil, errors.Join(err, a.Process.Kill())
	}
	select {
	case <-s.begun:
	case <-s.conn.Past():
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if got := s.ID(); err == nil && got != id {
		err = fmt.Errorf("%w: the lines of the agent have the session %q", agent.ErrNotFound, got)
	}
	if err != nil {
		return nil, errors.Join(err, a.Process.Kill(), s.Close())
	}
	return s.offering(), nil
}

func (p *Provider) adopt(ctx context.Context, opts agent.Options, a agent.Adoption) (*Session, error) {
	dir, err := directory(opts)
	if err != nil {
		return nil, err
	}
	s := newSession(p, dir, opts)
	if s.sup, err = proc.Start(ctx, spawn.Command{}, p.procOptions(proc.Adopted(a.Process))); err != nil {
		return nil, err
	}
	a.Last = max(a.Last, 1)
	s.connect(a.Process, a, nil, s.sup.Stdin())
	return s, nil
}

// lines returns a function that converts the numbered lines of an agent to events.
func (s *Session) lines(p spawn.LineProcess, last uint64) jsonrpc.Lines {
	return jsonrpc.Lines{Process: p, Last: last, Begin: s.beginLine, End: s.endLine, Called: s.called}
}

// emit queues events. Under a host it collects them for the current line.
func (s *Session) emit(f func() []event.Event) {
	if s.hosted == nil {
		s.kit.Update(f)
		return
	}
	s.kit.Do(func() { s.collected = append(s.collected, f()...) })
}

// emitUpdate is like emit for updates of the agent, but it blocks while too many events are queued.
func (s *Session) emitUpdate(f func() []event.Event) {
	if s.hosted == nil {
		s.kit.Add(f)
		return
	}
	s.emit(f) // endLine blocks instead
}

// beginLine processes a line before its message is dispatched.
func (s *Session) beginLine(l jsonrpc.Line) {
	<-s.connected
	m := l.Msg
	switch {
	case m == nil:
	case !l.Input && m.IsRequest():
		s.terminals.asked(m)
		s.askedFor(m)
	case !l.Input:
	case m.Method == acp.MethodSessionPrompt:
		s.prompted(m, l.Past)
	case m.Method == acp.MethodSessionCancel:
		s.endRequests()
	case m.IsAnswer():
		s.terminals.answered(m, l.Past)
		s.emit(func() []event.Event { return s.resolved(m) })
	}
}

// endLine queues the events of a line.
func (s *Session) endLine(l jsonrpc.Line) {
	s.kit.AddLine(l.Number, l.Past, func() []event.Event {
		events := s.collected
		s.collected = nil
		return events
	})
	s.hosted.Took(l.Number, len(l.Text))
}

// askedFor records a request of the agent to a person.
func (s *Session) askedFor(m *jsonrpc.Message) {
	s.emit(func() (events []event.Event) {
		r := &request{}
		switch m.Method {
		case acp.MethodSessionRequestPermission:
			var p acp.RequestPermissionRequest
			if json.Unmarshal([]byte(m.Params), &p) != nil {
				return nil // it is answered with an error
			}
			r.id, r.options, r.toolUseID = s.nextRequest(), p.Options, string(p.ToolCall.ToolCallID)
			events = s.conv.Ask(r.id, &p)
		case acp.MethodElicitationCreate:
			var p acp.CreateElicitationRequest
			if json.Unmarshal([]byte(m.Params), &p) != nil {
				return nil
			}
			r.id, r.elicits = s.nextRequest(), true
			events = s.conv.Elicit(r.id, &p)
		default:
			return nil
		}
		s.requests[m.ID] = r
		return events
	})
}

func (s *Session) nextRequest() string {
	s.asked++
	return "request-" + strconv.Itoa(s.asked)
}

// prompted begins the turn of a prompt when its line has been written.
func (s *Session) prompted(m *jsonrpc.Message, past bool) {
	uuid, content := readPrompt(m.Params)
	if past {
		s.kit.Do(func() {
			s.accepted++
			s.past[uuid] = true
		})
	}
	s.emit(func() []event.Event { return s.conv.Prompt(uuid, content) })
	s.emit(func() []event.Event { return s.beginTurn(uuid) })
}

// resolved returns the events for an answer that was written to the agent.
func (s *Session) resolved(m *jsonrpc.Message) []event.Event {
	r := s.requests[m.ID]
	if r == nil {
		return nil
	}
	delete(s.requests, m.ID)
	if r.over {
		return nil
	}
	var result struct {
		Action  string
		Content json.RawMessage
		Outcome struct {
			Outcome  string
			OptionID acp.PermissionOptionID
		}
	}
	_ = json.Unmarshal([]byte(m.Result), &result) // after an error the request counts as cancelled
	if r.elicits {
		return s.conv.Answered(r.id, orCancel(result.Action), event.NewJSON(string(result.Content)))
	}
	end := resolution{behavior: event.ResolvedCancelled}
	if r.answer != nil {
		end = *r.answer
	} else if result.Outcome.Outcome == acp.RequestPermissionOutcomeIsSelected {
		end = optionResolution(r.options, result.Outcome.OptionID)
	}
	return s.conv.Resolve(r.id, r.toolUseID, end.behavior, end.scope, end.why)
}

func orCancel(action string) string {
	if action == "" {
		return "cancel"
	}
	return action
}

// optionResolution returns the resolution for the choice of an option.
func optionResolution(options []acp.PermissionOption, id acp.PermissionOptionID) resolution {
	end := resolution{behavior: event.ResolvedDeny}
	for _, o := range options {
		if o.OptionID != id {
			continue
		}
		switch o.Kind {
		case acp.PermissionOptionKindAllowAlways:
			end = resolution{behavior: event.ResolvedAllow, scope: event.ScopeAlways}
		case acp.PermissionOptionKindAllowOnce:
			end = resolution{behavior: event.ResolvedAllow}
		}
	}
	return end
}

// endRequests closes the requests of a turn that has ended or was cancelled.
func (s *Session) endRequests() {
	s.emit(s.cancelRequests)
	s.kit.Withdraw(agentkit.All)
}

// cancelRequests returns the events for requests that end with their turn.
func (s *Session) cancelRequests() (events []event.Event) {
	for _, id := range slices.Sorted(maps.Keys(s.requests)) {
		r := s.requests[id]
		if r.over {
			continue
		}
		r.over = true
		if r.elicits {
			events = append(events, s.conv.Answered(r.id, "cancel", "")...)
		} else {
			events = append(events, s.conv.Resolve(r.id, r.toolUseID, event.ResolvedCancelled, "", "")...)
		}
	}
	return events
}

// waitHosted waits for the answer to a request of a numbered line. A request of an earlier process
// is asked again.
func (s *Session) waitHosted(ctx context.Context, m *jsonrpc.Message) (any, error) {
	var r *request
	over := true
	s.kit.Do(func() {
		if r = s.requests[m.ID]; r != nil {
			over = r.over
		}
	})
	if r == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request cannot be read"}
	}
	var p *agentkit.Prompt
	if !over {
		if p = s.kit.Request(r.id); p == nil {
			p = s.kit.AskAgain(r.id)
		}
	}
	if p == nil {
		return cancelled(r.elicits), nil
	}
	a, err := s.kit.Wait(ctx, p)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var result any
	if err == nil {
		var end resolution
		if result, end, err = reply(r.options, a); err == nil && !r.elicits {
			s.kit.Do(func() { r.answer = &end })
		}
	}
	if err != nil {
		return cancelled(r.elicits), nil
	}
	return result, nil
}

// checkHosted returns an error if an answer does not fit its request in a line.
func (s *Session) checkHosted(requestID string, a agent.Answer) (err error) {
	if err := s.kit.Check(requestID, a); err != nil || s.hosted == nil {
		return err
	}
	s.kit.Do(func() {
		for _, r := range s.requests {
			if r.id == requestID {
				_, _, err = reply(r.options, a)
			}
		}
	})
	return err
}

// called returns the function that processes the answer to a request of an earlier process.
func (s *Session) called(m *jsonrpc.Message) func(json.RawMessage, error) {
	var p struct {
		SessionID string
		ModeID    string
		ModelID   string
	}
	_ = json.Unmarshal([]byte(m.Params), &p) // missing members stay empty
	switch m.Method {
	case acp.MethodInitialize:
		return answered(func(answer *acp.InitializeResponse) { s.kit.Do(func() { s.hello = *answer }) })
	case acp.MethodSessionNew:
		return answered(s.opened)
	case acp.MethodSessionFork, acp.MethodSessionResume, acp.MethodSessionLoad:
		return answered(func(answer *continued) { s.continued(p.SessionID, m.Method == acp.MethodSessionFork, answer) })
	case acp.MethodSessionPrompt:
		return s.restoredTurn()
	case acp.MethodSessionSetMode:
		return answered(func(*json.RawMessage) { s.setMode(p.ModeID) })
	case methodSetModel:
		return answered(func(*json.RawMessage) { s.setModel(p.ModelID) })
	case acp.MethodSessionSetConfigOption:
		return answered(s.setOptions)
	}
	return nil
}

// answered returns a function that decodes an answer and passes it on. It ignores error answers.
func answered[T any](do func(*T)) func(json.RawMessage, error) {
	return func(raw json.RawMessage, err error) {
		answer := new(T)
		if err == nil && json.Unmarshal(raw, answer) == nil {
			do(answer)
		}
	}
}

// restoredTurn returns the function that processes the end of an earlier process's turn. The next
// prompt waits for that end.
func (s *Session) restoredTurn() func(json.RawMessage, error) {
	over := make(chan struct{})
	s.kit.Do(func() { s.earlier = over })
	return func(raw json.RawMessage, err error) {
		defer close(over)
		s.endTurn(raw, err)
	}
}

// awaitEarlier waits until the past lines were processed and the last turn in them has ended.
func (s *Session) awaitEarlier() error {
	if s.hosted == nil {
		return nil
	}
	if err := s.hosted.Wait(s.ctx); err != nil {
		return err
	}
	var over <-chan struct{}
	s.kit.Do(func() { over = s.earlier })
	if over == nil {
		return nil
	}
	select {
	case <-over:
		return nil
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	}
}

// sentBefore reports whether an earlier process has written a prompt to the agent.
func (s *Session) sentBefore(ctx context.Context, uuid string) (sent bool, err error) {
	if s.hosted == nil {
		return false, nil
	}
	if err := s.hosted.Wait(ctx); err != nil {
		return false, err
	}
	s.kit.Do(func() { sent = uuid != "" && s.past[uuid] })
	return sent, nil
}

// Batches yields the events, together for each line of the agent.
func (s *Session) Batches(ctx context.Context) iter.Seq2[agent.Batch, error] {
	return s.kit.Batches(ctx)
}

// OrphanInput returns the notification that cancels a turn.
func (s *Session) OrphanInput() []byte {
	id := s.ID()
	if id == "" {
		return nil
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": acp.MethodSessionCancel, "params": &acp.CancelNotification{SessionID: acp.SessionID(id)}})
	if err != nil {
		return nil // strings can be encoded
	}
	return append(line, '\n')
}

// Kept returns the number of bytes in the lines of the agent so far, or 0 without a host.
func (s *Session) Kept() int64 {
	if s.hosted == nil {
		return 0
	}
	return s.hosted.Kept()
}
