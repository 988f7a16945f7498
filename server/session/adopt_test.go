package session

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// An answer is the same after it was in the log, also without its optional members.
func TestKeptAnswer(t *testing.T) {
	object := json.RawMessage(`{"a":null}`)
	for _, want := range []agent.Answer{
		&agent.PermissionAnswer{}, &agent.PermissionAnswer{Allow: true, Choice: "c", Scope: "turn", UpdatedInput: object, UpdatedPermissions: object},
		&agent.PlanAnswer{}, &agent.PlanAnswer{Approve: true, Mode: "plan", Plan: "p"},
		&agent.QuestionAnswer{}, &agent.QuestionAnswer{Answers: object},
		&agent.ElicitationAnswer{}, &agent.ElicitationAnswer{Action: "accept", Content: object},
	} {
		kept := newKeptAnswer("r1", want)
		if kept == nil {
			t.Errorf("%#v cannot be kept", want)
			continue
		}
		text, err := json.Marshal(kept)
		var read keptAnswer
		if err == nil {
			err = json.Unmarshal(text, &read)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := read.answer()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, -want +got\n%s", text, err, diff)
		}
	}
}

// After an adoption a prompt that is stored as sent goes to the host again with the last kept line, whether or not the log
// accounts for that line. The host writes it once.
func TestSendAgain(t *testing.T) {
	for name, logged := range map[string]uint64{"the log has every line": 7, "the log lacks a line": 6} {
		t.Run(name, func(t *testing.T) {
			c := emptyStage(t)
			if err := c.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
				t.Fatal(err)
			}
			p := c.connect()
			p.take()
			for line := uint64(5); line <= 7; line++ {
				err := c.with(t.Context(), c.id, func(a *actor) error {
					if line == 5 {
						if err := a.commit(draft{queue: true, facts: &facts{Inputs: []input{{ID: "i", Content: `"stored"`, Status: inputSent}}}}); err != nil {
							return err
						}
						a.adoption, a.core.Line = adoption{rebuilding: true, last: 7}, logged
					}
					a.takeBatch(nil, pumped{line: line})
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if line < 7 && p.got("Send") {
					t.Errorf("the prompt was sent with line %d, want it sent with the last, 7", line)
				}
			}
			c.await("the prompt is sent", func() bool { return p.got("Send") })
		})
	}
}

// After the death of its host, a prompt without a line in the files of the host is held, because the agent did not get it. With a line it may
// have had it: a person decides.
func TestHostDied_inputs(t *testing.T) {
	for name, tt := range map[string]struct {
		left *leftAgent
		want inputStatus
	}{
		"no line":         {&leftAgent{wrote: func(id string) bool { return id != "i" }}, inputHeld},
		"a line":          {&leftAgent{wrote: func(id string) bool { return id == "i" }}, inputUnknown},
		"a host that ran": {&leftAgent{}, inputUnknown},
		"no host":         {nil, inputUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			c := emptyStage(t)
			c.puppets.calls.setFail("Delivered") // only the files of the host show what the agent had
			if err := c.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
				t.Fatal(err)
			}
			p := c.connect()
			err := c.with(t.Context(), c.id, func(a *actor) error {
				a.agent.left = tt.left
				return a.commit(draft{queue: true, facts: &facts{Inputs: []input{{ID: "i", Content: `"stored"`, Status: inputSent}}}})
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Close(); err != nil { // the agent ends
				t.Fatal(err)
			}
			c.await("the prompt is "+string(tt.want), func() (ok bool) {
				_ = c.with(t.Context(), c.id, func(a *actor) error {
					in, _ := a.core.input("i")
					ok = a.agent == nil && in.Status == tt.want
					return nil
				})
				return ok
			})
		})
	}
}

// A call to an agent that is being adopted waits until the agent has read its kept lines: before, it does not know its turn and its
// requests.
func TestAwaitAdoption(t *testing.T) {
	c := emptyStage(t)
	if err := c.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
		t.Fatal(err)
	}
	p := c.connect()
	ref := api.SessionRef{SessionID: c.id}
	calls := map[string]func(context.Context) error{
		"interrupt": func(ctx context.Context) error { _, err := Agents{c.Sessions}.Interrupt(ctx, ref); return err },
		"respond": func(ctx context.Context) error {
			_, err := Requests{c.Sessions}.PermissionRespond(ctx, api.PermissionRespondParams{SessionID: c.id, RequestID: "r", Behavior: "allow"}, "me")
			return err
		},
		"background": func(ctx context.Context) error { _, err := Agents{c.Sessions}.RunInBackground(ctx, ref); return err },
	}
	adopting := func() (caught chan struct{}) {
		if err := c.with(t.Context(), c.id, func(a *actor) error {
			caught = make(chan struct{})
			a.adoption = adoption{last: 7, caught: caught}
			a.takeBatch(nil, pumped{line: 6})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return caught
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			adopting()
			short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := call(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("before the last line it returned %v, want it to wait", err)
			}
			if err := c.with(t.Context(), c.id, func(a *actor) error { a.takeBatch(nil, pumped{line: 7}); return nil }); err != nil {
				t.Fatal(err)
			}
			if err := call(t.Context()); errors.Is(err, context.DeadlineExceeded) {
				t.Error("after the last line it waits")
			}
		})
	}
	caught := adopting()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-caught: // the agent has ended
	case <-time.After(10 * time.Second):
		t.Error("calls wait for an agent that has ended")
	}
}

