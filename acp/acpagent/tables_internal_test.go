package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// All members of an MCP server reach the agent, in the order of the names; an unknown type is an
// error.
func TestClientServers(t *testing.T) {
	for raw, want := range map[string]string{
		``:   `[]`,
		`{}`: `[]`,
		`{"b":{"command":"c","args":["x","y"],"env":{"L":"2","K":"1"}},"a":{"type":"stdio","command":"d"}}`: `[{"name":"a","command":"d","args":[],"env":[]},` +
			`{"name":"b","command":"c","args":["x","y"],"env":[{"name":"K","value":"1"},{"name":"L","value":"2"}]}]`,
		`{"h":{"type":"http","url":"https://h","headers":{"B":"2","A":"1"}}}`: `[{"type":"http","headers":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"name":"h","url":"https://h"}]`,
		`{"s":{"type":"sse","url":"https://s","headers":{"A":"1"}}}`:          `[{"type":"sse","headers":[{"name":"A","value":"1"}],"name":"s","url":"https://s"}]`,
		`{"s":{"type":"sse","url":"https://s"}}`:                              `[{"type":"sse","headers":[],"name":"s","url":"https://s"}]`,
		`{"p":{"type":"pigeon"}}`:                                             "pigeon",
		`[]`:                                                                  "the MCP servers",
	} {
		list, err := clientServers(json.RawMessage(raw))
		if !strings.HasPrefix(want, "[") {
			if !errors.Is(err, agent.ErrInvalid) || !strings.Contains(err.Error(), want) || list != nil {
				t.Errorf("%s: %v, %v; want %v with %q", raw, list, err, agent.ErrInvalid, want)
			}
			continue
		}
		var got, expected any
		text, marshal := json.Marshal(list)
		if err != nil || marshal != nil || json.Unmarshal(text, &got) != nil || json.Unmarshal([]byte(want), &expected) != nil || fmt.Sprint(got) != fmt.Sprint(expected) {
			t.Errorf("%s: %s, %v; want %s", raw, text, err, want)
		}
	}
}

// An invalid request is answered with an error and its code for every agent; files and terminals
// are only available to agents on this machine.
func TestHandle_errors(t *testing.T) {
	for method, want := range map[string][2]int64{ // the codes on this machine, and on another one
		acp.MethodSessionRequestPermission: {jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidParams}, acp.MethodElicitationCreate: {jsonrpc.CodeInvalidParams, jsonrpc.CodeInvalidParams},
		acp.MethodFsReadTextFile: {jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound}, acp.MethodFsWriteTextFile: {jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound},
		acp.MethodTerminalCreate: {jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound}, acp.MethodTerminalOutput: {jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound},
		acp.MethodTerminalKill: {jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound}, acp.MethodTerminalRelease: {jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound},
		acp.MethodTerminalWaitForExit: {jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound}, "session/dance": {jsonrpc.CodeMethodNotFound, jsonrpc.CodeMethodNotFound},
	} {
		for i, p := range []*Provider{{}, {Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) { return nil, nil, nil }}} {
			s := newSession(p, t.TempDir(), agent.Options{})
			result, err := s.handle(t.Context(), &jsonrpc.Message{Method: method, Params: `{"sessionId":7}`})
			if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != want[i] || result != nil {
				t.Errorf("%s of an agent %s: %v, %v; want the code %d", method, []string{"here", "elsewhere"}[i], result, err, want[i])
			}
			s.kit.End(nil, nil)
		}
	}
	s := newSession(&Provider{}, t.TempDir(), agent.Options{})
	s.kit.Stop(nil)
	s.kit.End(agent.ErrClosed, nil)
	permission := &jsonrpc.Message{Method: acp.MethodSessionRequestPermission, Params: `{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}`}
	if result, err := s.handle(t.Context(), permission); !errors.Is(err, jsonrpc.ErrClosed) || result != nil {
		t.Errorf("a request after the end: %v, %v; want %v", result, err, jsonrpc.ErrClosed)
	}
	plan := &agent.PlanAnswer{Approve: true, Plan: "another"}
	if _, _, err := s.respond(nil, nil, plan); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("a changed plan: %v, want %v", err, agent.ErrInvalid)
	}
}

