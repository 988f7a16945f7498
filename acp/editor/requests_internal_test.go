package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// actor is an agent whose events a test sends. It records what it is told.
type actor struct {
	agent.Session
	id     string
	events chan event.Event

	mu      sync.Mutex
	told    []string
	refuses []error // the results of the answers, in order
	once    sync.Once
	closed  chan struct{}
}

func newActor(id string) *actor {
	return &actor{id: id, events: make(chan event.Event), closed: make(chan struct{})}
}

func (a *actor) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, fmt.Sprintf(format, args...))
}

// notes returns what the agent was told since the last call.
func (a *actor) notes() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := strings.Join(a.told, "|")
	a.told = nil
	return text
}

func (a *actor) ID() string { return a.id }

func (a *actor) Events(context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			select {
			case ev := <-a.events:
				if !yield(ev, nil) {
					return
				}
			case <-a.closed:
				return
			}
		}
	}
}

func (a *actor) Send(_ context.Context, in agent.Input) error {
	a.note("send %s", in.Content)
	return nil
}

func (a *actor) Interrupt(context.Context) (agent.Interrupted, error) {
	a.note("interrupt")
	return agent.Interrupted{}, nil
}

func (a *actor) Answer(_ context.Context, id string, answer agent.Answer) error {
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	switch v := answer.(type) { // the names are those of the fields
	case *agent.PermissionAnswer:
		text = fmt.Appendf(nil, "allow %v %s %q", v.Allow, v.UpdatedPermissions, v.Message)
	case *agent.PlanAnswer:
		text = fmt.Appendf(nil, "approve %v %s %q", v.Approve, v.Mode, v.Message)
	case *agent.QuestionAnswer:
		text = fmt.Appendf(nil, "declined %v %s", v.Declined, v.Answers)
	case *agent.ElicitationAnswer:
		text = fmt.Appendf(nil, "%s %s", v.Action, v.Content)
	}
	a.note("%s: %s", id, text)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.refuses) == 0 {
		return nil
	}
	err = a.refuses[0]
	a.refuses = a.refuses[1:]
	return err
}

func (a *actor) Modes() []string { return []string{"default", "acceptEdits", "plan"} }

func (a *actor) SetMode(context.Context, string) error { return nil }

func (a *actor) Close() error {
	a.once.Do(func() {
		a.note("close")
		close(a.closed)
	})
	return nil
}

