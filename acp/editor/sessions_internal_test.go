package editor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
)

// pages is a history without methods.
type pages = interface{ agent.History }

// archive is a provider with a history. It records its calls.
type archive struct {
	agent.Provider
	pages
	joins  bool
	notes  []string
	opts   agent.Options
	last   *actor
	events []event.Event
	list   []agent.HistoryInfo
	cursor string
	fails  error
}

func (p *archive) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func (p *archive) Joins() bool { return p.joins }

func (p *archive) History() agent.History { return p }

func (p *archive) Open(_ context.Context, o agent.Options) (agent.Session, error) {
	p.note("open")
	p.opts, p.last = o, newActor("new")
	return p.last, nil
}

func (p *archive) Resume(_ context.Context, id string, o agent.Options) (agent.Session, error) {
	p.note("resume %s fork %v", id, o.Fork)
	if p.fails != nil {
		return nil, p.fails
	}
	if o.Fork {
		id += "-copy"
	}
	p.opts, p.last = o, newActor(id)
	return p.last, nil
}

func (p *archive) List(_ context.Context, q agent.HistoryQuery) ([]agent.HistoryInfo, string, error) {
	p.note("list %s %s", q.Project, q.Cursor)
	return p.list, p.cursor, p.fails
}

func (p *archive) Load(_ context.Context, _ string, page agent.HistoryPage) (agent.HistoryEvents, error) {
	return agent.HistoryEvents{Events: func(yield func(event.Event, error) bool) {
		for _, ev := range p.events {
			if page.Limit == 0 && !yield(ev, nil) {
				return
			}
		}
	}}, nil
}

func (p *archive) Delete(_ context.Context, id string) error {
	closed := p.last != nil && p.last.notes() == "close"
	p.note("delete %s, closed %v", id, closed)
	return p.fails
}

func (p *archive) Rename(_ context.Context, id, title string) error {
	p.note("rename %s %s", id, title)
	return p.fails
}

// TestOptions checks that each setting of a client reaches the agent, and which one counts if the operator has set it as well.
func TestOptions(t *testing.T) {
	p := newPeer(t)
	dir := t.TempDir()
	set := func(mode acp.SystemPromptMode, text ...string) acp.Optional[acp.SystemPrompt] {
		s := acp.SystemPrompt{Mode: mode}
		for _, x := range text {
			s.Content = append(s.Content, acp.TextBlock(x))
		}
		return acp.Some(s)
	}
	p.srv.opts.Session = agent.Options{Model: "m", SystemPrompt: "system", AppendSystemPrompt: "append", AdditionalDirectories: []string{"/one"}, MCPServers: json.RawMessage(`{"a":{"type":"http","url":"https://operator"},"b":{"url":"https://b"}}`)}
	servers := []acp.MCPServer{{Type: "http", Value: &acp.MCPServerHTTP{Name: "a", URL: "https://client"}}, {Type: "http", Value: &acp.MCPServerHTTP{Name: "c", URL: "https://c"}}}
	for _, tt := range []struct {
		name string
		r    sessionRequest
		want func(o *agent.Options)
	}{
		{"nothing", sessionRequest{}, func(*agent.Options) {}},
		{"directories", sessionRequest{directories: []string{"/two"}}, func(o *agent.Options) { o.AdditionalDirectories = []string{"/one", "/two"} }},
		{"system prompt", sessionRequest{prompt: set(acp.SystemPromptModeOverride, "a", "b")}, func(o *agent.Options) { o.SystemPrompt = "ab" }},
		{"appended prompt", sessionRequest{prompt: set("append", "x")}, func(o *agent.Options) { o.AppendSystemPrompt = "x" }},
		{"servers", sessionRequest{servers: servers}, func(o *agent.Options) {
			o.MCPServers = json.RawMessage(`{"a":{"headers":{},"type":"http","url":"https://client"},"b":{"url":"https://b"},"c":{"headers":{},"type":"http","url":"https://c"}}`)
		}},
		{"model", sessionRequest{meta: map[string]json.RawMessage{"claudeCode": json.RawMessage(`{"options":{"model":"n"}}`)}}, func(o *agent.Options) { o.Model = "n" }},
	} {
		tt.r.cwd = dir
		want := p.srv.opts.Session
		want.Dir, want.Partial = dir, true
		tt.want(&want)
		got, err := p.srv.options(&tt.r)
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) || err != nil {
			t.Errorf("%s: the options are %+v, %v, want %+v", tt.name, got, err, want)
		}
	}
	if got := p.srv.opts.Session.AdditionalDirectories; len(got) != 1 {
		t.Errorf("the operator's directories are %q after the sessions, want one", got)
	}
	p.srv.opts.Session.MCPServers = json.RawMessage(`[]`)
	if _, err := p.srv.options(&sessionRequest{cwd: dir, servers: servers}); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("servers that are a list: %v, want %v", err, agent.ErrInvalid)
	}
}

