package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/mcptool"
)

// callsOf returns the params of the requests of a method, in order.
func callsOf(s *codextest.Server, method string) (all []string) {
	for _, c := range s.Sessions()[0].Calls() {
		if c.Method == method {
			all = append(all, string(c.Params))
		}
	}
	return all
}

// sendTo sends a notification about a thread.
func sendTo(s *codextest.Server, method, thread string, fields map[string]any) {
	p := map[string]any{"threadId": thread}
	for k, v := range fields {
		p[k] = v
	}
	s.Sessions()[0].Notify(method, p)
}

// notedTurn encodes the turn of a notification.
func notedTurn(id, status string) map[string]any {
	return map[string]any{"turn": map[string]any{"id": id, "status": status, "items": []any{}}}
}

// TestThread_Steer checks that Steer adds a prompt to the running turn, and retries while the
// server has not begun to work on the turn.
func TestThread_Steer(t *testing.T) {
	server := waiting()
	early := 2
	server.Handle = func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		if c.Method != "turn/steer" {
			return nil, nil, false
		}
		if early--; early >= 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no active turn to steer"}, true
		}
		return map[string]any{}, nil, true
	}
	th := start(t, scripted(t, server, nil))
	turn, err := th.Send(within(t), codex.Text("go"))
	if err != nil {
		t.Fatal(err)
	}
	p := codex.Text("left")
	p.ClientID, p.Extra = "client", map[string]any{"more": 1}
	if err := th.Steer(within(t), p); err != nil {
		t.Errorf("Steer: %v", err)
	}
	want := `{"clientUserMessageId":"client","expectedTurnId":"` + turn.ID() + `","input":[{"type":"text","text":"left"}],"more":1,"threadId":"` + th.ID() + `"}`
	if got := callsOf(server, "turn/steer"); len(got) != 3 || !sameJSON(got[2], want) {
		t.Errorf("the server got %s, want the third to be %s", got, want)
	}
	early = 1 << 20
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := th.Steer(short, p); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Steer of a turn that never begins: %v, want the end of the context", err)
	}
	if err := turn.Interrupt(within(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Wait(within(t)); !errors.Is(err, codex.ErrInterrupted) {
		t.Errorf("the turn ended with %v", err)
	}
	if err := th.Steer(within(t), p); !errors.Is(err, codex.ErrNoTurn) {
		t.Errorf("Steer after the turn: %v, want %v", err, codex.ErrNoTurn)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// TestThread_ownTurns checks that compactions and reviews are turns without a prompt, and that
// prompts can follow them however they end.
func TestThread_ownTurns(t *testing.T) {
	refused := &jsonrpc.Error{Code: -32000, Message: "no"}
	type method func(ctx context.Context, th *codex.Thread) (*codex.Turn, error)
	compact := func(ctx context.Context, th *codex.Thread) (*codex.Turn, error) { return th.Compact(ctx) }
	review := func(ctx context.Context, th *codex.Thread) (*codex.Turn, error) {
		return th.Review(ctx, codex.ReviewTarget{Type: "commit", Branch: "b", SHA: "s", Title: "t", Instructions: "i"})
	}
	for name, c := range map[string]struct {
		call    method
		begins  bool  // the server starts the turn
		refusal error // the server refuses the request
		want    string
	}{
		"compact":           {compact, true, nil, "thread/compact/start {\"threadId\":\"thread-1\"}"},
		"compact refused":   {compact, false, refused, ""},
		"compact forgotten": {compact, false, nil, ""},
		"review":            {review, true, nil, `review/start {"target":{"type":"commit","branch":"b","sha":"s","title":"t","instructions":"i"},"threadId":"thread-1"}`},
		"review refused":    {review, false, refused, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := &codextest.Server{}
			request := ""
			server.Handle = func(s *codextest.Session, call *item.Call) (any, error, bool) {
				if call.Method != "thread/compact/start" && call.Method != "review/start" {
					return nil, nil, false
				}
				request = call.Method + " " + string(call.Params)
				if c.refusal != nil {
					return nil, c.refusal, true
				}
				if !c.begins {
					return map[string]any{}, nil, true
				}
				// A review has another id in its response than at its start.
				return &jsonrpc.Then{Result: notedTurn("other", item.StatusInProgress), Do: func() {
					sendTo(server, "turn/started", "thread-1", notedTurn("own", item.StatusInProgress))
				}}, nil, true
			}
			th := start(t, scripted(t, server, func(o *codex.Options) { o.CallTimeout = 5 * time.Second }))
			ctx := within(t)
			if !c.begins && c.refusal == nil {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
			}
			turn, err := c.call(ctx, th)
			if (err == nil) != c.begins || (turn != nil) != c.begins {
				t.Fatalf("it returned %v, %v; want a turn: %v", turn, err, c.begins)
			}
			if c.begins {
				if !strings.HasPrefix(request, strings.Fields(c.want)[0]) || !sameJSON(strings.SplitN(request, " ", 2)[1], strings.SplitN(c.want, " ", 2)[1]) {
					t.Errorf("the server got %s, want %s", request, c.want)
				}
				for what, call := range map[string]method{"Compact": compact, "Review": review} {
					if _, err := call(within(t), th); !errors.Is(err, codex.ErrBusy) {
						t.Errorf("%s during it: %v, want %v", what, err, codex.ErrBusy)
					}
				}
				queued, err := th.Send(within(t), codex.Text("after"))
				if err != nil || queued.ID() != "" {
					t.Fatalf("a prompt during it: %v, %v; want it queued", queued, err)
				}
				sendTo(server, "turn/completed", "thread-1", notedTurn("own", item.StatusCompleted))
				if name == "review" {
					sendTo(server, "turn/completed", "thread-1", notedTurn("other", item.StatusCompleted))
				}
				if r, err := turn.Wait(within(t)); err != nil || r == nil {
					t.Errorf("it ended with %v, %v", r, err)
				}
				if _, err := queued.Wait(within(t)); err != nil {
					t.Errorf("the queued prompt ended with %v", err)
				}
			}
			if _, err := th.Run(within(t), "next"); err != nil {
				t.Errorf("a prompt after it: %v", err)
			}
		})
	}
}

// TestThread_state checks that the state of a thread, also of a subagent, is that of its last
// notification.
func TestThread_state(t *testing.T) {
	server := &codextest.Server{}
	c := scripted(t, server, nil)
	if got, want := c.Info(), (codex.Info{UserAgent: "codextest/0.166.0", CodexHome: "/nowhere", PlatformFamily: "unix", PlatformOS: "linux"}); got != want {
		t.Errorf("Info = %+v, want %+v", got, want)
	}
	th := start(t, c)
	all := th.Notifications(within(t))
	sendTo(server, "thread/status/changed", th.ID(), map[string]any{"status": map[string]any{"type": "systemError"}})
	sendTo(server, "thread/tokenUsage/updated", th.ID(), map[string]any{"tokenUsage": map[string]any{"total": map[string]any{"totalTokens": 7}}})
	sendTo(server, "thread/started", "child", map[string]any{"thread": map[string]any{"id": "child", "parentThreadId": th.ID()}})
	sendTo(server, "item/completed", th.ID(), map[string]any{"turnId": "turn-9", "item": map[string]any{"id": "spawn", "type": "subAgentActivity", "agentThreadId": "grandchild", "kind": "started"}})
	sendTo(server, "warning", th.ID(), map[string]any{"message": "last"})
	var methods []string
	for n, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		methods = append(methods, item.Method(n))
		if item.Method(n) == "warning" {
			break
		}
	}
	if want := "thread/status/changed thread/tokenUsage/updated thread/started item/completed warning"; strings.Join(methods, " ") != want {
		t.Errorf("the reader got %v, want %s", methods, want)
	}
	if got := th.Status().Type; got != "systemError" {
		t.Errorf("the status is %q, want systemError", got)
	}
	if got := th.Usage().Total.TotalTokens; got != 7 {
		t.Errorf("the thread has used %d tokens, want 7", got)
	}
	for id, want := range map[string]codex.Origin{"child": {ThreadID: th.ID()}, "grandchild": {ThreadID: th.ID(), TurnID: "turn-9", ItemID: "spawn"}} {
		if got, ok := c.Origin(id); got != want || !ok {
			t.Errorf("the origin of %s is %+v, %v; want %+v", id, got, ok, want)
		}
	}
	for _, id := range []string{th.ID(), "stranger"} {
		if got, ok := c.Origin(id); ok {
			t.Errorf("%s has the origin %+v, want none", id, got)
		}
	}
	for _, err := range all {
		if !errors.Is(err, codex.ErrUsed) {
			t.Errorf("the second use: %v, want %v", err, codex.ErrUsed)
		}
	}
}

// TestThread_Notifications_late checks that the last 1,000 unread notifications are kept for the
// next reader of a thread. A reader of the client receives only later ones.
func TestThread_Notifications_late(t *testing.T) {
	server := &codextest.Server{}
	c := scripted(t, server, nil)
	th := start(t, c)
	every := c.Notifications(within(t))
	const n = 1003
	for i := range n {
		sendTo(server, "warning", th.ID(), map[string]any{"message": fmt.Sprint(i)})
	}
	seen := 0
	for _, err := range every {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == n {
			break
		}
	}
	late := th.Notifications(within(t))
	var first, last string
	count := 0
	sendTo(server, "warning", th.ID(), map[string]any{"message": "now"})
	for v, err := range late {
		if err != nil {
			t.Fatal(err)
		}
		last = v.(*item.Warning).Message
		if count++; count == 1 {
			first = last
		}
		if last == "now" {
			break
		}
	}
	if first != "3" || count != 1001 {
		t.Errorf("a late reader got %d from %s to %s, want the last 1000 and the new one", count, first, last)
	}
	server.Sessions()[0].Exit(4)
	for what, all := range map[string]func() error{
		"of the client": func() (last error) {
			for _, err := range c.Notifications(within(t)) {
				last = err
			}
			return last
		},
		"of the thread": func() (last error) {
			for _, err := range th.Notifications(within(t)) {
				last = err
			}
			return last
		},
		"Send":    func() error { _, err := th.Send(within(t), codex.Text("x")); return err },
		"Compact": func() error { _, err := th.Compact(within(t)); return err },
	} {
		<-c.Done()
		if e, ok := errors.AsType[*codex.ExitError](all()); !ok || e.Code != 4 {
			t.Errorf("%s after the end of the server: %v, want its exit", what, e)
		}
	}
}

// TestServer_dies_waiting checks that the exit of the server ends all waiting calls: a queued
// prompt, a reader of the client, a compaction.
func TestServer_dies_waiting(t *testing.T) {
	hold, asked := make(chan struct{}), make(chan struct{}, 1)
	defer close(hold)
	server := &codextest.Server{Turn: func(*codextest.ServerTurn) { <-hold }}
	server.Handle = func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		if c.Method == "thread/compact/start" {
			asked <- struct{}{}
			return map[string]any{}, nil, true
		}
		return nil, nil, false
	}
	c := scripted(t, server, nil)
	one, two := start(t, c), start(t, c)
	if _, err := one.Send(within(t), codex.Text("first")); err != nil {
		t.Fatal(err)
	}
	queued, err := one.Send(within(t), codex.Text("second"))
	if err != nil {
		t.Fatal(err)
	}
	ends := make(chan error, 2)
	every := c.Notifications(within(t))
	go func() {
		var last error
		for _, err := range every {
			last = err
		}
		ends <- last
	}()
	go func() {
		_, err := two.Compact(within(t))
		ends <- err
	}()
	<-asked
	server.Sessions()[0].Exit(5)
	if _, err := queued.Wait(within(t)); !isExit(err, 5) {
		t.Errorf("the queued prompt ended with %v, want the exit of the server", err)
	}
	for range 2 {
		if err := <-ends; !isExit(err, 5) {
			t.Errorf("a reader or a compaction ended with %v, want the exit of the server", err)
		}
	}
}

