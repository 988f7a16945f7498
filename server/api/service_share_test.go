package api_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestWebhook checks that a webhook is enabled by default.
func TestWebhook(t *testing.T) {
	for data, want := range map[string]bool{
		`{"url":"https://example.org"}`:                    true,
		`{"url":"https://example.org","enabled":true}`:     true,
		`{"url":"https://example.org","enabled":false}`:    false,
		`{"url":"https://example.org","session_id":"s-1"}`: true,
	} {
		var w api.Webhook
		if err := json.Unmarshal([]byte(data), &w); err != nil || w.Enabled != want || w.URL != "https://example.org" {
			t.Errorf("%s decodes to %+v (%v), want enabled %v", data, w, err, want)
		}
	}
}
