package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/bwraptest"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_hostKey is like TestServe_host with SIGTERM, and with a key that the agent does not
// have. The proxy that adds the key survives the server and ends with the host. No file of the data
// directory and no environment or argument of a process contains the key.
func TestServe_hostKey(t *testing.T) {
	const key = "sk-ant-key-of-the-hosted-agents-5678"
	script := claudetest.Replies(claudetest.Use("Bash", map[string]any{"command": "echo kept > kept", "description": "Write a file"}),
		claudetest.Say("It is written."), claudetest.Say("And again."))
	checkHosted(newKeyHostWorld(t, key, script), syscall.SIGTERM)
}

// TestServe_hostBox kills the server of an agent in a box without a network. The agent still
// reaches the key proxy, and the next server adopts it. A server with other box settings ends it
// instead.
func TestServe_hostBox(t *testing.T) {
	const key = "sk-ant-key-of-the-boxed-agents-3456"
	t.Setenv("PATH", os.Getenv("PATH")+":"+bwraptest.Dir(t))
	w := newKeyHostWorld(t, key, claudetest.Replies(claudetest.Use("Bash", map[string]any{"command": "cat /proc/net/dev > interfaces; echo kept > kept", "description": "Write a file"}),
		claudetest.Say("It is written."), claudetest.Say("And again.").Times(9)), "--sandbox", "bwrap")
	checkHosted(w, syscall.SIGKILL)
	text, err := os.ReadFile(filepath.Join(w.project, "interfaces"))
	if err != nil || strings.Count(string(text), ":") != 1 {
		t.Errorf("the interfaces of the box are %q, %v, want one", text, err)
	}
	w.serve()
	w.call("session.query", api.QueryParams{SessionID: w.session, Text: "once more"}, nil)
	w.until("the third turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 3 && c.State == "idle" })
	agent := w.agents()[0]
	access := w.access(agent.PID)
	w.end(syscall.SIGKILL)
	if got := access(); got == http.StatusUnauthorized {
		t.Error("without a server the proxy refuses the token of an agent that runs")
	}
	w.args = append(w.args, "--sandbox-network", "on")
	w.serve()
	w.until("the session is interrupted", func(c *event.Conversation) bool { return c.State != "running" })
	if syscall.Kill(agent.PID, 0) == nil {
		t.Error("the agent of another box was not ended")
	}
	if got := access(); got != http.StatusUnauthorized {
		t.Errorf("the proxy answers %d to the token of an agent that was not taken over, want 401", got)
	}
	w.end(syscall.SIGINT)
}

// access returns a function that uses the key proxy with the token of an agent, and returns the status.
func (w *hostWorld) access(pid int) func() int {
	address, token := w.variable(pid, "ANTHROPIC_BASE_URL"), w.variable(pid, "ANTHROPIC_API_KEY")
	return func() int {
		w.t.Helper()
		req, err := http.NewRequestWithContext(w.t.Context(), "GET", address+"/v1/models", nil)
		if err != nil {
			w.t.Fatal(err)
		}
		req.Header.Set("X-Api-Key", token)
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			w.t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
}

// newKeyHostWorld is like newHostWorld for a server with a key. Before each end of the server and at the end of the test
// it searches for copies of the key.
func newKeyHostWorld(t *testing.T, key string, script claudetest.Script, args ...string) *hostWorld {
	fake := claudetest.StartFakeAPI(t, script)
	w := newHostWorldOn(t, fake, append(args, "--api-key-file", keyFile(t, key), "--api-upstream", fake.URL())...)
	w.proxied, w.key = true, key
	t.Cleanup(func() { checkNoCopies(t, w.data, key) })
	return w
}

// keyFile returns the path of a file with a key.
func keyFile(t *testing.T, key string) string {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// checkNoCopies looks for a key in the files below a directory, and in the environments and arguments of all processes.
func checkNoCopies(t *testing.T, dir, key string) {
	t.Helper()
	check := func(path string) {
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(key)) {
			t.Errorf("%s has the key", path)
		}
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			check(path)
		}
		return nil
	})
	processes, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		if _, err := strconv.Atoi(p.Name()); err == nil {
			check(filepath.Join("/proc", p.Name(), "environ"))
			check(filepath.Join("/proc", p.Name(), "cmdline"))
		}
	}
}

// TestServe_hostKeyDies kills the key proxy while an agent uses it. The next session gets a new
// proxy, and the tokens of a session end with it.
func TestServe_hostKeyDies(t *testing.T) {
	const key = "sk-ant-key-of-the-hosted-agents-9012"
	w := newKeyHostWorld(t, key, claudetest.Replies(claudetest.Say("Hello.").Times(9)))
	hello := func(text string) {
		t.Helper()
		var r api.ConnectResult
		w.call("session.connect", api.ConnectParams{InitialPrompt: text}, &r)
		w.session = r.SessionID
		w.until("the turn ends", func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })
	}
	hello("one")
	first, access := w.helper(), w.access(w.agents()[0].PID)
	if got := access(); got == http.StatusUnauthorized {
		t.Error("the proxy refuses the token of an agent that runs")
	}
	w.call("session.disconnect", api.SessionRef{SessionID: w.session}, nil)
	eventually(t, "the token ends with the agent", func() bool { return access() == http.StatusUnauthorized })
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the key proxy ends", func() bool { return w.helper() != first })
	checkNoCopies(t, w.data, key)
	hello("two")
	if second := w.helper(); second == 0 || second == first {
		t.Errorf("the key proxy is process %d, want another than %d", second, first)
	}
	w.end(syscall.SIGINT)
	if left := w.helper(); left != 0 {
		t.Errorf("after Ctrl-C the key proxy %d runs", left)
	}
}
