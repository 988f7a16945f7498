package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// shownPlans returns the plans of a session of the real CLI, in order.
func shownPlans(t *testing.T, w *world) []string {
	t.Helper()
	var conv event.Conversation
	var all []string
	for ev := range claudeevent.Events(claude.Query(t.Context(), "plan it", w.opts), claude.Text("plan it")) {
		conv.Apply(ev)
		if _, ok := ev.(*event.Plan); !ok {
			continue
		}
		var entries []string
		for _, e := range conv.Thread("").Plan.Entries {
			entries = append(entries, e.Content+" "+e.Status)
		}
		all = append(all, strings.Join(entries, ", "))
	}
	return all
}

// The task tools of the CLI make a plan. They must be enabled.
func TestEvents_taskPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("TaskCreate", map[string]any{"subject": "one", "description": "d"}),
		claudetest.Use("TaskCreate", map[string]any{"subject": "two", "description": "d"}),
		claudetest.Use("TaskUpdate", map[string]any{"taskId": "1", "status": "completed"}), claudetest.Say("done"))
	w.opts.Tools = []string{"TaskCreate", "TaskUpdate"}
	want := []string{"one pending", "one pending, two pending", "one completed, two pending"}
	if diff := cmp.Diff(want, shownPlans(t, w)); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
}

// Without the task tools the CLI has TodoWrite.
func TestEvents_todoPlan(t *testing.T) {
	t.Parallel()
	todos := func(status string) map[string]any {
		return map[string]any{"todos": []map[string]any{{"content": "a", "status": status, "activeForm": "doing a"}}}
	}
	w := newWorld(t, claudetest.Use("TodoWrite", todos("in_progress")), claudetest.Use("TodoWrite", todos("completed")), claudetest.Say("done"))
	w.opts.Tools = []string{"TodoWrite"}
	w.opts.Env["CLAUDE_CODE_ENABLE_TASKS"] = "0"
	if diff := cmp.Diff([]string{"a in_progress", "a completed"}, shownPlans(t, w)); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
}

// The changes of Write, Edit and NotebookEdit are the diff of the turn.
func TestEvents_turnDiff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, notebook := filepath.Join(dir, "f.txt"), filepath.Join(dir, "n.ipynb")
	cells := `{"cells":[{"cell_type":"code","id":"c1","metadata":{},"source":"x = 1","outputs":[],"execution_count":null}],"metadata":{"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":5}`
	if err := os.WriteFile(notebook, []byte(cells), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, dir, claudetest.Use("Write", map[string]any{"file_path": file, "content": "one\ntwo\n"}),
		claudetest.Use("Edit", map[string]any{"file_path": file, "old_string": "two", "new_string": "2"}),
		claudetest.Use("Read", map[string]any{"file_path": notebook}),
		claudetest.Use("NotebookEdit", map[string]any{"notebook_path": notebook, "cell_id": "c1", "new_source": "x = 2"}), claudetest.Say("done"))
	w.opts.PermissionMode = message.ModeAcceptEdits
	var conv event.Conversation
	for ev := range claudeevent.Events(claude.Query(t.Context(), "change it", w.opts), claude.Text("change it")) {
		conv.Apply(ev)
	}
	if len(conv.Turns) != 1 || !conv.Turns[0].Done || conv.Turns[0].Start.By != event.ByUser {
		t.Fatalf("turns: %+v", conv.Turns)
	}
	var got []string
	for _, c := range conv.Turns[0].Changes {
		lines := ""
		for _, h := range c.Hunks {
			lines += fmt.Sprint(h.OldStart, h.OldLines, h.NewStart, h.NewLines, len(h.Lines), " ")
		}
		got = append(got, filepath.Base(c.Path)+" "+c.Kind+" "+lines)
	}
	want := []string{"f.txt add 0 0 1 2 2 ", "f.txt update 1 2 1 2 3 ", "n.ipynb update 1 1 1 19 20 "}
	for i := range got {
		got[i] = strings.Join(strings.Fields(got[i]), " ") + " "
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes: old start and lines, new start and lines, lines (-want +got):\n%s", diff)
	}
}
