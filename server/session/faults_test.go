package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

var errFault = errors.New("the test stops this call")

// TestCreate_fails checks that a session that cannot be created does not exist, and that the same call succeeds afterwards.
func TestCreate_fails(t *testing.T) {
	secret := Opened{Params: api.ConnectParams{MCPServers: `{"a":1}`, ResumeSessionID: "past"}}
	for name, tt := range map[string]struct {
		fail func(c *stage) (undo func())
		want error
	}{
		"no agent": {func(c *stage) func() {
			provider := c.opts.Provider
			c.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return nil, nil, errFault }
			return func() { c.opts.Provider = provider }
		}, errFault},
		"no append": {func(c *stage) func() {
			c.log.set("Append", errFault)
			return func() { c.log.set("Append", nil) }
		}, errFault},
		"no end of the log": {func(c *stage) func() {
			c.log.set("Last", errFault)
			return func() {
				c.log.set("Last", nil)
				c.log.events = nil // events of the session that was not created
			}
		}, errFault},
		"no place for secrets": {func(c *stage) func() {
			dir := c.opts.SecretDir
			c.opts.SecretDir = filepath.Join(dir, "missing")
			return func() { c.opts.SecretDir = dir }
		}, fs.ErrNotExist},
		"a server that stops": {func(c *stage) func() {
			c.table.closed = true
			return func() { c.table.closed = false; c.log.events = nil }
		}, nil},
		"too many sessions": {func(c *stage) func() {
			c.opts.MaxSessions = 0
			return func() { c.opts.MaxSessions = 9 }
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := emptyStage(t)
			undo := tt.fail(c)
			err := c.Create(t.Context(), c.id, secret)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("the error is %v, want %v", err, tt.want)
			}
			if c.Exists(c.id) {
				t.Error("the session exists, want that it does not")
			}
			undo()
			if err := c.Create(t.Context(), c.id, secret); err != nil || !c.Exists(c.id) {
				t.Errorf("creating it again returns %v, want a session", err)
			}
		})
	}
}

// TestCreate checks a new session: its parameters without secrets in the log, its secrets for the agent, its title, and the history
// of the session that it continues.
func TestCreate(t *testing.T) {
	c := emptyStage(t)
	c.opts.AllowBypass = true
	c.puppets.history = []event.Event{
		&event.UserMessage{Header: event.Header{UUID: "u"}, IsPrompt: true, IsText: true, Blocks: []event.Content{event.TextContent("from the past")}},
		&event.TextDelta{Header: event.Header{MessageID: "m"}, Text: "half"},
	}
	partial, budget := false, 2.5
	o := Opened{Tenant: "ten", By: "who", Params: api.ConnectParams{
		MCPServers: `{"server":"s3cret"}`, Agents: `{"agent":"s3cret"}`, ResumeSessionID: "past", Title: " A title ", CWD: "/d", PermissionMode: "plan",
		Model: "model", FallbackModel: "fallback", SystemPrompt: "system", AppendSystemPrompt: "append", AllowedTools: []string{"allowed"}, DisallowedTools: []string{"disallowed"},
		AdditionalDirectories: []string{"/e"}, SettingSources: []string{"user"}, MaxThinkingTokens: new(int64(7)), MaxTurns: 8, MaxBudgetUSD: &budget, Effort: "high",
		IncludePartialMessages: &partial, Metadata: map[string]string{"k": "v"}, AllowDangerouslySkipPermissions: true, ForkSession: true,
	}}
	if err := c.Create(t.Context(), c.id, o); err != nil {
		t.Fatal(err)
	}
	if _, log := c.records(0); strings.Contains(log, "s3cret") || !strings.Contains(log, "from the past") || strings.Contains(log, "half") || !strings.Contains(log, `"title":"A title"`) {
		t.Errorf("the log has\n%s\nwant the title, the past without deltas, and no secret", log)
	}
	info, err := c.Lookup(t.Context(), c.id)
	if err != nil || info.Tenant != "ten" || info.Title != "A title" || info.CWD != "/d" || info.PermissionMode != "plan" || info.Model != "model" || info.Effort != "high" || !info.Loaded || info.AgentSessionID != "past" {
		t.Errorf("the list has %+v, %v, want the parameters of the session", info, err)
	}
	r, err := c.Connected(t.Context(), c.id)
	if err != nil || r.Status != "connected" || r.SessionID != c.id || r.Provider != "claude" || r.Model != "model" || r.CWD != "/d" || !r.Capabilities.CanFork {
		t.Errorf("connecting returns %+v, %v, want the session", r, err)
	}
	got := c.puppets.given()
	got.OnUsed, got.OnLine = nil, nil
	want := agent.Options{
		Dir: "/d", AdditionalDirectories: []string{"/e"}, Env: got.Env, Model: "model", FallbackModel: "fallback", Mode: "plan", AllowBypass: true, Thinking: new(int64(7)), Effort: "high",
		SystemPrompt: "system", AppendSystemPrompt: "append", AllowedTools: []string{"allowed"}, DisallowedTools: []string{"disallowed"}, SettingSources: []string{"user"}, MaxTurns: 8,
		MaxBudgetUSD: &budget, Partial: got.Partial, MCPServers: []byte(`{"server":"s3cret"}`), Agents: []byte(`{"agent":"s3cret"}`), Metadata: got.Metadata, Fork: true,
	}
	if a, b := asText(got), asText(want); a != b {
		t.Errorf("the agent was started with\n%s\nwant\n%s", a, b)
	}
	if calls := c.puppets.calls.take(); calls != "Load past 2000; Page; Resume past" {
		t.Errorf("the provider was called with %q, want that the past session was read and resumed", calls)
	}
	if len(got.Env) == 0 || got.Env[0] != "E=1" {
		t.Errorf("the environment is %v, want that of the provider", got.Env)
	}
}

