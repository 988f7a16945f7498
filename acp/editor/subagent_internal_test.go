package editor

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// delegating is an agent with a subagent that waits for a permission until its task is stopped.
type delegating struct {
	faulty
	events  chan event.Event
	stopped chan string
}

func (a *delegating) Events(context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev := range a.events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func (a *delegating) StopTask(_ context.Context, id string) error {
	a.stopped <- id
	return nil
}

func (a *delegating) TaskOutput(context.Context, string, int64, int64) (agent.TaskOutput, error) {
	return agent.TaskOutput{}, agent.ErrUnsupported
}

func (a *delegating) Answer(context.Context, string, agent.Answer) error { return nil }

func (a *delegating) Close() error { return nil }

// TestCancel_subagent checks that the permission request of a subagent appears in the subagent's
// session, that cancelling this session stops the task, and that the session ends with its agent.
func TestCancel_subagent(t *testing.T) {
	p := newPeer(t)
	asked := make(chan string, 1)
	p.handle = func(m *jsonrpc.Message) (any, error) {
		var r struct{ SessionID string }
		err := json.Unmarshal([]byte(m.Params), &r)
		asked <- m.Method + " " + r.SessionID
		return &acp.RequestPermissionResponse{Outcome: acp.RequestPermissionOutcome{Outcome: acp.RequestPermissionOutcomeIsCancelled}}, err
	}
	if err := json.Unmarshal([]byte(`{"subagents":{}}`), p.srv.client); err != nil {
		t.Fatal(err)
	}
	a := &delegating{events: make(chan event.Event), stopped: make(chan string, 1)}
	if _, err := p.srv.add("s", a, agent.Options{}); err != nil {
		t.Fatal(err)
	}
	cancel := func(id string) {
		p.srv.notified(&jsonrpc.Message{Method: acp.MethodSessionCancel, Params: `{"sessionId":"` + id + `"}`})
	}
	for _, ev := range []event.Event{
		&event.ToolStart{ToolUseID: "t", Name: "Agent", Block: `{"type":"tool_use","id":"t","name":"Agent","input":{"prompt":"look"}}`},
		&event.TaskStarted{TaskID: "child", ToolUseID: "t"},
		&event.ToolStart{Header: event.Header{ParentToolUseID: "t"}, ToolUseID: "r", Name: "Read", Block: `{"type":"tool_use","id":"r","name":"Read","input":{}}`},
		&event.PermissionRequest{RequestID: "q", ToolUseID: "r", ToolName: "Read"},
	} {
		a.events <- ev
	}
	if got := <-asked; got != "session/request_permission child" {
		t.Errorf("the client is asked with %s", got)
	}
	cancel("unknown")
	cancel("child")
	if got := <-a.stopped; got != "child" || len(a.stopped) != 0 {
		t.Errorf("the task %s is stopped", got)
	}
	close(a.events)
	last := ""
	for !strings.Contains(last, `"idle"`) {
		last = string(<-p.updates)
	}
	if !strings.Contains(last, `"sessionId":"s"`) || !strings.Contains(last, `"sessionId":"child"`) || !strings.Contains(last, `"cancelled"`) {
		t.Errorf("the subagent ends with %s", last)
	}
	cancel("child") // the subagent has ended
	p.srv.work.Wait()
	if len(a.stopped) != 0 {
		t.Error("a task that has ended is stopped")
	}
}
