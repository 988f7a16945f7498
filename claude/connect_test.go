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

// connecting runs Connect in the background.
type connecting struct {
	client *claude.Client
	err    error
	done   chan struct{}
}

func connect(ctx context.Context, opts *claude.Options) *connecting {
	c := &connecting{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		c.client, c.err = claude.Connect(ctx, opts)
	}()
	return c
}

// failed waits for Connect, which must fail and leave no process running.
func (c *connecting) failed(t *testing.T, cli *memCLI) error {
	t.Helper()
	<-c.done
	if c.err == nil || c.client != nil {
		t.Fatalf("connected: %v", c.err)
	}
	if _, _, closes := cli.counts(); closes == 0 {
		t.Fatal("the connection is open")
	}
	return c.err
}

// handshakeCause returns the error of type E that a *HandshakeError wraps.
func handshakeCause[E error](t *testing.T, err error) E {
	t.Helper()
	h, ok := errors.AsType[*claude.HandshakeError](err)
	if !ok {
		t.Fatalf("no HandshakeError: %v", err)
	}
	cause, ok := errors.AsType[E](h.Err)
	if !ok {
		t.Fatalf("the cause is %v", h.Err)
	}
	return cause
}

func TestConnectWaitsForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {}
		c := connect(t.Context(), cli.options())
		lines := cli.read()
		select {
		case <-c.done:
			t.Fatal("connected without an answer")
		default:
		}
		cli.say(`{"type":"keep_alive"}`, initLine())
		cli.answerInitialize(lines[0])
		<-c.done
		if c.err != nil {
			t.Fatal(c.err)
		}
		defer c.client.Close()
		if info := c.client.ServerInfo(); info.ClaudeCodeVersion != "2.1.325" || info.PID != 7 {
			t.Fatalf("%+v; want info.ClaudeCodeVersion == \"2.1.325\" and info.PID == 7", info)
		}
		if kinds := cli.kinds(); len(kinds) != 1 || kinds[0] != "initialize" {
			t.Fatalf("%v; want len(kinds) == 1 and kinds[0] == \"initialize\"", kinds)
		}
	})
}

func TestConnectAnswerWithoutBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(line string) {
			cli.say(`{"type":"control_response","response":{"subtype":"success","request_id":"` + parse(line).RequestID + `"}}`)
		}
		client := cli.connect(cli.options())
		defer client.Close()
		if client.ServerInfo() == nil || client.ServerInfo().Commands != nil {
			t.Fatalf("%+v; want client.ServerInfo() != nil and client.ServerInfo().Commands == nil", client.ServerInfo())
		}
	})
}

func TestHandshakeTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {}
		opts := cli.options()
		opts.HandshakeTimeout = 3 * time.Second
		begun := time.Now()
		err := connect(t.Context(), opts).failed(t, cli)
		if stalled := handshakeCause[*claude.StalledError](t, err); stalled.Phase != "handshake" || stalled.Since != 3*time.Second {
			t.Fatalf("%+v; want stalled.Phase == \"handshake\" and stalled.Since == 3*time.Second", stalled)
		}
		if d := time.Since(begun); d != 3*time.Second {
			t.Fatalf("d is %v; want d == 3*time.Second", d)
		}
	})
}

func TestHandshakeTimeoutWithUnreadInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.stuck()
		begun := time.Now()
		err := connect(t.Context(), cli.options()).failed(t, cli)
		handshakeCause[*claude.StalledError](t, err)
		if d := time.Since(begun); d != time.Minute {
			t.Fatalf("d is %v; want d == time.Minute", d)
		}
	})
}

func TestBrokenPipeStopsCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onEOF = lives
		cli.eof = true // writes fail, and it does not exit
		begun := time.Now()
		err := connect(t.Context(), cli.options()).failed(t, cli)
		if !errors.As(err, new(*claude.HandshakeError)) {
			t.Fatal(err)
		}
		if d := time.Since(begun); d < time.Minute || d > 65*time.Second {
			t.Fatalf("d is %v; want d >= time.Minute and d <= 65*time.Second", d)
		}
	})
}