// TestCreate_bypass checks which agents may run without permissions: those of a session that asks for it, on a server that allows it.
func TestCreate_bypass(t *testing.T) {
	for name, tt := range map[string]struct {
		allowed bool
		params  api.ConnectParams
		want    bool
	}{
		"by the mode": {true, api.ConnectParams{PermissionMode: "bypassPermissions"}, true},
		"later":       {true, api.ConnectParams{AllowDangerouslySkipPermissions: true}, true},
		"not asked":   {true, api.ConnectParams{}, false},
		"not allowed": {false, api.ConnectParams{PermissionMode: "bypassPermissions"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := emptyStage(t)
			c.opts.AllowBypass = tt.allowed
			if err := c.Create(t.Context(), c.id, Opened{Params: tt.params}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Connected(t.Context(), c.id); err != nil {
				t.Fatal(err)
			}
			if got := c.puppets.given(); got.AllowBypass != tt.want || !tt.allowed && got.Mode == "bypassPermissions" {
				t.Errorf("the agent may bypass permissions: %t, in mode %q; want %t", got.AllowBypass, got.Mode, tt.want)
			}
		})
	}
}

// TestCreate_past checks that a past that cannot be read is reported in the log of the server, and that the session exists.
func TestCreate_past(t *testing.T) {
	for _, call := range []string{"Load", "Page"} {
		c := emptyStage(t)
		c.puppets.calls.setFail(call)
		err := c.Create(t.Context(), c.id, Opened{Params: api.ConnectParams{ResumeSessionID: "past"}})
		if said := c.lines.String(); err != nil || !c.Exists(c.id) || !strings.Contains(said, errPuppet.Error()) {
			t.Errorf("with %s failing, Create returns %v and logs %q, want a session and the reason in the log", call, err, said)
		}
	}
}

// TestLoad_fails checks that a session that cannot be loaded returns the reason, and loads when the cause is gone.
func TestLoad_fails(t *testing.T) {
	for _, call := range []string{"Last", "Snapshot", "Read", "Provider"} {
		t.Run(call, func(t *testing.T) {
			c := newStage(t, Opened{})
			c.unloaded()
			provider := c.opts.Provider
			if call == "Provider" {
				c.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return nil, nil, errFault }
			} else {
				c.log.set(call, errFault)
			}
			if _, err := Of[Queues](c.Sessions).List(t.Context(), ref(c.id)); !errors.Is(err, errFault) {
				t.Errorf("a call returns %v, want %v", err, errFault)
			}
			c.log.set(call, nil)
			c.opts.Provider = provider
			if _, err := Of[Queues](c.Sessions).List(t.Context(), ref(c.id)); err != nil {
				t.Errorf("afterwards a call returns %v, want no error", err)
			}
		})
	}
}

