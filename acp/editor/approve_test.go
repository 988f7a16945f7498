package editor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

var updateRequests = flag.Bool("update", false, "write testdata/acp-agents/requests.json")

// mustShow lists the texts that must be shown in a recorded permission request.
type mustShow struct {
	Line  int
	Shows []map[string]any `json:"must_show"`
}

// texts returns the texts that a person must see.
func (m *mustShow) texts() (list []string) {
	for _, one := range m.Shows {
		for name, v := range one {
			if s, ok := v.(string); ok && !strings.HasPrefix(name, "in_") {
				list = append(list, s)
			}
		}
	}
	return list
}

// shownRequest is a row of requests.json, which the tests of the page read.
type shownRequest struct {
	Recording string                     `json:"recording"`
	Line      int                        `json:"line"`
	Must      []string                   `json:"must"`
	Request   map[string]json.RawMessage `json:"request"`
}

// cardMembers are the members of a request that the page uses to draw it.
var cardMembers = []string{"type", "kind", "request_id", "provider", "tool_name", "display_name", "tool_kind", "input", "content", "locations", "request"}

// TestApprove shows recorded and made-up agents to an editor. The event, the folded conversation
// and the request to the editor must contain the texts that the recording requires for each
// permission request.
func TestApprove(t *testing.T) {
	short.SkipQuick(t, "plays every recording")
	t.Parallel()
	dir := os.Getenv("PARLEY_ACP_AGENTS_CORPUS")
	golden := dir == ""
	if golden {
		dir = "../../testdata/acp-agents"
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "meta.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	var rows []shownRequest
	asked := 0
	for _, file := range files {
		var meta struct{ Asks []mustShow }
		if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, &meta) != nil {
			t.Fatalf("%s: %v; want err == nil and json.Unmarshal(text, &meta) == nil", file, err)
		}
		lines, err := os.ReadFile(filepath.Join(filepath.Dir(file), "agent.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		asked += len(meta.Asks)
		rows = append(rows, approve(t, filepath.Base(filepath.Dir(file)), recordedLines(t, lines), meta.Asks)...)
	}
	if asked == 0 {
		t.Error("the recordings ask for nothing")
	}
	for _, m := range madeAgents {
		rows = append(rows, approve(t, m.name, m.lines, []mustShow{{Line: len(m.lines), Shows: []map[string]any{{"text": m.must}}}})...)
	}
	if golden {
		compareRequests(t, rows)
	}
}

// madeAgents are orders of messages that are in no recording. The last line is the permission
// request.
var madeAgents = []struct {
	name, must string
	lines      []string
}{
	{"title of an update", "rm -rf x", []string{
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Shell","kind":"execute"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","title":"rm -rf x"}`,
		`{"toolCall":{"toolCallId":"1","title":"Run a command?"}}`,
	}},
	{"update without a call", "rm -rf x", []string{
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawInput":{"command":"rm -rf x"}}`,
		`{"toolCall":{"toolCallId":"1"}}`,
	}},
	{"content of an update", "rm -rf x", []string{
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Shell","status":"pending"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"rm -rf x"}}]}`,
		`{"toolCall":{"toolCallId":"1","content":[{"type":"content","content":{"type":"text","text":"It is safe."}}],"rawInput":{}}}`,
	}},
	{"diff before other content", "TWO", []string{
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Edit","content":[{"type":"diff","path":"/a","oldText":"two","newText":"TWO"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[],"locations":[]}`,
		`{"toolCall":{"toolCallId":"1","content":[{"type":"content","content":{"type":"text","text":"May I?"}}]}}`,
	}},
	{"members that are left out later", "rm -rf x", []string{
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Shell","rawInput":{"command":"rm -rf x","cwd":"/"}}`,
		`{"toolCall":{"toolCallId":"1","rawInput":{"command":null,"reason":"why"}}}`,
	}},
	{"arguments that are no object", "rm -rf x", []string{
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Shell","rawInput":["rm -rf x"]}`,
		`{"toolCall":{"toolCallId":"1","rawInput":{"reason":"why"}}}`,
	}},
	{"file of an update", "/etc/passwd", []string{
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Write","locations":[{"path":"/etc/passwd"}]}`,
		`{"toolCall":{"toolCallId":"1","locations":[{"path":"/tmp"}]}}`,
	}},
	{"call that was asked for before", "rm -rf x", []string{
		`{"sessionUpdate":"tool_call","toolCallId":"1","title":"Shell","rawInput":{"command":"rm -rf x"}}`,
		`{"toolCall":{"toolCallId":"1"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}`,
		`{"toolCall":{"toolCallId":"1"}}`,
	}},
}

// recordedLines returns the messages of a recorded agent about calls, in order, with "" for other lines.
func recordedLines(t *testing.T, text []byte) (list []string) {
	for line := range strings.Lines(string(text)) {
		var m struct {
			Msg struct {
				Method string
				Params json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		var n struct{ Update json.RawMessage }
		switch m.Msg.Method {
		case "session/update":
			if err := json.Unmarshal(m.Msg.Params, &n); err != nil {
				t.Fatal(err)
			}
			list = append(list, string(n.Update))
		case "session/request_permission":
			list = append(list, string(m.Msg.Params))
		default:
			list = append(list, "")
		}
	}
	return list
}

// approve plays an agent and checks its requests.
func approve(t *testing.T, name string, lines []string, asks []mustShow) (rows []shownRequest) {
	t.Helper()
	tap := &tapped{Provider: &acpagent.Provider{As: "recorded", Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		r, w := playAgent(lines)
		return r, w, nil
	}}}
	e := connectTo(t, tap, editor.Options{})
	var mu sync.Mutex
	var shown []string
	e.permit = func(params string) any {
		mu.Lock()
		defer mu.Unlock()
		var r struct {
			ToolCall json.RawMessage
			Options  []struct{ OptionID string }
		}
		if err := json.Unmarshal([]byte(params), &r); err != nil || len(r.Options) == 0 {
			t.Errorf("%s: %v: %s; want err == nil and len(r.Options) != 0", name, err, params)
			return nil
		}
		shown = append(shown, string(r.ToolCall))
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": r.Options[0].OptionID}}
	}
	e.open(t.TempDir())
	e.prompt("go")()
	requests := tap.requests()
	byLine := map[int]int{} // number of the request, by line
	for i, line := range lines {
		if strings.Contains(line, `"toolCall"`) {
			byLine[i+1] = len(byLine)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(requests) != len(byLine) || len(shown) != len(byLine) {
		t.Fatalf("%s: %d requests, the session has %d and the editor %d", name, len(byLine), len(requests), len(shown))
	}
	for _, a := range asks {
		n, ok := byLine[a.Line]
		if !ok {
			t.Fatalf("%s: line %d does not ask", name, a.Line)
		}
		for _, text := range a.texts() {
			for where, has := range map[string]string{"the event": leaves(requests[n].event), "the conversation": leaves(requests[n].prompt), "the editor": leaves(shown[n])} {
				if !strings.Contains(has, text) {
					t.Errorf("%s, line %d: %s does not show %q but\n%s", name, a.Line, where, text, has)
				}
			}
		}
		var card map[string]json.RawMessage
		if err := json.Unmarshal([]byte(requests[n].prompt), &card); err != nil {
			t.Fatal(err)
		}
		maps.DeleteFunc(card, func(name string, _ json.RawMessage) bool { return !slices.Contains(cardMembers, name) })
		rows = append(rows, shownRequest{name, a.Line, append([]string{}, a.texts()...), card})
	}
	return rows
}

// leaves returns the texts and numbers in a JSON value, except for the agent's complete request.
func leaves(text string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "not JSON: " + text
	}
	var list []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, one := range v {
				if k != "request" && k != "choices" {
					walk(one)
				}
			}
		case []any:
			for _, one := range v {
				walk(one)
			}
		default:
			list = append(list, fmt.Sprint(v))
		}
	}
	walk(v)
	return strings.Join(list, "\n")
}

// tapped records the events of a provider in the form that a server's clients get.
type tapped struct {
	agent.Provider

	mu   sync.Mutex
	list []shownPrompt
	conv event.Conversation
	seen map[string]bool
}

// shownPrompt is a request when it was asked: its message, and its form in a conversation.
type shownPrompt struct{ event, prompt string }

func (p *tapped) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, opts)
	return &tappedSession{s, p}, err
}

