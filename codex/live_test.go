package codex_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

// world is the real program with a scripted API.
type world struct {
	*testing.T
	api    *codextest.API
	home   *codextest.Home
	opts   *codex.Options
	client *codex.Client

	mu        sync.Mutex
	approvals []*codex.Approval
}

// both runs a conversation with each pinned version.
func both(t *testing.T, f func(t *testing.T, version string)) {
	t.Parallel()
	for _, version := range []string{codexcli.Newer, codexcli.Older} {
		t.Run(version, func(t *testing.T) { f(t, version) })
	}
}

// live runs a conversation with a pinned version; change may be nil.
func live(t *testing.T, version string, change func(w *world)) *world {
	t.Helper()
	return liveConfig(t, version, "", change)
}

func liveConfig(t *testing.T, version, config string, change func(w *world)) *world {
	t.Helper()
	t.Parallel()
	path := codexcli.Require(t, version)
	w := &world{T: t, api: codextest.NewAPI(t)}
	w.home = codextest.NewHome(t, w.api, config)
	w.opts = w.home.Options(t, path)
	if change != nil {
		change(w)
	}
	record(t, w.opts)
	w.connect()
	return w
}

// recordVariable names a directory to which the live conversations are recorded, in the form of
// testdata/codex.
const recordVariable = "PARLEY_CODEX_RECORD"

func record(t *testing.T, opts *codex.Options) {
	dir := os.Getenv(recordVariable)
	if dir == "" {
		return
	}
	r := &codextest.Recorder{}
	opts.Spawner = r
	t.Cleanup(func() {
		if err := r.Save(filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_"))); err != nil {
			t.Error(err)
		}
	})
}

func (w *world) connect() {
	w.Helper()
	client, err := codex.Connect(w.Context(), w.opts)
	if err != nil {
		w.Fatal(err)
	}
	w.client = client
	w.Cleanup(func() {
		if err := client.Close(); err != nil {
			w.Errorf("closing: %v", err)
		}
	})
}

// decide answers every approval with a decision and records the approvals.
func (w *world) decide(d codex.Decision) {
	w.opts.Approve = func(_ context.Context, a *codex.Approval) (codex.Decision, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.approvals = append(w.approvals, a)
		return d, nil
	}
}

func (w *world) asked() []*codex.Approval {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.approvals
}

func (w *world) thread(opts *codex.ThreadOptions) *codex.Thread {
	w.Helper()
	if opts == nil {
		opts = &codex.ThreadOptions{}
	}
	if opts.CWD == "" {
		opts.CWD = w.home.Project
	}
	th, err := w.client.StartThread(w.Context(), opts)
	if err != nil {
		w.Fatal(err)
	}
	return th
}

func (w *world) run(th *codex.Thread, prompt string) *codex.Result {
	w.Helper()
	r, err := th.Run(w.Context(), prompt)
	if err != nil {
		w.Fatalf("%s: %v", prompt, err)
	}
	return r
}

// items returns the items of a type.
func items[T item.Item](list []item.Item) (out []T) {
	for _, i := range list {
		if v, ok := i.(T); ok {
			out = append(out, v)
		}
	}
	return out
}

func (w *world) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(filepath.Join(w.home.Project, name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.Helper()
	b, err := os.ReadFile(filepath.Join(w.home.Project, name))
	if err != nil && !os.IsNotExist(err) {
		w.Fatal(err)
	}
	return string(b)
}

func TestLive_text(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		w.api.Reply(codextest.Stream(codextest.Usage{Input: 300, Cached: 200, Output: 7, Reasoning: 3},
			append(codextest.Reason("**Think** first"), codextest.Message("Hello ", "there.")...)...))
		th := w.thread(nil)
		var text strings.Builder
		var last item.Notification
		for n, err := range th.Query(t.Context(), "Hi") {
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := n.(*item.AgentMessageDelta); ok {
				text.WriteString(d.Delta)
			}
			last = n
		}
		if _, ok := last.(*item.TurnCompleted); !ok || text.String() != "Hello there." {
			t.Errorf("text %q, last %T", text.String(), last)
		}
		u := th.Usage()
		if u.Last.InputTokens != 300 || u.Last.CachedInputTokens != 200 || u.Last.OutputTokens != 7 || u.Last.ReasoningOutputTokens != 3 {
			t.Errorf("usage %+v", u)
		}
		if !strings.Contains(w.client.Info().UserAgent, version) {
			t.Errorf("info %+v", w.client.Info())
		}
	})
}

