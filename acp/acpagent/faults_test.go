package acpagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// session returns the answer to session/new, with additional members.
func session(members string) acptest.Step {
	return acptest.Reply(json.RawMessage(`{"sessionId":"s"` + members + `}`))
}

// opened opens a session of a scripted agent. It is closed at the end of the test.
func opened(t *testing.T, a *acptest.Agent, opts agent.Options) agent.Session {
	t.Helper()
	opts.Dir = t.TempDir()
	s, err := scripted(a).Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// until reads events until one satisfies ok, and returns a summary of them.
func until(t *testing.T, s agent.Session, ok func(event.Event) bool) (list []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for ev, err := range s.Events(ctx) {
		if err != nil {
			t.Fatalf("the events end with %v after %q", err, list)
		}
		switch ev := ev.(type) {
		case *event.SessionInfo:
			for name, v := range map[string]*string{"mode": ev.PermissionMode, "model": ev.Model, "title": ev.Title} {
				if v != nil {
					list = append(list, name+" "+*v)
				}
			}
			if ev.Commands != "" {
				list = append(list, "commands "+string(ev.Commands))
			}
		case *event.TurnStart:
			list = append(list, "turn "+ev.TurnID)
		case *event.ResultMessage:
			list = append(list, strings.TrimSpace(fmt.Sprintf("result %s %s %v", ev.Subtype, ev.Usage, ev.Errors)))
		case *event.AssistantMessage:
			list = append(list, "says "+ev.Blocks[0].Block.Text)
		}
		if ok(ev) {
			return list
		}
	}
	t.Fatalf("the events end after %q", list)
	return nil
}

func titled(title string) func(event.Event) bool {
	return func(ev event.Event) bool {
		info, ok := ev.(*event.SessionInfo)
		return ok && info.Title != nil && *info.Title == title
	}
}

const (
	twoModes  = `,"modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}`
	twoModels = `,"models":{"currentModelId":"m1","availableModels":[{"modelId":"m1","name":"One"},{"modelId":"m2","name":"Two","description":"big"}]}`
)

// TestReports checks the events for an agent's reports about its session: at the start, after a
// setting, and unsolicited. Unknown and invalid reports change no setting.
func TestReports(t *testing.T) {
	const notAnUpdate = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":7}}`
	a := &acptest.Agent{Exchanges: []acptest.Exchange{
		hello(""), acptest.On("session/new", acptest.Update("s", map[string]any{"sessionUpdate": "available_commands_update", "availableCommands": []any{map[string]string{"name": "early", "description": ""}}}), session(twoModes+twoModels)),
		acptest.On("session/set_mode", acptest.Reply(map[string]any{})), acptest.On("session/set_model", acptest.Reply(map[string]any{})), acptest.On("session/set_model", acptest.Reply(map[string]any{})),
		acptest.On("session/set_mode", acptest.Fail(-32602, "no")), acptest.On("session/set_model", acptest.Fail(-32602, "no")),
		acptest.On("session/prompt", acptest.Say("s", "hi"), acptest.Update("s", map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": ""}, "_meta": map[string]any{"usage": map[string]int{"inputTokens": 3}}}),
			acptest.Reply(map[string]string{"stopReason": "end_turn"})),
		acptest.On("session/prompt", acptest.Reply(map[string]string{"stopReason": "end_turn"})),
		acptest.On("session/prompt", acptest.Fail(-32603, "broken")),
		acptest.On("session/prompt", acptest.Reply([]int{}),
			acptest.Update("s", map[string]any{"sessionUpdate": "current_mode_update", "currentModeId": "ask"}), acptest.Raw(notAnUpdate),
			acptest.Notify("_own/mode", map[string]string{"currentModeId": "code"}), acptest.Notify("_own/mode", map[string]string{"currentModeId": "none"}), acptest.Notify("_own/other", 7),
			acptest.Update("s", map[string]any{"sessionUpdate": "session_info_update", "title": "end"})),
	}}
	s := opened(t, a, agent.Options{})
	ctx := t.Context()
	mode, model := s.(agent.ModeSetter), s.(agent.ModelSetter)
	for _, err := range []error{mode.SetMode(ctx, "code"), func() error { _, err := model.SetModel(ctx, "Two"); return err }(), func() error { _, err := model.SetModel(ctx, ""); return err }()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := mode.SetMode(ctx, "ask"); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("a mode that the agent refuses: %v, want %v", err, agent.ErrInvalid)
	}
	if got, err := model.SetModel(ctx, "m2"); !errors.Is(err, agent.ErrInvalid) || got != "" {
		t.Errorf("a model that the agent refuses: %q, %v; want %v", got, err, agent.ErrInvalid)
	}
	for _, id := range []string{"u1", "u2", "u3", "u4"} {
		if err := s.Send(ctx, agent.Input{UUID: id, Text: "go"}); err != nil {
			t.Fatal(err)
		}
	}
	got := until(t, s, titled("end"))
	want := []string{
		"mode ask", "model m1", `commands [{"name":"early","description":""}]`, "mode code", "model m1", "mode code", "model m2", "mode code", "model m1",
		"turn u1", "says hi", `result success {"input_tokens":3,"output_tokens":0,"cache_read_input_tokens":0,"cache_creation_input_tokens":0} []`, "turn u2", "result success  []",
		"turn u3", "result error_during_execution  [broken]", "turn u4", "result error_during_execution",
	}
	tail := []string{"mode ask", "mode code", "title end"}
	if len(got) != len(want)+len(tail) || !slices.Equal(got[:17], want[:17]) || !strings.HasPrefix(got[17], want[17]) || !slices.Equal(got[18:], tail) {
		t.Errorf("the events are\n%q, want\n%q", got, append(want, tail...))
	}
	if got := mode.Modes(); !slices.Equal(got, []string{"ask", "code"}) {
		t.Errorf("the modes are %q", got)
	}
	if list, err := s.(agent.Catalog).Agents(ctx); !errors.Is(err, agent.ErrUnsupported) || list != nil {
		t.Errorf("the subagents are %v, %v; want %v", list, err, agent.ErrUnsupported)
	}
	if list, err := s.(agent.Catalog).Commands(ctx); err != nil || len(list) != 1 || list[0].Name != "early" {
		t.Errorf("the commands are %v, %v; want early", list, err)
	}
	wantSent := []string{
		`session/set_mode {"sessionId":"s","modeId":"code"}`, `session/set_model {"modelId":"m2","sessionId":"s"}`, `session/set_model {"modelId":"m1","sessionId":"s"}`,
		`session/set_mode {"sessionId":"s","modeId":"ask"}`, `session/set_model {"modelId":"m2","sessionId":"s"}`,
	}
	if sent := sent(a); len(sent) != len(wantSent)+4 || !slices.Equal(sent[:len(wantSent)], wantSent) {
		t.Errorf("the agent got %q, want %q and 4 prompts", sent, wantSent)
	}
}

// Config options apply as soon as the agent reports them, resetting the effort restores the first one, and a boolean option is sent as
// a boolean.
func TestOptions(t *testing.T) {
	config := func(mode, effort string) json.RawMessage {
		option := func(id, category, current string, values ...string) string {
			text := `{"id":"` + id + `","name":"N","category":"` + category + `","type":"select","currentValue":"` + current + `","options":[`
			for i, v := range values {
				text += []string{"", ","}[min(i, 1)] + `{"value":"` + v + `","name":"` + v + `"}`
			}
			return text + `]}`
		}
		return json.RawMessage(`{"sessionId":"s","configOptions":[` + option("mo", "mode", mode, "a", "b") + "," + option("ef", "thought_level", effort, "low", "high") + `,{"id":"fast","name":"F","type":"boolean","currentValue":false}]}`)
	}
	a := &acptest.Agent{Exchanges: []acptest.Exchange{
		hello(""), acptest.On("session/new", acptest.Reply(config("a", "low"))), acptest.On("session/set_config_option", acptest.Reply(config("a", "high"))),
		acptest.On("session/set_config_option", acptest.Reply(config("a", "low"))), acptest.On("session/set_config_option", acptest.Reply(config("b", "low"))), acptest.On("session/set_config_option", acptest.Fail(-32603, "broken")),
	}}
	s := opened(t, a, agent.Options{})
	ctx := t.Context()
	effort, tune := s.(agent.EffortSetter), s.(agent.Tuner)
	for _, err := range []error{effort.SetEffort(ctx, "high"), effort.SetEffort(ctx, ""), tune.Tune(ctx, map[string]json.RawMessage{"fast": json.RawMessage("true")})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := effort.SetEffort(ctx, "wild"); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("an effort that the agent does not have: %v, want %v", err, agent.ErrInvalid)
	}
	if err := tune.Tune(ctx, map[string]json.RawMessage{"fast": json.RawMessage("null")}); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("an option that is taken back: %v, want %v", err, agent.ErrInvalid)
	}
	if err := effort.SetEffort(ctx, "high"); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("an effort that the agent cannot set: %v, want its words", err)
	}
	update := map[string]any{"sessionUpdate": "config_option_update"}
	if err := json.Unmarshal(config("a", "high"), &update); err != nil {
		t.Fatal(err)
	}
	a.Send(acptest.Update("s", update), acptest.Update("s", map[string]any{"sessionUpdate": "session_info_update", "title": "end"}))
	if got, want := until(t, s, titled("end")), []string{"mode a", "mode a", "mode a", "mode b", "mode a", "title end"}; !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	want := []string{
		`{"sessionId":"s","configId":"ef","value":"high"}`, `{"sessionId":"s","configId":"ef","value":"low"}`, `{"type":"boolean","sessionId":"s","configId":"fast","value":true}`, `{"sessionId":"s","configId":"ef","value":"high"}`,
	}
	got := sent(a)
	for i := range got {
		var x, y any
		if i >= len(want) || json.Unmarshal([]byte(strings.TrimPrefix(got[i], "session/set_config_option ")), &x) != nil || json.Unmarshal([]byte(want[i]), &y) != nil || fmt.Sprint(x) != fmt.Sprint(y) {
			t.Errorf("request %d is %s, want %q", i, got[i], want)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
}

// If the agent refuses an option, the agent ends and the error has its message.
func TestOpen_refused(t *testing.T) {
	for name, c := range map[string]struct {
		hello     acptest.Exchange
		session   acptest.Step
		opts      agent.Options
		more      []acptest.Exchange
		want      error
		text      string
		unstarted bool
	}{
		"version":  {hello: acptest.On("initialize", acptest.Reply(map[string]int{"protocolVersion": 2})), want: agent.ErrUnsupported, text: "version 2"},
		"greeting": {hello: acptest.On("initialize", acptest.Fail(-32603, "cannot")), text: "cannot"},
		"gone":     {hello: acptest.On("initialize", acptest.Exit()), want: agent.ErrClosed},
		"no JSON":  {hello: acptest.On("initialize", acptest.Reply(7)), text: "object"},
		"session":  {hello: hello(""), session: acptest.Fail(-32602, "bad place"), want: agent.ErrInvalid, text: "bad place"},
		"mode":     {hello: hello(""), session: session(twoModes), opts: agent.Options{Mode: "code"}, more: []acptest.Exchange{acptest.On("session/set_mode", acptest.Fail(-32603, "not now"))}, text: "not now"},
		"model":    {hello: hello(""), session: session(twoModels), opts: agent.Options{Model: "m2"}, more: []acptest.Exchange{acptest.On("session/set_model", acptest.Fail(-32603, "not now"))}, text: "not now"},
		"effort":   {hello: hello(""), session: session(""), opts: agent.Options{Effort: "high"}, want: agent.ErrInvalid},
		"servers":  {hello: hello(""), session: session(""), opts: agent.Options{MCPServers: json.RawMessage(`7`)}, want: agent.ErrInvalid, unstarted: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := &acptest.Agent{Exchanges: append([]acptest.Exchange{c.hello, acptest.On("session/new", c.session)}, c.more...)}
			p := scripted(a)
			dial, ended, dialled := p.Dial, make(chan struct{}), false
			p.Dial = func(ctx context.Context, o agent.Options) (io.ReadCloser, io.WriteCloser, error) {
				r, w, err := dial(ctx, o)
				dialled = true
				return r, &closing{w, ended}, err
			}
			c.opts.Dir = t.TempDir()
			s, err := p.Open(t.Context(), c.opts)
			if s != nil || err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("Open = %v, %v; want %v with %q", s, err, c.want, c.text)
			}
			if dialled == c.unstarted {
				t.Errorf("the agent was started: %v, want %v", dialled, !c.unstarted)
			}
			if !dialled {
				return
			}
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Error("the agent still runs after 10 s")
			}
		})
	}
}

