package claude_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// idleWait waits for an idle session in the background.
type idleWait struct {
	err  error // valid after done is closed
	done chan struct{}
}

func waitIdle(t *testing.T, client *claude.Client) *idleWait {
	w := &idleWait{done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.err = client.WaitIdle(t.Context())
	}()
	return w
}

func (w *idleWait) want(t *testing.T, done bool, when string) {
	t.Helper()
	synctest.Wait()
	idle := false
	select {
	case <-w.done:
		idle = true
	default:
	}
	if idle != done {
		t.Fatalf("idle: %v, %s", idle, when)
	}
}

func TestWaitIdle(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		if err := client.WaitIdle(t.Context()); err != nil {
			t.Fatal("nothing was sent:", err)
		}
		a, b := send(t, client, "a"), send(t, client, "b")
		w := waitIdle(t, client)
		w.want(t, false, "prompts were sent")
		cli.say(state("running"))
		cli.say(turnLines(a.ID, "A")...)
		w.want(t, false, "one is queued")
		cli.say(lifecycle(b.ID, "started"), initLine(b.ID), tasks("x"), good("B", b.ID), lifecycle(b.ID, "completed"), state("idle"))
		w.want(t, false, "a task lives")
		cli.say(tasks())
		w.want(t, false, "the CLI may take the task up")
		cli.say(state("running"), initLine(), assistant("noticed"))
		w.want(t, false, "in a turn of the CLI's own")
		cli.say(ownResult("noticed"))
		w.want(t, false, "behind its result")
		cli.say(state("idle"))
		w.want(t, true, "idle")
		if w.err != nil {
			t.Fatal(w.err)
		}
	})
}

func TestWaitIdleAfterUnreportedTask(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a := send(t, client, "a")
		cli.say(state("running"), initLine(a.ID), tasks("x"), good("A", a.ID), state("idle"), tasks())
		w := waitIdle(t, client)
		within(t, 2*time.Second-time.Millisecond)
		w.want(t, false, "the CLI has not said what it does")
		within(t, time.Millisecond)
		w.want(t, true, "it will not")
	})
}

func TestWaitIdleWithoutStates(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		send(t, client, "a")
		w := waitIdle(t, client)
		cli.say(initLine(), assistant("A"))
		w.want(t, false, "in the turn")
		cli.say(good("A"))
		w.want(t, true, "behind the result")
	})
}

func TestWaitIdleDuringRequest(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.stuck()
		cli.say(questionLine("r1", "elicitation"))
		synctest.Wait()
		w := waitIdle(t, client)
		w.want(t, false, "the answer is not written")
		cli.unstuck()
		w.want(t, true, "answered")
	})
}

func TestWaitIdleAfterCancelledPrompt(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.answers(map[string]string{"cancel_async_message": `{"cancelled":true}`})
		a := send(t, client, "a")
		w := waitIdle(t, client)
		w.want(t, false, "sent")
		if err := a.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		cli.say(lifecycle(a.ID, "cancelled"))
		w.want(t, true, "taken back")
	})
}

func TestWaitIdleEnds(t *testing.T) {
	exit := &claude.ExitError{Code: 3}
	for _, tt := range []struct {
		end  func(cli *memCLI, client *claude.Client, cancel context.CancelCauseFunc)
		want error
	}{
		{func(cli *memCLI, _ *claude.Client, _ context.CancelCauseFunc) { cli.die(exit) }, exit},
		{func(cli *memCLI, _ *claude.Client, _ context.CancelCauseFunc) { cli.die(io.EOF) }, claude.ErrClosed},
		{func(_ *memCLI, client *claude.Client, _ context.CancelCauseFunc) { client.Close() }, claude.ErrClosed},
		{func(_ *memCLI, _ *claude.Client, cancel context.CancelCauseFunc) { cancel(io.ErrNoProgress) }, io.ErrNoProgress},
	} {
		withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			send(t, client, "a")
			got := make(chan error, 1)
			go func() { got <- client.WaitIdle(ctx) }()
			synctest.Wait()
			tt.end(cli, client, cancel)
			if err := <-got; !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if err := client.WaitIdle(ctx); !errors.Is(err, tt.want) {
				t.Errorf("then %v, want %v", err, tt.want)
			}
		})
	}
}

func TestInputOpenDuringQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(state("running"), initLine())
		synctest.Wait()
		cli.stuck()
		cli.say(questionLine("r1", "elicitation"), good("a"), state("idle"))
		within(t, time.Hour) // longer than the limit, which does not apply
		wantInput(t, cli, true, "the answer is not written")
		cli.unstuck()
		wantInput(t, cli, false, "answered")
		if lines := cli.read(); parse(lines[len(lines)-1]).Type != "control_response" {
			t.Fatalf("%q; want parse(lines[len(lines)-1]).Type == \"control_response\"", lines)
		}
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRunEndTimeoutCountsFromTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(state("running"), initLine(), tasks("x"), good("a"), state("idle"))
		within(t, 9*time.Minute)
		cli.stuck()
		cli.say(questionLine("r1", "elicitation"))
		within(t, time.Hour)
		wantInput(t, cli, true, "somebody is being asked")
		cli.unstuck()
		within(t, 10*time.Minute-time.Second)
		wantInput(t, cli, true, "before the ceiling")
		within(t, time.Second)
		wantInput(t, cli, false, "at the ceiling")
		s.ended(t)
	})
}

// unstuck unblocks Write.
func (c *memCLI) unstuck() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.writing)
	c.writing = nil
}

// questionLine returns a request of the CLI that this package answers itself.
func questionLine(id, subtype string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":%q,"mcp_server_name":"ext","message":"name?"}}`, id, subtype)
}