func (p *tapped) requests() []shownPrompt {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list
}

func (p *tapped) take(ev event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conv.Apply(ev)
	r, ok := ev.(*event.PermissionRequest)
	if !ok || p.seen[r.RequestID] {
		return
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[r.RequestID] = true
	var snapshot struct{ Prompts []json.RawMessage }
	text, err := json.Marshal(&p.conv)
	if err == nil {
		err = json.Unmarshal(text, &snapshot)
	}
	if err != nil || len(snapshot.Prompts) == 0 {
		p.list = append(p.list, shownPrompt{event: fmt.Sprint(err), prompt: "null"})
		return
	}
	whole := event.Encoded([]any{r.ToolName, r.DisplayName, r.Input, r.Content, r.Locations})
	p.list = append(p.list, shownPrompt{string(whole), string(snapshot.Prompts[len(snapshot.Prompts)-1])})
}

type tappedSession struct {
	agent.Session
	p *tapped
}

func (s *tappedSession) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev, err := range s.Session.Events(ctx) {
			if err == nil {
				s.p.take(ev)
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// playAgent runs an agent that sends these updates and requests in its first turn.
func playAgent(lines []string) (io.ReadCloser, io.WriteCloser) {
	fromClient, toAgent := io.Pipe()
	fromAgent, toClient := io.Pipe()
	var conn *jsonrpc.Conn
	ready := make(chan struct{})
	conn = jsonrpc.New(fromClient, toClient, jsonrpc.Options{Handle: func(ctx context.Context, m *jsonrpc.Message) (any, error) {
		<-ready
		switch m.Method {
		case "initialize":
			return map[string]any{"protocolVersion": 1}, nil
		case "session/new":
			return map[string]any{"sessionId": "s"}, nil
		}
		for _, line := range lines {
			var err error
			switch {
			case strings.Contains(line, `"toolCall"`):
				var params map[string]any
				if err = json.Unmarshal([]byte(line), &params); err == nil {
					if params["options"] == nil {
						params["options"] = []any{map[string]string{"optionId": "yes", "name": "Yes", "kind": "allow_once"}}
					}
					params["sessionId"] = "s"
					_, err = conn.Call(ctx, "session/request_permission", params)
				}
			case line != "":
				err = conn.Notify(ctx, "session/update", map[string]any{"sessionId": "s", "update": json.RawMessage(line)})
			}
			if err != nil {
				return nil, err
			}
		}
		return map[string]any{"stopReason": "end_turn"}, nil
	}})
	close(ready)
	return fromAgent, toAgent
}

// compareRequests compares the requests with those that the tests of the page read.
func compareRequests(t *testing.T, rows []shownRequest) {
	t.Helper()
	var out bytes.Buffer
	for i := range rows {
		line, err := json.Marshal(rows[i])
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString([]string{"[\n", ",\n"}[min(i, 1)])
		out.Write(line)
	}
	out.WriteString("\n]\n")
	const file = "../../testdata/acp-agents/requests.json"
	if *updateRequests {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("requests.json (run with -update):\n%s", diff)
	}
}