// closing reports that it was closed.
type closing struct {
	io.WriteCloser
	ended chan struct{}
}

func (c *closing) Close() error {
	select {
	case <-c.ended:
	default:
		close(c.ended)
	}
	return c.WriteCloser.Close()
}

// A closed session refuses every call.
func TestEnded(t *testing.T) {
	a := &acptest.Agent{Exchanges: []acptest.Exchange{hello(`,"agentCapabilities":{"sessionCapabilities":{"close":{}}}`), acptest.On("session/new", session(twoModes+twoModels)), acptest.On("session/close", acptest.Reply(map[string]any{}))}}
	s, err := scripted(a).Open(t.Context(), agent.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := sent(a); !slices.Equal(got, []string{`session/close {"sessionId":"s"}`}) {
		t.Errorf("the agent got %q, want session/close", got)
	}
	ctx := t.Context()
	for what, err := range map[string]error{
		"Send": s.Send(ctx, agent.Input{UUID: "u", Text: "x"}), "Interrupt": func() error { _, err := s.Interrupt(ctx); return err }(), "SetMode": s.(agent.ModeSetter).SetMode(ctx, "code"),
		"SetModel": func() error { _, err := s.(agent.ModelSetter).SetModel(ctx, "m2"); return err }(), "SetEffort": s.(agent.EffortSetter).SetEffort(ctx, "x"), "Tune": s.(agent.Tuner).Tune(ctx, nil),
	} {
		if !errors.Is(err, agent.ErrClosed) {
			t.Errorf("%s after the end: %v, want %v", what, err, agent.ErrClosed)
		}
	}
	if got := len(sent(a)); got != 1 {
		t.Errorf("the agent got %d requests, want 1", got)
	}
}

// Sessions of an agent are listed page by page up to a limit. An agent gets no request for a method
// that it does not support.
func TestSessions_pages(t *testing.T) {
	const can = `,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"list":{},"delete":{}}}`
	page := func(id, next string) acptest.Exchange {
		return acptest.On("session/list", acptest.Reply(json.RawMessage(`{"sessions":[{"sessionId":"`+id+`","cwd":"/d","title":"T`+id+`","updatedAt":"2026-01-02T03:04:05Z","archived":true}]`+next+`}`)))
	}
	a := &acptest.Agent{Exchanges: []acptest.Exchange{hello(can), page("1", `,"nextCursor":"c1"`), page("2", `,"nextCursor":"c2"`), page("3", "")}}
	list, err := scripted(a).Sessions(t.Context(), agent.Options{Dir: "/d"})
	if err != nil || len(list) != 3 || list[2].ID != "3" || list[2].Summary != "T3" || list[2].Dir != "/d" || !list[2].Archived || list[2].Modified.Unix() != time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Unix() {
		t.Errorf("the sessions are %+v, %v; want 3", list, err)
	}
	if got, want := sent(a), []string{`session/list {"cwd":"/d"}`, `session/list {"cwd":"/d","cursor":"c1"}`, `session/list {"cwd":"/d","cursor":"c2"}`}; !slices.Equal(got, want) {
		t.Errorf("the agent got %q, want %q", got, want)
	}
	endless := &acptest.Agent{Exchanges: []acptest.Exchange{hello(can)}}
	for range 200 {
		endless.Exchanges = append(endless.Exchanges, page("x", `,"nextCursor":"more"`))
	}
	if list, err := scripted(endless).Sessions(t.Context(), agent.Options{}); err != nil || len(list) != 100 {
		t.Errorf("an endless list has %d sessions, %v; want 100", len(list), err)
	}
	ctx, o := t.Context(), agent.Options{Dir: t.TempDir()}
	for name, do := range map[string]func(*acpagent.Provider) error{
		"list":   func(p *acpagent.Provider) error { _, err := p.Sessions(ctx, o); return err },
		"delete": func(p *acpagent.Provider) error { return p.Delete(ctx, "x", o) },
		"replay": func(p *acpagent.Provider) error { _, err := p.Replay(ctx, "x", o); return err },
	} {
		cannot := &acptest.Agent{Exchanges: []acptest.Exchange{hello("")}}
		if err := do(scripted(cannot)); !errors.Is(err, agent.ErrUnsupported) || len(sent(cannot)) > 0 {
			t.Errorf("%s of an agent that cannot: %v with the requests %q, want %v and none", name, err, sent(cannot), agent.ErrUnsupported)
		}
		failing := &acptest.Agent{Exchanges: []acptest.Exchange{hello(can), acptest.On("session/list", acptest.Fail(-32602, "bad")), acptest.On("session/delete", acptest.Fail(-32602, "bad")), acptest.On("session/load", acptest.Fail(-32602, "bad"))}}
		if err := do(scripted(failing)); !errors.Is(err, agent.ErrInvalid) {
			t.Errorf("%s that fails: %v, want %v", name, err, agent.ErrInvalid)
		}
		dead := &acptest.Agent{Exchanges: []acptest.Exchange{acptest.On("initialize", acptest.Exit())}}
		if err := do(scripted(dead)); !errors.Is(err, agent.ErrClosed) {
			t.Errorf("%s of an agent that ends at once: %v, want %v", name, err, agent.ErrClosed)
		}
	}
	if _, err := scripted(a).Replay(ctx, "x", agent.Options{MCPServers: json.RawMessage("7")}); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("a replay with invalid servers: %v, want %v", err, agent.ErrInvalid)
	}
	if err := scripted(&acptest.Agent{Exchanges: []acptest.Exchange{acptest.On("initialize", acptest.Exit())}}).Login(ctx, "m", o); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("a login at an agent that ends at once: %v, want %v", err, agent.ErrClosed)
	}
}

