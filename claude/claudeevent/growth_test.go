package claudeevent_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
)

func textStart(message string, index int) string {
	return streamLine("", message, fmt.Sprintf(`"type":"content_block_start","index":%d,"content_block":{"type":"text","text":"x"}`, index))
}

func textLine(message, uuid, more string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"%s","content":[{"type":"text","text":"x"}]},"uuid":"%s"%s}`, message, uuid, more)
}

// growthCases are worst cases of sessions with n parts.
var growthCases = map[string]func(n int) []string{
	"blocks streamed, then whole": func(n int) []string {
		lines := startLines("", "m")
		for i := range n {
			lines = append(lines, textStart("m", i))
		}
		for i := range n {
			lines = append(lines, textLine("m", fmt.Sprint(i), ""))
		}
		return append(lines, streamLine("", "m", `"type":"message_stop"`))
	},
	"blocks from the last to the first": func(n int) []string {
		lines := startLines("", "m")
		for i := n; i > 0; i-- {
			lines = append(lines, textStart("m", i))
		}
		return lines
	},
	"messages streamed at once, then whole": func(n int) []string {
		var lines []string
		for i := range n {
			lines = append(lines, textStart(fmt.Sprint("m", i), 0))
		}
		for i := range n {
			lines = append(lines, textLine(fmt.Sprint("m", i), fmt.Sprint(i), ""))
		}
		return lines
	},
	"a message started again and again": func(n int) []string {
		var lines []string
		for i := range n {
			lines = append(lines, textLine("m", fmt.Sprint(i), ""))
		}
		for range n {
			lines = append(lines, startLines("", "m", n+1)...)
			lines = append(lines, streamLine("", "m", `"type":"message_stop"`))
		}
		return lines
	},
	"results before their tools": func(n int) []string {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t%d","content":"r"}]}}`, i))
		}
		for i := range n {
			lines = append(lines, fmt.Sprintf(`{"type":"assistant","message":{"id":"m%d","content":[{"type":"tool_use","id":"t%d","name":"X","input":{}}]}}`, i, i))
		}
		return lines
	},
	"threads from the last to the first": func(n int) []string {
		var lines []string
		for i := n; i > 0; i-- {
			lines = append(lines, textLine("m", fmt.Sprint(i), fmt.Sprintf(`,"parent_tool_use_id":"t%08d"`, i)))
		}
		return lines
	},
	"lines that supersede the first": func(n int) []string {
		var lines []string
		for i := range n {
			lines = append(lines, textLine(fmt.Sprint("m", i), fmt.Sprint(i), ""))
		}
		for i := range n {
			lines = append(lines, textLine("last", fmt.Sprint("s", i), fmt.Sprintf(`,"supersedes":["%d"]`, i)))
		}
		return lines
	},
	"prompts and results": func(n int) []string {
		var lines []string
		for i := range n {
			lines = append(lines, fmt.Sprintf(`{"type":"user","message":{"content":"p"},"uuid":"p%d"}`, i), resultLine)
		}
		return lines
	},
}

// growthEvents are events that Claude's messages never produce in such numbers.
var growthEvents = map[string]func(n int) []event.Event{
	"requests asked, then answered": func(n int) []event.Event {
		var all []event.Event
		for i := range n {
			all = append(all, &event.PermissionRequest{Kind: event.PermissionTool, RequestID: fmt.Sprint(i)})
		}
		for i := range n {
			all = append(all, &event.PermissionResolved{RequestID: fmt.Sprint(i), Behavior: event.ResolvedDeny})
		}
		return all
	},
	"turns cut one by one": func(n int) []event.Event {
		var all []event.Event
		for i := range n {
			all = append(all, &event.TurnStart{TurnID: fmt.Sprint(i)}, &event.UserMessage{Header: event.Header{UUID: fmt.Sprint("u", i)}})
		}
		for i := n; i > 0; i-- {
			all = append(all, &event.Truncate{TurnID: fmt.Sprint(i - 1)}, &event.Truncate{TurnID: "0x"}, &event.Truncate{From: "none"})
		}
		return all
	},
	"messages cut from the end": func(n int) []event.Event {
		var all []event.Event
		for i := range n {
			all = append(all, &event.UserMessage{Header: event.Header{UUID: fmt.Sprint("u", i)}})
		}
		for i := n; i > 0; i-- {
			all = append(all, &event.Truncate{From: fmt.Sprint("u", i-1)})
		}
		return all
	},
	"hooks and notices": func(n int) []event.Event {
		var all []event.Event
		for i := range n {
			all = append(all, &event.Hook{HookID: fmt.Sprint(i), State: event.HookStarted}, &event.Notice{Text: "x"})
		}
		return all
	},
}

// growthSizes are 1x, 2x, 4x and 8x.
var growthSizes = []int{600, 1200, 2400, 4800}

// checkGrowth fails if steps grow faster than n log n, with a tolerance of 20 %.
func checkGrowth(t *testing.T, what string, steps []float64) {
	t.Helper()
	for i := 1; i < len(steps); i++ {
		// log(2n)/log(n) is below 1.1 for these sizes.
		if steps[i] > 2*1.1*1.2*steps[i-1]+1000 {
			t.Errorf("%s: %.0f steps for %v parts", what, steps, growthSizes)
			return
		}
	}
}

