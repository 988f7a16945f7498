package claudeevent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// kindsOf returns the type names of events, without their package.
func kindsOf(events []event.Event) []string {
	var all []string
	for _, ev := range events {
		all = append(all, strings.TrimPrefix(fmt.Sprintf("%T", ev), "*event."))
	}
	return all
}

// producers names, for each event that is not part of a stream of the API, recordings that
// produce it: scenarios of the wire, or session files with the live output. Plans are live
// scenarios of internal/test/e2e (TestEvents_taskPlan, TestEvents_todoPlan): all recordings
// disable the tools that make one.
var producers = map[string][]string{
	"TurnStart":   {"wire/simple-string", "wire/streaming-queued", "transcripts/slash"},
	"TurnDiff":    {"wire/can-write", "transcripts/edit", "transcripts/write"},
	"Usage":       {"wire/partial-tool", "wire/simple-string"},
	"Notice":      {"wire/hook-pre-throws", "wire/mode-dontask", "wire/api-fallback-model"},
	"Retry":       {"wire/api-429-then-ok", "wire/api-500s"},
	"Hook":        {"wire/hook-pre-deny", "wire/hook-command-events-off"},
	"SessionInfo": {"wire/argv-kitchen-sink", "wire/can-setmode", "transcripts/slash"},
	"Truncate":    {"transcripts/slash"},
}

// recordedEvents returns the events of a recording.
func recordedEvents(t *testing.T, name string) []event.Event {
	t.Helper()
	kind, scenario, _ := strings.Cut(name, "/")
	dir := filepath.Join("..", "..", "testdata", kind, scenario)
	if _, err := os.Stat(filepath.Join(dir, "stdout.jsonl")); err != nil {
		t.Fatal(err)
	}
	return convert(t, dialogue(t, dir)).events
}

// Recordings of Claude produce each event.
func TestRecordings_produce(t *testing.T) {
	for event, names := range producers {
		for _, name := range names {
			if !slices.Contains(kindsOf(recordedEvents(t, name)), event) {
				t.Errorf("%s has no %s: %v", name, event, kindsOf(recordedEvents(t, name)))
			}
		}
	}
}

// feed gives lines to a converter and returns copies of the events; a line with the prefix >
// is a prompt.
func feed(t *testing.T, c *claudeevent.Converter, lines ...string) []event.Event {
	t.Helper()
	var all []event.Event
	for _, line := range lines {
		if prompt, ok := strings.CutPrefix(line, ">"); ok {
			all = append(all, c.Prompt(message.UserInput{UUID: prompt, Content: []message.InputBlock{&message.Text{Text: prompt}}})...)
			continue
		}
		m, err := message.Decode([]byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, c.Add(m)...)
	}
	return all
}

// onlyOf returns the events of one type.
func onlyOf[T event.Event](events []event.Event) []T {
	var all []T
	for _, ev := range events {
		if ev, ok := ev.(T); ok {
			all = append(all, ev)
		}
	}
	return all
}

const (
	initLine   = `{"type":"system","subtype":"init","session_id":"s","uuid":"i","cwd":"/p","model":"m","permissionMode":"default","tools":[],"mcp_servers":[]}`
	resultLine = `{"type":"result","subtype":"success","is_error":false,"session_id":"s","total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":3},"modelUsage":{"m":{"contextWindow":200000}}}`
	taskEnded  = `{"type":"system","subtype":"task_notification","task_id":"k","status":"completed","session_id":"s"}`
)

// TurnStart reports who began a turn: the user, a queued prompt, a finished task, the agent.
func TestTurnStart(t *testing.T) {
	var c claudeevent.Converter
	var got []string
	for _, ev := range onlyOf[*event.TurnStart](feed(t, &c, ">p1", initLine, ">p2", resultLine, initLine, resultLine,
		taskEnded, initLine, resultLine, initLine, resultLine, ">p3", initLine, initLine)) {
		got = append(got, ev.By+" "+ev.PromptID)
		if ev.TurnID == "" || ev.Provider != "claude" || ev.SessionID != "s" {
			t.Errorf("%+v; want ev.TurnID != \"\" and ev.Provider == \"claude\" and ev.SessionID == \"s\"", ev)
		}
	}
	if diff := cmp.Diff([]string{"user p1", "queue p2", "task ", "agent ", "user p3"}, got); diff != "" {
		t.Errorf("who began the turns (-want +got):\n%s", diff)
	}
	var blind claudeevent.Converter
	if turns := onlyOf[*event.TurnStart](feed(t, &blind, initLine, resultLine, initLine)); len(turns) != 2 || turns[1].By != event.ByUser || turns[0].TurnID == turns[1].TurnID {
		t.Errorf("without prompts: %+v", turns)
	}
	// Two prompts that the CLI merged begin one turn.
	var merged claudeevent.Converter
	turns := onlyOf[*event.TurnStart](feed(t, &merged, ">a", ">b", initLine,
		`{"type":"result","subtype":"success","session_id":"s","user_message_uuids":["a","b"]}`, initLine))
	if len(turns) != 2 || turns[1].By != event.ByAgent {
		t.Errorf("merged: %+v", turns)
	}
}

