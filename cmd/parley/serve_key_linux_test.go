package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_key checks with the real CLI that an agent can use the server's key, and that the key
// is not in the environment or the arguments of the agent or its children.
func TestServe_key(t *testing.T) {
	const key = "sk-ant-test-key-of-the-server-1234"
	dir := t.TempDir()
	file, note := filepath.Join(dir, "key"), filepath.Join(dir, "tool-env")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newClaudeWorld(t, claudetest.Replies(
		claudetest.Use("Bash", map[string]any{"command": "env > " + note, "description": "Show the environment"}), claudetest.Say("Done.")))
	c, _ := w.serve(t, "--api-key-file", file, "--api-upstream", w.api.URL())
	view, _ := converse(t, c, "show it")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var list api.ListResult
	if err := c.Call(ctx, "session.list", api.ListParams{}, &list); err != nil || len(list.Sessions) != 1 {
		t.Fatalf("the sessions are %+v, %v", list, err)
	}
	var report api.IsolationResult
	if err := c.Call(ctx, "session.isolation", api.SessionRef{SessionID: list.Sessions[0].SessionID}, &report); err != nil {
		t.Fatal(err)
	}
	if view.Conversation.Totals.Turns != 1 || mainRequests(w.api) != 2 {
		t.Errorf("%d turns, %d requests", view.Conversation.Totals.Turns, mainRequests(w.api))
	}
	processes := claudeProcesses(t, w.project)
	if len(processes) == 0 {
		t.Fatal("no process of the CLI was found")
	}
	for _, pid := range processes {
		for _, name := range []string{"environ", "cmdline"} {
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte(key)) || name == "environ" && !bytes.Contains(data, []byte("ANTHROPIC_API_KEY=sk-parley-")) {
				t.Errorf("%s of the CLI holds the key, or no token of the proxy", name)
			}
		}
	}
	data, err := os.ReadFile(note)
	if err != nil || bytes.Contains(data, []byte(key)) || bytes.Contains(data, []byte("sk-ant-fake-key")) {
		t.Errorf("a command of the agent sees the key (%v)", err)
	}
	i := slices.IndexFunc(report.Checks, func(c api.IsolationCheck) bool { return c.Name == "api_key" })
	if report.HoldsLogin || i < 0 || !report.Checks[i].OK || !strings.Contains(report.Checks[i].Detail, "not in them") || len(report.Secrets) != 0 {
		t.Errorf("the report is %+v", report)
	}
	for _, r := range w.api.Requests() {
		if !r.Side && r.Header.Get("X-Api-Key") == "" {
			t.Error("a request had no key")
		}
	}
}

// TestServe_login checks that the isolation report of an agent without the proxy shows that the
// agent can read the login.
func TestServe_login(t *testing.T) {
	w := serveClaude(t, claudetest.Replies(claudetest.Say("Hello.")))
	converse(t, w.client, "hello")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var list api.ListResult
	if err := w.client.Call(ctx, "session.list", api.ListParams{}, &list); err != nil || len(list.Sessions) != 1 {
		t.Fatalf("the sessions are %+v, %v", list, err)
	}
	var report api.IsolationResult
	if err := w.client.Call(ctx, "session.isolation", api.SessionRef{SessionID: list.Sessions[0].SessionID}, &report); err != nil {
		t.Fatal(err)
	}
	if !report.HoldsLogin || !slices.Contains(report.Secrets, "ANTHROPIC_API_KEY") || !slices.Contains(report.Write, w.project) || report.Sandbox == "" {
		t.Errorf("the report is %+v", report)
	}
}

// claudeProcesses returns the processes of this test's CLI: children of the test in its
// directory.
func claudeProcesses(t *testing.T, project string) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "%d", &pid); err != nil || pid == os.Getpid() {
			continue
		}
		if cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && cwd == project {
			pids = append(pids, pid)
		}
	}
	return pids
}
