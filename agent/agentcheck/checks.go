package agentcheck

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
)

func checkSay(r *run) {
	s := r.open()
	if s.ID() == "" {
		r.Error("the session has no id after Open")
	}
	r.send(s)
	result := next[*event.ResultMessage](r, nil)
	if result.IsError {
		r.Errorf("the turn failed: %q", result.Errors)
	}
	for _, ev := range r.seen {
		if h := ev.Head(); h.Provider != r.Provider.Name() {
			r.Errorf("a %T is from provider %q, want %q", ev, h.Provider, r.Provider.Name())
		}
	}
	if r.answers() == "" {
		r.Error("no whole answer before the result")
	}
	if n := r.prompts(); n != 1 {
		r.Errorf("the prompt is %d times among the events, want once", n)
	}
	if err := s.Send(r.ctx(), agent.Input{UUID: random.UUID()}); !errors.Is(err, agent.ErrInvalid) {
		r.Errorf("Send of an empty input: %v, want ErrInvalid", err)
	}
}

// checkPartial checks that deltas add up to the whole message, and that each start has
// its stop.
func checkPartial(r *run) {
	s := r.open()
	r.send(s)
	next[*event.ResultMessage](r, nil)
	streamed, open, starts := "", 0, 0
	for _, ev := range r.seen {
		switch ev := ev.(type) {
		case *event.TextStart:
			streamed += ev.Text
			open, starts = open+1, starts+1
		case *event.TextDelta:
			streamed += ev.Text
		case *event.ThinkingStart, *event.ToolStart, *event.BlockStart:
			open++
		case *event.BlockStop:
			open--
		}
	}
	if starts == 0 {
		r.Skip("the provider does not stream deltas")
	}
	if open != 0 {
		r.Errorf("%d blocks were started and not stopped", open)
	}
	whole := ""
	for _, ev := range r.seen {
		if a, ok := ev.(*event.AssistantMessage); ok {
			for _, b := range a.Blocks {
				if b.Block.Type == "text" {
					whole += b.Block.Text
				}
			}
		}
	}
	if streamed != whole {
		r.Errorf("the deltas add up to %q, the whole messages to %q", streamed, whole)
	}
}

func checkTwice(r *run) {
	s := r.open()
	for range 2 {
		r.send(s)
		next[*event.ResultMessage](r, nil)
		if n := r.prompts(); n != 1 {
			r.Errorf("the prompt is %d times among the events, want once", n)
		}
	}
	for _, err := range s.Events(r.ctx()) {
		if err == nil {
			r.Error("Events can be used twice")
		}
		break
	}
}

func checkAllow(r *run) {
	s := r.open()
	r.send(s)
	ask := next[*event.PermissionRequest](r, nil)
	if ask.Kind != event.PermissionTool || ask.RequestID == "" || ask.ToolName == "" {
		r.Errorf("the request is %+v", ask)
	}
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.PermissionAnswer{Allow: true}); err != nil {
		r.Fatalf("Answer: %v", err)
	}
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.PermissionAnswer{}); !errors.Is(err, agent.ErrNotOpen) {
		r.Errorf("a second answer: %v, want ErrNotOpen", err)
	}
	resolved := next(r, func(ev *event.PermissionResolved) bool { return ev.RequestID == ask.RequestID })
	if resolved.Behavior != "allow" {
		r.Errorf("the request was resolved with %q, want allow", resolved.Behavior)
	}
	if done := next[*event.ToolComplete](r, nil); done.IsError {
		r.Errorf("the tool failed: %s", done.Content)
	}
	next[*event.ResultMessage](r, nil)
}

