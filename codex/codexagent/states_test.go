package codexagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/spawn"
)

// TestResume_older checks that a server without the experimental API is asked again without the parameter that needs it.
func TestResume_older(t *testing.T) {
	server := &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		if c.Method == "thread/resume" && strings.Contains(string(c.Params), "excludeTurns") {
			return nil, &jsonrpc.Error{Code: -32600, Message: "thread/resume.excludeTurns requires experimentalApi capability"}, true
		}
		return nil, nil, false
	}}
	s, err := scripted(t, server).Resume(t.Context(), "some-thread", agent.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []bool
	for _, c := range server.Sessions()[0].Calls() {
		if c.Method == "thread/resume" {
			got = append(got, strings.Contains(string(c.Params), "excludeTurns"))
		}
	}
	if s.ID() != "some-thread" || !slices.Equal(got, []bool{true, false}) {
		t.Errorf("the thread %q was resumed with the parameter: %v, want once with and once without", s.ID(), got)
	}
}

// TestOpen_box checks that the server starts in the sandbox of the options, and that each prompt has the schema of the provider.
func TestOpen_box(t *testing.T) {
	server := &codextest.Server{}
	p := scripted(t, server)
	p.OutputSchema = `{"type":"object"}`
	boxed := 0
	s, err := p.Open(t.Context(), agent.Options{Box: func(inner spawn.Spawner) spawn.Spawner {
		boxed++
		return inner
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := collect(s)
	if err := s.Send(t.Context(), agent.Input{UUID: "p", Text: "go"}); err != nil {
		t.Fatal(err)
	}
	c.until(t, "the result", counted(1))
	for _, call := range server.Sessions()[0].Calls() {
		var params struct {
			OutputSchema json.RawMessage `json:"outputSchema"`
		}
		if call.Method != "turn/start" {
			continue
		}
		if err := json.Unmarshal([]byte(call.Params), &params); err != nil || string(params.OutputSchema) != `{"type":"object"}` {
			t.Errorf("the prompt has the schema %s, %v; want that of the provider", params.OutputSchema, err)
		}
	}
	if boxed != 1 {
		t.Errorf("the sandbox was asked %d times, want once", boxed)
	}
}

// TestInterrupt_queued checks that an interrupt names the prompts that still wait, and not the one that runs.
func TestInterrupt_queued(t *testing.T) {
	for _, prompts := range [][]string{{"one"}, {"one", "two", "three"}} {
		begun := make(chan struct{}, len(prompts))
		s, err := scripted(t, &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
			begun <- struct{}{}
			<-turn.Interrupted
			turn.End(item.StatusInterrupted, nil)
		}}).Open(t.Context(), agent.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, id := range prompts {
			if err := s.Send(t.Context(), agent.Input{UUID: id, Text: id}); err != nil {
				t.Fatal(err)
			}
		}
		<-begun
		out, err := s.Interrupt(t.Context())
		if err != nil || slices.Contains(out.StillQueued, "one") || slices.Contains(out.StillQueued, "three") != (len(prompts) > 1) {
			t.Errorf("of %q are still queued: %q, %v; want the last one, unless it runs", prompts, out.StillQueued, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("Close returns %v, want no error", err)
		}
	}
}

// forgetting records the threads whose copies were deleted.
type forgetting struct {
	codexagent.Copies
	deleted []string
}

func (f *forgetting) Delete(_ context.Context, thread string) error {
	f.deleted = append(f.deleted, thread)
	return nil
}

// TestDelete_copies checks that the copy of a thread is deleted with it, or if there is no thread, and stays if Codex refuses.
func TestDelete_copies(t *testing.T) {
	for name, tt := range map[string]struct {
		missing bool
		refusal error
		want    error
		deleted bool
	}{
		"archived":  {false, nil, nil, true},
		"no thread": {true, nil, agent.ErrNotFound, true},
		"refused":   {false, &jsonrpc.Error{Code: -32600, Message: "already has an active writer"}, agent.ErrBusy, false},
	} {
		p, c := recordedThread(t, &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
			return map[string]any{}, tt.refusal, c.Method == "thread/archive"
		}})
		copies := &forgetting{}
		p.Copies = copies
		id := c.ThreadID
		if tt.missing {
			id = "01a1de9a-0000-7f42-a449-0a13e079865e"
		}
		if err := p.History().Delete(t.Context(), id); !errors.Is(err, tt.want) || slices.Contains(copies.deleted, id) != tt.deleted {
			t.Errorf("%s: Delete returns %v, and the copies of %q are deleted; want %v, deleted %v", name, err, copies.deleted, tt.want, tt.deleted)
		}
	}
}

// TestAnswer_permissions checks that an answer with changed permissions or a changed input is rejected.
func TestAnswer_permissions(t *testing.T) {
	for name, tt := range map[string]struct {
		answer *agent.PermissionAnswer
		taken  bool
	}{
		"permissions": {&agent.PermissionAnswer{Allow: true, UpdatedPermissions: json.RawMessage(`[]`)}, false},
		"input":       {&agent.PermissionAnswer{Allow: true, UpdatedInput: json.RawMessage(`{}`)}, false},
		"neither":     {&agent.PermissionAnswer{Allow: true}, true},
	} {
		got := answered(t, [2]string{"item/commandExecution/requestApproval", `"itemId":"i","command":"ls"`}, tt.answer)
		if (got != "") != tt.taken {
			t.Errorf("%s: the answer gives %q, want it taken: %v", name, got, tt.taken)
		}
	}
}
