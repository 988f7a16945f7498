package sim

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/fakecli"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) {
	fakecli.RunProgram(map[string]fakecli.Program{Name: Program})
	e2e.VerifyMain(m)
}

// connect starts the agent in a separate process, without delays.
func connect(t *testing.T, change func(*claude.Options)) *claude.Client {
	t.Helper()
	opts := fakecli.Options(Name)
	opts.Env[PaceVariable], opts.Env["PATH"], opts.Env["TMPDIR"] = "0", os.Getenv("PATH"), t.TempDir()
	opts.Logger = slog.New(slog.DiscardHandler)
	if change != nil {
		change(opts)
	}
	client, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		if left, _ := filepath.Glob(filepath.Join(opts.Env["TMPDIR"], "parley-sim-*")); len(left) > 0 {
			t.Error("left behind:", left)
		}
	})
	return client
}

func partial(o *claude.Options) { o.IncludePartialMessages = true }

// Every tour follows the protocol: all messages are known, the whole messages equal their
// parts, and the first words are the disclosure.
func TestTours(t *testing.T) {
	prompts := []string{"anything else", "/help", "/context", "/clear", "/tours", "/nonsense"}
	for _, tour := range tours {
		if tour.words[0] != "wait" {
			prompts = append(prompts, "please "+tour.words[0])
		}
	}
	for _, change := range []func(*claude.Options){nil, partial} {
		client := connect(t, change)
		for _, prompt := range prompts {
			var acc message.Accumulator
			var text, parts strings.Builder
			var result *message.Result
			for m, err := range client.Query(t.Context(), prompt) {
				if errors.As(err, new(*claude.ResultError)) {
					break // of the result before it
				}
				if err != nil {
					t.Fatal(err)
				}
				checkKnown(t, m)
				acc.Add(m)
				switch m := m.(type) {
				case *message.StreamEvent:
					if e, ok := m.Event.(*message.ContentBlockDelta); ok {
						if d, ok := e.Delta.(*message.TextDelta); ok {
							parts.WriteString(d.Text)
						}
					}
				case *message.Assistant:
					text.WriteString(m.Text())
				case *message.Init:
					if m.Model != Model || m.CWD == "" {
						t.Errorf("%q: model %q in %q", prompt, m.Model, m.CWD)
					}
				case *message.Result:
					result = m
				}
			}
			local := strings.HasPrefix(prompt, "/") && prompt != "/nonsense"
			if change != nil && !local && parts.String() != text.String() {
				t.Errorf("%q: the parts are %q, the whole is %q", prompt, parts.String(), text.String())
			}
			if !local && !strings.HasPrefix(text.String(), "*"+Disclosure+"*") {
				t.Errorf("%q begins with %.80q", prompt, text.String())
			}
			if result.TotalCostUSD != 0 || result.Result == "" || result.IsError != strings.Contains(prompt, "fail") || result.ModelUsage[Model].OutputTokens == 0 && !local {
				t.Errorf("%q: %s; want result.TotalCostUSD == 0 and result.Result != \"\" and result.IsError == strings.Contains(prompt, \"fail\") and not (result.ModelUsage[Model].OutputTokens == 0 && !local)", prompt, result.Raw())
			}
		}
	}
}

func checkKnown(t *testing.T, m message.Message) {
	t.Helper()
	switch m := m.(type) {
	case *message.Unknown, *message.BadLine, *message.System:
		t.Errorf("unknown: %s", m.Raw())
	case *message.Assistant:
		for _, b := range m.Message.Content {
			if _, unknown := b.(*message.UnknownBlock); unknown {
				t.Errorf("unknown: %s", m.Raw())
			}
		}
	case *message.StreamEvent:
		if _, unknown := m.Event.(*message.UnknownEvent); unknown {
			t.Errorf("unknown: %s", m.Raw())
		}
	}
}

// Tools have real effects, one fails, and the agent continues.
func TestTools(t *testing.T) {
	client := connect(t, nil)
	var outcomes []string
	for m, err := range client.Query(t.Context(), "use tools") {
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := m.(*message.User); ok {
			for _, b := range u.Message.Content.Blocks() {
				if r, ok := b.(*message.ToolResult); ok {
					outcomes = append(outcomes, strings.TrimSpace(r.Content.String()))
					if r.IsError != strings.HasPrefix(r.Content.String(), "File does not exist") {
						t.Errorf("%s; want r.IsError == strings.HasPrefix(r.Content.String(), \"File does not exist\")", m.Raw())
					}
				}
			}
		}
	}
	if len(outcomes) != 5 || outcomes[1] != "Hello, world." || outcomes[3] != "hello.txt" {
		t.Errorf("%q; want len(outcomes) == 5 and outcomes[1] == \"Hello, world.\" and outcomes[3] == \"hello.txt\"", outcomes)
	}
}