// A program that cannot be run, or that ends at once, is an error that names the cause. If it ends later, the session's events end with the
// cause.
func TestStart(t *testing.T) {
	for name, c := range map[string]struct {
		command []string
		want    error
		text    string
	}{
		"no command":    {nil, agent.ErrInvalid, "no command"},
		"not installed": {[]string{"parley-no-such-agent"}, agent.ErrNotInstalled, "parley-no-such-agent"},
		"ends at once":  {[]string{"sh", "-c", "echo oh no >&2; exit 3"}, agent.ErrClosed, "sh ended with code 3 : oh no"},
	} {
		p := &acpagent.Provider{Command: c.command}
		s, err := p.Open(t.Context(), agent.Options{Dir: t.TempDir()})
		if s != nil || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, %v; want %v with %q", name, s, err, c.want, c.text)
		}
		if err := p.Close(); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
	}
	const script = `read l; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'; read l; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'; pwd >&2; echo $OWN >&2; exit 5`
	dir := t.TempDir()
	s, err := (&acpagent.Provider{Command: []string{"sh", "-c", script}, Env: []string{"OWN=mine"}}).Open(t.Context(), agent.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var last error
	for _, err := range s.Events(ctx) {
		last = err
	}
	if !errors.Is(last, agent.ErrClosed) || !strings.Contains(last.Error(), "code 5") || !strings.Contains(last.Error(), dir) || !strings.Contains(last.Error(), "mine") {
		t.Errorf("the events end with %v, want %v with the code 5, %s and mine", last, agent.ErrClosed, dir)
	}
	_ = s.Close() // the agent has ended
}

