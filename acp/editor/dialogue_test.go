package editor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/test/golden"
)

// watched is an agent with every feature that an editor can use. It records its calls.
type watched struct {
	*agenttest.Provider
	note func(what string, v any)
	fail error // returned by the next call of a setting
}

func (w *watched) Open(ctx context.Context, o agent.Options) (agent.Session, error) {
	w.note("open", o)
	s, err := w.Provider.Open(ctx, o)
	return w.wrap(s, err)
}

func (w *watched) Resume(ctx context.Context, id string, o agent.Options) (agent.Session, error) {
	w.note("resume "+id, o)
	s, err := w.Provider.Resume(ctx, id, o)
	return w.wrap(s, err)
}

func (w *watched) Logout(context.Context) error {
	w.note("logout", nil)
	return w.fail
}

func (w *watched) wrap(s agent.Session, err error) (agent.Session, error) {
	if err != nil {
		return nil, err
	}
	return &watchedSession{s.(*agenttest.Session), w}, nil
}

type watchedSession struct {
	*agenttest.Session
	w *watched
}

func (s *watchedSession) Models(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{
		{Name: "default", Data: json.RawMessage(`{"value":"default","displayName":"Default","description":"d0","supportedEffortLevels":["low","high","xhigh"],"supportsFastMode":true}`)},
		{Name: "small", Data: json.RawMessage(`{"value":"small","displayName":"Small","description":"d1","supportedEffortLevels":["low",""]}`)},
		{Name: "plain", Data: json.RawMessage(`{"value":"plain","displayName":"Plain"}`)},
	}, nil
}

func (s *watchedSession) Commands(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "go", Description: "goes", Data: json.RawMessage(`{"name":"go","description":"goes","argumentHint":"where"}`)}, {Name: "stop"}}, nil
}

func (s *watchedSession) Tune(_ context.Context, settings map[string]json.RawMessage) error {
	s.w.note("tune", settings)
	return s.w.fail
}

func (s *watchedSession) SetModel(ctx context.Context, model string) (string, error) {
	s.w.note("model", model)
	if s.w.fail != nil {
		return "", s.w.fail
	}
	return s.Session.SetModel(ctx, model)
}

func (s *watchedSession) SetMode(ctx context.Context, mode string) error {
	s.w.note("mode", mode)
	if s.w.fail != nil {
		return s.w.fail
	}
	return s.Session.SetMode(ctx, mode)
}

func (s *watchedSession) Send(ctx context.Context, in agent.Input) error {
	s.w.note("send", append(slices.Clone(in.Content), json.RawMessage(fmt.Sprintf("%q", in.Text))))
	return s.Session.Send(ctx, in)
}

// step is a request of an editor. In params, S stands for the session and DIR for an existing
// directory.
type step struct {
	name, method, params string
	fail                 error // returned by the agent
}

