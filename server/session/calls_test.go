package session

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// clientCall is a call of a client for the session of a stage.
type clientCall struct {
	name   string // part and method
	do     func(c *stage, ctx context.Context, id string) (any, error)
	want   string // the result as JSON
	agent  string // the calls of the agent
	stored string // text in the records that it writes, if any
	core   string // text in the core afterwards
	lacks  bool   // not supported by an agent without optional features
}

func ref(id string) api.SessionRef { return api.SessionRef{SessionID: id} }

// clientCalls are the calls for a session with an idle agent and two held prompts, h-1 and h-2.
var clientCalls = []clientCall{
	{name: "Agents.RunInBackground", lacks: true, agent: "Background", want: `{"status":"moved"}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).RunInBackground(ctx, ref(id))
		}},
	{name: "Agents.Interrupt", want: `{"status":"idle","dropped":[],"still_queued":["h-1","h-2"]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).Interrupt(ctx, ref(id))
		}},
	{name: "Agents.SetModel", lacks: true, agent: "SetModel m", want: `{"model":"full m"}`, stored: `"model":"full m"`, core: `"model":"full m"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).SetModel(ctx, api.SetModelParams{SessionID: id, Model: "m"})
		}},
	{name: "Agents.SetPermissionMode", lacks: true, agent: "SetMode plan", want: `{"mode":"plan"}`, stored: `"permissionMode":"plan"`, core: `"mode":"plan"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).SetPermissionMode(ctx, api.SetPermissionModeParams{SessionID: id, Mode: "plan"})
		}},
	{name: "Agents.SetMaxThinkingTokens", lacks: true, agent: "SetThinking 5", want: `{"status":"set"}`, stored: `"thinking"`, core: `"thinking":{"tokens":5}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).SetMaxThinkingTokens(ctx, api.SetMaxThinkingTokensParams{SessionID: id, MaxThinkingTokens: new(int64(5))})
		}},
	{name: "Agents.SetEffort", lacks: true, agent: "SetEffort high", want: `{"status":"set"}`, stored: `"effort":"high"`, core: `"effort":"high"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).SetEffort(ctx, api.SetEffortParams{SessionID: id, Effort: "high"})
		}},
	{name: "Agents.Rewind", lacks: true, agent: "Rewind u false", want: `{"can_rewind":true,"files_changed":["f-1"],"insertions":11,"deletions":12,"error":"e-1"}`, stored: `"user_message_id":"u"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).Rewind(ctx, api.RewindParams{SessionID: id, UserMessageID: "u"})
		}},
	{name: "Agents.Rewind", lacks: true, agent: "Rewind u true", want: `{"can_rewind":true,"files_changed":["f-1"],"insertions":11,"deletions":12,"error":"e-1"}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).Rewind(ctx, api.RewindParams{SessionID: id, UserMessageID: "u", DryRun: true})
		}},
	{name: "Agents.Fork", lacks: true, agent: "Fork at", want: `[{"provider":"claude","cwd":"/d","model":"mo","title":"Fork of T","effort":"ef","resume_session_id":"forked","permission_mode":"acceptEdits","metadata":{"k":"v"}},"ten"]`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			p, tenant, err := Of[Agents](c.Sessions).Fork(ctx, api.ForkParams{SessionID: id, At: "at"})
			return []any{p, tenant}, err
		}},
	{name: "Agents.Fork", lacks: true, agent: "Fork", want: `[{"provider":"claude","cwd":"/d","model":"mo","title":"Fork of T","effort":"ef","resume_session_id":"forked","permission_mode":"acceptEdits","metadata":{"o":"p"}},"ten"]`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			p, tenant, err := Of[Agents](c.Sessions).Fork(ctx, api.ForkParams{SessionID: id, Metadata: map[string]string{"o": "p"}})
			return []any{p, tenant}, err
		}},
	{name: "Agents.MCPStatus", lacks: true, agent: "MCPStatus", want: `{"servers":[{"m":1},{"m":2}]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).MCPStatus(ctx, ref(id))
		}},
	{name: "Agents.MCPReconnect", lacks: true, agent: "MCPReconnect s", want: `{"status":"reconnected"}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).MCPReconnect(ctx, api.MCPServerParams{SessionID: id, ServerName: "s"})
		}},
	{name: "Agents.MCPToggle", lacks: true, agent: "MCPToggle s true", want: `{"status":"enabled"}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).MCPToggle(ctx, api.MCPToggleParams{SessionID: id, ServerName: "s", Enabled: true})
		}},
	{name: "Agents.MCPToggle", lacks: true, agent: "MCPToggle s false", want: `{"status":"disabled"}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).MCPToggle(ctx, api.MCPToggleParams{SessionID: id, ServerName: "s"})
		}},
	{name: "Agents.MCPTools", lacks: true, agent: "MCPTools s", want: `{"tools":[{"server_name":"ms","name":"mn","description":"md","input_schema":{"s":1}}]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).MCPTools(ctx, api.MCPToolsParams{SessionID: id, ServerName: "s"})
		}},
	{name: "Agents.ModelsList", lacks: true, agent: "Models", want: `{"items":[{"full":"m-1"},{"name":"m-2","description":"d"}]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).ModelsList(ctx, ref(id))
		}},
	{name: "Agents.CommandsList", lacks: true, agent: "Commands", want: `{"items":[{"name":"c-1"}]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).CommandsList(ctx, ref(id))
		}},
	{name: "Agents.AgentsList", lacks: true, agent: "Agents", want: `{"items":[{"name":"a-1"}]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).AgentsList(ctx, ref(id))
		}},
	{name: "Agents.TaskStop", lacks: true, agent: "StopTask t", want: `{"status":"stopped"}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).TaskStop(ctx, api.TaskParams{SessionID: id, TaskID: "t"})
		}},
	{name: "Agents.TaskOutput", lacks: true, agent: "TaskOutput t 3 4", want: `{"output":"t-1","offset":13,"eof":true}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).TaskOutput(ctx, api.TaskOutputParams{SessionID: id, TaskID: "t", Offset: 3, Limit: 4})
		}},
	{name: "Agents.UsageContext", lacks: true, agent: "ContextUsage", want: `{"usage":{"u":1}}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Agents](c.Sessions).UsageContext(ctx, ref(id))
		}},
	{name: "Details.UsageSession", want: `{"turns":0}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Details](c.Sessions).UsageSession(ctx, ref(id))
		}},
	{name: "Details.GetHistory", want: `"e"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			r, err := Of[Details](c.Sessions).GetHistory(ctx, ref(id))
			if n, _ := c.records(0); err == nil && (r.Cursor.Seq != uint64(n) || !strings.Contains(string(r.Conversation), `"T"`)) {
				c.Errorf("GetHistory returns %+v, want the conversation of %d records", r, n)
			}
			return r.Cursor.Epoch, err
		}},
	{name: "Details.Rename", want: `{}`, stored: `"title":"New"`, core: `"title":"New"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Details](c.Sessions).Rename(ctx, api.SessionRenameParams{SessionID: id, Title: " New "})
		}},
	{name: "Details.Rename", want: `{}`, stored: `"title":"one"`, core: `"title_by":"prompt"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Details](c.Sessions).Rename(ctx, api.SessionRenameParams{SessionID: id})
		}},
	{name: "Details.Archive", want: `{"status":"archived"}`, agent: "Close", stored: `"archived":true`, core: `"archived":true`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			r, err := Of[Details](c.Sessions).Archive(ctx, ref(id))
			if err == nil {
				c.gone()
			}
			return r, err
		}},
	{name: "Details.Unarchive", want: `{"status":"unarchived"}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Details](c.Sessions).Unarchive(ctx, ref(id))
		}},
	{name: "Details.Disconnect", want: `{"status":"disconnected"}`, agent: "Close", stored: `"state":"ended"`, core: `"state":"ended"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Details](c.Sessions).Disconnect(ctx, ref(id))
		}},
	{name: "Details.Search", want: `{"hits":[]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			if err := c.hidden(ctx, id); err != nil {
				return nil, err
			}
			return Of[Details](c.Sessions).Search(ctx, api.SessionSearchParams{Query: "nowhere"})
		}},
	{name: "Queues.List", want: `{"items":[{"id":"h-1","content":"one","status":"held"},{"id":"h-2","content":"two","status":"unknown"}]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Queues](c.Sessions).List(ctx, ref(id))
		}},
	{name: "Queues.Edit", want: `{"items":[{"id":"h-1","content":"1","status":"held"},{"id":"h-2","content":"two","status":"unknown"}]}`, stored: `"content":"1"`, core: `"content":"1"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Queues](c.Sessions).Edit(ctx, api.QueueEditParams{SessionID: id, ID: "h-1", Content: `"1"`})
		}},
	{name: "Queues.Remove", want: `{"items":[{"id":"h-2","content":"two","status":"unknown"}]}`, stored: `"removed":["h-1"]`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Queues](c.Sessions).Remove(ctx, api.QueueItemParams{SessionID: id, ID: "h-1"})
		}},
	{name: "Queues.Reorder", want: `{"items":[{"id":"h-2","content":"two","status":"unknown"},{"id":"h-1","content":"one","status":"held"}]}`, stored: `"order":["h-2","h-1"]`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Queues](c.Sessions).Reorder(ctx, api.QueueReorderParams{SessionID: id, IDs: []string{"h-2", "h-1"}})
		}},
	{name: "Queues.Release", want: `{"items":[{"id":"h-2","content":"two","status":"unknown"}]}`, agent: "Send one", stored: `"status":"sent"`, core: `"state":"running"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			r, err := Of[Queues](c.Sessions).Release(ctx, ref(id))
			if err == nil {
				c.inState(Running)
				c.await("the prompt is sent", func() bool { return c.confirmed("h-1") })
			}
			return r, err
		}},
	{name: "Queues.SendNow", want: `"h-2"`, agent: "Send two", stored: `"status":"sent"`, core: `"state":"running"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			r, err := Of[Queues](c.Sessions).SendNow(ctx, api.QueueItemParams{SessionID: id, ID: "h-2"})
			if err == nil {
				c.await("the prompt is sent", func() bool { return c.confirmed("h-2") })
			}
			return r.TurnID, err
		}},
	{name: "Requests.List", want: `{"prompts":[]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Requests](c.Sessions).List(ctx, api.PermissionListParams{SessionID: id})
		}},
	{name: "Reviews.List", want: `{"comments":[]}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Reviews](c.Sessions).List(ctx, ref(id))
		}},
	{name: "Terminals.HandBack", want: `{"command":"do 'it'\\''s' agent-1","cwd":"/d"}`, agent: "Close", stored: `"code":"handed_back"`, core: `"away":true`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return Of[Terminals](c.Sessions).HandBack(ctx, ref(id))
		}},
	{name: "Terminals.TakeOver", want: `"connected"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			r, err := Of[Terminals](c.Sessions).TakeOver(ctx, ref(id))
			return r.Status, err
		}},
	{name: "Workspaces.Removed", want: `null`, stored: `"workspace":{"event":"removed","by":"me"}`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return nil, Of[Workspaces](c.Sessions).Removed(ctx, id, "me")
		}},
	{name: "Workspaces.Leave", want: `null`, agent: "Close", stored: `"state":"ended"`, core: `"state":"ended"`,
		do: func(c *stage, ctx context.Context, id string) (any, error) {
			return nil, Of[Workspaces](c.Sessions).Leave(ctx, id, false)
		}},
}

// elsewhere are calls that other tests cover, because they need more than an idle session.
var elsewhere = []string{
	"Details.Continue", "Requests.PermissionRespond", "Requests.QuestionRespond", "Reviews.Comment", "Reviews.Remove", "Reviews.Send", "Reviews.Update",
	"Terminals.Following", "Terminals.Lives", "Workspaces.Branch", "Workspaces.Commit", "Workspaces.Diff", "Workspaces.Merge", "Workspaces.Push",
	"Workspaces.Restore", "Workspaces.Revert",
}

// confirmed reports whether the agent has confirmed an input.
func (c *stage) confirmed(id string) (ok bool) {
	_ = c.with(context.Background(), c.id, func(a *actor) error {
		in, known := a.core.input(id)
		ok = known && in.Status == inputDelivered && !a.sending
		return nil
	})
	return ok
}

// gone waits until the session has no agent.
func (c *stage) gone() {
	c.Helper()
	c.await("the end of the agent", func() bool {
		gone := false
		_ = c.with(context.Background(), c.id, func(a *actor) error { gone = a.agent == nil; return nil })
		return gone
	})
}

// hidden returns the error with which a call for one session fails because of its id or its
// context, or nil.
func (c *stage) hidden(ctx context.Context, id string) error {
	if _, err := c.Lookup(ctx, id); err != nil {
		return err
	}
	return ctx.Err()
}

// callStage returns the session for clientCalls.
func callStage(t *testing.T, bare bool) (*stage, *puppet) {
	t.Helper()
	c := emptyStage(t)
	c.puppets.bare = bare
	o := Opened{Tenant: "ten", Params: api.ConnectParams{Title: "T", CWD: "/d", Model: "mo", Effort: "ef", PermissionMode: "acceptEdits", Metadata: map[string]string{"k": "v"}, InitialPrompt: "ip",
		Idempotency: api.Idempotency{Key: "key"}}}
	if err := c.Create(t.Context(), c.id, o); err != nil {
		t.Fatal(err)
	}
	p := c.connect()
	err := c.with(t.Context(), c.id, func(a *actor) error {
		return a.commit(draft{queue: true, facts: &facts{Inputs: []input{{ID: "h-1", Content: `"one"`, Status: inputHeld}, {ID: "h-2", Content: `"two"`, Status: inputUnknown}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, p
}

// TestCalls checks every call of a client: its result, its effects on the agent and the log, and the core afterwards, which must equal
// the fold of the log.
func TestCalls(t *testing.T) {
	named := map[string]bool{}
	for _, name := range elsewhere {
		named[name] = true
	}
	for _, call := range clientCalls {
		named[call.name] = true
		t.Run(call.name, func(t *testing.T) {
			c, p := callStage(t, false)
			n, _ := c.records(0)
			got, err := call.do(c, t.Context(), c.id)
			if err != nil {
				t.Fatalf("the error is %v, want none", err)
			}
			if text := asText(got); text != call.want {
				t.Errorf("the result is %s, want %s", text, call.want)
			}
			if calls := p.take(); calls != call.agent {
				t.Errorf("the agent was called with %q, want %q", calls, call.agent)
			}
			if m, records := c.records(n); call.stored == "" && m > n || !strings.Contains(records, call.stored) {
				t.Errorf("the log got\n%s\nwant records with %q", records, call.stored)
			}
			if core := c.state(); !strings.Contains(core, call.core) {
				t.Errorf("the core is %s, want one with %s", core, call.core)
			}
		})
	}
	for _, part := range []any{Agents{}, Details{}, Queues{}, Requests{}, Reviews{}, Terminals{}, Workspaces{}} {
		typ := reflect.TypeOf(part)
		for m := range typ.Methods() {
			if _, promoted := reflect.TypeOf(&Sessions{}).MethodByName(m.Name); !promoted && !named[typ.Name()+"."+m.Name] {
				t.Errorf("no test calls %s.%s", typ.Name(), m.Name)
			}
		}
	}
}

// TestCalls_fail checks how every call fails: for a session that does not exist, with an agent that refuses or lacks the feature, and with a log that is full. Then nothing has changed, and the caller has the reason.
func TestCalls_fail(t *testing.T) {
	c, p := callStage(t, false)
	bare, _ := callStage(t, true)
	before := c.state()
	n, _ := c.records(0)
	for _, call := range clientCalls {
		_, err := call.do(c, t.Context(), "s-missing")
		c.reason(call.name+" of a missing session", err, api.SessionExpired)
		if call.lacks {
			_, err := call.do(bare, t.Context(), bare.id)
			c.reason(call.name+" without the feature", err, api.Unsupported)
			p.setFail("any")
			if _, err := call.do(c, t.Context(), c.id); !errors.Is(err, errPuppet) {
				t.Errorf("%s of an agent that refuses: the error is %v, want that of the agent", call.name, err)
			}
			p.setFail("")
		}
		for fault, reason := range map[error]api.Reason{eventlog.ErrFull: api.LimitReached, errFault: InternalError} {
			if call.stored != "" && call.agent != "Close" {
				c.log.set("Append", fault)
				_, err := call.do(c, t.Context(), c.id)
				c.reason(fmt.Sprintf("%s with the log failing with %v", call.name, fault), err, reason)
				c.log.set("Append", nil)
			}
		}
		if m, records := c.records(n); m != n {
			t.Fatalf("%s has failed and written\n%s", call.name, records)
		}
		if after := c.state(); after != before {
			t.Fatalf("%s has failed and changed the core\nfrom %s\nto   %s", call.name, before, after)
		}
	}
}

// TestCalls_hidden checks that no call finds a session of another tenant.
func TestCalls_hidden(t *testing.T) {
	c, p := callStage(t, false)
	type foreign struct{}
	c.visible = func(ctx context.Context, tenant string) bool { return ctx.Value(foreign{}) == nil || tenant != "ten" }
	c.turn("work")
	p.events <- &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolName: "Bash"}
	c.inState(RequiresAction)
	p.take()
	ctx := context.WithValue(t.Context(), foreign{}, true)
	before := c.state()
	n, _ := c.records(0)
	for _, call := range append(clientCalls, requestCalls...) {
		_, err := call.do(c, ctx, c.id)
		c.reason(call.name+" of another tenant's session", err, api.SessionExpired)
	}
	list, err := Of[Requests](c.Sessions).List(ctx, api.PermissionListParams{})
	if err != nil || len(list.Prompts) != 0 {
		t.Errorf("the requests are %+v, %v, want none of another tenant", list.Prompts, err)
	}
	if m, records := c.records(n); m != n || c.state() != before || p.take() != "" {
		t.Errorf("calls for another tenant's session have changed it from %s to %s, and written\n%s", before, c.state(), records)
	}
}

// TestCalls_lost checks that no call changes a session that another server owns.
func TestCalls_lost(t *testing.T) {
	c, p := callStage(t, false)
	c.turn("work")
	p.events <- &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolName: "Bash"}
	c.inState(RequiresAction)
	p.take()
	if err := c.with(t.Context(), c.id, func(a *actor) error { a.core.State = LostHost; return nil }); err != nil {
		t.Fatal(err)
	}
	n, _ := c.records(0)
	for _, call := range append(clientCalls, requestCalls...) {
		if strings.HasPrefix(call.name, "Queues.") && call.stored != "" || strings.HasSuffix(call.name, "Respond") || call.name == "Sessions.Query" {
			_, err := call.do(c, t.Context(), c.id)
			c.reason(call.name+" of a session that is lost", err, api.NotOwner)
		}
	}
	if m, records := c.records(n); m != n || p.take() != "" {
		t.Errorf("calls for a session that is lost have written\n%s", records)
	}
}

// requestCalls are the calls for a session with an open request, r, for permission.
var requestCalls = []clientCall{
	{name: "Sessions.Query", do: func(c *stage, ctx context.Context, id string) (any, error) {
		return c.Query(ctx, id, "", `"x"`, "", "by")
	}},
	{name: "Requests.PermissionRespond", do: func(c *stage, ctx context.Context, id string) (any, error) {
		return Of[Requests](c.Sessions).PermissionRespond(ctx, api.PermissionRespondParams{SessionID: id, RequestID: "r", Behavior: "allow"}, "by")
	}},
	{name: "Requests.QuestionRespond", do: func(c *stage, ctx context.Context, id string) (any, error) {
		return Of[Requests](c.Sessions).QuestionRespond(ctx, api.QuestionRespondParams{SessionID: id, RequestID: "r", Action: "cancel"}, "by")
	}},
}

// TestQuery_again checks that a prompt with a key is accepted once, and that its response is the same every time.
func TestQuery_again(t *testing.T) {
	c, p := callStage(t, false)
	n, _ := c.records(0)
	var first api.Accepted
	for i := range 3 {
		r, err := c.Query(t.Context(), c.id, "key", `"x"`, "", "by")
		if i == 0 {
			first = r
			n, _ = c.records(0)
		}
		if err != nil || r.TurnID == "" || r.Seq == 0 || !r.Held || r.TurnID != first.TurnID {
			t.Errorf("query %d behind held prompts returns %+v, %v, want %+v, held", i, r, err, first)
		}
	}
	if m, records := c.records(n); m != n || p.take() != "" {
		t.Errorf("the same prompt again has written\n%s", records)
	}
}

// TestCalls_refused checks the calls that the state of a session or the settings of the server do not allow.
func TestCalls_refused(t *testing.T) {
	c, p := callStage(t, false)
	id := c.id
	agents, details, queues := Of[Agents](c.Sessions), Of[Details](c.Sessions), Of[Queues](c.Sessions)
	refused := func(what string, want api.Reason, do func(ctx context.Context) error) {
		t.Helper()
		n, _ := c.records(0)
		c.reason(what, do(t.Context()), want)
		if m, records := c.records(n); m != n {
			t.Errorf("%s was refused and has written\n%s", what, records)
		}
		if calls := p.take(); calls != "" {
			t.Errorf("%s was refused, and the agent was called with %s", what, calls)
		}
	}
	refused("bypassPermissions", api.AuthFailed, func(ctx context.Context) error {
		_, err := agents.SetPermissionMode(ctx, api.SetPermissionModeParams{SessionID: id, Mode: "bypassPermissions"})
		return err
	})
	refused("a negative number of thinking tokens", api.InvalidParams, func(ctx context.Context) error {
		_, err := agents.SetMaxThinkingTokens(ctx, api.SetMaxThinkingTokensParams{SessionID: id, MaxThinkingTokens: new(int64(-1))})
		return err
	})
	refused("a title of two lines", api.InvalidParams, func(ctx context.Context) error {
		_, err := details.Rename(ctx, api.SessionRenameParams{SessionID: id, Title: "a\nb"})
		return err
	})
	refused("an empty search", api.InvalidParams, func(ctx context.Context) error {
		_, err := details.Search(ctx, api.SessionSearchParams{Query: " "})
		return err
	})
	refused("a priority that does not exist", api.InvalidParams, func(ctx context.Context) error {
		_, err := c.Query(ctx, id, "", `"x"`, "soon", "by")
		return err
	})
	for name, content := range map[string]event.JSON{"an empty text": `""`, "no blocks": `[]`, "a number": `1`, "a block without a type": `[{}]`, "half a text": `"x`} {
		refused(name, api.InvalidParams, func(ctx context.Context) error {
			_, err := c.Query(ctx, id, "", content, "", "by")
			return err
		})
		refused("an edit to "+name, api.InvalidParams, func(ctx context.Context) error {
			_, err := queues.Edit(ctx, api.QueueEditParams{SessionID: id, ID: "h-1", Content: content})
			return err
		})
	}
	for name, do := range map[string]func(ctx context.Context) error{
		"an edit": func(ctx context.Context) error {
			_, err := queues.Edit(ctx, api.QueueEditParams{SessionID: id, ID: "x", Content: `"y"`})
			return err
		},
		"a removal": func(ctx context.Context) error {
			_, err := queues.Remove(ctx, api.QueueItemParams{SessionID: id, ID: "x"})
			return err
		},
		"sending now": func(ctx context.Context) error {
			_, err := queues.SendNow(ctx, api.QueueItemParams{SessionID: id, ID: "x"})
			return err
		},
		"an order": func(ctx context.Context) error {
			_, err := queues.Reorder(ctx, api.QueueReorderParams{SessionID: id, IDs: []string{"h-1"}})
			return err
		},
	} {
		refused(name+" of an input that does not wait", api.Conflict, do)
	}
	c.turn("work")
	p.take()
	for name, do := range map[string]func(ctx context.Context) error{
		"a rewind": func(ctx context.Context) error {
			_, err := agents.Rewind(ctx, api.RewindParams{SessionID: id, UserMessageID: "u"})
			return err
		},
		"an archive": func(ctx context.Context) error { _, err := details.Archive(ctx, ref(id)); return err },
		"a goodbye":  func(ctx context.Context) error { return Of[Workspaces](c.Sessions).Leave(ctx, id, false) },
		"continuing": func(ctx context.Context) error { _, err := details.Continue(ctx, ref(id), "by"); return err },
		"editing what runs": func(ctx context.Context) error {
			_, err := queues.Edit(ctx, api.QueueEditParams{SessionID: id, ID: c.running(), Content: `"y"`})
			return err
		},
	} {
		refused(name+" during a turn", api.Conflict, do)
	}
	c.Refuse()
	for name, do := range map[string]func(ctx context.Context) error{
		"a query": func(ctx context.Context) error { _, err := c.Query(ctx, id, "", `"x"`, "", "by"); return err },
		"sending now": func(ctx context.Context) error {
			_, err := queues.SendNow(ctx, api.QueueItemParams{SessionID: id, ID: "h-1"})
			return err
		},
		"a release": func(ctx context.Context) error { _, err := queues.Release(ctx, ref(id)); return err },
		"a review": func(ctx context.Context) error {
			_, err := Of[Reviews](c.Sessions).Send(ctx, api.ReviewSendParams{SessionID: id}, "by")
			return err
		},
	} {
		refused(name+" while the server stops", api.Draining, do)
	}
}

