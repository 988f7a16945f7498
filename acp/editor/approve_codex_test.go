package editor_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// TestApprove_codex sends recordings of Codex to an editor. A change of files must show its paths,
// its locations and its diff, in the permission request and when it has ended.
func TestApprove_codex(t *testing.T) {
	t.Parallel()
	asked, ended := 0, 0
	for _, r := range codexrec.All(t) {
		if !strings.Contains(r.Title(), "file_change") {
			continue
		}
		var c codexevent.Converter
		m := &editor.Mapper{}
		shown := map[acp.ToolCallID]string{}
		for _, l := range r.Lines(t) {
			var events []event.Event
			if d, err := item.DecodeClient(l.Msg); l.Client && err == nil {
				events = c.Client(d)
			} else if d, err := item.DecodeServer(l.Msg); !l.Client && err == nil {
				events = c.Server(d)
			}
			for _, ev := range events {
				for _, u := range m.Event(ev) {
					if v, ok := u.Value.(*acp.ToolCallUpdate); ok && v.Status.Or("") == acp.ToolCallStatusCompleted && len(v.Content.Or(nil)) > 0 {
						text, _ := json.Marshal(v)
						shown[v.ToolCallID] = string(text)
					}
				}
				switch ev := ev.(type) {
				case *event.PermissionRequest:
					if ev.ToolName == "fileChange" {
						asked++
						call, _ := m.Tool(ev.ToolUseID)
						changesShown(t, r.Title(), ev.Input, &call)
					}
				case *event.ToolComplete:
					if later := shown[acp.ToolCallID(ev.ToolUseID)]; strings.Contains(later, `"completed"}`) {
						t.Errorf("%s: the result takes the place of the diff: %s", r.Title(), later)
					}
					ended++
				}
			}
		}
	}
	if asked == 0 || ended == 0 {
		t.Errorf("%d requests, %d results", asked, ended)
	}
}

// changesShown checks that a call shows each file and each line of a change.
func changesShown(t *testing.T, name string, input event.JSON, call *acp.ToolCallUpdate) {
	t.Helper()
	var old, updated, paths strings.Builder
	for _, c := range call.Content.Or(nil) {
		if d, ok := c.Value.(*acp.Diff); ok {
			old.WriteString(d.OldText.Or("") + "\n")
			updated.WriteString(d.NewText + "\n")
			paths.WriteString(d.Path + "\n")
		}
	}
	for _, l := range call.Locations.Or(nil) {
		paths.WriteString("at " + l.Path + "\n")
	}
	changes, _ := input.Member("changes")
	if len(changes.Elements()) == 0 {
		t.Errorf("%s: a request without changes", name)
	}
	for _, change := range changes.Elements() {
		path, _ := change.Member("path")
		diff, _ := change.Member("diff")
		if !strings.Contains(paths.String(), path.Text()+"\n") || !strings.Contains(paths.String(), "at "+path.Text()+"\n") || !strings.Contains(call.Title.Or(""), "Edit ") {
			t.Errorf("%s: %q with %q does not name %s", name, call.Title.Or(""), paths.String(), path.Text())
		}
		for line := range strings.Lines(diff.Text()) {
			line = strings.TrimSuffix(line, "\n")
			if text, ok := strings.CutPrefix(line, "+"); ok && !strings.Contains(updated.String(), text+"\n") {
				t.Errorf("%s: the added line %q is not shown", name, text)
			}
			if text, ok := strings.CutPrefix(line, "-"); ok && !strings.Contains(old.String(), text+"\n") {
				t.Errorf("%s: the removed line %q is not shown", name, text)
			}
		}
	}
}
