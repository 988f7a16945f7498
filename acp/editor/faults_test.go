package editor_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// turnScript returns a script with one prompt.
func turnScript(t *testing.T, capabilities, env, permissions, api, steps string) recordedScript {
	t.Helper()
	if steps == "" {
		steps = `{"do":"request","as":"p","method":"session/prompt","params":{"sessionId":"${s.sessionId}","prompt":[{"type":"text","text":"Go."}]}}`
	}
	text := `{"protocol":1,"settle_ms":0,"env":{` + env + `},"permissions":[` + permissions + `],"api":{"replies":[` + api + `]},"steps":[
{"do":"request","as":"i","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{` + capabilities + `}}},
{"do":"request","as":"s","method":"session/new","params":{"cwd":"${cwd}","mcpServers":[]}},` + steps + `]}`
	var s recordedScript
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

const bashTouch = `{"blocks":[{"tool_use":{"name":"Bash","input":{"command":"touch x; sleep 60","description":"Waits"}}}]}`

// TestFaults runs scripts for faults of the reference adapter that are in no recording of the
// corpus.
func TestFaults(t *testing.T) {
	t.Parallel()
	r := runner(t)
	fold := func(t *testing.T, name string, s recordedScript) *View {
		t.Helper()
		begin(t)
		result, err := r.Run(t.Context(), name, s)
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr(result))
		}
		checkLines(t, result.Timeline)
		checkConduct(t, result)
		return Fold(result.Timeline, Clean(result.Dir))
	}
	t.Run("retries are notices", func(t *testing.T) {
		t.Parallel()
		api := `{"error":{"status":529,"body":{"type":"error","error":{"type":"overloaded_error","message":"busy"}}}},{"blocks":[{"text":"There."}]}`
		v := fold(t, "retry", turnScript(t, `"session":{"notices":{}}`, "", "", api, ""))
		if !slices.ContainsFunc(v.Sessions[0].Items, func(i *Item) bool { return i.Type == "notice" && strings.Contains(i.Text, "tried again") }) {
			t.Errorf("no notice of a retry:\n%s", v)
		}
		if v.Outcomes[2].End != "end_turn" {
			t.Errorf("the prompt ended with %s", v.Outcomes[2].End)
		}
	})
	t.Run("a cancelled tool says so", func(t *testing.T) {
		t.Parallel()
		steps := `{"do":"start","as":"p","method":"session/prompt","params":{"sessionId":"${s.sessionId}","prompt":[{"type":"text","text":"Go."}]}},
{"do":"wait","update":"tool_call_update","has":"in_progress"},
{"do":"notify","method":"session/cancel","params":{"sessionId":"${s.sessionId}"}},
{"do":"await","as":"p"}`
		v := fold(t, "cancel_tool", turnScript(t, "", "", "{}", bashTouch, steps))
		if v.Outcomes[2].End != "cancelled" {
			t.Errorf("the prompt ended with %s", v.Outcomes[2].End)
		}
		for _, i := range v.Sessions[0].Items {
			if i.Type == "tool" && (i.Status != "failed" || strings.Contains(strings.Join(i.Content, "")+i.Raw, "doesn't want")) {
				t.Errorf("the call is shown as %+v", i)
			}
		}
	})
	t.Run("always is remembered", func(t *testing.T) {
		t.Parallel()
		call := `{"blocks":[{"tool_use":{"name":"Bash","input":{"command":"touch made.txt","description":"Makes"}}}]}`
		v := fold(t, "always", turnScript(t, "", "", `{"kind":"allow_always"}`, call+","+call+`,{"blocks":[{"text":"Done."}]}`, ""))
		asked, done := 0, 0
		for _, i := range v.Sessions[0].Items {
			if i.Type == "ask" {
				asked++
			}
			if i.Type == "tool" && i.Status == "completed" {
				done++
			}
		}
		if asked != 1 || done != 2 {
			t.Errorf("asked %d times for 2 calls, %d of which completed:\n%s", asked, done, v)
		}
		if len(v.Sessions[0].Modes) > 0 {
			t.Errorf("a rule changed the mode to %v", v.Sessions[0].Modes)
		}
	})
	t.Run("a question without forms", func(t *testing.T) {
		t.Parallel()
		ask := `{"blocks":[{"tool_use":{"name":"AskUserQuestion","input":{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}}}]}`
		v := fold(t, "question", turnScript(t, "", "", `{"optionId":"answer-1"}`, ask+`,{"blocks":[{"text":"Blue."}]}`, ""))
		if !slices.ContainsFunc(v.Sessions[0].Items, func(i *Item) bool {
			return strings.Contains(strings.Join(i.Content, ""), `"Which colour?"="Blue"`)
		}) {
			t.Errorf("the answer did not arrive:\n%s", v)
		}
	})
}