// A read returns a number of lines from a given line.
func TestSomeLines(t *testing.T) {
	for _, c := range []struct {
		text        string
		from, limit int64
		want        string
	}{
		{"1\n2\n3", 1, 0, "1\n2\n3"}, {"1\n2\n3", 2, 0, "2\n3"}, {"1\n2\n3", 2, 1, "2\n"}, {"1\n2\n3", 3, 5, "3"}, {"1\n2\n3", 4, 1, ""}, {"1\n2\n3", 0, 2, "1\n"}, {"", 1, 1, ""}, {"1\n2\n", 1, -1, "1\n2\n"},
	} {
		if got := someLines(c.text, c.from, c.limit); got != c.want {
			t.Errorf("%q from line %d, %d lines: %q, want %q", c.text, c.from, c.limit, got, c.want)
		}
	}
}

// noted is a store of unsaved texts that records its calls.
type noted struct{ calls []string }

func (n *noted) Before(_ context.Context, path string) {
	n.calls = append(n.calls, "before "+filepath.Base(path))
}
func (n *noted) After(_ context.Context, path string) {
	n.calls = append(n.calls, "after "+filepath.Base(path))
}

// A read first asks the editor for unsaved text, and a write reports the new text. Only regular
// files are read and written.
func TestFiles_unsaved(t *testing.T) {
	dir, extra := t.TempDir(), t.TempDir()
	files := &noted{}
	s := newSession(&Provider{}, dir, agent.Options{Files: files, AdditionalDirectories: []string{extra}})
	defer s.kit.End(nil, nil)
	call := func(method, path, content string) (string, error) {
		params, err := json.Marshal(map[string]any{"sessionId": "s", "path": path, "content": content})
		if err != nil {
			t.Fatal(err)
		}
		result, err := s.handle(t.Context(), &jsonrpc.Message{Method: method, Params: string(params)})
		if r, ok := result.(*acp.ReadTextFileResponse); ok {
			return r.Content, err
		}
		return "", err
	}
	const read, write = acp.MethodFsReadTextFile, acp.MethodFsWriteTextFile
	for _, c := range []struct{ method, path, content, want, err string }{
		{write, filepath.Join(dir, "a"), "long text", "", ""}, {write, filepath.Join(dir, "a"), "x", "", ""}, {read, filepath.Join(dir, "a"), "", "x", ""},
		{write, filepath.Join(extra, "sub", "b"), "y", "", ""}, {read, filepath.Join(extra, "sub", "b"), "", "y", ""},
		{read, dir, "", "", "not a regular file"}, {write, extra, "x", "", "is a directory"}, {read, filepath.Join(dir, "none"), "", "", "Resource not found"},
		{write, filepath.Join(dir, "a", "b"), "x", "", "file exists"}, {read, filepath.Join(dir, "a", "b"), "", "", "not a directory"}, {read, filepath.Dir(dir), "", "", "outside"},
	} {
		got, err := call(c.method, c.path, c.content)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s %s: %q, %v; want %q, %q", c.method, c.path, got, err, c.want, c.err)
		}
	}
	base := filepath.Base
	want := []string{"after a", "after a", "before a", "after b", "before b", "before " + base(dir), "before none", "before b", "before " + base(filepath.Dir(dir))}
	if fmt.Sprint(files.calls) != fmt.Sprint(want) {
		t.Errorf("the unsaved texts were used %q, want %q", files.calls, want)
	}
}

// A terminal keeps the end of a command's output, up to the limit. The kept part never begins
// inside a character.
func TestTerminal_write(t *testing.T) {
	const text = "aé界\U0001f600b"
	for limit := range len(text) + 2 {
		for piece := 1; piece <= len(text); piece++ {
			term := &terminal{limit: limit}
			for i := 0; i < len(text); i += piece {
				term.write([]byte(text[i:min(i+piece, len(text))]))
			}
			got := string(term.output)
			want := text[max(0, len(text)-limit):]
			for want != "" && !utf8.RuneStart(want[0]) {
				want = want[1:]
			}
			if got != want || term.cut != (limit < len(text)) {
				t.Errorf("limit %d in pieces of %d: %q, cut %v; want %q, %v", limit, piece, got, term.cut, want, limit < len(text))
			}
		}
	}
}

