package e2e_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// working returns the replies of an agent that works for a long time: a tool, then
// another one that writes a file, then an answer.
func working() []claudetest.Reply {
	return []claudetest.Reply{
		claudetest.Use("Bash", map[string]any{"command": "touch begun; sleep 6; touch ended", "description": "Work"}),
		claudetest.Use("Bash", map[string]any{"command": "touch second", "description": "Work on"}),
		claudetest.Say("all done"),
	}
}

// cancelForms are the ways to run a prompt with a cancellable context.
var cancelForms = map[string]func(ctx context.Context, w *world) iter.Seq2[message.Message, error]{
	"Query": func(ctx context.Context, w *world) iter.Seq2[message.Message, error] {
		return claude.Query(ctx, "work", w.opts)
	},
	"QueryStream": func(ctx context.Context, w *world) iter.Seq2[message.Message, error] {
		return claude.QueryStream(ctx, func(_ context.Context, send func(message.UserInput) error) error {
			return send(claude.Text("work")) // the input has ended when the context does
		}, w.opts)
	},
	"Client.Query": func(ctx context.Context, w *world) iter.Seq2[message.Message, error] {
		return w.connect().Query(ctx, "work")
	},
	"Run": func(ctx context.Context, w *world) iter.Seq2[message.Message, error] {
		return func(yield func(message.Message, error) bool) {
			_, err := claude.Run(ctx, "work", w.opts)
			yield(nil, err)
		}
	},
}

// TestCancelStopsTheAgent checks that the end of the context stops the agent while its first tool
// runs: the tool does not finish, no other tool starts, and the model gets no further request.
func TestCancelStopsTheAgent(t *testing.T) {
	t.Parallel()
	for name, form := range cancelForms {
		for _, breaks := range []bool{false, true} {
			if breaks && name == "Run" {
				continue
			}
			if breaks {
				name += " break"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, working()...)
				w.opts.AllowedTools, w.opts.CloseGrace = []string{"Bash"}, 20*time.Second
				cancelAtTheTool(t, w, form, breaks)
			})
		}
	}
}

func cancelAtTheTool(t *testing.T, w *world, form func(context.Context, *world) iter.Seq2[message.Message, error], breaks bool) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun, ended := make(chan time.Time, 1), make(chan struct{})
	go func() {
		for range time.Tick(5 * time.Millisecond) {
			select {
			case <-ended:
				close(begun)
				return
			default:
			}
			if w.exists("begun") {
				break
			}
		}
		begun <- time.Now()
		if !breaks {
			cancel()
		}
	}()
	late := 0
	var last error
	for m, err := range form(ctx, w) {
		if last = err; err == nil && ctx.Err() != nil {
			late++
		}
		if _, ok := m.(*message.Assistant); ok && breaks {
			at := <-begun
			begun <- at
			break
		}
	}
	gone := time.Now()
	close(ended)
	at, ok := <-begun
	if !ok {
		t.Fatalf("the tool was not begun: %v", last)
	}
	if took := gone.Sub(at); took > w.opts.CloseGrace { // which it must not use up
		t.Errorf("gone %v after the tool began", took)
	}
	if late > 0 || !breaks && !errors.Is(last, context.Canceled) {
		t.Errorf("%d messages after the cancel, then %v", late, last)
	}
	// As long as the agent would have needed for the rest.
	settled, stop := context.WithTimeout(t.Context(), 7*time.Second)
	defer stop()
	if err := w.api.WaitRequests(settled, 2); err == nil {
		t.Error("the model was asked again")
	}
	if w.exists("ended") || w.exists("second") {
		t.Errorf("tools went on: ended %v, second %v", w.exists("ended"), w.exists("second"))
	}
}
