package claude_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// inProcess returns options for a program that runs in this process.
func inProcess(program claudetest.Program) *claude.Options {
	return &claude.Options{Spawner: claudetest.InProcess(program), CleanEnv: true, Logger: slog.New(slog.DiscardHandler)}
}

func prewarm(t *testing.T, opts *claude.Options) *claude.Warm {
	t.Helper()
	w, err := claude.Prewarm(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// cliEarly writes messages before its first prompt, like a CLI with start hooks, and reports
// the progress of its start.
func cliEarly(cli *claudetest.CLI) int {
	req, err := cli.AwaitInitialize()
	if err != nil {
		return 1
	}
	if cli.Env("CLAUDE_CODE_SDK_READS_STARTUP_MARKS") == "1" {
		cli.Emit(&message.KeepAlive{StartupMark: "settings_loaded"})
	}
	cli.Respond(req.ID, cli.Info, nil)
	cli.Emit(&message.HookStarted{HookName: "SessionStart:startup"})
	for {
		m, err := cli.Prompt()
		if err != nil {
			return 0
		}
		cli.Turn("you said " + m.Text())
	}
}

func TestPrewarmQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := prewarm(t, inProcess(cliEarly))
		defer w.Close()
		if w.ServerInfo() == nil || w.Check(t.Context()) != nil {
			t.Error("it is not connected")
		}
		var kinds []string
		for m, err := range w.Query(t.Context(), "hello") {
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, message.Kind(m))
		}
		all := strings.Join(kinds, " ")
		if !strings.HasPrefix(all, "system/hook_started") || !strings.Contains(all, "result") || strings.Contains(all, "keep_alive") {
			t.Errorf("messages: %s", all)
		}
		<-w.Done()
		for _, err := range w.Query(t.Context(), "again") {
			if !errors.Is(err, claude.ErrUsed) || !errors.Is(err, claude.ErrWarmUsed) {
				t.Errorf("a second query: %v", err)
			}
		}
		if _, err := w.Connect(t.Context()); !errors.Is(err, claude.ErrUsed) {
			t.Errorf("a client behind a query: %v", err)
		}
	})
}

func TestPrewarmRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := prewarm(t, inProcess(cliHello))
		r, err := w.Run(t.Context(), "hello")
		if err != nil || r.Result != "you said hello" {
			t.Errorf("%+v, %v; want err == nil and r.Result == \"you said hello\"", r, err)
		}
		if _, err := w.Run(t.Context(), "again"); !errors.Is(err, claude.ErrUsed) {
			t.Error(err)
		}
	})
}

func TestPrewarmQueryStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := prewarm(t, inProcess(cliHello))
		var got []string
		next := make(chan bool, 1)
		for m, err := range w.QueryStream(t.Context(), func(_ context.Context, send func(message.UserInput) error) error {
			if err := send(claude.Text("one")); err != nil {
				return err
			}
			<-next
			return send(claude.Text("two"))
		}) {
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := m.(*message.Result); ok {
				got = append(got, r.Result)
				if len(got) == 1 {
					next <- true
				}
			}
		}
		if strings.Join(got, ", ") != "you said one, you said two" {
			t.Errorf("%q; want strings.Join(got, \", \") == \"you said one, you said two\"", got)
		}
	})
}

func TestPrewarmConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := prewarm(t, inProcess(cliEarly))
		client, err := w.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, prompt := range []string{"one", "two"} {
			r, err := send(t, client, prompt).Wait(t.Context())
			if err != nil || r.Result != "you said "+prompt {
				t.Errorf("%+v, %v; want err == nil and r.Result == \"you said \"+prompt", r, err)
			}
		}
		for m, err := range client.Messages(t.Context()) {
			if err != nil || message.Kind(m) != "system/hook_started" {
				t.Errorf("what came before: %v, %v", m, err)
			}
			break
		}
		client.Close()
	})
}

func TestPrewarmClose(t *testing.T) {
	w := prewarm(t, claudetest.FakeCLI("hello"))
	if w.PID() == 0 {
		t.Error("no process")
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	<-w.Done()
	if _, err := w.Connect(t.Context()); !errors.Is(err, claude.ErrUsed) {
		t.Error(err)
	}
}

func TestPrewarmFails(t *testing.T) {
	_, err := claude.Prewarm(t.Context(), claudetest.FakeCLI("dead-on-arrival"))
	if _, ok := errors.AsType[*claude.HandshakeError](err); !ok {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no more")
	cancel(why)
	if _, err := claude.Prewarm(ctx, claudetest.FakeCLI("hello")); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestExitNamesOutOfMemory(t *testing.T) {
	err := &claude.ExitError{Code: -1, Signal: "SIGKILL", Foreign: true, OutOfMemory: true}
	if !strings.Contains(err.Error(), "OOM killer") {
		t.Error(err)
	}
}
