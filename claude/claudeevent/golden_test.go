package claudeevent_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/golden"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

var update = flag.Bool("update", false, "write the golden files")

// folded returns the conversation of a run as text lines.
func folded(t *testing.T, r *run) string {
	t.Helper()
	var out strings.Builder
	state := canonical(t, r.conv)
	if got := canonical(t, refold(t, r.lines)); got != state {
		t.Errorf("messages fold to something else than events (-events +messages):\n%s", diffJSON(t, state, got))
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(state), &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var threads []struct{ Items []json.RawMessage }
		if name != "threads" || json.Unmarshal(members[name], &threads) != nil {
			out.WriteString(golden.Line(t, "state "+name, members[name]))
			continue
		}
		for i, th := range threads {
			for _, item := range th.Items {
				out.WriteString(golden.Line(t, fmt.Sprint("thread ", i), item))
			}
		}
		out.WriteString(golden.Line(t, "threads", members[name])) // a hash of the thread, which also covers its other fields
	}
	return out.String()
}

// The recordings fold to the golden conversations. Their messages are in messages.sha256.
func TestGolden_recordings(t *testing.T) {
	short.SkipQuick(t, "folds every recording")
	t.Parallel()
	dir := filepath.Join("..", "..", "testdata", "wire")
	parts, seen := golden.Parts{}, golden.Forms{}
	for _, name := range scenarios(t, dir) {
		var steps []step
		for _, file := range stdoutFiles(t, filepath.Join(dir, name)) {
			steps = append(steps, dialogue(t, filepath.Dir(file))...)
		}
		if text := folded(t, convert(t, steps)); seen.Fresh(text) {
			parts[name] = text
		}
	}
	parts.Check(t, "testdata/recordings.txt", *update)
}

// Each event folds to its golden state: alone, twice, and with a distinct value in every field, after a message with a running tool; so do the rows of
// other protocols.
func TestGolden_events(t *testing.T) {
	t.Parallel()
	parts := golden.Parts{}
	for _, shape := range event.Shapes() {
		if shape.Union != reflect.TypeFor[event.Event]() || !reflect.PointerTo(shape.Type).Implements(shape.Union) {
			continue
		}
		for _, full := range []bool{false, true} {
			v := reflect.New(shape.Type)
			if full {
				golden.Fill(v.Elem(), shape.Name, fillJSON)
			}
			ev := v.Interface().(event.Event)
			ev.Head().MessageID, ev.Head().ParentToolUseID = "m", ""
			parts[fmt.Sprint(shape.Name, ", full ", full)] = folded(t, follow(t, []event.Event{
				&event.TurnStart{TurnID: "TurnID", PromptID: "p"},
				&event.MessageStart{Header: event.Header{MessageID: "m"}},
				&event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "ToolUseID", Name: "Bash", BlockType: "tool_use"},
				&event.PermissionRequest{RequestID: "RequestID", ToolUseID: "ToolUseID", ToolName: "Bash"},
				&event.TaskStarted{TaskID: "TaskID", ToolUseID: "ToolUseID"},
				ev, ev,
			}))
		}
	}
	for provider, rows := range map[string][]mapped{"codex": codexRows, "acp": acpRows} {
		for _, m := range rows {
			parts[provider+": "+m.row] = folded(t, follow(t, m.events))
		}
	}
	parts.Check(t, "testdata/events.txt", *update)
}

// fillJSON sets the fields of type JSON to an object.
func fillJSON(v reflect.Value, name string) bool {
	if v.Type() == reflect.TypeFor[event.JSON]() {
		v.SetString(`{"` + name + `":1}`)
		return true
	}
	return v.Type() == reflect.TypeFor[event.Extra]()
}
