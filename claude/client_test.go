package claude_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// breakOut ranges over a query and breaks at the first message with a label.
func breakOut(t *testing.T, client *claude.Client, prompt, at string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range client.Query(t.Context(), prompt) {
			if err != nil {
				t.Error(err)
				return
			}
			if label(m) == at {
				return
			}
		}
		t.Errorf("the query ended before %s", at)
	}()
	return done
}

// lastUUID returns the uuid of the prompt that the CLI read last.
func lastUUID(cli *memCLI) (uuid string) {
	for _, line := range cli.read() {
		if l := parse(line); l.Type == "user" {
			uuid = l.UUID
		}
	}
	return uuid
}

func TestBreakInterruptsQueryBeforeNextSend(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.answers(map[string]string{"interrupt": `{"still_queued":[]}`})
		broken := breakOut(t, client, "a", "assistant:one")
		first := lastUUID(cli)
		cli.say(lifecycle(first, "started"), initLine(first), assistant("one"), assistant("two"))
		<-broken
		if kinds := cli.kinds(); strings.Join(kinds, " ") != "initialize user interrupt" {
			t.Fatalf("kinds is %v; want strings.Join(kinds, \" \") == \"initialize user interrupt\"", kinds)
		}
		s := collect(client.Query(t.Context(), "b"))
		within(t, 29*time.Second)
		if kinds := cli.kinds(); len(kinds) != 3 {
			t.Fatal("sent before the drain", kinds)
		}
		cli.say(assistant("three"), bad("interrupted", first), lifecycle(first, "completed"))
		second := lastUUID(cli)
		if second == first {
			t.Fatal("not sent after the drain")
		}
		cli.say(turnLines(second, "B")...)
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
		s.want(t, "lifecycle:started", "system/init", "assistant:B", "result:B")
	})
}

func TestDrainTimeout(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.answers(map[string]string{"interrupt": `{}`})
		broken := breakOut(t, client, "a", "system/init")
		cli.say(initLine(lastUUID(cli)))
		<-broken
		begun := time.Now()
		_, err := client.Send(t.Context(), claude.Text("b"))
		if stalled, ok := errors.AsType[*claude.StalledError](err); !ok || stalled.Phase != "drain" || time.Since(begun) != 30*time.Second {
			t.Fatalf("%v after %v", err, time.Since(begun))
		}
		synctest.Wait()
		send(t, client, "c") // once is enough
	})
}

func TestQueryContextEndInterrupts(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.answers(map[string]string{"interrupt": `{}`})
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := collect(client.Query(ctx, "a"))
		cli.say(initLine(lastUUID(cli)))
		synctest.Wait()
		cancel(enough)
		if err := s.ended(t); err != enough {
			t.Fatal(err)
		}
		if kinds := cli.kinds(); kinds[len(kinds)-1] != "interrupt" {
			t.Fatalf("kinds is %v; want kinds[len(kinds)-1] == \"interrupt\"", kinds)
		}
	})
}

func TestBreakAfterResultSendsNothing(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		for _, at := range []string{"result:A", "assistant:A"} { // the result was read, or is ready to be read
			done := make(chan struct{})
			go func() {
				defer close(done)
				for m := range client.Query(t.Context(), "a") {
					if label(m) == "system/init" {
						synctest.Wait()
					}
					if label(m) == at {
						return
					}
				}
			}()
			cli.say(turnLines(lastUUID(cli), "A")...)
			<-done
		}
		if kinds := cli.kinds(); strings.Join(kinds, " ") != "initialize user user" {
			t.Fatalf("kinds is %v; want strings.Join(kinds, \" \") == \"initialize user user\"", kinds)
		}
	})
}

func TestBreakWithdrawsQueuedPrompt(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.answers(map[string]string{"cancel_async_message": `{"cancelled":true}`})
		running := send(t, client, "a")
		cli.say(lifecycle(running.ID, "started"), initLine(running.ID))
		broken := breakOut(t, client, "b", "lifecycle:queued")
		queued := lastUUID(cli)
		cli.say(lifecycle(queued, "queued"))
		<-broken
		lines := cli.read()
		if last := parse(lines[len(lines)-1]); last.Request.Subtype != "cancel_async_message" || last.Request.MessageUUID != queued {
			t.Fatalf("%q; want last.Request.Subtype == \"cancel_async_message\" and last.Request.MessageUUID == queued", lines)
		}
		send(t, client, "c") // no turn is left to drain
		cli.say(good("A", running.ID))
		if _, err := running.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSeveralMayRangeOverMessages(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a, b := collect(client.Messages(t.Context())), collect(client.Messages(t.Context()))
		turn := send(t, client, "q")
		cli.say(turnLines(turn.ID, "A")...)
		a.want(t, "lifecycle:started", "system/init", "assistant:A", "result:A", "lifecycle:completed")
		b.want(t, "lifecycle:started", "system/init", "assistant:A", "result:A", "lifecycle:completed")
		cli.die(io.EOF)
		if errA, errB := a.ended(t), b.ended(t); errA != nil || errB != nil {
			t.Fatalf("errA is %v, errB is %v; want errA == nil and errB == nil", errA, errB)
		}
		late := collect(client.Messages(t.Context()))
		if err := late.ended(t); err != nil {
			t.Fatal(err)
		}
	})
}

