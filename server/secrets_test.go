package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// servers records the MCP servers and subagents with which its agents are started.
type servers struct {
	*agenttest.Provider
	mu  sync.Mutex
	got []string
}

func (p *servers) note(opts agent.Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, string(opts.MCPServers)+string(opts.Agents))
}

func (p *servers) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	p.note(opts)
	return p.Provider.Open(ctx, opts)
}

func (p *servers) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	p.note(opts)
	return p.Provider.Resume(ctx, id, opts)
}

func (p *servers) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got[len(p.got)-1]
}

// filesWith returns the files below a directory that contain a text.
func filesWith(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if bytes.Contains(data, []byte(text)) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestSecrets checks that passwords of MCP servers reach the agent, also after a restart and in a
// fork, and that they are stored only in one file of mode 0600, which is deleted with the session.
func TestSecrets(t *testing.T) {
	const password = "pass-4711-word"
	p := &servers{}
	h := newHarness(t, func(o *Options) {
		p.Provider = &agenttest.Provider{Dir: filepath.Join(filepath.Dir(o.Dir), "agent")}
		o.Providers = []agent.Provider{p}
	})
	var made api.ConnectResult
	h.call("session.connect", api.ConnectParams{
		MCPServers: event.JSON(`{"db":{"command":"db","env":{"KEY":"` + password + `"}}}`),
		Agents:     event.JSON(`{"a":{"description":"d","prompt":"p","mcpServers":[{"x":{"headers":{"Authorization":"` + password + `"}}}]}}`),
	}, &made)
	id := made.SessionID
	h.query(id, "say one")
	h.watch(id).results(1)
	if n := strings.Count(p.last(), password); n != 2 {
		t.Errorf("the agent got %s", p.last())
	}
	h.restart()
	h.query(id, "say two")
	h.watch(id).results(2)
	if n := strings.Count(p.last(), password); n != 2 {
		t.Errorf("after a restart the agent got %s", p.last())
	}
	var lists []string
	for _, method := range []string{"session.list", "session.getHistory"} {
		var all json.RawMessage
		h.call(method, api.SessionRef{SessionID: id}, &all)
		lists = append(lists, string(all))
	}
	var export json.RawMessage
	h.call("history.export", api.HistoryExportParams{Session: h.info(id).AgentID, Format: "markdown"}, &export)
	lists = append(lists, string(export))
	if strings.Contains(strings.Join(lists, ""), password) || strings.Contains(h.logs.String(), password) {
		t.Error("a list, an export or the server's log has the password")
	}
	want := filepath.Join(h.opts.Dir, secretDir, id)
	if got := filesWith(t, h.dir, password); len(got) != 1 || got[0] != want {
		t.Errorf("the password is in %q, want %q", got, want)
	}
	if info, err := os.Stat(want); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v (%v)", info.Mode(), err)
	}
	var fork api.ConnectResult
	h.call("session.fork", api.ForkParams{SessionID: id}, &fork)
	h.query(fork.SessionID, "say three")
	h.watch(fork.SessionID).results(1)
	if n := strings.Count(p.last(), password); n != 2 {
		t.Errorf("the agent of a fork got %s", p.last())
	}
	for _, session := range []string{id, fork.SessionID} {
		h.call("session.delete", api.SessionDeleteParams{SessionID: session}, nil)
	}
	if got := filesWith(t, h.opts.Dir, password); len(got) != 0 {
		t.Errorf("after the deletion the password is in %q", got)
	}
}

// TestSecrets_lost checks that a session with a missing file of secrets works, with a notice.
func TestSecrets_lost(t *testing.T) {
	h := newHarness(t)
	var made api.ConnectResult
	h.call("session.connect", api.ConnectParams{MCPServers: `{"db":{"command":"db"}}`}, &made)
	h.query(made.SessionID, "say one")
	h.watch(made.SessionID).results(1)
	h.stop()
	if err := os.Remove(filepath.Join(h.opts.Dir, secretDir, made.SessionID)); err != nil {
		t.Fatal(err)
	}
	h.start()
	w := h.watch(made.SessionID)
	h.query(made.SessionID, "say two")
	w.noticed("mcp_missing")
	w.results(2)
}