func checkDeny(r *run) {
	s := r.open()
	r.send(s)
	ask := next[*event.PermissionRequest](r, nil)
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.PermissionAnswer{Message: "not today"}); err != nil {
		r.Fatalf("Answer: %v", err)
	}
	resolved := next(r, func(ev *event.PermissionResolved) bool { return ev.RequestID == ask.RequestID })
	if resolved.Behavior != "deny" {
		r.Errorf("the request was resolved with %q, want deny", resolved.Behavior)
	}
	if done := next[*event.ToolComplete](r, nil); !done.IsError {
		r.Errorf("a tool that was denied succeeded: %s", done.Content)
	}
	next[*event.ResultMessage](r, nil)
}

func checkWrongAnswer(r *run) {
	s := r.open()
	r.send(s)
	ask := next[*event.PermissionRequest](r, nil)
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.ElicitationAnswer{Action: "accept"}); !errors.Is(err, agent.ErrInvalid) {
		r.Errorf("an answer of the wrong kind: %v, want ErrInvalid", err)
	}
	if err := s.Answer(r.ctx(), "no-such-request", &agent.PermissionAnswer{Allow: true}); !errors.Is(err, agent.ErrNotOpen) {
		r.Errorf("an answer to no request: %v, want ErrNotOpen", err)
	}
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.PermissionAnswer{Allow: true}); err != nil {
		r.Errorf("the right answer after a wrong one: %v", err)
	}
	next[*event.ResultMessage](r, nil)
}

// checkWithdraw checks that an interrupt withdraws an open request and that it never
// becomes an allow.
func checkWithdraw(r *run) {
	s := r.open()
	r.send(s)
	ask := next[*event.PermissionRequest](r, nil)
	if _, err := s.Interrupt(r.ctx()); err != nil {
		r.Fatalf("Interrupt: %v", err)
	}
	resolved := next(r, func(ev *event.PermissionResolved) bool { return ev.RequestID == ask.RequestID })
	if resolved.Behavior == "allow" {
		r.Error("a request that was withdrawn was resolved with allow")
	}
	next[*event.ResultMessage](r, nil)
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.PermissionAnswer{Allow: true}); !errors.Is(err, agent.ErrNotOpen) {
		r.Errorf("an answer after the interrupt: %v, want ErrNotOpen", err)
	}
}

func checkPlan(r *run) {
	s := r.open()
	r.send(s)
	ask := next(r, func(ev *event.PermissionRequest) bool { return ev.Kind == event.PermissionPlan })
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.PermissionAnswer{Allow: true}); !errors.Is(err, agent.ErrInvalid) {
		r.Errorf("a permission for a plan: %v, want ErrInvalid", err)
	}
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.PlanAnswer{Approve: true}); err != nil {
		r.Fatalf("Answer: %v", err)
	}
	resolved := next(r, func(ev *event.PermissionResolved) bool { return ev.RequestID == ask.RequestID })
	if resolved.Behavior != "allow" {
		r.Errorf("the plan was resolved with %q, want allow", resolved.Behavior)
	}
	next[*event.ResultMessage](r, nil)
}

func checkQuestion(r *run) {
	s := r.open()
	r.send(s)
	ask := next(r, func(ev *event.QuestionRequest) bool { return ev.Kind == event.QuestionAsk })
	if len(ask.Questions) == 0 {
		r.Fatal("the request has no questions")
	}
	answers := map[string]string{}
	for _, q := range ask.Questions {
		key := q.ID
		if key == "" {
			key = q.Question
		}
		if len(q.Options) > 0 {
			answers[key] = q.Options[0].Label
		}
	}
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.QuestionAnswer{Answers: json.RawMessage(event.Encoded(answers))}); err != nil {
		r.Fatalf("Answer: %v", err)
	}
	resolved := next(r, func(ev *event.QuestionResolved) bool { return ev.RequestID == ask.RequestID })
	if resolved.Action != "accept" {
		r.Errorf("the question was resolved with %q, want accept", resolved.Action)
	}
	next[*event.ResultMessage](r, nil)
}

