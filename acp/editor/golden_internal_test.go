package editor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/test/golden"
)

// checkParts compares with a golden file, which -update writes.
func checkParts(t *testing.T, parts golden.Parts, path string) {
	t.Helper()
	f := flag.Lookup("update")
	parts.Check(t, path, f != nil && f.Value.String() == "true")
}

// toolInputs are inputs of tools: without members, with each single member, and with all members.
var toolInputs = map[string][]string{
	"Bash": {`{}`, `{"command":"ls"}`, `{"command":"ls","description":"Lists"}`},
	"Read": {
		`{}`, `{"file_path":"/d/a"}`, `{"file_path":"/d"}`, `{"file_path":"/other/a"}`, `{"file_path":"/"}`, `{"file_path":"/d/..x"}`, `{"file_path":"sub/a"}`,
		`{"file_path":"/d/a","offset":1}`, `{"file_path":"/d/a","offset":5}`, `{"file_path":"/d/a","limit":1}`, `{"file_path":"/d/a","offset":5,"limit":3}`, `{"file_path":"/d/a","offset":0,"limit":0}`,
	},
	"Edit":  {`{}`, `{"file_path":"/d/a"}`, `{"file_path":"a","old_string":"x","new_string":""}`, `{"new_string":"y"}`},
	"Write": {`{}`, `{"file_path":"/d/a"}`, `{"file_path":"/d/a","content":""}`, `{"file_path":"b","content":"x"}`, `{"content":"x"}`},
	"Glob":  {`{}`, `{"pattern":"*.go"}`, `{"path":"/d/sub"}`, `{"path":"/d/sub","pattern":"*.go"}`},
	"Grep": {
		`{}`, `{"pattern":"x"}`, `{"-i":true}`, `{"-n":true}`, `{"-i":false,"-n":false,"-A":0,"-B":0,"-C":0}`, `{"-A":1}`, `{"-B":1}`, `{"-C":1}`,
		`{"output_mode":"content"}`, `{"output_mode":"files_with_matches"}`, `{"output_mode":"count"}`, `{"glob":"*.go"}`, `{"path":"/d/sub"}`, `{"-i":true,"-C":2,"glob":"*.ts","pattern":"a\"b","path":"/x"}`,
	},
	"WebFetch":  {`{}`, `{"url":"https://x"}`, `{"prompt":"What?"}`, `{"url":"https://x","prompt":"What?"}`},
	"WebSearch": {`{}`, `{"query":"q"}`},
	"Agent":     {`{}`, `{"description":"Looks"}`, `{"prompt":"Look"}`},
	"Task":      {`{"description":"Looks","prompt":"Look"}`},
	"fileChange": {
		`{}`, `{"changes":[{"path":"a","kind":{"type":"add"},"diff":"new\n"}]}`, `{"changes":[{"path":"a","kind":{"type":"delete"},"diff":"old\n"}]}`,
		`{"changes":[{"path":"a","kind":{"type":"update","move_path":"b"},"diff":"@@ -1 +1 @@\n-x\n+y\n@@ -9 +9 @@\n z\n"},{"diff":"nowhere"}]}`,
	},
	"ExitPlanMode": {`{}`, `{"plan":"First"}`}, "AskUserQuestion": {`{}`, `{"questions":[{"question":"Why?"}]}`}, "EnterPlanMode": {`{}`}, "Other": {`{"a":1}`}, "": {`{}`},
}

// A call of each tool is described by its input, and paths below the directory of the session are relative.
func TestViewOf(t *testing.T) {
	parts := golden.Parts{}
	for name := range views {
		if len(toolInputs[name]) == 0 {
			t.Errorf("the tool %s has no inputs in this test", name)
		}
	}
	for name, inputs := range toolInputs {
		var out strings.Builder
		for _, in := range inputs {
			for _, dir := range []string{"/d", ""} {
				v := viewOf(name, event.JSON(in), dir)
				out.WriteString(golden.Line(t, dir+" "+in, []any{v.title, v.kind, v.content, v.locations}))
			}
		}
		parts["tool "+name] = out.String()
	}
	checkParts(t, parts, "testdata/views.txt")
}