// unloaded ends the actor of the session and waits for it.
func (c *stage) unloaded() {
	c.Helper()
	a, release, err := c.use(context.Background(), c.id)
	if err != nil {
		c.Fatal(err)
	}
	release()
	a.cancel()
	<-a.done
	c.await("the actor is gone", func() bool { info, err := c.Lookup(context.Background(), c.id); return err == nil && !info.Loaded })
}

// TestLoad_snapshot checks that a snapshot that cannot be decoded is not used: the log has everything.
func TestLoad_snapshot(t *testing.T) {
	for name, data := range map[string]string{"no JSON": "x", "another conversation": `{"core":{"id":"x","title":"wrong"},"conversation":[]}`} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{Params: api.ConnectParams{Title: "Right"}})
			c.unloaded()
			before := c.log.snap
			c.log.snap = &eventlog.Snapshot{Cursor: eventlog.Cursor{Seq: 1}, Data: []byte(data)}
			if core := c.state(); !strings.Contains(core, `"title":"Right"`) || !strings.Contains(core, `"id":"`+c.id+`"`) {
				t.Errorf("with the snapshot %s the core is %s, want that of the log (snapshot before: %v)", data, core, before != nil)
			}
			if said := c.lines.String(); !strings.Contains(said, "a snapshot cannot be read") {
				t.Errorf("the log of the server has %q, want the unreadable snapshot", said)
			}
		})
	}
}

// TestOpen_fails checks a start with an unreadable store and unreadable directories.
func TestOpen_fails(t *testing.T) {
	c := newStage(t, Opened{Tenant: "ten", Params: api.ConnectParams{Title: "T"}})
	c.unloaded()
	open := func(change func(o *Options, st *brokenStore)) (*Sessions, error) {
		o := c.opts
		st := *c.store
		st.ends = map[string]uint64{c.id: 3, "other": 1}
		o.List, o.Store = filepath.Join(t.TempDir(), "list"), &st
		o.Logger = c.logger
		change(&o, &st)
		s, err := Open(t.Context(), o)
		if err == nil {
			t.Cleanup(s.Close)
		}
		return s, err
	}
	if _, err := open(func(_ *Options, st *brokenStore) { st.fail = errFault }); !errors.Is(err, errFault) {
		t.Errorf("a store that cannot list its sessions: the error is %v, want %v", err, errFault)
	}
	if _, err := open(func(o *Options, _ *brokenStore) { o.Dir = filepath.Join(o.Dir, "missing") }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is missing: the error is %v, want %v", err, fs.ErrNotExist)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	o := c.opts
	o.List = filepath.Join(t.TempDir(), "list")
	if s, err := Open(ended, o); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: the error is %v, want that of the context", err)
		s.Close()
	}
	s, err := open(func(*Options, *brokenStore) {})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := s.Lookup(t.Context(), c.id); err != nil || info.Title != "T" || info.Tenant != "ten" || info.State == string(Failed) || s.Exists("other") {
		t.Errorf("the list has %+v, %v, want the session alone", info, err)
	}
	c.log.set("Read", errFault)
	defer c.log.set("Read", nil)
	if s, err = open(func(*Options, *brokenStore) {}); err != nil {
		t.Fatalf("with a session that cannot be read the error is %v, want none", err)
	}
	if info, err := s.Lookup(t.Context(), c.id); err != nil || info.State != string(Failed) || info.Title != damagedTitle {
		t.Errorf("a session that cannot be read is listed as %+v, %v, want a failed one", info, err)
	}
	if said := c.lines.String(); !strings.Contains(said, errFault.Error()) {
		t.Errorf("the log of the server has %q, want the reason", said)
	}
}

