package api_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestPendingPrompt checks that the id of a request has both its names, and that decoding returns
// the request.
func TestPendingPrompt(t *testing.T) {
	want := api.PendingPrompt{SessionID: "s-1", AskedAt: "2026-01-01T00:00:00Z",
		Prompt: event.Prompt{Permission: &event.PermissionRequest{Kind: event.PermissionTool, RequestID: `r"1`, ToolName: "Bash"}}}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var ids struct {
		Prompt struct {
			New string `json:"request_id"`
			Old string `json:"requestId"`
		} `json:"prompt"`
	}
	if err := json.Unmarshal(data, &ids); err != nil || ids.Prompt.New != `r"1` || ids.Prompt.Old != `r"1` {
		t.Errorf("the ids are %+v (%v) in %s", ids, err, data)
	}
	var got api.PendingPrompt
	if err := json.Unmarshal(data, &got); err != nil || got.SessionID != want.SessionID || got.AskedAt != want.AskedAt ||
		got.Prompt.Permission == nil || got.Prompt.Permission.ToolName != "Bash" || got.Prompt.RequestID() != `r"1` {
		t.Errorf("decoded %+v (%v) from %s", got, err, data)
	}
	if data, err := json.Marshal(api.PendingPrompt{SessionID: "s-1"}); err != nil || string(data) != `{"session_id":"s-1","prompt":null}` {
		t.Errorf("a prompt without a request is %s (%v)", data, err)
	}
}
