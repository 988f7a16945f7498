package codextest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex/codextest"
)

// TestReplies checks that a reply is sent as events in order, with the ids and members that the
// program reads.
func TestReplies(t *testing.T) {
	number := regexp.MustCompile(`(rs|msg|resp)_\d+`)
	for name, c := range map[string]struct {
		events []codextest.Event
		want   []string
	}{
		"Reason": {codextest.Reason("a", "b"), []string{
			`{"item":{"id":"rs_N","summary":[],"type":"reasoning"},"output_index":0,"type":"response.output_item.added"}`,
			`{"item_id":"rs_N","summary_index":0,"type":"response.reasoning_summary_part.added"}`, `{"delta":"a","item_id":"rs_N","summary_index":0,"type":"response.reasoning_summary_text.delta"}`,
			`{"item_id":"rs_N","summary_index":1,"type":"response.reasoning_summary_part.added"}`, `{"delta":"b","item_id":"rs_N","summary_index":1,"type":"response.reasoning_summary_text.delta"}`,
			`{"item":{"encrypted_content":"x","id":"rs_N","summary":[{"text":"a","type":"summary_text"},{"text":"b","type":"summary_text"}],"type":"reasoning"},"output_index":0,"type":"response.output_item.done"}`,
		}},
		"Call":             {codextest.Call("c", "mcp__s", "f", map[string]int{"a": 1}), []string{`{"item":{"arguments":"{\"a\":1}","call_id":"c","id":"fc_c","name":"f","namespace":"mcp__s","type":"function_call"},"output_index":0,"type":"response.output_item.done"}`}},
		"Command":          {codextest.Command("c", "ls"), []string{`{"item":{"arguments":"{\"cmd\":\"ls\"}","call_id":"c","id":"fc_c","name":"exec_command","type":"function_call"},"output_index":0,"type":"response.output_item.done"}`}},
		"EscalatedCommand": {codextest.EscalatedCommand("c", "ls", "why"), []string{`{"item":{"arguments":"{\"cmd\":\"ls\",\"justification\":\"why\",\"sandbox_permissions\":\"require_escalated\"}","call_id":"c","id":"fc_c","name":"exec_command","type":"function_call"},"output_index":0,"type":"response.output_item.done"}`}},
		"Patch": {codextest.Patch("c", "p"), []string{
			`{"item":{"call_id":"c","id":"ct_c","input":"","name":"apply_patch","type":"custom_tool_call"},"output_index":0,"type":"response.output_item.added"}`,
			`{"call_id":"c","delta":"p","item_id":"ct_c","type":"response.custom_tool_call_input.delta"}`,
			`{"item":{"call_id":"c","id":"ct_c","input":"p","name":"apply_patch","type":"custom_tool_call"},"output_index":0,"type":"response.output_item.done"}`,
		}},
		"SearchTools": {codextest.SearchTools("c", "q"), []string{`{"item":{"arguments":{"query":"q"},"call_id":"c","execution":"client","id":"ts_c","type":"tool_search_call"},"output_index":0,"type":"response.output_item.done"}`}},
		"Calls": {codextest.Calls(codextest.Command("c", "a"), codextest.Command("d", "b")).Events, []string{
			"response.created", `"call_id":"c"`, `"call_id":"d"`, "response.completed",
		}},
	} {
		if len(c.events) != len(c.want) {
			t.Errorf("%s has %d events, want %d", name, len(c.events), len(c.want))
			continue
		}
		for i, e := range c.events {
			text, err := json.Marshal(e.Data)
			if err != nil {
				t.Fatal(err)
			}
			if got := number.ReplaceAllString(string(text), "${1}_N"); got != c.want[i] && (strings.HasPrefix(c.want[i], "{") || !strings.Contains(got, c.want[i])) {
				t.Errorf("event %d of %s is %s, want %s", i, name, got, c.want[i])
			}
		}
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("arguments that JSON does not have: no panic")
			}
		}()
		codextest.Call("c", "", "f", func() {})
	}()
}

// TestAPI_replies checks replies that are errors with headers, wait, break the connection or
// repeat, and that scripts for subagents and for prompts precede the common script.
func TestAPI_replies(t *testing.T) {
	api := codextest.NewAPI(t)
	held := make(chan struct{})
	done := 0
	api.Reply(codextest.Reply{Status: 429, Body: "slow", Header: map[string]string{"Retry-After": "7"}, Do: func() { done++ }}, codextest.Stream(codextest.Usage{Input: 1, Output: 2}, append([]codextest.Event{{Wait: held}}, codextest.Message("a", "b")...)...),
		codextest.Stream(codextest.Usage{}, codextest.Event{Drop: true}))
	again := codextest.Say("again")
	again.Repeat = true
	api.ReplyTo("often", again)
	api.ReplyToSubagents(codextest.Say("below"))
	client := &http.Client{Timeout: 10 * time.Second}
	post := func(prompt, subagent string) (*http.Response, string, error) {
		body := `{"input":[{"role":"user","content":"` + prompt + `"},{"role":"assistant"},7]}`
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL()+"/responses", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if subagent != "" {
			r.Header.Set("X-Openai-Subagent", subagent)
		}
		response, err := client.Do(r)
		if err != nil {
			return nil, "", err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		return response, string(text), err
	}
	if r, text, err := post("x", ""); err != nil || r.StatusCode != 429 || text != "slow" || r.Header.Get("Retry-After") != "7" || r.Header.Get("Content-Type") != "application/json" || done != 1 {
		t.Errorf("the first reply is %v %q, %v; want the error with its header", r, text, err)
	}
	close(held)
	if r, text, err := post("x", ""); err != nil || r.Header.Get("Content-Type") != "text/event-stream" || strings.Index(text, `"delta":"a"`) > strings.Index(text, `"delta":"b"`) || !strings.Contains(text, `"input_tokens":1`) || !strings.Contains(text, "event: response.completed\n") {
		t.Errorf("the second reply is %q, %v; want both parts and the usage", text, err)
	}
	if _, text, err := post("x", ""); err == nil {
		t.Errorf("a reply that breaks the connection has %q, want an error", text)
	}
	for range 2 {
		if _, text, err := post("quite often", ""); err != nil || !strings.Contains(text, "again") {
			t.Errorf("a reply that repeats: %q, %v", text, err)
		}
	}
	if _, text, err := post("x", "review"); err != nil || !strings.Contains(text, "below") {
		t.Errorf("the reply to a subagent: %q, %v", text, err)
	}
	r, err := client.Get(api.URL() + "/models")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusNotFound {
		t.Errorf("the catalogue of models has the status %d, want 404", r.StatusCode)
	}
	if n := len(api.Requests()); n != 6 {
		t.Errorf("%d requests were noted, want 6", n)
	}
}