// stage connects an actor to a client with capabilities.
func stage(t *testing.T, capabilities string) (*peer, *session, *actor) {
	t.Helper()
	p := newPeer(t)
	if err := json.Unmarshal([]byte(capabilities), p.srv.client); err != nil {
		t.Fatal(err)
	}
	a := newActor("s")
	s, err := p.srv.add("s", a, agent.Options{Dir: "/d"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return p, s, a
}

// shown returns the updates that the client has got, and empties the list.
func (p *peer) shown() (list []string) {
	for {
		select {
		case u := <-p.updates:
			list = append(list, string(u))
		default:
			return list
		}
	}
}

// requestCases are the requests of an agent that wait for a person.
var requestCases = []struct {
	name         string
	ev           event.Event
	capabilities string
	accept       any // the client's answer, and what the agent is told
	accepted     string
	cancel       any // the client's answer that chooses nothing
	refused      string
}{
	{
		"permission", &event.PermissionRequest{RequestID: "q", ToolUseID: "t", ToolName: "Edit"}, `{}`,
		selected(optionAllow), `q: allow true  ""`, cancelledOutcome, "q: allow false",
	},
	{
		"permission with a mode", &event.PermissionRequest{RequestID: "q", ToolUseID: "t", ToolName: "Edit", Suggestions: []event.Suggestion{{Kind: event.SuggestMode, Mode: "acceptEdits", Update: `{"mode":"acceptEdits"}`}}}, `{}`,
		selected(optionAlways), `q: allow true [{"mode":"acceptEdits"}] ""`, cancelledOutcome, "q: allow false",
	},
	{
		"plan", &event.PermissionRequest{RequestID: "q", ToolUseID: "t", Kind: event.PermissionPlan}, `{}`,
		selected(optionPlan + "accept-edits"), `q: approve true acceptEdits ""`, cancelledOutcome, "q: approve false",
	},
	{
		"question in a form", &event.QuestionRequest{RequestID: "q", ToolUseID: "t", Questions: []event.Question{{Question: "Which?", Options: []event.QuestionOption{{Label: "A"}}}}}, `{"elicitation":{"form":{}}}`,
		map[string]any{"action": "accept", "content": map[string]string{"question_0": "A"}}, `q: declined false {"Which?":"A"}`, map[string]any{"action": "cancel", "content": map[string]string{"question_0": "A"}}, "q: declined true ",
	},
	{
		"question", &event.QuestionRequest{RequestID: "q", ToolUseID: "t", Questions: []event.Question{{Question: "Which?", Options: []event.QuestionOption{{Label: "A"}, {Label: "B"}}}}}, `{}`,
		selected("answer-1"), `q: declined false {"Which?":"B"}`, selected(optionReject), "q: declined true ",
	},
	{
		"form of a server", &event.QuestionRequest{RequestID: "q", Kind: event.QuestionElicitation, Schema: `{"type":"object","properties":{}}`}, `{"elicitation":{"form":{}}}`,
		map[string]any{"action": "accept", "content": map[string]string{"x": "y"}}, `q: accept {"x":"y"}`, map[string]any{"action": "decline"}, "q: decline",
	},
	{
		"link of a server", &event.QuestionRequest{RequestID: "q", Kind: event.QuestionElicitation, Mode: "url", URL: "https://x"}, `{"elicitation":{"url":{}}}`,
		map[string]any{"action": "accept"}, "q: accept", map[string]any{"action": "cancel"}, "q: cancel",
	},
}

func selected(id string) any {
	return map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": id}}
}

var cancelledOutcome = map[string]any{"outcome": map[string]string{"outcome": "cancelled"}}

// TestRequests checks that each kind of request is answered once, whatever happens to it: the client gets it once, a request that
// is withdrawn is withdrawn at the client too and not answered, and in all other cases the agent gets an answer, because an open
// request would block the turn.
func TestRequests(t *testing.T) {
	refuse := []error{errors.New("no")}
	for _, tt := range requestCases {
		for _, end := range []struct {
			name    string
			answer  any   // of the client; nil waits
			fails   error // of the client
			refuses []error
			after   event.Event // the agent sends this while the client has the request
			dies    bool
			want    []string
		}{
			{name: "accepted", answer: tt.accept, want: []string{tt.accepted}},
			{name: "nothing chosen", answer: tt.cancel, want: []string{tt.refused}},
			{name: "unknown option", answer: map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": "x"}, "action": "x"}},
			{name: "strange answer", answer: []int{1}},
			{name: "error", fails: errors.New("broken")},
			{name: "the agent does not accept it", answer: tt.accept, refuses: refuse, want: []string{tt.accepted, "refusal"}},
			{name: "the agent accepts neither", answer: tt.accept, refuses: append(refuse, refuse...), want: []string{tt.accepted, "refusal"}},
			{name: "no longer open", answer: tt.accept, refuses: []error{agent.ErrNotOpen}, want: []string{tt.accepted}},
			{name: "the agent has ended", answer: tt.accept, refuses: []error{agent.ErrClosed}, want: []string{tt.accepted}},
			{name: "sent twice", after: tt.ev, want: []string{}},
			{name: "withdrawn", after: &event.PermissionResolved{RequestID: "q"}, want: []string{}},
			{name: "withdrawn question", after: &event.QuestionResolved{RequestID: "q"}, want: []string{}},
			{name: "the agent dies", dies: true, want: []string{}},
		} {
			t.Run(tt.name+"/"+end.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p, s, a := stage(t, tt.capabilities)
					a.refuses = end.refuses
					var asked, withdrawn int
					p.asked = func(ctx context.Context, _ *jsonrpc.Message) (any, error) {
						asked++
						if end.answer == nil && end.fails == nil {
							<-ctx.Done()
							withdrawn++
						}
						return end.answer, end.fails
					}
					a.events <- tt.ev
					if end.after != nil {
						synctest.Wait()
						a.events <- end.after
					}
					if end.dies {
						synctest.Wait()
						close(a.closed)
						a.once.Do(func() {})
					}
					synctest.Wait()
					got := a.notes()
					want := end.want
					if end.want == nil {
						want = []string{"refusal"}
					}
					checkTold(t, got, want, tt.ev)
					if asked != 1 {
						t.Errorf("the client is asked %d times, want once", asked)
					}
					open := 0
					if end.name == "sent twice" {
						open = 1
					}
					if want := end.after != nil && open == 0 || end.dies; (withdrawn == 1) != want {
						t.Errorf("the request is withdrawn at the client: %v, want %v", withdrawn == 1, want)
					}
					s.mu.Lock()
					left, mode := len(s.asks), s.config.mode
					s.mu.Unlock()
					if left != open {
						t.Errorf("%d requests are open, want %d", left, open)
					}
					wantMode := ""
					if end.name == "accepted" && strings.Contains(tt.accepted, "acceptEdits") {
						wantMode = "acceptEdits"
					}
					if changed := mode == "acceptEdits"; changed != (wantMode != "") {
						t.Errorf("the client is shown the mode %q, want a change: %v", mode, wantMode != "")
					}
					s.close()
					p.srv.stop()
				})
			})
		}
	}
}

// checkTold compares what an agent was told. A refusal must refuse.
func checkTold(t *testing.T, got string, want []string, ev event.Event) {
	t.Helper()
	list := strings.Split(got, "|")
	if got == "" {
		list = nil
	}
	if len(list) != len(want) {
		t.Errorf("the agent is told %q, want %q", list, want)
		return
	}
	for i := range want {
		if want[i] != "refusal" && !strings.HasPrefix(list[i], want[i]) {
			t.Errorf("the agent is told %q, want %q", list[i], want[i])
		}
		refusal := ""
		switch ev := ev.(type) {
		case *event.PermissionRequest:
			refusal = "q: allow false"
			if ev.Kind == event.PermissionPlan {
				refusal = "q: approve false"
			}
		case *event.QuestionRequest:
			refusal = "q: declined true"
			if ev.Kind == event.QuestionElicitation {
				refusal = "q: cancel"
			}
		}
		if want[i] == "refusal" && !strings.HasPrefix(list[i], refusal) && list[i] != "q: x " {
			t.Errorf("the agent is told %q, want the refusal %q", list[i], refusal)
		}
	}
}
