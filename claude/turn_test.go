package claude_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

func TestSendSetsUUID(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		first := send(t, client, "one")
		own, err := client.Send(t.Context(), message.UserInput{Content: claude.Text("two").Content, UUID: "11111111-1111-4111-8111-111111111111"})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := client.Send(t.Context(), message.UserInput{Raw: []byte(`{"type":"user","message":{"role":"user","content":"raw"}}`)})
		if err != nil {
			t.Fatal(err)
		}
		lines := cli.read()
		for i, turn := range []*claude.Turn{first, own, raw} {
			if got := parse(lines[i+1]).UUID; got != turn.ID || len(got) != 36 {
				t.Errorf("%s has the uuid %q, the turn %q", lines[i+1], got, turn.ID)
			}
		}
		if own.ID != "11111111-1111-4111-8111-111111111111" || first.ID == raw.ID {
			t.Errorf("first.ID is %v, own.ID is %v, raw.ID is %v; want own.ID == \"11111111-1111-4111-8111-111111111111\" and first.ID != raw.ID", first.ID, own.ID, raw.ID)
		}
	})
}

func TestQueuedTurnsGetTheirOwnMessages(t *testing.T) {
	// Like the recording streaming-queued.
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		all := collect(client.Messages(t.Context()))
		var turns []*claude.Turn
		var streams []*stream
		for _, q := range []string{"q1", "q2", "q3"} {
			turns = append(turns, send(t, client, q))
			streams = append(streams, collect(turns[len(turns)-1].Messages(t.Context())))
		}
		if kinds := cli.kinds(); strings.Join(kinds, " ") != "initialize user user user" {
			t.Fatalf("kinds is %v; want strings.Join(kinds, \" \") == \"initialize user user user\"", kinds) // sent at once, though the CLI is busy
		}
		cli.say(state("running"))
		for _, turn := range turns {
			cli.say(lifecycle(turn.ID, "queued"))
		}
		for i, turn := range turns {
			streams[i].running(t)
			cli.say(turnLines(turn.ID, "A"+string(rune('1'+i)))...)
			if err := streams[i].ended(t); err != nil {
				t.Fatal(err)
			}
		}
		cli.say(state("idle"))
		for i, s := range streams {
			n := string(rune('1' + i))
			s.want(t, "lifecycle:queued", "lifecycle:started", "system/init", "assistant:A"+n, "result:A"+n)
		}
		all.want(t, "lifecycle:queued", "lifecycle:queued", "lifecycle:queued",
			"lifecycle:started", "system/init", "assistant:A1", "result:A1", "lifecycle:completed",
			"lifecycle:started", "system/init", "assistant:A2", "result:A2", "lifecycle:completed",
			"lifecycle:started", "system/init", "assistant:A3", "result:A3", "lifecycle:completed")
		all.running(t)
	})
}

func TestMergedTurnsShareMessagesAndResult(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a, b := send(t, client, "a"), send(t, client, "b")
		as, bs := collect(a.Messages(t.Context())), collect(b.Messages(t.Context()))
		cli.say(initLine(a.ID, b.ID), assistant("both"), good("both", a.ID, b.ID))
		for _, s := range []*stream{as, bs} {
			if err := s.ended(t); err != nil {
				t.Fatal(err)
			}
			s.want(t, "system/init", "assistant:both", "result:both")
		}
		ra, _ := a.Wait(t.Context())
		rb, _ := b.Wait(t.Context())
		if ra != rb {
			t.Error("two results")
		}
		if a.MergedInto() != "" || b.MergedInto() != a.ID {
			t.Errorf("the turns are merged into %q and %q, want none and %q", a.MergedInto(), b.MergedInto(), a.ID)
		}
	})
}

func TestPromptJoinsRunningTurn(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a := send(t, client, "a")
		as := collect(a.Messages(t.Context()))
		cli.say(lifecycle(a.ID, "started"), initLine(a.ID), assistant("one"))
		as.want(t, "lifecycle:started", "system/init", "assistant:one")
		b := send(t, client, "b")
		bs := collect(b.Messages(t.Context()))
		cli.say(lifecycle(b.ID, "started"), assistant("two"), good("two", a.ID, b.ID))
		as.want(t, "lifecycle:started", "system/init", "assistant:one", "assistant:two", "result:two")
		bs.want(t, "lifecycle:started", "assistant:two", "result:two")
		as.ended(t)
		bs.ended(t)
		if a.MergedInto() != "" || b.MergedInto() != a.ID {
			t.Errorf("the turns are merged into %q and %q, want none and %q", a.MergedInto(), b.MergedInto(), a.ID)
		}
	})
}

