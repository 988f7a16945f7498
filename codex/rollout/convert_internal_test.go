package rollout

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
)

// TestConvertItem checks each type of item of a file with a distinct value in each member.
func TestConvertItem(t *testing.T) {
	head := item.ItemHead{ID: "i", StartedAtMs: new(int64(11)), CompletedAtMs: new(int64(12))}
	for name, tt := range map[string]struct {
		file string
		want item.Item
	}{
		"prompt":          {`"type":"UserMessage","client_id":"c","content":[{"type":"text","text":"t"}]`, &item.UserMessage{ItemHead: head, ClientID: "c"}},
		"text":            {`"type":"AgentMessage","phase":"p","content":[{"type":"Text","text":"a"},{"type":"Text","text":"b"}]`, &item.AgentMessage{ItemHead: head, Text: "ab", Phase: "p"}},
		"plan":            {`"type":"Plan","text":"t"`, &item.Plan{ItemHead: head, Text: "t"}},
		"reasoning":       {`"type":"Reasoning","summary_text":["s"],"raw_content":["r"]`, &item.Reasoning{ItemHead: head, Summary: []string{"s"}, Content: []string{"r"}}},
		"compaction":      {`"type":"ContextCompaction"`, &item.ContextCompaction{ItemHead: head}},
		"review":          {`"type":"EnteredReviewMode","review":"r"`, &item.EnteredReviewMode{ItemHead: head, Review: "r"}},
		"end of a review": {`"type":"ExitedReviewMode","review":"r"`, &item.ExitedReviewMode{ItemHead: head, Review: "r"}},
		"command": {`"type":"CommandExecution","command":["ls","a b"],"cwd":"file:///w%20d","process_id":"p","source":"user_shell","status":"in_progress","aggregated_output":"o","exit_code":3,"duration":{"secs":2,"nanos":5000000}`,
			&item.CommandExecution{ItemHead: head, Command: "ls 'a b'", CWD: "/w d", ProcessID: "p", Source: "userShell", Status: "inProgress", AggregatedOutput: new("o"), ExitCode: new(int64(3)), DurationMs: new(int64(2005))}},
		"a command without an end": {`"type":"CommandExecution","command":["ls"],"status":"failed"`, &item.CommandExecution{ItemHead: head, Command: "ls", Status: "failed"}},
		"patch": {`"type":"FileChange","status":"in_progress","changes":{"b":{"type":"update","unified_diff":"d","move_path":"c"},"a":{"type":"add","content":"x"}}`,
			&item.FileChange{ItemHead: head, Status: "inProgress", Changes: []item.Change{
				{Path: "a", Kind: item.ChangeKind{Type: "add"}, Diff: "x"},
				{Path: "b", Kind: item.ChangeKind{Type: "update", MovePath: "c"}, Diff: "d\n\nMoved to: c"}}}},
		"MCP tool": {`"type":"McpToolCall","server":"s","tool":"t","status":"in_progress","arguments":{"a":1},"result":{"content":[1]},"error":{"message":"e"},"duration":{"secs":1},"readOnlyHint":true`,
			&item.MCPToolCall{ItemHead: head, Server: "s", Tool: "t", Status: "inProgress", Arguments: `{"a":1}`, Result: &item.MCPResult{Content: []item.JSON{"1"}}, Error: &item.MCPError{Message: "e"}, DurationMs: new(int64(1000)), ReadOnlyHint: new(true)}},
		"own tool": {`"type":"DynamicToolCall","namespace":"n","tool":"t","arguments":[2],"status":"in_progress","content_items":[{"type":"text","text":"x"}],"success":false,"duration":{"nanos":1000000}`,
			&item.DynamicToolCall{ItemHead: head, Namespace: "n", Tool: "t", Arguments: "[2]", Status: "inProgress", ContentItems: []item.ToolContent{{Type: "text", Text: new("x")}}, Success: new(false), DurationMs: new(int64(1))}},
		"subagent": {`"type":"CollabAgentToolCall","tool":"spawn_agent","status":"in_progress","sender_thread_id":"s","receiver_thread_ids":["r"],"prompt":"p","model":"m","reasoning_effort":"e"`,
			&item.CollabAgentToolCall{ItemHead: head, Tool: "spawnAgent", Status: "inProgress", SenderThreadID: "s", ReceiverThreadIDs: []string{"r"}, Prompt: "p", Model: "m", ReasoningEffort: "e"}},
		"activity": {`"type":"SubAgentActivity","kind":"did_start","agent_thread_id":"a","agent_path":"p"`, &item.SubAgentActivity{ItemHead: head, Kind: "didStart", AgentThreadID: "a", AgentPath: "p"}},
		"search":   {`"type":"WebSearch","query":"q","action":{"type":"search","query":"r"}`, &item.WebSearch{ItemHead: head, Query: "q", Action: &item.SearchAction{Type: "search", Query: "r"}}},
		"image":    {`"type":"ImageView","path":"file:///i.png"`, &item.ImageView{ItemHead: head, Path: "/i.png"}},
	} {
		got := convertItem(&event{Item: item.JSON(`{"id":"i",` + tt.file + `}`), StartedAtMs: new(int64(11)), CompletedAtMs: new(int64(12))})
		if u, ok := got.(*item.UserMessage); ok {
			if text, ok := u.Content[0].(*item.Text); !ok || len(u.Content) != 1 || text.Text != "t" {
				t.Errorf("%s: the content is %+v", name, u.Content)
			}
			u.Content = nil
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s:\n%#v\nwant\n%#v", name, got, tt.want)
		}
	}
	for _, text := range []item.JSON{"", "[]", `"x"`, "{"} {
		if got := convertItem(&event{Item: text}); got != nil {
			t.Errorf("item %q: %+v", text, got)
		}
	}
	unknown, ok := convertItem(&event{Item: `{"id":"i","type":"Newer","x":1}`}).(*item.UnknownItem)
	if !ok {
		t.Fatalf("an unknown type is %T", unknown)
	}
}