// logs is a slog handler that records messages.
type logs struct {
	slog.Handler
	mu   sync.Mutex
	said []string
}

func newLogs() *logs { return &logs{Handler: slog.DiscardHandler} }

func (l *logs) Enabled(context.Context, slog.Level) bool { return true }

func (l *logs) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, r.Message)
	return nil
}

func (l *logs) count(part string) (n int) {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.said {
		if strings.Contains(s, part) {
			n++
		}
	}
	return n
}

func TestMessagesWithoutTurnAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, log := newCLI(t), newLogs()
		opts := cli.options()
		opts.Logger = slog.New(log)
		client := cli.connect(opts)
		defer client.Close()
		const notice = `{"type":"system","subtype":"notification","text":"x"}`
		cli.say(`{"type":"first"}`)
		cli.say(slices.Repeat([]string{notice}, 999)...)
		if n := log.count("belong to no turn"); n != 0 {
			t.Fatal("warned too soon")
		}
		cli.say(`{"type":"last"}`, notice) // the first two are dropped
		if n := log.count("belong to no turn"); n != 1 {
			t.Fatalf("%d warnings", n)
		}
		s := collect(client.Messages(t.Context()))
		synctest.Wait()
		if s.mu.Lock(); len(s.got) != 1000 || slices.Contains(s.got, "first") || s.got[998] != "last" {
			t.Errorf("%d kept", len(s.got))
		}
		s.mu.Unlock()
	})
}

func TestLostMessagesWarnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, log := newCLI(t), newLogs()
		opts := cli.options()
		opts.Logger = slog.New(log)
		client := cli.connect(opts)
		defer client.Close()
		for range 2 {
			cli.say(slices.Repeat([]string{`{"type":"x"}`}, 1100)...)
			synctest.Wait()
			for range client.Messages(t.Context()) {
				break
			}
		}
		if n := log.count("belong to no turn"); n != 1 {
			t.Fatalf("%d warnings", n)
		}
	})
}

func TestExitEndsTurnsAndCalls(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		all := collect(client.Messages(t.Context()))
		a, b := send(t, client, "a"), send(t, client, "b")
		as := collect(a.Messages(t.Context()))
		q := collect(client.Query(t.Context(), "c"))
		call := make(chan error, 1)
		go func() { call <- client.Control(t.Context(), "mcp_status", nil, nil) }()
		cli.say(initLine(a.ID), assistant("half"))
		as.want(t, "system/init", "assistant:half")
		exit := &claude.ExitError{Code: -1, Signal: "SIGKILL", Stderr: "why"}
		cli.die(exit)
		if err := <-call; err != exit {
			t.Error("the call:", err)
		}
		_, waited := b.Wait(t.Context())
		_, late := client.Send(t.Context(), claude.Text("late"))
		control := client.Control(t.Context(), "mcp_status", nil, nil)
		for i, err := range []error{as.ended(t), q.ended(t), all.ended(t), waited, client.Wait(), late, control} {
			if err != exit {
				t.Errorf("%d: %v; want err == exit", i, err)
			}
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestWriteAfterExitReportsExit(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.mu.Lock()
		cli.eof = true // the pipe is broken, but the exit is not seen yet
		cli.mu.Unlock()
		errs := make(chan error, 2)
		go func() { errs <- client.Control(t.Context(), "mcp_status", nil, nil) }()
		go func() {
			_, err := client.Send(t.Context(), claude.Text("a"))
			errs <- err
		}()
		synctest.Wait()
		exit := &claude.ExitError{Code: 9}
		cli.die(exit)
		for range 2 {
			if err := <-errs; err != exit {
				t.Error(err)
			}
		}
	})
}