// The number of terminals of an agent is limited, and each has a unique id. A terminal that cannot start, or is
// requested after the end, has no id.
func TestTerminals_bound(t *testing.T) {
	var l terminals
	done := make(chan struct{})
	close(done)
	broken := errors.New("broken")
	if id, err := l.add(&terminal{done: done}, "", func(string) error { return broken }); !errors.Is(err, broken) || id != "" || len(l.byID) != 0 {
		t.Errorf("a command that does not start has the terminal %q and the error %v, want none and %v", id, err, broken)
	}
	for i := 1; i <= maxTerminals; i++ {
		if id, err := l.add(&terminal{done: done}, "", func(string) error { return nil }); err != nil || id != "terminal-"+strconv.Itoa(i) {
			t.Fatalf("terminal %d is %q, %v", i, id, err)
		}
	}
	start := func(string) error { t.Error("it is started"); return nil }
	refused := func(when string) {
		t.Helper()
		if e, ok := errors.AsType[*jsonrpc.Error](func() error { _, err := l.add(&terminal{done: done}, "", start); return err }()); !ok || e.Code != jsonrpc.CodeOverloaded {
			t.Errorf("%s: %v, want the code %d", when, e, jsonrpc.CodeOverloaded)
		}
	}
	refused("one too many")
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	refused("after the end")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(broken)
	l.byID = map[string]*terminal{"t": {done: make(chan struct{})}}
	if _, err := l.serve(ctx, acp.MethodTerminalWaitForExit, "t"); !errors.Is(err, broken) {
		t.Errorf("a wait that is given up: %v, want %v", err, broken)
	}
}