// Every event has the provider of the converter.
func TestProvider(t *testing.T) {
	c := claudeevent.Converter{Provider: "sim"}
	events := feed(t, &c, ">p1", initLine, resultLine, `{"type":"future"}`)
	events = append(events, c.Ask("r", `{"subtype":"can_use_tool","tool_name":"Bash"}`)...)
	events = append(events, c.Emit(&event.QueueChanged{})...)
	events = append(events, c.Emit(&event.QueueChanged{Header: event.Header{Provider: "other"}})...)
	for i, ev := range events {
		want := "sim"
		if i == len(events)-1 {
			want = "other"
		}
		if got := ev.Head().Provider; got != want {
			t.Errorf("%T is of provider %q, want %q", ev, got, want)
		}
	}
}

// tool returns the lines of a tool call and its result.
func tool(id, name, input, result, structured string) []string {
	return []string{
		fmt.Sprintf(`{"type":"assistant","message":{"id":"m-%s","content":[{"type":"tool_use","id":"%s","name":"%s","input":%s}]},"session_id":"s"}`, id, id, name, input),
		fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%s","content":"x"%s}]},"session_id":"s","tool_use_result":%s}`, id, result, structured),
	}
}

// TodoWrite and the task tools build the plan.
func TestPlan(t *testing.T) {
	var c claudeevent.Converter
	plan := func(lines []string) string {
		plans := onlyOf[*event.Plan](feed(t, &c, lines...))
		if len(plans) == 0 {
			return "none"
		}
		var b strings.Builder
		for _, e := range plans[len(plans)-1].Entries {
			fmt.Fprintf(&b, "%s:%s:%s:%s%v ", e.ID, e.Content, e.Status, e.Owner, e.BlockedBy)
		}
		return b.String()
	}
	for _, tt := range []struct {
		lines []string
		want  string
	}{
		{tool("a", "TodoWrite", `{"todos":[{"content":"x","status":"in_progress","activeForm":"xing"}]}`, "", `{"oldTodos":[],"newTodos":[{"content":"x","status":"in_progress"},{"content":"y","status":"pending"}]}`),
			":x:in_progress:[] :y:pending:[] "},
		{tool("b", "TodoWrite", `{"todos":[{"content":"z","status":"completed"}]}`, "", `"ok"`), ":z:completed:[] "},
		{tool("c", "TodoWrite", `{"todos":[{"content":"z","status":"completed"}]}`, `,"is_error":true`, `"no"`), "none"},
		{tool("d", "TaskCreate", `{"subject":"one"}`, "", `{"task":{"id":"1","subject":"one"}}`), "1:one:pending:[] "},
		{tool("e", "TaskCreate", `{"subject":"two"}`, "", `{"task":{"id":"2","subject":"two"}}`), "1:one:pending:[] 2:two:pending:[] "},
		{tool("f", "TaskUpdate", `{"taskId":"2","status":"in_progress","addBlockedBy":["1"],"owner":"me"}`, "", `{"success":true,"taskId":"2"}`), "1:one:pending:[] 2:two:in_progress:me[1] "},
		{tool("g", "TaskUpdate", `{"taskId":"1","status":"completed"}`, "", `{"success":false,"taskId":"1"}`), "none"},
		{tool("h", "TaskUpdate", `{"taskId":"1","status":"deleted"}`, "", `{"success":true,"taskId":"1"}`), "2:two:in_progress:me[1] "},
		{tool("i", "TaskList", `{}`, "", `{"tasks":[{"id":"3","subject":"three","status":"completed","blockedBy":[]}]}`), "3:three:completed:[] "},
		{tool("j", "TaskGet", `{"taskId":"3"}`, "", `{"task":{"id":"3","subject":"drei","status":"pending"}}`), "3:drei:pending:[] "},
		{tool("k", "Bash", `{"command":"x"}`, "", `{"tasks":[]}`), "none"},
	} {
		if got := plan(tt.lines); got != tt.want {
			t.Errorf("%s\ngives %q, want %q", tt.lines[0], got, tt.want)
		}
	}
	// A long list keeps only its end and is marked as truncated.
	var long claudeevent.Converter
	var last *event.Plan
	for i := range 150 {
		id := fmt.Sprint(i)
		plans := onlyOf[*event.Plan](feed(t, &long, tool("t"+id, "TaskCreate", `{"subject":"s"}`, "", `{"task":{"id":"`+id+`","subject":"s"}}`)...))
		last = plans[0]
	}
	if len(last.Entries) != 100 || last.Omitted != 50 || last.Entries[99].ID != "149" {
		t.Errorf("%d entries, %d omitted, the last is %s", len(last.Entries), last.Omitted, last.Entries[len(last.Entries)-1].ID)
	}
}

