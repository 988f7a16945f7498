package agentcheck_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agentcheck"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
)

// fault breaks a rule: each function changes the result of a call of the scripted agent. nil changes nothing.
type fault struct {
	id           func(string) string
	event        func(ev event.Event) []event.Event
	send         func(in agent.Input, err error) error
	answer       func(id string, a agent.Answer, err error) error
	interrupt    func(n int, err error) error // n is the number of the call, from 1
	close        func(n int, err error) error
	end          func(err error) error // of the events
	again        bool                  // Events can be used twice
	output, stop func(id string, err error) error
	resume       func(id string, err error) error
	delivered    func(d agent.Delivery) agent.Delivery
	model        func(string, error) (string, error)
	mode         func(error) error
	noModes      bool
	reconnect    func(error) error
	metadata     func(error) error
}

type faulty struct {
	*agenttest.Provider
	fault
}

func (p *faulty) Open(ctx context.Context, o agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return &session{Session: s.(*agenttest.Session), f: &p.fault}, nil
}

func (p *faulty) Resume(ctx context.Context, id string, o agent.Options) (agent.Session, error) {
	s, err := p.Provider.Resume(ctx, id, o)
	if p.resume != nil {
		if changed := p.resume(id, err); changed != nil || err != nil {
			if s != nil {
				_ = s.Close() // the check gets the changed error instead
			}
			return nil, changed
		}
	}
	if err != nil {
		return nil, err
	}
	return &session{Session: s.(*agenttest.Session), f: &p.fault}, nil
}

func (p *faulty) Delivered(ctx context.Context, id, uuid string) (agent.Delivery, error) {
	d, err := p.Provider.Delivered(ctx, id, uuid)
	if p.delivered != nil {
		d = p.delivered(d)
	}
	return d, err
}

func (p *faulty) History() agent.History { return &past{p.Provider.History(), p.metadata} }

type past struct {
	agent.History
	change func(error) error
}

func (h *past) Metadata(ctx context.Context, id string) (agent.HistoryMetadata, error) {
	m, err := h.History.Metadata(ctx, id)
	if h.change != nil {
		err = h.change(err)
	}
	return m, err
}

type session struct {
	*agenttest.Session
	f *fault

	mu                   sync.Mutex
	closes, stops, reads int
}

func (s *session) count(n *int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
	return *n
}

func (s *session) ID() string {
	if s.f.id != nil {
		return s.f.id(s.Session.ID())
	}
	return s.Session.ID()
}

func (s *session) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	if s.count(&s.reads) > 1 && s.f.again {
		return func(yield func(event.Event, error) bool) { yield(&event.Notice{}, nil) }
	}
	return func(yield func(event.Event, error) bool) {
		for ev, err := range s.Session.Events(ctx) {
			list := []event.Event{ev}
			if err == nil && s.f.event != nil {
				list = s.f.event(ev)
			}
			if err != nil && s.f.end != nil {
				if err = s.f.end(err); err == nil {
					return
				}
			}
			for _, ev := range list {
				if !yield(ev, err) {
					return
				}
			}
		}
		if s.f.end != nil {
			if err := s.f.end(nil); err != nil {
				yield(nil, err)
			}
		}
	}
}

func (s *session) Send(ctx context.Context, in agent.Input) error {
	err := s.Session.Send(ctx, in)
	if s.f.send != nil {
		err = s.f.send(in, err)
	}
	return err
}

func (s *session) Answer(ctx context.Context, id string, a agent.Answer) error {
	err := s.Session.Answer(ctx, id, a)
	if s.f.answer != nil {
		err = s.f.answer(id, a, err)
	}
	return err
}

func (s *session) Interrupt(ctx context.Context) (agent.Interrupted, error) {
	i, err := s.Session.Interrupt(ctx)
	if s.f.interrupt != nil {
		err = s.f.interrupt(s.count(&s.stops), err)
	}
	return i, err
}

func (s *session) Close() error {
	err := s.Session.Close()
	if s.f.close != nil {
		err = s.f.close(s.count(&s.closes), err)
	}
	return err
}