// An answer to a request that an adopted agent has not reported again is accepted, and given to the agent when it reports the request.
func TestRespond_unseen(t *testing.T) {
	for _, unseen := range []bool{true, false} {
		c := emptyStage(t)
		if err := c.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{CWD: "/d"}}); err != nil {
			t.Fatal(err)
		}
		p := c.connect()
		c.turn("work")
		ask := &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{"a":1}`}
		p.events <- ask
		c.inState(RequiresAction)
		if err := c.with(t.Context(), c.id, func(a *actor) error { a.core.Host, a.unseen = 1, map[string]bool{"r": unseen}; return nil }); err != nil {
			t.Fatal(err)
		}
		p.setFail(notOpen)
		r, err := Requests{c.Sessions}.PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r", Behavior: "allow"}, "me")
		if (err == nil) != unseen || r.Accepted != unseen {
			t.Errorf("unseen %v: the answer returned %+v, %v", unseen, r, err)
		}
		p.setFail("")
		p.take()
		if err := c.with(t.Context(), c.id, func(a *actor) error { a.takeBatch(nil, pumped{events: []event.Event{ask}}); return nil }); err != nil {
			t.Fatal(err)
		}
		c.await("the agent gets the answer", func() bool { return p.got("Answer r") })
	}
}

// A request that an adopted agent reports again is stored again only if it has changed.
func TestAnswerAgain_changed(t *testing.T) {
	c := newStage(t, Opened{Params: api.ConnectParams{CWD: "/d"}})
	p := c.connect()
	c.turn("work")
	ask := func(input string) *event.PermissionRequest {
		return &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: event.JSON(input)}
	}
	p.events <- ask(`{"a":1}`)
	c.inState(RequiresAction)
	for _, tt := range []struct {
		input  string
		stored bool
	}{{`{"a":1}`, false}, {`{"a":2}`, true}} {
		n, _ := c.records(0)
		if err := c.with(t.Context(), c.id, func(a *actor) error {
			a.takeBatch(nil, pumped{events: []event.Event{ask(tt.input)}})
			return a.write()
		}); err != nil {
			t.Fatal(err)
		}
		if _, records := c.records(n); strings.Contains(records, "permission_request") != tt.stored {
			t.Errorf("the request with %s again wrote\n%s\nwant it stored: %v", tt.input, records, tt.stored)
		}
		if core := c.state(); tt.stored && !strings.Contains(core, `{"a":2}`) {
			t.Errorf("the open request is not the new one: %s", core)
		}
	}
}

// A person is asked again if an adopted agent refuses the logged answer. Any other error means that the agent has ended
// or does not wait.
func TestAnswerAgain_refused(t *testing.T) {
	for name, err := range map[string]error{"invalid": errors.Join(agent.ErrInvalid, errors.New("no such choice")), "not open": agent.ErrNotOpen} {
		c := newStage(t, Opened{})
		p := c.connect()
		c.turn("work")
		ask := &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{}`}
		p.setFail("Answer")
		*p.err = err
		if err := c.with(t.Context(), c.id, func(a *actor) error {
			a.core.Given = []keptAnswer{*newKeptAnswer("r", &agent.PermissionAnswer{Allow: true, Choice: "gone"})}
			a.takeBatch(nil, pumped{events: []event.Event{ask}})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		c.await("the agent gets the answer", func() bool { return p.got("Answer") })
		if errors.Is(err, agent.ErrInvalid) {
			c.inState(RequiresAction)
			continue
		}
		c.await("the error is logged", func() bool { return strings.Contains(c.lines.String(), "did not reach the agent") })
		if _, records := c.records(0); strings.Contains(records, "permission_request") {
			t.Errorf("%s: the person is asked again", name)
		}
	}
}
