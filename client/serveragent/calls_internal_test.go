package serveragent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// script is a server with fixed answers that records the calls.
type script struct {
	*httptest.Server
	mu      sync.Mutex
	calls   []string
	answers map[string]string // results by method
	reason  api.Reason        // error code for every call; empty accepts all calls
	refuse  string            // the method that is not supported, if any
	attach  string            // the result of session.attach, or an error
	events  chan string       // messages that follow the attachment
}

func newScript(t *testing.T) (*script, *Provider) {
	t.Helper()
	s := &script{answers: map[string]string{}, events: make(chan string, 10), attach: `"result":{"cursor":{"epoch":"e","seq":1},"state":"idle"}`}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/{method}", s.call)
	mux.HandleFunc("GET /v1/ws", s.follow)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Server.Close)
	c, err := client.New(client.Options{URL: s.URL, Token: "t", Retry: time.Millisecond, MaxRetry: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return s, &Provider{Client: c}
}

func (s *script) call(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var params map[string]json.RawMessage
	_ = json.Unmarshal(body, &params)
	if params["idempotency_key"] != nil {
		params["idempotency_key"] = json.RawMessage(`"key"`) // it differs from call to call
	}
	text, _ := json.Marshal(params)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, r.PathValue("method")+" "+string(text))
	reason := s.reason
	if s.refuse == r.PathValue("method") {
		reason = api.Unsupported
	}
	if reason != "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"error":{"message":"refused","data":{"reason":%q}}}`, reason)
		return
	}
	if answer := s.answers[r.PathValue("method")]; answer != "" {
		fmt.Fprint(w, answer)
		return
	}
	fmt.Fprint(w, "{}")
}