func (s *session) TaskOutput(ctx context.Context, id string, offset, limit int64) (agent.TaskOutput, error) {
	out, err := s.Session.TaskOutput(ctx, id, offset, limit)
	if s.f.output != nil {
		err = s.f.output(id, err)
	}
	return out, err
}

func (s *session) StopTask(ctx context.Context, id string) error {
	err := s.Session.StopTask(ctx, id)
	if s.f.stop != nil {
		err = s.f.stop(id, err)
	}
	return err
}

func (s *session) SetModel(ctx context.Context, model string) (string, error) {
	if s.f.model != nil {
		return s.f.model(s.Session.SetModel(ctx, model))
	}
	return s.Session.SetModel(ctx, model)
}

func (s *session) Modes() []string {
	if s.f.noModes {
		return nil
	}
	return s.Session.Modes()
}

func (s *session) SetMode(ctx context.Context, mode string) error {
	err := s.Session.SetMode(ctx, mode)
	if s.f.mode != nil {
		err = s.f.mode(err)
	}
	return err
}

func (s *session) MCPReconnect(ctx context.Context, server string) error {
	err := s.Session.MCPReconnect(ctx, server)
	if s.f.reconnect != nil {
		err = s.f.reconnect(err)
	}
	return err
}

var errBroken = errors.New("it is broken")

// on returns a fault that changes the events of one type.
func on[T event.Event](change func(ev T) []event.Event) func(event.Event) []event.Event {
	return func(ev event.Event) []event.Event {
		if e, ok := ev.(T); ok {
			return change(e)
		}
		return []event.Event{ev}
	}
}

func dropped[T event.Event]() func(event.Event) []event.Event {
	return on(func(T) []event.Event { return nil })
}

func behaves(as string) func(event.Event) []event.Event {
	return on(func(ev *event.PermissionResolved) []event.Event {
		ev.Behavior = as
		return []event.Event{ev}
	})
}

func acts(as string) func(event.Event) []event.Event {
	return on(func(ev *event.QuestionResolved) []event.Event {
		ev.Action = as
		return []event.Event{ev}
	})
}

func tool(failed bool) func(event.Event) []event.Event {
	return on(func(ev *event.ToolComplete) []event.Event {
		ev.IsError = failed
		return []event.Event{ev}
	})
}

func failing(after int) func(event.Event) []event.Event {
	return on(func(ev *event.ResultMessage) []event.Event {
		if after--; after < 0 {
			ev.IsError = true
		}
		return []event.Event{ev}
	})
}

// never makes every answer succeed; always makes every answer fail.
func never(string, agent.Answer, error) error { return nil }

func always(_ string, _ agent.Answer, _ error) error { return errBroken }

func fine(error) error { return nil }