func TestWriteFailsWhileCLIRuns(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.mu.Lock()
		cli.eof = true
		cli.mu.Unlock()
		begun := time.Now()
		if _, err := client.Send(t.Context(), claude.Text("a")); !errors.Is(err, syscall.EPIPE) || time.Since(begun) > 5*time.Second {
			t.Errorf("err is %v, time.Since(begun) is %v; want errors.Is(err, syscall.EPIPE) and time.Since(begun) <= 5*time.Second", err, time.Since(begun))
		}
	})
}

func TestControlAfterCloseInputFails(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.onEOF = lives
		client.CloseInput()
		wantInput(t, cli, false, "CloseInput was called")
		begun := time.Now()
		if err := client.Control(t.Context(), "mcp_status", nil, nil); err == nil || time.Since(begun) != 0 {
			t.Fatalf("err is %v, time.Since(begun) is %v; want err != nil and time.Since(begun) == 0", err, time.Since(begun))
		}
	})
}

func TestExitAfterErrorResult(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		cli.say(initLine(turn.ID), bad("no", turn.ID))
		cli.die(&claude.ExitError{Code: 1})
		if r, err := turn.Wait(t.Context()); !errors.As(err, new(*message.ResultError)) || !r.IsError {
			t.Fatalf("r is %v, err is %v; want errors.As(err, new(*message.ResultError)) and r.IsError", r, err)
		}
		if err := client.Wait(); !errors.As(err, new(*message.ResultError)) {
			t.Fatal(err)
		}
	})
}

func TestCloseEndsOpenTurns(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.exit = &claude.ExitError{Code: 143}
		turn := send(t, client, "a")
		s, all := collect(turn.Messages(t.Context())), collect(client.Messages(t.Context()))
		q := collect(client.Query(t.Context(), "b"))
		call := make(chan error, 1)
		go func() { call <- client.Control(t.Context(), "mcp_status", nil, nil) }()
		synctest.Wait()
		var closers sync.WaitGroup
		for range 8 {
			closers.Go(func() {
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		closers.Wait()
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		for i, err := range []error{s.ended(t), q.ended(t), <-call} {
			if !errors.Is(err, claude.ErrClosed) {
				t.Errorf("%d: %v; want errors.Is(err, claude.ErrClosed)", i, err)
			}
		}
		if err := all.ended(t); err != nil {
			t.Error(err)
		}
		if err := client.Wait(); err != nil {
			t.Error(err)
		}
		if _, err := client.Send(t.Context(), claude.Text("late")); !errors.Is(err, claude.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestCloseWhileATurnIsDrained(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.answers(nil) // the interrupt is never answered
		broken := breakOut(t, client, "a", "system/init")
		cli.say(initLine(lastUUID(cli)))
		<-broken
		begun := time.Now()
		client.Close()
		if d := time.Since(begun); d != 2*time.Second { // InterruptGrace
			t.Fatalf("d is %v; want d == 2*time.Second", d)
		}
	})
}

func TestCloseWhileAPromptIsBeingWritten(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.stuck()
		sent := make(chan error, 1)
		go func() {
			_, err := client.Send(t.Context(), claude.Text("a"))
			sent <- err
		}()
		synctest.Wait()
		client.Close()
		if err := <-sent; err == nil {
			t.Fatal("sent")
		}
	})
}

func TestCloseInputLetsTheCLIFinish(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.onEOF = lives
		turn := send(t, client, "a")
		cli.say(initLine(turn.ID))
		for range 2 {
			if err := client.CloseInput(); err != nil {
				t.Fatal(err)
			}
		}
		wantInput(t, cli, false, "CloseInput was called")
		if _, err := client.Send(t.Context(), claude.Text("b")); !errors.Is(err, claude.ErrClosed) {
			t.Fatal(err)
		}
		cli.say(assistant("A"), good("A", turn.ID))
		cli.die(io.EOF)
		if r, err := turn.Wait(t.Context()); err != nil || r.Result != "A" {
			t.Fatalf("r is %v, err is %v; want err == nil and r.Result == \"A\"", r, err)
		}
		if err := client.Wait(); err != nil {
			t.Fatal(err)
		}
	})
}