// The results of Edit, Write and NotebookEdit give the changes of a turn.
func TestTurnDiff(t *testing.T) {
	var c claudeevent.Converter
	diff := func(lines []string) []event.FileChange {
		var all []event.FileChange
		for _, ev := range onlyOf[*event.TurnDiff](feed(t, &c, lines...)) {
			if ev.TurnID != "p1" {
				t.Errorf("the turn is %q", ev.TurnID)
			}
			all = append(all, ev.Files...)
		}
		return all
	}
	feed(t, &c, ">p1", initLine)
	for _, tt := range []struct {
		lines []string
		want  []event.FileChange
	}{
		{tool("a", "Write", `{}`, "", `{"type":"create","filePath":"/f","content":"one\ntwo\n","structuredPatch":[],"originalFile":null}`),
			[]event.FileChange{{Path: "/f", Kind: "add", ToolUseID: "a", Hunks: []event.Hunk{{NewStart: 1, NewLines: 2, Lines: []string{"+one", "+two"}}}}}},
		{tool("b", "Edit", `{}`, "", `{"filePath":"/f","structuredPatch":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-one","+1"]}]}`),
			[]event.FileChange{{Path: "/f", Kind: "update", ToolUseID: "b", Hunks: []event.Hunk{{OldStart: 1, OldLines: 1, NewStart: 1, NewLines: 1, Lines: []string{"-one", "+1"}}}}}},
		{tool("c", "NotebookEdit", `{}`, "", `{"notebook_path":"/n.ipynb","original_file":"a\nb\nc\nd\ne\n","updated_file":"a\nb\nc\nd\nX\ne\n"}`),
			[]event.FileChange{{Path: "/n.ipynb", Kind: "update", ToolUseID: "c", Hunks: []event.Hunk{{OldStart: 2, OldLines: 4, NewStart: 2, NewLines: 5, Lines: []string{" b", " c", " d", "+X", " e"}}}}}},
		{tool("d", "Edit", `{}`, `,"is_error":true`, `{"filePath":"/f"}`), nil},
		{tool("e", "Edit", `{}`, "", `"Error: no"`), nil},
		{tool("f", "Read", `{}`, "", `{"filePath":"/f","structuredPatch":[]}`), nil},
		{tool("g", "NotebookEdit", `{}`, "", `{"notebook_path":"/n","error":"no cell"}`), nil},
	} {
		if diff := cmp.Diff(tt.want, diff(tt.lines)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.lines[1], diff)
		}
	}
}

// Usage is emitted while a turn runs, and unknown values are absent.
func TestUsage(t *testing.T) {
	var c claudeevent.Converter
	steps := script(`
		"message_start","message":{"id":"m1","model":"m","usage":{"input_tokens":100,"cache_read_input_tokens":50,"output_tokens":1}}
		"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}
		"message_stop"
		"message_start","message":{"id":"m1","model":"m","usage":{"input_tokens":200,"output_tokens":1}}
		"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}
		"message_stop"`)
	lines := []string{">p1", initLine}
	for _, s := range steps {
		lines = append(lines, s.line)
	}
	got := onlyOf[*event.Usage](feed(t, &c, append(lines, resultLine)...))
	if len(got) != 3 {
		t.Fatalf("%d usages: %+v", len(got), got)
	}
	value := func(p *int64) string {
		if p == nil {
			return "-"
		}
		return fmt.Sprint(*p)
	}
	for i, want := range []string{"p1 m in 100 out 9 read 50 context 159 of - cost false", "p1 m in 300 out 10 read 50 context 201 of - cost false",
		"p1 m in 7 out 3 read 0 context 201 of 200000 cost true"} {
		u := got[i]
		s := fmt.Sprintf("%s %s in %s out %s read %s context %s of %s cost %v", u.TurnID, u.Model, value(u.InputTokens), value(u.OutputTokens),
			value(u.CacheReadInputTokens), value(u.ContextTokens), value(u.ContextWindow), u.CostUSD != nil)
		if s != want {
			t.Errorf("usage %d is %s, want %s", i, s, want)
		}
	}
	var none claudeevent.Converter
	results := onlyOf[*event.ResultMessage](feed(t, &none, `{"type":"result","subtype":"success"}`))
	if results[0].TotalCostUSD != nil {
		t.Errorf("a result without a cost costs %v", *results[0].TotalCostUSD)
	}
}
