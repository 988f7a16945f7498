package session

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/agui"
	"github.com/seed7221b0f9/parley/server/aisdk"
	"github.com/seed7221b0f9/parley/server/parts"
)

// published is an event for a viewer.
type published struct {
	seq, sub uint64
	ev       event.Event
}

// recordedItems returns the events of a recording as a session publishes them: deltas between
// durable events, with the partial text repeated after each durable one.
func recordedItems(t *testing.T, dir string) []published {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "stdout.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the CLI was not started
	}
	if err != nil {
		t.Fatal(err)
	}
	var c claudeevent.Converter
	var events []event.Event
	for line := range strings.Lines(string(data)) {
		m, err := message.Decode([]byte(strings.TrimSpace(line)))
		if err != nil {
			continue
		}
		if ask, ok := m.(*message.ControlRequest); ok {
			events = append(events, c.Ask(ask.RequestID, ask.Request)...)
			continue
		}
		events = append(events, c.Add(m)...)
	}
	events = append(events, c.End(nil)...)
	var s stream
	var items []published
	var seq, sub uint64
	for _, ev := range events {
		if len(mustMessages(t, ev)) == 0 {
			continue // it is not on the wire
		}
		if isDelta(ev) {
			s.add(ev)
			sub++
			items = append(items, published{seq, sub, ev})
			continue
		}
		for _, d := range append(s.durable(ev), ev) {
			seq, sub = seq+1, 0
			items = append(items, published{seq, 0, d})
		}
		for _, d := range s.restart() {
			sub++
			items = append(items, published{seq, sub, d})
		}
	}
	return items
}

func mustMessages(t *testing.T, ev event.Event) []json.RawMessage {
	t.Helper()
	all, err := event.NewEncoder("00000000", 0, event.CapabilityOutputDelta).Messages(ev)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// turns splits items after the end of each turn.
func turns(items []published) [][]published {
	var all [][]published
	from := 0
	for i, it := range items {
		if _, ok := it.ev.(*event.ResultMessage); ok {
			all = append(all, items[from:i+1])
			from = i + 1
		}
	}
	return all
}

// reduce reduces items and returns the parts with the place after them.
func reduce(at parts.Place, items []published) ([]parts.Part, parts.Place) {
	r := parts.New(at)
	var all []parts.Part
	seq := at.Seq
	for _, it := range items {
		seq = it.seq
		all = append(all, r.Apply(it.ev)...)
	}
	return all, r.Place("e", seq)
}

// durables returns the items for a viewer that is far behind.
func durables(items []published) []published {
	return slices.DeleteFunc(slices.Clone(items), func(it published) bool { return it.sub != 0 })
}

// after returns the items for a viewer with the durable messages up to seq.
func after(items []published, seq uint64) []published {
	i := slices.IndexFunc(items, func(it published) bool { return it.seq > seq || it.seq == seq && it.sub > 0 })
	if i < 0 {
		return nil
	}
	return items[i:]
}

// drawn folds parts to the state of a client: texts by block, inputs and results by call.
func drawn(all []parts.Part) map[string]string {
	m := map[string]string{}
	for _, p := range all {
		switch p.Kind {
		case parts.TextDelta, parts.ThinkingDelta:
			m[string(p.Kind)+" "+p.ID] += p.Text
		case parts.ToolInput:
			m["input "+p.ID] += string(p.Name) + string(p.Input)
		case parts.ToolResult:
			m["result "+p.ID] += string(p.Content)
		case parts.Ask:
			m["ask "+p.ID] += p.Call
		case parts.Finish:
			m["finish"] += string(p.End.Reason)
		}
	}
	return m
}

// TestReduce_recordings checks for every recording and every position in it that a block is shown
// once, in any form, that a stream that continues at the position has exactly the missing parts, and
// that both encoders follow the rules of their protocols.
func TestReduce_recordings(t *testing.T) {
	short.SkipQuick(t, "reduces every recording")
	dirs, err := filepath.Glob(filepath.FromSlash("../../testdata/wire/*"))
	if err != nil || len(dirs) < 100 {
		t.Fatalf("%d recordings, %v", len(dirs), err)
	}
	blocks := 0
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			for i, turn := range turns(recordedItems(t, dir)) {
				all, _ := reduce(parts.Place{}, turn)
				want := drawn(all)
				blocks += len(want)
				checkWhole(t, turn, want)
				checkRules(t, all)
				late, _ := reduce(parts.Place{}, durables(turn))
				same(t, fmt.Sprintf("turn %d, only what is durable", i), given(turn, want), given(turn, drawn(late)))
				step := max(1, len(turn)/100)
				for k := 0; k < len(turn); k += step {
					checkCut(t, fmt.Sprintf("turn %d, cut after %d", i, k), turn, k, want)
				}
			}
		})
	}
	if blocks < 500 {
		t.Errorf("%d blocks in all recordings", blocks)
	}
}

// checkCut continues a stream that was cut after k items, with deltas and without.
func checkCut(t *testing.T, what string, turn []published, k int, want map[string]string) {
	t.Helper()
	before, at := reduce(parts.Place{Epoch: "e", Seq: turn[0].seq - min(turn[0].seq, 1)}, turn[:k])
	at, err := parts.ParsePlace(at.String())
	if err != nil {
		t.Fatalf("%s: place: %v", what, err)
	}
	rest := after(turn, at.Seq)
	for name, items := range map[string][]published{"live": rest, "late": durables(rest)} {
		more, _ := reduce(at, items)
		got, want := drawn(slices.Concat(before, more)), want
		if name == "late" {
			got, want = given(turn, got), given(turn, want)
		}
		same(t, what+", "+name+" at "+at.String(), want, got)
		checkRules(t, more)
	}
}

