package editor_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/acpevent"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/acp/internal/draft2"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	claudemessage "github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/golden"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// shown returns the messages that an editor gets for events: in version 1 with every feature, in
// version 2, without features, and as history.
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

func (s *shown) line(what string, v any) {
	s.t.Helper()
	s.out.WriteString(golden.Line(s.t, what, v))
}

// events writes the updates for events. It writes those of other kinds of mappers only if they
// differ from the first.
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
					s.line("version 2", draft2.Updates(u.SessionUpdate))
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

// goldenParts returns the output of show for recordings, by the names of their folders. It omits
// duplicates.
func goldenParts(t *testing.T, pattern string, show func(text []byte) string) golden.Parts {
	t.Helper()
	parts, seen := golden.Parts{}, golden.Forms{}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings match %s: %v", pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if one := show(text); seen.Fresh(one) {
			parts[filepath.Base(filepath.Dir(file))] = one
		}
	}
	return parts
}

// The golden file contains the messages that an editor gets for the recorded sessions of Claude.
func TestMapper_claude(t *testing.T) {
	t.Parallel()
	parts := goldenParts(t, "../../testdata/wire/*/stdout.jsonl", func(text []byte) string {
		s := newShown(t, "/home/user/project")
		var c claudeevent.Converter
		for line := range bytes.Lines(text) {
			m, err := claudemessage.Decode(line)
			if err != nil {
				continue // output of a CLI that fails to start
			}
			s.events(c.Add(m))
		}
		s.events(c.End(nil))
		return s.out.String()
	})
	parts.Check(t, "testdata/mapper_claude.txt", *updateRequests)
}

// The golden file contains the messages that an editor gets for the recorded messages of other agents.
func TestMapper_agents(t *testing.T) {
	short.SkipQuick(t, "plays every recording")
	t.Parallel()
	parts := goldenParts(t, "../../testdata/acp-agents/*/agent.jsonl", func(text []byte) string {
		return converted(t, false, recordedLines(t, text))
	})
	for _, m := range madeAgents {
		parts[m.name] = converted(t, true, m.lines)
	}
	parts["every kind of update"] = converted(t, false, everyUpdate)
	parts["every kind of update, streamed"] = converted(t, true, everyUpdate)
	parts.Check(t, "testdata/mapper_agents.txt", *updateRequests)
}

// converted holds the events of a turn of an agent and the messages that an editor gets for them.
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

// everyUpdate are updates that are in no recording, with a distinct value in every member.
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

// The golden file contains the messages that an editor gets for each event: empty, with a distinct
// value in every field, in the main thread and in a subagent, alone and after the start of a tool.
func TestMapper_events(t *testing.T) {
	t.Parallel()
	parts := golden.Parts{}
	for _, shape := range event.Shapes() {
		if shape.Union != reflect.TypeFor[event.Event]() || !reflect.PointerTo(shape.Type).Implements(shape.Union) {
			continue
		}
		s := newShown(t, "/src")
		for _, full := range []bool{false, true} {
			for _, parent := range []string{"", "p"} {
				v := reflect.New(shape.Type)
				if full {
					golden.Fill(v.Elem(), shape.Name, fillJSON)
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
	parts.Check(t, "testdata/mapper_events.txt", *updateRequests)
}

// fillJSON sets fields of JSON to an object.
func fillJSON(v reflect.Value, name string) bool {
	if v.Type() == reflect.TypeFor[event.JSON]() {
		v.SetString(`{"` + name + `":1}`)
		return true
	}
	return v.Type() == reflect.TypeFor[event.Extra]()
}
