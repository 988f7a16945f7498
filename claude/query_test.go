package claude_test

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

func TestQueryWritesInitializeThenThePrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {} // initialize is not answered
		ctx, cancel := context.WithCancel(t.Context())
		s := collect(claude.Query(ctx, "Say <hello>", cli.options()))
		lines := cli.read()
		if len(lines) != 2 {
			t.Fatalf("%q; want len(lines) == 2", lines)
		}
		first := regexp.MustCompile(`^\{"request_id":"[^"]+","type":"control_request","request":\{"subtype":"initialize","systemPrompt":\[""\]\}\}$`)
		if !first.MatchString(lines[0]) {
			t.Errorf("first line %s", lines[0])
		}
		const second = `{"type":"user","session_id":"","message":{"role":"user","content":[{"type":"text","text":"Say <hello>"}]},"parent_tool_use_id":null}`
		if lines[1] != second {
			t.Errorf("second line %s", lines[1])
		}
		cancel()
		s.ended(t)
	})
}

// oneTurn returns the lines of a turn of a prompt without a uuid.
func oneTurn(text string) []string {
	return []string{state("running"), initLine(), assistant(text), good(text), state("idle")}
}

func TestQueryYieldsEverythingToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		s := collect(claude.Query(t.Context(), "go", cli.options()))
		cli.read()
		cli.say(state("running"), initLine(), tasks("a"), assistant("one"), good("one"), tasks())
		cli.say(initLine(), assistant("two"), ownResult("two"), state("idle"))
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
		s.want(t, "system/init", "system/background_tasks_changed", "assistant:one", "result:one", "system/background_tasks_changed",
			"system/init", "assistant:two", "result:two")
	})
}

func TestQueryHidesHostMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		s := collect(claude.Query(t.Context(), "go", cli.options()))
		cli.read()
		cli.say(state("running"), `{"type":"keep_alive"}`, `{"type":"transcript_mirror","filePath":"x","entries":[]}`,
			`{"type":"control_request","request_id":"u","request":{"subtype":"hook_callback"}}`,
			`{"type":"control_cancel_request","request_id":"u"}`, answer("nobody", `{}`),
			`{"type":"system","subtype":"session_state_changed","state":"running"}`, good("ok"), state("idle"))
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
		s.want(t, "system/session_state_changed", "result:ok")
	})
}

func TestQueryYieldsUnknownMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		s := collect(claude.Query(t.Context(), "go", cli.options()))
		cli.read()
		cli.say(`{"type":"brand_new","x":1}`, `{"type":"system","subtype":"brand_new"}`, `[SandboxDebug] text`, `{"type":"assistant",`)
		cli.say(oneTurn("ok")...)
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
		s.want(t, "brand_new", "system/brand_new", "bad line", "bad line", "system/init", "assistant:ok", "result:ok")
	})
}

func TestStrictLinesEndAtBadLine(t *testing.T) {
	for _, line := range []string{`[SandboxDebug] text`, `{"type":"assistant",`} {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			opts := cli.options()
			opts.StrictLines = true
			s := collect(claude.Query(t.Context(), "go", opts))
			cli.read()
			cli.say(initLine(), line, assistant("never"))
			decode, ok := errors.AsType[*message.DecodeError](s.ended(t))
			if !ok || decode.Line != line {
				t.Fatalf("%v; want ok and decode.Line == line", decode)
			}
			s.want(t, "system/init")
			if _, _, closes := cli.counts(); closes == 0 {
				t.Error("the connection was not closed")
			}
		})
	}
}

// endOf runs a query with a CLI that writes lines and ends with err.
func endOf(t *testing.T, exit error, lines ...string) (s *stream, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onEOF = lives
		s = collect(claude.Query(t.Context(), "go", cli.options()))
		cli.read()
		cli.say(lines...)
		cli.die(exit)
		err = s.ended(t)
	})
	return s, err
}

func TestErrorResultThenExitIsAResultError(t *testing.T) {
	s, err := endOf(t, &claude.ExitError{Code: 1}, initLine(), assistant("sorry"), bad("no money"), state("idle"))
	failed, ok := errors.AsType[*message.ResultError](err)
	if !ok || failed.Result.Result != "no money" || errors.As(err, new(*claude.ExitError)) {
		t.Fatalf("%v; want ok and failed.Result.Result == \"no money\" and not errors.As(err, new(*claude.ExitError))", err)
	}
	if s.got[len(s.got)-1] != "result:no money" {
		t.Fatalf("s.got is %v; want s.got[len(s.got)-1] == \"result:no money\"", s.got)
	}
}

