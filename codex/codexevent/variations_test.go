package codexevent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// variations changes the lines of a recorded server to equivalent lines, as other versions write
// them.
var variations = map[string]func(v *variation, l codexrec.Line, m map[string]any){
	// Unknown notifications, and notifications about unknown threads, turns and items.
	"unknown": func(v *variation, l codexrec.Line, m map[string]any) {
		if params, ok := m["params"].(map[string]any); ok && m["id"] == nil {
			thread, turn := params["threadId"], params["turnId"]
			v.add(map[string]any{"method": "strange/notify", "params": map[string]any{"threadId": thread, "turnId": turn, "deep": []any{nil}}})
			v.add(map[string]any{"method": "item/strange/delta", "params": map[string]any{"threadId": thread, "turnId": turn, "itemId": "strange", "delta": "text"}})
			v.add(map[string]any{"method": "item/agentMessage/delta", "params": map[string]any{"threadId": "no-thread", "turnId": "no-turn", "itemId": "strange", "delta": "text"}})
			v.add(map[string]any{"method": "turn/completed", "params": map[string]any{"threadId": "no-thread", "turn": map[string]any{"id": "no-turn", "status": "completed"}}})
			v.add(map[string]any{"method": "strange/empty"})
			v.add(map[string]any{"method": "strange/list", "params": []any{1, "x", nil}})
		}
		v.keep(l)
	},
	// Unknown members everywhere.
	"future": func(v *variation, l codexrec.Line, m map[string]any) {
		m["future"] = map[string]any{"x": []any{1}}
		eachObject(m, func(path string, o map[string]any) {
			if strings.HasSuffix(path, "/params") || strings.HasSuffix(path, "/item") || strings.HasSuffix(path, "/turn") || strings.HasSuffix(path, "/thread") {
				o["futureMember"] = []any{nil, map[string]any{}}
			}
		})
		v.add(m)
	},
	// Optional members that are null instead of missing.
	"nulls": func(v *variation, l codexrec.Line, m map[string]any) {
		eachObject(m, func(path string, o map[string]any) {
			names := map[string][]string{
				"/params/item": {"exitCode", "durationMs", "aggregatedOutput", "memoryCitation", "phase", "processId", "error", "result"},
				"/params/turn": {"error", "startedAt", "completedAt", "durationMs"},
				"/params":      {"reason", "grantRoot", "networkApprovalContext", "availableDecisions"},
			}[path]
			for _, name := range names {
				if _, ok := o[name]; !ok && m["method"] != "turn/plan/updated" {
					o[name] = nil
				}
			}
		})
		v.add(m)
	},
	// Ids of requests as strings.
	"ids": func(v *variation, l codexrec.Line, m map[string]any) {
		if id, ok := m["id"].(json.Number); ok && m["method"] != nil {
			v.asked[id.String()] = "text-" + id.String()
			m["id"] = v.asked[id.String()]
		}
		v.add(m)
	},
	// A text in several pieces, with empty pieces in between.
	"pieces": func(v *variation, l codexrec.Line, m map[string]any) {
		params, _ := m["params"].(map[string]any)
		delta, _ := params["delta"].(string)
		if runes := []rune(delta); m["method"] == "item/agentMessage/delta" && len(runes) > 1 {
			for _, piece := range []string{string(runes[:1]), "", string(runes[1:])} {
				params["delta"] = piece
				v.add(m)
			}
			return
		}
		v.keep(l)
	},
	// Complete texts, without the pieces.
	"whole": func(v *variation, l codexrec.Line, m map[string]any) {
		params, _ := m["params"].(map[string]any)
		if id, _ := params["itemId"].(string); m["method"] == "item/agentMessage/delta" && v.whole[id] {
			return
		}
		v.keep(l)
	},
	// Repeated notifications of states.
	"twice": func(v *variation, l codexrec.Line, m map[string]any) {
		v.keep(l)
		switch m["method"] {
		case "turn/plan/updated", "turn/diff/updated", "thread/tokenUsage/updated", "thread/status/changed", "account/rateLimits/updated":
			v.keep(l)
		}
	},
}

