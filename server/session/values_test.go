package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// TestBudgetOf checks that a standing is converted with all of its values. The spent amount is unknown without prices.
func TestBudgetOf(t *testing.T) {
	usd, tokens, spent := 1.5, int64(7), 0.25
	resets := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	limit := budget.Limit{ID: "i", Scope: "tenant", Target: "t", Period: "day", USD: &usd, Tokens: &tokens, Action: budget.ActionNotify}
	whole := api.Budget{ID: "i", Scope: "tenant", Target: "t", Period: "day", LimitUSD: &usd, LimitTokens: &tokens, Action: budget.ActionNotify,
		SpentTokens: 5, SpentUSD: &spent, ResetsAt: Timestamp(resets), Level: "ok"}
	for name, c := range map[string]struct {
		change func(s *budget.Standing, b *api.Budget)
	}{
		"whole":             {func(*budget.Standing, *api.Budget) {}},
		"warning":           {func(s *budget.Standing, b *api.Budget) { s.Level, b.Level = budget.Level(1), "warning" }},
		"reached":           {func(s *budget.Standing, b *api.Budget) { s.Level, b.Level = budget.Reached, "exceeded" }},
		"never resets":      {func(s *budget.Standing, b *api.Budget) { s.Resets, b.ResetsAt = time.Time{}, "" }},
		"of every target":   {func(s *budget.Standing, b *api.Budget) { s.Limit.Target, b.Target, b.Of = "", "", "t" }},
		"partly priced":     {func(s *budget.Standing, _ *api.Budget) { s.Spent.Unpriced = 4 }},
		"without prices":    {func(s *budget.Standing, b *api.Budget) { s.Spent.Unpriced, b.SpentUSD = 5, nil }},
		"nothing was spent": {func(s *budget.Standing, b *api.Budget) { s.Spent.Tokens, b.SpentTokens = 0, 0 }},
	} {
		s := budget.Standing{Limit: limit, Target: "t", Spent: budget.Amount{USD: spent, Tokens: 5}, Resets: resets}
		want := whole
		c.change(&s, &want)
		if diff := cmp.Diff(want, BudgetOf(s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCore_result checks that a result ends the turn and withdraws requests, with any inputs in flight. The session is idle only if the
// agent has no more work.
func TestCore_result(t *testing.T) {
	for _, status := range []inputStatus{"", inputQueued, inputHeld, inputSent, inputDelivered} {
		for _, asked := range []bool{false, true} {
			for _, state := range []State{Idle, Running, RequiresAction} {
				c := &core{State: state}
				if status != "" {
					c.Inputs = []input{{ID: "a", Content: mustJSON("x"), Status: status}}
				}
				if asked {
					c.Requests = []pendingPrompt{{Prompt: event.Prompt{Permission: &event.PermissionRequest{RequestID: "r"}}}}
				}
				resolved, to, removed := 0, state, 0
				for _, d := range c.result() {
					if event.ResolvedID(d.event) == "r" {
						resolved++
					}
					if d.facts != nil && d.facts.State != "" {
						to = d.facts.State
					}
					if d.facts != nil {
						removed += len(d.facts.Removed)
					}
				}
				name := fmt.Sprintf("%s with an input that is %q, asked %v", state, status, asked)
				if (resolved == 1) != asked {
					t.Errorf("%s: the request is resolved %d times", name, resolved)
				}
				if (removed == 1) != (status == inputDelivered) {
					t.Errorf("%s: %d inputs are done", name, removed)
				}
				want := Idle
				if status == inputSent && state != Idle {
					want = Running
				}
				if to != want {
					t.Errorf("%s: it is %s then, want %s", name, to, want)
				}
			}
		}
	}
}

// TestComment_check checks that a comment is rejected just beyond each of its limits.
func TestComment_check(t *testing.T) {
	good := func() comment {
		c := comment{}
		c.Side, c.Text, c.From, c.To = "new", "t", 1, 1
		return c
	}
	for name, tt := range map[string]struct {
		change func(c *comment)
		ok     bool
	}{
		"good":             {func(*comment) {}, true},
		"old side":         {func(c *comment) { c.Side = "old" }, true},
		"another side":     {func(c *comment) { c.Side = "left" }, false},
		"no text":          {func(c *comment) { c.Text = "" }, false},
		"longest text":     {func(c *comment) { c.Text = strings.Repeat("x", maxCommentText) }, true},
		"longer text":      {func(c *comment) { c.Text = strings.Repeat("x", maxCommentText+1) }, false},
		"line 0":           {func(c *comment) { c.From = 0 }, false},
		"the wrong way":    {func(c *comment) { c.From, c.To = 2, 1 }, false},
		"as many as fit":   {func(c *comment) { c.To = maxCommentCode }, true},
		"one line more":    {func(c *comment) { c.To = maxCommentCode + 1 }, false},
		"far into a file":  {func(c *comment) { c.From, c.To = 1_000_000, 1_000_000+maxCommentCode-1 }, true},
		"one more far off": {func(c *comment) { c.From, c.To = 1_000_000, 1_000_000+maxCommentCode }, false},
	} {
		c := good()
		tt.change(&c)
		if err := c.check(); (err == nil) != tt.ok {
			t.Errorf("%s: %v, want it to be taken: %v", name, err, tt.ok)
		}
	}
}

// TestSecrets checks that parameters with secrets are restored completely from their file, and that a missing or damaged file is an error.
func TestSecrets(t *testing.T) {
	s, _ := memSessions(t)
	s.opts.SecretDir = t.TempDir()
	whole := func() *Opened {
		return &Opened{Provider: "claude", Params: api.ConnectParams{Model: "m", MCPServers: `{"a":1}`, Agents: `{"b":2}`}}
	}
	o := whole()
	if err := s.hideSecrets("s-1", o); err != nil {
		t.Fatal(err)
	}
	if p := o.Params; !o.Secret || p.MCPServers != "" || p.Agents != "" || p.Model != "m" {
		t.Errorf("the log has %+v, secret %v", p, o.Secret)
	}
	if got, err := s.withSecrets("s-1", o); err != nil || got.MCPServers != `{"a":1}` || got.Agents != `{"b":2}` || got.Model != "m" {
		t.Errorf("withSecrets = %+v, %v", got, err)
	}
	path := filepath.Join(s.opts.SecretDir, "s-1")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if err := os.WriteFile(path, []byte(`{"mcp_servers":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.withSecrets("s-1", o); err == nil {
		t.Error("a damaged file is no error")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.withSecrets("s-1", o); err == nil {
		t.Error("a file that is gone is no error")
	}
	plain := &Opened{Params: api.ConnectParams{Model: "m"}}
	if err := s.hideSecrets("s-2", plain); err != nil || plain.Secret {
		t.Errorf("without secrets: %v, secret %v", err, plain.Secret)
	}
	if got, err := s.withSecrets("s-2", plain); err != nil || got.Model != "m" {
		t.Errorf("without secrets: %+v, %v", got, err)
	}
	s.opts.SecretDir = path // which does not exist
	if err := s.hideSecrets("s-3", whole()); err == nil {
		t.Error("secrets that could not be stored are no error")
	}
}

// TestShown_fails checks that failing writes of deltas are reported once per series, and that later ones are written again.
func TestShown_fails(t *testing.T) {
	dir := t.TempDir()
	f := &shown{path: filepath.Join(dir, "missing", "f")}
	f.add(1, 0, []byte("a"))
	if err := f.flush(); err == nil {
		t.Error("the first failure is not reported")
	}
	f.add(1, 0, []byte("b"))
	if err := f.flush(); err != nil {
		t.Errorf("the second failure is reported: %v", err)
	}
	f.path = filepath.Join(dir, "f")
	for _, text := range []string{"c", "d"} {
		f.add(2, 0, []byte(text))
		if err := f.flush(); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(f.path); err != nil || string(text) != "2 1\nc\n2 1\nd\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
	f.close()
	if text, err := os.ReadFile(f.path); err != nil || len(text) == 0 {
		t.Errorf("the file of deltas that the log lacks has %q, %v", text, err)
	}
	f.add(3, 0, []byte("e"))
	if err := f.flush(); err != nil {
		t.Errorf("after close: %v", err)
	}
	if err := f.clear(); err != nil {
		t.Error(err)
	}
	f.close()
	if _, err := os.Stat(f.path); !os.IsNotExist(err) {
		t.Errorf("the empty file is left: %v", err)
	}
	f.close()
}

// brokenReads is a log with reads that fail after the first events.
type brokenReads struct {
	*memLog
	after int
	err   error
}

func (l *brokenReads) Read(ctx context.Context, from eventlog.Cursor) iter.Seq2[eventlog.Event, error] {
	return func(yield func(eventlog.Event, error) bool) {
		n := 0
		for ev, err := range l.memLog.Read(ctx, from) {
			if n == l.after {
				break
			}
			n++
			if !yield(ev, err) {
				return
			}
		}
		if l.err != nil {
			yield(eventlog.Event{}, l.err)
		}
	}
}

// TestViewer_page checks that a viewer that is behind continues to read the log, starts again if the log lacks the events, and returns an error
// if the log cannot be read.
func TestViewer_page(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name  string
		after int
		err   error
		want  error
	}{
		{"whole", 99, nil, nil}, {"trimmed", 0, eventlog.ErrTrimmed, ErrResync}, {"another log", 1, eventlog.ErrEpoch, ErrResync}, {"damaged", 1, eventlog.ErrDamaged, ErrResync},
		{"deleted", 0, eventlog.ErrNotFound, ErrResync}, {"broken", 1, broken, broken}, {"nothing", 0, nil, ErrResync},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := memSessions(t)
			a := s.newActor(Prefix+"page", "e")
			defer a.cancel()
			a.draft(draft{event: &event.SessionState{State: string(Running)}, facts: &facts{State: Running, Opened: &Opened{Provider: "claude"}}}, draft{event: &event.Notice{Text: "two"}})
			if err := a.write(); err != nil {
				t.Fatal(err)
			}
			a.log = &brokenReads{a.log.(*memLog), tt.after, tt.err}
			items, err := (&Viewer{srv: s, actor: a}).page(t.Context())
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Errorf("page = %d items, %v, want %v", len(items), err, tt.want)
			}
			if err == nil && (len(items) != 2 || items[0].Seq != 1 || items[1].Seq != 2 || items[1].ts == "" || !strings.Contains(string(items[1].msg), "two")) {
				t.Errorf("page = %+v, want both events", items)
			}
		})
	}
}

// TestViewer_within checks that a wait with a timeout ends without a message after it, and with an error when its context ends.
func TestViewer_within(t *testing.T) {
	s, _ := memSessions(t)
	a := s.newActor(Prefix+"within", "e")
	defer a.cancel()
	v := &Viewer{srv: s, actor: a, Cursor: api.Cursor{Epoch: a.hub.epoch}}
	if items, err := v.Within(t.Context(), time.Millisecond); items != nil || err != nil {
		t.Errorf("after the bound: %v, %v, want nothing", items, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if items, err := v.Within(ended, time.Minute); items != nil || err == nil {
		t.Errorf("after the end of the context: %v, %v, want an error", items, err)
	}
}

// TestRestartItems checks that repeated items of a running answer name the agent.
func TestRestartItems(t *testing.T) {
	items := restartItems(3, 4, []event.Event{&event.MessageStart{Header: event.Header{MessageID: "m"}}, &event.TextDelta{Header: event.Header{MessageID: "m", Provider: "own"}, Text: "x"}}, "claude")
	if len(items) != 2 {
		t.Fatalf("there are %d items, want 2", len(items))
	}
	for i, provider := range []string{"claude", "own"} {
		if it := items[i]; it.Seq != 3 || it.Sub != 4 || it.ts == "" || !strings.Contains(string(it.msg), `"provider":"`+provider+`"`) {
			t.Errorf("item %d is %d.%d at %q: %s, want 3.4 of %s", i, it.Seq, it.Sub, it.ts, it.msg, provider)
		}
	}
	progress := restartItems(3, 5, []event.Event{&event.ToolProgress{ToolUseID: "t", Output: "half of it"}}, "claude")
	if len(progress) != 1 || !progress[0].progress || !strings.Contains(string(progress[0].msg), "half of it") {
		t.Fatalf("the output of a tool so far is %+v, want one item for viewers of output", progress)
	}
	stored := Item{Seq: 6, progress: true} // a durable message keeps its number
	for _, output := range []bool{true, false} {
		v := &Viewer{can: Capabilities{Output: output}}
		if got, want := len(v.wanted([]Item{items[0], progress[0], stored})), map[bool]int{true: 3, false: 2}[output]; got != want {
			t.Errorf("a viewer of output (%v) gets %d of 3 items, want %d", output, got, want)
		}
	}
}

// TestWatch_fails checks that a session is released if a viewer cannot start.
func TestWatch_fails(t *testing.T) {
	c := newStage(t, Opened{})
	busy, free := make(chan struct{}), make(chan struct{})
	go func() { _ = c.with(context.Background(), c.id, func(*actor) error { close(busy); <-free; return nil }) }()
	<-busy
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"watching":  func() error { _, _, _, err := c.Watch(ctx, c.id, nil, Capabilities{}); return err },
		"attaching": func() error { _, err := c.Attach(ctx, api.AttachParams{SessionID: c.id}); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with an ended context: %v, want %v", name, err, context.Canceled)
		}
		c.mu.Lock()
		if n := c.entries[c.id].refs; n != 1 {
			t.Errorf("after %s the session has %d uses, want 1: that of the test", name, n)
		}
		c.mu.Unlock()
	}
	close(free)
	c.await("the test ends its use", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return c.entries[c.id].refs == 0 })
}

// TestSnapshot_fails checks that a snapshot that cannot be stored is tried again, and that deltas are trimmed only after one that was stored.
func TestSnapshot_fails(t *testing.T) {
	c := newStage(t, Opened{})
	c.log.set("PutSnapshot", errFault)
	c.inLoop(func(a *actor) {
		before := a.snapSeq
		a.snapshot()
		if a.snapSeq != before {
			t.Errorf("after a failure the last snapshot is that of message %d, want still %d", a.snapSeq, before)
		}
		c.log.set("PutSnapshot", nil)
		a.snapshot()
		if a.snapSeq != a.seq {
			t.Errorf("the last snapshot is that of message %d, want %d", a.snapSeq, a.seq)
		}
	})
}

// TestSummary checks that the list entry of a session has all its values.
func TestSummary(t *testing.T) {
	s, _ := memSessions(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.opts.Now = func() time.Time { return now }
	a := s.newActor(Prefix+"row", "e")
	defer a.cancel()
	until := Timestamp(now.Add(time.Hour))
	a.seq, a.capabilities = 7, &api.Capabilities{CanFork: true}
	a.core = core{Title: "title", State: RequiresAction, Model: "model", Mode: "mode", Provider: "provider", Updated: "updated", Archived: true, AgentID: "agent", Effort: "effort", Limited: until,
		Opened: Opened{Dir: "dir", Params: api.ConnectParams{WorkspaceID: "workspace", Metadata: map[string]string{"k": "v"}}},
		Inputs: []input{{ID: "sent", Status: inputSent}, {ID: "a", Status: inputQueued}, {ID: "b", Status: inputHeld}}, Requests: []pendingPrompt{{}, {}, {}}}
	want := api.SessionSummary{SessionID: a.id, Title: "title", State: string(RequiresAction), Model: "model", CWD: "dir", PermissionMode: "mode", Seq: 7, Provider: "provider", Archived: true, Workspace: "workspace",
		Queued: 2, Prompts: 3, UpdatedAt: "updated", LimitedUntil: until, AgentSessionID: "agent", Effort: "effort", Metadata: map[string]string{"k": "v"}, Capabilities: a.capabilities}
	if diff := cmp.Diff(want, a.summary()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
