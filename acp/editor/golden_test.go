package editor_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/acpevent"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/acp/internal/draft2"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	claudemessage "github.com/seed7221b0f9/parley/claude/message"
)

// shown writes what an editor is shown of events: in version 1 with every feature and in version 2, without features, and as history.
type shown struct {
	t       *testing.T
	out     bytes.Buffer
	mappers [3]editor.Mapper
	state   string
}

func newShown(t *testing.T, dir string) *shown {
	every := editor.Features{Notices: true, Compaction: true, Boolean: true}
	return &shown{t: t, mappers: [3]editor.Mapper{{Dir: dir, Features: every}, {Dir: dir}, {Dir: dir, Features: every, Replay: true}}}
}

// line writes a line; a long one is cut and gets its hash.
func (s *shown) line(what string, v any) {
	s.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
	if len(text) > 400 {
		text = fmt.Appendf(text[:300:300], "… %x", sha256.Sum256(text))[:340]
	}
	fmt.Fprintf(&s.out, "%s %s\n", what, strings.ToValidUTF8(string(text), "?"))
}

// events writes the updates for events, each kind of mapper only where it differs from the first.
func (s *shown) events(events []event.Event) {
	s.t.Helper()
	for _, ev := range events {
		var first any
		for i := range s.mappers {
			m := &s.mappers[i]
			list := slices.Clone(m.Event(ev))
			if i > 0 && reflect.DeepEqual(list, first) {
				continue
			}
			if i == 0 {
				first = list
			}
			for _, u := range list {
				s.line([]string{"update", "plain", "replay"}[i], u)
				if i == 0 {
					s.line("version 2", draft2.Updates(u))
				}
			}
			if i > 0 && len(list) == 0 {
				s.line([]string{"update", "plain", "replay"}[i], nil)
			}
		}
		tasks, subagent := s.mappers[0].Background()
		reason, err := s.mappers[0].Stop()
		if state := fmt.Sprint(tasks, subagent, reason, err != nil); state != s.state {
			s.state = state
			s.line("state", []any{tasks, subagent, reason, err})
		}
	}
}

// check compares with a golden file, whose parts begin with their names.
func check(t *testing.T, file string, parts map[string]string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *updateRequests {
		names := make([]string, 0, len(parts))
		for name := range parts {
			names = append(names, name)
		}
		slices.Sort(names)
		var out strings.Builder
		for _, name := range names {
			fmt.Fprintf(&out, "== %s\n%s", name, parts[name])
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(string(text), "== "), "\n== ") {
		name, want, _ := strings.Cut(part, "\n")
		if diff := cmp.Diff(strings.Split(strings.TrimSpace(want), "\n"), strings.Split(strings.TrimSpace(parts[name]), "\n")); diff != "" {
			t.Errorf("%s of %s (-want +got); with -update it is written:\n%s", name, path, diff)
		}
		delete(parts, name)
	}
	for name := range parts {
		t.Errorf("%s is not in %s; with -update it is written", name, path)
	}
}

// What an editor is shown of the recorded sessions of Claude, as a whole.
func TestMapper_claude(t *testing.T) {
	t.Parallel()
	parts, seen := map[string]string{}, forms{}
	files, err := filepath.Glob("../../testdata/wire/*/stdout.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := newShown(t, "/home/user/project")
		var c claudeevent.Converter
		for line := range bytes.Lines(text) {
			m, err := claudemessage.Decode(line)
			if err != nil {
				continue // what a broken CLI prints
			}
			s.events(c.Add(m))
		}
		s.events(c.End(nil))
		if seen.fresh(s.out.String()) {
			parts[filepath.Base(filepath.Dir(file))] = s.out.String()
		}
	}
	check(t, "mapper_claude.txt", parts)
}

// forms are the forms of lines that were seen.
type forms map[string]bool

// fresh reports whether a line has a form that no other recording has: else the recording adds nothing.
func (f forms) fresh(text string) bool {
	before := len(f)
	for line := range strings.Lines(text) {
		f[formOf(line)] = true
	}
	return len(f) > before
}

// formOf returns a line without its values: what it is about, and the names of its members.
func formOf(line string) string {
	kind, text, _ := strings.Cut(line, " ")
	var words []string
	for i, part := range strings.Split(text, `"`) {
		if i%2 == 1 && len(part) < 24 && !strings.ContainsAny(part, " /0123456789.\\") {
			words = append(words, part)
		}
	}
	return kind + strings.Join(words, " ")
}

// What is made of the recorded messages of other agents, and shown to an editor again.
func TestMapper_agents(t *testing.T) {
	t.Parallel()
	parts, seen := map[string]string{}, forms{}
	files, err := filepath.Glob("../../testdata/acp-agents/*/agent.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if one := converted(t, false, recordedLines(t, text)); seen.fresh(one) {
			parts[filepath.Base(filepath.Dir(file))] = one
		}
	}
	for _, m := range madeAgents {
		parts[m.name] = converted(t, true, m.lines)
	}
	parts["every kind of update"] = converted(t, false, everyUpdate)
	parts["every kind of update, streamed"] = converted(t, true, everyUpdate)
	check(t, "mapper_agents.txt", parts)
}

