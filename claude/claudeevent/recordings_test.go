package claudeevent_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestRecordings sends every recording through event, its JSON and both folds.
func TestRecordings(t *testing.T) {
	dir := corpus()
	runs, dialogues := map[string]*run{}, map[string][]step{}
	var cases []nodefold.Case
	for _, name := range scenarios(t, dir) {
		var steps []step
		for _, file := range stdoutFiles(t, filepath.Join(dir, name)) {
			steps = append(steps, dialogue(t, filepath.Dir(file))...)
		}
		r := convert(t, steps)
		runs[name], dialogues[name] = r, steps
		cases = append(cases,
			nodefold.Case{Name: name, Messages: r.lines, Every: len(r.lines) <= everySnapshot},
			nodefold.Case{Name: name + " cut", Messages: r.lines, Cut: len(r.lines) / 2})
	}
	inNode := nodefold.Fold(t, cases)
	for name, r := range runs {
		t.Run(name, func(t *testing.T) {
			checkOutput(t, filepath.Join(dir, name))
			checkPairs(t, r)
			checkLossless(t, r, dialogues[name])
			checkRoundTrip(t, r)
			want := canonical(t, r.conv)
			for _, n := range []string{name, name + " cut"} {
				got := inNode[n]
				if got.Error != "" {
					t.Fatalf("%s: %s", n, got.Error)
				}
				if got.State != want {
					t.Errorf("%s: the folds differ (-Go +TypeScript):\n%s", n, diffJSON(t, want, got.State))
				}
			}
			if got := canonical(t, refold(r.messages)); got != want {
				t.Errorf("messages fold to something else than events (-events +messages):\n%s", diffJSON(t, want, got))
			}
			checkSnapshots(t, r, want)
		})
	}
}

// everySnapshot is how many messages a recording has at most of which every snapshot is
// gone on from; in a longer one it is every eighth of them.
const everySnapshot = 150

// checkSnapshots goes on from the state after each message and has to come to the same.
func checkSnapshots(t *testing.T, r *run, want string) {
	t.Helper()
	step := 1
	if len(r.messages) > everySnapshot {
		step = len(r.messages) / 8
	}
	growing := &event.Conversation{}
	var reader api.Reader
	for i := range r.messages {
		if i%step == 0 {
			snapshot, err := json.Marshal(growing)
			if err != nil {
				t.Fatal(err)
			}
			rest := &event.Conversation{}
			if err := json.Unmarshal(snapshot, rest); err != nil {
				t.Fatal(err)
			}
			foldMessages(rest, r.messages[i:])
			if got := canonical(t, rest); got != want {
				t.Fatalf("from the snapshot after %d messages (-whole +snapshot):\n%s", i, diffJSON(t, want, got))
			}
		}
		for _, ev := range reader.Events(r.messages[i]) {
			growing.Apply(ev)
		}
	}
}

// refold folds messages by way of the events that they are read as.
func refold(messages []api.Message) *event.Conversation {
	conv := &event.Conversation{}
	foldMessages(conv, messages)
	return conv
}

func foldMessages(conv *event.Conversation, messages []api.Message) {
	var r api.Reader
	for _, m := range messages {
		for _, ev := range r.Events(m) {
			conv.Apply(ev)
		}
	}
}

// checkRoundTrip checks that each message comes back from its JSON.
func checkRoundTrip(t *testing.T, r *run) {
	t.Helper()
	for i, m := range r.messages {
		back, err := api.Decode(r.lines[i])
		if err != nil {
			t.Errorf("%s: %v", r.lines[i], err)
			continue
		}
		if !reflect.DeepEqual(m, back) {
			t.Errorf("Decode(Encode(x)) is not x (-x +got):\n%s", cmp.Diff(m, back))
		}
	}
}

func diffJSON(t *testing.T, want, got string) string {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatal(err)
	}
	return cmp.Diff(w, g)
}