// asked is an agent that records the answers which it receives and refuses some of them.
type asked struct {
	agent.Session
	mu     sync.Mutex
	out    *strings.Builder
	t      *testing.T
	refuse []error // errors for the answers, in order
}

func (a *asked) Answer(_ context.Context, id string, answer agent.Answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out.WriteString(golden.Line(a.t, fmt.Sprintf("answer %s %T", id, answer), answer))
	if len(a.refuse) == 0 {
		return nil
	}
	err := a.refuse[0]
	a.refuse = a.refuse[1:]
	return err
}

// asking sends a request of the agent to a client that answers with the given JSON texts in order.
// It returns the requests to the client and the answers to the agent. The text "error" stands for
// an error response; without texts the client does not answer.
func asking(t *testing.T, ev event.Event, caps string, version int64, refuse []error, answers ...string) string {
	t.Helper()
	p := newPeer(t)
	var out strings.Builder
	live := &asked{t: t, out: &out, refuse: refuse}
	p.mu.Lock()
	p.handle = func(m *jsonrpc.Message) (any, error) {
		live.mu.Lock()
		defer live.mu.Unlock()
		out.WriteString(golden.Line(t, "asks "+m.Method, json.RawMessage(m.Params)))
		if len(answers) == 0 || answers[0] == "error" {
			return nil, errors.New("the client fails")
		}
		a := answers[0]
		answers = answers[1:]
		return json.RawMessage(a), nil
	}
	p.mu.Unlock()
	if err := json.Unmarshal([]byte(caps), p.srv.client); err != nil {
		t.Fatal(err)
	}
	p.srv.version = version
	s := newSession(p.srv, "s", agent.Options{Dir: "/d"})
	s.config.modes = []string{"default", "plan", "acceptEdits"}
	s.event(live, ev)
	done := make(chan struct{})
	go func() {
		p.srv.work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("the request has no answer after 10 s:\n%s", out.String())
	}
	if len(s.asks) > 0 {
		t.Errorf("%d requests are open after the answer, want none", len(s.asks))
	}
	if s.config.mode != "" {
		out.WriteString("mode " + s.config.mode + "\n")
	}
	return out.String()
}