func (s *script) follow(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for range 2 { // hello, session.attach
		if _, _, err := conn.Read(r.Context()); err != nil {
			return
		}
	}
	s.mu.Lock()
	text := `{"jsonrpc":"2.0","id":2,` + s.attach + `}`
	s.mu.Unlock()
	if conn.Write(r.Context(), websocket.MessageText, []byte(text)) != nil {
		return
	}
	ctx := conn.CloseRead(r.Context())
	for {
		select {
		case text := <-s.events:
			if conn.Write(ctx, websocket.MessageText, []byte(text)) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// take returns the recorded calls and forgets them.
func (s *script) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(s.calls, "\n")
	s.calls = nil
	return all
}

func (s *script) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// send sends an event of the session.
func (s *script) send(seq int, msg string) {
	s.events <- fmt.Sprintf(`{"jsonrpc":"2.0","method":"event","params":{"seq":%d,"epoch":"e","session_id":"s-1","ts":"t","msg":%s}}`, seq, msg)
}

// TestOpen checks that every option that the server has a parameter for is passed on.
func TestOpen(t *testing.T) {
	s, p := newScript(t)
	s.answers["session.connect"] = `{"session_id":"s-1","capabilities":{"supported_permission_modes":["m-1","m-2"]}}`
	budget := 2.5
	p.Agent, p.Machine = "codex", "crane"
	session, err := p.Open(t.Context(), agent.Options{
		Dir: "/d", Model: "mo", FallbackModel: "fm", Mode: "m-1", SystemPrompt: "sp", AppendSystemPrompt: "ap", AllowedTools: []string{"at"}, DisallowedTools: []string{"dt"},
		AdditionalDirectories: []string{"/e"}, Partial: true, MaxTurns: 3, MaxBudgetUSD: &budget, Thinking: new(int64(4)), MCPServers: []byte(`{"m":1}`), Agents: []byte(`{"a":1}`), ID: "own",
		Effort: "high", SettingSources: []string{"user"}, Metadata: map[string]string{"k": "v"}, Sandbox: "bwrap",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	want := `session.connect {"additional_directories":["/e"],"agents":{"a":1},"allowed_tools":["at"],"append_system_prompt":"ap","cwd":"/d","disallowed_tools":["dt"],"effort":"high","fallback_model":"fm","idempotency_key":"key",` +
		`"include_partial_messages":true,"machine":"crane","max_budget_usd":2.5,"max_thinking_tokens":4,"max_turns":3,"mcp_servers":{"m":1},"metadata":{"k":"v"},"model":"mo","permission_mode":"m-1","provider":"codex","sandbox":"bwrap","session_id":"own","setting_sources":["user"],"system_prompt":"sp"}`
	if got := s.take(); got != want {
		t.Errorf("the call is\n%s\nwant\n%s", got, want)
	}
	if _, err := p.Open(t.Context(), agent.Options{SettingSources: []string{}}); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("no setting sources: %v, want %v", err, agent.ErrUnsupported)
	}
	own := session.(*Session)
	if modes := strings.Join(own.Modes(), " "); session.ID() != "s-1" || modes != "m-1 m-2" || own.Mode() != "m-1" || own.Past() != nil {
		t.Errorf("the session is %s with the modes %q, in %q, past %v; want s-1, m-1 m-2, m-1 and no past", session.ID(), modes, own.Mode(), own.Past())
	}
}

// TestResume checks how a session of the server is joined or forked.
func TestResume(t *testing.T) {
	s, p := newScript(t)
	s.answers["session.list"] = `{"sessions":[{"session_id":"s-0","permission_mode":"m-0"},{"session_id":"s-1","permission_mode":"m-1","capabilities":{"supported_permission_modes":["m-1"]}},{"session_id":"s-2"}]}`
	s.answers["session.fork"] = `{"session_id":"s-9","capabilities":{"supported_permission_modes":["m-9"]}}`
	for _, tt := range []struct {
		id         string
		opts       agent.Options
		want, mode string
		modes      string
	}{
		{"s-1", agent.Options{}, "s-1", "m-1", "m-1"},
		{"s-2", agent.Options{}, "s-2", "", ""},
		{"s-1", agent.Options{Fork: true, At: "u"}, "s-9", "m-1", "m-9"},
	} {
		session, err := p.Resume(t.Context(), tt.id, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		own := session.(*Session)
		if modes := strings.Join(own.Modes(), " "); own.ID() != tt.want || own.Mode() != tt.mode || modes != tt.modes {
			t.Errorf("resuming %s with %+v gives %s in %q of %q, want %s in %q of %q", tt.id, tt.opts, own.ID(), own.Mode(), modes, tt.want, tt.mode, tt.modes)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
	if calls := s.take(); !strings.HasSuffix(calls, "\n"+`session.fork {"at":"u","session_id":"s-1"}`) {
		t.Errorf("the calls are\n%s\nwant a fork of s-1 at u last", calls)
	}
	s.set(func() { s.refuse = "session.fork" })
	if session, err := p.Resume(t.Context(), "s-1", agent.Options{Fork: true}); !errors.Is(err, agent.ErrUnsupported) || session != nil {
		t.Errorf("a fork that is refused returns %v, %v; want %v", session, err, agent.ErrUnsupported)
	}
	s.set(func() { s.refuse = "" })
	if _, err := p.Resume(t.Context(), "s-3", agent.Options{}); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("resuming an unknown session returns %v, want %v", err, agent.ErrNotFound)
	}
}

// TestJoin checks the first events of a joined session: its state, queue, lost parts and open
// requests.
func TestJoin(t *testing.T) {
	s, p := newScript(t)
	var c event.Conversation
	c.Provider, c.SessionID = "claude", "agent-1"
	for _, ev := range []event.Event{
		&event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, Blocks: []event.Content{event.TextContent("past words")}},
		&event.QueueChanged{Items: []event.QueueItem{{ID: "q", Content: `"waits"`}}},
		&event.Notice{Severity: event.NoticeError, Code: event.NoticeLost, Text: "lost"},
		&event.Notice{Severity: event.NoticeInfo, Code: "other", Text: "other"},
		&event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolName: "Bash"},
	} {
		c.Apply(ev)
	}
	snapshot, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	s.attach = `"result":{"cursor":{"epoch":"e","seq":1},"state":"requires_action","snapshot":` + string(snapshot) + `}`
	session, err := p.attach(t.Context(), "s-1", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	s.send(2, `{"type":"notice","severity":"info","text":"live"}`)
	var got []string
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for ev, err := range session.Events(ctx) {
		if err != nil {
			t.Fatalf("the events end with %v after %v, want the live notice", err, got)
		}
		text := strings.TrimPrefix(fmt.Sprintf("%T", ev), "*event.")
		switch ev := ev.(type) {
		case *event.SessionState:
			text += " " + ev.State + " " + ev.Provider + " " + ev.SessionID
		case *event.Notice:
			text += " " + ev.Text
		}
		if got = append(got, text); text == "Notice live" {
			break
		}
	}
	if want := "SessionState requires_action claude agent-1; QueueChanged; Notice lost; PermissionRequest; Notice live"; strings.Join(got, "; ") != want {
		t.Errorf("the events are %s, want %s", strings.Join(got, "; "), want)
	}
	if past := session.(*Session).Past(); past == nil || past.Thread("") == nil || len(past.Thread("").Items) == 0 {
		t.Errorf("the past is %+v, want the conversation", past)
	}
	s.set(func() { s.attach = `"result":{"cursor":{"epoch":"e","seq":1},"snapshot":[]}` })
	if _, err := p.attach(t.Context(), "s-1", nil, ""); err == nil {
		t.Error("joining with a snapshot that cannot be read succeeds, want an error")
	}
	s.set(func() { s.attach = `"error":{"message":"no","data":{"reason":"session_expired"}}` })
	if _, err := p.attach(t.Context(), "s-1", nil, ""); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("joining a deleted session returns %v, want %v", err, agent.ErrNotFound)
	}
	ended, stop := context.WithCancelCause(t.Context())
	why := errors.New("the caller has left")
	stop(why)
	s.set(func() { s.attach = `"other":1` }) // no answer
	if _, err := p.attach(ended, "s-1", nil, ""); !errors.Is(err, why) {
		t.Errorf("joining with an ended context returns %v, want its cause", err)
	}
}

// sessionCall is a call of a session and the request that the server receives.
type sessionCall struct {
	name string
	do   func(ctx context.Context, s *Session) error
	want string
}

var sessionCalls = []sessionCall{
	{"Send", func(ctx context.Context, s *Session) error {
		return s.Send(ctx, agent.Input{UUID: "own", Text: "te", Priority: "now"})
	}, `session.query {"idempotency_key":"key","priority":"now","session_id":"s-1","text":"te"}`},
	{"Send of blocks", func(ctx context.Context, s *Session) error {
		return s.Send(ctx, agent.Input{UUID: "own", Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"b"}`)}, Priority: "later"})
	}, `session.queryWithContent {"content":[{"type":"text","text":"b"}],"idempotency_key":"key","priority":"later","session_id":"s-1"}`},
	{"Interrupt", func(ctx context.Context, s *Session) error {
		done, err := s.Interrupt(ctx)
		if err == nil && (strings.Join(done.Dropped, " ") != "d" || strings.Join(done.StillQueued, " ") != "q") {
			return fmt.Errorf("Interrupt returns %+v, want d dropped and q queued", done)
		}
		return err
	}, `session.interrupt {"session_id":"s-1"}`},
	{"SetMode", func(ctx context.Context, s *Session) error { return s.SetMode(ctx, "plan") }, `session.setPermissionMode {"mode":"plan","session_id":"s-1"}`},
	{"SetModel", func(ctx context.Context, s *Session) error {
		model, err := s.SetModel(ctx, "mo")
		if want := map[bool]string{true: "real"}[err == nil]; model != want {
			return fmt.Errorf("SetModel returns %q, want %q: %w", model, want, err)
		}
		return err
	}, `session.setModel {"model":"mo","session_id":"s-1"}`},
	{"Open", func(ctx context.Context, s *Session) error {
		other, err := s.p.Open(ctx, agent.Options{Dir: "/d"})
		return closeOpened(other, err)
	}, `session.connect {"cwd":"/d","idempotency_key":"key","include_partial_messages":false}`},
	{"Resume", func(ctx context.Context, s *Session) error {
		other, err := s.p.Resume(ctx, "s-5", agent.Options{})
		return closeOpened(other, err)
	}, `session.list {}`},
	{"Models", func(ctx context.Context, s *Session) error { return failed(s.Models(ctx)) }, `models.list {"session_id":"s-1"}`},
	{"Commands", func(ctx context.Context, s *Session) error { return failed(s.Commands(ctx)) }, `commands.list {"session_id":"s-1"}`},
	{"Agents", func(ctx context.Context, s *Session) error { return failed(s.Agents(ctx)) }, `agents.list {"session_id":"s-1"}`},
	{"Continue", func(ctx context.Context, s *Session) error { return s.Continue(ctx) }, `session.continue {"session_id":"s-1"}`},
	{"Release", func(ctx context.Context, s *Session) error { return s.Release(ctx) }, `queue.release {"session_id":"s-1"}`},
	{"Cancel", func(ctx context.Context, s *Session) error { return s.Cancel(ctx, "other") }, `queue.remove {"id":"other","session_id":"s-1"}`},
	{"Rename", func(ctx context.Context, s *Session) error { return s.p.History().Rename(ctx, "s-5", "ti") }, `session.rename {"session_id":"s-5","title":"ti"}`},
	{"Delete", func(ctx context.Context, s *Session) error { return s.p.History().Delete(ctx, "s-5") }, `session.delete {"session_id":"s-5"}`},
	{"List", func(ctx context.Context, s *Session) error {
		list, _, err := s.p.History().List(ctx, agent.HistoryQuery{Project: "pr"})
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if err == nil && (len(list) != 2 || list[0] != agent.HistoryInfo{ID: "s-5", CustomTitle: "ti", Dir: "/d", Archived: true, Modified: at}) {
			return fmt.Errorf("List returns %+v, want s-5 with its title, directory and time", list)
		}
		return err
	}, `session.list {"project":"pr"}`},
	{"Metadata", func(ctx context.Context, s *Session) error {
		m, err := s.p.History().Metadata(ctx, "s-6")
		if err == nil && m.ID != "s-6" {
			return fmt.Errorf("Metadata returns %+v, want s-6", m)
		}
		return err
	}, `session.list {}`},
	{"Load", func(ctx context.Context, s *Session) error {
		page, err := s.p.History().Load(ctx, "s-5", agent.HistoryPage{})
		if err != nil {
			return err
		}
		var got []string
		for ev, err := range page.Events {
			if err != nil {
				return err
			}
			got = append(got, strings.TrimPrefix(fmt.Sprintf("%T", ev), "*event."))
		}
		if text := strings.Join(got, " "); text != "UserMessage AssistantMessage ToolComplete" {
			return fmt.Errorf("the past is %s, want a prompt, an answer and a result", text)
		}
		return nil
	}, `session.getHistory {"session_id":"s-5"}`},
}

// closeOpened closes a session that was opened. A failed call returns none.
func closeOpened(s agent.Session, err error) error {
	if (s == nil) != (err != nil) {
		return fmt.Errorf("the session is %v with the error %w", s, err)
	}
	if s != nil {
		return s.Close()
	}
	return err
}

func failed[T any](_ T, err error) error { return err }

// answerCalls are the answers to open requests, by the kind of the request.
var answerCalls = []struct {
	ask    string // the message with the request
	answer agent.Answer
	want   string
}{
	{`{"type":"permission_request","kind":"tool","request_id":"r","tool_name":"Bash"}`,
		&agent.PermissionAnswer{Allow: true, Choice: "ch", Scope: "session", UpdatedInput: []byte(`{"i":1}`), UpdatedPermissions: []byte(`[1]`)},
		`permission.respond {"behavior":"allow","choice":"ch","idempotency_key":"key","request_id":"r","scope":"session","session_id":"s-1","updated_input":{"i":1},"updated_permissions":[1]}`},
	{`{"type":"permission_request","kind":"tool","request_id":"r","tool_name":"Bash"}`,
		&agent.PermissionAnswer{Message: "no", Interrupt: true},
		`permission.respond {"behavior":"deny","idempotency_key":"key","interrupt":true,"reason":"no","request_id":"r","session_id":"s-1"}`},
	{`{"type":"permission_request","kind":"plan","request_id":"r","tool_name":"ExitPlanMode"}`,
		&agent.PlanAnswer{Approve: true, Mode: "mo", Plan: "pl"},
		`permission.respond {"behavior":"allow","idempotency_key":"key","request_id":"r","session_id":"s-1","updated_input":{"plan":"pl"},"updated_permissions":[{"destination":"session","mode":"mo","type":"setMode"}]}`},
	{`{"type":"permission_request","kind":"plan","request_id":"r","tool_name":"ExitPlanMode"}`,
		&agent.PlanAnswer{Message: "no", Interrupt: true},
		`permission.respond {"behavior":"deny","idempotency_key":"key","interrupt":true,"reason":"no","request_id":"r","session_id":"s-1"}`},
	{`{"type":"question_request","kind":"ask_user_question","request_id":"r","questions":[{"question":"Which?"}]}`,
		&agent.QuestionAnswer{Answers: []byte(`{"Which?":"A"}`)},
		`question.respond {"action":"accept","answers":{"Which?":"A"},"idempotency_key":"key","request_id":"r","session_id":"s-1"}`},
	{`{"type":"question_request","kind":"ask_user_question","request_id":"r","questions":[{"question":"Which?"}]}`,
		&agent.QuestionAnswer{Declined: true},
		`question.respond {"action":"decline","idempotency_key":"key","request_id":"r","session_id":"s-1"}`},
	{`{"type":"question_request","kind":"elicitation","request_id":"r","message":"Name?"}`,
		&agent.ElicitationAnswer{Action: "cancel", Content: []byte(`{"n":1}`)},
		`question.respond {"action":"cancel","answers":{"n":1},"idempotency_key":"key","request_id":"r","session_id":"s-1"}`},
}

// pastConversation is a conversation with a prompt, an answer and the result of its tool.
func pastConversation(t *testing.T) string {
	t.Helper()
	var c event.Conversation
	for _, ev := range []event.Event{
		&event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, Blocks: []event.Content{event.TextContent("hi")}},
		&event.AssistantMessage{Header: event.Header{UUID: "a", MessageID: "m"}, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "tool_use", ToolUseID: "tu", Name: "Bash", Input: `{}`}}}},
		&event.ToolComplete{ToolUseID: "tu", Content: `"done"`},
	} {
		c.Apply(ev)
	}
	data, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCalls checks the request of every call, its error for every reason of the server, and that an ended session makes no call.
func TestCalls(t *testing.T) {
	s, p := newScript(t)
	s.answers["session.query"], s.answers["session.queryWithContent"] = `{"turn_id":"server-1"}`, `{"turn_id":"server-2"}`
	s.answers["session.interrupt"] = `{"status":"interrupted","dropped":["d"],"still_queued":["q"]}`
	s.answers["session.setModel"], s.answers["session.connect"] = `{"model":"real"}`, `{"session_id":"s-1"}`
	s.answers["session.list"] = `{"sessions":[{"session_id":"s-5","title":"ti","cwd":"/d","archived":true,"updated_at":"2026-01-02T03:04:05Z"},{"session_id":"s-6"}]}`
	s.answers["session.getHistory"] = `{"conversation":` + pastConversation(t) + `}`
	joined, err := p.attach(t.Context(), "s-1", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	session := joined.(*Session)
	for _, call := range sessionCalls {
		if err := call.do(t.Context(), session); err != nil {
			t.Errorf("%s returns %v, want no error", call.name, err)
		}
		if got := s.take(); got != call.want {
			t.Errorf("%s calls\n%s\nwant\n%s", call.name, got, call.want)
		}
		for reason, want := range map[api.Reason]error{
			api.SessionExpired: agent.ErrNotFound, api.AuthFailed: agent.ErrAuth, api.InvalidParams: agent.ErrInvalid,
			api.Unsupported: agent.ErrUnsupported, api.CLINotFound: agent.ErrNotInstalled, api.Conflict: agent.ErrNotOpen,
		} {
			s.set(func() { s.reason = reason })
			if err := call.do(t.Context(), session); !errors.Is(err, want) || client.Reason(err) != reason {
				t.Errorf("%s refused as %s returns %v, want %v", call.name, reason, err, want)
			}
		}
		s.set(func() { s.reason = "" })
		s.take()
	}
	if err := session.Cancel(t.Context(), "own"); err != nil {
		t.Error(err)
	}
	if got := s.take(); got != `queue.remove {"id":"server-1","session_id":"s-1"}` && got != `queue.remove {"id":"server-2","session_id":"s-1"}` {
		t.Errorf("cancelling an own prompt calls %s, want the removal of the id that the server has", got)
	}
	s.answers["session.getHistory"] = `{"conversation":[]}`
	if _, err := p.History().Load(t.Context(), "s-5", agent.HistoryPage{}); err == nil {
		t.Error("a past that cannot be read is loaded, want an error")
	}
	if _, err := p.History().Metadata(t.Context(), "s-7"); !errors.Is(err, agent.ErrNotFound) {
		t.Errorf("the metadata of an unknown session: %v, want %v", err, agent.ErrNotFound)
	}
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	s.take()
	for _, call := range sessionCalls {
		err := call.do(t.Context(), session)
		if got := s.take(); !strings.Contains(call.want, `"s-1"`) || strings.Contains(call.want, ".list ") { // a list of names needs no view
			continue
		} else if !errors.Is(err, agent.ErrClosed) || got != "" {
			t.Errorf("%s of a closed session returns %v and calls %q, want %v and no call", call.name, err, got, agent.ErrClosed)
		}
	}
}

// TestAnswer checks the request of every kind of answer.
func TestAnswer(t *testing.T) {
	for i, tt := range answerCalls {
		t.Run(fmt.Sprintf("%d %T", i, tt.answer), func(t *testing.T) {
			s, p := newScript(t)
			session, err := p.attach(t.Context(), "s-1", nil, "")
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if err := session.Answer(t.Context(), "r", tt.answer); !errors.Is(err, agent.ErrNotOpen) {
				t.Errorf("an answer without a request returns %v, want %v", err, agent.ErrNotOpen)
			}
			s.send(2, tt.ask)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for ev, err := range session.Events(ctx) {
				if err != nil {
					t.Fatalf("the events end with %v, want the request", err)
				}
				if _, ok := event.NewPrompt(ev); ok {
					break
				}
			}
			if err := session.Answer(t.Context(), "r", tt.answer); err != nil {
				t.Errorf("the answer returns %v, want no error", err)
			}
			if got := s.take(); got != tt.want {
				t.Errorf("the call is\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestCatalog checks that an entry of a list is named by its value, else by its id, else by its
// name, and that an error of the server is returned.
func TestCatalog(t *testing.T) {
	s, p := newScript(t)
	joined, err := p.attach(t.Context(), "s-1", nil, "")
	if err != nil {
		t.Fatal(err)
	}
	session := joined.(*Session)
	defer session.Close()
	items := []string{`{"value":"v","id":"i","name":"n","description":"d"}`, `{"id":"i","name":"n"}`, `{"name":"n"}`}
	for method, list := range map[string]func(context.Context) ([]agent.Entry, error){"models.list": session.Models, "commands.list": session.Commands, "agents.list": session.Agents} {
		s.set(func() { s.answers[method] = `{"items":[` + strings.Join(items, ",") + `]}` })
		got, err := list(t.Context())
		want := []agent.Entry{{Name: "v", Description: "d", Data: json.RawMessage(items[0])}, {Name: "i", Data: json.RawMessage(items[1])}, {Name: "n", Data: json.RawMessage(items[2])}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", method, err, diff)
		}
		s.set(func() { s.refuse = method })
		if got, err := list(t.Context()); !errors.Is(err, agent.ErrUnsupported) || got != nil {
			t.Errorf("%s that is refused: %v, %v; want %v", method, got, err, agent.ErrUnsupported)
		}
		s.set(func() { s.refuse = "" })
	}
	s.set(func() { s.answers["session.getHistory"] = `{"conversation":` + pastConversation(t) + `}` })
	page, err := p.History().Load(t.Context(), "s-1", agent.HistoryPage{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range page.Events {
		n++
		break // a reader may leave
	}
	if n != 1 {
		t.Errorf("the past has %d events before the reader left, want 1", n)
	}
}
