package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// TestApproval_fields checks that the callback gets every value of a request and of the item that waits for it.
func TestApproval_fields(t *testing.T) {
	const ids = `"threadId":%q,"turnId":%q,`
	for name, tt := range map[string]struct{ started, method, params, want string }{
		"a command":            {"", "item/commandExecution/requestApproval", ids + `"itemId":"i","command":"ls","cwd":"/d","reason":"r","availableDecisions":["accept"],"proposedExecpolicyAmendment":["ls"]`, `command i ls /d r ["accept"] [ls]`},
		"a command of an item": {`{"type":"commandExecution","id":"i","command":"ls -l","cwd":"/e"}`, "item/commandExecution/requestApproval", ids + `"itemId":"i"`, `command i ls -l /e  [] []`},
		"a patch of an item":   {`{"type":"fileChange","id":"i","changes":[{"path":"/f","kind":{"type":"add"},"diff":"x"}]}`, "item/fileChange/requestApproval", ids + `"itemId":"i","reason":"r"`, `fileChange i   r [] [] /f`},
		"permissions":          {"", "item/permissions/requestApproval", ids + `"itemId":"i","cwd":"/d","reason":"r","permissions":{"network":true}`, `permissions i  /d r [] [] {"network":true}`},
		"a tool of a server":   {"", "mcpServer/elicitation/request", ids + `"serverName":"m","message":"may it","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","tool_params":{"a":1}}`, `mcpTool     [] [] m may it {"a":1}`},
		"an older command":     {"", "execCommandApproval", `"conversationId":%q,"x":%q,"callId":"i","command":["ls","a b"],"cwd":"/d","reason":"r","parsedCmd":[]`, `command  ["ls","a b"] /d r [] []`},
		"an older patch":       {"", "applyPatchApproval", `"conversationId":%q,"x":%q,"callId":"i","fileChanges":{},"reason":"r"`, `fileChange    r [] []`},
	} {
		got := make(chan string, 1)
		server := &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
			if tt.started != "" {
				turn.About("item/started", map[string]any{"item": json.RawMessage(tt.started)})
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_, _ = turn.Ask(ctx, tt.method, json.RawMessage("{"+fmt.Sprintf(tt.params, turn.ThreadID, turn.TurnID)+"}")) // the callback reports the request
		}}
		th := start(t, scripted(t, server, func(o *codex.Options) {
			o.Approve = func(_ context.Context, a *codex.Approval) (codex.Decision, error) {
				s := fmt.Sprint(a.Kind, " ", a.ItemID, " ", a.Command, " ", a.CWD, " ", a.Reason, " ", a.Available, " ", a.Amendment)
				for _, more := range []string{a.Server, a.Message, string(a.Arguments), string(a.Permissions)} {
					if more != "" {
						s += " " + more
					}
				}
				for _, c := range a.Changes {
					s += " " + c.Path
				}
				got <- s
				return codex.Accept, nil
			}
		}))
		if _, err := th.Run(within(t), "go"); err != nil {
			t.Fatal(err)
		}
		select {
		case s := <-got:
			if s != tt.want {
				t.Errorf("%s is %q, want %q", name, s, tt.want)
			}
		default:
			t.Errorf("%s was not passed to the callback", name)
		}
	}
}

// TestAsk_goexit checks that a callback that ends its goroutine has not answered, and that the time is in seconds.
func TestAsk_goexit(t *testing.T) {
	told := make(chan string, 2)
	server := &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		for _, method := range []string{"item/tool/requestUserInput", "currentTime/read"} {
			raw, err := turn.Ask(ctx, method, map[string]any{"threadId": turn.ThreadID, "turnId": turn.TurnID, "questions": []any{}})
			if err != nil {
				raw = json.RawMessage("error")
			}
			told <- string(raw)
		}
	}}
	th := start(t, scripted(t, server, func(o *codex.Options) {
		o.Ask = func(context.Context, *item.UserInputRequest) (map[string][]string, error) {
			runtime.Goexit()
			return nil, nil
		}
	}))
	before := time.Now().Unix()
	if _, err := th.Run(within(t), "go"); err != nil {
		t.Fatal(err)
	}
	if got := <-told; got != "error" {
		t.Errorf("the server gets %s, want an error", got)
	}
	var now struct{ CurrentTimeAt int64 }
	if got := <-told; json.Unmarshal([]byte(got), &now) != nil || now.CurrentTimeAt < before || now.CurrentTimeAt > time.Now().Unix() {
		t.Errorf("the time is %s, want seconds from %d on", got, before)
	}
}

// refusing returns a server that refuses the first call of a method after release is closed, and accepts the others. It closes
// called at the first call.
func refusing(method string, called, release chan struct{}) *codextest.Server {
	first := true
	return &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		if c.Method != method || !first {
			return nil, nil, false
		}
		first = false
		close(called)
		<-release
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "not now"}, true
	}}
}

