package transcript_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/transcript"
)

// TestCLIGoesOn continues sessions that this package changed with the real CLI: a renamed one and a
// fork. The session is live while the CLI runs, and not after it exits.
func TestCLIGoesOn(t *testing.T) {
	t.Parallel()
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, claudetest.Replies(claudetest.Say("a first answer"), claudetest.Say("more").Times(10)))
	opts, err := claudetest.HermeticOptions(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	opts.CLIPath, opts.Dir = cli, t.TempDir()
	dir := transcript.Open(opts.Env["CLAUDE_CONFIG_DIR"])

	client, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for m, err := range client.Query(t.Context(), "a first question") {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := m.(*message.Result); ok {
			id = r.SessionID
		}
	}
	if _, ok := dir.Live(id); !ok {
		t.Error("a session is not live while the CLI has it open")
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if live, ok := dir.Live(id); ok {
		t.Errorf("a session is live after the CLI has ended: %+v", live)
	}

	if err := dir.Rename(t.Context(), id, "a new title", nil); err != nil {
		t.Fatal(err)
	}
	fork, err := dir.Fork(t.Context(), id, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, resumed := range []string{id, fork.ID} {
		o := *opts
		o.Resume = resumed
		result, err := claude.Run(t.Context(), "a second question", &o)
		if err != nil {
			t.Fatal(err)
		}
		if result.SessionID != resumed {
			t.Errorf("the CLI went on in %s, not in %s", result.SessionID, resumed)
		}
		checkGoneOn(t, api, dir, resumed)
	}
}

// checkGoneOn checks that the model got the earlier messages and that the session holds all messages.
func checkGoneOn(t *testing.T, api *claudetest.FakeAPI, dir *transcript.Dir, id string) {
	t.Helper()
	requests := api.Requests()
	told := false
	for _, r := range requests[max(0, len(requests)-3):] {
		told = told || strings.Contains(string(r.Body), "a first answer") && strings.Contains(string(r.Body), "a second question")
	}
	if !told {
		t.Errorf("the model was not told what was said in %s", id)
	}
	s, err := dir.Session(id)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := s.Conversation(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range messages {
		texts = append(texts, m.Text())
	}
	if got := strings.Join(texts, ", "); got != "a first question, a first answer, a second question, more" {
		t.Errorf("in %s was said: %s", id, got)
	}
	if info := infoOf(t, dir, id); !strings.HasPrefix(info.CustomTitle, "a new title") {
		t.Errorf("the title of %s is %q", id, info.CustomTitle)
	}
}