// opened are the requests about sessions, valid and invalid ones.
var opened = []step{
	{name: "again", method: "initialize", params: `{"protocolVersion":VERSION,"clientCapabilities":CAPS}`},
	{name: "unknown method", method: "session/dance", params: `{}`},
	{name: "terminal login", method: "authenticate", params: `{"methodId":"term"}`},
	{name: "unknown login", method: "authenticate", params: `{"methodId":"other"}`},
	{name: "logout", method: "logout", params: `{}`},
	{name: "failing logout", method: "logout", params: `{}`, fail: fmt.Errorf("%w: gone", agent.ErrAuth)},
	{name: "relative directory", method: "session/new", params: `{"cwd":"here","mcpServers":[]}`},
	{name: "missing directory", method: "session/new", params: `{"cwd":"DIR/missing","mcpServers":[]}`},
	{name: "no directory", method: "session/new", params: `{"mcpServers":[]}`},
	{name: "servers", method: "session/new", params: `{"cwd":"DIR","mcpServers":[{"name":"a","command":"c","args":["x"],"env":[{"name":"K","value":"V"}]},` +
		`{"type":"http","name":"b","url":"http://b","headers":[{"name":"H","value":"1"}]},{"type":"sse","name":"c","url":"http://c","headers":[{"name":"G","value":"2"}]}],"additionalDirectories":["/x"]}`},
	{name: "unknown server", method: "session/new", params: `{"cwd":"DIR","mcpServers":[{"type":"pigeon","name":"b"}]}`},
	{name: "own prompt", method: "session/new", params: `{"cwd":"DIR","mcpServers":[],"systemPrompt":{"mode":"override","content":[{"type":"text","text":"be"},{"type":"text","text":" brief"}]}}`},
	{name: "more prompt", method: "session/new", params: `{"cwd":"DIR","mcpServers":[],"systemPrompt":{"mode":"append","content":[{"type":"text","text":"be kind"}]}}`},
	{name: "mode", method: "session/set_mode", params: `{"sessionId":"S","modeId":"plan"}`},
	{name: "mode that fails", method: "session/set_mode", params: `{"sessionId":"S","modeId":"acceptEdits"}`, fail: fmt.Errorf("%w: not now", agent.ErrInvalid)},
	{name: "unknown mode", method: "session/set_mode", params: `{"sessionId":"S","modeId":"wild"}`},
	{name: "mode of no session", method: "session/set_mode", params: `{"sessionId":"none","modeId":"plan"}`},
	{name: "mode as an option", method: "session/set_config_option", params: `{"sessionId":"S","configId":"mode","value":"default"}`},
	{name: "unknown mode as an option", method: "session/set_config_option", params: `{"sessionId":"S","configId":"mode","value":"wild"}`},
	{name: "effort", method: "session/set_config_option", params: `{"sessionId":"S","configId":"effort","value":"high"}`},
	{name: "effort that fails", method: "session/set_config_option", params: `{"sessionId":"S","configId":"effort","value":"low"}`, fail: errors.New("broken")},
	{name: "fast", method: "session/set_config_option", params: `{"sessionId":"S","configId":"fast","type":"boolean","value":true}`},
	{name: "ultracode", method: "session/set_config_option", params: `{"sessionId":"S","configId":"ultracode","type":"boolean","value":true}`},
	{name: "fast with a text", method: "session/set_config_option", params: `{"sessionId":"S","configId":"fast","type":"boolean","value":"yes"}`},
	{name: "model that keeps the effort", method: "session/set_config_option", params: `{"sessionId":"S","configId":"model","value":"default"}`},
	{name: "model that loses the effort", method: "session/set_config_option", params: `{"sessionId":"S","configId":"model","value":"small"}`},
	{name: "default effort", method: "session/set_config_option", params: `{"sessionId":"S","configId":"effort","value":"default"}`},
	{name: "model that fails", method: "session/set_config_option", params: `{"sessionId":"S","configId":"model","value":"plain"}`, fail: agent.ErrUnsupported},
	{name: "model without settings", method: "session/set_config_option", params: `{"sessionId":"S","configId":"model","value":"plain"}`},
	{name: "unknown model", method: "session/set_config_option", params: `{"sessionId":"S","configId":"model","value":"large"}`},
	{name: "unknown option", method: "session/set_config_option", params: `{"sessionId":"S","configId":"hue","value":"red"}`},
	{name: "option that the model lacks", method: "session/set_config_option", params: `{"sessionId":"S","configId":"effort","value":"low"}`},
	{name: "option of no session", method: "session/set_config_option", params: `{"sessionId":"none","configId":"mode","value":"plan"}`},
	{name: "content", method: "session/prompt", params: `{"sessionId":"S","prompt":[{"type":"text","text":"say one"},{"type":"text","text":""},{"type":"image","data":"aGk=","mimeType":"image/png"},` +
		`{"type":"image","data":"","mimeType":"image/png","uri":"https://i/x.png"},{"type":"image","data":"","mimeType":"image/png","uri":"file:///x.png"},` +
		`{"type":"resource_link","uri":"file:///a/b.go","name":"b.go"},{"type":"resource_link","uri":"https://x/y","name":"the page"},{"type":"resource_link","uri":"https://x/z","name":"https://x/z"},` +
		`{"type":"resource","resource":{"uri":"file:///a/c.go","text":"package c"}},{"type":"resource","resource":{"uri":"file:///d.pdf","blob":"aGk=","mimeType":"application/pdf"}},` +
		`{"type":"resource","resource":{"uri":"file:///e.gif","blob":"aGk=","mimeType":"image/gif"}}]}`},
	{name: "no content", method: "session/prompt", params: `{"sessionId":"S","prompt":[]}`},
	{name: "failing turn", method: "session/prompt", params: `{"sessionId":"S","prompt":[{"type":"text","text":"fail"}]}`},
	{name: "tool", method: "session/prompt", params: `{"sessionId":"S","prompt":[{"type":"text","text":"auto Bash"}]}`},
	{name: "audio", method: "session/prompt", params: `{"sessionId":"S","prompt":[{"type":"audio","data":"aGk=","mimeType":"audio/wav"}]}`},
	{name: "unknown content", method: "session/prompt", params: `{"sessionId":"S","prompt":[{"type":"smell"}]}`},
	{name: "unknown resource", method: "session/prompt", params: `{"sessionId":"S","prompt":[{"type":"resource","resource":{"uri":"file:///d.zip","blob":"aGk=","mimeType":"application/zip"}}]}`},
	{name: "prompt to no session", method: "session/prompt", params: `{"sessionId":"none","prompt":[]}`},
	{name: "prompt without a session", method: "session/prompt", params: `{"prompt":[]}`},
	{name: "steering without a turn", method: "_session/steering", params: `{"sessionId":"S","prompt":[{"type":"text","text":"left"}]}`},
	{name: "steering of no session", method: "_session/steering", params: `{"sessionId":"none","prompt":[{"type":"text","text":"left"}]}`},
	{name: "title", method: "session/set_title", params: `{"sessionId":"S","title":"A title"}`},
	{name: "title of no session", method: "session/set_title", params: `{"sessionId":"none","title":"A title"}`},
	{name: "fork", method: "session/fork", params: `{"sessionId":"S","cwd":"DIR","mcpServers":[]}`},
	{name: "fork of no session", method: "session/fork", params: `{"sessionId":"none","cwd":"DIR","mcpServers":[]}`},
	{name: "fork without a directory", method: "session/fork", params: `{"sessionId":"S","cwd":"here","mcpServers":[]}`},
	{name: "close", method: "session/close", params: `{"sessionId":"S"}`},
	{name: "close again", method: "session/close", params: `{"sessionId":"S"}`},
	{name: "mode after the end", method: "session/set_mode", params: `{"sessionId":"S","modeId":"plan"}`},
	{name: "resume", method: "session/resume", params: `{"sessionId":"S","cwd":"DIR","mcpServers":[]}`},
	{name: "resume of no session", method: "session/resume", params: `{"sessionId":"none","cwd":"DIR","mcpServers":[]}`},
	{name: "resume without a directory", method: "session/resume", params: `{"sessionId":"S","cwd":"here","mcpServers":[]}`},
	{name: "resume with a replay", method: "session/resume", params: `{"sessionId":"S","cwd":"DIR","mcpServers":[],"replayFrom":{"type":"start"}}`},
	{name: "resume with a replay of the middle", method: "session/resume", params: `{"sessionId":"S","cwd":"DIR","mcpServers":[],"replayFrom":{"type":"middle"}}`},
	{name: "load", method: "session/load", params: `{"sessionId":"S","cwd":"DIR","mcpServers":[]}`},
	{name: "load of no session", method: "session/load", params: `{"sessionId":"none","cwd":"DIR","mcpServers":[]}`},
	{name: "list", method: "session/list", params: `{}`},
	{name: "list of another directory", method: "session/list", params: `{"cwd":"/nowhere"}`},
	{name: "delete", method: "session/delete", params: `{"sessionId":"S"}`},
	{name: "delete again", method: "session/delete", params: `{"sessionId":"S"}`},
}