// TestMCPServers_draft checks the form of a server with a command in version 2.
func TestMCPServers_draft(t *testing.T) {
	var list []acp.MCPServer
	if err := json.Unmarshal([]byte(`[{"type":"stdio","name":"one","command":"cmd","args":["a"],"env":[{"name":"K","value":"v"}]}]`), &list); err != nil {
		t.Fatal(err)
	}
	got, err := mcpServers(list)
	if want := `{"args":["a"],"command":"cmd","env":{"K":"v"},"type":"stdio"}`; string(got["one"]) != want || err != nil {
		t.Errorf("the server is %s, %v, want %s", got, err, want)
	}
}

// TestClientOptions checks that each option of the official SDK sets its own field.
func TestClientOptions(t *testing.T) {
	all := `{"model":"m1","fallbackModel":"m2","permissionMode":"plan","maxTurns":3,"maxBudgetUsd":4.5,"maxThinkingTokens":5,"allowedTools":["a"],"disallowedTools":["b"],
		"additionalDirectories":["/c"],"settingSources":["user"],"mcpServers":{"d":{}},"agents":{"e":{}},"systemPrompt":"f","unknown":1}`
	var got agent.Options
	log := newPeer(t).srv.opts.Logger
	if err := claudeOptions(&got, map[string]json.RawMessage{"claudeCode": json.RawMessage(`{"options":` + all + `}`)}, log); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(got.Model, " ", got.FallbackModel, " ", got.Mode, " ", got.MaxTurns, *got.MaxBudgetUSD, *got.Thinking, got.AllowedTools, got.DisallowedTools, got.AdditionalDirectories, got.SettingSources, string(got.MCPServers), string(got.Agents), got.SystemPrompt)
	if want := `m1 m2 plan 3 4.5 5 [a] [b] [/c] [user]{"d":{}}{"e":{}}f`; text != want {
		t.Errorf("the options are %s, want %s", text, want)
	}
}

// TestAdd_closing checks that an agent that starts while its server stops is ended.
func TestAdd_closing(t *testing.T) {
	p := newPeer(t)
	p.srv.closing = true
	a := newActor("s")
	if one, err := p.srv.add("s", a, agent.Options{}); one != nil || !errors.Is(err, jsonrpc.ErrClosed) || a.notes() != "close" {
		t.Errorf("the session is %v, %v, want %v and a closed agent", one, err, jsonrpc.ErrClosed)
	}
	if p.srv.session("s") != nil {
		t.Error("the session is kept")
	}
}

