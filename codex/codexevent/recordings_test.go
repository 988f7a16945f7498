package codexevent_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
	"github.com/seed7221b0f9/parley/internal/test/sameids"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// run is one thread of a recording with its events, messages and folds.
type run struct {
	thread string
	events []event.Event
	lines  []json.RawMessage // rpc messages
	conv   *event.Conversation
}

// convert converts the lines of a recording for one thread.
func convert(t *testing.T, lines []codexrec.Line, thread string) *run {
	t.Helper()
	c := &codexevent.Converter{ThreadID: thread}
	r := &run{thread: thread, conv: &event.Conversation{}}
	for _, l := range lines {
		var d item.Line
		var err error
		if l.Client {
			if d, err = item.DecodeClient(l.Msg); err == nil {
				r.events = append(r.events, c.Client(d)...)
			}
		} else if d, err = item.DecodeServer(l.Msg); err != nil {
			t.Fatal(err)
		} else {
			r.events = append(r.events, c.Server(d)...)
		}
	}
	r.events = append(r.events, c.End(nil)...)
	conv := event.NewEncoder("0a1b2c3d", 0, event.CapabilityOutputDelta)
	for _, ev := range r.events {
		if ev.Head().Provider != codexevent.Provider {
			t.Errorf("a %T of %q", ev, ev.Head().Provider)
		}
		r.conv.Apply(ev)
		messages, err := conv.Messages(ev)
		if err != nil {
			t.Fatalf("%T: %v", ev, err)
		}
		r.lines = append(r.lines, messages...)
	}
	return r
}

