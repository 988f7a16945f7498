package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// waiting returns a server whose turns run until they are interrupted, and then end as interrupted.
func waiting() *codextest.Server {
	return &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		select {
		case <-turn.Interrupted:
			turn.End(item.StatusInterrupted, nil)
		case <-time.After(10 * time.Second):
		}
	}}
}

// within limits how long a test waits.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// TestTurn_givenUp checks that a turn is interrupted at the server in each way in which a caller
// can abandon it.
func TestTurn_givenUp(t *testing.T) {
	broken := errors.New("enough")
	for name, give := range map[string]func(t *testing.T, th *codex.Thread){
		"Run": func(t *testing.T, th *codex.Thread) {
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				for th.Active() == nil {
					runtime.Gosched()
				}
				cancel(broken)
			}()
			if r, err := th.Run(ctx, "go"); !errors.Is(err, broken) || r != nil {
				t.Errorf("Run = %v, %v; want %v", r, err, broken)
			}
		},
		"Query": func(t *testing.T, th *codex.Thread) {
			for _, err := range th.Query(within(t), "go") {
				if err != nil {
					t.Error(err)
				}
				break
			}
		},
		"Interrupt": func(t *testing.T, th *codex.Thread) {
			turn, err := th.Send(within(t), codex.Text("go"))
			if err != nil {
				t.Fatal(err)
			}
			<-turn.Started()
			if err := turn.Interrupt(within(t)); err != nil {
				t.Errorf("Interrupt: %v", err)
			}
			if _, err := turn.Wait(within(t)); !errors.Is(err, codex.ErrInterrupted) {
				t.Errorf("Wait = %v, want %v", err, codex.ErrInterrupted)
			}
			if err := turn.Interrupt(within(t)); err != nil {
				t.Errorf("Interrupt of a turn that has ended: %v, want none", err)
			}
		},
		"of the thread": func(t *testing.T, th *codex.Thread) {
			turn, err := th.Send(within(t), codex.Text("go"))
			if err != nil {
				t.Fatal(err)
			}
			<-turn.Started()
			if err := th.Interrupt(within(t)); err != nil {
				t.Errorf("Interrupt: %v", err)
			}
			if r, err := turn.Wait(within(t)); !errors.Is(err, codex.ErrInterrupted) || r == nil {
				t.Errorf("Wait = %v, %v; want a result and %v", r, err, codex.ErrInterrupted)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := waiting()
			th := start(t, scripted(t, server, nil))
			give(t, th)
			n := 0
			for _, c := range server.Sessions()[0].Calls() {
				if c.Method == "turn/interrupt" {
					n++
				}
			}
			if n == 0 {
				t.Error("the turn still runs at the server, want an interrupt")
			}
		})
	}
}

// Prompts wait for the running turn. A withdrawn prompt never reaches the server; those after it do.
func TestTurn_queue(t *testing.T) {
	server := waiting()
	th := start(t, scripted(t, server, nil))
	var turns []*codex.Turn
	for _, text := range []string{"one", "two", "three"} {
		turn, err := th.Send(within(t), codex.Text(text))
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	<-turns[0].Started()
	if turns[0].ID() == "" || turns[1].ID() != "" {
		t.Errorf("the turns have the ids %q and %q, want one for the first alone", turns[0].ID(), turns[1].ID())
	}
	if err := turns[1].Interrupt(within(t)); err != nil {
		t.Errorf("withdrawing: %v", err)
	}
	if r, err := turns[1].Wait(within(t)); !errors.Is(err, codex.ErrInterrupted) || r != nil {
		t.Errorf("a prompt that was withdrawn ends with %v, %v; want %v", r, err, codex.ErrInterrupted)
	}
	for _, i := range []int{0, 2} {
		<-turns[i].Started()
		if err := turns[i].Interrupt(within(t)); err != nil {
			t.Error(err)
		}
		if _, err := turns[i].Wait(within(t)); !errors.Is(err, codex.ErrInterrupted) {
			t.Errorf("turn %d ends with %v", i, err)
		}
	}
	n := 0
	for _, c := range server.Sessions()[0].Calls() {
		if c.Method == "turn/start" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("the server got %d prompts, want 2", n)
	}
}

// Without a turn, interrupt and steer return an error. An error of the server is returned by the call at once.
func TestTurn_none(t *testing.T) {
	refuse := false
	server := &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		return nil, &jsonrpc.Error{Code: -32600, Message: "thread not found: x"}, refuse && c.Method == "turn/start"
	}}
	th := start(t, scripted(t, server, nil))
	for what, err := range map[string]error{"Interrupt": th.Interrupt(within(t)), "Steer": th.Steer(within(t), codex.Text("left"))} {
		if !errors.Is(err, codex.ErrNoTurn) {
			t.Errorf("%s without a turn: %v, want %v", what, err, codex.ErrNoTurn)
		}
	}
	if th.Active() != nil {
		t.Error("a turn is active before the first prompt")
	}
	if r, err := th.Run(within(t), "go"); err != nil || r == nil {
		t.Errorf("Run = %v, %v; want a result", r, err)
	}
	refuse = true
	if r, err := th.Run(within(t), "go"); !errors.Is(err, codex.ErrNoThread) || r != nil {
		t.Errorf("a prompt that is refused: %v, %v; want %v", r, err, codex.ErrNoThread)
	}
	var last error
	for _, err := range th.Query(within(t), "go") {
		last = err
	}
	if !errors.Is(last, codex.ErrNoThread) {
		t.Errorf("a query that is refused ends with %v, want %v", last, codex.ErrNoThread)
	}
	refuse = false
	turn, err := th.Send(within(t), codex.Text("go"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range turn.Notifications(within(t)) {
		if err != nil {
			t.Error(err)
		}
		n++
	}
	for _, err := range turn.Notifications(within(t)) {
		if !errors.Is(err, codex.ErrUsed) {
			t.Errorf("a second use: %v, want %v", err, codex.ErrUsed)
		}
	}
	if r, err := turn.Wait(within(t)); n == 0 || err != nil || r == nil {
		t.Errorf("Wait after %d notifications = %v, %v", n, r, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := th.Run(ended, "go"); !errors.Is(err, context.Canceled) {
		t.Errorf("Run after the end of its context: %v, want %v", err, context.Canceled)
	}
}

// TestElicit checks that the answer of a callback is sent unchanged, also without content.
func TestElicit(t *testing.T) {
	for _, c := range []struct {
		answer codex.Elicitation
		want   string
	}{
		{codex.Elicitation{Action: "accept", Content: `{"a":1}`}, `{"action":"accept","content":{"a":1}}`}, {codex.Elicitation{Action: "cancel"}, `{"action":"cancel","content":null}`}, {codex.Elicitation{}, `{"action":"decline","content":null}`},
	} {
		told := make(chan string, 1)
		server := &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
			raw, err := turn.Ask(context.Background(), "mcpServer/elicitation/request", map[string]any{"threadId": turn.ThreadID, "turnId": turn.TurnID, "serverName": "m", "mode": "form"})
			if err != nil {
				raw = json.RawMessage(err.Error())
			}
			told <- string(raw)
		}}
		th := start(t, scripted(t, server, func(o *codex.Options) {
			o.Elicit = func(context.Context, *item.ElicitationRequest) (codex.Elicitation, error) { return c.answer, nil }
		}))
		if _, err := th.Run(within(t), "go"); err != nil {
			t.Fatal(err)
		}
		if got := <-told; got != c.want {
			t.Errorf("%+v is told as %s, want %s", c.answer, got, c.want)
		}
	}
}
