package claude_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// tracing returns a Trace that records its events.
func tracing(told *[]string, do func()) *claude.Trace {
	note := func(s string) {
		*told = append(*told, s)
		do()
	}
	return &claude.Trace{
		Handshake: func(h claude.HandshakeTrace) {
			if h.Err != nil {
				note("no handshake")
			} else {
				note("handshake " + h.Version)
			}
		},
		FirstMessage: func(m claude.FirstMessageTrace) { note("first " + m.Kind) },
		Buffered:     func(claude.BufferedTrace) { note("buffered") },
		Exit: func(e claude.ExitTrace) {
			if e.Err != nil {
				note("exit " + e.Err.Error())
			} else {
				note("exit")
			}
		},
	}
}

// traced runs a query with a Trace.
func traced(t *testing.T, do func()) (told []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		opts.Trace = tracing(&told, do)
		s := collect(claude.Query(t.Context(), "go", opts))
		cli.read()
		cli.say(oneTurn("ok")...)
		within(t, time.Hour)
		if err := s.ended(t); err != nil {
			t.Error(err)
		}
		s.want(t, "system/init", "assistant:ok", "result:ok")
	})
	return told
}

func TestTraceIsCalledInOrder(t *testing.T) {
	told := traced(t, func() {})
	if got := strings.Join(told, ", "); got != "handshake 2.1.325, first system/init, exit" {
		t.Fatalf("got is %v; want got == \"handshake 2.1.325, first system/init, exit\"", got)
	}
}

func TestPanickingTrace(t *testing.T) {
	if told := traced(t, func() { panic("boom") }); len(told) != 3 {
		t.Fatalf("told is %v; want len(told) == 3", told)
	}
}

func TestSlowTrace(t *testing.T) {
	if told := traced(t, func() { <-time.After(time.Minute) }); len(told) != 3 {
		t.Fatalf("told is %v; want len(told) == 3", told)
	}
}

func TestSlowTraceDelaysNoMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		release := make(chan struct{})
		opts.Trace = &claude.Trace{Handshake: func(claude.HandshakeTrace) { <-release }}
		client := cli.connect(opts)
		turn := send(t, client, "a")
		cli.say(turnLines(turn.ID, "A")...)
		if r, err := turn.Wait(t.Context()); err != nil || r.Result != "A" {
			t.Fatalf("r is %v, err is %v; want err == nil and r.Result == \"A\"", r, err)
		}
		closed := make(chan struct{})
		go func() { client.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Fatal("closed before every function has returned")
		default:
		}
		close(release)
		<-closed
	})
}

func TestTraceOfExitDuringHandshake(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			cli.onLine = func(string) {}
			var told []string
			opts := cli.options()
			opts.Trace = tracing(&told, func() {})
			c := connect(t.Context(), opts)
			cli.read()
			cli.die(&claude.ExitError{Code: 2})
			<-c.done
			if got := strings.Join(told, ", "); got != "no handshake, exit claude: the CLI exited with code 2" || !errors.As(c.err, new(*claude.ExitError)) {
				t.Fatalf("got is %v, c.err is %v; want got == \"no handshake, exit claude: the CLI exited with code 2\" and errors.As(c.err, new(*claude.ExitError))", got, c.err)
			}
		})
	}
}