// A turn fails if the CLI exits with status 0 before its result; after Close the error is
// ErrClosed.
func TestTurnWithoutResultBeforeExitZero(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		next := collect(send(t, client, "b").Range(t.Context()))
		cli.say(initLine(turn.ID), assistant("half"))
		cli.die(io.EOF)
		if r, err := turn.Wait(t.Context()); r != nil || !errors.Is(err, claude.ErrNoResult) {
			t.Errorf("the turn that ran: %v, %v", r, err)
		}
		if err := next.ended(t); !errors.Is(err, claude.ErrNoResult) {
			t.Errorf("the one that was queued: %v", err)
		}
	})
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		cli.say(initLine(turn.ID))
		client.Close()
		if _, err := turn.Wait(t.Context()); !errors.Is(err, claude.ErrClosed) || errors.Is(err, claude.ErrNoResult) {
			t.Error(err)
		}
	})
}

func TestControlIsARawCall(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.answers(map[string]string{"brand_new": `{"n":5}`})
		var out struct{ N int }
		if err := client.Control(t.Context(), "brand_new", struct {
			Deep map[string]int `json:"deep"`
		}{map[string]int{"a": 1}}, &out); err != nil || out.N != 5 {
			t.Fatalf("out is %v, err is %v; want err == nil and out.N == 5", out, err)
		}
		lines := cli.read()
		if last := lines[len(lines)-1]; !strings.HasSuffix(last, `"type":"control_request","request":{"subtype":"brand_new","deep":{"a":1}}}`) {
			t.Fatalf("last is %v; want strings.HasSuffix(last, `\"type\":\"control_request\",\"request\":{\"subtype\":\"brand_new\",\"deep\":{\"a\":1}}}`)", last)
		}
		var raw message.JSON
		if err := client.Control(t.Context(), "brand_new", nil, &raw); err != nil || raw != `{"n":5}` {
			t.Fatalf("raw is %v, err is %v; want err == nil and raw == `{\"n\":5}`", raw, err)
		}
		if err := client.Control(t.Context(), "brand_new", []int{1}, nil); err == nil {
			t.Fatal("fields that are no object")
		}
	})
}

func TestControlAnswerWithoutBody(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.onLine = func(line string) {
			cli.say(`{"type":"control_response","response":{"subtype":"success","request_id":"` + parse(line).RequestID + `"}}`)
		}
		out := map[string]any{"kept": true}
		if err := client.Control(t.Context(), "set_max_thinking_tokens", nil, &out); err != nil || len(out) != 1 {
			t.Fatalf("out is %v, err is %v; want err == nil and len(out) == 1", out, err)
		}
		if r, err := client.Interrupt(t.Context()); err != nil || r == nil || len(r.StillQueued) != 0 {
			t.Fatalf("r is %v, err is %v; want err == nil and r != nil and len(r.StillQueued) == 0", r, err)
		}
	})
}

func TestControlRefused(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		rest := `"error":"Unsupported control request subtype: x","error_code":"unsupported_request"`
		cli.onLine = func(line string) { cli.say(refusal(parse(line).RequestID, rest)) }
		if err := client.Control(t.Context(), "x", nil, nil); !errors.Is(err, claude.ErrUnsupported) {
			t.Fatal(err)
		}
		rest = `"error":"not a mode","error_code":"invalid_mode"`
		err := client.SetPermissionMode(t.Context(), "odd")
		refused, ok := errors.AsType[*claude.ControlError](err)
		if !ok || refused.Subtype != "set_permission_mode" || refused.Code != "invalid_mode" || errors.Is(err, claude.ErrUnsupported) {
			t.Fatal(err)
		}
	})
}

func TestControlTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		opts.ControlTimeout = 2 * time.Second
		client := cli.connect(opts)
		defer client.Close()
		begun := time.Now()
		err := client.Control(t.Context(), "mcp_status", nil, nil)
		if stalled, ok := errors.AsType[*claude.StalledError](err); !ok || stalled.Phase != "control request mcp_status" || time.Since(begun) != 2*time.Second {
			t.Fatalf("err is %v, time.Since(begun) is %v; want ok and stalled.Phase == \"control request mcp_status\" and time.Since(begun) == 2*time.Second", err, time.Since(begun))
		}
		if kinds := cli.kinds(); kinds[len(kinds)-1] != "control_cancel_request" {
			t.Fatalf("kinds is %v; want kinds[len(kinds)-1] == \"control_cancel_request\"", kinds)
		}
	})
}

