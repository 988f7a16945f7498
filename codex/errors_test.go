package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
)

// TestRPCError checks that each error of the server matches one sentinel, by its code or its text.
func TestRPCError(t *testing.T) {
	all := []error{codex.ErrUnsupported, codex.ErrExperimental, codex.ErrNoThread, codex.ErrNoTurn, codex.ErrBusy, codex.ErrInvalid, codex.ErrClosed, codex.ErrNotFound}
	for _, c := range []struct {
		code    int64
		message string
		want    error
	}{
		{-32601, "anything", codex.ErrUnsupported}, {-32600, "Invalid request: unknown variant `a/b`, expected", codex.ErrUnsupported}, {-32600, "Invalid request: unknown variant `c/d`, expected", codex.ErrInvalid},
		{-32600, "a/b requires experimentalApi capability", codex.ErrExperimental}, {-32600, "x is not supported yet", codex.ErrUnsupported}, {-32600, "no active turn to interrupt", codex.ErrNoTurn},
		{-32600, "expected active turn id x", codex.ErrNoTurn}, {-32600, "the thread already has an active writer", codex.ErrBusy}, {-32600, "thread not found: x", codex.ErrNoThread}, {-32600, "thread not loaded", codex.ErrNoThread},
		{-32600, "no rollout found for", codex.ErrNoThread}, {-32600, "missing source rollout", codex.ErrNoThread}, {-32603, "failed to read thread: failed to read session metadata /x: empty", codex.ErrNoThread}, {-32600, "invalid thread id: x", codex.ErrNoThread}, {-32600, "invalid session id", codex.ErrNoThread},
		{-32600, "Not initialized", codex.ErrInvalid}, {-32600, "Already initialized", codex.ErrInvalid}, {-32603, "broken", nil},
	} {
		err := &codex.RPCError{Method: "a/b", Code: c.code, Message: c.message}
		for _, is := range all {
			if errors.Is(err, is) != (is == c.want) {
				t.Errorf("%q is %v: %v, want %v", c.message, is, errors.Is(err, is), is == c.want)
			}
		}
		if want := fmt.Sprintf("codex: a/b: %s (%d)", c.message, c.code); err.Error() != want {
			t.Errorf("the text is %q, want %q", err, want)
		}
	}
}

// TestErrors_text checks that the text of an error names the cause, and that errors.As finds the
// cause.
func TestErrors_text(t *testing.T) {
	long := strings.Repeat("é", 3000)
	for _, c := range []struct {
		err  error
		want string
		is   error
	}{
		{&codex.ExitError{Code: 3}, "codex: the server exited with code 3", nil},
		{&codex.ExitError{Code: -1, Signal: "SIGKILL"}, "codex: the server was ended by signal SIGKILL", nil},
		{&codex.ExitError{Code: -1, Signal: "SIGKILL", OutOfMemory: true}, "codex: the server was killed by the OOM killer", nil},
		{&codex.ExitError{Err: fs.ErrClosed, OutOfMemory: true}, "codex: waiting for the server: file already closed", fs.ErrClosed},
		{&codex.ExitError{Code: 3, Stderr: " oh no\n"}, "codex: the server exited with code 3. stderr: oh no", nil},
		{&codex.ExitError{Code: 3, Stderr: long}, "codex: the server exited with code 3. stderr: …" + strings.Repeat("é", 1024), nil},
		{&codex.ExitError{Code: 3, Stderr: strings.Repeat("x", 2<<10)}, "codex: the server exited with code 3. stderr: " + strings.Repeat("x", 2<<10), nil},
		{&codex.SpawnError{Err: fs.ErrNotExist}, "codex: starting the server: file does not exist", fs.ErrNotExist},
		{&codex.HandshakeError{Err: context.DeadlineExceeded}, "codex: connecting: context deadline exceeded", context.DeadlineExceeded},
		{&codex.TurnError{Message: "m"}, "codex: the turn failed: m", nil},
		{&codex.TurnError{Message: "m", Info: item.ErrorInfo{Kind: "k"}}, "codex: the turn failed: m (k)", nil},
	} {
		if c.err.Error() != c.want || c.is != nil && !errors.Is(c.err, c.is) {
			t.Errorf("%T is %q, want %q", c.err, c.err, c.want)
		}
	}
	missing := &codex.NotFoundError{Tried: []string{"a", "b"}}
	if !errors.Is(missing, codex.ErrNotFound) || !errors.Is(missing, exec.ErrNotFound) || errors.Is(missing, codex.ErrClosed) || !strings.Contains(missing.Error(), "(tried a, b)") {
		t.Errorf("no program: %v, want both sentinels and where it was looked for", missing)
	}
}