// TestDelete_fails checks that deleting a session returns the reason if its log cannot be deleted, and which files a
// deletion removes.
func TestDelete_fails(t *testing.T) {
	c := newStage(t, Opened{Params: api.ConnectParams{CWD: "/d", MCPServers: `{"a":1}`}})
	c.connect()
	c.puppets.calls.take()
	secret := c.secretPath(c.id)
	if _, err := os.Stat(secret); err != nil {
		t.Fatalf("the secrets: %v, want a file", err)
	}
	_, _, err := c.Delete(t.Context(), "s-missing", false)
	c.reason("deleting a missing session", err, api.SessionExpired)
	c.puppets.calls.setFail("Delete")
	if _, _, err := c.Delete(t.Context(), c.id, true); !errors.Is(err, errPuppet) {
		t.Errorf("with files that the agent keeps the error is %v, want %v", err, errPuppet)
	}
	c.puppets.calls.setFail("")
	if _, err := c.Lookup(t.Context(), c.id); err != nil {
		t.Errorf("a session that was not deleted: %v, want it in the list", err)
	}
	c.log.set("Append", errFault)
	if _, err := Of[Details](c.Sessions).Disconnect(t.Context(), ref(c.id)); err != nil {
		t.Errorf("disconnecting an ended session: %v, want no error", err)
	}
	c.log.set("Append", nil)
	c.puppets.calls.take()
	var shown string // with text of a turn that could not be stored
	c.inLoop(func(a *actor) { shown = a.shown.path })
	if err := os.WriteFile(shown, []byte("1 1\nx\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.puppets.calls.setFailWith("Delete", agent.ErrNotFound) // a person has deleted them
	dir, _, err := c.Delete(t.Context(), c.id, true)
	if err != nil || dir != "/d" {
		t.Errorf("Delete returns %q, %v, want /d", dir, err)
	}
	if calls := c.puppets.calls.take(); calls != "Delete agent-1" {
		t.Errorf("the provider was called with %q, want one deletion", calls)
	}
	for what, path := range map[string]string{"the secrets": secret, "the text that viewers saw": shown} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, want no file", what, err)
		}
	}
	if c.Exists(c.id) {
		t.Error("the session exists, want that it does not")
	}
	c = newStage(t, Opened{})
	c.log.set("Delete", errFault)
	if _, _, err := c.Delete(t.Context(), c.id, false); !errors.Is(err, errFault) {
		t.Errorf("with a log that cannot be deleted the error is %v, want %v", err, errFault)
	}
}

// TestStart_fails checks an agent that cannot be started: the caller gets the reason, the conversation shows it, and the queue is held.
func TestStart_fails(t *testing.T) {
	c := newStage(t, Opened{})
	c.puppets.calls.setFail("Open")
	if _, err := c.Connected(t.Context(), c.id); !errors.Is(err, errPuppet) {
		t.Errorf("the error is %v, want %v", err, errPuppet)
	}
	c.inState(Failed)
	if !c.has("the agent was not started") {
		_, log := c.records(0)
		t.Errorf("the log has\n%s\nwant that the agent was not started", log)
	}
	if free, waiting := c.Places(); free != 8 || waiting != 0 {
		t.Errorf("%d places are free and %d agents wait, want 8 and none", free, waiting)
	}
	r, err := c.Query(t.Context(), c.id, "", `"x"`, "", "by")
	if err != nil {
		t.Fatal(err)
	}
	c.await("the prompt is held", func() bool {
		list, err := Of[Queues](c.Sessions).List(t.Context(), ref(c.id))
		return err == nil && len(list.Items) == 1 && list.Items[0].ID == r.TurnID && list.Items[0].Status == string(inputHeld)
	})
	c.puppets.calls.setFail("")
	if _, err := c.Connected(t.Context(), c.id); err != nil {
		t.Errorf("starting it again returns %v, want no error", err)
	}
	c.inState(Idle)
	if free, _ := c.Places(); free != 7 {
		t.Errorf("%d places are free with one agent, want 7", free)
	}
}

// TestSend_fails checks an input that does not reach the agent: it waits for a person, and the conversation shows why. Only an input that the
// agent has certainly not taken can be released with the others.
func TestSend_fails(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want inputStatus
	}{
		"any error":       {errPuppet, inputUnknown},
		"a timeout":       {context.DeadlineExceeded, inputUnknown},
		"invalid":         {agent.ErrInvalid, inputHeld},
		"invalid, in one": {fmt.Errorf("the image: %w", agent.ErrInvalid), inputHeld},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			p.setFailWith("Send", tt.err)
			r, err := c.Query(t.Context(), c.id, "", `"x"`, "", "by")
			if err != nil {
				t.Fatal(err)
			}
			c.await("the prompt is "+string(tt.want), func() bool { return c.queueIs(r.TurnID, tt.want) })
			c.inState(Idle)
			if !c.has("an input was not sent") || !strings.Contains(c.lines.String(), tt.err.Error()) {
				_, log := c.records(0)
				t.Errorf("the log has\n%s\nand the log of the server\n%s\nwant that the input was not sent", log, c.lines)
			}
		})
	}
	for name, tt := range map[string]struct {
		fail string
		want inputStatus
	}{"the agent has ended": {"", inputHeld}, "its files cannot be read": {"Delivered", inputUnknown}} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			p.setFailWith("Send", fmt.Errorf("writing: %w", agent.ErrClosed))
			c.puppets.calls.setFail(tt.fail)
			r, err := c.Query(t.Context(), c.id, "", `"x"`, "", "by")
			if err != nil {
				t.Fatal(err)
			}
			c.await("the error", func() bool { return strings.Contains(c.lines.String(), "an input was not sent") })
			if core := c.state(); !strings.Contains(core, `"status":"sent"`) || c.has("an input was not sent") {
				t.Errorf("before the end of the agent the session is %s, want the prompt as sent", core)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			c.await("the fate of the prompt according to the agent's files", func() bool { return c.queueIs(r.TurnID, tt.want) })
		})
	}
}

