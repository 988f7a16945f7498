package editor_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// heldScript begins a turn that does not end by itself, runs the given steps, and loads the session again. The CLI
// writes a prompt to its file shortly after receiving it: a prompt is lost if the CLI is killed before.
func heldScript(t *testing.T, fault string) recordedScript {
	t.Helper()
	text := strings.ReplaceAll(`{"protocol":1,
"api":{"replies":[{"blocks":[{"text":"First.","chunk":8}]},{"blocks":[{"text":"Held answer that is long.","chunk":8}],"hold":"mid","hold_after":4},{"blocks":[{"text":"Back.","chunk":8}]},{"blocks":[{"text":"Back.","chunk":8}]}]},
"settle_ms":0,
"steps":[
{"do":"request","as":"i","method":"initialize","params":{"protocolVersion":1}},
{"do":"request","as":"s","method":"session/new","params":{"cwd":"${cwd}","mcpServers":[]}},
{"do":"request","as":"p1","method":"session/prompt","params":{"sessionId":"${s.sessionId}","prompt":[{"type":"text","text":"One"}]}},
{"do":"mark"},
{"do":"start","as":"p2","method":"session/prompt","params":{"sessionId":"${s.sessionId}","prompt":[{"type":"text","text":"Talk."}]}},
{"do":"wait","update":"agent_message_chunk","has":"Held"},
{"do":"sleep","ms":2500},
FAULT
{"do":"request","as":"l","method":"session/load","params":{"sessionId":"${s.sessionId}","cwd":"${cwd}","mcpServers":[]}},
{"do":"request","as":"p3","method":"session/prompt","params":{"sessionId":"${s.sessionId}","prompt":[{"type":"text","text":"Again"}]}}]}`, "FAULT", fault)
	var s recordedScript
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestKilled kills an editor, a CLI and an agent during a turn. The runner fails if a process is
// left. The session is loaded again with all of its messages.
func TestKilled(t *testing.T) {
	t.Parallel()
	again := `{"do":"request","as":"i2","method":"initialize","params":{"protocolVersion":1}},`
	tests := map[string]string{
		"editor": `{"do":"restart"},` + again,
		"agent":  `{"do":"killagent"},` + again,
		"cli":    `{"do":"killcli"},{"do":"await","as":"p2"},`,
	}
	r := runner(t)
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin(t)
			result, err := r.Run(t.Context(), "killed_"+name, heldScript(t, fault))
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr(result))
			}
			checkLines(t, result.Timeline)
			view := Fold(result.Timeline, Clean(result.Dir))
			last := view.Sessions[len(view.Sessions)-1]
			var said []string
			for _, i := range last.Items {
				if i.Type == "user" || i.Type == "say" {
					said = append(said, i.Type+" "+i.Text)
				}
			}
			if got := strings.Join(said, "; "); !strings.HasPrefix(got, "user One; say First.; user Talk.") || !strings.HasSuffix(got, "say Back.") {
				t.Errorf("the loaded session shows %s", got)
			}
			end := view.Outcomes[len(view.Outcomes)-1]
			if end.Method != "session/prompt" || end.End != "end_turn" {
				t.Errorf("the prompt after that ended with %+v", end)
			}
		})
	}
}
