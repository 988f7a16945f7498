package rollout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
)

// said returns an event of a rollout, and answered a response of the model.
func said(payload string) string {
	return `{"timestamp":"2026-01-01T00:00:01Z","type":"event_msg","payload":{` + payload + `}}`
}

func answered(payload string) string {
	return `{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":{` + payload + `}}`
}

// outline describes the turns of a conversation, with their items.
func outline(t *testing.T, c *Conversation) string {
	t.Helper()
	var all []string
	for _, turn := range c.Turns {
		s := turn.ID + " " + turn.Status
		if turn.Error != nil {
			s += " " + turn.Error.Message
		}
		for _, i := range turn.Items {
			switch i := i.(type) {
			case *item.CommandExecution:
				s += fmt.Sprintf(", command %s %s %s", i.ID, i.Command, i.Status)
			case *item.DynamicToolCall:
				s += fmt.Sprintf(", call %s %s %s", i.Tool, i.Arguments, i.Status)
				for _, part := range i.ContentItems {
					s += " " + *part.Text
				}
			default:
				s += ", " + strings.TrimPrefix(describeLegacy(t, i), "*item.")
			}
		}
		all = append(all, s)
	}
	return strings.Join(all, "\n")
}

// TestRead_states checks the turns of files whose lines depend on what precedes them.
func TestRead_states(t *testing.T) {
	begin := func(id string) string { return said(`"type":"task_started","turn_id":"` + id + `"`) }
	const end = `"type":"task_complete"`
	text := func(turn, id string) string {
		return said(`"type":"item_completed","turn_id":"` + turn + `","item":{"type":"AgentMessage","id":"` + id + `","content":[{"type":"Text","text":"x"}]}`)
	}
	call := func(args string) string {
		return answered(`"type":"function_call","call_id":"c","name":"shell","arguments":` + args)
	}
	output := func(text string) string {
		return answered(`"type":"function_call_output","call_id":"c","output":` + text)
	}
	const ran = `"Process exited with code %d\nOutput:\nx"`
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"a turn without an end":       {[]string{begin("a"), text("a", "m"), begin("b"), said(end)}, "a interrupted, AgentMessage m x \nb completed"},
		"an interrupted turn":         {[]string{begin("a"), said(`"type":"turn_aborted"`)}, "a interrupted"},
		"a failed turn":               {[]string{begin("a"), said(end + `,"error":{"message":"no"}`)}, "a failed no"},
		"an item of an ended turn":    {[]string{begin("a"), said(end), begin("b"), text("a", "m"), text("b", "n"), said(end)}, "a completed, AgentMessage m x \nb completed, AgentMessage n x "},
		"an item of no known turn":    {[]string{begin("a"), text("o", "m"), said(end)}, "a completed, AgentMessage m x "},
		"an item after the last turn": {[]string{begin("a"), said(end), said(`"type":"agent_message","message":"x"`)}, "a completed, AgentMessage item-1-0 x "},
		"an item without a turn":      {[]string{text("o", "m")}, "o interrupted, AgentMessage m x "},
		"a call with an item":         {[]string{begin("a"), call(`"{\"command\":[\"ls\"]}"`), said(`"type":"item_completed","turn_id":"a","item":{"type":"CommandExecution","id":"c","command":["ls"],"status":"completed"}`), said(end)}, "a completed, command c ls completed"},
		"reasoning around a message":  {[]string{begin("a"), said(`"type":"agent_reasoning","text":"1"`), said(`"type":"agent_reasoning_raw_content","text":"2"`), said(`"type":"agent_message","message":"x"`), said(`"type":"agent_reasoning","text":"3"`), said(end)}, "a completed, Reasoning item-0-0 [1] [2], AgentMessage item-0-1 x , Reasoning item-0-2 [3] []"},
		"a tool without a result":     {[]string{begin("a"), said(`"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s","tool":"t"},"result":{"Err":""}`), said(end)}, "a completed, MCPToolCall c s t  failed 0 "},
		"a command":                   {[]string{begin("a"), call(`"{\"command\":[\"ls\",\"a b\"]}"`), output(fmt.Sprintf(ran, 0)), said(end)}, "a completed, command c ls 'a b' completed"},
		"a command that failed":       {[]string{begin("a"), call(`"{\"command\":\"ls -l\"}"`), output(fmt.Sprintf(ran, 2)), said(end)}, "a completed, command c ls -l failed"},
		"a command that did not run":  {[]string{begin("a"), call(`"{\"cmd\":\"ls\"}"`), output(`"rejected"`), said(end)}, "a completed, command c ls failed"},
		"a command without an end":    {[]string{begin("a"), call(`"{\"cmd\":\"ls\"}"`), said(end)}, "a completed, command c ls interrupted"},
		"a custom tool":               {[]string{begin("a"), answered(`"type":"custom_tool_call","call_id":"c","name":"edit","input":"what"`), answered(`"type":"custom_tool_call_output","call_id":"c","output":[{"text":"do"},{"text":"ne"}]`), said(end)}, `a completed, call edit "what" completed done`},
		"a tool with damaged input":   {[]string{begin("a"), answered(`"type":"function_call","call_id":"c","name":"x","arguments":"{\"a\":"`), said(end)}, `a completed, call x "{\"a\":" interrupted`},
		"a call of a turn before":     {[]string{begin("a"), call(`"{\"cmd\":\"ls\"}"`), said(end), begin("b"), output(fmt.Sprintf(ran, 0)), said(end)}, "a completed, command c ls interrupted\nb completed"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := written(t, tt.lines...).Read(t.Context(), hostileThread)
			if err != nil {
				t.Fatal(err)
			}
			if got := outline(t, c); got != tt.want {
				t.Errorf("the turns are\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestRead_thread checks what Read returns besides the turns: the models, the last usage, the last name and the skipped lines.
func TestRead_thread(t *testing.T) {
	count := func(n int) string {
		return said(fmt.Sprintf(`"type":"token_count","info":{"total_token_usage":{"total_tokens":%d}}`, n))
	}
	lines := []string{said(`"type":"task_started","turn_id":"a"`), `{"type":"turn_context","payload":{"model":"m1"}}`, count(5), said(`"type":"task_complete"`),
		said(`"type":"task_started","turn_id":"b"`), `{"type":"turn_context","payload":{"model":"m2"}}`, count(9), said(`"type":"token_count"`), said(`"type":"task_complete"`)}
	d := written(t, append(lines, slices.Repeat([]string{"{torn"}, 150)...)...)
	index := `{"id":"` + hostileThread + `","thread_name":"first"}` + "\n" + `{"id":"` + hostileThread + `","thread_name":"last"}` + "\n"
	if err := os.WriteFile(filepath.Join(d.path, "session_index.jsonl"), []byte(index), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := d.Read(t.Context(), hostileThread)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "last" || c.Models["a"] != "m1" || c.Models["b"] != "m2" || c.Usage == nil || c.Usage.Total.TotalTokens != 9 {
		t.Errorf("the name is %q, the models are %v, the usage %+v; want last, m1 and m2, and 9 tokens", c.Name, c.Models, c.Usage)
	}
	if len(c.Problems) != maxProblems || c.Skipped != 150 {
		t.Errorf("%d problems of %d skipped lines, want %d of 150", len(c.Problems), c.Skipped, maxProblems)
	}
	list, _, err := d.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != "last" || list[0].Usage == nil || list[0].Usage.Total.TotalTokens != 9 {
		t.Errorf("List returns %+v, %v; want the name last and 9 tokens", list, err)
	}
}

// TestPickBase checks that the beginning of a fork is in the newest file that is not newer than the fork, begins before it and is
// not in the chain yet.
func TestPickBase(t *testing.T) {
	files := []file{{path: "a", stamp: "1"}, {path: "b", stamp: "2"}, {path: "c", stamp: "3"}, {path: "d", stamp: "4"}}
	first := map[string]int64{"a": 0, "b": 5, "c": 8, "d": 0}
	begins := func(path string) (int64, bool) { n, ok := first[path]; return n, ok }
	for _, tt := range []struct {
		until int64
		seen  string
		want  string
	}{{9, "", "c"}, {8, "", "b"}, {6, "", "b"}, {5, "", "a"}, {9, "c", "b"}, {5, "a", ""}, {0, "", ""}} {
		got := ""
		if l := pickBase(files, &base{EndOrdinalExclusive: tt.until}, file{stamp: "3"}, map[string]bool{tt.seen: true}, begins); l != nil {
			if got = l.file.path; l.until != tt.until {
				t.Errorf("up to line %d, the limit is %d", tt.until, l.until)
			}
		}
		if got != tt.want {
			t.Errorf("up to line %d without %q the file is %q, want %q", tt.until, tt.seen, got, tt.want)
		}
	}
}

// TestList_files checks that a list describes a thread by all of its files, and that the thread that changed last is first.
func TestList_files(t *testing.T) {
	dir := t.TempDir()
	const other = "11111111-2222-7333-8444-555555555555"
	at := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	put := func(name, thread, more string, modified time.Time) int64 {
		t.Helper()
		name = filepath.Join(dir, filepath.FromSlash(name))
		text := `{"type":"session_meta","payload":{"id":"` + thread + `"}}` + "\n" + more
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, modified, modified); err != nil {
			t.Fatal(err)
		}
		return int64(len(text))
	}
	size := put("sessions/2026/01/01/rollout-2026-01-01T00-00-00-"+hostileThread+"_r1.jsonl", hostileThread, said(`"type":"user_message","message":"begin"`)+"\n", at)
	newest := "archived_sessions/rollout-2026-01-02T00-00-00-" + hostileThread + ".jsonl"
	size += put(newest, hostileThread, "{}\n{}\n", at.Add(-time.Hour))
	put("sessions/2026/01/01/rollout-2026-01-01T00-00-00-"+other+".jsonl", other, "", at.Add(-time.Minute))
	list, problems, err := Open(dir).List(t.Context())
	if err != nil || len(problems) > 0 || len(list) != 2 || list[0].ThreadID != hostileThread || list[1].ThreadID != other {
		t.Fatalf("List returns %+v, %v, %v; want %s and then %s", list, problems, err, hostileThread, other)
	}
	s := list[0]
	if s.Path != filepath.Join(dir, filepath.FromSlash(newest)) || len(s.Files) != 2 || !s.Archived || s.Size != size || !s.ModifiedAt.Equal(at) || s.Preview != "begin" {
		t.Errorf("the thread is %+v; want the newer file, archived, with %d bytes, changed at %v, and the first prompt", s, size, at)
	}
	if list[1].Archived {
		t.Errorf("the thread in sessions is archived: %+v", list[1])
	}
}

// TestList_head checks which lines at the start of a file describe its thread.
func TestList_head(t *testing.T) {
	prompt := func(text string) string { return said(`"type":"user_message","message":"` + text + `"`) }
	model := func(name string) string { return `{"type":"turn_context","payload":{"model":"` + name + `"}}` }
	filler := slices.Repeat([]string{`{"type":"other","payload":"` + strings.Repeat("x", 1000) + `"}`}, headBytes/1000+100)
	for name, tt := range map[string]struct {
		lines          []string
		preview, model string
	}{
		"the model after the prompt":   {[]string{prompt("a"), model("m"), prompt("b"), model("n")}, "a", "m"},
		"the prompt after the model":   {[]string{model("m"), model("n"), prompt("a")}, "a", "m"},
		"no model":                     {[]string{prompt("a"), prompt("b")}, "a", ""},
		"an item":                      {[]string{said(`"type":"item_completed","item":{"type":"AgentMessage","id":"m"}`), said(`"type":"item_completed","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"a"}]}`)}, "a", ""},
		"a prompt too far in the file": {append(slices.Clone(filler), prompt("a")), "", ""},
	} {
		list, _, err := written(t, tt.lines...).List(t.Context())
		if err != nil || len(list) != 1 || list[0].Preview != tt.preview || list[0].Model != tt.model {
			t.Errorf("%s: %+v, %v; want the prompt %q and the model %q", name, list, err, tt.preview, tt.model)
		}
	}
}

// TestMeter_changes checks that a meter reads changed and failed files again, and yields no record twice.
func TestMeter_changes(t *testing.T) {
	d := written(t)
	name := filepath.Join(d.path, "sessions", "rollout-2026-01-01T00-00-00-"+hostileThread+".jsonl")
	record := func(turn string, n int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"token_usage_record","payload":{"turn_id":%q,"usage":{"total_tokens":%d}}}`+"\n", turn, n)
	}
	m := d.Meter()
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		text string
		want string
	}{
		{metaLine + record("a", 1) + record("b", 2), "a 1, b 2"},
		{metaLine + record("a", 1), ""},
		{metaLine + record("a", 1) + record("b", 2) + record("c", 3), "c 3"},
		{metaLine + record("a", 1) + record("b", 2) + record("c", 3), ""},
		{`{"type":"other"}` + "\n", "failed"},
		{`{"type":"other"}` + "\n", "failed"},
		{metaLine + record("x", 4), ""},
	} {
		if err := os.WriteFile(name, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		modified := at
		if step.want != "failed" { // a failed file is read again although it is the same
			modified = at.Add(time.Duration(i) * time.Second)
		}
		if err := os.Chtimes(name, modified, modified); err != nil {
			t.Fatal(err)
		}
		var got []string
		for r, err := range m.Next(t.Context()) {
			if err != nil {
				got = append(got, "failed")
				continue
			}
			got = append(got, fmt.Sprintf("%s %d", r.TurnID, r.Tokens.TotalTokens))
		}
		if s := strings.Join(got, ", "); s != step.want {
			t.Errorf("step %d yields %q, want %q", i, s, step.want)
		}
	}
	// A file of the same size with another time is another content.
	m = d.Meter()
	for i, want := range []int{1, 1} {
		text := metaLine + strings.Repeat(record("a", 1), i+1)
		text += strings.Repeat(" ", 1000-len(text))
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range m.Next(t.Context()) {
			if err == nil {
				n++
			}
		}
		if n != want {
			t.Errorf("call %d yields %d records, want %d", i, n, want)
		}
	}
}

// TestBefore checks that only an id of version 7 has a time, and that a turn of the same millisecond is not inherited.
func TestBefore(t *testing.T) {
	const id, random = "01a1de9a-3164-7f42-a449-0a13e079865e", "01a1de9a-3164-4f42-a449-0a13e079865e"
	at := time.UnixMilli(0x01a1de9a3164)
	for _, tt := range []struct {
		id   string
		at   time.Time
		want bool
	}{{id, at.Add(time.Millisecond), true}, {id, at, false}, {id, at.Add(-time.Millisecond), false}, {random, at.Add(time.Hour), false}, {id, time.Time{}, false}, {"x", at, false}, {"", at, false}} {
		if got := before(tt.id, tt.at); got != tt.want {
			t.Errorf("before(%q, %v) = %v, want %v", tt.id, tt.at, got, tt.want)
		}
	}
}

// TestKindOf_string checks that a type in the text of another member is not mistaken for that of the line.
func TestKindOf_string(t *testing.T) {
	for _, head := range []string{`{"a\"type":"event_msg","type":"other"}`, `{"a":"\\","type":"other"}`, `{"a":{"type":"event_msg"},"type":"other"}`} {
		if typ, _, ok := kindOf([]byte(head)); ok {
			t.Errorf("the type of %s is %q, want none without decoding", head, typ)
		}
	}
}

// TestRead_cycle checks that a file that names itself as its beginning is read once.
func TestRead_cycle(t *testing.T) {
	const other = "11111111-2222-7333-8444-555555555555"
	d := written(t)
	begin := func(thread string) string {
		return `{"ordinal":0,"type":"session_meta","payload":{"id":"` + thread + `","history_base":{"thread_id":"` + other + `","end_ordinal_exclusive":5}}}` + "\n"
	}
	for name, text := range map[string]string{"2026-01-01T00-00-00-" + hostileThread: begin(hostileThread), "2025-01-01T00-00-00-" + other: begin(other)} {
		if err := os.WriteFile(filepath.Join(d.path, "sessions", "rollout-"+name+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := d.Read(t.Context(), hostileThread)
	if !errors.Is(err, ErrMissingBase) || len(c.Chain) != 2 {
		t.Errorf("Read returns %v with the files %v, want %v and two files", err, c.Chain, ErrMissingBase)
	}
}