func send(t *testing.T, client *claude.Client, prompt string) *claude.Turn {
	t.Helper()
	turn, err := client.Send(t.Context(), claude.Text(prompt))
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// Prompts are queued during a turn, can be cancelled, and run after an interrupt, which
// ends a turn as in the recording interrupt-stream.
func TestQueueAndInterrupt(t *testing.T) {
	client := connect(t, partial)
	waiting := send(t, client, "wait")
	var states []string
	second, third := (*claude.Turn)(nil), (*claude.Turn)(nil)
	var kinds []string
	for m, err := range client.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if l, ok := m.(*message.CommandLifecycle); ok {
			name := "first"
			if second != nil && l.CommandUUID == second.ID {
				name = "second"
			} else if third != nil && l.CommandUUID == third.ID {
				name = "third"
			}
			states = append(states, name+" "+string(l.State))
			if third != nil && l.CommandUUID == third.ID && l.State == message.CommandQueued {
				go cancelAndInterrupt(t.Context(), client, third)
			}
		}
		if e, ok := m.(*message.StreamEvent); ok && second == nil {
			if d, ok := e.Event.(*message.ContentBlockDelta); ok {
				if text, ok := d.Delta.(*message.TextDelta); ok && text.Text == "Waiting." {
					second, third = send(t, client, "think"), send(t, client, "tools")
				}
			}
		}
		if second != nil && len(kinds) < 40 {
			kinds = append(kinds, message.Kind(m))
		}
		if r, ok := m.(*message.Result); ok && !r.IsError {
			break
		}
	}
	result, err := waiting.Wait(t.Context())
	if !errors.As(err, new(*claude.ResultError)) || result.Subtype != message.ResultDuringExecution || result.TerminalReason != message.TerminalAbortedStreaming {
		t.Errorf("%+v, %v; want errors.As(err, new(*claude.ResultError)) and result.Subtype == message.ResultDuringExecution and result.TerminalReason == message.TerminalAbortedStreaming", result, err)
	}
	if _, err := third.Wait(t.Context()); !errors.Is(err, claude.ErrCancelled) {
		t.Errorf("third: %v", err)
	}
	want := []string{"first queued", "first started", "second queued", "third queued", "third cancelled", "first completed", "second started"}
	if !slices.Equal(states, want) {
		t.Errorf("got %q, want %q", states, want)
	}
	if i := slices.Index(kinds, "user"); i < 1 || kinds[i-1] != "assistant" { // the text so far, then the interrupt
		t.Errorf("an interrupt gives %q", kinds)
	}
}

// A prompt can be cancelled as soon as it is sent.
func TestCancel_atOnce(t *testing.T) {
	client := connect(t, nil)
	waiting := send(t, client, "wait")
	for i := range 300 {
		turn := send(t, client, "think")
		turn.Discard()
		if cancelled, err := client.CancelMessage(t.Context(), turn.ID); err != nil || !cancelled {
			t.Errorf("prompt %d: cancelled %t, %v; want true", i, cancelled, err)
			break
		}
	}
	if _, err := client.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _ = waiting.Wait(t.Context()) // it fails, and the agent is idle
}

func cancelAndInterrupt(ctx context.Context, client *claude.Client, turn *claude.Turn) {
	_ = turn.Cancel(ctx)
	_, _ = client.Interrupt(ctx)
}

func TestControl(t *testing.T) {
	client := connect(t, nil)
	if model, err := client.SetModel(t.Context(), "opus"); err != nil || model != "simulated-opus" {
		t.Errorf("%q, %v; want err == nil and model == \"simulated-opus\"", model, err)
	}
	if err := client.SetPermissionMode(t.Context(), message.ModePlan); err != nil {
		t.Error(err)
	}
	if err := client.SetPermissionMode(t.Context(), "sideways"); err == nil {
		t.Error("there is no such mode")
	}
	for m, err := range client.Query(t.Context(), "/context") {
		if err != nil {
			t.Fatal(err)
		}
		if init, ok := m.(*message.Init); ok && (init.Model != "simulated-opus" || init.PermissionMode != message.ModePlan) {
			t.Errorf("%s; want not (ok && (init.Model != \"simulated-opus\" || init.PermissionMode != message.ModePlan))", init.Raw())
		}
	}
	var usage struct{ MaxTokens int }
	if err := client.Control(t.Context(), "get_context_usage", nil, &usage); err != nil || usage.MaxTokens != window {
		t.Errorf("%+v, %v; want err == nil and usage.MaxTokens == window", usage, err)
	}
	if err := client.Control(t.Context(), "no_such_thing", nil, nil); !errors.Is(err, claude.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := client.Interrupt(t.Context()); err != nil {
		t.Error(err)
	}
	if names := client.ServerInfo().Commands; len(names) != len(commands) {
		t.Errorf("%+v; want len(names) == len(commands)", names)
	}
}