// converted are the events of a turn of an agent, and what an editor is shown of them.
func converted(t *testing.T, partial bool, lines []string) string {
	t.Helper()
	s := newShown(t, "/src")
	c := acpevent.Converter{Provider: "acp:x", SessionID: "s", Partial: partial}
	add := func(events []event.Event) {
		t.Helper()
		for _, ev := range events {
			text, err := event.Marshal(ev)
			if err != nil {
				t.Fatal(err)
			}
			s.line(fmt.Sprintf("event %T", ev), json.RawMessage(text))
		}
		s.events(events)
	}
	add(c.Prompt("u1", []event.Content{event.TextContent("go")}))
	add(c.Turn("u1"))
	for i, line := range lines {
		id := fmt.Sprint("r", i)
		switch {
		case line == "":
		case strings.Contains(line, `"toolCall":`):
			if !strings.Contains(line, `"sessionId"`) {
				line = `{"sessionId":"s","options":[],` + line[1:]
			}
			var r acp.RequestPermissionRequest
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			add(c.Ask(id, &r))
			add(c.Resolve(id, string(r.ToolCall.ToolCallID), []string{event.ResolvedAllow, event.ResolvedDeny}[i%2], "session", "why"))
		default:
			var u acp.SessionUpdate
			if err := json.Unmarshal([]byte(line), &u); err != nil {
				t.Fatal(err)
			}
			add(c.Update(&u))
		}
	}
	add(c.Elicit("e", &acp.CreateElicitationRequest{Message: "Which?"}))
	add(c.Answered("e", "accept", `{"a":1}`))
	for _, end := range []string{"end_turn", "cancelled", "refusal", "max_tokens"} {
		add(c.End(end, `{"input":1}`, ""))
		add(c.Turn("u-" + end))
	}
	add(c.End("", "", "it broke"))
	add(c.Stop())
	return s.out.String()
}

