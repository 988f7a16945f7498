package codexagent_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// recordedThread returns a provider on a scripted server with the files of a recording, and the thread. The first prompt has the id "prompt-1".
func recordedThread(t *testing.T, server *codextest.Server) (*codexagent.Provider, *rollout.Conversation) {
	t.Helper()
	p := scripted(t, server)
	p.Options.Home = recordedHome(t, "usage_turns")
	id := ""
	err := filepath.WalkDir(p.Options.Home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".jsonl") || !strings.HasPrefix(e.Name(), "rollout-") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		id = strings.TrimSuffix(e.Name(), ".jsonl")[len("rollout-2026-01-01T00-00-00-"):]
		return os.WriteFile(path, bytes.Replace(text, []byte(`"type":"UserMessage",`), []byte(`"type":"UserMessage","client_id":"prompt-1",`), 1), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := rollout.Open(p.Options.Home).Read(t.Context(), id)
	if err != nil || len(c.Turns) < 2 {
		t.Fatalf("the recording has the thread %+v, %v; want two turns", c, err)
	}
	return p, c
}

// TestAdmin checks that changes go through a server of Codex, which ends after each change and is
// not started for a thread that does not exist.
func TestAdmin(t *testing.T) {
	methods := map[string]string{"rename": "thread/name/set", "delete": "thread/archive", "fork": "thread/fork", "fork all": "thread/fork"}
	for name, refused := range map[string]bool{"done": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			server := &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
				if refused && (c.Method == "thread/fork" || c.Method == "thread/archive" || c.Method == "thread/name/set") {
					return nil, &jsonrpc.Error{Code: -32600, Message: "no rollout found for it"}, true
				}
				return map[string]any{}, nil, c.Method == "thread/name/set" || c.Method == "thread/archive"
			}}
			p, c := recordedThread(t, server)
			last := c.Turns[1]
			opened, err := p.Resume(t.Context(), c.ThreadID, agent.Options{Dir: "/"})
			if err != nil {
				t.Fatal(err)
			}
			s := opened.(*codexagent.Session)
			defer s.Close()
			h := p.History()
			fork := func(ctx context.Context, at string) error {
				id, err := s.Fork(ctx, at)
				if (id == "") != refused {
					t.Errorf("the fork has the id %q", id)
				}
				return err
			}
			for what, call := range map[string]func(context.Context) error{
				"rename":   func(ctx context.Context) error { return h.Rename(ctx, c.ThreadID, "a title") },
				"delete":   func(ctx context.Context) error { return h.Delete(ctx, c.ThreadID) },
				"fork":     func(ctx context.Context) error { return fork(ctx, last.Items[0].Head().ID) },
				"fork all": func(ctx context.Context) error { return fork(ctx, "") },
			} {
				before := len(server.Sessions())
				if err := call(t.Context()); (err != nil) != refused || refused && !errors.Is(err, agent.ErrNotFound) {
					t.Errorf("%s: %v, want an error: %v", what, err, refused)
				}
				runs := server.Sessions()[before:]
				if len(runs) != 1 {
					t.Fatalf("%s: %d servers were started, want 1", what, len(runs))
				}
				want := map[string]string{
					"rename": `{"name":"a title","threadId":"` + c.ThreadID + `"}`, "delete": `{"threadId":"` + c.ThreadID + `"}`,
					"fork": `{"cwd":"/","lastTurnId":"` + last.ID + `","threadId":"` + c.ThreadID + `"}`, "fork all": `{"cwd":"/","threadId":"` + c.ThreadID + `"}`,
				}[what]
				got := ""
				for _, call := range runs[0].Calls() {
					if call.Method == methods[what] {
						got += string(call.Params)
					}
				}
				if got != want {
					t.Errorf("%s: the server got %s, want %s", what, got, want)
				}
			}
			before := len(server.Sessions())
			for what, call := range map[string]func(context.Context) error{
				"rename": func(ctx context.Context) error { return h.Rename(ctx, "none", "a title") },
				"delete": func(ctx context.Context) error { return h.Delete(ctx, "none") },
				"fork":   func(ctx context.Context) error { _, err := s.Fork(ctx, "none"); return err },
			} {
				if err := call(t.Context()); !errors.Is(err, agent.ErrNotFound) {
					t.Errorf("%s of nothing: %v, want %v", what, err, agent.ErrNotFound)
				}
			}
			if n := len(server.Sessions()) - before; n != 0 {
				t.Errorf("%d servers were started for what does not exist", n)
			}
		})
	}
}

// TestResume_forkAt checks that a fork copies the turns up to that of a message, given by the id of
// the message, of its prompt, or of the turn.
func TestResume_forkAt(t *testing.T) {
	server := &codextest.Server{}
	p, c := recordedThread(t, server)
	for at, want := range map[string]string{"": "", "prompt-1": c.Turns[0].ID, c.Turns[1].ID: c.Turns[1].ID, c.Turns[1].Items[1].Head().ID: c.Turns[1].ID} {
		s, err := p.Resume(t.Context(), c.ThreadID, agent.Options{Fork: true, At: at})
		if err != nil {
			t.Fatalf("at %q: %v", at, err)
		}
		runs := server.Sessions()
		for _, call := range runs[len(runs)-1].Calls() {
			if got := strings.Contains(string(call.Params), `"lastTurnId":"`+want+`"`); call.Method == "thread/fork" && got != (want != "") {
				t.Errorf("at %q the server got %s, want the turn %q", at, call.Params, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDelivered checks that a prompt in the files counts as delivered, and that the state of any
// other prompt is unknown.
func TestDelivered(t *testing.T) {
	p, c := recordedThread(t, &codextest.Server{})
	for _, tt := range []struct {
		thread, prompt string
		want           agent.Delivery
	}{{c.ThreadID, "prompt-1", agent.Delivered}, {c.ThreadID, "prompt-2", agent.DeliveryUnknown}, {"none", "prompt-1", agent.DeliveryUnknown}} {
		if got, err := p.Delivered(t.Context(), tt.thread, tt.prompt); got != tt.want || err != nil {
			t.Errorf("%s of %s: %v, %v; want %v", tt.prompt, tt.thread, got, err, tt.want)
		}
	}
	homeless := &codexagent.Provider{}
	homeless.Options.Env = []string{"X=1"}
	if got, err := homeless.Delivered(t.Context(), c.ThreadID, "prompt-1"); got != agent.DeliveryUnknown || err == nil {
		t.Errorf("without a home: %v, %v; want an error", got, err)
	}
}
