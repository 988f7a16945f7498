package main

import (
	"bytes"
	"io/fs"
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

// TestServe_hostKey is TestServe_host with a key that the agent does not have. The proxy that adds it outlives the server and ends with
// the host. The key is in no file of the data directory and in no environment or arguments of a process.
func TestServe_hostKey(t *testing.T) {
	const key = "sk-ant-key-of-the-hosted-agents-5678"
	script := claudetest.Replies(claudetest.Use("Bash", map[string]any{"command": "echo kept > kept", "description": "Write a file"}),
		claudetest.Say("It is written."), claudetest.Say("And again."))
	checkHosted(newKeyHostWorld(t, key, script), syscall.SIGKILL)
}

// TestServe_hostBox is TestServe_hostKey with an agent in a box without a network, whose way to the key proxy outlives the server. The next
// server takes over no agent of another box.
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
	w.end(syscall.SIGKILL)
	w.args = append(w.args, "--sandbox-network", "on")
	w.serve()
	w.until("the session is interrupted", func(c *event.Conversation) bool { return c.State != "running" })
	if syscall.Kill(agent.PID, 0) == nil {
		t.Error("the agent of another box was not ended")
	}
	w.end(syscall.SIGINT)
}

// newKeyHostWorld is newHostWorld for a server with a key, which is checked for copies of the key at the end of the test.
func newKeyHostWorld(t *testing.T, key string, script claudetest.Script, args ...string) *hostWorld {
	fake := claudetest.StartFakeAPI(t, script)
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newHostWorldOn(t, fake, append(args, "--api-key-file", file, "--api-upstream", fake.URL())...)
	w.proxied = true
	t.Cleanup(func() { checkNoCopies(t, w.data, key) })
	return w
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

// TestServe_hostKeyDies kills the key proxy under an agent. The next session has a new one, and the tokens of a session end with it.
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
	first := w.helper()
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