// everyUpdate are updates that no recording has, with a distinct value in every member.
var everyUpdate = []string{
	`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"typed elsewhere"},"messageId":"m0"}`,
	`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"},"messageId":"m1"}`,
	`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":" so"},"messageId":"m1"}`,
	`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"one"},"messageId":"m1"}`,
	`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"messageId":"m1"}`,
	`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"aGk=","mimeType":"image/png"},"messageId":"m1"}`,
	`{"sessionUpdate":"agent_message_chunk","content":{"type":"resource_link","uri":"file:///a","name":"a"},"messageId":"m2"}`,
	`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"two"}}`,
	`{"sessionUpdate":"plan","entries":[{"content":"first","priority":"high","status":"completed"},{"content":"second","priority":"low","status":"in_progress"},{"content":"third","priority":"odd","status":"odd"}]}`,
	`{"sessionUpdate":"usage_update","used":12,"size":345,"cost":{"amount":0.5,"currency":"USD"}}`,
	`{"sessionUpdate":"usage_update","used":12,"size":345,"cost":{"amount":0.5,"currency":"USD"}}`,
	`{"sessionUpdate":"usage_update","used":13,"size":345,"cost":{"amount":0.75,"currency":"EUR"}}`,
	`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`,
	`{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","name":"Model","category":"model","type":"select","currentValue":"m","options":[]},{"id":"md","name":"Mode","category":"mode","type":"select","currentValue":"code","options":[{"value":"code","name":"Code"}]}]}`,
	`{"sessionUpdate":"session_info_update","title":"A title"}`,
	`{"sessionUpdate":"session_info_update","title":null}`,
	`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"go","description":"goes","input":{"hint":"where"}}]}`,
	`{"sessionUpdate":"notice","severity":"error","title":"Look","noticeId":"n"}`,
	`{"sessionUpdate":"compaction_update","compactionId":"c","status":"in_progress"}`,
	`{"sessionUpdate":"compaction_update","compactionId":"c","status":"completed"}`,
	`{"sessionUpdate":"future_update","a":1}`,
	`{"sessionUpdate":"tool_call","toolCallId":"t1","title":"Read","kind":"read","status":"in_progress","locations":[{"path":"/src/a","line":7}],"rawInput":{"path":"/src/a"}}`,
	`{"sessionUpdate":"tool_call_update","toolCallId":"t1","status":"completed","rawOutput":{"text":"x"},"content":[{"type":"content","content":{"type":"text","text":"x"}}]}`,
	`{"sessionUpdate":"tool_call","toolCallId":"t2","title":"Edit","kind":"edit","content":[{"type":"diff","path":"/src/b","oldText":"1","newText":"2"}]}`,
	`{"sessionUpdate":"tool_call_update","toolCallId":"t2","status":"failed","rawOutput":"no"}`,
	`{"sessionUpdate":"tool_call","toolCallId":"t3","title":"left open","kind":"other","status":"pending"}`,
	`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"after"},"messageId":"m3"}`,
}

// What an editor is shown of each event: empty, with a distinct value in every field, of the main thread and of a subagent, alone and after the start of a tool.
func TestMapper_events(t *testing.T) {
	t.Parallel()
	parts := map[string]string{}
	for _, shape := range event.Shapes() {
		if shape.Union != reflect.TypeFor[event.Event]() || !reflect.PointerTo(shape.Type).Implements(shape.Union) {
			continue
		}
		s := newShown(t, "/src")
		for _, full := range []bool{false, true} {
			for _, parent := range []string{"", "p"} {
				v := reflect.New(shape.Type)
				if full {
					distinct(v.Elem(), shape.Name)
				}
				ev := v.Interface().(event.Event)
				ev.Head().ParentToolUseID = parent
				s.events([]event.Event{
					&event.ToolStart{Header: event.Header{MessageID: "m"}, ToolUseID: "ToolUseID", Name: "Bash"},
					&event.ToolInputComplete{ToolUseID: "ToolUseID", Input: `{"command":"ls","description":"d"}`},
					&event.TaskStarted{TaskID: "TaskID", ToolUseID: "ToolUseID", TaskType: "local_agent"},
					ev, ev,
				})
			}
		}
		s.events([]event.Event{&event.ResultMessage{Subtype: "success"}})
		parts[shape.Name] = s.out.String()
	}
	check(t, "mapper_events.txt", parts)
}

// distinct gives every field its own value.
func distinct(v reflect.Value, name string) {
	switch v.Type() {
	case reflect.TypeFor[event.JSON]():
		v.SetString(`{"` + name + `":1}`)
		return
	case reflect.TypeFor[event.Extra]():
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(name)
	case reflect.Int64, reflect.Int:
		v.SetInt(int64(len(name)) + int64(name[0])<<8)
	case reflect.Float64:
		v.SetFloat(0.25 * float64(len(name)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		distinct(v.Index(0), name)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		distinct(v.Elem(), name)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				distinct(v.Field(i), v.Type().Field(i).Name)
			}
		}
	}
}
