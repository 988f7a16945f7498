package claude_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// query starts a query with a CLI that does not exit at the end of its input.
func query(t *testing.T, opts func(*claude.Options)) (*memCLI, *stream) {
	cli := newCLI(t)
	o := cli.options()
	if opts != nil {
		opts(o)
	}
	s := collect(claude.Query(t.Context(), "go", o))
	cli.read()
	return cli, s
}

// wantInput checks whether the CLI's input is open.
func wantInput(t *testing.T, cli *memCLI, open bool, when string) {
	t.Helper()
	if cli.inputClosed() == open {
		t.Fatalf("the input is open: %v, %s", !open, when)
	}
}

func TestPromptInputClosesAfterResultAndIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		wantInput(t, cli, true, "before anything")
		cli.say(state("running"), initLine(), assistant("a"))
		wantInput(t, cli, true, "in the turn")
		cli.say(good("a"))
		wantInput(t, cli, true, "behind the result but not idle")
		cli.say(state("idle"))
		wantInput(t, cli, false, "idle")
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
	})
}

func TestPromptInputOpenWhenIdleComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(state("idle"), state("running"), initLine())
		wantInput(t, cli, true, "in the turn")
		cli.say(good("a"))
		wantInput(t, cli, true, "not idle again")
		cli.say(state("idle"))
		s.ended(t)
	})
}

func TestPromptInputOpenDuringTask(t *testing.T) {
	// Like the recording background-tasks-control.
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(state("running"), initLine(), tasks("b01x6kg13"), assistant("moved on"), good("moved on"), state("idle"))
		wantInput(t, cli, true, "under a task")
		cli.say(state("running"), tasks(), initLine(), assistant("noticed"))
		wantInput(t, cli, true, "in a turn of the CLI's own")
		cli.say(ownResult("noticed"), state("idle"))
		wantInput(t, cli, false, "idle")
		s.ended(t)
	})
}

func TestPromptInputClosesAtResultWithoutStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(initLine(), assistant("a"))
		wantInput(t, cli, true, "in the turn")
		cli.say(good("a"))
		wantInput(t, cli, false, "behind the result")
		s.ended(t)
	})
}

func TestPromptInputOpenForQueuedTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(initLine(), resultLine("a", `,"is_error":false,"queued_turn_count":1`))
		wantInput(t, cli, true, "a turn is queued")
		cli.say(initLine(), good("b"))
		wantInput(t, cli, false, "nothing is queued")
		s.ended(t)
	})
}

// within advances the test's clock by d.
func within(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

func TestRunEndTimeoutClosesTheInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(state("running"), initLine(), tasks("forever"), assistant("a"))
		within(t, time.Hour)
		wantInput(t, cli, true, "no result yet")
		cli.say(good("a"), state("idle"))
		within(t, 10*time.Minute-time.Second)
		wantInput(t, cli, true, "before the ceiling")
		within(t, time.Second)
		wantInput(t, cli, false, "at the ceiling")
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRunEndTimeoutIsAnOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, func(o *claude.Options) { o.RunEndTimeout = time.Second })
		cli.say(state("running"), initLine(), good("a"))
		within(t, time.Second)
		wantInput(t, cli, false, "at the ceiling")
		s.ended(t)
	})
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, func(o *claude.Options) { o.RunEndTimeout = -1 })
		cli.say(state("running"), initLine(), good("a"))
		within(t, 1000*time.Hour)
		wantInput(t, cli, true, "without a ceiling")
		cli.say(state("idle"))
		s.ended(t)
	})
}

func TestRunEndTimeoutPausesDuringTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(state("running"), tasks("a"), initLine(), good("a"))
		within(t, 9*time.Minute)
		cli.say(tasks(), initLine())
		within(t, time.Hour)
		wantInput(t, cli, true, "in a turn of the CLI's own")
		cli.say(state("requires_action"), state("running"))
		within(t, time.Hour)
		wantInput(t, cli, true, "in a turn of the CLI's own, after a question")
		cli.say(ownResult("b"))
		within(t, 10*time.Minute)
		wantInput(t, cli, false, "at the ceiling")
		s.ended(t)
	})
}

func TestRunEndTimeoutPausesDuringQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, nil)
		cli.say(state("running"), tasks("a"), initLine(), good("a"), state("requires_action"))
		within(t, time.Hour)
		wantInput(t, cli, true, "somebody is being asked")
		cli.say(state("running"))
		within(t, 10*time.Minute)
		wantInput(t, cli, false, "at the ceiling")
		s.ended(t)
	})
}

func TestExitTimeoutStopsTheCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onEOF = lives
		opts := cli.options()
		opts.ExitTimeout = time.Second
		s := collect(claude.Query(t.Context(), "go", opts))
		cli.read()
		cli.say(good("a"))
		s.running(t)
		within(t, time.Second)
		stalled, ok := errors.AsType[*claude.StalledError](s.ended(t))
		if !ok || stalled.Phase != "exit" {
			t.Fatalf("%v; want ok and stalled.Phase == \"exit\"", stalled)
		}
	})
}

// produce starts a QueryStream.
func produce(t *testing.T, cli *memCLI, f func(ctx context.Context, send func(message.UserInput) error) error) *stream {
	s := collect(claude.QueryStream(t.Context(), f, cli.options()))
	cli.read()
	return s
}

func TestStreamInputClosesWhenProduceReturns(t *testing.T) {
	// Like the recording streaming-end-early.
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onEOF = lives
		more := make(chan struct{})
		s := produce(t, cli, func(_ context.Context, send func(message.UserInput) error) error {
			err := send(claude.Text("q1"))
			<-more
			return err
		})
		const line = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"q1"}]},"parent_tool_use_id":null}`
		if lines := cli.read(); len(lines) != 2 || lines[1] != line {
			t.Fatalf("%q; want len(lines) == 2 and lines[1] == line", lines)
		}
		cli.say(oneTurn("a")...)
		wantInput(t, cli, true, "produce goes on")
		cli.say(state("running"))
		close(more)
		wantInput(t, cli, false, "produce has returned")
		cli.say(initLine(), assistant("b"), good("b"))
		cli.die(io.EOF)
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
		s.want(t, "system/init", "assistant:a", "result:a", "system/init", "assistant:b", "result:b")
	})
}

func TestStreamOfNoPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		s := produce(t, cli, func(context.Context, func(message.UserInput) error) error { return nil })
		wantInput(t, cli, false, "there are no prompts")
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
		s.want(t)
	})
}

func TestProduceErrorEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onEOF = lives
		wrong, fail := errors.New("wrong"), make(chan struct{})
		s := produce(t, cli, func(_ context.Context, send func(message.UserInput) error) error {
			if err := send(claude.Text("q1")); err != nil {
				return err
			}
			<-fail
			return wrong
		})
		cli.say(initLine())
		s.want(t, "system/init")
		close(fail)
		if err := s.ended(t); err != wrong {
			t.Fatal(err)
		}
		if _, _, closes := cli.counts(); closes == 0 {
			t.Fatal("the connection is open")
		}
	})
}

func TestUnencodablePromptEndsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		s := produce(t, cli, func(_ context.Context, send func(message.UserInput) error) error {
			return send(message.UserInput{Raw: []byte("no JSON")})
		})
		if err := s.ended(t); err == nil {
			t.Fatal("no error")
		}
	})
}

func TestProduceContextEndsWithRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		var late time.Duration
		s := produce(t, cli, func(ctx context.Context, send func(message.UserInput) error) error {
			<-ctx.Done()
			begun := time.Now()
			<-time.After(time.Minute) // the iterator waits for it
			late = time.Since(begun)
			return errors.New("not the reason")
		})
		cli.die(&claude.ExitError{Code: 3})
		s.running(t)
		within(t, time.Minute)
		if exit, ok := errors.AsType[*claude.ExitError](s.ended(t)); !ok || exit.Code != 3 || late != time.Minute {
			t.Fatalf("%v, %v late", exit, late)
		}
	})
}

func TestSendAfterEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		var got error
		s := produce(t, cli, func(ctx context.Context, send func(message.UserInput) error) error {
			<-ctx.Done()
			got = send(claude.Text("late"))
			return got
		})
		cli.die(&claude.ExitError{Code: 3})
		if err := s.ended(t); !errors.As(err, new(*claude.ExitError)) || got == nil {
			t.Fatalf("%v, send gave %v", err, got)
		}
	})
}

func TestStreamFailedWriteReportsExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		dead := make(chan struct{})
		s := produce(t, cli, func(_ context.Context, send func(message.UserInput) error) error {
			<-dead
			return send(claude.Text("q"))
		})
		cli.mu.Lock()
		cli.eof = true // the pipe is broken, but the exit is not seen yet
		cli.mu.Unlock()
		close(dead)
		synctest.Wait()
		cli.die(&claude.ExitError{Code: 9})
		if exit, ok := errors.AsType[*claude.ExitError](s.ended(t)); !ok || exit.Code != 9 {
			t.Fatalf("%v; want ok and exit.Code == 9", exit)
		}
	})
}