// TestThread_refused checks that prompts that wait for a call are sent after the server has refused it, in order, and one by one.
func TestThread_refused(t *testing.T) {
	for _, method := range []string{"turn/start", "thread/compact/start"} {
		t.Run(method, func(t *testing.T) {
			called, release := make(chan struct{}), make(chan struct{})
			server := refusing(method, called, release)
			th := start(t, scripted(t, server, nil))
			failed := make(chan error, 1)
			go func() {
				var err error
				if method == "turn/start" {
					_, err = th.Send(within(t), codex.Text("refused"))
				} else {
					_, err = th.Compact(within(t))
				}
				failed <- err
			}()
			<-called
			if _, err := th.Compact(within(t)); !errors.Is(err, codex.ErrBusy) {
				t.Errorf("a compaction during the call returns %v, want %v", err, codex.ErrBusy)
			}
			if _, err := th.Review(within(t), codex.ReviewTarget{Type: "uncommittedChanges"}); !errors.Is(err, codex.ErrBusy) {
				t.Errorf("a review during the call returns %v, want %v", err, codex.ErrBusy)
			}
			var turns []*codex.Turn
			for _, text := range []string{"one", "two"} {
				turn, err := th.Send(within(t), codex.Text(text))
				if err != nil {
					t.Fatal(err)
				}
				turns = append(turns, turn)
			}
			close(release)
			if err := <-failed; err == nil {
				t.Error("the refused call returns no error")
			}
			for i, turn := range turns {
				if _, err := turn.Wait(within(t)); err != nil {
					t.Errorf("prompt %d ends with %v, want no error", i, err)
				}
			}
			var sent []string
			for _, c := range callsOf(server, "turn/start") {
				for _, text := range []string{"refused", "one", "two"} {
					if strings.Contains(c, `"`+text+`"`) {
						sent = append(sent, text)
					}
				}
			}
			if want := []string{"one", "two"}; !slices.Equal(sent[len(sent)-2:], want) {
				t.Errorf("the prompts are sent as %q, want %q at the end", sent, want)
			}
		})
	}
}

// TestThread_Query_failed checks that the last element of a failed turn is its error.
func TestThread_Query_failed(t *testing.T) {
	th := start(t, scripted(t, &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		turn.End(item.StatusFailed, map[string]any{"message": "no"})
	}}, nil))
	var last error
	for _, err := range th.Query(within(t), "go") {
		last = err
	}
	if e, ok := errors.AsType[*codex.TurnError](last); !ok || e.Message != "no" {
		t.Errorf("the query ends with %v, want the error of the turn", last)
	}
}

// TestModels_cursor checks that a list ends at a cursor that does not advance.
func TestModels_cursor(t *testing.T) {
	calls := 0
	c := scripted(t, &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		if c.Method != "model/list" {
			return nil, nil, false
		}
		calls++
		next := "same"
		if calls > 5 {
			next = ""
		}
		return map[string]any{"data": []any{map[string]any{"id": fmt.Sprint(calls)}}, "nextCursor": next}, nil, true
	}}, nil)
	if list, err := c.Models(within(t), false); err != nil || len(list) != 2 {
		t.Errorf("%d models, %v; want 2", len(list), err)
	}
}

// TestConnect_capabilities checks what the handshake asks for, with and without the experimental API.
func TestConnect_capabilities(t *testing.T) {
	for want, change := range map[string]func(o *codex.Options){
		`null`:                                nil,
		`{"experimentalApi":true}`:            func(o *codex.Options) { o.Experimental = true },
		`{"optOutNotificationMethods":["x"]}`: func(o *codex.Options) { o.OptOut = []string{"x"} },
	} {
		server := &codextest.Server{}
		scripted(t, server, change)
		var p struct {
			Capabilities json.RawMessage `json:"capabilities"`
		}
		call := callsOf(server, "initialize")[0]
		if err := json.Unmarshal([]byte(call), &p); err != nil {
			t.Fatal(err)
		}
		if got := string(p.Capabilities); got != want && (want != "null" || got != "") {
			t.Errorf("the capabilities are %s, want %s", got, want)
		}
	}
}

// TestExitError_tail checks that the error of a server has the end of a long output, not its beginning.
func TestExitError_tail(t *testing.T) {
	e := &codex.ExitError{Code: 1, Stderr: "begin " + strings.Repeat("é", 3000) + " end"}
	if s := e.Error(); !strings.HasSuffix(s, " end") || strings.Contains(s, "begin") || len(s) > 2200 {
		t.Errorf("the error is %.80q with %d bytes, want the last 2 KiB", s, len(s))
	}
}

// TestThread_Compact_dies checks that a compaction that the server has accepted and not begun ends with the server.
func TestThread_Compact_dies(t *testing.T) {
	server := &codextest.Server{Handle: func(s *codextest.Session, c *item.Call) (any, error, bool) {
		if c.Method != "thread/compact/start" {
			return nil, nil, false
		}
		return &jsonrpc.Then{Result: map[string]any{}, Do: func() { s.Exit(3) }}, nil, true
	}}
	th := start(t, scripted(t, server, nil))
	if turn, err := th.Compact(within(t)); !isExit(err, 3) || turn != nil {
		t.Errorf("the compaction returns %v, %v; want the exit of the server", turn, err)
	}
}

// TestClient_observed checks that the observer gets the lines of both sides, in order.
func TestClient_observed(t *testing.T) {
	var seen []string
	c := scripted(t, &codextest.Server{}, func(o *codex.Options) {
		o.Observe = func(l item.Line, client bool) {
			if call, ok := l.(*item.Call); ok {
				seen = append(seen, fmt.Sprint(call.Method, " ", client))
			} else {
				seen = append(seen, fmt.Sprintf("%T %v", l, client))
			}
		}
	})
	start(t, c)
	if want := []string{"initialize true", "*item.Response false", "initialized true", "thread/start true", "*item.Response false"}; !slices.Equal(seen[:min(len(seen), len(want))], want) {
		t.Errorf("the observer gets %q, want %q first", seen, want)
	}
}
