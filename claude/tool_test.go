package claude_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// toolMembersLeftToRaw lists all members of inputs and results without a typed field.
var toolMembersLeftToRaw = []string{
	"input Bash.cmd", // a made-up member of a call that is refused
}

// TestToolCorpus decodes the input of every call and the result of every tool in
// the recordings and compares the typed fields with a plain decoding.
func TestToolCorpus(t *testing.T) {
	inputs, results := 0, 0
	for _, name := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			tools := map[string]string{} // by the id of the call
			for i, line := range stdoutLines(t, name) {
				m, err := message.Decode([]byte(line))
				if err != nil {
					continue // claude.TestDecode covers those
				}
				c := comparer{t: t, line: i + 1}
				switch m := m.(type) {
				case *message.Assistant:
					inputs += checkToolUses(c, m, tools)
				case *message.User:
					results += checkToolUseResult(c, m, tools)
				}
			}
		})
	}
	if !otherCorpus() && (inputs < 90 || results < 80) {
		t.Errorf("the corpus has only %d inputs and %d results", inputs, results)
	}
}

func checkToolUses(c comparer, m *message.Assistant, tools map[string]string) (n int) {
	for _, b := range m.Message.Content {
		use, ok := b.(*message.ToolUse)
		if !ok {
			continue
		}
		n++
		tools[use.ID] = use.Name
		v, err := tool.Decode(use)
		if err != nil {
			c.t.Errorf("line %d: input of %s: %v", c.line, use.Name, err)
			continue
		}
		c.tool("input "+use.Name, v, use.Input.Value())
	}
	return n
}

func checkToolUseResult(c comparer, m *message.User, tools map[string]string) int {
	var called string
	for _, b := range m.Message.Content.Blocks() {
		if r, ok := b.(*message.ToolResult); ok {
			called = tools[r.ToolUseID]
		}
	}
	v, err := tool.DecodeResultOf(m, called)
	if m.ToolUseResult == "" {
		if !errors.Is(err, tool.ErrNoResult) || v != nil {
			c.t.Errorf("line %d: a result of nothing: %v, %v", c.line, v, err)
		}
		return 0
	}
	if err != nil {
		c.t.Errorf("line %d: result of %s: %v", c.line, called, err)
		return 1
	}
	c.tool("result "+called, v, m.ToolUseResult.Value())
	return 1
}

// tool compares a decoded input or result with its plain value.
func (c comparer) tool(path string, v, want any) {
	want = withoutRaw(path, want)
	switch v := v.(type) {
	case *tool.UnknownInput:
		c.equal(path, v.Input.Value(), want)
	case *tool.UnparsedInput:
		c.equal(path, map[string]any{"__unparsedToolInput": map[string]any{"raw": v.Text, "len": float64(v.Len)}}, want)
	case *tool.UnknownResult:
		c.equal(path, v.JSON.Value(), want)
		if !otherCorpus() {
			c.t.Errorf("line %d: %s is not known: %.100v", c.line, path, want)
		}
	case *tool.ErrorResult:
		c.equal(path, v.Text, want)
	case *tool.TextResult:
		c.equal(path, v.Text, want)
	case *tool.ContentResult:
		c.value(path, reflect.ValueOf(v.Blocks), want)
	case *tool.WebSearchResult:
		c.webSearch(path, v, want)
	default:
		c.value(path, reflect.ValueOf(v).Elem(), want)
	}
}

// webSearch compares entries that are strings, which decode to a struct.
func (c comparer) webSearch(path string, v *tool.WebSearchResult, want any) {
	if obj, ok := want.(map[string]any); ok {
		list, _ := obj["results"].([]any)
		for i, w := range list {
			if s, ok := w.(string); ok && i < len(v.Results) {
				c.equal(path+".results[]", v.Results[i].Text, s)
				list[i] = map[string]any{}
			}
		}
	}
	c.value(path, reflect.ValueOf(v).Elem(), want)
}