// queueIs reports whether the queue is one input with a status.
func (c *stage) queueIs(id string, want inputStatus) bool {
	list, err := Of[Queues](c.Sessions).List(context.Background(), ref(c.id))
	return err == nil && len(list.Items) == 1 && list.Items[0].ID == id && list.Items[0].Status == string(want)
}

// TestMemory checks the question of a session with an agent that has lost the conversation, and each answer to it.
func TestMemory(t *testing.T) {
	for _, tt := range []struct {
		choice   string
		provider string // calls after the answer
		text     string // of the prompt that the agent gets
		held     bool
	}{
		{memoryCancel, "", "", true},
		{memorySummary, "Open", "The conversation goes on", false},
		{memoryRetry, "Resume agent-1", "more", false},
		{memoryRestore, "Restore agent-1; Resume agent-1", "more", false},
	} {
		t.Run(tt.choice, func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			c.turn("first words")
			p.result()
			c.inState(Idle)
			if _, err := Of[Details](c.Sessions).Disconnect(t.Context(), ref(c.id)); err != nil {
				t.Fatal(err)
			}
			c.puppets.setResume(agent.ErrNotFound)
			if _, err := c.Query(t.Context(), c.id, "", `"more"`, "", "by"); err != nil {
				t.Fatal(err)
			}
			var asked []api.PendingPrompt
			c.await("the question", func() bool {
				list, err := Of[Requests](c.Sessions).List(t.Context(), api.PermissionListParams{SessionID: c.id})
				asked = list.Prompts
				return err == nil && len(asked) == 1
			})
			var labels []string
			for _, o := range asked[0].Prompt.Question.Questions[0].Options {
				labels = append(labels, o.Label)
			}
			if got := strings.Join(labels, "; "); got != strings.Join([]string{memorySummary, memoryRestore, memoryRetry, memoryCancel}, "; ") {
				t.Errorf("the options are %s, want all four", got)
			}
			answer := func(label string) error {
				_, err := Of[Requests](c.Sessions).QuestionRespond(t.Context(), api.QuestionRespondParams{SessionID: c.id, RequestID: asked[0].Prompt.RequestID(), Action: "accept",
					Answers: event.JSON(asText(map[string]string{memoryQuestion: label}))}, "by")
				return err
			}
			c.reason("an answer that is no option", answer("Something else"), api.InvalidParams)
			c.puppets.calls.take()
			c.puppets.setResume(nil)
			restore := c.puppets.calls.block("Restore")
			if err := answer(tt.choice); err != nil {
				t.Fatalf("answering returns %v, want no error", err)
			}
			if tt.choice == memoryRestore {
				c.await("the transcript is being restored", func() bool { return c.puppets.calls.got("Restore") })
				c.inLoop(func(a *actor) {
					if !a.core.holding() || a.starting {
						t.Errorf("before the transcript is restored the prompts are %v, an agent starts: %v, want a held prompt and no agent", a.core.Inputs, a.starting)
					}
				})
			}
			restore()
			if tt.held {
				list, err := Of[Queues](c.Sessions).List(t.Context(), ref(c.id))
				if calls := c.puppets.calls.take(); err != nil || len(list.Items) != 1 || list.Items[0].Status != string(inputHeld) || calls != "" {
					t.Errorf("the queue is %+v, %v and the provider was called with %q, want a held prompt and no call", list, err, calls)
				}
				return
			}
			c.await("the prompt reaches an agent", func() bool {
				return c.puppets.agent() != p && c.puppets.agent().got("Send")
			})
			sent := c.puppets.agent().take()
			if calls := strings.TrimPrefix(c.puppets.calls.take(), "Live agent-1; "); calls != tt.provider || !strings.Contains(sent, tt.text) || !strings.HasSuffix(sent, "more") {
				t.Errorf("the provider was called with %q and the agent with %q, want %q and a prompt with %q", calls, sent, tt.provider, tt.text)
			}
			c.turn("next") // the agent has the conversation now
			if sent := c.puppets.agent().take(); sent != "Send next" {
				t.Errorf("the next prompt reached the agent as %q, want it alone", sent)
			}
		})
	}
	t.Run("a failing restore", func(t *testing.T) {
		c := newStage(t, Opened{})
		c.puppets.calls.setFail("Restore")
		err := c.with(t.Context(), c.id, func(a *actor) error {
			a.core.AgentID = "agent-1"
			a.restoreMemory()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c.await("the question again", func() bool { return c.has(`"code":"memory_lost"`) && c.has(memoryQuestion) })
	})
}

// TestTerminals checks a session that is open in a terminal: it is followed, it cannot be taken over, and it can when it is free.
func TestTerminals(t *testing.T) {
	terminals := func(c *stage) Terminals { return Of[Terminals](c.Sessions) }
	c := newStage(t, Opened{Params: api.ConnectParams{ResumeSessionID: "past", CWD: "/d", Model: "m"}})
	live := &agent.Live{PID: 7, Since: time.Now().Add(-time.Minute)}
	c.puppets.setLive(live)
	r, err := terminals(c).Following(t.Context(), c.id, live)
	if err != nil || r.Status != "following" || r.SessionID != c.id || r.Provider != "claude" || r.Model != "m" || r.CWD != "/d" || !r.Capabilities.CanResumeSession {
		t.Errorf("Following returns %+v, %v, want the session", r, err)
	}
	c.puppets.follow <- &event.UserMessage{Header: event.Header{UUID: "u-1"}, IsPrompt: true, IsText: true, Blocks: []event.Content{event.TextContent("from the terminal")}}
	c.await("what the terminal wrote", func() bool { return c.has("from the terminal") })
	if !c.has(`"code":"live"`) {
		t.Error("there is no notice of the terminal, want one")
	}
	if info, err := c.Lookup(t.Context(), c.id); err != nil || info.Live != LiveTerminal {
		t.Errorf("the list has %+v, %v, want a session in a terminal", info, err)
	}
	_, err = terminals(c).TakeOver(t.Context(), ref(c.id))
	c.reason("taking over what is open", err, api.Conflict)
	_, err = c.Query(t.Context(), c.id, "", `"x"`, "", "by")
	c.reason("a prompt for what is open", err, api.Conflict)
	c.puppets.calls.setFail("Live")
	if _, err := terminals(c).TakeOver(t.Context(), ref(c.id)); !errors.Is(err, errPuppet) {
		t.Errorf("taking over without knowing whether it is open returns %v, want %v", err, errPuppet)
	}
	c.puppets.calls.setFail("")
	c.puppets.setLive(nil)
	c.puppets.history = []event.Event{&event.UserMessage{Header: event.Header{UUID: "u-2"}, IsPrompt: true, IsText: true, Blocks: []event.Content{event.TextContent("its last words")}}}
	if _, err := terminals(c).TakeOver(t.Context(), ref(c.id)); err != nil {
		t.Fatalf("taking over a free session returns %v, want no error", err)
	}
	c.await("the end of what the terminal wrote", func() bool { return c.has("its last words") && c.has(`"code":"free"`) })
	lives := terminals(c).Lives(t.Context(), c.puppets)
	if len(lives) != 1 || lives["agent-1"].PID != 7 {
		t.Errorf("the sessions in terminals are %v, want agent-1", lives)
	}
	c.puppets.calls.take()
	terminals(c).Lives(t.Context(), c.puppets)
	if calls := c.puppets.calls.take(); calls != "" {
		t.Errorf("asking again at once calls the provider with %q, want no call", calls)
	}
	c.lives.found = map[agent.Provider]found{}
	c.puppets.calls.setFail("LiveSessions")
	if lives := terminals(c).Lives(t.Context(), c.puppets); lives != nil || !strings.Contains(c.lines.String(), errPuppet.Error()) {
		t.Errorf("with a provider that fails the sessions are %v and the log is %q, want none and the reason", lives, c.lines)
	}
}