func TestGoodTurnClearsTheErrorResult(t *testing.T) {
	// Like the recordings max-turns-stream and api-error-then-turn.
	_, err := endOf(t, io.EOF, initLine(), bad("first"), initLine(), assistant("a"), good("second"))
	if err != nil {
		t.Fatal(err)
	}
	// If the CLI then dies, the error is its exit error.
	_, err = endOf(t, &claude.ExitError{Code: 1}, initLine(), bad("first"), initLine(), assistant("a"), good("second"))
	if exit, ok := errors.AsType[*claude.ExitError](err); !ok || exit.Code != 1 {
		t.Fatalf("%v; want ok and exit.Code == 1", err)
	}
}

func TestTurnWithoutModelKeepsErrorResult(t *testing.T) {
	empty := `{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":""}`
	_, err := endOf(t, &claude.ExitError{Code: 1}, initLine(), bad("first"), empty)
	if !errors.As(err, new(*message.ResultError)) {
		t.Fatalf("%v; want errors.As(err, new(*message.ResultError))", err)
	}
}

func TestSignalAfterResultIsExitError(t *testing.T) {
	s, err := endOf(t, &claude.ExitError{Code: -1, Signal: "SIGKILL"}, initLine(), good("fine"))
	if exit, ok := errors.AsType[*claude.ExitError](err); !ok || exit.Signal != "SIGKILL" {
		t.Fatalf("%v; want ok and exit.Signal == \"SIGKILL\"", err)
	}
	if s.got[len(s.got)-1] != "result:fine" {
		t.Fatalf("s.got is %v; want s.got[len(s.got)-1] == \"result:fine\"", s.got)
	}
}

func TestSignalAfterErrorResultIsExitError(t *testing.T) {
	_, err := endOf(t, &claude.ExitError{Code: -1, Signal: "SIGKILL"}, initLine(), bad("no"))
	if !errors.As(err, new(*claude.ExitError)) {
		t.Fatalf("%v; want errors.As(err, new(*claude.ExitError))", err)
	}
}

// resetsAt reports whether the end of a limit is known and equals a time.
func resetsAt(rl *claude.RateLimitError, unix int64) bool {
	at, known := rl.ResetsAt()
	return known && at.Unix() == unix
}

func TestRateLimitErrorResetsAt(t *testing.T) {
	limit := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794708456}}`
	_, err := endOf(t, &claude.ExitError{Code: 1}, limit, resultLine("slow down", `,"is_error":true,"api_error_status":429`))
	rl, ok := errors.AsType[*claude.RateLimitError](err)
	if !ok || !resetsAt(rl, 1794708456) || !errors.As(err, new(*message.ResultError)) {
		t.Fatalf("%v; want ok and resetsAt(rl, 1794708456) and errors.As(err, new(*message.ResultError))", err)
	}
}

// runOf returns the result of Run for a CLI that writes lines and ends.
func runOf(t *testing.T, exit error, lines ...string) (r *message.Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onEOF = lives
		done := make(chan struct{})
		go func() {
			defer close(done)
			r, err = claude.Run(t.Context(), "go", cli.options())
		}()
		cli.read()
		cli.say(lines...)
		cli.die(exit)
		<-done
	})
	return r, err
}

// Run returns the same result after a failed turn whether the CLI exits with success or
// does not exit.
func TestRunErrorForEveryExit(t *testing.T) {
	limit := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794708456}}`
	limited := resultLine("slow down", `,"is_error":true,"api_error_status":429`)
	missing := `{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"errors":["No conversation found with session ID: x"]}`
	for name, end := range map[string]error{"exit 1": &claude.ExitError{Code: 1}, "exit 0": io.EOF, "stays": &claude.StalledError{Phase: "exit"}} {
		r, err := runOf(t, end, initLine(), limit, limited)
		rl, ok := errors.AsType[*claude.RateLimitError](err)
		if r == nil || !ok || !resetsAt(rl, 1794708456) {
			t.Errorf("%s: %v, %v; want r != nil and ok and resetsAt(rl, 1794708456)", name, r, err)
		}
		if r, err := runOf(t, end, missing); r == nil || !errors.Is(err, claude.ErrNoSession) {
			t.Errorf("%s: %v, %v; want r != nil and errors.Is(err, claude.ErrNoSession)", name, r, err)
		}
		if r, err := runOf(t, io.EOF, initLine(), resultLine("fine", "")); r == nil || err != nil {
			t.Errorf("%s: %v, %v; want r != nil and err == nil", name, r, err)
		}
	}
}

