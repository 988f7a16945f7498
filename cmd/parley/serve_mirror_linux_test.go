package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	claudenats "github.com/seed7221b0f9/parley/claude/claudestore/nats"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// mirrored is an agent whose files are copied.
type mirrored struct {
	start    func(project string, args ...string) (w *hostWorld, home string)
	requests func() []string                                                     // what the model got
	copied   func(store func(stream string) *claudenats.Store, id string) string // the text of the copy of a session
}

// mirroredClaude is Claude Code. Each start has a HOME.
func mirroredClaude(t *testing.T) mirrored {
	cli := e2e.CLI(t)
	fake := claudetest.StartFakeAPI(t, claudetest.Replies(claudetest.Say("The first answer."), claudetest.Say("The second answer.")))
	return mirrored{
		start: func(project string, args ...string) (*hostWorld, string) {
			home := t.TempDir()
			env, err := claudetest.HermeticEnv(home, fake.URL())
			if err == nil {
				err = claudetest.IsolateProject(project)
			}
			if err != nil {
				t.Fatal(err)
			}
			w := &hostWorld{t: t, api: fake}
			w.start(project, append(env, "PATH="+os.Getenv("PATH")), append(args, "--cli", cli, "--agent", "claude")...)
			return w, home
		},
		requests: func() (bodies []string) {
			for _, q := range fake.Requests() {
				bodies = append(bodies, string(q.Body))
			}
			return bodies
		},
		copied: func(store func(string) *claudenats.Store, id string) string {
			s := store("PARLEY_CLAUDE")
			keys, err := s.FindSession(t.Context(), id)
			if err != nil || len(keys) == 0 {
				return ""
			}
			return entriesOf(t, s, claude.SessionKey{ProjectKey: keys[0], SessionID: id})
		},
	}
}