// A question of the agent is shown in a form that the client supports, and the answer reaches the agent under the name
// of the question. A question that the client cannot show or does not answer is declined.
func TestQuestion(t *testing.T) {
	const forms, links = `{"elicitation":{"form":{}}}`, `{"elicitation":{"url":{}}}`
	red := []event.QuestionOption{{Label: "Red", Description: "warm"}, {Label: "Blue"}}
	ask := func(list ...event.Question) *event.QuestionRequest {
		return &event.QuestionRequest{Kind: event.QuestionAsk, RequestID: "r", ToolUseID: "t", Questions: list}
	}
	one := ask(event.Question{Question: "Which?", Header: "Colour", Options: red})
	many := ask(event.Question{ID: "q1", Question: "Which?", Header: "Colour", Options: red, MultiSelect: true}, event.Question{Question: "Why?"}, event.Question{Question: "Who?", Options: red})
	form := &event.QuestionRequest{Kind: event.QuestionElicitation, RequestID: "r", Message: "Fill in", Mode: "form", Schema: `{"type":"object","properties":{"a":{"type":"string"}}}`}
	broken := &event.QuestionRequest{Kind: event.QuestionElicitation, RequestID: "r", Message: "Fill in", Schema: `[]`}
	link := &event.QuestionRequest{Kind: event.QuestionElicitation, RequestID: "r", Message: "Go there", Mode: "url", URL: "https://x", Data: `{"elicitation_id":"e"}`}
	const selected, rejected = `{"outcome":{"outcome":"selected","optionId":"answer-1"}}`, `{"outcome":{"outcome":"selected","optionId":"reject"}}`
	parts := golden.Parts{}
	for name, c := range map[string]struct {
		ev      *event.QuestionRequest
		caps    string
		answers []string
	}{
		"form":                    {one, forms, []string{`{"action":"accept","content":{"question_0":"Red"}}`}},
		"form, own answer":        {one, forms, []string{`{"action":"accept","content":{"question_0":"Red","question_0_custom":" dark "}}`}},
		"form, only own":          {one, forms, []string{`{"action":"accept","content":{"question_0":"","question_0_custom":"dark"}}`}},
		"form, blank":             {one, forms, []string{`{"action":"accept","content":{"question_0_custom":"  "}}`}},
		"form, no content":        {one, forms, []string{`{"action":"accept"}`}},
		"form, strange content":   {one, forms, []string{`{"action":"accept","content":[1]}`}},
		"form, declined":          {one, forms, []string{`{"action":"decline"}`}},
		"form, no object":         {one, forms, []string{`[]`}},
		"form, failed":            {one, forms, []string{"error"}},
		"form of several":         {many, forms, []string{`{"action":"accept","content":{"question_0":["Red","Blue"],"question_0_custom":"Green","question_1_custom":"Because","question_2":"Blue"}}`}},
		"form for links":          {one, links, []string{selected}},
		"no forms":                {one, `{}`, []string{selected}},
		"no forms, rejected":      {one, `{}`, []string{rejected}},
		"no forms, cancelled":     {one, `{}`, []string{`{"outcome":{"outcome":"cancelled"}}`}},
		"no forms, failed":        {one, `{}`, []string{"error"}},
		"no forms, several":       {many, `{}`, []string{selected}},
		"no forms, no options":    {ask(event.Question{Question: "Why?"}), `{}`, nil},
		"no forms, no questions":  {ask(), `{}`, nil},
		"elicitation":             {form, forms, []string{`{"action":"accept","content":{"a":"b"}}`}},
		"elicitation, declined":   {form, forms, []string{`{"action":"decline"}`}},
		"elicitation, failed":     {form, forms, []string{"error"}},
		"elicitation, not shown":  {form, links, nil},
		"elicitation, no schema":  {broken, forms, nil},
		"link":                    {link, links, []string{`{"action":"accept"}`}},
		"link, not shown":         {link, forms, nil},
		"an option not offered":   {one, `{}`, []string{`{"outcome":{"outcome":"selected","optionId":"other"}}`}},
		"an answer without sense": {one, `{}`, []string{`7`}},
	} {
		parts[name] = asking(t, c.ev, c.caps, 1, nil, c.answers...)
	}
	checkParts(t, parts, "testdata/questions.txt")
}