func TestDeathDuringTheHandshake(t *testing.T) {
	for _, before := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			cli.onLine = func(string) {}
			exit := &claude.ExitError{Code: 1, Stderr: "error: session id is taken"}
			if before {
				cli.die(exit)
			}
			c := connect(t.Context(), cli.options())
			cli.read()
			cli.die(exit)
			if got := handshakeCause[*claude.ExitError](t, c.failed(t, cli)); got.Stderr != exit.Stderr {
				t.Fatalf("%+v; want got.Stderr == exit.Stderr", got)
			}
		})
	}
}

func TestSilentExitDuringTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {}
		c := connect(t.Context(), cli.options())
		cli.read()
		cli.die(io.EOF)
		if err := c.failed(t, cli); !errors.As(err, new(*claude.HandshakeError)) || !errors.Is(err, claude.ErrClosed) {
			t.Fatal(err)
		}
	})
}

func TestResultInsteadOfAnswer(t *testing.T) {
	// Like the recording resume-missing.
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {}
		c := connect(t.Context(), cli.options())
		cli.read()
		cli.say(`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"errors":["No conversation found with session ID: x"]}`)
		cli.die(&claude.ExitError{Code: 1})
		failed := handshakeCause[*message.ResultError](t, c.failed(t, cli))
		if failed.Result.Text() != "No conversation found with session ID: x" {
			t.Fatalf("failed is %v; want failed.Result.Text() == \"No conversation found with session ID: x\"", failed)
		}
	})
}

func TestErrorAnswerToInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(line string) { cli.say(refusal(parse(line).RequestID, `"error":"no","error_code":"bad_hooks"`)) }
		refused := handshakeCause[*claude.ControlError](t, connect(t.Context(), cli.options()).failed(t, cli))
		if refused.Subtype != "initialize" || refused.Code != "bad_hooks" || refused.Message != "no" {
			t.Fatalf("%+v; want refused.Subtype == \"initialize\" and refused.Code == \"bad_hooks\" and refused.Message == \"no\"", refused)
		}
	})
}

func TestInitializeAnswerNotAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onEOF = lives
		cli.onLine = func(line string) { cli.say(answer(parse(line).RequestID, `"odd"`)) }
		c := connect(t.Context(), cli.options())
		<-c.done // it must return, with either result
		if c.err == nil {
			c.client.Close()
		}
	})
}

func TestContextEndsWhileConnecting(t *testing.T) {
	for _, stuck := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			cli.onEOF = lives
			cli.onLine = func(string) {}
			if stuck {
				cli.stuck()
			}
			enough := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			c := connect(ctx, cli.options())
			cli.read()
			cancel(enough)
			if err := c.failed(t, cli); err != enough {
				t.Fatal(err)
			}
		})
	}
}

func TestAnswerAfterContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {}
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		c := connect(ctx, cli.options())
		line := cli.read()[0]
		cli.onClose = func() { cli.answerInitialize(line) }
		cancel(enough)
		if err := c.failed(t, cli); err != enough {
			t.Fatal(err)
		}
	})
}

func TestContextEndRacesWithAnswer(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			cli.onLine = func(string) {}
			ctx, cancel := context.WithCancel(t.Context())
			c := connect(ctx, cli.options())
			line := cli.read()[0]
			go cancel()
			go cli.answerInitialize(line)
			<-c.done
			if c.err != nil {
				if !errors.Is(c.err, context.Canceled) {
					t.Fatalf("c.err is %v; want errors.Is(c.err, context.Canceled)", c.err)
				}
				return
			}
			// A returned client works.
			defer c.client.Close()
			turn, err := c.client.Send(t.Context(), claude.Text("hi"))
			if err != nil {
				t.Fatal(err)
			}
			cli.say(turnLines(turn.ID, "hello")...)
			if r, err := turn.Wait(t.Context()); err != nil || r.Result != "hello" {
				t.Fatalf("r is %v, err is %v; want err == nil and r.Result == \"hello\"", r, err)
			}
		})
	}
}

func TestConnectContextEndsAfterConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		ctx, cancel := context.WithCancel(t.Context())
		client, err := claude.Connect(ctx, cli.options())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		cancel()
		within(t, time.Hour)
		turn := send(t, client, "still there?")
		cli.say(turnLines(turn.ID, "yes")...)
		if r, err := turn.Wait(t.Context()); err != nil || r.Result != "yes" {
			t.Fatalf("%v %v; want err == nil and r.Result == \"yes\"", r, err)
		}
	})
}