// TestConvertError checks that convertError keeps the message and converts the class, which a file names in snake case.
func TestConvertError(t *testing.T) {
	for file, want := range map[item.JSON]string{
		`{"message":"m"}`:                                           `null`,
		`{"message":"m","codex_error_info":null}`:                   `null`,
		`{"message":"m","codex_error_info":"usage_limit_exceeded"}`: `"usageLimitExceeded"`,
		`{"message":"m","codex_error_info":{"http_connection_failed":{"http_status_code":503}}}`: `{"httpConnectionFailed":{"httpStatusCode":503}}`,
		`{"message":"m","codex_error_info":7}`:                                                   `null`,
	} {
		got := convertError(file)
		if got.Message != "m" {
			t.Errorf("%s: the message is %q", file, got.Message)
		}
		info, err := json.Marshal(got.CodexErrorInfo)
		if err != nil {
			t.Fatal(err)
		}
		if string(info) != want {
			t.Errorf("%s: the class is %s, want %s", file, info, want)
		}
	}
	for in, want := range map[string]string{"": "", "a": "a", "a_b_c": "aBC", "_a": "A", "a_": "a", "a__b": "aB", "aB": "aB", "ä_ö": "äÖ"} {
		if got := camel(in); got != want {
			t.Errorf("camel(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"": "", "/a": "/a", "file:///a%20b": "/a b", "file://%": "file://%", "http://x/y": "http://x/y"} {
		if got := filePath(in); got != want {
			t.Errorf("filePath(%q) = %q, want %q", in, got, want)
		}
	}
	for want, argv := range map[string][]string{"": nil, "ls -l a/b": {"ls", "-l", "a/b"}, "'' 'a b' 'it'\\''s' '$x'": {"", "a b", "it's", "$x"}, "a@%_-+=:,./1": {"a@%_-+=:,./1"}} {
		if got := shellJoin(argv); got != want {
			t.Errorf("shellJoin(%q) = %q, want %q", argv, got, want)
		}
	}
}