// The client announces terminals to an agent on this machine, and file access only if an editor may
// have unsaved texts.
func TestGreeting(t *testing.T) {
	for name, c := range map[string]struct {
		local        bool
		files        agent.Files
		terminal, fs bool
	}{"local": {true, nil, true, false}, "local with texts": {true, noFiles{}, true, true}, "elsewhere": {false, noFiles{}, false, false}} {
		a := &acptest.Agent{Exchanges: []acptest.Exchange{hello("")}}
		p := scripted(a)
		p.Local, p.Version = c.local, "7.8"
		if _, err := p.Describe(t.Context(), agent.Options{Dir: t.TempDir(), Files: c.files}); err != nil {
			t.Fatal(err)
		}
		var got struct {
			ProtocolVersion    int
			ClientInfo         struct{ Name, Version string }
			ClientCapabilities struct {
				Terminal    bool
				Fs          struct{ ReadTextFile, WriteTextFile bool }
				Elicitation struct{ Form, URL *struct{} }
				Session     struct{ Notices, Compaction *struct{} }
				Auth        struct{ Terminal bool }
			}
		}
		if err := json.Unmarshal(a.Received()[0].Params, &got); err != nil {
			t.Fatal(err)
		}
		caps := got.ClientCapabilities
		if got.ProtocolVersion != 1 || got.ClientInfo.Name != "parley" || got.ClientInfo.Version != "7.8" || caps.Terminal != c.terminal || caps.Fs.ReadTextFile != c.fs || caps.Fs.WriteTextFile != c.fs ||
			caps.Elicitation.Form == nil || caps.Elicitation.URL == nil || caps.Session.Notices == nil || caps.Session.Compaction == nil || !caps.Auth.Terminal {
			t.Errorf("%s: the agent is told %s, want terminals %v and files %v", name, a.Received()[0].Params, c.terminal, c.fs)
		}
	}
}

