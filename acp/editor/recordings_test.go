package editor_test

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRecordings runs the script of every recording against parley acp, a process, with the real
// CLI and a scripted API. It compares the resulting view of a client with the recorded view of the
// reference adapter. The rules of this package allow differences.
func TestRecordings(t *testing.T) {
	t.Parallel()
	ahead := runner(t)
	bare := *ahead
	bare.Command = append(slices.Clone(ahead.Command), "--no-prewarm")
	scenarios := allScenarios(t)
	var mu sync.Mutex
	used := map[string]int{}
	t.Run("scenario", func(t *testing.T) {
		for _, s := range scenarios {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				if s.Err != nil {
					t.Fatal(s.Err)
				}
				begin(t)
				r := ahead
				if !opensPlain(&s.Script) {
					r = &bare // a CLI that was started in advance would not be used
				}
				result, err := r.Run(t.Context(), s.Name, s.Script)
				if err != nil {
					t.Fatalf("%v\n%s", err, stderr(result))
				}
				checkLines(t, result.Timeline)
				checkConduct(t, result)
				want, got := Fold(s.Timeline, Clean("")), Fold(result.Timeline, Clean(result.Dir))
				orderSubagents(want)
				orderSubagents(got)
				both := &comparison{script: &s.Script, want: want, got: got}
				trimUnfinished(both)
				names := applyRules(both)
				mu.Lock()
				for _, name := range names {
					used[name]++
				}
				mu.Unlock()
				if diff := cmp.Diff(want.String(), got.String()); diff != "" {
					t.Errorf("with the rules %v (-recorded +parley):\n%s\n%s", names, diff, result.Stderr)
				}
			})
		}
	})
	if len(rules) > 40 {
		t.Errorf("there are %d rules, at most 40 are allowed", len(rules))
	}
	if len(scenarios) < 60 || t.Failed() || partial(scenarios) {
		return // a part of the corpus does not use all rules
	}
	for _, rule := range rules {
		if used[rule.name] == 0 {
			t.Errorf("no scenario uses the rule %q", rule.name)
		}
	}
}

// opensPlain reports whether a script begins with a session that can be opened in advance.
func opensPlain(s *recordedScript) bool {
	for _, step := range s.Steps {
		switch step.Method {
		case "session/new":
			var p map[string]json.RawMessage
			err := json.Unmarshal(step.Params, &p)
			return err == nil && len(p) == 2 && string(p["cwd"]) == `"${cwd}"` && string(p["mcpServers"]) == "[]"
		case "session/load", "session/resume", "session/fork":
			return false
		}
	}
	return false
}

// partial reports whether -run selects only a part of the scenarios.
func partial(all []recordedScenario) bool {
	f := testRun()
	return strings.Contains(f, "/") && len(all) > 0
}

func stderr(r *Result) string {
	if r == nil {
		return ""
	}
	return r.Stderr
}

// checkConduct checks conditions that hold in every scenario. Comparing the folded views cannot
// check them, because the adapter violates them.
func checkConduct(t *testing.T, r *Result) {
	t.Helper()
	for _, q := range r.Requests {
		if strings.Contains(string(q.Body), "ONLY the suggestion") {
			t.Error("the model was asked for a suggestion")
		}
	}
	running := map[string]bool{}
	announced := map[string]string{}
	for _, l := range r.Timeline {
		if l.Dir == "restart" || strings.Contains(string(l.Msg), `"session/load"`) || strings.Contains(string(l.Msg), `"session/resume"`) {
			running, announced = nil, map[string]string{}
		}
		if l.Dir == "agent" {
			checkUpdate(t, l.Msg, running, announced)
		}
	}
}

func checkUpdate(t *testing.T, raw json.RawMessage, running map[string]bool, announced map[string]string) {
	t.Helper()
	if strings.Contains(string(raw), `"toolResponse"`) || strings.Contains(string(raw), "originalFile") {
		t.Errorf("a tool's whole response travels: %.200s", raw)
	}
	for _, words := range []string{"<tool_use_error>", "Async agent launched", "[Subagent hand-back]", "do not mention to user", "The user doesn't want to proceed"} {
		if strings.Contains(string(raw), words) {
			t.Errorf("words for the model reach the client: %.300s", raw)
		}
	}
	var m struct {
		Params struct {
			SessionID string
			Update    struct {
				SessionUpdate, ToolCallID, Status string
				AvailableCommands                 []struct{ Name string }
			}
		}
	}
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	switch u := m.Params.Update; {
	case u.SessionUpdate == "available_commands_update":
		names := ""
		for _, c := range u.AvailableCommands {
			names += c.Name + " "
		}
		if announced[m.Params.SessionID] == names {
			t.Error("the same commands are announced twice")
		}
		announced[m.Params.SessionID] = names
		if i := slices.IndexFunc(u.AvailableCommands, func(c struct{ Name string }) bool {
			return strings.HasPrefix(c.Name, "__") || c.Name == "heapdump" || c.Name == "workflow-launch-exec"
		}); i >= 0 {
			t.Errorf("an internal command is announced: %s", u.AvailableCommands[i].Name)
		}
	case u.Status == "in_progress" && running != nil:
		running[u.ToolCallID] = true
	case u.Status == "completed" && running != nil && !running[u.ToolCallID]:
		t.Errorf("the call %s has completed without having been in progress", u.ToolCallID)
	}
}
