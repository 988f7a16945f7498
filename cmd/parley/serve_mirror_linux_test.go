package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_mirror loses a machine of a cluster: the server, the host, the real CLI and their disk. The session is unreachable until the machine
// is declared gone. Then the server of another machine, whose CLI has its own HOME, continues the session, and the model gets the earlier messages.
func TestServe_mirror(t *testing.T) {
	short.Skip(t, "servers")
	cli := e2e.CLI(t)
	fake := claudetest.StartFakeAPI(t, claudetest.Replies(claudetest.Say("The first answer."), claudetest.Say("The second answer.")))
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
	if err := claudetest.IsolateProject(project); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte(strings.Repeat("k", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func() (w *hostWorld, home string) {
		home = t.TempDir()
		env, err := claudetest.HermeticEnv(home, fake.URL())
		if err != nil {
			t.Fatal(err)
		}
		w = &hostWorld{t: t, api: fake}
		w.start(project, append(env, "PATH="+os.Getenv("PATH")), "--cli", cli, "--agent", "claude", "--nats", urls, "--secret-key-file", secret)
		return w, home
	}
	one, home := start()
	two, _ := start()
	var r api.ConnectResult
	one.call("session.connect", api.ConnectParams{InitialPrompt: "the first prompt"}, &r)
	one.session, two.session = r.SessionID, r.SessionID
	first := func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" }
	one.until("the first turn ends", first)
	store := openCopies(t, urls)
	eventually(t, "the turn is copied", func() bool {
		keys, err := store.FindSession(t.Context(), agentID(one))
		if err != nil || len(keys) == 0 {
			return false
		}
		entries, err := store.Load(t.Context(), claude.SessionKey{ProjectKey: keys[0], SessionID: agentID(one)})
		return err == nil && strings.Contains(fmt.Sprintf("%s", entries), "The first answer.")
	})

	pid := hostPID(one)
	one.end(syscall.SIGKILL)
	for _, a := range one.agents() {
		if err := syscall.Kill(-a.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{one.data, home} {
		eventually(t, "the disk of the machine is gone", func() bool { return os.RemoveAll(dir) == nil })
	}
	two.until("the other server has the session", first)
	eventually(t, "the agent of the session is out of reach", func() bool {
		err := two.client.Call(t.Context(), "session.setModel", api.SetModelParams{SessionID: two.session, Model: "haiku"}, nil)
		return client.Reason(err) == api.NotConnected && strings.Contains(err.Error(), "parley nodes forget")
	})
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	forget := func(machine string) (string, int) {
		s := &simServer{T: t, dir: shared, data: two.data, env: two.env}
		out, complaints, code := s.start("", "nodes", "forget", "--data", two.data, machine).wait()
		return out + complaints, code
	}
	if out, code := forget("elsewhere"); code != term.ExitFailed || !strings.Contains(out, "no host") {
		t.Errorf("forgetting a machine that does not exist: exit code %d, %s", code, out)
	}
	if out, code := forget(machine); code != 0 || !strings.Contains(out, "1 hosts of "+machine+" were removed") {
		t.Fatalf("forgetting the machine: exit code %d, %s", code, out)
	}
	two.call("session.query", api.QueryParams{SessionID: two.session, Text: "the second prompt"}, nil)
	c := two.until("the second turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 2 && c.State == "idle" })
	if !strings.Contains(conversationText(c), "The second answer.") {
		t.Errorf("the conversation is\n%s", conversationText(c))
	}
	last := ""
	for _, q := range fake.Requests() {
		if !q.Side && q.Reply >= 0 {
			last = string(q.Body)
		}
	}
	for _, text := range []string{"the first prompt", "The first answer.", "the second prompt"} {
		if !strings.Contains(last, text) {
			t.Errorf("the model did not get %q", text)
		}
	}
	if out, code := forget(machine); code != term.ExitFailed || !strings.Contains(out, "reaches the agents") {
		t.Errorf("forgetting the machine of a server that runs: exit code %d, %s", code, out)
	}
	two.end(syscall.SIGINT)
}

// openCopies opens the store of the transcripts.
func openCopies(t *testing.T, url string) *claudenats.Store {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	store, err := claudenats.OpenConn(t.Context(), nc, claudenats.Options{Stream: "PARLEY_CLAUDE"})
	if err != nil {
		t.Fatal(err)
	}
	return store
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