// TestCallbacks_fail checks that a request without a callback, or with one that fails, panics or
// times out, is declined and always answered.
func TestCallbacks_fail(t *testing.T) {
	broken := errors.New("broken")
	asks := map[string][2]string{
		"command": {"item/commandExecution/requestApproval", `"itemId":"i","command":"ls"`}, "patch": {"item/fileChange/requestApproval", `"itemId":"i"`}, "permissions": {"item/permissions/requestApproval", `"permissions":{"network":true}`},
		"old patch": {"applyPatchApproval", `"conversationId":"c","callId":"k","fileChanges":{}`}, "old command": {"execCommandApproval", `"conversationId":"c","callId":"k","command":["ls"],"cwd":"/d","parsedCmd":[]`},
		"tool": {"mcpServer/elicitation/request", `"serverName":"m","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call"}`}, "form": {"mcpServer/elicitation/request", `"serverName":"m","mode":"form"`},
		"question": {"item/tool/requestUserInput", `"questions":[]`}, "call": {"item/tool/call", `"callId":"k","tool":"none","arguments":{}`}, "other": {"attestation/generate", `"x":1`},
	}
	want := map[string]string{
		"command": `{"decision":"decline"}`, "patch": `{"decision":"decline"}`, "permissions": `{"permissions":{},"scope":"turn"}`, "old patch": `{"decision":"denied"}`, "old command": `{"decision":"denied"}`,
		"tool": `{"action":"decline","content":null}`, "form": `{"action":"decline","content":null}`,
	}
	all := func(f func(ctx context.Context)) func(o *codex.Options) {
		return func(o *codex.Options) {
			o.CallbackTimeout = 20 * time.Millisecond
			o.Approve = func(ctx context.Context, _ *codex.Approval) (codex.Decision, error) {
				f(ctx)
				return codex.Accept, broken
			}
			o.Elicit = func(ctx context.Context, _ *item.ElicitationRequest) (codex.Elicitation, error) {
				f(ctx)
				return codex.Elicitation{Action: "accept"}, broken
			}
			o.Ask = func(ctx context.Context, _ *item.UserInputRequest) (map[string][]string, error) {
				f(ctx)
				return nil, broken
			}
			o.Handle = func(ctx context.Context, _ item.Request) (any, error) { f(ctx); return nil, broken }
		}
	}
	for how, change := range map[string]func(o *codex.Options){
		"none": nil, "fails": all(func(context.Context) {}), "panics": all(func(context.Context) { panic("oh") }), "too long": all(func(ctx context.Context) { <-ctx.Done() }),
	} {
		answers := make(chan [2]string, len(asks))
		server := &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			for name, a := range asks {
				raw, err := turn.Ask(ctx, a[0], json.RawMessage(fmt.Sprintf(`{"threadId":%q,"turnId":%q,%s}`, turn.ThreadID, turn.TurnID, a[1])))
				if err != nil {
					raw = json.RawMessage("error")
				}
				answers <- [2]string{name, string(raw)}
			}
		}}
		th := start(t, scripted(t, server, change))
		if _, err := th.Run(t.Context(), "go"); err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		for range asks {
			a := <-answers
			expected := want[a[0]]
			if expected == "" && a[1] != "error" && !strings.Contains(a[1], `"success":false`) || expected != "" && a[1] != expected {
				t.Errorf("%s: the server that asks for a %s is told %s, want %s", how, a[0], a[1], expected)
			}
		}
	}
}