func TestInterruptedTurn(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		for _, reason := range []string{"aborted_streaming", "aborted_tools"} {
			turn := send(t, client, "a")
			cli.say(resultLine("", `,"is_error":true,"subtype":"error_during_execution","terminal_reason":"`+reason+`","errors":["[ede_diagnostic] x"]`, turn.ID))
			r, err := turn.Wait(t.Context())
			if r == nil || !errors.Is(err, claude.ErrInterrupted) || !errors.As(err, new(*claude.ResultError)) || strings.Contains(err.Error(), "ede") {
				t.Errorf("%s: the turn ended with %v and the result %v", reason, err, r)
			}
		}
	})
}

func TestAnswersWithoutPromptIDsInOrder(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a, b, c := send(t, client, "a"), send(t, client, "b"), send(t, client, "c")
		as, bs, cs := collect(a.Messages(t.Context())), collect(b.Messages(t.Context())), collect(c.Messages(t.Context()))
		cli.say(initLine(), assistant("A"), good("A"))
		as.want(t, "system/init", "assistant:A", "result:A")
		bs.want(t)
		cli.say(assistant("B"), good("B")) // older CLIs send no init
		cli.say(good("C"))                 // nor anything else
		bs.want(t, "assistant:B", "result:B")
		cs.want(t, "result:C")
		for _, s := range []*stream{as, bs, cs} {
			if err := s.ended(t); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestSelfStartedTurnWithoutPromptIDs(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		cli.say(initLine(), assistant("noticed"), ownResult("noticed"))
		cli.say(initLine(), assistant("A"), good("A"))
		if r, err := turn.Wait(t.Context()); err != nil || r.Result != "A" {
			t.Fatalf("r is %v, err is %v; want err == nil and r.Result == \"A\"", r, err)
		}
	})
}

func TestStrictLinesWithoutPromptIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		opts.StrictLines = true
		client := cli.connect(opts)
		defer client.Close()
		s := collect(client.Query(t.Context(), "a"))
		cli.read()
		cli.say(assistant("A"), good("A"))
		s.want(t, "assistant:A", "result:A")
		s.ended(t)
	})
}

func TestSelfStartedTurnReachesMessages(t *testing.T) {
	// Like the recording background-tasks-control.
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		all := collect(client.Messages(t.Context()))
		a := send(t, client, "a")
		as := collect(a.Messages(t.Context()))
		cli.say(turnLines(a.ID, "A")...)
		as.ended(t)
		b := send(t, client, "b") // while the CLI begins a turn by itself
		bs := collect(b.Messages(t.Context()))
		cli.say(initLine(), assistant("noticed"), ownResult("noticed"))
		bs.want(t)
		cli.say(turnLines(b.ID, "B")...)
		as.want(t, "lifecycle:started", "system/init", "assistant:A", "result:A")
		bs.want(t, "lifecycle:started", "system/init", "assistant:B", "result:B")
		bs.ended(t)
		all.want(t, "lifecycle:started", "system/init", "assistant:A", "result:A", "lifecycle:completed",
			"system/init", "assistant:noticed", "result:noticed",
			"lifecycle:started", "system/init", "assistant:B", "result:B", "lifecycle:completed")
	})
}

func TestFailedTurnReturnsErrorAndResult(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		s := collect(turn.Messages(t.Context()))
		cli.say(initLine(turn.ID), bad("overloaded", turn.ID))
		failed, ok := errors.AsType[*claude.ResultError](s.ended(t))
		if !ok || failed.Result.Result != "overloaded" {
			t.Fatalf("%v; want ok and failed.Result.Result == \"overloaded\"", failed)
		}
		s.want(t, "system/init", "result:overloaded")
		r, err := turn.Wait(t.Context())
		if !errors.As(err, new(*claude.ResultError)) || r == nil || r.Result != "overloaded" {
			t.Fatalf("%v %v; want errors.As(err, new(*claude.ResultError)) and r != nil and r.Result == \"overloaded\"", r, err)
		}
	})
}