// running returns the id of the input that began the running turn.
func (c *stage) running() (id string) {
	_ = c.with(context.Background(), c.id, func(a *actor) error { id = a.core.inflight()[0].ID; return nil })
	return id
}

// TestInterrupt checks the result of an interrupt and its record in a turn.
func TestInterrupt(t *testing.T) {
	c, p := callStage(t, false)
	c.turn("work")
	p.take()
	got, err := Of[Agents](c.Sessions).Interrupt(t.Context(), ref(c.id))
	if want := `{"status":"interrupted","dropped":["d-1"],"still_queued":["q-1","h-1","h-2"]}`; err != nil || asText(got) != want {
		t.Errorf("the result is %s and the error %v, want %s", asText(got), err, want)
	}
	if calls := p.take(); calls != "Interrupt" {
		t.Errorf("the agent was called with %q, want one Interrupt", calls)
	}
	if !c.has(`"removed":["d-1"]`) {
		_, log := c.records(0)
		t.Errorf("the log has\n%s\nwant that the dropped input was removed", log)
	}
	p.setFail("Interrupt")
	if _, err := Of[Agents](c.Sessions).Interrupt(t.Context(), ref(c.id)); !errors.Is(err, errPuppet) {
		t.Errorf("an interrupt that the agent refuses: the error is %v, want that of the agent", err)
	}
}

