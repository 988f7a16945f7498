package acpagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acpagent"
	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// scripted is a provider of a scripted agent.
func scripted(a *acptest.Agent) *acpagent.Provider {
	return &acpagent.Provider{As: "scripted", Local: true, Dial: func(context.Context, agent.Options) (io.ReadCloser, io.WriteCloser, error) {
		r, w := a.Dial()
		return r, w, nil
	}}
}

// hello answers initialize with members of the result.
func hello(members string) acptest.Exchange {
	return acptest.On("initialize", acptest.Reply(json.RawMessage(`{"protocolVersion":1`+members+`}`)))
}

// sent returns the requests that an agent received, without initialize and session/new.
func sent(a *acptest.Agent) (list []string) {
	for _, m := range a.Received() {
		if m.Method != "" && m.Method != "initialize" && m.Method != "session/new" {
			list = append(list, m.Method+" "+string(m.Params))
		}
	}
	return list
}

// Models and efforts can be config options, which the session's options and methods set. The agent's answer is the new state, even if it
// changes other options.
func TestSettings(t *testing.T) {
	options := func(model string, efforts ...string) json.RawMessage {
		list := `{"id":"m","name":"Model","category":"model","type":"select","currentValue":"` + model + `","options":[{"group":"g","name":"G","options":[{"value":"a/1","name":"One"},{"value":"a/2","name":"Two","description":"big"}]}]}`
		if len(efforts) > 0 {
			list += `,{"id":"e","name":"Effort","category":"thought_level","type":"select","currentValue":"` + efforts[0] + `","options":[`
			for i, e := range efforts {
				list += []string{"", ","}[min(i, 1)] + `{"value":"` + e + `","name":"` + e + `"}`
			}
			list += `]}`
		}
		return json.RawMessage(`{"sessionId":"s","configOptions":[` + list + `]}`)
	}
	a := &acptest.Agent{Exchanges: []acptest.Exchange{
		hello(""), acptest.On("session/new", acptest.Reply(options("a/1"))),
		acptest.On("session/set_config_option", acptest.Reply(options("a/2", "low", "high"))),
		acptest.On("session/set_config_option", acptest.Reply(options("a/2", "high", "low"))),
		acptest.On("session/set_config_option", acptest.Fail(-32602, "no such value")),
	}}
	s, err := scripted(a).Open(t.Context(), agent.Options{Dir: t.TempDir(), Model: "Two", Effort: "high"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.(agent.Catalog).Models(t.Context())
	if err != nil || len(list) != 2 || list[1].Name != "a/2" || list[1].Description != "Two: big" {
		t.Errorf("the models are %v, %v", list, err)
	}
	if got := s.(agent.EffortSetter).Efforts(); !slices.Equal(got, []string{"high", "low"}) {
		t.Errorf("the efforts are %q", got)
	}
	if _, err := s.(agent.ModelSetter).SetModel(t.Context(), "other"); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("a model that the agent does not have: %v", err)
	}
	if err := s.(agent.Tuner).Tune(t.Context(), map[string]json.RawMessage{"x": json.RawMessage("1")}); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("an option that the agent does not have: %v", err)
	}
	if err := s.(agent.Tuner).Tune(t.Context(), map[string]json.RawMessage{"e": json.RawMessage(`"low"`)}); !errors.Is(err, agent.ErrInvalid) || !strings.Contains(err.Error(), "no such value") {
		t.Errorf("a value that the agent refuses: %v", err)
	}
	want := []string{
		`session/set_config_option {"configId":"m","sessionId":"s","value":"a/2"}`, `session/set_config_option {"configId":"e","sessionId":"s","value":"high"}`,
		`session/set_config_option {"configId":"e","sessionId":"s","value":"low"}`,
	}
	got := sent(a)
	for i := range got {
		method, params, _ := strings.Cut(got[i], " ")
		var v map[string]any
		if err := json.Unmarshal([]byte(params), &v); err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(v)
		got[i] = method + " " + string(text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	if seen := events(t, s, func(ev event.Event) bool {
		info, ok := ev.(*event.SessionInfo)
		return ok && info.Model != nil && *info.Model == "a/2"
	}); !seen {
		t.Error("no event has the model")
	}
}

// events reads events until one is found.
func events(t *testing.T, s agent.Session, is func(event.Event) bool) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Error(err)
			return false
		}
		if is(ev) {
			return true
		}
	}
	return false
}