// TestOpened checks each way to open a session: what the provider is asked for, the id, whether the next prompt names the session, and that a
// restart continues the same session with the same options.
func TestOpened(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name   string
		open   func(s *server) (any, error)
		notes  string
		id     string
		titled bool
	}{
		{"new", func(s *server) (any, error) {
			return s.newSession(context.Background(), &acp.NewSessionRequest{CWD: dir})
		}, "open", "new", false},
		{"load", func(s *server) (any, error) {
			return s.loadSession(context.Background(), &acp.LoadSessionRequest{CWD: dir, SessionID: "x"})
		}, "resume x fork false", "x", true},
		{"resume", func(s *server) (any, error) {
			return s.resumeSession(context.Background(), &acp.ResumeSessionRequest{CWD: dir, SessionID: "x"})
		}, "resume x fork false", "x", true},
		{"fork", func(s *server) (any, error) {
			return s.forkSession(context.Background(), &acp.ForkSessionRequest{CWD: dir, SessionID: "x"})
		}, "resume x fork true", "x-copy", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPeer(t)
			provider := &archive{}
			p.srv.opts.Provider = provider
			result, err := tt.open(p.srv)
			if err != nil {
				t.Fatal(err)
			}
			one := p.srv.session(tt.id)
			if got := strings.Join(provider.notes, "|"); got != tt.notes || one == nil {
				t.Fatalf("the provider is asked for %q and the session is %v, want %q and %s", got, one, tt.notes, tt.id)
			}
			defer one.close()
			text, err := json.Marshal(result.(*jsonrpc.Then).Result)
			if err != nil {
				t.Fatal(err)
			}
			if want := `"sessionId":"` + tt.id + `"`; strings.Contains(string(text), "sessionId") && !strings.Contains(string(text), want) || !strings.Contains(string(text), `"currentModeId"`) {
				t.Errorf("the result is %s, want the modes and the id %s, if any", text, tt.id)
			}
			if one.titled != tt.titled {
				t.Errorf("the session has a title: %v, want %v", one.titled, tt.titled)
			}
			if one.opts.Dir != dir || one.opts.Fork {
				t.Errorf("a restart would use %+v, want the same directory and no copy", one.opts)
			}
		})
	}
	for _, method := range []func(s *server) (any, error){
		func(s *server) (any, error) {
			return s.forkSession(context.Background(), &acp.ForkSessionRequest{CWD: dir, SessionID: "x"})
		},
		func(s *server) (any, error) {
			return s.loadSession(context.Background(), &acp.LoadSessionRequest{CWD: dir, SessionID: "x"})
		},
	} {
		p := newPeer(t)
		p.srv.opts.Provider = &archive{fails: agent.ErrNotFound}
		_, err := method(p.srv)
		if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != notFound("x").Code {
			t.Errorf("an unknown session fails with %v, want %v", err, notFound("x"))
		}
	}
}

// TestReplay_subagent checks that a history shows each message in the session that it belongs to.
func TestReplay_subagent(t *testing.T) {
	p, _, _ := stage(t, `{"subagents":{}}`)
	p.srv.opts.Provider = &archive{events: []event.Event{
		&event.AssistantMessage{Header: event.Header{UUID: "1", MessageID: "m"}, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "tool_use", ToolUseID: "t", Name: "Agent", Input: `{"prompt":"look"}`}}}},
		&event.AssistantMessage{Header: event.Header{UUID: "2", MessageID: "n", ParentToolUseID: "t"}, Blocks: []event.IndexedBlock{{Block: event.TextContent("inside")}}},
		&event.AssistantMessage{Header: event.Header{UUID: "3", MessageID: "o"}, Blocks: []event.IndexedBlock{{Block: event.TextContent("outside")}}},
	}}
	if err := p.srv.replay(t.Context(), "main", "/d"); err != nil {
		t.Fatal(err)
	}
	if err := p.srv.conn.Notify(t.Context(), "end", map[string]any{"sessionId": "end"}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for {
		var u struct {
			SessionID string
			Update    struct{ Content struct{ Text string } }
		}
		raw := <-p.updates
		if err := json.Unmarshal(raw, &u); err != nil && !strings.Contains(string(raw), "session_message") {
			t.Fatal(err)
		}
		if u.SessionID == "end" {
			break
		}
		if u.Update.Content.Text != "" {
			got[u.Update.Content.Text] = u.SessionID
		}
	}
	if got["inside"] != "t" || got["outside"] != "main" {
		t.Errorf("the messages are in the sessions %v, want inside in t and outside in main", got)
	}
}