func TestLive_commandAllowed(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) { w.decide(codex.Accept) })
		w.api.Reply(codextest.Calls(codextest.EscalatedCommand("call_1", "echo privileged; echo more", "May I?")), codextest.Say("Done."))
		r := w.run(w.thread(nil), "Run it")
		cmds := items[*item.CommandExecution](r.Items)
		if len(cmds) != 1 || cmds[0].Status != item.StatusCompleted || *cmds[0].ExitCode != 0 {
			t.Fatalf("commands %+v", cmds)
		}
		if out, cut := item.Output("", cmds[0].AggregatedOutput); out != "privileged\nmore\n" || cut {
			t.Errorf("output %q", out)
		}
		a := w.asked()
		if len(a) != 1 || a[0].Kind != codex.ApproveCommand || !strings.Contains(a[0].Command, "echo privileged") || a[0].Reason != "May I?" || a[0].ItemID != "call_1" || a[0].Item == nil {
			t.Errorf("approvals %+v", a)
		}
		if r.Text != "Done." {
			t.Errorf("text %q", r.Text)
		}
	})
}

func TestLive_commandDeclined(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		// Without a callback, and with failing ones, no command runs.
		for name, approve := range map[string]func(context.Context, *codex.Approval) (codex.Decision, error){
			"none":    nil,
			"decline": func(context.Context, *codex.Approval) (codex.Decision, error) { return codex.Decline, nil },
			"error":   func(context.Context, *codex.Approval) (codex.Decision, error) { return codex.Accept, errors.New("no") },
			"panic":   func(context.Context, *codex.Approval) (codex.Decision, error) { panic("boom") },
		} {
			t.Run(name, func(t *testing.T) {
				w := live(t, version, func(w *world) { w.opts.Approve = approve })
				w.api.Reply(codextest.Calls(codextest.EscalatedCommand("call_1", "touch ran", "May I?")), codextest.Say("Fine."))
				r := w.run(w.thread(nil), "Run it")
				cmds := items[*item.CommandExecution](r.Items)
				if len(cmds) != 1 || cmds[0].Status != item.StatusDeclined || r.Text != "Fine." {
					t.Errorf("commands %+v, text %q", cmds, r.Text)
				}
				if _, err := os.Stat(filepath.Join(w.home.Project, "ran")); err == nil {
					t.Error("the command ran")
				}
			})
		}
	})
}

func TestLive_commandForSession(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) { w.decide(codex.AcceptForSession) })
		same := codextest.EscalatedCommand("call_1", "echo again", "May I?")
		w.api.Reply(codextest.Calls(same), codextest.Say("One."), codextest.Calls(codextest.EscalatedCommand("call_2", "echo again", "May I?")), codextest.Say("Two."))
		th := w.thread(nil)
		w.run(th, "Run it")
		r := w.run(th, "Run it again")
		if n, ran := len(w.asked()), items[*item.CommandExecution](r.Items); n != 1 || len(ran) != 1 {
			t.Errorf("asked %d times; the second turn has the commands %+v and the text %q, want one of each", n, ran, r.Text)
		}
	})
}

const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n two\n*** End Patch\n"

func TestLive_patch(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		for _, d := range []codex.Decision{codex.Accept, codex.Decline} {
			t.Run(fmt.Sprint(d == codex.Accept), func(t *testing.T) {
				w := live(t, version, func(w *world) { w.decide(d) })
				w.write("a.txt", "one\ntwo\n")
				w.api.Reply(codextest.Calls(codextest.Patch("call_1", patch)), codextest.Say("Done."))
				r := w.run(w.thread(&codex.ThreadOptions{ApprovalPolicy: "untrusted", Sandbox: "read-only"}), "Fix it")
				a := w.asked()
				if len(a) != 1 || a[0].Kind != codex.ApproveFileChange || len(a[0].Changes) != 1 || !strings.Contains(a[0].Changes[0].Diff, "+ONE") {
					t.Fatalf("approvals %+v", a)
				}
				want, status := "ONE\ntwo\n", item.StatusCompleted
				if d != codex.Accept {
					want, status = "one\ntwo\n", item.StatusDeclined
				}
				changes := items[*item.FileChange](r.Items)
				if got := w.read("a.txt"); got != want || len(changes) != 1 || changes[0].Status != status {
					t.Errorf("file %q, items %+v", got, changes)
				}
				if (d == codex.Accept) != strings.Contains(r.Diff, "+ONE") {
					t.Errorf("diff %q", r.Diff)
				}
			})
		}
	})
}
