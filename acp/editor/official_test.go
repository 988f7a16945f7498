package editor_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
)

// official are the scenarios for the official client library, with the expected stop reasons of
// their prompts.
var official = map[string][]string{
	"text": {"end_turn"}, "image": {"end_turn"}, "bash_allow": {"end_turn"}, "bash_reject": {"end_turn"}, "read_edit_diff": {"end_turn"},
	"write_new_file": {"end_turn"}, "two_turns": {"end_turn", "end_turn"}, "cancel_stream": {"cancelled", "end_turn"},
	"ask_user_question": {"end_turn"}, "plan_exit_reject": {"end_turn"},
}

// TestOfficialClient drives parley acp with the official client library, which validates every
// message.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	sdk := requireACPClient(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skipf("this test needs node: %v", err)
	}
	r := runner(t)
	all, err := readScenarios(filepath.Join(checkout.Root(), "testdata", "acp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		want, ok := official[s.Name]
		if !ok {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			begin(t)
			got := driveOfficial(t, r, &s, node, sdk)
			if len(got.Complaints) > 0 || got.Code != 0 {
				t.Errorf("the library complains: %v; the agent ended with %d", got.Complaints, got.Code)
			}
			var ends []string
			for _, o := range got.Outcomes {
				if strings.HasPrefix(o[0], "p") {
					ends = append(ends, o[1])
				} else if o[1] != "ok" {
					t.Errorf("%s ended with %s", o[0], o[1])
				}
			}
			if !slices.Equal(ends, want) {
				t.Errorf("the prompts ended with %v, want %v", ends, want)
			}
			if said := recordedTexts(s.Timeline); !strings.Contains(got.text(), said[len(said)-1]) && s.Name != "plan_exit_reject" {
				t.Errorf("the agent said %q, want %q at the end", got.text(), said[len(said)-1])
			}
		})
	}
}

// officialRun is the output of the program acpclient.
type officialRun struct {
	Outcomes [][2]string
	Updates  []struct {
		SessionUpdate string
		Content       json.RawMessage
	}
	Complaints []string
	Code       int
}

// text returns all texts of the agent.
func (o *officialRun) text() string {
	var b strings.Builder
	for _, u := range o.Updates {
		var c struct{ Text string }
		if u.SessionUpdate == "agent_message_chunk" && json.Unmarshal(u.Content, &c) == nil {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// recordedTexts returns the messages of a recorded agent.
func recordedTexts(timeline []recordedLine) (texts []string) {
	for _, s := range Fold(timeline, Clean("")).Sessions {
		for _, i := range s.Items {
			if i.Type == "say" {
				texts = append(texts, i.Text)
			}
		}
	}
	return append([]string{""}, texts...)
}

func driveOfficial(t *testing.T, r *Runner, s *recordedScenario, node, sdk string) *officialRun {
	t.Helper()
	run, err := r.Prepare("official_"+s.Name, s.Script)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	dir, cwd := run.Dir()
	text, err := json.Marshal(s.Script)
	if err != nil {
		t.Fatal(err)
	}
	script, program := filepath.Join(dir, "script.json"), filepath.Join(dir, "client.mjs")
	filled := strings.ReplaceAll(string(text), "${cwd}", cwd)
	for path, content := range map[string][]byte{script: []byte(filled), program: clientProgram(t)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := run.Command(t.Context(), node, append([]string{program, script}, r.Command...)...)
	cmd.Env = append(cmd.Env, "ACP_SDK="+sdk)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaints.String())
	}
	got := new(officialRun)
	if err := json.Unmarshal(out, got); err != nil {
		t.Fatal(err)
	}
	return got
}