// TestListSessions checks the rows of a list and its position.
func TestListSessions(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	provider := &archive{cursor: "next", list: []agent.HistoryInfo{
		{ID: "a", Dir: "/a", CustomTitle: "custom", Summary: "summary", FirstPrompt: "first", Modified: at},
		{ID: "b", Dir: "/b", Summary: "summary", FirstPrompt: "first"}, {ID: "c", Dir: "/c", FirstPrompt: "first"}, {ID: "d", Dir: "/d"}, {ID: "e"},
	}}
	p := newPeer(t)
	p.srv.opts.Provider = provider
	got, err := p.srv.listSessions(t.Context(), &acp.ListSessionsRequest{CWD: acp.Some("/p"), Cursor: acp.Some("cursor")})
	text, _ := json.Marshal(got) // an error gives no text
	want := `{"sessions":[{"sessionId":"a","cwd":"/a","title":"custom","updatedAt":"2026-01-02T02:04:05Z"},{"sessionId":"b","cwd":"/b","title":"summary"},{"sessionId":"c","cwd":"/c","title":"first"},{"sessionId":"d","cwd":"/d"}],"nextCursor":"next"}`
	if !sameJSON(t, string(text), want) || err != nil {
		t.Errorf("the list is %s, %v, want %s", text, err, want)
	}
	if notes := strings.Join(provider.notes, "|"); notes != "list /p cursor" {
		t.Errorf("the history is asked for %q, want the project and the cursor", notes)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// TestDeleteSession checks that an agent of this process ends before its session is deleted, and one that runs elsewhere afterwards, only if the
// deletion succeeded.
func TestDeleteSession(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name  string
		joins bool
		fails error
		notes string
		want  error
		open  bool
	}{
		{"own", false, nil, "delete s, closed true", nil, false},
		{"own, unknown", false, agent.ErrNotFound, "delete s, closed true", nil, false},
		{"own, fails", false, broken, "delete s, closed true", broken, false},
		{"elsewhere", true, nil, "delete s, closed false", nil, false},
		{"elsewhere, fails", true, broken, "delete s, closed false", broken, true},
	} {
		p, s, a := stage(t, `{}`)
		provider := &archive{joins: tt.joins, fails: tt.fails, last: a}
		p.srv.opts.Provider = provider
		_, err := p.srv.deleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: "s"})
		if got := strings.Join(provider.notes, "|"); got != tt.notes || !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: the history is asked for %q, %v, want %q, %v", tt.name, got, err, tt.notes, tt.want)
		}
		if open := p.srv.session("s") == s; open != tt.open {
			t.Errorf("%s: the session is open: %v, want %v", tt.name, open, tt.open)
		}
	}
}

// TestSessionEnds checks that a session that its client closes ends its agent and answers its prompts, and that its id is unknown afterwards.
func TestSessionEnds(t *testing.T) {
	p, s, a := stage(t, `{}`)
	running, queued := s.enqueue(), s.enqueue()
	running.sent, running.accepted = true, true
	for range 2 { // the second time it is closed already
		if _, err := p.srv.closeSession(t.Context(), &acp.CloseSessionRequest{SessionID: "s"}); err != nil {
			t.Errorf("it is closed with %v", err)
		}
	}
	if a.notes() != "close" || p.srv.session("s") != nil || over(running) != "cancelled" || over(queued) != "cancelled" {
		t.Errorf("the session is kept: %v, its prompts are over with %q and %q, want cancelled", p.srv.session("s") != nil, over(running), over(queued))
	}
	if _, err := s.agentOf(t.Context()); err == nil {
		t.Error("a closed session starts an agent")
	}
}

// late is a provider that resumes a session while it is closed.
type late struct {
	agent.Provider
	s    *session
	last *actor
}

func (l *late) Resume(context.Context, string, agent.Options) (agent.Session, error) {
	l.s.close()
	l.last = newActor("s")
	return l.last, nil
}

// TestAgentOf_closed checks that an agent that starts while its session is closed is ended.
func TestAgentOf_closed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s, a := stage(t, `{}`)
		provider := &late{s: s}
		p.srv.opts.Provider = provider
		_ = a.Close()
		synctest.Wait()
		if live, err := s.agentOf(t.Context()); live != nil || err == nil || provider.last.notes() != "close" {
			t.Errorf("the session has the agent %v, %v, want an error and a closed agent", live, err)
		}
	})
}