func TestControlHasNoTimeout(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Hour)
		defer cancel()
		if err := client.Control(ctx, "mcp_status", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestInterruptReceipt(t *testing.T) {
	// Like the recording interrupt-tool.
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.answers(map[string]string{"interrupt": `{"still_queued":["44444444-4444-4444-8444-444444444444"]}`})
		r, err := client.Interrupt(t.Context())
		if err != nil || len(r.StillQueued) != 1 || r.StillQueued[0] != "44444444-4444-4444-8444-444444444444" {
			t.Fatalf("r is %v, err is %v; want err == nil and len(r.StillQueued) == 1 and r.StillQueued[0] == \"44444444-4444-4444-8444-444444444444\"", r, err)
		}
	})
}

const changed = `{"type":"system","subtype":"commands_changed","commands":[{"name":"new","description":"","argumentHint":""}]}`

func TestCommandsFollowChanges(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		if c := client.ServerInfo().Commands; len(c) != 1 || c[0].Name != "old" {
			t.Fatalf("c is %v; want len(c) == 1 and c[0].Name == \"old\"", c)
		}
		before := client.ServerInfo()
		cli.say(changed)
		synctest.Wait()
		if c := client.ServerInfo().Commands; len(c) != 1 || c[0].Name != "new" || before.Commands[0].Name != "old" {
			t.Fatalf("c is %v, before.Commands is %v; want len(c) == 1 and c[0].Name == \"new\" and before.Commands[0].Name == \"old\"", c, before.Commands)
		}
	})
}

func TestCommandsChangeAfterHandshake(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			cli.onLine = func(line string) {
				cli.answerInitialize(line)
				cli.say(changed)
			}
			client := cli.connect(cli.options())
			defer client.Close()
			synctest.Wait()
			if c := client.ServerInfo().Commands; len(c) != 1 || c[0].Name != "new" {
				t.Fatalf("c is %v; want len(c) == 1 and c[0].Name == \"new\"", c)
			}
		})
	}
}

func TestSessionID(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		if id := client.SessionID(); id != "" {
			t.Fatalf("id is %v; want id == \"\"", id)
		}
		cli.say(initLine())
		synctest.Wait()
		if id := client.SessionID(); id != "335709b6-5234-418b-a7fc-c538f4dec9a8" {
			t.Fatalf("id is %v; want id == \"335709b6-5234-418b-a7fc-c538f4dec9a8\"", id)
		}
	})
}

func TestRequestsOfTheCLIAreAnswered(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		for _, subtype := range []string{"brand_new", "elicitation", "request_user_dialog", "remote_tool_call"} {
			cli.say(`{"type":"control_request","request_id":"` + subtype + `","request":{"subtype":"` + subtype + `"}}`)
		}
		lines := cli.read()[1:]
		slices.Sort(lines)
		want := []string{
			`{"type":"control_response","response":{"subtype":"error","request_id":"brand_new","error":"Unsupported control request subtype: brand_new","error_code":"unsupported_request"}}`,
			`{"type":"control_response","response":{"subtype":"success","request_id":"elicitation","response":{"action":"decline"}}}`,
		}
		if !slices.Equal(lines, want) {
			t.Fatalf("%q; want slices.Equal(lines, want)", lines)
		}
	})
}

// stuckHandler is a slog handler that blocks, then panics.
type stuckHandler struct {
	slog.Handler
	release chan struct{}
}

func (stuckHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h stuckHandler) Handle(context.Context, slog.Record) error {
	<-h.release
	panic("boom")
}

func TestSlowLoggerDelaysNoMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		log := stuckHandler{slog.DiscardHandler, make(chan struct{})}
		opts.Logger = slog.New(log)
		client := cli.connect(opts)
		cli.say(slices.Repeat([]string{`{"type":"x"}`}, 1100)...)
		turn := send(t, client, "a")
		cli.say(turnLines(turn.ID, "A")...)
		if r, err := turn.Wait(t.Context()); err != nil || r.Result != "A" {
			t.Fatalf("r is %v, err is %v; want err == nil and r.Result == \"A\"", r, err)
		}
		close(log.release)
		client.Close()
	})
}

func TestSendAfterContextEndsWritesNothing(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(enough)
		if _, err := client.Send(ctx, claude.Text("a")); err != enough {
			t.Fatal(err)
		}
		if err := collect(client.Query(ctx, "a")).ended(t); err != enough {
			t.Fatal(err)
		}
		if kinds := cli.kinds(); len(kinds) != 1 {
			t.Fatalf("kinds is %v; want len(kinds) == 1", kinds)
		}
	})
}

func TestBlockedSendEndsWithContext(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.stuck()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		errs := make(chan error, 2)
		for range 2 { // one is being written, one is queued
			go func() {
				_, err := client.Send(ctx, claude.Text("a"))
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
	})
}
