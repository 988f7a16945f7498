package main

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// mainRequests returns the number of requests of the main conversation.
func mainRequests(api *claudetest.FakeAPI) int {
	n := 0
	for _, r := range api.Requests() {
		if !r.Side {
			n++
		}
	}
	return n
}

// TestServe_budget checks with the real CLI that a turn of many requests is stopped at most one
// request after the limit, and that the limit still applies after a restart of the server.
func TestServe_budget(t *testing.T) {
	for name, limit := range map[string]string{
		"tokens":  "scope=session tokens=5000",
		"dollars": "scope=server period=day usd=0.015", // 1000 tokens cost $0.003
	} {
		t.Run(name, func(t *testing.T) {
			use := claudetest.Use("Bash", map[string]any{"command": "echo again", "description": "Say it again"})
			use.Usage, use.Model = map[string]any{"input_tokens": 990, "output_tokens": 2}, "claude-sonnet-4-5"
			if name == "tokens" {
				use.Usage = map[string]any{"input_tokens": 990, "output_tokens": 10}
			}
			w := newClaudeWorld(t, claudetest.Replies(use.Times(20), claudetest.Say("Done.").Times(5)))
			c, _ := w.serve(t, "--budget", limit)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			var session api.ConnectResult
			if err := c.Call(ctx, "session.connect", api.ConnectParams{AllowedTools: []string{"Bash"}, Model: "claude-sonnet-4-5"}, &session); err != nil {
				t.Fatal(err)
			}
			if err := c.Call(ctx, "session.query", api.QueryParams{SessionID: session.SessionID, Text: "go on"}, nil); err != nil {
				t.Fatal(err)
			}
			var view client.View
			for ev, err := range c.Follow(ctx, session.SessionID, nil) {
				if err != nil {
					t.Fatal(err)
				}
				if err := view.Apply(ev); err != nil {
					t.Fatal(err)
				}
				if view.Conversation.Totals.Turns == 1 && view.Conversation.State == "idle" {
					break
				}
			}
			for _, code := range []string{"budget_warning", "budget_exceeded"} {
				if !slices.ContainsFunc(view.Conversation.Notices, func(n event.NoticeRow) bool { return n.Notice.Code == code }) {
					t.Errorf("there is no notice %s in %+v", code, view.Conversation.Notices)
				}
			}
			if n := mainRequests(w.api); n < 5 || n > 6 {
				t.Errorf("%d requests were made, want 5, or 6 where one was on its way", n)
			}
			w.stop()
			c, _ = w.serve(t, "--budget", limit)
			err := c.Call(ctx, "session.query", api.QueryParams{SessionID: session.SessionID, Text: "go on"}, nil)
			if client.Reason(err) != api.BudgetExceeded || !strings.Contains(err.Error(), "used up") {
				t.Errorf("after a restart: %v", err)
			}
		})
	}
}
