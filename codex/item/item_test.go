package item_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/codex/item"
)

func ExampleDecodeServer() {
	line := `{"method":"item/completed","params":{"threadId":"t","turnId":"u","completedAtMs":1,` +
		`"item":{"type":"commandExecution","id":"call_1","command":"ls","status":"completed","exitCode":0}}}`
	l, err := item.DecodeServer([]byte(line))
	if err != nil {
		fmt.Println(err)
		return
	}
	if done, ok := l.(*item.ItemCompleted); ok {
		cmd := done.Item.(*item.CommandExecution)
		fmt.Println(cmd.ID, cmd.Command, cmd.Status, *cmd.ExitCode)
	}
	// Output: call_1 ls completed 0
}

// TestUnknown checks that unknown values of every union keep their bytes.
func TestUnknown(t *testing.T) {
	line := `{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"hologram","id":"h","x":[1, 2]}},"emittedAtMs":5}`
	l, err := item.DecodeServer([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	started := l.(*item.ItemStarted)
	u, ok := started.Item.(*item.UnknownItem)
	if !ok || u.ID != "h" || item.Kind(u) != "hologram" || string(u.Raw()) != `{"type":"hologram","id":"h","x":[1, 2]}` {
		t.Errorf("item %#v", started.Item)
	}
	if string(started.Raw()) != line || started.EmittedAtMs != 5 {
		t.Errorf("line %s", started.Raw())
	}

	line = `{"method":"thread/dreamt","params":{"threadId":"t","dream":1}}`
	l, _ = item.DecodeServer([]byte(line))
	n, ok := l.(*item.UnknownNotification)
	if !ok || n.Method != "thread/dreamt" || item.ThreadOf(n) != "t" || n.Params != `{"threadId":"t","dream":1}` || string(n.Raw()) != line {
		t.Errorf("notification %#v", l)
	}

	line = `{"id":"7","method":"item/telepathy","params":{"threadId":"t","itemId":"i"}}`
	l, _ = item.DecodeServer([]byte(line))
	r, ok := l.(*item.UnknownRequest)
	if !ok || r.ID != `"7"` || r.Method != "item/telepathy" || r.ItemID != "i" || string(r.Raw()) != line {
		t.Errorf("request %#v", l)
	}

	i, err := item.Decode([]byte(`{"type":"userMessage","id":"m","content":[{"type":"smell","of":"rain"},{"type":"text","text":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	content := i.(*item.UserMessage).Content
	if in, ok := content[0].(*item.UnknownInput); !ok || in.JSON != `{"type":"smell","of":"rain"}` {
		t.Errorf("input %#v", content[0])
	}
	if in, ok := content[1].(*item.Text); !ok || in.Text != "hi" {
		t.Errorf("input %#v", content[1])
	}
}

// TestWrongTypes checks that members with an unexpected type leave their field zero and stay in the text.
func TestWrongTypes(t *testing.T) {
	i, err := item.Decode([]byte(`{"type":"commandExecution","id":5,"command":["ls"],"exitCode":"0","commandActions":{},"status":"new"}`))
	if err != nil {
		t.Fatal(err)
	}
	cmd := i.(*item.CommandExecution)
	if cmd.ID != "" || cmd.Command != "" || cmd.ExitCode != nil && *cmd.ExitCode != 0 || cmd.Status != "new" {
		t.Errorf("%+v; want cmd.ID == \"\" and cmd.Command == \"\" and not (cmd.ExitCode != nil && *cmd.ExitCode != 0) and cmd.Status == \"new\"", cmd)
	}
	for _, line := range []string{`[]`, `17`, ``, `{"a"`, `{"id":1}`, `{}`, `{"method":"x","params":{"a":tru}}`} {
		_, err := item.DecodeServer([]byte(line))
		if _, ok := errors.AsType[*item.DecodeError](err); !ok {
			t.Errorf("%q: %v; want ok", line, err)
		}
	}
}

// TestKinds checks that every kind decodes to its type, and that a constructed item encodes with its kind.
func TestKinds(t *testing.T) {
	kinds := item.Kinds()
	if len(kinds) != 19 || len(item.RequestMethods()) != 11 {
		t.Errorf("%d items, %d requests", len(kinds), len(item.RequestMethods()))
	}
	for _, kind := range kinds {
		text := fmt.Sprintf(`{"type":%q,"id":"x","startedAtMs":1,"completedAtMs":null,"new":true}`, kind)
		i, err := item.Decode([]byte(text))
		if err != nil || item.Kind(i) != kind || i.Head().ID != "x" || *i.Head().StartedAtMs != 1 || i.Head().CompletedAtMs != nil {
			t.Errorf("%s: %#v, %v; want err == nil and item.Kind(i) == kind and i.Head().ID == \"x\" and *i.Head().StartedAtMs == 1 and i.Head().CompletedAtMs == nil", kind, i, err)
			continue
		}
		if out, err := json.Marshal(i); err != nil || string(out) != text {
			t.Errorf("%s is encoded as %s, %v", kind, out, err)
		}
	}
	for _, m := range slices.Concat(item.Methods(), item.RequestMethods()) {
		l, err := item.DecodeServer(fmt.Appendf(nil, `{"id":1,"method":%q,"params":{}}`, m))
		if r, ok := l.(item.Request); err != nil || !ok || item.RequestMethod(r) != m {
			t.Errorf("%s as a request: %#v, %v", m, l, err)
		}
	}
}

func TestEncode_built(t *testing.T) {
	tests := []struct {
		value any
		want  string
	}{
		{&item.AgentMessage{ItemHead: item.ItemHead{ID: "m"}, Text: "a<b"}, `{"type":"agentMessage","id":"m","text":"a<b"}`},
		{&item.Text{Text: "hi"}, `{"type":"text","text":"hi"}`},
		{&item.ContextCompaction{ItemHead: item.ItemHead{ID: "c"}}, `{"type":"contextCompaction","id":"c"}`},
		{&item.UnknownItem{ItemHead: item.ItemHead{ID: "u"}, Type: "new"}, `{"type":"new","id":"u"}`},
		{&item.UnknownInput{JSON: `{"type":"x"}`}, `{"type":"x"}`},
		{item.ErrorInfo{Kind: "other"}, `"other"`},
		{item.ErrorInfo{Kind: "httpConnectionFailed", HTTPStatusCode: 401}, `{"httpConnectionFailed":{"httpStatusCode":401}}`},
	}
	for _, tt := range tests {
		m, ok := tt.value.(json.Marshaler)
		if !ok {
			t.Fatalf("%T cannot be encoded", tt.value)
		}
		got, err := m.MarshalJSON()
		if diff := cmp.Diff(tt.want, string(got)); err != nil || diff != "" {
			t.Errorf("%T: %v %s", tt.value, err, diff)
		}
	}
	got, err := item.EncodeNotification(&item.TurnDiffUpdated{Note: item.Note{ThreadID: "t", TurnID: "u"}, Diff: "d"})
	if want := `{"method":"turn/diff/updated","params":{"threadId":"t","turnId":"u","diff":"d"}}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want err == nil and string(got) == want", got, err)
	}
}

func TestErrorInfo(t *testing.T) {
	for text, want := range map[string]string{
		`"usageLimitExceeded"`: "usageLimitExceeded 0 ",
		`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`: "responseTooManyFailedAttempts 429 ",
		`{"activeTurnNotSteerable":{"turnKind":"review"}}`:         "activeTurnNotSteerable 0 review",
		`{"brandNew":{"x":1}}`:                                     "brandNew 0 ",
		`null`:                                                     " 0 ",
	} {
		var e item.TurnError
		if err := item.DecodeValue(item.JSON(`{"codexErrorInfo":`+text+`}`), &e); err != nil {
			t.Fatal(err)
		}
		info := e.CodexErrorInfo
		if got := fmt.Sprintf("%s %d %s", info.Kind, info.HTTPStatusCode, info.TurnKind); got != want || string(info.Raw()) != text {
			t.Errorf("%s: %q, %s; want got == want and string(info.Raw()) == text", text, got, info.Raw())
		}
	}
}

// TestElicitation_approval checks that an elicitation with any approval kind is a permission.
func TestElicitation_approval(t *testing.T) {
	for meta, want := range map[string]bool{
		`null`: false, `{}`: false, `{"other":1}`: false,
		`{"codex_approval_kind":"mcp_tool_call","persist":["session"]}`: true,
		`{"codex_approval_kind":"brand_new"}`:                           true,
		`{"codex_approval_kind":{"v":2}}`:                               true,
	} {
		l, err := item.DecodeServer([]byte(`{"id":0,"method":"mcpServer/elicitation/request","params":{"serverName":"s","mode":"form","_meta":` + meta + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, got := l.(*item.ElicitationRequest).Approval(); got != want {
			t.Errorf("%s: %v; want got == want", meta, got)
		}
	}
}

// FuzzDecode checks that no input panics, and that decoded values keep their bytes.
func FuzzDecode(f *testing.F) {
	f.Add(`{"method":"item/started","params":{"item":{"type":"fileChange","changes":[{"kind":{"type":"add"}}]}}}`)
	f.Add(`{"id":1,"method":"item/tool/requestUserInput","params":{"questions":[{"options":[{}]}]}}`)
	f.Add(`{"id":1,"error":{"code":-32600}}`)
	f.Add(`{"method":"error","params":{"error":{"codexErrorInfo":{"a":{"b":1},"c":2}}}}`)
	f.Fuzz(func(t *testing.T, line string) {
		l, err := item.DecodeServer([]byte(line))
		if err != nil {
			return
		}
		if string(l.Raw()) != line {
			t.Fatalf("%q became %q", line, l.Raw())
		}
		if !json.Valid([]byte(line)) {
			t.Fatalf("%q is not JSON", line)
		}
	})
}
