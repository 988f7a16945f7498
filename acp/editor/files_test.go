package editor_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// use returns a reply of the model that calls a tool.
func use(tool, input string) string {
	return fmt.Sprintf(`{"blocks":[{"tool_use":{"name":%q,"input":{%s}}}]}`, tool, input)
}

const withFS = `"fs":{"readTextFile":true,"writeTextFile":true}`

// fileRun is the state after a turn that used a file.
type fileRun struct {
	requests []string // of the agent to the client: the method and the written text
	told     string   // the results of the tools
	view     *View
}

// runFiles runs a turn in a project with the file a.txt, while the client has another text of the
// file.
func runFiles(t *testing.T, r *Runner, capabilities, unsaved string, replies ...string) *fileRun {
	t.Helper()
	begin(t)
	s := turnScript(t, capabilities, "", "{},{},{},{}", strings.Join(append(replies, `{"blocks":[{"text":"Done."}]}`), ","), "")
	s.Files = map[string]string{"a.txt": "saved\n"}
	s.Unsaved = map[string]string{"a.txt": unsaved}
	result, err := r.Run(t.Context(), strings.ReplaceAll(t.Name(), "/", "_"), s)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr(result))
	}
	checkLines(t, result.Timeline)
	checkConduct(t, result)
	run := &fileRun{view: Fold(result.Timeline, Clean(result.Dir))}
	for _, l := range result.Timeline {
		var m struct {
			Method string
			Params struct{ Content string }
		}
		if l.Dir == "agent" && json.Unmarshal(l.Msg, &m) == nil && strings.HasPrefix(m.Method, "fs/") {
			run.requests = append(run.requests, strings.TrimSpace(m.Method+" "+m.Params.Content))
		}
	}
	run.told = string(result.Requests[len(result.Requests)-1].Body)
	for _, o := range run.view.Outcomes {
		if o.Method == "session/prompt" && o.End != "end_turn" {
			t.Errorf("the prompt ended with %s", o.End)
		}
	}
	return run
}

// completed returns the number of successful tool calls.
func (r *fileRun) completed() (n int) {
	for _, i := range r.view.Sessions[0].Items {
		if i.Type == "tool" && i.Status == "completed" {
			n++
		}
	}
	return n
}

// TestEditorFiles uses files with unsaved text in the editor, with the real CLI.
func TestEditorFiles(t *testing.T) {
	t.Parallel()
	const file = `"file_path":"${cwd}/a.txt"`
	read := use("Read", file)
	edit := func(from, to string) string {
		return use("Edit", fmt.Sprintf(`%s,"old_string":%q,"new_string":%q`, file, from, to))
	}
	cat := use("Bash", `"command":"cat a.txt","description":"Shows"`)
	r := runner(t, "--editor-files")
	t.Run("unsaved text counts", func(t *testing.T) {
		t.Parallel()
		got := runFiles(t, r, withFS, "unsaved\n", read, edit("unsaved", "edited"), edit("edited", "twice"), cat)
		want := []string{
			"fs/read_text_file", "fs/write_text_file unsaved", // before Read
			"fs/read_text_file", "fs/read_text_file", "fs/write_text_file edited", // around the first Edit
			"fs/read_text_file", "fs/read_text_file", "fs/write_text_file twice", // around the second
		}
		if !slices.Equal(got.requests, want) {
			t.Errorf("the client was asked for %q", got.requests)
		}
		if !strings.Contains(got.told, `unsaved`) || !strings.Contains(got.told, `"twice`) || got.completed() != 4 {
			t.Errorf("%d calls completed, and the model was told %.3000s", got.completed(), got.told)
		}
	})
	t.Run("a new file", func(t *testing.T) {
		t.Parallel()
		got := runFiles(t, r, withFS, "saved\n", use("Write", `"file_path":"${cwd}/new.txt","content":"fresh\n"`))
		if want := []string{"fs/read_text_file", "fs/read_text_file", "fs/write_text_file fresh"}; !slices.Equal(got.requests, want) || got.completed() != 1 {
			t.Errorf("the client was asked for %q:\n%s", got.requests, got.view)
		}
	})
	t.Run("a stale buffer does not count", func(t *testing.T) {
		t.Parallel()
		change := use("Bash", `"command":"echo changed > a.txt","description":"Changes"`)
		got := runFiles(t, r, withFS, "saved\n", read, change, read, edit("changed", "edited"), cat)
		if slices.ContainsFunc(got.requests, func(q string) bool { return strings.HasPrefix(q, "fs/write") }) {
			t.Errorf("the client was asked for %q", got.requests)
		}
		if !strings.Contains(got.told, "changed") || !strings.Contains(got.told, `"edited`) || got.completed() != 5 {
			t.Errorf("%d calls completed, and the model was told %.3000s", got.completed(), got.told)
		}
	})
	t.Run("a client without files", func(t *testing.T) {
		t.Parallel()
		for name, capabilities := range map[string]string{"none": "", "read alone": `"fs":{"readTextFile":true}`} {
			t.Run(name, func(t *testing.T) {
				got := runFiles(t, r, capabilities, "unsaved\n", read, edit("saved", "edited"), cat)
				if len(got.requests) > 0 || strings.Contains(got.told, "unsaved") || !strings.Contains(got.told, `"edited`) {
					t.Errorf("the client was asked for %q, and the model was told %.3000s", got.requests, got.told)
				}
			})
		}
	})
}
