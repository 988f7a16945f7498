package claudeevent_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
	"github.com/seed7221b0f9/parley/internal/test/sameids"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestRecordings sends every recording through the events, their JSON and both folds.
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
			checkPairs(t, r)
			checkLossless(t, r, dialogues[name])
			checkRoundTrip(t, r)
			want := canonical(t, r.conv)
			for _, n := range []string{name, name + " cut"} {
				got := inNode[n]
				if got.Error != "" {
					t.Fatalf("%s: %s; want got.Error == \"\"", n, got.Error)
				}
				if got.State != want {
					t.Errorf("%s: the folds differ (-Go +TypeScript):\n%s", n, diffJSON(t, want, got.State))
				}
			}
			if got := canonical(t, refold(t, r.lines)); got != want {
				t.Errorf("messages fold to something else than events (-events +messages):\n%s", diffJSON(t, want, got))
			}
			checkSnapshots(t, r, want)
		})
	}
}

// everySnapshot is the number of messages up to which a recording is continued from every
// snapshot; a longer one is continued from every eighth.
const everySnapshot = 150

// checkSnapshots continues from the state after each message and expects the same final state.
func checkSnapshots(t *testing.T, r *run, want string) {
	t.Helper()
	step := 1
	if len(r.lines) > everySnapshot {
		step = len(r.lines) / 8
	}
	growing := &event.Conversation{}
	var d event.Decoder
	for i := range r.lines {
		if i%step == 0 {
			snapshot, err := json.Marshal(growing)
			if err != nil {
				t.Fatal(err)
			}
			rest := &event.Conversation{}
			if err := json.Unmarshal(snapshot, rest); err != nil {
				t.Fatal(err)
			}
			foldMessages(t, rest, r.lines[i:])
			if got := canonical(t, rest); got != want {
				t.Fatalf("from the snapshot after %d messages (-whole +snapshot):\n%s", i, diffJSON(t, want, got))
			}
		}
		for _, ev := range decodeLine(t, &d, r.lines[i]) {
			growing.Apply(ev)
		}
	}
}

// refold decodes messages to events and folds them.
func refold(tb testing.TB, lines []json.RawMessage) *event.Conversation {
	tb.Helper()
	conv := &event.Conversation{}
	foldMessages(tb, conv, lines)
	return conv
}

func foldMessages(tb testing.TB, conv *event.Conversation, lines []json.RawMessage) {
	tb.Helper()
	var d event.Decoder
	for _, line := range lines {
		for _, ev := range decodeLine(tb, &d, line) {
			conv.Apply(ev)
		}
	}
}

func decodeLine(tb testing.TB, d *event.Decoder, line []byte) []event.Event {
	tb.Helper()
	events, err := d.Decode(line)
	if err != nil {
		tb.Fatalf("%s: %v", line, err)
	}
	return events
}

// checkRoundTrip checks that each message that is not part of a stream survives a round trip
// byte for byte.
func checkRoundTrip(t *testing.T, r *run) {
	t.Helper()
	var d event.Decoder
	for _, line := range r.lines {
		events := decodeLine(t, &d, line)
		if bytes.HasPrefix(line, []byte(`{"type":"stream_event"`)) {
			continue
		}
		var got []byte
		for _, ev := range events {
			var err error
			if got, err = event.NewEncoder("0a1b2c3d", 0, event.CapabilityOutputDelta).AppendLines(got, ev); err != nil {
				t.Fatal(err)
			}
		}
		if string(got) != string(line)+"\n" {
			t.Errorf("encoded again:\n%s\nwant\n%s", got, line)
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

// TestRecordings_sameIDs restarts every recorded agent with the same ids.
func TestRecordings_sameIDs(t *testing.T) {
	short.SkipQuick(t, "folds every recording")
	dir := corpus()
	for _, name := range scenarios(t, dir) {
		t.Run(name, func(t *testing.T) {
			var steps []step
			for _, file := range stdoutFiles(t, filepath.Join(dir, name)) {
				steps = append(steps, dialogue(t, filepath.Dir(file))...)
			}
			sameids.Check(t, convert(t, steps).lines)
		})
	}
}