func TestQueryWithoutResult(t *testing.T) {
	for name, lines := range map[string][]string{
		"silent":       nil,
		"half a turn":  {initLine(), assistant("half")},
		"torn line":    {initLine(), assistant("half"), `{"type":"result","subtype":"succ`},
		"unknown type": {initLine(), `{"type":"result_of_2031"}`},
	} {
		s, err := endOf(t, io.EOF, lines...)
		if err != claude.ErrNoResult || len(s.got) != len(lines) {
			t.Errorf("%s: %v %v; want err == claude.ErrNoResult and len(s.got) == len(lines)", name, s.got, err)
		}
	}
}

// The result of one turn is not the result of the next.
func TestTurnCutOffAfterResult(t *testing.T) {
	for name, lines := range map[string][]string{
		"half a turn": {initLine(), good("A"), initLine(), assistant("half")},
		"torn result": {initLine(), good("A"), initLine(), `{"type":"result","subtype":"succ`},
	} {
		s, err := endOf(t, io.EOF, lines...)
		if err != claude.ErrNoResult || len(s.got) != len(lines) {
			t.Errorf("%s: %v %v; want err == claude.ErrNoResult and len(s.got) == len(lines)", name, s.got, err)
		}
	}
	for name, lines := range map[string][]string{
		"two results":           {initLine(), good("A"), initLine(), good("B")},
		"torn after the result": {initLine(), good("A"), `{"type":"res`},
	} {
		if s, err := endOf(t, io.EOF, lines...); err != nil {
			t.Errorf("%s: %v %v", name, s.got, err)
		}
	}
}

func TestStreamWithoutPromptsNeedsNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		s := produce(t, cli, func(context.Context, func(message.UserInput) error) error { return nil })
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSilentExitBeforeReadingHasNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.die(io.EOF) // writes fail with a broken pipe
		s := collect(claude.Query(t.Context(), "go", cli.options()))
		if err := s.ended(t); err != claude.ErrNoResult {
			t.Fatal(err)
		}
		s.want(t)
	})
}

func TestExitZeroWithUnreadInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.eof = true // the CLI has closed its input
		s := collect(claude.Query(t.Context(), "go", cli.options()))
		within(t, 10*time.Second)
		cli.say(good("all the same"))
		cli.die(io.EOF)
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
		s.want(t, "result:all the same")
	})
}

func TestExitBeforeReadingReportsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.die(&claude.ExitError{Code: 1, Stderr: "error: unknown option"})
		err := collect(claude.Query(t.Context(), "go", cli.options())).ended(t)
		if exit, ok := errors.AsType[*claude.ExitError](err); !ok || !strings.Contains(exit.Stderr, "unknown option") {
			t.Fatalf("%v; want ok and strings.Contains(exit.Stderr, \"unknown option\")", err)
		}
	})
}

// run calls claude.Run for a CLI that writes lines and ends with exit.
func run(t *testing.T, exit error, lines ...string) (r *message.Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onEOF = lives
		cli.onLine = func(line string) {
			cli.answerInitialize(line)
			if parse(line).Type == "user" {
				cli.say(lines...)
				cli.die(exit)
			}
		}
		r, err = claude.Run(t.Context(), "go", cli.options())
	})
	return r, err
}

func TestRunReturnsTheLastResult(t *testing.T) {
	r, err := run(t, io.EOF, initLine(), good("one"), initLine(), ownResult("two"))
	if err != nil || r.Result != "two" {
		t.Fatalf("%v %v; want err == nil and r.Result == \"two\"", r, err)
	}
}

func TestRunReturnsResultAndError(t *testing.T) {
	r, err := run(t, &claude.ExitError{Code: 1}, initLine(), bad("no"))
	if !errors.As(err, new(*message.ResultError)) || r == nil || r.Result != "no" {
		t.Fatalf("%v %v; want errors.As(err, new(*message.ResultError)) and r != nil and r.Result == \"no\"", r, err)
	}
	r, err = run(t, io.EOF, initLine(), bad("no"))
	if !errors.As(err, new(*message.ResultError)) || r == nil {
		t.Fatalf("%v %v; want errors.As(err, new(*message.ResultError)) and r != nil", r, err)
	}
	r, err = run(t, &claude.ExitError{Code: -1, Signal: "SIGKILL"}, good("fine"))
	if !errors.As(err, new(*claude.ExitError)) || r == nil || r.Result != "fine" {
		t.Fatalf("%v %v; want errors.As(err, new(*claude.ExitError)) and r != nil and r.Result == \"fine\"", r, err)
	}
}