// A request for permission contains everything known about the call. The option that the client selects is the answer; any other response
// refuses.
func TestPermission(t *testing.T) {
	pick := func(id string) string { return `{"outcome":{"outcome":"selected","optionId":"` + id + `"}}` }
	bash := &event.PermissionRequest{RequestID: "r", ToolUseID: "t", ToolName: "Bash", Input: `{"command":"ls"}`, BlockedPath: "sub/a"}
	nameless := &event.PermissionRequest{RequestID: "r", ToolName: "Odd", Input: `{}`, Request: `{"odd":1}`}
	plan := &event.PermissionRequest{Kind: event.PermissionPlan, RequestID: "r", ToolUseID: "t", ToolName: "ExitPlanMode", Input: `{"plan":"First"}`}
	own := &event.PermissionRequest{RequestID: "r", ToolUseID: "t", ToolName: "x", Content: `[{"type":"text","text":"shown"}]`, Choices: []event.Choice{
		{ID: "a", Label: "A", Behavior: event.ResolvedAllow, Scope: event.ScopeOnce}, {ID: "b", Label: "B", Behavior: event.ResolvedAllow, Scope: event.ScopeSession},
		{ID: "c", Label: "C", Behavior: event.ResolvedDeny, Scope: event.ScopeOnce}, {ID: "d", Label: "D", Behavior: event.ResolvedDeny, Scope: event.ScopeAlways},
	}}
	edits := &event.PermissionRequest{RequestID: "r", ToolUseID: "t", ToolName: "Edit", Suggestions: []event.Suggestion{
		{Kind: event.SuggestMode, Mode: "acceptEdits", Update: `{"type":"setMode"}`}, {Kind: event.SuggestRules, Label: "Always allow x", Update: `{"type":"addRules","n":1}`},
		{Kind: event.SuggestRules, Update: `{"type":"addRules","n":2}`}, {Kind: event.SuggestRules},
	}}
	parts := golden.Parts{}
	for name, c := range map[string]struct {
		ev      *event.PermissionRequest
		version int64
		refuse  []error
		answers []string
	}{
		"once":                       {bash, 1, nil, []string{pick(optionAllow)}},
		"once, version 2":            {bash, 2, nil, []string{pick(optionAllow)}},
		"always":                     {bash, 1, nil, []string{pick(optionAlways)}},
		"refused":                    {bash, 1, nil, []string{pick(optionReject)}},
		"cancelled":                  {bash, 1, nil, []string{`{"outcome":{"outcome":"cancelled"}}`}},
		"not offered":                {bash, 1, nil, []string{pick("all")}},
		"without sense":              {bash, 1, nil, []string{`7`}},
		"failed":                     {bash, 1, nil, []string{"error"}},
		"without a call":             {nameless, 1, nil, []string{pick(optionAllow)}},
		"plan":                       {plan, 1, nil, []string{pick("exit-plan-accept-edits")}},
		"plan, failed":               {plan, 1, nil, []string{"error"}},
		"own, once":                  {own, 1, nil, []string{pick("a")}},
		"own, session":               {own, 1, nil, []string{pick("b")}},
		"own, refused":               {own, 1, nil, []string{pick("c")}},
		"own, refused always":        {own, 1, nil, []string{pick("d")}},
		"suggestions":                {edits, 1, nil, []string{pick("allow-with-updates-3")}},
		"agent takes no such answer": {bash, 1, []error{agent.ErrInvalid}, []string{pick(optionAllow)}},
		"agent takes no such plan":   {plan, 1, []error{agent.ErrInvalid}, []string{pick("exit-plan-default")}},
		"answered meanwhile":         {bash, 1, []error{agent.ErrNotOpen}, []string{pick(optionAllow)}},
		"agent is gone":              {bash, 1, []error{agent.ErrClosed}, []string{pick(optionAllow)}},
	} {
		parts[name] = asking(t, c.ev, `{}`, c.version, c.refuse, c.answers...)
	}
	question := &event.QuestionRequest{Kind: event.QuestionAsk, RequestID: "r", Questions: []event.Question{{Question: "Why?"}}}
	link := &event.QuestionRequest{Kind: event.QuestionElicitation, RequestID: "r", Mode: "url"}
	parts["agent takes no such answer to a question"] = asking(t, question, `{"elicitation":{"form":{}}}`, 1, []error{agent.ErrInvalid}, `{"action":"accept","content":{"question_0":"x"}}`)
	parts["agent takes no such elicitation"] = asking(t, link, `{"elicitation":{"url":{}}}`, 1, []error{agent.ErrInvalid}, `{"action":"accept"}`)
	checkParts(t, parts, "testdata/permissions.txt")
}

// Each option of the official SDK sets exactly the corresponding option of the agent. An unknown option is logged.
func TestClaudeOptions(t *testing.T) {
	for _, c := range []struct{ meta, want string }{
		{`{"model":"a"}`, `Model a`}, {`{"fallbackModel":"a"}`, `FallbackModel a`}, {`{"permissionMode":"plan"}`, `Mode plan`}, {`{"maxTurns":3}`, `MaxTurns 3`}, {`{"maxBudgetUsd":1.5}`, `MaxBudgetUSD 1.5`},
		{`{"maxThinkingTokens":9}`, `Thinking 9`}, {`{"allowedTools":["a"]}`, `AllowedTools [a]`}, {`{"disallowedTools":["a"]}`, `DisallowedTools [a]`},
		{`{"additionalDirectories":["/a"]}`, `AdditionalDirectories [/a]`}, {`{"settingSources":["user"]}`, `SettingSources [user]`}, {`{"mcpServers":{"a":{}}}`, `MCPServers {"a":{}}`},
		{`{"agents":{"a":{}}}`, `Agents {"a":{}}`}, {`{"systemPrompt":"a"}`, `SystemPrompt a`}, {`{"systemPrompt":{"type":"preset","append":"a"}}`, `AppendSystemPrompt a`},
		{`{"systemPrompt":[]}`, "invalid"}, {`{"model":7}`, "invalid"}, {`{"cwd":"/"}`, "logged"}, {`{}`, ""}, {`[]`, "invalid"}, {`{"model":"a","zeal":1,"maxTurns":2}`, "Model a MaxTurns 2 logged"},
	} {
		var log bytes.Buffer
		var o agent.Options
		err := claudeOptions(&o, map[string]json.RawMessage{"claudeCode": json.RawMessage(`{"options":` + c.meta + `}`)}, slog.New(slog.NewTextHandler(&log, nil)))
		var got []string
		for i, v := range reflect.ValueOf(o).Fields() {
			if v.IsZero() {
				continue
			}
			if v.Kind() == reflect.Pointer {
				v = v.Elem()
			}
			if raw, ok := v.Interface().(json.RawMessage); ok {
				v = reflect.ValueOf(string(raw))
			}
			got = append(got, fmt.Sprintf("%s %v", i.Name, v))
		}
		if errors.Is(err, agent.ErrInvalid) {
			got = append(got, "invalid")
		} else if err != nil {
			t.Errorf("%s: %v, want none or %v", c.meta, err, agent.ErrInvalid)
		}
		if strings.Contains(log.String(), "is not supported") {
			got = append(got, "logged")
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s sets %q, want %q", c.meta, text, c.want)
		}
	}
	for meta, want := range map[string]error{"": nil, `{}`: nil, `[]`: agent.ErrInvalid} {
		var o agent.Options
		if err := claudeOptions(&o, map[string]json.RawMessage{"claudeCode": json.RawMessage(meta)}, slog.New(slog.DiscardHandler)); !errors.Is(err, want) {
			t.Errorf("claudeCode %q: %v, want %v", meta, err, want)
		}
	}
}