// measured holds the steps of one session at each size.
type measured struct{ convert, fold, node, bytes []float64 }

// Converter, both folds and rpc take at most n log n steps for any session.
func TestGrowth(t *testing.T) {
	if raceDetector {
		t.Skip("it counts steps; make test runs it without the race detector")
	}
	results := map[string]*measured{}
	var cases []nodefold.Case
	add := func(name string, i int, steps int64, events []event.Event) {
		if results[name] == nil {
			results[name] = &measured{node: make([]float64, len(growthSizes))}
		}
		m := results[name]
		m.convert = append(m.convert, float64(steps))
		fold, bytes, lines := foldSteps(t, events)
		m.fold, m.bytes = append(m.fold, fold), append(m.bytes, bytes)
		cases = append(cases, nodefold.Case{Name: fmt.Sprintf("%s\x00%d", name, i), Messages: lines})
	}
	for i, n := range growthSizes {
		for name, lines := range growthCases {
			var c claudeevent.Converter
			events := feed(t, &c, lines(n)...)
			events = append(events, c.End(nil)...)
			add(name, i, claudeevent.Steps(&c), events)
		}
		for name, events := range growthEvents {
			add(name, i, 0, events(n))
		}
	}
	for key, r := range nodefold.Fold(t, cases) {
		name, size, _ := strings.Cut(key, "\x00")
		if r.Error != "" {
			t.Errorf("%s: %s; want r.Error == \"\"", name, r.Error)
		}
		results[name].node[size[0]-'0'] = r.Steps
	}
	for name, m := range results {
		checkGrowth(t, name+": converter", m.convert)
		checkGrowth(t, name+": fold", m.fold)
		checkGrowth(t, name+": fold in TypeScript", m.node)
		checkGrowth(t, name+": messages, bytes allocated", m.bytes)
	}
}

// foldSteps folds events, and encodes and decodes them.
func foldSteps(t *testing.T, events []event.Event) (steps, bytes float64, lines []json.RawMessage) {
	t.Helper()
	var conv event.Conversation
	for _, ev := range events {
		conv.Apply(ev)
	}
	conv.Settle()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	to, from := event.NewEncoder("00000000", 0), event.Decoder{}
	for _, ev := range events {
		messages, err := to.Messages(ev)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range messages {
			lines = append(lines, line)
			decodeLine(t, &from, line)
		}
	}
	runtime.ReadMemStats(&after)
	return float64(conv.Steps()), float64(after.TotalAlloc - before.TotalAlloc), lines
}

// taskLines creates tasks, deletes some and changes one.
func taskLines(n int) []string {
	var lines []string
	for i := range n / 2 {
		lines = append(lines, tool(fmt.Sprint("c", i), "TaskCreate", `{}`, "", fmt.Sprintf(`{"task":{"id":"%d","subject":"s"}}`, i))...)
	}
	for i := range n / 4 {
		lines = append(lines, tool(fmt.Sprint("d", i), "TaskUpdate", fmt.Sprintf(`{"taskId":"%d","status":"deleted"}`, n/2-1-i), "", `{"success":true}`)...)
		lines = append(lines, tool(fmt.Sprint("u", i), "TaskUpdate", `{"taskId":"0","status":"completed"}`, "", `{"success":true}`)...)
	}
	return lines
}

// The plan of n tasks is built in at most n log n steps.
func TestGrowth_tasks(t *testing.T) {
	var steps []float64
	for _, n := range growthSizes {
		var c claudeevent.Converter
		feed(t, &c, taskLines(n)...)
		steps = append(steps, float64(claudeevent.Steps(&c)))
	}
	checkGrowth(t, "tasks", steps)
}

// JSON with too many levels is kept as text and folds to the same state in both folds; a
// message with too many levels is an error.
func TestDepth(t *testing.T) {
	deep := strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000)
	for n, want := range map[int]bool{event.MaxDepth: false, event.MaxDepth + 1: true} {
		j := event.NewJSON(strings.Repeat("[", n) + strings.Repeat("]", n))
		if quoted := strings.HasPrefix(string(j), `"`); quoted != want {
			t.Errorf("%d levels: a text is %v", n, quoted)
		}
	}
	if event.Deeper(`"`+strings.Repeat(`[\"`, 2000)+`"`, 1000) {
		t.Error("brackets in a string nest")
	}
	r := convert(t, []step{{line: `{"type":"future","x":` + strings.Repeat("[", 3000) + strings.Repeat("]", 3000) + `}`}, {line: textLine("m", "u", "")}})
	checkRoundTrip(t, r)
	if got := nodefold.Fold(t, []nodefold.Case{{Messages: r.lines}})[""]; got.State != canonical(t, r.conv) {
		t.Errorf("the folds differ: %.200s", got.Error)
	}
	if _, err := new(event.Decoder).Decode([]byte(`{"type":"user","x":` + deep + `}`)); err == nil {
		t.Error("a message of a million levels is taken")
	}
	text, err := json.Marshal(`{"type":"user","x":` + deep + `}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := nodefold.Fold(t, []nodefold.Case{{Messages: []json.RawMessage{text}}})[""]; got.Error != "" || !strings.Contains(got.State, `"originalType":""`) {
		t.Errorf("in TypeScript: %.200s %.200s", got.Error, got.State)
	}
}