func TestFailedTurnsThenGoodTurn(t *testing.T) {
	limit := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794708456}}`
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a := collect(client.Query(t.Context(), "a"))
		cli.read()
		cli.say(limit, resultLine("slow down", `,"is_error":true,"api_error_status":429`, lastUUID(cli)))
		rl, ok := errors.AsType[*claude.RateLimitError](a.ended(t))
		if !ok || !resetsAt(rl, 1794708456) || !errors.As(error(rl), new(*claude.ResultError)) {
			t.Fatalf("%v; want ok and resetsAt(rl, 1794708456) and errors.As(error(rl), new(*claude.ResultError))", rl)
		}
		if last := a.got[len(a.got)-1]; last != "result:slow down" {
			t.Errorf("a.got is %v; want last == \"result:slow down\"", a.got)
		}
		b := collect(client.Query(t.Context(), "b"))
		cli.read()
		cli.say(bad("no money", lastUUID(cli)))
		if err := b.ended(t); !errors.As(err, new(*claude.ResultError)) || errors.As(err, new(*claude.RateLimitError)) {
			t.Fatal(err)
		}
		c := send(t, client, "c")
		cli.say(turnLines(c.ID, "fine")...)
		if r, err := c.Wait(t.Context()); err != nil || r.Result != "fine" {
			t.Fatalf("r is %v, err is %v; want err == nil and r.Result == \"fine\"", r, err)
		}
	})
}

func TestTurnMessagesAreRangedOverOnce(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		cli.say(turnLines(turn.ID, "A")...)
		first := collect(turn.Messages(t.Context()))
		first.ended(t)
		if err := collect(turn.Messages(t.Context())).ended(t); !errors.Is(err, claude.ErrUsed) {
			t.Fatal(err)
		}
		seq := client.Messages(t.Context())
		go func() { client.Close() }()
		collect(seq).ended(t)
		if err := collect(seq).ended(t); !errors.Is(err, claude.ErrUsed) {
			t.Fatal(err)
		}
	})
}

func TestTurn_Discard(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		read := send(t, client, "a")
		first := collect(read.Messages(t.Context()))
		cli.say(turnLines(read.ID, "A")...)
		first.ended(t)
		read.Discard() // in use: no effect
		if len(first.got) < 2 {
			t.Errorf("of the turn that is read: %v", first.got)
		}
		turn := send(t, client, "b")
		turn.Discard()
		cli.say(turnLines(turn.ID, "B")...)
		if r, err := turn.Wait(t.Context()); err != nil || r.Result != "B" {
			t.Fatalf("%v %v; want err == nil and r.Result == \"B\"", r, err)
		}
		if again := collect(turn.Messages(t.Context())); !errors.Is(again.ended(t), claude.ErrUsed) || len(again.got) > 0 {
			t.Errorf("after Discard: %v", again.got)
		}
	})
}

func TestTurnMessagesReadLate(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		cli.say(turnLines(turn.ID, "A")...)
		if r, err := turn.Wait(t.Context()); err != nil || r.Result != "A" {
			t.Fatalf("%v %v; want err == nil and r.Result == \"A\"", r, err)
		}
		s := collect(turn.Messages(t.Context()))
		s.want(t, "lifecycle:started", "system/init", "assistant:A", "result:A")
		s.ended(t)
	})
}

func TestContextEndsRange(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		turn := send(t, client, "a")
		cli.say(initLine(turn.ID))
		s, all := collect(turn.Messages(ctx)), collect(client.Messages(ctx))
		s.want(t, "system/init")
		cancel(enough)
		if err := s.ended(t); err != enough {
			t.Fatal(err)
		}
		if err := all.ended(t); err != enough {
			t.Fatal(err)
		}
		if _, err := turn.Wait(ctx); err != enough {
			t.Fatal(err)
		}
		if kinds := cli.kinds(); slices.Contains(kinds, "interrupt") {
			t.Fatalf("kinds is %v; want not slices.Contains(kinds, \"interrupt\")", kinds) // ending a range over a turn has no effect on it
		}
	})
}

func TestContextEndBeforeBufferedMessages(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		cli.say(initLine(turn.ID), assistant("1"), assistant("2"), assistant("3"))
		synctest.Wait()
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		n := 0
		for _, err := range turn.Messages(ctx) {
			if n++; n == 2 {
				cancel(enough)
			}
			if n == 3 && err != enough || n > 3 {
				t.Fatalf("element %d: %v", n, err)
			}
		}
		if n != 3 {
			t.Fatalf("n is %v; want n == 3", n)
		}
	})
}

func TestBreakOfTurnMessagesKeepsTurn(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		all := client.Messages(t.Context())
		turn := send(t, client, "a")
		cli.say(initLine(turn.ID), assistant("A"))
		for range turn.Messages(t.Context()) {
			break
		}
		for range all {
			break
		}
		cli.say(good("A", turn.ID))
		if r, err := turn.Wait(t.Context()); err != nil || r.Result != "A" {
			t.Fatalf("%v %v; want err == nil and r.Result == \"A\"", r, err)
		}
		if kinds := cli.kinds(); strings.Join(kinds, " ") != "initialize user" {
			t.Fatalf("kinds is %v; want strings.Join(kinds, \" \") == \"initialize user\"", kinds)
		}
	})
}

// cancelTurn cancels a turn, before or after its start, and returns its outcome.
func cancelTurn(t *testing.T, begun bool, bodies map[string]string) (kinds []string, wait, cancel error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.answers(bodies)
		client := cli.connect(cli.options())
		defer client.Close()
		turn := send(t, client, "a")
		cli.say(lifecycle(turn.ID, "queued"))
		if begun {
			cli.say(lifecycle(turn.ID, "started"), initLine(turn.ID))
		}
		synctest.Wait()
		cancel = turn.Cancel(t.Context())
		if slices.Contains(cli.kinds(), "interrupt") {
			cli.say(bad("[Request interrupted by user]", turn.ID))
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_, wait = turn.Wait(ctx)
		kinds = cli.kinds()[2:]
		if err := turn.Cancel(t.Context()); err != nil {
			t.Error(err)
		}
		if n := len(cli.kinds()); n != len(kinds)+2 {
			t.Error("cancelling a turn that has ended wrote something")
		}
	})
	return kinds, wait, cancel
}

func TestCancelWithdrawsQueuedPrompt(t *testing.T) {
	kinds, wait, err := cancelTurn(t, false, map[string]string{"cancel_async_message": `{"cancelled":true}`})
	if err != nil || !errors.Is(wait, claude.ErrCancelled) || strings.Join(kinds, " ") != "cancel_async_message" {
		t.Fatalf("kinds is %v, wait is %v, err is %v; want err == nil and errors.Is(wait, claude.ErrCancelled) and strings.Join(kinds, \" \") == \"cancel_async_message\"", kinds, wait, err)
	}
}

func TestCancelInterruptsRunningTurn(t *testing.T) {
	kinds, wait, err := cancelTurn(t, true, map[string]string{"interrupt": `{"still_queued":[]}`})
	if err != nil || !errors.As(wait, new(*claude.ResultError)) || strings.Join(kinds, " ") != "interrupt" {
		t.Fatalf("kinds is %v, wait is %v, err is %v; want err == nil and errors.As(wait, new(*claude.ResultError)) and strings.Join(kinds, \" \") == \"interrupt\"", kinds, wait, err)
	}
}

func TestCancelInterruptsPromptJustBegun(t *testing.T) {
	kinds, wait, err := cancelTurn(t, false, map[string]string{"cancel_async_message": `{"cancelled":false}`, "interrupt": `{}`})
	if err != nil || !errors.As(wait, new(*claude.ResultError)) || strings.Join(kinds, " ") != "cancel_async_message interrupt" {
		t.Fatalf("kinds is %v, wait is %v, err is %v; want err == nil and errors.As(wait, new(*claude.ResultError)) and strings.Join(kinds, \" \") == \"cancel_async_message interrupt\"", kinds, wait, err)
	}
}

func TestCancelOfAQueuedPromptDoesNotInterruptAnother(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.onLine = func(line string) {
			if l := parse(line); l.Request.Subtype == "cancel_async_message" {
				cli.say(refusal(l.RequestID, `"error":"Unsupported control request subtype: cancel_async_message","error_code":"unsupported_request"`))
			}
		}
		a, b := send(t, client, "a"), send(t, client, "b")
		cli.say(lifecycle(a.ID, "started"), initLine(a.ID))
		synctest.Wait()
		if err := b.Cancel(t.Context()); !errors.Is(err, claude.ErrUnsupported) {
			t.Fatal(err)
		}
		if kinds := cli.kinds(); slices.Contains(kinds, "interrupt") {
			t.Fatalf("kinds is %v; want not slices.Contains(kinds, \"interrupt\")", kinds)
		}
	})
}

func TestPromptCancelledByCLI(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		turn := send(t, client, "a")
		s := collect(turn.Messages(t.Context()))
		cli.say(lifecycle(turn.ID, "queued"), lifecycle(turn.ID, "cancelled"))
		if err := s.ended(t); !errors.Is(err, claude.ErrCancelled) {
			t.Fatal(err)
		}
		s.want(t, "lifecycle:queued", "lifecycle:cancelled")
	})
}