// The mode and the commands of an agent reach the client once, in both forms; internal commands do not.
func TestConfigEvents(t *testing.T) {
	text := func(s string) *string { return &s }
	c := config{modes: []string{"default", "plan"}, mode: "default"}
	var out strings.Builder
	for _, ev := range []event.Event{
		&event.Status{PermissionMode: "plan"}, &event.Status{PermissionMode: "plan"}, &event.Status{}, &event.SystemInit{PermissionMode: "default"},
		&event.SessionInfo{PermissionMode: text("own")}, &event.SessionInfo{PermissionMode: text("own"), Title: text("x")},
		&event.SessionInfo{Commands: `["/go",{"name":"stop","description":"stops","argumentHint":"when"},"__own","heapdump","workflow-launch-exec","",{"name":""}]`},
		&event.SessionInfo{Commands: `["go",{"name":"stop","description":"stops","argumentHint":"when"}]`}, &event.SessionInfo{Commands: `[]`}, &event.SessionInfo{Commands: `["a"]`, PermissionMode: text("plan")},
	} {
		out.WriteString(golden.Line(t, "event", ev))
		for _, u := range c.event(ev, Features{}) {
			out.WriteString(golden.Line(t, "update", u))
		}
	}
	none := config{}
	if got := none.event(&event.Status{PermissionMode: "plan"}, Features{}); got != nil || none.mode != "" {
		t.Errorf("an agent without modes: updates %v and the mode %q, want none", got, none.mode)
	}
	checkParts(t, golden.Parts{"events": out.String()}, "testdata/config_events.txt")
}

// Every error of the agent is sent with the corresponding code of the protocol.
func TestWireError(t *testing.T) {
	own := &jsonrpc.Error{Code: 7, Message: "own"}
	for err, want := range map[error]int64{
		agent.ErrNotFound: acp.CodeResourceNotFound, agent.ErrInvalid: jsonrpc.CodeInvalidParams, agent.ErrAuth: acp.CodeAuthRequired, agent.ErrUnsupported: jsonrpc.CodeMethodNotFound,
		errors.New("broken"): jsonrpc.CodeInternal, own: 7, context.Canceled: 0,
	} {
		wrapped := fmt.Errorf("outer: %w", err)
		got, code := wireError(wrapped), int64(0)
		if e, ok := errors.AsType[*jsonrpc.Error](got); ok {
			code = e.Code
			if code != 7 && e.Message != wrapped.Error() {
				t.Errorf("%v has the message %q, want %q", err, e.Message, wrapped)
			}
		}
		if code != want || want == 0 && got != wrapped {
			t.Errorf("%v becomes %v with the code %d, want %d", err, got, code, want)
		}
	}
}