// given returns the state of a client without messages with retracted parts: a late viewer does not
// get these.
func given(turn []published, all map[string]string) map[string]string {
	kept := maps.Clone(all)
	for _, it := range turn {
		if end, ok := it.ev.(*event.MessageComplete); ok && end.AbandonedFrom != nil {
			maps.DeleteFunc(kept, func(key, _ string) bool { return strings.Contains(key, " "+end.MessageID+":") })
		}
	}
	return kept
}

func same(t *testing.T, what string, want, got map[string]string) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%s: %s is %.200q, want %.200q", what, key, got[key], want[key])
		}
	}
	for key, text := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: %s is shown, %.200q", what, key, text)
		}
	}
}

// checkWhole checks that every complete text, call and result of the turn is shown.
func checkWhole(t *testing.T, turn []published, got map[string]string) {
	t.Helper()
	texts := map[string]int{}
	for key, text := range got {
		kind, _, _ := strings.Cut(key, " ")
		texts[kind+" "+text]++
	}
	for _, it := range turn {
		switch ev := it.ev.(type) {
		case *event.AssistantMessage:
			for _, b := range ev.Blocks {
				kind := map[string]string{"text": "text-delta", "thinking": "thinking-delta"}[b.Block.Type]
				if kind != "" && b.Block.Text != "" && texts[kind+" "+b.Block.Text] == 0 {
					t.Errorf("not shown: %s %.200q", b.Block.Type, b.Block.Text)
				}
				if b.Block.Type == "tool_use" && got["input "+b.Block.ToolUseID] != b.Block.Name+string(cmp.Or(b.Block.Input, "{}")) {
					t.Errorf("call %s is shown as %q", b.Block.ToolUseID, got["input "+b.Block.ToolUseID])
				}
			}
		case *event.ToolComplete:
			if _, called := got["input "+ev.ToolUseID]; called && got["result "+ev.ToolUseID] != string(ev.Content) {
				t.Errorf("the result of %s is shown as %.200q", ev.ToolUseID, got["result "+ev.ToolUseID])
			}
		}
	}
}

// checkRules encodes parts with both encoders and checks the order of the output.
func checkRules(t *testing.T, all []parts.Part) {
	t.Helper()
	ag, ai := agui.NewEncoder("thread", "run"), aisdk.Encoder{}
	events, chunks := ag.Begin(""), ai.Begin("m")
	for _, p := range all {
		if p.Kind == parts.Ask { // it was answered, as the stream continues
			continue
		}
		events, chunks = append(events, ag.Part(p)...), append(chunks, ai.Part(p)...)
	}
	checkAGUI(t, events)
	checkAISDK(t, chunks)
}

// encodedEvent holds the members of an event of either protocol for the rules.
type encodedEvent struct {
	Type, MessageID, ToolCallID, ID, Delta string
}

func decodeEvents(t *testing.T, all []json.RawMessage) []encodedEvent {
	t.Helper()
	events := make([]encodedEvent, len(all))
	for i, data := range all {
		if err := json.Unmarshal(data, &events[i]); err != nil || events[i].Type == "" {
			t.Fatalf("%s: %v; want err == nil and events[i].Type != \"\"", data, err)
		}
	}
	return events
}

func checkAGUI(t *testing.T, all []json.RawMessage) {
	t.Helper()
	open := map[string]bool{}
	events := decodeEvents(t, all)
	for i, ev := range events {
		kind, step := ev.Type, ""
		for _, suffix := range []string{"_START", "_CONTENT", "_ARGS", "_END"} {
			if k, ok := strings.CutSuffix(ev.Type, suffix); ok {
				kind, step = k, suffix
			}
		}
		key := kind + " " + ev.MessageID + ev.ToolCallID
		switch {
		case (ev.Type == "RUN_STARTED") != (i == 0):
			t.Errorf("event %d is %s", i, ev.Type)
		case (ev.Type == "RUN_FINISHED" || ev.Type == "RUN_ERROR") && (i != len(events)-1 || len(open) > 0):
			t.Errorf("the run ends at event %d of %d with %v open", i, len(events), open)
		case step == "_START" && open[key], step != "_START" && step != "" && !open[key]:
			t.Errorf("event %d: %s of %s; open are %v", i, ev.Type, key, open)
		case step == "_START":
			open[key] = true
		case step == "_END":
			delete(open, key)
		case step != "" && ev.Delta == "":
			t.Errorf("event %d: %s without a delta", i, ev.Type)
		}
	}
}

func checkAISDK(t *testing.T, all []json.RawMessage) {
	t.Helper()
	open, ends := map[string]bool{}, 0
	for i, ev := range decodeEvents(t, all) {
		kind := ev.Type[:strings.LastIndexByte("-"+ev.Type, '-')]
		key := kind + ev.ID
		switch {
		case (ev.Type == "start") != (i == 0):
			t.Errorf("part %d is %s", i, ev.Type)
		case ev.Type == "text-start" || ev.Type == "reasoning-start":
			if open[key] {
				t.Errorf("part %d: %s starts twice", i, key)
			}
			open[key] = true
		case ev.Type == "text-delta" || ev.Type == "reasoning-delta" || ev.Type == "text-end" || ev.Type == "reasoning-end":
			if !open[key] {
				t.Errorf("part %d: %s of %s, which has not started", i, ev.Type, key)
			}
			if strings.HasSuffix(ev.Type, "-end") {
				delete(open, key)
			}
		case ev.Type == "finish" || ev.Type == "abort":
			if ends++; ends > 1 || len(open) > 0 || i != len(all)-1 {
				t.Errorf("part %d: %s, end %d with %v open", i, ev.Type, ends, open)
			}
		}
	}
}