// The test sends every request of an editor, with valid and invalid params, in both versions and
// for clients with and without capabilities. It compares the answers, and the calls of the agent.
func TestDialogue(t *testing.T) {
	t.Parallel()
	const capable = `{"auth":{"terminal":true},"session":{"notices":{},"compaction":{},"configOptions":{"boolean":{}}}}`
	parts := golden.Parts{}
	for name, c := range map[string]struct{ version, caps string }{
		"version 1":                     {"1", capable},
		"version 1, without abilities":  {"1", `{}`},
		"version 2":                     {"2", capable},
		"a version that does not exist": {"9", `{}`},
	} {
		parts[name] = dialogue(t, c.version, c.caps, nil)
	}
	parts.Check(t, "testdata/dialogue.txt", *updateRequests)
}

// talk is a connection between an editor and an agent. It records the messages of both sides.
type talk struct {
	t         *testing.T
	version   string
	dir, data string
	agent     *watched
	conn      *jsonrpc.Conn
	served    chan error
	idle      chan struct{} // receives a value at the end of each turn of version 2
	change    func(params map[string]any)

	mu      sync.Mutex
	out     strings.Builder
	ids     []string
	updates map[string]int
}

// dialogue sends the requests and returns the recorded messages. change, unless it is nil, changes
// each request.
func dialogue(t *testing.T, version, caps string, change func(map[string]any)) string {
	t.Helper()
	d := &talk{t: t, version: version, dir: t.TempDir(), data: t.TempDir(), served: make(chan error, 1), idle: make(chan struct{}, 100), updates: map[string]int{}, change: change}
	d.begin()
	if _, err := d.call("session/new", `{"cwd":"/","mcpServers":[]}`); err == nil {
		t.Error("session/new succeeds before initialize")
	}
	for _, s := range append([]step{
		{name: "initialize", method: "initialize", params: `{"protocolVersion":VERSION,"clientCapabilities":CAPS}`},
		{name: "new", method: "session/new", params: `{"cwd":"DIR","mcpServers":[]}`},
	}, opened...) {
		d.agent.fail = s.fail
		id := "S"
		if len(d.ids) > 0 {
			id = d.ids[0]
		}
		raw, err := d.call(s.method, strings.NewReplacer("VERSION", version, "CAPS", caps, `"S"`, `"`+id+`"`, "DIR", d.dir).Replace(s.params))
		if err == nil && version == "2" && s.method == "session/prompt" {
			select { // the response may have arrived already
			case <-d.idle:
			case <-time.After(10 * time.Second):
				t.Fatalf("%s: the turn did not end within 10 s", s.name)
			}
		}
		d.answered(&s, raw, err)
	}
	return d.end()
}