// TestRestart checks what a session keeps when its agent dies: the id of the agent, the figures that were shown, the numbers of its notices and the
// chosen model. Calls that were open are forgotten.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, s, a := stage(t, `{}`)
		used, size := int64(5), int64(100)
		for _, ev := range []event.Event{
			&event.Usage{ContextTokens: &used, ContextWindow: &size}, &event.Notice{Severity: "warning", Text: "Look"},
			&event.ToolStart{ToolUseID: "t", Name: "Bash"}, &event.TurnStart{PromptID: "p"},
		} {
			a.events <- ev
		}
		synctest.Wait()
		a.id = "other"
		_ = a.Close()
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.agentID != "other" || s.live != nil {
			t.Errorf("the agent that continues is %q, of the old one is left %v, want other and nothing", s.agentID, s.live)
		}
		if s.mapper.usage != (usage{used: 5, size: 100}) || s.mapper.notices != 1 {
			t.Errorf("the usage is %+v after %d notices, want 5 of 100 and 1", s.mapper.usage, s.mapper.notices)
		}
		if s.turnOf != "" || len(s.mapper.tools) > 0 || s.mapper.Dir != "/d" || s.mapper.Session != "s" {
			t.Errorf("the turn is of %q, the mapper is %+v, want no turn, no calls and the same session", s.turnOf, s.mapper)
		}
	})
}

// modelled is an agent with models.
type modelled struct {
	*actor
	fails error
}

func (m modelled) SetModel(_ context.Context, model string) (string, error) {
	m.note("model %q", model)
	return model, m.fails
}

// TestSetModel checks that a chosen model also counts after a restart, and that an effort that the model lacks is reset.
func TestSetModel(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		model string
		fails error
		told  string
		opts  string
		shown string
	}{{"m", nil, `model "m"`, "m", "m"}, {defaultValue, nil, `model ""`, "", defaultValue}, {"m", broken, `model "m"`, "before", "before"}} {
		_, s, a := stage(t, `{}`)
		s.config.model, s.opts.Model, s.config.effort = "before", "before", "high"
		err := s.setModel(t.Context(), modelled{a, tt.fails}, tt.model)
		if got := a.notes(); got != tt.told || !errors.Is(err, tt.fails) {
			t.Errorf("%s: the agent is told %s, %v, want %s, %v", tt.model, got, err, tt.told, tt.fails)
		}
		if s.opts.Model != tt.opts || s.config.model != tt.shown {
			t.Errorf("%s: a restart uses %q and the client sees %q, want %q and %q", tt.model, s.opts.Model, s.config.model, tt.opts, tt.shown)
		}
		if reset := s.config.effort == defaultValue; reset != (tt.fails == nil) {
			t.Errorf("%s: the effort is %q", tt.model, s.config.effort)
		}
		if err := s.setModel(t.Context(), a, "x"); !errors.Is(err, agent.ErrUnsupported) {
			t.Errorf("an agent without models: %v, want %v", err, agent.ErrUnsupported)
		}
	}
}

// TestState2_waits checks the states that a client of version 2 sees while several requests are open.
func TestState2_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s, a := stage(t, `{}`)
		p.srv.version = 2
		p.asked = func(ctx context.Context, _ *jsonrpc.Message) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		var got []string
		for _, ev := range []event.Event{
			&event.TurnStart{}, &event.QuestionRequest{RequestID: "a", Kind: event.QuestionElicitation, Schema: `{}`}, &event.PermissionRequest{RequestID: "b"}, &event.PermissionRequest{RequestID: "c"},
			&event.PermissionResolved{RequestID: "b"}, &event.PermissionResolved{RequestID: "x"}, &event.PermissionResolved{RequestID: "c"}, &event.ResultMessage{},
		} {
			a.events <- ev
			synctest.Wait()
			for _, u := range p.shown() {
				if _, rest, ok := strings.Cut(u, `"state":"`); ok {
					state, _, _ := strings.Cut(rest, `"`)
					got = append(got, state)
				}
			}
		}
		want := []string{"running", "requires_action", "running", "requires_action", "requires_action", "running", "idle"}
		if !slices.Equal(got, want) {
			t.Errorf("the states are %q, want %q", got, want)
		}
		s.close()
	})
}