// eachObject calls f for the objects in a value, with their paths.
func eachObject(v any, f func(path string, o map[string]any)) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			f(path, v)
			for name, x := range v {
				walk(path+"/"+name, x)
			}
		case []any:
			for _, x := range v {
				walk(path, x)
			}
		}
	}
	walk("", v)
}

// variation is a recording that is being changed.
type variation struct {
	t     *testing.T
	lines []codexrec.Line
	from  codexrec.Line
	asked map[string]string // new ids for the server's requests
	whole map[string]bool   // items that end with their complete text
}

func (v *variation) keep(l codexrec.Line) { v.lines = append(v.lines, l) }

func (v *variation) add(m map[string]any) {
	text, err := json.Marshal(m)
	if err != nil {
		v.t.Fatal(err)
	}
	l := v.from
	l.Msg = text
	v.keep(l)
}

// vary changes the lines of a recording.
func vary(t *testing.T, lines []codexrec.Line, change func(*variation, codexrec.Line, map[string]any)) []codexrec.Line {
	v := &variation{t: t, asked: map[string]string{}, whole: map[string]bool{}}
	for _, l := range lines {
		if m, _ := decodedLine(l.Msg); m["method"] == "item/completed" {
			params, _ := m["params"].(map[string]any)
			item, _ := params["item"].(map[string]any)
			v.whole[fmt.Sprint(item["id"])] = true
		}
	}
	for _, l := range lines {
		v.from = l
		m, ok := decodedLine(l.Msg)
		id, isNumber := m["id"].(json.Number)
		switch {
		case !ok:
			v.keep(l)
		case l.Client && m["method"] == nil && isNumber && v.asked[id.String()] != "":
			m["id"] = v.asked[id.String()]
			v.add(m)
		case l.Client:
			v.keep(l)
		default:
			change(v, l, m)
		}
	}
	return v.lines
}

func decodedLine(text []byte) (m map[string]any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return m, d.Decode(&m) == nil
}

// TestRecordings_varied converts the recordings with changed lines. The conversation must be the
// same.
func TestRecordings_varied(t *testing.T) {
	short.SkipQuick(t, "converts every recording")
	recordings := codexrec.Own(t)
	for at, name := range slices.Sorted(maps.Keys(variations)) {
		t.Run(name, func(t *testing.T) {
			for i, r := range recordings {
				if (i+at)%short.Count(4, 1, 1) != 0 {
					continue
				}
				lines := r.Lines(t)
				changed := vary(t, lines, variations[name])
				for _, id := range roots(t, lines) {
					want, got := plainState(t, convert(t, lines, id).conv), plainState(t, convert(t, changed, id).conv)
					if want != got {
						t.Errorf("%s %s: (-recorded +changed)\n%s", r.Title(), id, diffJSON(t, want, got))
					}
				}
			}
		})
	}
}

// plainState returns a conversation without the ids of requests, which a variation changes, and
// without unknown items, which a variation adds.
func plainState(t *testing.T, c *event.Conversation) string {
	t.Helper()
	plain := *c
	plain.Threads = nil
	for _, thread := range c.Threads {
		known := *thread
		known.Items = slices.DeleteFunc(slices.Clone(thread.Items), func(it *event.Item) bool { return it.Unknown != nil })
		plain.Threads = append(plain.Threads, &known)
	}
	var v any
	if err := json.Unmarshal([]byte(canonical(t, &plain)), &v); err != nil {
		t.Fatal(err)
	}
	eachObject(v, func(_ string, o map[string]any) { // events keep the parameters of their lines
		for name, x := range o {
			if x == nil || strings.HasPrefix(name, "future") {
				delete(o, name)
			}
		}
	})
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "text-", "")
}