// withoutRaw removes the members without a typed field from a plain value.
func withoutRaw(path string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			at := path + "." + key
			if slices.Contains(toolMembersLeftToRaw, at) {
				delete(v, key)
				continue
			}
			v[key] = withoutRaw(at, member)
		}
	case []any:
		for i := range v {
			v[i] = withoutRaw(path+"[]", v[i])
		}
	}
	return v
}

func TestCanonicalTool(t *testing.T) {
	for name, want := range map[string]string{
		"Task": "Agent", "KillShell": "TaskStop", "KillBash": "TaskStop", "ListPeers": "ListAgents",
		"Brief": "SendUserMessage", "ListMcpResources": "ListMcpResourcesTool",
		"ReadMcpResource": "ReadMcpResourceTool", "ReadMcpResourceDir": "ReadMcpResourceDirTool",
		"Agent": "Agent", "mcp__a__Task": "mcp__a__Task", "": "",
	} {
		if got := tool.Canonical(name); got != want {
			t.Errorf("CanonicalTool(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestDecodeInputOfAnyKind(t *testing.T) {
	for _, tt := range []struct {
		name, input string
		want        any
	}{
		{"Bash", `{"command":"ls","new":{"a":1}}`, &tool.BashInput{Command: "ls"}},
		{"Bash", `{"command":5,"description":"x"}`, &tool.BashInput{Description: "x"}},
		{"Bash", `{"cmd":1}`, &tool.BashInput{}},
		{"Bash", ` {"Command":"keys have case"}`, &tool.BashInput{}},
		{"Task", `{"prompt":"p","description":"d"}`, &tool.AgentInput{Prompt: "p", Description: "d"}},
		{"KillShell", `{"shell_id":"b1"}`, &tool.TaskStopInput{ShellID: "b1"}},
		{"CronList", `{}`, &tool.CronListInput{}},
		{"Bash", `"ls"`, &tool.UnknownInput{Name: "Bash", Input: `"ls"`}},
		{"Bash", `null`, &tool.UnknownInput{Name: "Bash", Input: `null`}},
		{"mcp__a__b", `{"n":1}`, &tool.UnknownInput{Name: "mcp__a__b", Input: `{"n":1}`}},
		{"Tomorrow", `{}`, &tool.UnknownInput{Name: "Tomorrow", Input: `{}`}},
		{"Bash", `{"__unparsedToolInput":{"raw":"{\"co","len":5}}`, &tool.UnparsedInput{Name: "Bash", Text: `{"co`, Len: 5}},
		{"mcp__a__b", `{"__unparsedToolInput":{"raw":"x","len":1}}`, &tool.UnparsedInput{Name: "mcp__a__b", Text: "x", Len: 1}},
		{"Write", `{"file_path":"f","content":"\"__unparsedToolInput\""}`, &tool.WriteInput{FilePath: "f", Content: `"__unparsedToolInput"`}},
		{"Bash", `{"command":"ls","__unparsedToolInput":null}`, &tool.BashInput{Command: "ls"}},
	} {
		b := &message.ToolUse{Name: tt.name, Input: message.JSON(tt.input)}
		if got, err := tool.Decode(b); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s: got %#v, %v, want %#v", tt.name, tt.input, got, err, tt.want)
		}
	}
	for _, input := range []message.JSON{"", `{"command":`, `{} {}`} {
		b := &message.ToolUse{Name: "Bash", Input: input}
		if got, err := tool.Decode(b); err == nil || !strings.Contains(err.Error(), "Bash") {
			t.Errorf("%q: got %#v, %v", input, got, err)
		}
	}
}

func TestDecodeInputAs(t *testing.T) {
	type sum struct{ A, B int }
	got, err := tool.DecodeAs[sum](&message.ToolUse{Name: "mcp__calc__add", Input: `{"a":2,"b":3,"c":4}`})
	if err != nil || *got != (sum{2, 3}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, input := range []message.JSON{"", `{`, `[]`, `{"a":"2"}`} {
		if got, err := tool.DecodeAs[sum](&message.ToolUse{Name: "add", Input: input}); err == nil || got != nil {
			t.Errorf("%q: got %v, %v", input, got, err)
		}
	}
	wrong := &message.ToolUse{Name: "add", Input: `{"a":"2"}`}
	_, err = tool.DecodeAs[sum](wrong)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
		t.Errorf("got %v", err)
	}
	_, err = tool.DecodeAs[sum](&message.ToolUse{Name: "add", Input: `{"__unparsedToolInput":{"raw":"{","len":1}}`})
	if unparsed, ok := errors.AsType[*tool.UnparsedInput](err); !ok || unparsed.Text != "{" {
		t.Errorf("got %v", err)
	}
}

func TestDecodeToolResultOfAnyKind(t *testing.T) {
	text := &tool.ContentResult{}
	for _, tt := range []struct {
		name, result string
		isError      bool
		want         any
	}{
		{"Bash", `{"stdout":"x","new":1}`, false, &tool.BashResult{Stdout: "x"}},
		{"Bash", `{"stdout":["x"]}`, true, &tool.BashResult{}},
		{"Bash", `"Error: no"`, true, &tool.ErrorResult{Text: "Error: no"}},
		{"StructuredOutput", `"ok"`, false, &tool.TextResult{Text: "ok"}},
		{"KillBash", `{"task_id":"b1"}`, false, &tool.TaskStopResult{TaskID: "b1"}},
		{"ListMcpResources", `[{"uri":"a:b"}]`, false, &tool.ListMCPResourcesResult{{URI: "a:b"}}},
		{"Bash", `[1]`, false, &tool.UnknownResult{Name: "Bash", JSON: `[1]`}},
		{"Bash", `[{"text":"no type"}]`, false, &tool.UnknownResult{Name: "Bash", JSON: `[{"text":"no type"}]`}},
		{"mcp__a__b", `{"n":1}`, false, &tool.UnknownResult{Name: "mcp__a__b", JSON: `{"n":1}`}},
		{"mcp__a__b", `[]`, false, &tool.ContentResult{Blocks: []message.ContentBlock{}}},
		{"mcp__a__b", `[{"type":"text","text":"a"},{"type":"new"},{"type":"text","text":"b"}]`, false, text},
		{"Tomorrow", `{"n":1}`, false, &tool.UnknownResult{Name: "Tomorrow", JSON: `{"n":1}`}},
		{"Bash", `null`, false, &tool.UnknownResult{Name: "Bash", JSON: `null`}},
		{"Bash", `12`, false, &tool.UnknownResult{Name: "Bash", JSON: `12`}},
	} {
		got, err := tool.DecodeResult(tt.name, message.JSON(tt.result), tt.isError)
		if list, ok := got.(*tool.ContentResult); ok && tt.want == any(text) {
			if len(list.Blocks) != 3 || list.Text() != "ab" {
				t.Errorf("got %v", list)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s %s: got %#v, %v, want %#v", tt.name, tt.result, got, err, tt.want)
		}
	}
	for _, broken := range []message.JSON{`{"stdout":`, `[{"type":"text"]`, `"a`} {
		if got, err := tool.DecodeResult("Bash", broken, false); err == nil || got != nil {
			t.Errorf("%s: got %#v, %v", broken, got, err)
		}
	}
	if _, err := tool.DecodeResultOf(new(message.User), "Bash"); !errors.Is(err, tool.ErrNoResult) {
		t.Errorf("got %v", err)
	}
}

// The block for the model distinguishes a failure from a text.
func TestDecodeToolResultError(t *testing.T) {
	for isError, want := range map[bool]any{true: &tool.ErrorResult{Text: "x"}, false: &tool.TextResult{Text: "x"}} {
		m := &message.User{
			Message:       message.UserContent{Content: message.BlockContent(&message.ToolResult{IsError: isError})},
			ToolUseResult: `"x"`,
		}
		if got, err := tool.DecodeResultOf(m, "Bash"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %#v, %v, want %#v", got, err, want)
		}
	}
}
