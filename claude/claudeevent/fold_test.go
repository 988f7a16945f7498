package claudeevent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/nodefold"
)

// script builds steps from short lines: an event of message m1 if the line begins with a quote, else a
// whole message.
func script(text string) []step {
	var steps []step
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, `"`):
			steps = append(steps, step{line: fmt.Sprintf(`{"type":"stream_event","event":{"type":%s},"session_id":"s","parent_tool_use_id":null,"api_message_id":"m1"}`, line)})
		default:
			steps = append(steps, step{line: line})
		}
	}
	return steps
}

// outline returns a short form of a conversation, one line per item.
func outline(conv *event.Conversation) string {
	var b strings.Builder
	for _, thread := range conv.Threads {
		for _, it := range thread.Items {
			b.WriteString(thread.ParentToolUseID + ">" + it.Kind)
			if m := it.Message; m != nil {
				fmt.Fprintf(&b, " %s %s", m.Role, m.State)
				for _, block := range m.Blocks {
					fmt.Fprintf(&b, " [%d %s %s %s%s]", block.Index, block.Type, block.State, block.Text, outlineTool(block))
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func outlineTool(b *event.Block) string {
	if b.Tool == nil {
		return string(b.Data)
	}
	return fmt.Sprintf("%s %s %s%s→%s", b.Tool.ID, b.Tool.Status, b.Tool.Input, b.Tool.InputText, b.Tool.Result)
}

var foldTests = []struct{ name, script, want string }{
	{"a delta behind the whole line adds nothing", `
			"message_start","message":{"id":"m1"}
			"content_block_start","index":0,"content_block":{"type":"text","text":""}
			"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ab"}
			{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"abc"}]}}
			"content_block_delta","index":0,"delta":{"type":"text_delta","text":"c"}
			"message_stop"`,
		">message assistant complete [0 text complete abc]\n"},
	{"the whole line confirms the open block, not an older one without a line", `
			"message_start","message":{"id":"m1"}
			"content_block_start","index":0,"content_block":{"type":"text","text":""}
			"content_block_stop","index":0
			"content_block_start","index":1,"content_block":{"type":"text","text":""}
			"content_block_delta","index":1,"delta":{"type":"text_delta","text":"x"}
			{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"x"}]}}
			"content_block_stop","index":1
			"message_stop"`,
		">message assistant complete [0 text complete ] [1 text complete x]\n"},
	{"a stream that is cut leaves incomplete blocks", `
			"message_start","message":{"id":"m1"}
			"content_block_start","index":0,"content_block":{"type":"text","text":""}
			"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ab"}
			"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}
			"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a"}`,
		">message assistant incomplete [0 text incomplete ab] [1 tool_use incomplete t1 in_progress {\"a→]\n"},
	{"a result ends what the main loop left open", `
			"message_start","message":{"id":"m1"}
			"content_block_start","index":0,"content_block":{"type":"text","text":""}
			{"type":"result","subtype":"error_during_execution","is_error":true}`,
		">message assistant incomplete [0 text incomplete ]\n>result\n"},
	{"a new message ends one that has no end", `
			"message_start","message":{"id":"m1"}
			"content_block_start","index":0,"content_block":{"type":"text","text":"a"}
			{"type":"stream_event","event":{"type":"message_start","message":{"id":"m2"}}}
			{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"b"}}}`,
		">message assistant incomplete [0 text incomplete a]\n>message assistant incomplete [0 text incomplete b]\n"},
	{"an open block ends with its message", `
			"message_start","message":{"id":"m1"}
			"content_block_start","index":0,"content_block":{"type":"text","text":"a"}
			"message_stop"`,
		">message assistant incomplete [0 text incomplete a]\n"},
	{"a stream whose start was missed", `
			"content_block_delta","index":2,"delta":{"type":"thinking_delta","thinking":"hm"}
			"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"[1]"}
			"content_block_stop","index":5`,
		">message assistant incomplete [2 thinking incomplete hm] [5 tool_use complete  in_progress [1]→]\n"},
	{"a whole line confirms a block whose start was missed", `
			"content_block_delta","index":4,"delta":{"type":"signature_delta","signature":"s"}
			{"type":"assistant","message":{"id":"m1","content":[{"type":"thinking","thinking":"hm","signature":"s"}]}}
			"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"[1]"}
			{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":[1]}]}}
			"content_block_stop","index":5
			"message_stop"`,
		">message assistant complete [4 thinking complete hm] [5 tool_use complete t1 in_progress [1]→]\n"},
	{"abandoned blocks are gone, confirmed ones stay", `
			"message_start","message":{"id":"m1"}
			"content_block_start","index":0,"content_block":{"type":"text","text":"a"}
			{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"a"}]}}
			"content_block_stop","index":0
			"content_block_start","index":1,"content_block":{"type":"text","text":"b"}
			{"type":"stream_event","event":{"type":"message_stop"},"api_message_id":"m1","abandoned_blocks":{"api_message_id":"m1","from_block_index":0}}`,
		">message assistant complete [0 text complete a]\n"},
	{"a line supersedes others", `
			{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"a"}]},"uuid":"u1"}
			{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"b"}]},"uuid":"u2","supersedes":["u1"]}`,
		">message assistant complete [0 text complete b]\n"},
	{"a refusal takes lines back", `
			{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"a"}]},"uuid":"u1"}
			{"type":"system","subtype":"model_refusal_fallback","retracted_message_uuids":["u1"]}`,
		""},
	{"a result before its tool", `
			{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"r","is_error":true},{"type":"tool_result","tool_use_id":"t2","content":"q"}]}}
			{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`,
		">tool_result\n>message assistant complete [0 tool_use complete t1 failed {}→\"r\"]\n"},
	{"the result of a tool on the API's side", `
			{"type":"assistant","message":{"id":"m1","content":[{"type":"server_tool_use","id":"t1","name":"web_search","input":{"q":1}},{"type":"web_search_tool_result","tool_use_id":"t1","content":{"error_code":"x"}}]}}`,
		">message assistant complete [0 server_tool_use complete t1 failed {\"q\":1}→{\"error_code\":\"x\"}] [1 web_search_tool_result complete " +
			"{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"t1\",\"content\":{\"error_code\":\"x\"}}]\n"},
	{"the same line twice", `
			{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"a"}]},"uuid":"u1"}
			{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"a"}]},"uuid":"u1"}`,
		">message assistant complete [0 text complete a]\n"},
	{"an input that is no JSON stays text", `
			"message_start","message":{"id":"m1"}
			"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"Bash","input":{}}
			"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"nonsense"}
			"content_block_stop","index":0
			"message_stop"`,
		">message assistant complete [0 tool_use complete t1 in_progress nonsense→]\n"},
}

func TestFold(t *testing.T) {
	var cases []nodefold.Case
	want := map[string]string{}
	for _, tt := range foldTests {
		r := convert(t, script(tt.script))
		if got := outline(r.conv); got != tt.want {
			t.Errorf("%s:\n%swant\n%s", tt.name, got, tt.want)
		}
		checkPairs(t, r)
		cases = append(cases, nodefold.Case{Name: tt.name, Messages: r.lines})
		want[tt.name] = canonical(t, r.conv)
	}
	for name, got := range nodefold.Fold(t, cases) {
		if got.Error != "" || got.State != want[name] {
			t.Errorf("%s in TypeScript: %s %s\nwant %s", name, got.Error, got.State, want[name])
		}
	}
}

// No message makes the TypeScript fold throw, and it keeps unknown members.
func TestFold_unknownInNode(t *testing.T) {
	messages := `null|7|"x"|[]|{}|{"type":7}|{"type":"newer","x":1}|{"type":"user"}|{"type":"user","message":5}|{"type":"user","message":{"content":[null,7,{"type":"tool_result"}]}}
|{"type":"assistant"}|{"type":"assistant","message":{"content":"x"},"indexes":"y"}|{"type":"assistant","message":{"content":[null,{"type":"tool_use"}]}}|{"type":"stream_event"}
|{"type":"stream_event","event":{"type":"newer"}}|{"type":"stream_event","event":{"type":"content_block_delta"}}|{"type":"stream_event","event":{"type":"content_block_delta","index":9,"delta":{"type":"newer"}}}
|{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"tool_use","id":7}}}|{"type":"stream_event","event":{"type":"message_delta"}}|{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":7}
|{"type":"result","usage":7,"errors":{}}|{"type":"system_init","tools":7,"mcp_servers":[null,7]}|{"type":"queue_changed","items":[null,7]}|{"type":"queue_updated","items":[null,7],"removed":7,"order":[7,null]}|{"type":"task_started"}|{"type":"permission_resolved"}|{"type":"question_request"}|{"type":"tool_progress"}|{"type":"compact_boundary"}`
	var c nodefold.Case
	for m := range strings.SplitSeq(messages, "|") {
		c.Messages = append(c.Messages, json.RawMessage(strings.TrimSpace(m)))
	}
	got := nodefold.Fold(t, []nodefold.Case{c})[""]
	if got.Error != "" {
		t.Fatalf("got.Error is %v; want got.Error == \"\"", got.Error)
	}
	for _, want := range []string{
		`{"kind":"unknown","unknown":{"data":{"type":"newer","x":1},"originalType":"newer","type":"unknown"}}`,
		`{"kind":"unknown","stream":true,"unknown":{"data":{"type":"newer"},"originalType":"newer","type":"unknown"}}`,
		`"deltas":[{"type":"newer"}]`,
	} {
		if !strings.Contains(got.State, want) {
			t.Errorf("the state has no %s: %s", want, got.State)
		}
	}
}

// The decoder returns unknown for texts that are not current messages.
func TestDecodeInNode(t *testing.T) {
	c := nodefold.Case{Messages: []json.RawMessage{[]byte(`"{"`), []byte(`"7"`), []byte(`"{\"type\":\"newer\",\"x\":1}"`),
		[]byte(`"{\"type\":\"toString\"}"`), []byte(`"{\"type\":\"session_state\",\"state\":\"idle\"}"`)}}
	got := nodefold.Fold(t, []nodefold.Case{c})[""]
	want := `"state":"idle","tasks":[],"threads":[{"items":[{"kind":"unknown","unknown":{"data":"{","originalType":"","type":"unknown"}},` +
		`{"kind":"unknown","unknown":{"data":7,"originalType":"","type":"unknown"}},` +
		`{"kind":"unknown","unknown":{"data":{"type":"newer","x":1},"originalType":"newer","type":"unknown"}},` +
		`{"kind":"unknown","unknown":{"data":{"type":"toString"},"originalType":"toString","type":"unknown"}}],"parentToolUseId":""}]`
	if got.Error != "" || !strings.Contains(got.State, want) {
		t.Errorf("%s\n%s\nwant\n%s", got.Error, got.State, want)
	}
}

// keptEvents are messages that a conversation keeps as one event, each with a member that the folds do
// not know.
var keptEvents = []string{
	`{"type":"system_init","cwd":"/p","model":"m","permissionMode":"default","apiKeySource":"","tools":["Bash"],"mcp_servers":[{"name":"a","status":"b"}]`,
	`{"type":"notice","severity":"info","text":"n"`, `{"type":"retry","attempt":1`, `{"type":"hook","hook_id":"h","state":"started","output":"o"`,
	`{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"num_turns":1,"result":"r","permission_denials":[]`,
	`{"type":"compact_boundary","compact_metadata":{"trigger":"auto"}`, `{"type":"error","message":"e"`, `{"type":"unknown","originalType":"x","data":null`,
	`{"type":"plan","entries":[]`, `{"type":"turn_start","turn_id":"t","by":"user"`, `{"type":"usage","turn_id":"t","input_tokens":0,"data":{"a":1}`,
	`{"type":"task_started","task_id":"t"`, `{"type":"task_progress","task_id":"t","usage":{"a":1}`, `{"type":"task_updated","task_id":"t","is_backgrounded":false`,
	`{"type":"task_notification","task_id":"t","status":"completed"`, `{"type":"rate_limit","rate_limit_info":{"a":1}`,
	`{"type":"permission_request","kind":"tool","request_id":"r","input":{"a":1}`, `{"type":"question_request","kind":"elicitation","request_id":"r"`,
	`{"type":"user","message":{"content":[{"type":"text","text":"x"}]},"isPrompt":true,"uuid":"u"`,
	`{"type":"assistant","message":{"content":[{"type":"text","text":"x"}],"model":"m"},"id":"m","indexes":[0],"uuid":"u","timestamp":"t"`,
}

// A new member of an event needs no change in a fold: the item has it in Go and in TypeScript, also
// after a later event for the same item, and in a snapshot.
func TestFold_newMember(t *testing.T) {
	var cases []nodefold.Case
	want := map[string]string{}
	for _, begin := range keptEvents {
		lines := []json.RawMessage{[]byte(begin + `,"session_id":"s","provider":"claude","newer":{"x":[1]},"other":true}`), []byte(begin + `,"session_id":"s","provider":"claude","other":false}`)}
		name := event.MessageType(lines[0])
		for n := 1; n <= len(lines); n++ {
			var d event.Decoder
			var conv event.Conversation
			for _, line := range lines[:n] {
				all, err := d.Decode(line)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				for _, ev := range all {
					conv.Apply(ev)
				}
			}
			state := canonical(t, &conv)
			if n == 1 && !strings.Contains(state, `"newer":{"x":[1]}`) {
				t.Errorf("the fold of %s has no new member: %s", name, state)
			}
			key := fmt.Sprint(name, " ", n)
			want[key] = state
			cases = append(cases, nodefold.Case{Name: key, Messages: lines[:n], Cut: n - 1})
		}
	}
	for name, got := range nodefold.Fold(t, cases) {
		if got.Error != "" || got.State != want[name] {
			t.Errorf("%s: the folds differ: %s (-Go +TypeScript)\n%s", name, got.Error, diffJSON(t, want[name], got.State))
		}
	}
}

func TestPrompts(t *testing.T) {
	var c claudeevent.Converter
	var conv event.Conversation
	apply := func(events []event.Event) {
		for _, ev := range events {
			conv.Apply(ev)
		}
	}
	apply(c.Prompt(message.UserInput{UUID: "u1", Content: []message.InputBlock{&message.Text{Text: "look"}, &message.Image{Source: message.Source{Type: "url", URL: "x"}}}}))
	apply(c.Prompt(claude.Text("without uuid")))
	apply(c.Add(decode([]string{`{"type":"user","message":{"role":"user","content":"look"},"uuid":"u1","isReplay":true}`})[0]))
	want := ">message user complete [0 text complete look]\n>message user complete [0 text complete without uuid]\n"
	if got := outline(&conv); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if m := conv.Threads[0].Items[0].Message.User; !m.IsPrompt || !m.IsReplay {
		t.Errorf("the prompt and its replay are not one: %+v", m)
	}
}

func TestAsk(t *testing.T) {
	var c claudeevent.Converter
	var conv event.Conversation
	apply := func(events []event.Event) {
		for _, ev := range events {
			conv.Apply(ev)
		}
	}
	kinds := func() (all []string) {
		for _, p := range conv.Prompts {
			if q := p.Question; q != nil {
				all = append(all, q.RequestID+" question "+q.Kind)
			} else {
				all = append(all, p.RequestID()+" permission "+p.Permission.Kind)
			}
		}
		return all
	}
	apply(c.Add(decode([]string{`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`})[0]))
	apply(c.Ask("r1", `{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t1","input":{"a":1},"permission_suggestions":[{"type":"setMode"}]}`))
	apply(c.Ask("r2", `{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"p"}}`))
	apply(c.Ask("r3", `{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"q"}]}}`))
	apply(c.Ask("r4", `{"subtype":"elicitation","mcp_server_name":"ext","message":"Your name?","mode":"form","requested_schema":{}}`))
	apply(c.Ask("r5", `{"subtype":"hook_callback"}`))
	want := []string{"r1 permission tool", "r2 permission plan", "r3 question ask_user_question", "r4 question elicitation"}
	if diff := cmp.Diff(want, kinds()); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
	apply(c.Answer("r1", `{"behavior":"deny","message":"no"}`, "ann"))
	apply(c.Answer("r1", `{"behavior":"allow"}`, "bob")) // the first counts
	apply(c.Answer("r2", "", ""))
	apply(c.Answer("r4", `{"action":"accept","content":{"name":"x"}}`, "ann"))
	if diff := cmp.Diff(want[2:3], kinds()); diff != "" {
		t.Errorf("prompts that are left (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&event.Decision{Behavior: "deny", Message: "no", By: "ann"}, conv.Tool("t1").Decision); diff != "" {
		t.Errorf("the decision at the tool (-want +got):\n%s", diff)
	}
}

func TestEvents(t *testing.T) {
	messages := func(lines ...string) iter.Seq2[message.Message, error] {
		return func(yield func(message.Message, error) bool) {
			for _, m := range decode(lines) {
				if !yield(m, nil) {
					return
				}
			}
			yield(nil, errors.New("the process died"))
		}
	}
	var kinds []string
	for ev := range claudeevent.Events(messages(script(`"message_start","message":{"id":"m1"}`)[0].line), claude.Text("hi")) {
		kinds = append(kinds, strings.TrimPrefix(fmt.Sprintf("%T", ev), "*event."))
	}
	if diff := cmp.Diff([]string{"UserMessage", "TurnStart", "MessageStart", "MessageComplete", "Error"}, kinds); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	for range claudeevent.Events(messages(`{"type":"keep_alive"}`, `{"type":"x"}`), claude.Text("hi")) {
		break // stopping early is not an error
	}
}

func TestToolType(t *testing.T) {
	tests := map[string]string{
		"Bash": "CLAUDE_BASH", "BashOutput": "CLAUDE_BASH_OUTPUT", "KillShell": "CLAUDE_KILL_SHELL", "Edit": "CLAUDE_EDIT",
		"MultiEdit": "CLAUDE_MULTI_EDIT", "Read": "CLAUDE_READ", "Write": "CLAUDE_WRITE", "Glob": "CLAUDE_GLOB", "Grep": "CLAUDE_GREP",
		"WebFetch": "CLAUDE_WEB_FETCH", "WebSearch": "CLAUDE_WEB_SEARCH", "TodoWrite": "CLAUDE_TODO_WRITE", "Task": "CLAUDE_TASK",
		"ExitPlanMode": "CLAUDE_EXIT_PLAN_MODE", "AskUserQuestion": "CLAUDE_ASK_USER_QUESTION", "Skill": "CLAUDE_SKILL",
		"SlashCommand": "CLAUDE_SLASH_COMMAND", "EnterPlanMode": "CLAUDE_ENTER_PLAN_MODE", "NotebookEdit": "CLAUDE_NOTEBOOK_EDIT",
		"ListMcpResourcesTool": "CLAUDE_LIST_MCP_RESOURCES", "ReadMcpResourceTool": "CLAUDE_READ_MCP_RESOURCE",
		"Agent": "CLAUDE_AGENT", "TaskCreate": "CLAUDE_TASK_CREATE", "Monitor": "CLAUDE_MONITOR", "LSP": "CLAUDE_LSP", "HTTPGet": "CLAUDE_HTTP_GET",
		"propose_skills": "CLAUDE_PROPOSE_SKILLS", "Tool2Use": "CLAUDE_TOOL2_USE",
		"mcp__github__get_issue": "MCP", "": "UNKNOWN", "my tool": "UNKNOWN", "2x": "UNKNOWN", "ärger": "UNKNOWN",
	}
	var c nodefold.Case
	for name, want := range tests {
		if got := event.ToolType("claude", name); got != want {
			t.Errorf("ToolType(%q) = %s, want %s", name, got, want)
		}
		block, err := json.Marshal(map[string]any{"type": "tool_use", "id": "t" + name, "toolName": name})
		if err != nil {
			t.Fatal(err)
		}
		c.Messages = append(c.Messages, json.RawMessage(fmt.Sprintf(`{"type":"assistant","id":"m%d","message":{"content":[%s]}}`, len(c.Messages), block)))
	}
	var state event.Conversation
	if err := json.Unmarshal([]byte(nodefold.Fold(t, []nodefold.Case{c})[""].State), &state); err != nil {
		t.Fatal(err)
	}
	for name, want := range tests {
		if got := state.Tool("t" + name); got == nil || got.ToolType != want {
			t.Errorf("in TypeScript %q is %+v, want %s", name, got, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	tests := map[string]string{
		`{"b":1.0,"a":[true,null,"\u00e9\u2028<"],"\ud83d\ude00":1e21,"\ufb33":-0}`: "{\"a\":[true,null,\"é\u2028<\"],\"b\":1,\"😀\":1e+21,\"\ufb33\":0}",
		`1e999`:                  `null`,
		`123456789012345678901`:  `123456789012345680000`,
		` { "x" : 0.0000001 } `:  `{"x":1e-7}`,
		`"\ud800 \u0007\b\"\\/"`: "\"\uFFFD \\u0007\\b\\\"\\\\/\"",
	}
	for in, want := range tests {
		got, err := event.Canonical([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("Canonical(%s) = %s, %v, want %s", in, got, err, want)
		}
	}
	if _, err := event.Canonical([]byte(`{`)); err == nil {
		t.Error("half an object has a canonical form")
	}
}

// repeated is the output of an agent that restarts in the middle of a turn and reuses its ids.
var repeated = []string{
	`{"type":"session_state","state":"starting"}`,
	`{"type":"turn_start","turn_id":"t","by":"user"}`,
	`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}},"api_message_id":"m"}`,
	`{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"api_message_id":"m"}`,
	`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"first"}},"api_message_id":"m"}`,
	`{"type":"assistant","id":"m","uuid":"l","indexes":[1],"message":{"content":[{"type":"tool_use","id":"u","toolName":"Bash","input":{"n":1}}]}}`,
	`{"type":"stream_event","event":{"type":"message_stop"},"api_message_id":"m"}`,
	`{"type":"task_started","task_id":"k","description":"first"}`,
	`{"type":"user","uuid":"n","isSynthetic":true,"message":{"content":[{"type":"text","text":"first note"}]}}`,
	`{"type":"turn_diff","turn_id":"t","files":[{"path":"first","kind":"add","hunks":[]}]}`,
	`{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":1}}`,
	`{"type":"session_state","state":"interrupted"}`,
	`{"type":"session_state","state":"starting"}`,
	`{"type":"session_state","state":"idle"}`,
	`{"type":"turn_start","turn_id":"t","by":"user"}`,
	`{"type":"turn_start","turn_id":"t","by":"user"}`,
	`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"second"}},"api_message_id":"m"}`,
	`{"type":"assistant","id":"m","uuid":"l","indexes":[1],"message":{"content":[{"type":"tool_use","id":"u","toolName":"Bash","input":{"n":2}}]}}`,
	`{"type":"turn_diff","turn_id":"t","files":[{"path":"second","kind":"add","hunks":[]}]}`,
	`{"type":"permission_resolved","request_id":"r","tool_use_id":"u","behavior":"deny"}`,
	`{"type":"task_started","task_id":"k","description":"second"}`,
	`{"type":"user","uuid":"n","isSynthetic":true,"message":{"content":[{"type":"text","text":"second note"}]}}`,
	`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"u","content":"ok"}]}}`,
	`{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"num_turns":1,"total_cost_usd":0.25,"usage":{"input_tokens":1}}`,
	`{"type":"truncate","turn_id":"t"}`,
}

// TestFold_repeatedIDs checks that a restarted agent that reuses its ids does not change earlier items,
// in both folds and from every snapshot.
func TestFold_repeatedIDs(t *testing.T) {
	var d event.Decoder
	var conv event.Conversation
	c := nodefold.Case{Every: true}
	for i, text := range repeated {
		line := json.RawMessage(strings.TrimSuffix(text, "}") + `,"session_id":"s","provider":"claude"}`)
		all, err := d.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range all {
			conv.Apply(ev)
		}
		c.Messages = append(c.Messages, line)
		if i < len(repeated)-2 {
			snapshot := canonical(t, &conv)
			conv = event.Conversation{} // later state follows from the snapshot alone
			if err := json.Unmarshal([]byte(snapshot), &conv); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want := ">message assistant incomplete [0 text incomplete first] [1 tool_use complete u interrupted {\"n\":1}→]\n>message user complete [0 text complete first note]\n>result\n"
		if i == len(repeated)-2 {
			want += ">message assistant streaming [0 text streaming second] [1 tool_use complete u success {\"n\":2}→\"ok\"]\n>message user complete [0 text complete second note]\n>result\n"
			if n, cost := len(conv.Turns), *conv.Totals.CostUSD; n != 2 || cost != 0.5 || conv.Turns[0].ID == conv.Turns[1].ID || conv.Turns[0].Changes[0].Path != "first" {
				t.Errorf("%d turns for $%v: %+v", n, cost, conv.Turns)
			}
			if k := conv.Tasks; len(k) != 2 || k[0].Description != "first" || k[0].Status != "killed" {
				t.Errorf("the tasks are %+v", k)
			}
		}
		if got := outline(&conv); got != want {
			t.Errorf("after line %d:\n%swant\n%s", i, got, want)
		}
	}
	if got := nodefold.Fold(t, []nodefold.Case{c})[""]; got.Error != "" || got.State != canonical(t, &conv) {
		t.Errorf("the folds differ: %s (-Go +TypeScript)\n%s", got.Error, diffJSON(t, canonical(t, &conv), got.State))
	}
}