// The usage of a turn comes from its answer, otherwise from the answer's extension, otherwise from the sum of its
// chunks, in every spelling.
func TestTokens(t *testing.T) {
	usage := func(in, out, read, write int) event.JSON {
		return event.JSON(fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}`, in, out, read, write))
	}
	chunks := []string{`{"inputTokens":1,"outputTokens":2,"cachedReadTokens":3,"cachedWriteTokens":4}`, `{"input_tokens":10,"output_tokens":20}`, `{"inputTokens":"x"}`, `7`, ``}
	for name, c := range map[string]struct {
		chunks []string
		answer string
		want   event.JSON
	}{
		"none":   {nil, `{"stopReason":"end_turn"}`, ""},
		"chunks": {chunks, `{"stopReason":"end_turn"}`, usage(11, 22, 3, 4)},
		"quota":  {chunks, `{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":5,"output_tokens":6}}}}`, usage(5, 6, 0, 0)},
		"answer": {chunks, `{"stopReason":"end_turn","usage":{"inputTokens":5,"outputTokens":6,"cachedReadTokens":7,"cachedWriteTokens":8,"totalTokens":26},"_meta":{"quota":{"token_count":{"input_tokens":1}}}}`, usage(5, 6, 7, 8)},
	} {
		var sum tokens
		for _, one := range c.chunks {
			sum.add(map[string]json.RawMessage{"usage": json.RawMessage(one)})
		}
		var answer acp.PromptResponse
		if err := json.Unmarshal([]byte(c.answer), &answer); err != nil {
			t.Fatal(err)
		}
		if got := sum.of(&answer); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The login methods come from the error, otherwise from the agent. Each has its own command, otherwise that of the
// provider.
func TestLoginMethods(t *testing.T) {
	const (
		web      = `{"id":"web","name":"Web","description":"In the browser"}`
		terminal = `{"id":"t","name":"T","type":"terminal","args":["login"]}`
		meta     = `{"id":"m","name":"M","description":"M","_meta":{"type":"terminal","args":["in"]}}`
		command  = `{"id":"c","name":"C","_meta":{"terminal-auth":{"command":"c","args":["x"]},"type":"terminal"}}`
	)
	for name, c := range map[string]struct {
		agent, err string
		own        []string
		want       string
	}{
		"none":              {"", "", nil, "agent: not logged in: why; log in with the agent's own program"},
		"of the agent":      {web + "," + terminal + "," + meta + "," + command, "", []string{"own"}, "agent: not logged in: why; ways to log in to The X: Web (In the browser); T: run x --acp login; M: run x --acp in; C: run c x"},
		"of the error":      {web, `{"authMethods":[` + terminal + `]}`, nil, "agent: not logged in: why; ways to log in to The X: T: run x --acp login"},
		"none of the error": {web, `{"authMethods":[]}`, []string{"own", "login"}, "agent: not logged in: why; ways to log in to The X: Web (In the browser); In a terminal: run own login"},
		"strange error":     {web, `7`, nil, "agent: not logged in: why; ways to log in to The X: Web (In the browser)"},
	} {
		s := &Session{provider: &Provider{Command: []string{"x", "--acp"}, LoginCommand: c.own}}
		if err := json.Unmarshal([]byte(`{"protocolVersion":1,"agentInfo":{"name":"x","title":"The X","version":"1"},"authMethods":[`+c.agent+`]}`), &s.hello); err != nil {
			t.Fatal(err)
		}
		err := s.translate(&jsonrpc.Error{Code: acp.CodeAuthRequired, Message: "why", Data: json.RawMessage(c.err)})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// The text of an error is its message, the innermost one if it is JSON, followed by the details that the
// message lacks.
func TestReasonOf(t *testing.T) {
	for _, c := range []struct{ message, data, want string }{
		{"m", "", "m"}, {"m", `"more"`, "m: more"}, {"m more", `"more"`, "m more"}, {"m", `{"details":"d","message":"e","reason":"f"}`, "m: d: e: f"}, {"m", `7`, "m"}, {"m", `{"details":""}`, "m"},
		{`{"error":{"message":"in"}}`, "", "in"}, {`{"message":"in"}`, "", "in"}, {`{"message":"{\"error\":{\"message\":\"deep\"},\"message\":\"other\"}"}`, "", "deep"}, {`{"other":1}`, "", `{"other":1}`},
	} {
		if got := reasonOf(&jsonrpc.Error{Message: c.message, Data: json.RawMessage(c.data)}); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.message, c.data, got, c.want)
		}
	}
}

// The session keeps the last output lines that are not messages, shortened and without terminal codes.
func TestStray(t *testing.T) {
	for line, want := range map[string]string{
		"plain": "plain", " \x1b[2J\x1b[31mred\x1b[0m\a ": "red", "\x1b[?25l": "", "a\x1bcb": "ab", "x\x7fy\tz": "xyz", "\x1b[1~q": "q", "é\x1b[@ü": "éü",
	} {
		if got := plain(line); got != want {
			t.Errorf("plain(%q) = %q, want %q", line, got, want)
		}
	}
	s := newSession(&Provider{}, t.TempDir(), agent.Options{})
	defer s.kit.End(nil, nil)
	s.stray("an answer", &jsonrpc.Message{}, nil)
	s.stray("\x1b[2J", nil, nil)
	for i := range maxPrinted + 5 {
		s.stray(strconv.Itoa(i)+strings.Repeat("x", 600), nil, nil)
	}
	got := s.strays()
	if len(got) != maxPrinted || !strings.HasPrefix(got[0], "5x") || !strings.HasPrefix(got[maxPrinted-1], strconv.Itoa(maxPrinted+4)+"x") || len(got[0]) != 500 {
		t.Errorf("%d lines are kept, the first %.5q… of %d bytes, want %d from the line 5 on of 500 bytes", len(got), got[0], len(got[0]), maxPrinted)
	}
}

// The agent's environment is that of the options, or else that of this process, followed by the variables of the
// provider.
func TestSession_env(t *testing.T) {
	t.Setenv("OF_THE_PROCESS", "1")
	for _, c := range []struct {
		env  []string
		want bool
	}{{nil, true}, {[]string{"A=1"}, false}, {[]string{}, false}} {
		s := newSession(&Provider{Env: []string{"B=2"}}, t.TempDir(), agent.Options{Env: c.env})
		s.kit.End(nil, nil)
		text := strings.Join(s.env, "|")
		if strings.Contains(text, "OF_THE_PROCESS=1") != c.want || !strings.HasSuffix(text, "B=2") || len(c.env) > 0 && !strings.HasPrefix(text, "A=1") {
			t.Errorf("the environment for %q is %.50s…", c.env, text)
		}
	}
}

// When the session ends, a waiting request ends too, within the limit of this test.
func TestWait_closed(t *testing.T) {
	s := newSession(&Provider{}, t.TempDir(), agent.Options{})
	answered := make(chan error, 1)
	go func() {
		_, err := s.handle(t.Context(), &jsonrpc.Message{Method: acp.MethodSessionRequestPermission, Params: `{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}`})
		answered <- err
	}()
	for ev := range s.kit.Events(t.Context()) {
		if _, ok := event.NewPrompt(ev); ok {
			s.kit.Stop(nil)
			s.kit.End(agent.ErrClosed, nil)
		}
	}
	select {
	case <-answered:
	case <-time.After(10 * time.Second):
		t.Error("the request of an agent waits after the end of its session")
	}
}