func TestRunWithoutAResult(t *testing.T) {
	if r, err := run(t, io.EOF); !errors.Is(err, claude.ErrNoResult) || r != nil {
		t.Fatalf("%v %v; want errors.Is(err, claude.ErrNoResult) and r == nil", r, err)
	}
}

func TestQueryIsRangedOverOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		seq := claude.Query(t.Context(), "go", cli.options())
		if _, connects, _ := cli.counts(); connects != 0 {
			t.Fatal("started before the range")
		}
		s := collect(seq)
		cli.read()
		cli.say(oneTurn("ok")...)
		if err := s.ended(t); err != nil {
			t.Fatal(err)
		}
		again := collect(seq)
		if err := again.ended(t); !errors.Is(err, claude.ErrUsed) {
			t.Fatal(err)
		}
		if _, connects, _ := cli.counts(); connects != 1 {
			t.Fatalf("%d connections", connects)
		}
	})
}

func TestBreakStopsTheCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(line string) {
			cli.answerInitialize(line)
			cli.say(assistant("more"))
		}
		for m, err := range claude.Query(t.Context(), "go", cli.options()) {
			if err != nil || label(m) != "assistant:more" {
				t.Fatalf("%v %v; want err == nil and label(m) == \"assistant:more\"", m, err)
			}
			break
		}
		// All goroutines have ended here: otherwise the bubble would report them.
		if cli.closes == 0 {
			t.Fatal("the connection is open")
		}
	})
}

func TestContextEndStopsCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.exit = &claude.ExitError{Code: 143}
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := collect(claude.Query(ctx, "go", cli.options()))
		cli.read()
		cli.say(initLine())
		s.running(t)
		cancel(enough)
		if err := s.ended(t); err != enough {
			t.Fatal(err)
		}
		s.want(t, "system/init")
		if _, _, closes := cli.counts(); closes == 0 {
			t.Fatal("the connection is open")
		}
	})
}

func TestContextEndsDuringHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.stuck() // initialize cannot even be written
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		for _, err := range claude.Query(ctx, "go", cli.options()) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
		if d := time.Since(begun); d != time.Second {
			t.Fatalf("d is %v; want d == time.Second", d)
		}
	})
}

func TestEndedContextStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(enough)
		if err := collect(claude.Query(ctx, "go", cli.options())).ended(t); err != enough {
			t.Fatal(err)
		}
		if _, err := claude.Connect(ctx, cli.options()); err != enough {
			t.Fatal(err)
		}
		if _, connects, _ := cli.counts(); connects != 0 {
			t.Fatal("connected")
		}
	})
}

func TestConflictingOptionsStartNoProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		opts.Model, opts.FallbackModel = "m", "m"
		err := collect(claude.Query(t.Context(), "go", opts)).ended(t)
		if err == nil || !strings.Contains(err.Error(), "FallbackModel") {
			t.Fatal(err)
		}
		if _, err := claude.Connect(t.Context(), opts); err == nil {
			t.Fatal("connected")
		}
		if _, connects, _ := cli.counts(); connects != 0 {
			t.Fatal("connected")
		}
	})
}

func TestStalledHandshakeEndsQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.onLine = func(string) {}
		begun := time.Now()
		for _, err := range claude.Query(t.Context(), "go", cli.options()) {
			stalled, ok := errors.AsType[*claude.StalledError](err)
			if !ok || stalled.Phase != "handshake" || !errors.As(err, new(*claude.HandshakeError)) {
				t.Fatal(err)
			}
		}
		if d := time.Since(begun); d != time.Minute {
			t.Fatalf("d is %v; want d == time.Minute", d)
		}
	})
}

// badTransport fails to connect.
type badTransport struct{}

var errNoWire = errors.New("no wire")

func (badTransport) Connect(context.Context) (claude.Conn, error) { return nil, errNoWire }

func TestTransportConnectError(t *testing.T) {
	opts := &claude.Options{Transport: badTransport{}}
	if _, err := claude.Run(t.Context(), "go", opts); !errors.Is(err, errNoWire) {
		t.Fatal(err)
	}
	if _, err := claude.Connect(t.Context(), opts); !errors.Is(err, errNoWire) {
		t.Fatal(err)
	}
}
