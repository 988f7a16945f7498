package claudeevent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// generated returns the steps of a generated session, with partial messages or without.
func generated(seed uint64, cutting, partial bool) []step {
	var steps []step
	for _, l := range newGenerator(seed, cutting).session() {
		if partial || !l.streamOnly {
			steps = append(steps, step{line: l.text})
		}
	}
	return steps
}

const sessions = 25

// Cutting the stream anywhere, encoding the state and continuing from it gives the same
// state in both folds, byte for byte. So does folding twice.
func TestProperty_cut(t *testing.T) {
	var cases []nodefold.Case
	want := map[string]string{}
	for seed := range uint64(short.Count(8, sessions, sessions)) {
		r := convert(t, generated(seed, true, true))
		checkPairs(t, r)
		checkRoundTrip(t, r)
		whole, err := json.Marshal(r.conv)
		if err != nil {
			t.Fatal(err)
		}
		var twice event.Conversation
		for _, ev := range r.events {
			twice.Apply(ev)
		}
		if again, err := json.Marshal(&twice); err != nil || string(again) != string(whole) {
			t.Fatalf("session %d: folded twice, two results", seed)
		}
		for cut := 0; cut < len(r.events); cut += 1 + len(r.events)/8 {
			if got := foldCut(t, r.events, cut); got != string(whole) {
				t.Fatalf("session %d, cut at %d (-whole +cut):\n%s", seed, cut, diffJSON(t, string(whole), got))
			}
		}
		if got := canonical(t, refold(t, r.lines)); got != canonical(t, r.conv) {
			t.Errorf("session %d: messages fold to something else than events:\n%s", seed, diffJSON(t, canonical(t, r.conv), got))
		}
		for i := range 3 {
			name := fmt.Sprintf("session %d, cut %d", seed, i)
			cases = append(cases, nodefold.Case{Name: name, Messages: r.lines, Cut: i * len(r.lines) / 3})
			want[name] = canonical(t, r.conv)
		}
	}
	for name, got := range nodefold.Fold(t, cases) {
		if got.Error != "" {
			t.Errorf("%s: %s; want got.Error == \"\"", name, got.Error)
		} else if got.State != want[name] {
			t.Errorf("%s: the folds differ (-Go +TypeScript):\n%s", name, diffJSON(t, want[name], got.State))
		}
	}
}

// After any message, one fold can continue from the state of the other.
func TestProperty_handover(t *testing.T) {
	type handover struct {
		r  *run
		at int
	}
	var cases []nodefold.Case
	runs := map[string]handover{}
	for seed := range uint64(short.Count(8, sessions, sessions)) {
		r := convert(t, generated(seed, true, true))
		for i := range 6 {
			at := (len(r.lines)*i + int(seed)) / 6 % len(r.lines)
			snapshot, err := json.Marshal(refold(t, r.lines[:at]))
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("session %d at %d", seed, at)
			runs[name] = handover{r, at}
			cases = append(cases,
				nodefold.Case{Name: name, Messages: r.lines[at:], Snapshot: snapshot},
				nodefold.Case{Name: name + " begun", Messages: r.lines[:at]})
		}
	}
	inNode := nodefold.Fold(t, uniqueCases(cases))
	for name, h := range runs {
		want := canonical(t, h.r.conv)
		if got := inNode[name]; got.State != want {
			t.Errorf("%s: begun in Go, ended in TypeScript: %s\n%s", name, got.Error, diffJSON(t, want, got.State))
		}
		begun := inNode[name+" begun"]
		if half := canonical(t, refold(t, h.r.lines[:h.at])); begun.State != half {
			t.Errorf("%s: the folds differ half way:\n%s", name, diffJSON(t, half, begun.State))
		}
		conv := &event.Conversation{}
		if err := json.Unmarshal([]byte(begun.State), conv); err != nil {
			t.Fatal(err)
		}
		foldMessages(t, conv, h.r.lines[h.at:])
		if got := canonical(t, conv); got != want {
			t.Errorf("%s: begun in TypeScript, ended in Go:\n%s", name, diffJSON(t, want, got))
		}
	}
}

// uniqueCases drops cases with the same name.
func uniqueCases(cases []nodefold.Case) []nodefold.Case {
	seen := map[string]bool{}
	return slices.DeleteFunc(cases, func(c nodefold.Case) bool {
		again := seen[c.Name]
		seen[c.Name] = true
		return again
	})
}

// foldCut folds events and encodes and decodes the state after some of them.
func foldCut(t *testing.T, events []event.Event, cut int) string {
	t.Helper()
	conv := &event.Conversation{}
	for i, ev := range events {
		if i == cut {
			text, err := json.Marshal(conv)
			if err != nil {
				t.Fatal(err)
			}
			conv = &event.Conversation{}
			if err := json.Unmarshal(text, conv); err != nil {
				t.Fatal(err)
			}
		}
		conv.Apply(ev)
	}
	text, err := json.Marshal(conv)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whole messages alone give the same conversation as partial ones. The comparison omits
// data that only stream events have: the end and the usage of an answer, and unknown
// events of the stream.
func TestProperty_wholeIsPartial(t *testing.T) {
	for seed := range uint64(short.Count(8, 2*sessions, 2*sessions)) {
		partial := convert(t, generated(seed, false, true))
		whole := convert(t, generated(seed, false, false))
		checkShown(t, partial, generated(seed, false, true))
		checkShown(t, whole, generated(seed, false, false))
		want, got := withoutStream(t, whole.conv), withoutStream(t, partial.conv)
		if got != want {
			t.Fatalf("session %d (-whole +partial):\n%s", seed, diffJSON(t, want, got))
		}
	}
}

func withoutStream(t *testing.T, conv *event.Conversation) string {
	t.Helper()
	conv.Usage = nil
	for _, thread := range conv.Threads {
		thread.Items = slices.DeleteFunc(thread.Items, func(it *event.Item) bool { return it.Stream })
		for _, it := range thread.Items {
			if it.Message != nil {
				it.Message.StopReason, it.Message.Usage = "", ""
			}
		}
	}
	return canonical(t, conv)
}