// TestRecordings_damaged converts recordings that are cut, lack a line, or have lines with missing
// members or other types. Each start must have its stop, each request its end, and no item may stay
// in progress.
func TestRecordings_damaged(t *testing.T) {
	short.SkipQuick(t, "converts every recording")
	for i, r := range codexrec.Own(t) {
		if i%short.Count(8, 2, 1) != 0 {
			continue
		}
		lines := r.Lines(t)
		threads := roots(t, lines)
		for k, l := range lines {
			if l.Client || k%short.Count(5, 2, 1) != 0 {
				continue
			}
			checkDamaged(t, fmt.Sprintf("%s cut after line %d", r.Title(), k), lines[:k], threads)
			checkDamaged(t, fmt.Sprintf("%s without line %d", r.Title(), k), slices.Concat(lines[:k], lines[k+1:]), threads)
			for _, text := range poorer(l.Msg, k) {
				changed := slices.Clone(lines)
				changed[k].Msg = text
				checkDamaged(t, fmt.Sprintf("%s with line %d as %.300s", r.Title(), k, text), changed, threads)
			}
		}
	}
}

// poorer returns forms of a line with a missing member or a member of another type. turn selects
// the member.
func poorer(line []byte, turn int) (forms [][]byte) {
	m, ok := decodedLine(line)
	if !ok {
		return nil
	}
	type member struct {
		object     map[string]any
		path, name string
	}
	var members []member
	eachObject(m, func(path string, o map[string]any) {
		for name := range o {
			if strings.HasPrefix(path, "/params") {
				members = append(members, member{o, path, name})
			}
		}
	})
	if len(members) == 0 {
		return nil
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.path+"/"+a.name, b.path+"/"+b.name) })
	x := members[turn%len(members)]
	old := x.object[x.name]
	for _, value := range []any{nil, 7, "text", []any{}, map[string]any{}, []any{7, nil}, true} {
		x.object[x.name] = value
		if text, err := json.Marshal(m); err == nil {
			forms = append(forms, text)
		}
	}
	delete(x.object, x.name)
	if text, err := json.Marshal(m); err == nil {
		forms = append(forms, text)
	}
	x.object[x.name] = old
	return forms
}

func checkDamaged(t *testing.T, what string, lines []codexrec.Line, threads []string) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			t.Fatalf("%s: panic: %v", what, v)
		}
	}()
	for _, id := range threads {
		c := &codexevent.Converter{ThreadID: id}
		var events []event.Event
		for _, l := range lines {
			if l.Client {
				if d, err := item.DecodeClient(l.Msg); err == nil {
					events = append(events, c.Client(d)...)
				}
			} else if d, err := item.DecodeServer(l.Msg); err == nil {
				events = append(events, c.Server(d)...)
			}
		}
		events = append(events, c.End(nil)...)
		var conv event.Conversation
		for _, ev := range events {
			conv.Apply(ev)
		}
		if why := unpaired(events); why != "" {
			t.Errorf("%s: %s", what, why)
		}
		if len(conv.Prompts) > 0 {
			t.Errorf("%s: %d requests are open at the end", what, len(conv.Prompts))
		}
	}
}

// unpaired returns the faults that checkPairs reports.
func unpaired(events []event.Event) string {
	open := map[string]bool{}
	for _, ev := range events {
		h := ev.Head()
		switch ev := ev.(type) {
		case *event.MessageStart:
			if open[h.MessageID] {
				return "message " + h.MessageID + " starts twice"
			}
			open[h.MessageID] = true
		case *event.MessageComplete:
			if !open[h.MessageID] {
				return "message " + h.MessageID + " ends and has not started"
			}
			delete(open, h.MessageID)
		case *event.PermissionRequest:
			open["request "+ev.RequestID] = true
		case *event.QuestionRequest:
			open["request "+ev.RequestID] = true
		case *event.PermissionResolved:
			delete(open, "request "+ev.RequestID)
		case *event.QuestionResolved:
			delete(open, "request "+ev.RequestID)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("never ended: %v", slices.Sorted(maps.Keys(open)))
	}
	return ""
}
