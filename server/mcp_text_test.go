package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestSetAside checks that a prompt that was set aside reaches the call unchanged, and that other requests are not changed.
func TestSetAside(t *testing.T) {
	large := strings.Repeat("x", largeText)
	for name, tt := range map[string]struct{ request, text string }{
		"text":          {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session_send","arguments":{"session_id":"s","text":"` + large + `"}}}`, large},
		"prompt":        {` { "params" : { "arguments" : { "prompt" : "` + large + `" , "a":1 } } } `, large},
		"escapes":       {`{"params":{"arguments":{"text":"a\n\"\\é` + large + `"}}}`, "a\n\"\\é" + large},
		"other escapes": {`{"params":{"arguments":{"text":"\u0041\/\ud83d\ude00` + large + `"}}}`, "A/😀" + large},
		"not UTF-8":     {"{\"params\":{\"arguments\":{\"text\":\"\xff" + large + "\"}}}", "\ufffd" + large},
		"small":         {`{"params":{"arguments":{"text":"a"},"pad":"` + large + `"}}`, ""},
		"another name":  {`{"params":{"arguments":{"directory":"` + large + `"}}}`, ""},
		"not a text":    {`{"params":{"arguments":{"text":["` + large + `"]}}}`, ""},
		"a batch":       {`[{"params":{"arguments":{"text":"` + large + `"}}}]`, ""},
		"invalid":       {`{"params":{"arguments":{"text":"` + large + `"}`, ""},
		"short":         {`{"params":{"arguments":{"text":"a"}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			short, a := setAside([]byte(tt.request))
			if tt.text == "" {
				if string(short) != tt.request || a.text != "" || string(a.insert([]byte(`{"text":""}`))) != `{"text":""}` {
					t.Fatalf("the request becomes %.200s", short)
				}
				return
			}
			var r struct {
				Params struct{ Arguments map[string]any }
			}
			if err := json.Unmarshal(short, &r); err != nil || len(short) > 1000 {
				t.Fatalf("the request becomes %.200s: %v", short, err)
			}
			mark, _ := r.Params.Arguments["text"].(string)
			if mark == "" {
				mark, _ = r.Params.Arguments["prompt"].(string)
			}
			params, err := json.Marshal(api.QueryParams{SessionID: "s", Text: mark, Priority: "now"})
			if err != nil {
				t.Fatal(err)
			}
			var got api.QueryParams
			if err := json.Unmarshal(a.insert(params), &got); err != nil {
				t.Fatal(err)
			}
			if got.Text != tt.text || got.SessionID != "s" || got.Priority != "now" || a.text != event.Quote(tt.text) {
				t.Errorf("the call gets %.100q of %q, want %.100q", got.Text, got.SessionID, tt.text)
			}
			if other, _ := setAside([]byte(tt.request)); string(other) == string(short) {
				t.Error("the mark is the same for each request")
			}
		})
	}
}
