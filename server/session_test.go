package server

import (
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

func TestSession_answers(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one two three")
	w.results(1)
	w.awaitAnswer("one two three")
	if got := text(h.history(id)); got != "one two three" {
		t.Errorf("the history has %q", got)
	}
}

func TestSession_permission(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "tool Bash")
	w.state(session.RequiresAction)
	var inbox api.PermissionListResult
	h.call("permission.list", api.PermissionListParams{}, &inbox)
	if len(inbox.Prompts) != 1 || inbox.Prompts[0].Prompt.Permission.ToolName != "Bash" || inbox.Prompts[0].SessionID != id {
		t.Fatalf("the inbox is %+v", inbox)
	}
	request := inbox.Prompts[0].Prompt.RequestID()
	var r api.RespondResult
	h.call("permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: request, Behavior: "allow"}, &r)
	if !r.Accepted || r.By != "owner" {
		t.Errorf("the answer is %+v", r)
	}
	h.refused(api.Conflict, "permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: request, Behavior: "deny"})
	w.results(1)
	w.awaitAnswer("I have used Bash.")
	w.until("the decision", func(c *event.Conversation) bool {
		for _, th := range c.Threads {
			for _, it := range th.Items {
				if it.Message != nil {
					for _, b := range it.Message.Blocks {
						if b.Tool != nil && b.Tool.Decision != nil && b.Tool.Decision.By == "owner" && b.Tool.Decision.Behavior == "allow" {
							return true
						}
					}
				}
			}
		}
		return false
	})
}