func isExit(err error, code int) bool {
	e, ok := errors.AsType[*codex.ExitError](err)
	return ok && e.Code == code
}

// TestThread_params checks that every option of a thread and of a prompt is sent under the server's
// name for it, and that Extra overrides the options.
func TestThread_params(t *testing.T) {
	server := &codextest.Server{}
	c := scripted(t, server, func(o *codex.Options) { o.Experimental = true })
	tool := mcptool.NewTool("ping", "Pings.", func(context.Context, struct{}) (string, error) { return "pong", nil })
	o := &codex.ThreadOptions{CWD: "c", Model: "m", ModelProvider: "mp", ApprovalPolicy: "never", ApprovalsReviewer: "user", Sandbox: "read-only", BaseInstructions: "bi",
		DeveloperInstructions: "di", Config: map[string]any{"k": "v"}, Ephemeral: true, Personality: "p", ServiceTier: "st", Tools: []mcptool.Tool{tool}, Extra: map[string]any{"model": "extra"}}
	th, err := c.StartThread(within(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ResumeThread(within(t), "r", &codex.ThreadOptions{CWD: "d"}); err != nil {
		t.Fatal(err)
	}
	for _, last := range []string{"", "u"} {
		if _, err := c.ForkThread(within(t), "f", last, nil); err != nil {
			t.Fatal(err)
		}
	}
	p := &codex.Prompt{Input: codex.Text("x").Input, ClientID: "ci", Model: "m", Effort: "e", ApprovalPolicy: "ap", CWD: "c", Summary: "s", SandboxPolicy: `{"a":1}`, OutputSchema: `{"b":2}`, Extra: map[string]any{"z": 1}}
	turn, err := th.Send(within(t), p)
	if err == nil {
		_, err = turn.Wait(within(t))
	}
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string][]string{
		"thread/start": {`{"cwd":"c","model":"extra","modelProvider":"mp","approvalPolicy":"never","approvalsReviewer":"user","sandbox":"read-only","baseInstructions":"bi","developerInstructions":"di",
			"config":{"k":"v"},"ephemeral":true,"personality":"p","serviceTier":"st","dynamicTools":[{"type":"function","name":"ping","description":"Pings.","inputSchema":{"type":"object","additionalProperties":false}}]}`},
		"thread/resume": {`{"threadId":"r","cwd":"d"}`},
		"thread/fork":   {`{"threadId":"f"}`, `{"threadId":"f","lastTurnId":"u"}`},
		"turn/start": {`{"threadId":"thread-1","input":[{"type":"text","text":"x"}],"clientUserMessageId":"ci","model":"m","effort":"e","approvalPolicy":"ap","cwd":"c","summary":"s",
			"sandboxPolicy":{"a":1},"outputSchema":{"b":2},"z":1}`},
	} {
		got := callsOf(server, method)
		if !slices.EqualFunc(got, want, sameJSON) {
			t.Errorf("%s got %s, want %s", method, got, want)
		}
	}
	plain := scripted(t, &codextest.Server{}, nil)
	if _, err := plain.StartThread(within(t), o); !errors.Is(err, codex.ErrExperimental) {
		t.Errorf("tools without the experimental API: %v, want %v", err, codex.ErrExperimental)
	}
}

// TestThread_tools checks that subagents can call the tools of their thread, and that calls of
// unknown tools or threads fail.
func TestThread_tools(t *testing.T) {
	tool := mcptool.NewTool("ping", "Pings.", func(context.Context, struct{}) (string, error) { return "pong", nil })
	odd := mcptool.NewTool("odd", "Panics.", func(context.Context, struct{}) (string, error) { panic("odd") })
	got := map[string]string{}
	server := &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		turn.About("item/started", map[string]any{"item": map[string]any{"id": "spawn", "type": "subAgentActivity", "agentThreadId": "child", "kind": "started"}})
		for _, call := range [][2]string{{turn.ThreadID, "ping"}, {"child", "ping"}, {"stranger", "ping"}, {turn.ThreadID, "pong"}, {turn.ThreadID, "odd"}} {
			raw, err := turn.Ask(context.Background(), "item/tool/call", map[string]any{"threadId": call[0], "turnId": turn.TurnID, "callId": "c", "tool": call[1], "arguments": map[string]any{}})
			got[call[0]+" "+call[1]] = fmt.Sprint(string(raw), err)
		}
	}}
	c := scripted(t, server, func(o *codex.Options) { o.Experimental = true })
	th, err := c.StartThread(within(t), &codex.ThreadOptions{Tools: []mcptool.Tool{tool, odd}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := th.Run(within(t), "go"); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{"thread-1 ping": `"success":true`, "child ping": `"success":true`, "stranger ping": `unknown tool \"ping\"`, "thread-1 pong": `unknown tool \"pong\"`, "thread-1 odd": `"success":false`} {
		if !strings.Contains(got[call], want) {
			t.Errorf("the call %s got %s, want %s", call, got[call], want)
		}
	}
}