type noFiles struct{}

func (noFiles) Before(context.Context, string) {}
func (noFiles) After(context.Context, string)  {}

// A prompt is refused if the queue is full, and has no event: only accepted prompts have one.
func TestSend_full(t *testing.T) {
	a := &acptest.Agent{Exchanges: []acptest.Exchange{hello(""), acptest.On("session/new", session("")), acptest.On("session/prompt", acptest.Say("s", "working"))}}
	s := opened(t, a, agent.Options{})
	accepted := 0
	for ; accepted < 2000; accepted++ {
		if err := s.Send(t.Context(), agent.Input{UUID: fmt.Sprint("u", accepted), Text: "go"}); err != nil {
			if !strings.Contains(err.Error(), "1000 prompts wait") {
				t.Errorf("the error is %v, want that 1000 prompts wait", err)
			}
			break
		}
	}
	if accepted < 1000 || accepted > 1001 { // the first one may have left the queue
		t.Errorf("%d prompts were accepted, want 1000 and the one that runs", accepted)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	prompts := 0
	for ev := range s.Events(t.Context()) {
		if m, ok := ev.(*event.UserMessage); ok && m.IsPrompt {
			prompts++
		}
	}
	if prompts != accepted {
		t.Errorf("the events have %d prompts, want the %d that were accepted", prompts, accepted)
	}
}

// TestTurn_unknownUpdate checks that an unknown update is kept, and that a turn ends as cancelled if the
// agent answers the prompt with the error code for cancellation.
func TestTurn_unknownUpdate(t *testing.T) {
	s := opened(t, &acptest.Agent{Exchanges: []acptest.Exchange{
		acptest.On("initialize", acptest.Reply(map[string]any{"protocolVersion": 1})),
		acptest.On("session/new", session("")),
		acptest.On("session/prompt", acptest.Update("s", 7), acptest.Noted("session/cancel"), acptest.Fail(-32800, "Request cancelled")),
	}}, agent.Options{})
	if err := s.Send(t.Context(), agent.Input{UUID: "u", Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"go"}`)}}); err != nil {
		t.Fatal(err)
	}
	var unknown *event.Unknown
	for ev, err := range s.Events(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		switch ev := ev.(type) {
		case *event.Unknown:
			unknown = ev
			if _, err := s.Interrupt(t.Context()); err != nil {
				t.Fatal(err)
			}
		case *event.ResultMessage:
			if ev.StopReason != "cancelled" || ev.IsError {
				t.Errorf("the turn ended with %+v", ev)
			}
			if unknown.OriginalType != "session_update" || !strings.Contains(string(unknown.Data), `"update":7`) {
				t.Errorf("the update is %+v", unknown)
			}
			return
		}
	}
	t.Error("the turn did not end")
}