func checkElicit(r *run) {
	s := r.open()
	r.send(s)
	ask := next(r, func(ev *event.QuestionRequest) bool { return ev.Kind == event.QuestionElicitation })
	if err := s.Answer(r.ctx(), ask.RequestID, &agent.ElicitationAnswer{Action: "decline"}); err != nil {
		r.Fatalf("Answer: %v", err)
	}
	resolved := next(r, func(ev *event.QuestionResolved) bool { return ev.RequestID == ask.RequestID })
	if resolved.Action != "decline" {
		r.Errorf("the request was resolved with %q, want decline", resolved.Action)
	}
	next[*event.ResultMessage](r, nil)
}

func checkInterrupt(r *run) {
	s := r.open()
	if _, err := s.Interrupt(r.ctx()); err != nil {
		r.Errorf("Interrupt without a turn: %v", err)
	}
	r.send(s)
	next(r, func(ev *event.UserMessage) bool { return ev.UUID == r.uuid })
	if _, err := s.Interrupt(r.ctx()); err != nil {
		r.Fatalf("Interrupt: %v", err)
	}
	next[*event.ResultMessage](r, nil)
	if r.prompt = r.Prompts.Say; r.prompt != "" {
		r.send(s)
		if result := next[*event.ResultMessage](r, nil); result.IsError {
			r.Errorf("the turn after an interrupt failed: %q", result.Errors)
		}
	}
}

func checkDie(r *run) {
	s := r.open()
	r.send(s)
	if err := r.end(); err == nil {
		r.Error("the events of an agent that died ended without an error")
	}
	if err := s.Send(r.ctx(), agent.Input{UUID: random.UUID(), Text: r.prompt}); !errors.Is(err, agent.ErrClosed) {
		r.Errorf("Send to an agent that died: %v, want ErrClosed", err)
	}
}

func checkTask(r *run) {
	s := r.open()
	tasks, ok := s.(agent.TaskController)
	if !ok {
		r.Skip("the session has no tasks")
	}
	r.send(s)
	started := next[*event.TaskStarted](r, nil)
	next[*event.ResultMessage](r, nil)
	if _, err := tasks.TaskOutput(r.ctx(), started.TaskID, 0, 0); err != nil {
		r.Errorf("TaskOutput: %v", err)
	}
	if err := tasks.StopTask(r.ctx(), started.TaskID); err != nil {
		r.Errorf("StopTask: %v", err)
	}
	if err := tasks.StopTask(r.ctx(), "no-such-task"); !errors.Is(err, agent.ErrNotFound) {
		r.Errorf("StopTask of no task: %v, want ErrNotFound", err)
	}
}

func checkClose(r *run) {
	s := r.open()
	r.send(s)
	next(r, func(ev *event.UserMessage) bool { return ev.UUID == r.uuid })
	if err := s.Close(); err != nil {
		r.Errorf("Close: %v", err)
	}
	if err := r.end(); err != nil {
		r.Errorf("the events end with %v after Close, want no error", err)
	}
	if err := s.Close(); err != nil {
		r.Errorf("a second Close: %v", err)
	}
	if err := s.Send(r.ctx(), agent.Input{UUID: random.UUID(), Text: r.prompt}); !errors.Is(err, agent.ErrClosed) {
		r.Errorf("Send after Close: %v, want ErrClosed", err)
	}
	if _, err := s.Interrupt(r.ctx()); !errors.Is(err, agent.ErrClosed) {
		r.Errorf("Interrupt after Close: %v, want ErrClosed", err)
	}
}

// checkLeave closes a session with an open request.
func checkLeave(r *run) {
	s := r.open()
	r.send(s)
	ask := next[*event.PermissionRequest](r, nil)
	if err := s.Close(); err != nil {
		r.Errorf("Close: %v", err)
	}
	r.abandoned(s, ask.RequestID)
}

// checkCrash kills an agent with an open request.
func checkCrash(r *run) {
	if r.Kill == nil {
		r.Skip("the subject cannot kill its agent")
	}
	s := r.open()
	r.send(s)
	ask := next[*event.PermissionRequest](r, nil)
	r.Kill(s)
	r.abandoned(s, ask.RequestID)
}

