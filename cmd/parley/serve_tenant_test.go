package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_tenants runs the real CLI for two tenants: each has its transcripts in a separate
// directory, and lists and resumes only its own sessions.
func TestServe_tenants(t *testing.T) {
	w := newClaudeWorld(t, claudetest.Replies(claudetest.Say("Hello.").Times(20)))
	own := filepath.Join(t.TempDir(), "globex files")
	owner, _ := w.serve(t, "--tenant-dir", "globex="+own)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	data := w.args[slices.Index(w.args, "--data")+1]
	dirs := map[string]string{"acme": filepath.Join(data, "tenants", "acme"), "globex": own}
	clients, sessions := map[string]*client.Client{}, map[string]string{}
	for _, name := range []string{"acme", "globex"} {
		var tk api.TokensCreateResult
		if err := owner.Call(ctx, "tokens.create", api.TokensCreateParams{Role: "operator", Tenant: name}, &tk); err != nil {
			t.Fatal(err)
		}
		c, err := client.New(client.Options{URL: owner.URL(), Token: tk.Token})
		if err != nil {
			t.Fatal(err)
		}
		converse(t, c, "hello from "+name)
		var list api.ListResult
		if err := c.Call(ctx, "session.list", api.ListParams{}, &list); err != nil || len(list.Sessions) != 1 {
			t.Fatalf("%s sees %+v, %v", name, list.Sessions, err)
		}
		clients[name], sessions[name] = c, list.Sessions[0].AgentSessionID
	}
	for name, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "claude", "projects", "*", "*.jsonl"))
		if err != nil || len(files) != 1 || !strings.Contains(files[0], sessions[name]) {
			t.Errorf("the transcripts of %s are %v, %v; want that of %s", name, files, err, sessions[name])
		}
		var history api.HistoryListResult
		if err := clients[name].Call(ctx, "history.list", api.HistoryListParams{}, &history); err != nil || len(history.Sessions) != 1 || history.Sessions[0].SessionID != sessions[name] {
			t.Errorf("the history of %s is %+v, %v", name, history.Sessions, err)
		}
	}
	var all api.HistoryListResult
	if err := owner.Call(ctx, "history.list", api.HistoryListParams{}, &all); err != nil || len(all.Sessions) != 0 {
		t.Errorf("the history of the owner is %+v, %v", all.Sessions, err)
	}
	err := clients["acme"].Call(ctx, "history.load", api.HistoryLoadParams{Session: sessions["globex"]}, nil)
	if client.Reason(err) != api.SessionExpired {
		t.Errorf("acme reads a session of globex: %v", err)
	}
}
