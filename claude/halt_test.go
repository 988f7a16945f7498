package claude_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// interrupts counts the interrupts that the CLI has read.
func interrupts(cli *memCLI) (n int) {
	for _, kind := range cli.kinds() {
		if kind == "interrupt" {
			n++
		}
	}
	return n
}

func TestContextEndInterruptsBeforeInputCloses(t *testing.T) {
	forms := map[string]func(ctx context.Context, o *claude.Options) *stream{
		"Query": func(ctx context.Context, o *claude.Options) *stream { return collect(claude.Query(ctx, "go", o)) },
		"QueryStream": func(ctx context.Context, o *claude.Options) *stream {
			return collect(claude.QueryStream(ctx, func(ctx context.Context, send func(message.UserInput) error) error {
				if err := send(claude.Text("go")); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			}, o))
		},
	}
	for name, form := range forms {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			closedFirst := false
			cli.onLine = func(line string) {
				cli.answerInitialize(line)
				if l := parse(line); l.Request.Subtype == "interrupt" {
					cli.mu.Lock()
					closedFirst = cli.eof || cli.closes > 0
					cli.mu.Unlock()
					cli.say(answer(l.RequestID, `{}`), assistant("late"), bad("interrupted"))
				}
			}
			enough := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			begun := time.Now()
			s := form(ctx, cli.options())
			cli.read()
			cli.say(state("running"), initLine())
			s.running(t)
			cancel(enough)
			if err := s.ended(t); err != enough {
				t.Fatalf("name is %v, err is %v; want err == enough", name, err)
			}
			s.want(t, "system/init")
			if n := interrupts(cli); n != 1 || closedFirst || time.Since(begun) != 0 {
				t.Errorf("%s: %d interrupts, after the input's end: %v, took %v", name, n, closedFirst, time.Since(begun))
			}
		})
	}
}

func TestInterruptGrace(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			cli.answers(nil)
			opts := cli.options()
			opts.InterruptGrace = grace
			ctx, cancel := context.WithCancel(t.Context())
			s := collect(claude.Query(ctx, "go", opts))
			cli.read()
			cli.say(initLine())
			synctest.Wait()
			cancel()
			want := grace
			if grace == 0 {
				want = 2 * time.Second
			}
			within(t, want-time.Nanosecond)
			s.running(t)
			within(t, time.Nanosecond)
			if err := s.ended(t); err != context.Canceled {
				t.Error(err)
			}
		})
	}
}

func TestBreakAfterResultDoesNotInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(line string) {
			cli.answerInitialize(line)
			if parse(line).Type == "user" {
				cli.say(oneTurn("done")...)
			}
		}
		cli.onEOF = lives
		for m := range claude.Query(t.Context(), "go", cli.options()) {
			if label(m) == "result:done" {
				break
			}
		}
		if n := interrupts(cli); n != 0 {
			t.Errorf("%d interrupts", n)
		}
	})
}

// A permission granted after the end of the context is not sent.
func TestNoPermissionAfterContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.answers(nil)
		opts := cli.options()
		asked, calls := make(chan struct{}), 0
		opts.CanUseTool = func(ctx context.Context, _ *claude.PermissionRequest) (claude.PermissionResult, error) {
			calls++
			close(asked)
			<-ctx.Done()
			return &claude.Allow{}, nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		s := collect(claude.Query(ctx, "go", opts))
		cli.read()
		ask := func(id string) string {
			return `{"type":"control_request","request_id":"` + id + `","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}`
		}
		cli.say(initLine(), ask("q1"))
		<-asked
		cancel()
		synctest.Wait()
		cli.say(ask("q2"))
		within(t, 2*time.Second)
		s.ended(t)
		if kinds := cli.kinds(); calls != 1 || slices.Contains(kinds, "control_response") || interrupts(cli) != 1 {
			t.Errorf("asked %d times, the CLI has read %v", calls, kinds)
		}
	})
}

// Messages that were not read before the end of the context are not yielded.
func TestNoMessageAfterContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(line string) {
			cli.answerInitialize(line)
			if parse(line).Type == "user" {
				cli.say(initLine())
				for range 86 {
					cli.say(assistant("more"))
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []string
		for m, err := range claude.Query(ctx, "go", cli.options()) {
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, label(m))
			synctest.Wait()
			cancel()
		}
		if !slices.Equal(got, []string{"system/init", "context canceled"}) {
			t.Errorf("got is %v; want slices.Equal(got, []string{\"system/init\", \"context canceled\"})", got)
		}
	})
}