// abandoned checks that a request that was open at the end of a session was not allowed, and can no
// longer be answered.
func (r *run) abandoned(s agent.Session, id string) {
	r.Helper()
	_ = r.end() // checked elsewhere
	for _, ev := range r.seen {
		if p, ok := ev.(*event.PermissionResolved); ok && p.RequestID == id && p.Behavior == event.ResolvedAllow {
			r.Error("a request that was open at the end was resolved with allow")
		}
	}
	if err := s.Answer(r.ctx(), id, &agent.PermissionAnswer{Allow: true}); !errors.Is(err, agent.ErrClosed) {
		r.Errorf("an answer after the end: %v, want ErrClosed", err)
	}
}

func checkResume(r *run) {
	resumer, ok := r.Provider.(agent.Resumer)
	if !ok {
		r.Skip("the provider cannot resume")
	}
	if _, err := resumer.Resume(r.ctx(), "00000000-0000-4000-8000-000000000000", r.Options); !errors.Is(err, agent.ErrNotFound) {
		r.Errorf("Resume of no session: %v, want ErrNotFound", err)
	}
	s := r.open()
	r.send(s)
	next[*event.ResultMessage](r, nil)
	id, uuid := s.ID(), r.uuid
	if err := s.Close(); err != nil {
		r.Fatalf("Close: %v", err)
	}
	_ = r.end() // checked elsewhere
	again, err := resumer.Resume(r.ctx(), id, r.Options)
	if err != nil {
		r.Fatalf("Resume: %v", err)
	}
	r.follow(again)
	r.send(again)
	if result := next[*event.ResultMessage](r, nil); result.IsError {
		r.Errorf("the first turn after Resume failed: %q", result.Errors)
	}
	if w, ok := r.Provider.(agent.Witness); ok {
		if d, err := w.Delivered(r.ctx(), id, uuid); d != agent.Delivered || err != nil {
			r.Errorf("Delivered of a prompt that was answered: %v, %v", d, err)
		}
		if d, err := w.Delivered(r.ctx(), id, random.UUID()); d == agent.Delivered || err != nil {
			r.Errorf("Delivered of a prompt that was never sent: %v, %v", d, err)
		}
	}
}

// checkCapabilities calls the methods of the capabilities that the session reports.
func checkCapabilities(r *run) {
	s := r.open()
	c := agent.CapabilitiesOf(r.Provider, s)
	if got := c.Names(); r.Capabilities != nil && !slices.Equal(got, r.Capabilities) {
		r.Errorf("the capabilities are %q, want %q", got, r.Capabilities)
	}
	if m, ok := s.(agent.ModelSetter); ok != c.Model {
		r.Errorf("the capability of models is %v", c.Model)
	} else if ok {
		if name, err := m.SetModel(r.ctx(), ""); err != nil || name == "" {
			r.Errorf("SetModel of the default: %q, %v", name, err)
		}
	}
	if m, ok := s.(agent.ModeSetter); ok {
		if len(c.Modes) == 0 {
			r.Error("a session with modes lists none")
		}
		if err := m.SetMode(r.ctx(), "no-such-mode"); !errors.Is(err, agent.ErrInvalid) {
			r.Errorf("SetMode of no mode: %v, want ErrInvalid", err)
		}
	}
	if m, ok := s.(agent.MCPController); ok {
		if err := m.MCPReconnect(r.ctx(), "no-such-server"); !errors.Is(err, agent.ErrNotFound) {
			r.Errorf("MCPReconnect of no server: %v, want ErrNotFound", err)
		}
	}
	if h, ok := r.Provider.(agent.HistoryKeeper); ok {
		if _, err := h.History().Metadata(r.ctx(), "00000000-0000-4000-8000-000000000000"); !errors.Is(err, agent.ErrNotFound) {
			r.Errorf("Metadata of no session: %v, want ErrNotFound", err)
		}
	}
}