// TestSettings_none checks that an agent without models has no SetModel, and no modes except those that it announced.
func TestSettings_none(t *testing.T) {
	a := &acptest.Agent{Exchanges: []acptest.Exchange{hello(""), acptest.On("session/new", acptest.Reply(map[string]string{"sessionId": "s"}))}}
	s, err := scripted(a).Open(t.Context(), agent.Options{Dir: t.TempDir(), Mode: "default"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if c := agent.CapabilitiesOf(nil, s); c.Model || c.Modes != nil || c.Efforts != nil {
		t.Errorf("the session can %+v", c)
	}
	if got := sent(a); len(got) > 0 {
		t.Errorf("the agent got %q", got)
	}
	b := &acptest.Agent{Exchanges: []acptest.Exchange{hello(""), acptest.On("session/new", acptest.Reply(map[string]string{"sessionId": "s"}))}}
	if _, err := scripted(b).Open(t.Context(), agent.Options{Dir: t.TempDir(), Model: "m"}); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("a model for an agent without models: %v", err)
	}
}

// A prompt that requires a login ends with the login methods, and Login returns the output of the
// agent.
func TestLogin(t *testing.T) {
	methods := `,"agentInfo":{"name":"x","title":"The X","version":"1"},"authMethods":[{"id":"web","name":"Web","description":"In the browser"},{"id":"tty","name":"Terminal","type":"terminal","args":["login"]}]`
	a := &acptest.Agent{Exchanges: []acptest.Exchange{hello(methods), acptest.On("session/new", acptest.Fail(-32000, "Sign in first"))}}
	p := scripted(a)
	p.Command = []string{"x", "--acp"}
	_, err := p.Open(t.Context(), agent.Options{Dir: t.TempDir()})
	want := "agent: not logged in: Sign in first; ways to log in to The X: Web (In the browser); Terminal: run x --acp login"
	if !errors.Is(err, agent.ErrAuth) || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	b := &acptest.Agent{Exchanges: []acptest.Exchange{hello(methods), acptest.On("authenticate",
		acptest.Raw("\x1b[2J\x1b[HVisit https://example.com"), acptest.Raw("\x1b[?1049l{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"No code\"}}"))}}
	if err := scripted(b).Login(t.Context(), "web", agent.Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "No code") || !strings.Contains(err.Error(), "printed: Visit https://example.com") {
		t.Errorf("Login: %v", err)
	}
}

// Images and audio are sent only to agents that support them.
func TestInput_capabilities(t *testing.T) {
	for _, tt := range []struct {
		caps, block string
		ok          bool
	}{
		{`"image":true`, "image", true}, {`"audio":true`, "audio", true}, {``, "image", false}, {`"image":true`, "audio", false}, {`"image":true`, "video", false},
	} {
		a := &acptest.Agent{Exchanges: []acptest.Exchange{
			hello(`,"agentCapabilities":{"promptCapabilities":{` + tt.caps + `}}`), acptest.On("session/new", acptest.Reply(map[string]string{"sessionId": "s"})),
			acptest.On("session/prompt", acptest.Reply(map[string]string{"stopReason": "end_turn"})),
		}}
		s, err := scripted(a).Open(t.Context(), agent.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		block := json.RawMessage(`{"type":"` + tt.block + `","source":{"type":"base64","media_type":"a/b","data":"AA=="}}`)
		if err := s.Send(t.Context(), agent.Input{UUID: "u", Content: []json.RawMessage{block}}); (err == nil) != tt.ok {
			t.Errorf("%s for an agent with %q: %v", tt.block, tt.caps, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The provider has the name of the agent, not that of the program which runs it.
func TestName(t *testing.T) {
	for command, want := range map[string]string{
		"opencode acp": "opencode", "/usr/bin/gemini.exe --acp": "gemini", "npx -y @google/gemini-cli@1.2 --acp": "gemini-cli", "node --no-warnings /x/qwen.js --acp": "qwen",
		"/n/node /c/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js": "claude-agent-acp", "node /c/node_modules/cline/dist/cli.mjs": "cline",
		"python3 /opt/agent/main.py": "agent", "node": "node", "uvx kimi-cli": "kimi-cli", "env A=1 /bin/parley acp": "parley",
	} {
		if got := (&acpagent.Provider{Command: strings.Fields(command)}).Name(); got != "acp:"+want {
			t.Errorf("%s is %s, want acp:%s", command, got, want)
		}
	}
}