// TestRespond checks the answers to a request: what the agent and the log get, and what happens to an answer that cannot be stored or
// does not reach the agent.
func TestRespond(t *testing.T) {
	requests := func(c *stage) Requests { return Of[Requests](c.Sessions) }
	permission := &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{"a":1}`}
	question := &event.QuestionRequest{Kind: event.QuestionAsk, RequestID: "r", ToolUseID: "tu", Questions: []event.Question{{Question: "Which?"}}}
	for name, tt := range map[string]struct {
		ask    event.Event
		answer func(ctx context.Context, c *stage, key, by string) (api.RespondResult, error)
		agent  string
		wrong  func(c *stage) (api.RespondResult, error) // an answer of the wrong kind
	}{
		"permission": {permission, func(ctx context.Context, c *stage, key, by string) (api.RespondResult, error) {
			return requests(c).PermissionRespond(ctx, api.PermissionRespondParams{SessionID: c.id, RequestID: "r", Behavior: "deny", Reason: "no", Interrupt: true, Idempotency: api.Idempotency{Key: key}}, by)
		}, `Answer r {"Allow":false,"Choice":"","Scope":"","Message":"no","Interrupt":true}`, func(c *stage) (api.RespondResult, error) {
			return requests(c).QuestionRespond(c.Context(), api.QuestionRespondParams{SessionID: c.id, RequestID: "r", Action: "cancel"}, "me")
		}},
		"question": {question, func(ctx context.Context, c *stage, key, by string) (api.RespondResult, error) {
			return requests(c).QuestionRespond(ctx, api.QuestionRespondParams{SessionID: c.id, RequestID: "r", Action: "accept", Answers: `{"Which?":"A"}`, Idempotency: api.Idempotency{Key: key}}, by)
		}, `Answer r {"Declined":false,"Message":"","Answers":{"Which?":"A"}}`, func(c *stage) (api.RespondResult, error) {
			return requests(c).PermissionRespond(c.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r", Behavior: "allow"}, "me")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			c.turn("work")
			p.take()
			p.events <- tt.ask
			c.inState(RequiresAction)
			list, err := requests(c).List(t.Context(), api.PermissionListParams{})
			if err != nil || len(list.Prompts) != 1 || list.Prompts[0].SessionID != c.id || list.Prompts[0].Prompt.RequestID() != "r" || list.Prompts[0].AskedAt == "" {
				t.Errorf("the open requests are %+v, %v, want r of %s", list, err, c.id)
			}
			before := c.state()
			_, err = tt.wrong(c)
			c.reason("an answer of the wrong kind", err, api.InvalidParams)
			c.log.set("Append", eventlog.ErrFull)
			_, err = tt.answer(t.Context(), c, "", "me")
			c.reason("an answer with a full log", err, api.LimitReached)
			c.log.set("Append", nil)
			if after := c.state(); after != before || p.take() != "" {
				t.Errorf("an answer that was refused changed the session from %s to %s, want no change and no call of the agent", before, after)
			}
			n, _ := c.records(0)
			r, err := tt.answer(t.Context(), c, "key", "me")
			if m, records := c.records(n); err != nil || !r.Accepted || r.By != "me" || r.Seq != uint64(m) || !strings.Contains(records, `"resolved":"r"`) {
				t.Errorf("the answer returns %+v, %v and writes\n%s\nwant it accepted at %d", r, err, records, m)
			}
			if calls := p.take(); calls != tt.agent {
				t.Errorf("the agent was called with\n%s\nwant\n%s", calls, tt.agent)
			}
			again, err := tt.answer(t.Context(), c, "key", "other")
			if err != nil || again.By != "me" || again.Seq == 0 || !again.Accepted || p.take() != "" {
				t.Errorf("the same answer again returns %+v, %v, want that it was accepted, and no call of the agent", again, err)
			}
			_, err = tt.answer(t.Context(), c, "", "me")
			c.reason("a second answer", err, api.Conflict)
		})
		t.Run(name+" lost", func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			c.turn("work")
			p.events <- tt.ask
			c.inState(RequiresAction)
			p.setFail("Answer")
			_, err := tt.answer(t.Context(), c, "", "me")
			c.reason("an answer that does not reach the agent", err, api.Conflict)
			c.await("a notice of the lost answer", func() bool { return c.has(`"code":"answer_lost"`) })
		})
		t.Run(name+" of a caller that is gone", func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			c.turn("work")
			p.take()
			p.events <- tt.ask
			c.inState(RequiresAction)
			ctx, cancel := context.WithCancel(t.Context())
			c.log.afterAppend(cancel) // the answer is stored
			if r, err := tt.answer(ctx, c, "", "me"); err != nil || !r.Accepted {
				t.Errorf("the answer returns %+v, %v, want it accepted", r, err)
			}
			if calls := p.take(); calls != tt.agent {
				t.Errorf("the agent was called with %q, want %q: the log has the answer", calls, tt.agent)
			}
		})
	}
}

// A title that a person sets while the agent is asked for one is kept.
func TestTitle_person(t *testing.T) {
	for name, tt := range map[string]struct{ person, want, by string }{"nobody": {"", "Titled work", "agent"}, "a person": {"Mine", "Mine", "person"}} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			open := p.block("Title")
			c.turn("work")
			p.result()
			c.await("the agent is asked for a title", func() bool { return p.got("Title work") })
			if tt.person != "" {
				if _, err := Of[Details](c.Sessions).Rename(t.Context(), api.SessionRenameParams{SessionID: c.id, Title: tt.person}); err != nil {
					t.Error(err)
				}
			}
			open()
			c.await("the agent's title is here", func() bool {
				titling := true
				_ = c.with(t.Context(), c.id, func(a *actor) error { titling = a.titles.titling; return nil })
				return !titling
			})
			if core := c.state(); !strings.Contains(core, `"title":"`+tt.want+`","title_by":"`+tt.by+`"`) {
				t.Errorf("the session is %s, want the title %q of %s", core, tt.want, tt.by)
			}
		})
	}
}

// TestRespond_silent checks that an answer that the agent does not accept in time is reported as lost, to the caller and in the log.
func TestRespond_silent(t *testing.T) {
	c := emptyStage(t)
	c.opts.CallTimeout = 200 * time.Millisecond
	if err := c.Create(t.Context(), c.id, Opened{}); err != nil {
		t.Fatal(err)
	}
	p := c.connect()
	c.turn("work")
	p.events <- &event.PermissionRequest{Kind: event.PermissionTool, RequestID: "r", ToolUseID: "tu", ToolName: "Bash", Input: `{}`}
	c.inState(RequiresAction)
	p.setFail(silent)
	_, err := Of[Requests](c.Sessions).PermissionRespond(t.Context(), api.PermissionRespondParams{SessionID: c.id, RequestID: "r", Behavior: "deny"}, "me")
	c.reason("an answer to an agent that does not react", err, api.Conflict)
	if !c.has(`"answer_lost"`) {
		_, log := c.records(0)
		t.Errorf("the log has\n%s\nwant the notice that the answer is lost", log)
	}
	p.setFail("")
}