// begin serves the agent.
func (d *talk) begin() {
	d.agent = &watched{Provider: &agenttest.Provider{Dir: d.data}, note: d.note}
	fromClient, toAgent := io.Pipe()
	fromAgent, toClient := io.Pipe()
	go func() {
		d.served <- editor.Serve(context.Background(), fromClient, toClient, editor.Options{
			Provider: d.agent, Name: "name", Title: "title", Version: "0.1", Session: agent.Options{AdditionalDirectories: []string{"/always"}, MCPServers: json.RawMessage(`{"own":{"command":"o"}}`)},
			AuthMethods: []acp.AuthMethod{{Type: "terminal", Value: &acp.AuthMethodTerminal{ID: "term", Name: "Terminal"}}},
		})
		toClient.Close()
	}()
	d.conn = jsonrpc.New(fromAgent, toAgent, jsonrpc.Options{Notify: func(_ context.Context, m *jsonrpc.Message) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.updates[m.Params]++
		if strings.Contains(m.Params, `"state":"idle","stopReason"`) {
			d.idle <- struct{}{}
		}
	}})
}

func (d *talk) call(method, params string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(d.t.Context(), 10*time.Second)
	defer cancel()
	return d.conn.Call(ctx, method, d.changed(params))
}

// note records a call of the agent.
func (d *talk) note(what string, v any) {
	if o, ok := v.(agent.Options); ok { // the other options are always the same
		v = map[string]any{"dir": o.Dir, "more": o.AdditionalDirectories, "mcp": o.MCPServers, "prompt": o.SystemPrompt, "append": o.AppendSystemPrompt, "fork": o.Fork, "partial": o.Partial, "mode": o.Mode, "model": o.Model, "effort": o.Effort}
	}
	text, err := json.Marshal(v)
	d.mu.Lock()
	defer d.mu.Unlock()
	fmt.Fprintf(&d.out, "  agent: %s %s %v\n", what, text, err)
}

// answered records the response to a request.
func (d *talk) answered(s *step, raw json.RawMessage, err error) {
	var opened struct{ SessionID, MessageID string }
	_ = json.Unmarshal(raw, &opened) // most responses have neither member
	d.mu.Lock()
	defer d.mu.Unlock()
	if opened.SessionID != "" {
		d.ids = append(d.ids, opened.SessionID)
	}
	text := string(raw)
	if opened.MessageID != "" {
		text = strings.ReplaceAll(text, opened.MessageID, "MESSAGE")
	}
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		text = fmt.Sprintf("error %d %s %s", e.Code, e.Message, e.Data)
	} else if err != nil {
		text = err.Error()
	}
	if s.method == "session/list" { // without times, and with the sessions in a fixed order
		text = fmt.Sprint(strings.Count(text, `"sessionId"`), " sessions, titled: ", strings.Contains(text, `"A title"`))
	}
	fmt.Fprintf(&d.out, "%s: %s\n", s.name, text)
}

// end closes the connection and returns the recorded messages. Updates of settings and states come last, because their order varies.
func (d *talk) end() string {
	d.conn.Close()
	if err := <-d.served; err != nil {
		d.t.Errorf("Serve: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := d.conn.Wait(ctx); err != nil {
		d.t.Error(err)
	}
	if n := d.agent.Running(); n != 0 {
		d.t.Errorf("%d sessions of the agent are left", n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for i, id := range d.ids {
		names = append(names, id, fmt.Sprint("SESSION", i))
	}
	plain := strings.NewReplacer(append(names, d.dir, "DIR", d.data, "DATA")...)
	var lines []string
	for text, n := range d.updates {
		var u struct {
			Update struct{ SessionUpdate, State string }
		}
		if err := json.Unmarshal([]byte(text), &u); err != nil {
			d.t.Error(err)
		}
		if kind := u.Update.SessionUpdate; kind == "config_option_update" || kind == "current_mode_update" || u.Update.State != "" {
			lines = append(lines, plain.Replace(fmt.Sprintf("%s %d times\n", text, n)))
		}
	}
	slices.Sort(lines)
	return plain.Replace(d.out.String()) + strings.Join(lines, "")
}