// mirroredCodex returns Codex, with a new CODEX_HOME at each start.
func mirroredCodex(t *testing.T) mirrored {
	program := codexcli.Require(t, codexcli.Newer)
	fake := codextest.NewAPI(t)
	fake.Reply(codextest.Say("The first answer."), codextest.Say("The second answer."))
	return mirrored{
		start: func(project string, args ...string) (*hostWorld, string) {
			home := codextest.NewHome(t, fake, "")
			if err := os.MkdirAll(project, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home.Codex, "config.toml"), []byte(codextest.Config(fake.URL(), project, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			w := &hostWorld{t: t}
			w.start(project, append(home.Env(), "PARLEY_CODEX="+program), append(args, "--agent", "codex")...)
			return w, home.Root
		},
		requests: func() (bodies []string) {
			for _, q := range fake.Requests() {
				bodies = append(bodies, string(q.Body))
			}
			return bodies
		},
		copied: func(store func(string) *claudenats.Store, id string) (text string) {
			s, key := store("PARLEY_CODEX"), claude.SessionKey{ProjectKey: "codex", SessionID: id}
			files, err := s.ListSubkeys(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			for _, key.Subpath = range files {
				text += entriesOf(t, s, key)
			}
			return text
		},
	}
}

func entriesOf(t *testing.T, s *claudenats.Store, key claude.SessionKey) string {
	t.Helper()
	entries, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s", entries)
}

// TestServe_mirror loses a machine of a cluster: the server, the host, the real agent and their disk. The session is unreachable until the machine
// is declared gone. Then the server of another machine, whose agent has its own files, continues the session, and the model gets the earlier messages.
func TestServe_mirror(t *testing.T) {
	short.Skip(t, "servers")
	t.Run("claude", func(t *testing.T) { loseMachine(t, mirroredClaude(t)) })
	t.Run("codex", func(t *testing.T) { loseMachine(t, mirroredCodex(t)) })
}

func loseMachine(t *testing.T, agent mirrored) {
	urls := natstest.URL(natstest.Server(t, &natsserver.Options{SyncAlways: true}))
	leases, err := eventlog.Open(t.Context(), &eventlog.Options{URL: urls, LeaseTTL: clusterTTL}) // the first one sets the time
	if err == nil {
		err = leases.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	shared := t.TempDir()
	project, secret := filepath.Join(shared, "project"), filepath.Join(shared, "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("k", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, home := agent.start(project, "--nats", urls, "--secret-key-file", secret)
	two, _ := agent.start(project, "--nats", urls, "--secret-key-file", secret)
	var r api.ConnectResult
	one.call("session.connect", api.ConnectParams{InitialPrompt: "the first prompt"}, &r)
	one.session, two.session = r.SessionID, r.SessionID
	first := func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" }
	one.until("the first turn ends", first)
	store, id := openCopies(t, urls), agentID(one)
	eventually(t, "the turn is copied", func() bool { return strings.Contains(agent.copied(store, id), "The first answer.") })

	one.loseDisk(home)
	two.until("the other server has the session", first)
	eventually(t, "the agent of the session is out of reach", func() bool {
		err := two.client.Call(t.Context(), "session.setModel", api.SetModelParams{SessionID: two.session, Model: "haiku"}, nil)
		return client.Reason(err) == api.NotConnected && strings.Contains(err.Error(), "parley nodes forget")
	})
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	checkForget(two, "elsewhere", "no host", term.ExitFailed)
	checkForget(two, machine, "1 hosts of "+machine+" were removed", 0)
	two.call("session.query", api.QueryParams{SessionID: two.session, Text: "the second prompt"}, nil)
	c := two.until("the second turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 2 && c.State == "idle" })
	if !strings.Contains(conversationText(c), "The second answer.") {
		t.Errorf("the conversation is\n%s", conversationText(c))
	}
	if !slices.ContainsFunc(agent.requests(), func(body string) bool {
		return strings.Contains(body, "the first prompt") && strings.Contains(body, "The first answer.") && strings.Contains(body, "the second prompt")
	}) {
		t.Errorf("the model got %s", agent.requests())
	}
	checkForget(two, machine, "reaches the agents", term.ExitFailed)
	two.end(syscall.SIGINT)
}

// loseDisk kills the server, the host and the agents, and removes their files.
func (w *hostWorld) loseDisk(home string) {
	t := w.t
	t.Helper()
	pid := hostPID(w)
	w.end(syscall.SIGKILL)
	for _, a := range w.agents() {
		if err := syscall.Kill(-a.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{w.data, home} {
		eventually(t, "the disk of the machine is gone", func() bool { return os.RemoveAll(dir) == nil })
	}
}

// checkForget declares a machine lost with the command.
func checkForget(w *hostWorld, machine, want string, code int) {
	w.t.Helper()
	s := &simServer{T: w.t, dir: filepath.Dir(w.project), data: w.data, env: w.env}
	out, complaints, got := s.start("", "nodes", "forget", "--data", w.data, machine).wait()
	if got != code || !strings.Contains(out+complaints, want) {
		w.t.Fatalf("forgetting %s: exit code %d, %s; want %d, %s", machine, got, out+complaints, code, want)
	}
}

// openCopies returns a function that opens the store with the copied files of the agents.
func openCopies(t *testing.T, url string) func(stream string) *claudenats.Store {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return func(stream string) *claudenats.Store {
		store, err := claudenats.OpenConn(t.Context(), nc, claudenats.Options{Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
}

// agentID returns the id of the session at its agent.
func agentID(w *hostWorld) string {
	w.t.Helper()
	var list api.ListResult
	w.call("session.list", api.ListParams{}, &list)
	if len(list.Sessions) != 1 {
		w.t.Fatalf("the sessions are %+v, want one", list.Sessions)
	}
	return list.Sessions[0].AgentSessionID
}

// hostPID returns the process of the host.
func hostPID(w *hostWorld) int {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	l, err := host.Dial(ctx, w.data, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	return l.Host().PID
}
