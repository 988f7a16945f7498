package claude_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// brief has short deadlines for the tests with a hanging CLI.
var brief = claude.Deadlines{
	InterruptGrace: 50 * time.Millisecond, CloseGrace: 50 * time.Millisecond, TermGrace: 50 * time.Millisecond,
}

// slack is the tolerance for a busy machine.
const slack = 10 * time.Second

// Every way to hang ends within its documented limit. If there is a result, Run returns
// it.
func TestEveryHangEnds(t *testing.T) {
	short.SkipQuick(t, "closes many clients")
	const short = 300 * time.Millisecond
	long := strings.Repeat("long ", 1<<20)
	for _, tt := range []struct {
		name, program, prompt string
		params                []string
		set                   func(d *claude.Deadlines)
		cancel                bool   // the context ends
		phase                 string // of the StalledError; "" for a result or the end of the context
	}{
		{name: "no handshake", program: "mute", phase: "handshake", set: func(d *claude.Deadlines) { d.HandshakeTimeout = short }},
		{name: "input not read", program: "deaf", prompt: long, phase: "write", set: func(d *claude.Deadlines) { d.WriteTimeout, d.ExitTimeout = short, short }},
		{name: "no turn", program: "no-turn", phase: "first message", set: func(d *claude.Deadlines) { d.FirstMessageTimeout = short }},
		{name: "silent turn", program: "half-turn", phase: "silence", set: func(d *claude.Deadlines) { d.SilenceTimeout = short }},
		{name: "output closed in a turn", program: "shut", phase: "exit", set: func(d *claude.Deadlines) { d.ExitTimeout = short }},
		{name: "output closed after the result", program: "shut", params: []string{"RESULT=1"}, set: func(d *claude.Deadlines) { d.ExitTimeout = short }},
		{name: "no exit after the result", program: "stays", set: func(d *claude.Deadlines) { d.ExitTimeout = short }},
		{name: "no exit and SIGTERM ignored", program: "stays", params: []string{"IGNORE_TERM=1"}, set: func(d *claude.Deadlines) { d.ExitTimeout = short }},
		{name: "task without end", program: "tasks-for-ever", set: func(d *claude.Deadlines) { d.RunEndTimeout, d.ExitTimeout = short, short }},
		{name: "cancelled, interrupt and SIGTERM ignored", program: "tool-for-ever", cancel: true, set: func(*claude.Deadlines) {}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := fake(tt.program, tt.params...)
			opts.Deadlines = brief
			tt.set(&opts.Deadlines)
			ctx, cancel := context.WithTimeout(t.Context(), bound)
			if tt.cancel {
				ctx, cancel = context.WithTimeout(t.Context(), 2*short)
			}
			defer cancel()
			begun := time.Now()
			r, err := claude.Run(ctx, "go "+tt.prompt, opts)
			if d := time.Since(begun); d > slack {
				t.Errorf("took %v", d)
			}
			stalled, _ := errors.AsType[*claude.StalledError](err)
			switch {
			case tt.cancel && !errors.Is(err, context.DeadlineExceeded),
				tt.phase == "write" && (err == nil || ctx.Err() != nil),
				tt.phase == "" && !tt.cancel && (err != nil || r.Result != "done"),
				tt.phase != "" && tt.phase != "write" && (stalled == nil || stalled.Phase != tt.phase):
				t.Errorf("%v, %v", r, err)
			}
		})
	}
}

// The default limits.
func TestHangsEndByDefault(t *testing.T) {
	for name, opts := range map[string]*claude.Options{
		"output closed": fake("shut", "RESULT=1"), "no exit": fake("stays", "IGNORE_TERM=1"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*bound)
			defer cancel()
			begun := time.Now()
			r, err := claude.Run(ctx, "go", opts)
			// ExitTimeout, CloseGrace, TermGrace.
			if d := time.Since(begun); err != nil || r.Result != "done" || d > 17*time.Second+slack {
				t.Errorf("%v, %v after %v", r, err, d)
			}
		})
	}
}

// A CLI that obeys an interrupt exits immediately, although the end of its input alone
// would not stop it.
func TestCancelledCLIExitsAtOnce(t *testing.T) {
	for _, way := range []string{"cancel", "break"} {
		t.Run(way, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var begun time.Time
			after := 0
			var last error
			for m, err := range claude.Query(ctx, "go", fake("obeys")) {
				if !begun.IsZero() && err == nil {
					after++
				}
				if last = err; m == nil || label(m) != "assistant:at work" {
					continue
				}
				begun = time.Now()
				if way == "break" {
					break
				}
				cancel()
			}
			if d := time.Since(begun); begun.IsZero() || d > 500*time.Millisecond || after > 0 {
				t.Errorf("gone after %v, with %d messages", d, after)
			}
			if way == "cancel" && !errors.Is(last, context.Canceled) {
				t.Errorf("last is %v; want not (way == \"cancel\" && !errors.Is(last, context.Canceled))", last)
			}
		})
	}
}

// A cancelled Connect does not wait for a CLI that is still starting.
func TestCancelledConnectDoesNotWaitForTheStart(t *testing.T) {
	connect := map[string]func(ctx context.Context, o *claude.Options) error{
		"Connect": func(ctx context.Context, o *claude.Options) error { _, err := claude.Connect(ctx, o); return err },
		"Prewarm": func(ctx context.Context, o *claude.Options) error { _, err := claude.Prewarm(ctx, o); return err },
	}
	for name, connect := range connect {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			opts := fake("starts")
			opts.CloseGrace = 2 * bound
			opts.Stderr = func(string) { cancel() }
			begun := time.Now()
			if err := connect(ctx, opts); !errors.Is(err, context.Canceled) || time.Since(begun) > bound {
				t.Errorf("%v after %v", err, time.Since(begun))
			}
		})
	}
}

func TestTornResultBeforeExitZero(t *testing.T) {
	var last error
	for _, err := range claude.Query(t.Context(), "go", fake("torn-well")) {
		last = err
	}
	if !errors.Is(last, claude.ErrNoResult) {
		t.Errorf("last is %v; want errors.Is(last, claude.ErrNoResult)", last)
	}
	if r, err := claude.Run(t.Context(), "go", fake("torn-well")); r != nil || !errors.Is(err, claude.ErrNoResult) {
		t.Errorf("r is %v, err is %v; want r == nil and errors.Is(err, claude.ErrNoResult)", r, err)
	}
}