// roots returns the threads of a recording that are not subagents.
func roots(t *testing.T, lines []codexrec.Line) []string {
	t.Helper()
	var list []string
	add := func(id string) {
		if id != "" && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	for _, l := range lines {
		var m struct {
			Result struct {
				Thread *struct {
					ID             string
					ParentThreadID string
				}
				Model string
			}
		}
		if !l.Client && json.Unmarshal(l.Msg, &m) == nil && m.Result.Thread != nil && m.Result.Model != "" {
			add(m.Result.Thread.ID)
		}
	}
	return list
}

// TestRecordings converts every recording to events, messages and both folds. It compares the folds
// with a walk over the JSON that does not use the types.
func TestRecordings(t *testing.T) {
	var cases []nodefold.Case
	all := map[string][]*run{} // by recording
	threads := 0
	for _, r := range codexrec.All(t) {
		t.Run(r.Title(), func(t *testing.T) {
			lines := r.Lines(t)
			checkStream(t, lines)
			for _, id := range roots(t, lines) {
				one := convert(t, lines, id)
				all[r.Title()] = append(all[r.Title()], one)
				name := r.Title() + " " + id
				cases = append(cases, nodefold.Case{Name: name, Messages: one.lines}, nodefold.Case{Name: name + " cut", Messages: one.lines, Cut: len(one.lines) / 2})
				threads++
				checkPairs(t, one.events)
				newOracle(t, lines, id).check(t, one)
			}
		})
	}
	if os.Getenv(codexrec.Variable) == "" && threads < 80 {
		t.Fatalf("only %d threads", threads)
	}
	inNode := nodefold.Fold(t, cases)
	for title, runs := range all {
		t.Run(title, func(t *testing.T) {
			for _, r := range runs {
				want := canonical(t, r.conv)
				for _, n := range []string{title + " " + r.thread, title + " " + r.thread + " cut"} {
					if got := inNode[n]; got.Error != "" || got.State != want {
						t.Errorf("%s: the folds differ %s (-Go +TypeScript):\n%s", n, got.Error, diffJSON(t, want, got.State))
					}
				}
			}
		})
	}
}

// TestRecordings_sameIDs restarts every recorded agent with the same ids.
func TestRecordings_sameIDs(t *testing.T) {
	short.SkipQuick(t, "folds every recording")
	for _, r := range codexrec.All(t) {
		t.Run(r.Title(), func(t *testing.T) {
			lines := r.Lines(t)
			for _, id := range roots(t, lines) {
				sameids.Check(t, convert(t, lines, id).lines)
			}
		})
	}
}

// checkPairs checks that each start has its stop, and each request its end.
func checkPairs(t *testing.T, events []event.Event) {
	t.Helper()
	type key struct {
		message string
		index   int64
	}
	messages, blocks, asks := map[string]bool{}, map[key]bool{}, map[string]bool{}
	start := func(h *event.Header, index int64) {
		k := key{h.MessageID, index}
		if !messages[h.MessageID] || blocks[k] {
			t.Errorf("block %v starts twice or outside of its message", k)
		}
		blocks[k] = true
	}
	end := func(set map[string]bool, id string) {
		if !set[id] {
			t.Errorf("%s ends and has not started", id)
		}
		delete(set, id)
	}
	for _, ev := range events {
		h := ev.Head()
		switch ev := ev.(type) {
		case *event.MessageStart:
			if messages[h.MessageID] {
				t.Errorf("message %s starts twice", h.MessageID)
			}
			messages[h.MessageID] = true
		case *event.TextStart:
			start(h, ev.Index)
		case *event.ThinkingStart:
			start(h, ev.Index)
		case *event.ToolStart:
			start(h, ev.Index)
		case *event.TextDelta:
			if !blocks[key{h.MessageID, ev.Index}] {
				t.Errorf("text for a block that is not open")
			}
		case *event.BlockStop:
			if !blocks[key{h.MessageID, ev.Index}] {
				t.Errorf("a stop of a block that is not open")
			}
			delete(blocks, key{h.MessageID, ev.Index})
		case *event.MessageComplete:
			end(messages, h.MessageID)
		case *event.PermissionRequest:
			asks[ev.RequestID] = true
		case *event.QuestionRequest:
			asks[ev.RequestID] = true
		case *event.PermissionResolved:
			end(asks, ev.RequestID)
		case *event.QuestionResolved:
			end(asks, ev.RequestID)
		}
	}
	if len(messages)+len(blocks)+len(asks) > 0 {
		t.Errorf("never ended: %v %v %v", messages, blocks, asks)
	}
}

func canonical(t *testing.T, c *event.Conversation) string {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out, err := event.Canonical(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func diffJSON(t *testing.T, want, got string) string {
	t.Helper()
	var w, g any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if got != "" {
		if err := json.Unmarshal([]byte(got), &g); err != nil {
			t.Fatal(err)
		}
	}
	return cmp.Diff(w, g)
}

// statuses are the statuses of turns and items on the wire.
var statuses = []string{"", "inProgress", "completed", "interrupted", "failed", "declined"}

// checkStream checks that the lines of a recording agree with each other: the deltas of a message
// with the final text, the start of a command with its end, the summary of a turn with its items.
func checkStream(t *testing.T, lines []codexrec.Line) {
	t.Helper()
	type thing struct{ ID, Type, Text, Command, Status string }
	pieces, texts, commands := map[string]string{}, map[string]string{}, map[string]string{}
	status := func(s json.RawMessage) {
		var name string
		if json.Unmarshal(s, &name) == nil && !slices.Contains(statuses, name) {
			t.Errorf("there is no status %q", name)
		}
	}
	agree := func(seen map[string]string, key, text string) {
		if old, ok := seen[key]; ok && old != text {
			t.Errorf("%s is %.100q and %.100q", key, old, text)
		}
		seen[key] = text
	}
	for _, l := range lines {
		var m struct {
			Method string
			Params struct {
				TurnID, ItemID string
				Delta          json.RawMessage
				Item           thing
				Turn           struct {
					ID     string
					Status json.RawMessage
					Items  []thing
				}
			}
		}
		if l.Client || json.Unmarshal(l.Msg, &m) != nil {
			continue
		}
		p := m.Params
		status(p.Turn.Status)
		switch m.Method {
		case "item/agentMessage/delta":
			pieces[p.TurnID+" "+p.ItemID] += value(p.Delta)
		case "item/started", "item/completed":
			key := p.TurnID + " " + p.Item.ID
			if p.Item.Command != "" {
				agree(commands, key, p.Item.Command)
			}
			if m.Method == "item/completed" && p.Item.Type == "agentMessage" {
				if pieces[key] != "" {
					agree(pieces, key, p.Item.Text)
				}
				texts[key] = p.Item.Text
			}
		case "turn/completed":
			for _, i := range p.Turn.Items {
				if key := p.Turn.ID + " " + i.ID; i.Type == "agentMessage" && texts[key] != "" {
					agree(texts, key, i.Text)
				}
			}
		}
	}
}

func value(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s) // a delta that is not a string is of another kind
	return s
}