// An agent that breaks one rule fails the check of this rule, with a text that names it. An agent that breaks no rule passes all
// checks.
func TestChecks(t *testing.T) {
	t.Parallel()
	prompts := agentcheck.Prompts{Say: "say hello there", Tool: "tool Bash", Plan: "plan", Question: "ask", Elicit: "elicit", Wait: "wait", Die: "die", Task: "task"}
	checks := map[string]agentcheck.Check{}
	for _, c := range agentcheck.Checks() {
		checks[c.Name] = c
	}
	result := func(check string, f fault) agentcheck.Result {
		p := &faulty{Provider: &agenttest.Provider{Dir: t.TempDir()}, fault: f}
		return checks[check].Result(t.Context(), agentcheck.Subject{
			Provider: p, Prompts: prompts, Timeout: 5 * time.Second, Kill: func(s agent.Session) { s.(*session).Kill() },
		})
	}
	for name := range checks {
		if r := result(name, fault{}); r.Status != agentcheck.Passed {
			t.Errorf("%s of an agent without faults: %+v", name, r)
		}
	}
	for _, c := range []struct {
		check, want string
		fault       fault
	}{
		{"say", "no id", fault{id: func(string) string { return "" }}},
		{"say", "Send: it is broken", fault{send: func(_ agent.Input, err error) error { return errBroken }}},
		{"say", "the turn failed", fault{event: failing(0)}},
		{"say", `is from provider "other"`, fault{event: func(ev event.Event) []event.Event { ev.Head().Provider = "other"; return []event.Event{ev} }}},
		{"say", "no whole answer", fault{event: dropped[*event.AssistantMessage]()}},
		{"say", "0 times among the events", fault{event: dropped[*event.UserMessage]()}},
		{"say", "2 times among the events", fault{event: on(func(ev *event.UserMessage) []event.Event { return []event.Event{ev, ev} })}},
		{"say", "Send of an empty input", fault{send: func(agent.Input, error) error { return nil }}},
		{"say", "Close: it is broken", fault{close: func(int, error) error { return errBroken }}},
		{"partial", "1 blocks were started", fault{event: dropped[*event.BlockStop]()}},
		{"partial", "the deltas add up to", fault{event: dropped[*event.TextDelta]()}},
		{"twice", "Events can be used twice", fault{again: true}},
		{"twice", "2 times among the events", fault{event: on(func(ev *event.UserMessage) []event.Event { return []event.Event{ev, ev} })}},
		{"allow", "the request is", fault{event: on(func(ev *event.PermissionRequest) []event.Event {
			ev.ToolName = ""
			return []event.Event{ev}
		})}},
		{"allow", "Answer: it is broken", fault{answer: always}}, {"allow", "a second answer", fault{answer: never}}, {"allow", `resolved with "deny"`, fault{event: behaves("deny")}}, {"allow", "the tool failed", fault{event: tool(true)}},
		{"deny", "Answer: it is broken", fault{answer: always}}, {"deny", `resolved with "allow"`, fault{event: behaves("allow")}}, {"deny", "denied succeeded", fault{event: tool(false)}},
		{"wrong_answer", "an answer of the wrong kind: <nil>, want ErrInvalid; an answer to no request: <nil>, want ErrNotOpen", fault{answer: never}},
		{"wrong_answer", "the right answer after a wrong one", fault{answer: func(id string, a agent.Answer, err error) error {
			if err == nil {
				return errBroken
			}
			return err
		}}},
		{"withdraw", "Interrupt: it is broken", fault{interrupt: func(int, error) error { return errBroken }}}, {"withdraw", "was resolved with allow", fault{event: behaves("allow")}}, {"withdraw", "an answer after the interrupt", fault{answer: never}},
		{"plan", "a permission for a plan", fault{answer: never}}, {"plan", "Answer: it is broken", fault{answer: always}}, {"plan", `resolved with "deny"`, fault{event: behaves("deny")}},
		{"question", "no questions", fault{event: on(func(ev *event.QuestionRequest) []event.Event {
			ev.Questions = nil
			return []event.Event{ev}
		})}},
		{"question", "Answer: it is broken", fault{answer: always}}, {"question", `resolved with "cancel"`, fault{event: acts("cancel")}},
		{"elicit", "Answer: it is broken", fault{answer: always}}, {"elicit", `resolved with "accept"`, fault{event: acts("accept")}},
		{"interrupt", "Interrupt without a turn", fault{interrupt: func(n int, err error) error {
			if n == 1 {
				return errBroken
			}
			return err
		}}},
		{"interrupt", "Interrupt: it is broken", fault{interrupt: func(n int, err error) error {
			if n == 2 {
				return errBroken
			}
			return err
		}}},
		{"interrupt", "the turn after an interrupt failed", fault{event: failing(1)}},
		{"die", "ended without an error", fault{end: fine}}, {"die", "Send to an agent that died", fault{send: func(agent.Input, error) error { return nil }}},
		{"task", "TaskOutput: it is broken", fault{output: func(string, error) error { return errBroken }}}, {"task", "StopTask: it is broken", fault{stop: func(_ string, err error) error { return errors.Join(err, errBroken) }}}, {"task", "StopTask of no task", fault{stop: func(string, error) error { return nil }}},
		{"close", "Close: it is broken", fault{close: func(n int, err error) error {
			if n == 1 {
				return errBroken
			}
			return err
		}}},
		{"close", "the events end with it is broken", fault{end: func(error) error { return errBroken }}},
		{"close", "a second Close: it is broken", fault{close: func(n int, err error) error {
			if n == 2 {
				return errBroken
			}
			return err
		}}},
		{"close", "Send after Close", fault{send: func(agent.Input, error) error { return nil }}}, {"close", "Interrupt after Close", fault{interrupt: func(int, error) error { return nil }}},
		{"leave", "Close: it is broken", fault{close: func(int, error) error { return errBroken }}}, {"leave", "resolved with allow", fault{event: behaves("allow")}},
		{"leave", "resolved 0 times", fault{event: dropped[*event.PermissionResolved]()}}, {"leave", "an answer after the end: <nil>", fault{answer: never}},
		{"crash", "resolved with allow", fault{event: behaves("allow")}}, {"crash", "resolved 0 times", fault{event: dropped[*event.PermissionResolved]()}}, {"crash", "an answer after the end: <nil>", fault{answer: never}},
		{"allow", "resolved 2 times", fault{event: on(func(ev *event.PermissionResolved) []event.Event { return []event.Event{ev, ev} })}},
		{"question", "resolved 2 times", fault{event: on(func(ev *event.QuestionResolved) []event.Event { return []event.Event{ev, ev} })}},
		{"resume", "Resume of no session", fault{resume: func(_ string, err error) error {
			if err != nil {
				return errBroken
			}
			return nil
		}}},
		{"resume", "Resume: it is broken", fault{resume: func(_ string, err error) error {
			if err == nil {
				return errBroken
			}
			return err
		}}},
		{"resume", "Close: it is broken", fault{close: func(int, error) error { return errBroken }}},
		{"resume", "the first turn after Resume failed", fault{event: failing(1)}},
		{"resume", "of a prompt that was answered", fault{delivered: func(agent.Delivery) agent.Delivery { return agent.DeliveryUnknown }}},
		{"resume", "of a prompt that was never sent", fault{delivered: func(agent.Delivery) agent.Delivery { return agent.Delivered }}},
		{"capabilities", `SetModel of the default: "", it is broken`, fault{model: func(string, error) (string, error) { return "", errBroken }}},
		{"capabilities", `SetModel of the default: "", <nil>`, fault{model: func(_ string, err error) (string, error) { return "", err }}},
		{"capabilities", "lists none", fault{noModes: true}}, {"capabilities", "SetMode of no mode", fault{mode: fine}}, {"capabilities", "MCPReconnect of no server", fault{reconnect: fine}}, {"capabilities", "Metadata of no session", fault{metadata: fine}},
	} {
		t.Run(c.check+" "+c.want, func(t *testing.T) {
			if r := result(c.check, c.fault); r.Status != agentcheck.Failed || !strings.Contains(r.Text, c.want) {
				t.Errorf("the check is %s with %q, want it to fail with %q", r.Status, r.Text, c.want)
			}
		})
	}
}

// If an agent does not do what a check waits for, the check fails within its timeout, and the text has the last event.
func TestChecks_silent(t *testing.T) {
	t.Parallel()
	for check, want := range map[string]string{"say": "no *event.ResultMessage within 50ms; the last of", "die": "the events did not end within 50ms", "plan": "before a *event.PermissionRequest"} {
		for _, c := range agentcheck.Checks() {
			if c.Name != check {
				continue
			}
			p := &faulty{Provider: &agenttest.Provider{}, fault: fault{event: dropped[*event.ResultMessage]()}}
			r := c.Result(t.Context(), agentcheck.Subject{Provider: p, Prompts: agentcheck.Prompts{Say: "say x", Die: "stall", Plan: "die"}, Timeout: 50 * time.Millisecond})
			if r.Status != agentcheck.Failed || !strings.Contains(r.Text, want) {
				t.Errorf("%s: %s with %q, want a failure with %q", check, r.Status, r.Text, want)
			}
		}
	}
	if got := fmt.Sprint(len(agentcheck.Checks())); got != "18" {
		t.Errorf("there are %s checks; TestChecks must have the faults of each", got)
	}
}
