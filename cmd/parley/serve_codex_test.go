package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
	"github.com/seed7221b0f9/parley/server/api"
)

// serveCodex serves the real codex and the simulated agent, with a scripted API.
func serveCodex(t *testing.T, api *codextest.API) (*client.Client, *codextest.Home) {
	t.Helper()
	program := codexcli.Require(t, codexcli.Newer)
	home := codextest.NewHome(t, api, "")
	args := []string{
		"--listen", "127.0.0.1:0", "--data", filepath.Join(home.Root, "data"), "--dir", home.Project, "--log-level", "error",
		"--agent", "codex", "--agent", "sim",
	}
	for _, entry := range home.Env() {
		name, value, _ := strings.Cut(entry, "=")
		t.Setenv(name, value)
		args = append(args, "--pass-env", name)
	}
	t.Setenv("PARLEY_CODEX", program)
	f := serveFlagsFor(t, args...)
	c, _ := serveForTest(t, f)
	return c, home
}

// TestServe_codex runs a session with Codex on the server next to one with another agent:
// both are offered, report their names, and operations that Codex does not support are
// refused by name.
func TestServe_codex(t *testing.T) {
	model := codextest.NewAPI(t)
	model.ReplyTo("make a file", codextest.Calls(codextest.EscalatedCommand("call_1", "touch made", "May I?")), codextest.Say("I made it."))
	c, home := serveCodex(t, model)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	view, allowed := converse(t, c, "make a file")
	if _, err := os.Stat(filepath.Join(home.Project, "made")); err != nil || allowed != 1 {
		t.Errorf("the command ran: %v, after %d questions", err, allowed)
	}
	conv := &view.Conversation
	if conv.Provider != "codex" || conv.Totals.CostUSD != nil || conv.Totals.OutputTokens == 0 {
		t.Errorf("provider %q, totals %+v", conv.Provider, conv.Totals)
	}
	if conv.Answer == nil || conv.PermissionMode != "default" || conv.Sandbox == "" {
		t.Errorf("answer %v, mode %q, sandbox %q", conv.Answer, conv.PermissionMode, conv.Sandbox)
	}
	var list api.ProvidersListResult
	if err := c.Call(ctx, "providers.list", struct{}{}, &list); err != nil || len(list.Providers) != 2 || list.Providers[0].Name != "codex" || list.Providers[1].Name != "sim" {
		t.Errorf("providers %+v, %v", list, err)
	}
	var sessions struct {
		Sessions []struct {
			SessionID string `json:"session_id"`
			Provider  string `json:"provider"`
		} `json:"sessions"`
	}
	if err := c.Call(ctx, "session.list", api.Empty{}, &sessions); err != nil || len(sessions.Sessions) != 1 || sessions.Sessions[0].Provider != "codex" {
		t.Fatalf("sessions %+v, %v", sessions, err)
	}
	id := sessions.Sessions[0].SessionID
	if err := c.Call(ctx, "session.rewind", api.RewindParams{SessionID: id, UserMessageID: "x"}, nil); client.Reason(err) != api.Unsupported {
		t.Errorf("rewinding files: %v", err)
	}
	var fork api.ConnectResult
	if err := c.Call(ctx, "session.fork", api.ForkParams{SessionID: id}, &fork); err != nil || fork.SessionID == "" || fork.SessionID == id {
		t.Errorf("a fork: %+v, %v", fork, err)
	}
	var sim api.ConnectResult
	if err := c.Call(ctx, "session.connect", api.ConnectParams{Provider: "sim"}, &sim); err != nil {
		t.Errorf("a session with the other agent: %v", err)
	}
	var history api.HistoryListResult
	if err := c.Call(ctx, "history.list", api.HistoryListParams{Provider: "codex"}, &history); err != nil || len(history.Sessions) != 2 || history.Sessions[0].FirstPrompt != "make a file" {
		t.Errorf("history %+v, %v", history, err)
	}
}
