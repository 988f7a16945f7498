package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

func (h *harness) summary(id string) api.SessionSummary {
	h.Helper()
	for _, archived := range []bool{false, true} {
		var r api.ListResult
		h.call("session.list", api.ListParams{Archived: archived}, &r)
		if i := slices.IndexFunc(r.Sessions, func(s api.SessionSummary) bool { return s.SessionID == id }); i >= 0 {
			return r.Sessions[i]
		}
	}
	h.Fatalf("session %s is not listed", id)
	return api.SessionSummary{}
}

func (h *harness) queue(id string) []event.QueueItem {
	h.Helper()
	var r api.QueueListResult
	h.call("queue.list", api.SessionRef{SessionID: id}, &r)
	return r.Items
}

func prompts(c *event.Conversation) []string {
	var all []string
	for _, it := range c.Threads[0].Items {
		if m := it.Message; m != nil && m.User != nil && m.User.IsPrompt {
			all = append(all, m.Blocks[0].Text.String())
		}
	}
	return all
}

func TestQueue(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "wait")
	w.awaitAnswer("I wait.")
	a, b, c := h.query(id, "say a"), h.query(id, "say b"), h.query(id, "say c")
	w.until("three inputs in the queue", func(c *event.Conversation) bool { return len(c.Queue) == 3 })
	h.call("queue.edit", api.QueueEditParams{SessionID: id, ID: b.TurnID, Content: `"say bb"`}, nil)
	h.call("queue.remove", api.QueueItemParams{SessionID: id, ID: a.TurnID}, nil)
	h.refused(api.Conflict, "queue.remove", api.QueueItemParams{SessionID: id, ID: a.TurnID})
	h.refused(api.InvalidParams, "queue.edit", api.QueueEditParams{SessionID: id, ID: b.TurnID, Content: `""`})
	h.refused(api.Conflict, "queue.reorder", api.QueueReorderParams{SessionID: id, IDs: []string{b.TurnID}})
	h.call("queue.reorder", api.QueueReorderParams{SessionID: id, IDs: []string{c.TurnID, b.TurnID}}, nil)
	var r api.InterruptResult
	h.call("session.interrupt", api.SessionRef{SessionID: id}, &r)
	if want := []string{c.TurnID, b.TurnID}; r.Status != "interrupted" || !slices.Equal(r.StillQueued, want) {
		t.Errorf("the interrupt says %+v, want still queued %v", r, want)
	}
	w.results(3)
	if got := prompts(h.history(id)); !slices.Equal(got, []string{"wait", "say c", "say bb"}) {
		t.Errorf("the prompts are %q", got)
	}
}

func TestQueue_sendNow(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "wait")
	w.awaitAnswer("I wait.")
	h.query(id, "say later")
	now := h.query(id, "say now")
	h.call("queue.sendNow", api.QueueItemParams{SessionID: id, ID: now.TurnID}, nil)
	w.until("it left the queue", func(c *event.Conversation) bool { return len(c.Queue) == 1 })
	h.call("session.interrupt", api.SessionRef{SessionID: id}, nil)
	w.results(3)
	if got := prompts(h.history(id)); !slices.Equal(got, []string{"wait", "say now", "say later"}) {
		t.Errorf("the prompts are %q", got)
	}
}

func TestQuery_idempotent(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	p := api.QueryParams{SessionID: id, Text: "say once", Idempotency: api.Idempotency{Key: "k1"}}
	var first, second, third api.Accepted
	h.call("session.query", p, &first)
	h.call("session.query", p, &second)
	w.results(1)
	h.restart()
	h.call("session.query", p, &third)
	if first != second || first != third || first.Seq == 0 {
		t.Errorf("the answers differ: %+v, %+v, %+v", first, second, third)
	}
	if got := prompts(h.history(id)); len(got) != 1 {
		t.Errorf("the prompts are %q", got)
	}
	c := api.ConnectParams{Idempotency: api.Idempotency{Key: "c1"}}
	token, err := h.server.CreateToken("robot", "operator", 0)
	if err != nil {
		t.Fatal(err)
	}
	var one, two api.ConnectResult
	for _, r := range []*api.ConnectResult{&one, &two} {
		if err := h.client(token).Call(h.ctx(), "session.connect", c, r); err != nil {
			t.Fatal(err)
		}
	}
	if one.SessionID != two.SessionID {
		t.Errorf("a connect with the same key made %s and %s", one.SessionID, two.SessionID)
	}
}

func TestQuestionPlanElicitation(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	request := func() string {
		w.state(session.RequiresAction)
		var inbox api.PermissionListResult
		h.call("permission.list", api.PermissionListParams{SessionID: id}, &inbox)
		if len(inbox.Prompts) != 1 {
			t.Fatalf("the inbox is %+v", inbox)
		}
		return inbox.Prompts[0].Prompt.RequestID()
	}
	h.query(id, "ask")
	r := request()
	h.refused(api.InvalidParams, "permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: r, Behavior: "allow"})
	h.refused(api.InvalidParams, "question.respond", api.QuestionRespondParams{SessionID: id, RequestID: r, Action: "accept"})
	h.call("question.respond", api.QuestionRespondParams{SessionID: id, RequestID: r, Action: "accept", Answers: `{"Which?":"A"}`}, nil)
	w.awaitAnswer(`You said accept {"Which?":"A"}`)
	w.results(1)
	h.query(id, "plan")
	h.call("permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: request(), Behavior: "allow"}, nil)
	w.awaitAnswer("The plan: allow")
	w.results(2)
	h.query(id, "elicit")
	h.call("question.respond", api.QuestionRespondParams{SessionID: id, RequestID: request(), Action: "decline"}, nil)
	w.awaitAnswer("You said decline")
	w.results(3)
}

func TestSettings_live(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.call("session.setModel", api.SetModelParams{SessionID: id, Model: "sim-2"}, nil)
	h.call("session.setPermissionMode", api.SetPermissionModeParams{SessionID: id, Mode: "plan"}, nil)
	h.call("session.setMaxThinkingTokens", api.SetMaxThinkingTokensParams{SessionID: id, MaxThinkingTokens: new(int64(99))}, nil)
	h.refused(api.InvalidParams, "session.setPermissionMode", api.SetPermissionModeParams{SessionID: id, Mode: "nonsense"})
	h.refused(api.AuthFailed, "session.setPermissionMode", api.SetPermissionModeParams{SessionID: id, Mode: "bypassPermissions"})
	h.call("session.setEffort", api.SetEffortParams{SessionID: id, Effort: "high"}, nil)
	h.refused(api.InvalidParams, "session.setEffort", api.SetEffortParams{SessionID: id, Effort: "nonsense"})
	h.query(id, "model")
	w.awaitAnswer("model sim-2 mode plan thinking 99 effort high")
	w.results(1)
	h.restart() // settings apply to the resumed agent
	w = h.watch(id)
	h.query(id, "model")
	w.results(2)
	if n := strings.Count(text(h.history(id)), "model sim-2 mode plan thinking 99 effort high"); n != 2 {
		t.Errorf("after a restart the agent runs with other settings: %s", text(h.history(id)))
	}
}

func TestBypass_refused(t *testing.T) {
	h := newHarness(t)
	for _, p := range []api.ConnectParams{{PermissionMode: "bypassPermissions"}, {DangerouslySkipPermissions: true}, {AllowDangerouslySkipPermissions: true}} {
		h.refused(api.AuthFailed, "session.connect", p)
	}
	if n := h.provider.Opened(); n != 0 {
		t.Errorf("%d agents were started", n)
	}
}

func TestBypass_allowed(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.AllowBypass = true })
	var r api.ConnectResult
	h.call("session.connect", api.ConnectParams{DangerouslySkipPermissions: true}, &r)
	w := h.watch(r.SessionID)
	h.query(r.SessionID, "tool Bash")
	w.results(1)
}

// TestAgent_dies checks that the turn of an agent that died is interrupted, that its partial text
// stays, that its requests expire, and that one call continues it.
func TestAgent_dies(t *testing.T) {
	h := newHarness(t)
	h.provider.Pause = time.Millisecond
	id := h.connect()
	w := h.watch(id)
	h.query(id, "cut 20")
	w.state(session.Interrupted)
	if got := text(h.history(id)); !strings.HasPrefix(got, "w1 w2") {
		t.Errorf("the partial text is %q", got)
	}
	h.call("session.continue", api.SessionRef{SessionID: id}, nil)
	w.awaitAnswer("Continue from where you left off.")
	w.results(1)
	h.query(id, "tool Bash")
	w.state(session.RequiresAction)
	request := h.history(id).Prompts[0].RequestID()
	h.query(id, "say queued")
	agentID := h.info(id).AgentID
	h.provider.Session(agentID).Kill()
	w.state(session.Interrupted)
	h.refused(api.Conflict, "permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: request, Behavior: "allow"})
	if q := h.queue(id); len(q) != 1 || q[0].Status != "held" {
		t.Errorf("the queue is %+v, want one held input", q)
	}
	w.mu.Lock()
	for _, m := range w.events {
		if p, ok := m.(*event.PermissionResolved); ok && p.Behavior != "expired" {
			t.Errorf("the request was resolved with %q", p.Behavior)
		}
	}
	w.mu.Unlock()
	h.call("queue.release", api.SessionRef{SessionID: id}, nil)
	w.awaitAnswer("queued")
}

func TestRestart_holdsQueue(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.DrainTimeout = 50 * time.Millisecond })
	id := h.connect()
	w := h.watch(id)
	h.query(id, "wait")
	w.awaitAnswer("I wait.")
	h.query(id, "say later")
	h.restart()
	opened := h.provider.Opened()
	if q := h.queue(id); len(q) != 1 || q[0].Status != "held" {
		t.Errorf("the queue is %+v, want one held input", q)
	}
	if s := h.summary(id).State; s != string(session.Idle) && s != string(session.Interrupted) {
		t.Errorf("the state is %s", s)
	}
	if n := h.provider.Opened(); n != opened {
		t.Error("an agent was started by itself")
	}
	w = h.watch(id)
	h.call("queue.sendNow", api.QueueItemParams{SessionID: id, ID: h.queue(id)[0].ID}, nil)
	w.awaitAnswer("later")
}

// TestAgent_cutTurn checks that the tool of a turn is interrupted when its agent dies, and that a
// later prompt waits after the held ones, also after a restart.
func TestAgent_cutTurn(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "tool Bash")
	w.state(session.RequiresAction)
	h.query(id, "say one")
	h.provider.Session(h.info(id).AgentID).Kill()
	w.state(session.Interrupted)
	h.restart()
	w = h.watch(id)
	c := h.history(id)
	tools := 0
	for _, it := range c.Threads[0].Items {
		if it.Message == nil {
			continue
		}
		for _, b := range it.Message.Blocks {
			if b.Tool != nil {
				if tools++; b.Tool.Status != event.ToolInterrupted {
					t.Errorf("the tool is %s", b.Tool.Status)
				}
			}
		}
	}
	if tools != 1 {
		t.Errorf("there are %d tools", tools)
	}
	if r := h.query(id, "say newer"); !r.Held {
		t.Errorf("the answer is %+v, want one that says that the prompt is held", r)
	}
	h.call("queue.release", api.SessionRef{SessionID: id}, nil)
	w.awaitAnswer("newer")
	if got := text(h.history(id)); strings.Index(got, "one") > strings.Index(got, "newer") {
		t.Errorf("the held prompt came after a newer one: %q", got)
	}
}

func TestEviction(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.IdleTimeout, o.UnloadAfter = 20*time.Millisecond, 20*time.Millisecond })
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.results(1)
	eventually(t, "the agent is evicted", func() bool { return h.provider.Running() == 0 })
	w.stop()
	eventually(t, "the session leaves the memory", func() bool {
		return !h.info(id).Loaded
	})
	if s := h.summary(id); s.State != string(session.Idle) || s.Title == "" {
		t.Errorf("an evicted session is listed as %+v", s)
	}
	w = h.watch(id)
	h.query(id, "say two")
	w.results(2)
	if got := text(h.history(id)); got != "onetwo" {
		t.Errorf("the history is %q", got)
	}
}

// TestEviction_race sends inputs while the agent is being ended: no input is lost, and the outcome
// of every input is known.
func TestEviction_race(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.IdleTimeout = time.Millisecond })
	id := h.connect()
	w := h.watch(id)
	turns := short.Count(12, 40, 40)
	for i := range turns {
		h.query(id, "say x")
		w.results(i + 1)
		if i%4 == 0 { // coincides with the eviction by tick
			stall(h.ctx(), 250*time.Millisecond-time.Duration(i)*time.Millisecond)
			h.call("models.list", api.SessionRef{SessionID: id}, nil)
		}
	}
	if c := h.history(id); int(c.Totals.Turns) != turns || len(c.Queue) != 0 {
		t.Errorf("%d turns, the queue is %+v", c.Totals.Turns, c.Queue)
	}
	if n := h.provider.Opened(); n < 3 {
		t.Errorf("the agent was started %d times: nothing was evicted", n)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for !ok() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("it never came: %s", what)
		}
	}
}

func TestAdmission_evictsIdle(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.MaxAgents = 1 })
	a := h.connect()
	wa := h.watch(a)
	h.query(a, "say one")
	wa.results(1)
	b := h.connect() // needs the slot of the idle agent
	wb := h.watch(b)
	h.query(b, "wait")
	wb.awaitAnswer("I wait.")
	h.query(a, "say two") // waits for the busy one
	wa.state(session.Starting)
	h.call("session.interrupt", api.SessionRef{SessionID: b}, nil)
	wa.results(2)
	if n := h.provider.Running(); n != 1 {
		t.Errorf("%d agents run, want 1", n)
	}
}

func TestStall(t *testing.T) {
	h := newHarness(t, func(o *Options) {
		o.Stall = session.Stall{Notify: 30 * time.Millisecond, Interrupt: 60 * time.Millisecond}
	})
	id := h.connect()
	w := h.watch(id)
	h.query(id, "stall")
	w.until("a notice", func(c *event.Conversation) bool {
		return slices.ContainsFunc(c.Notices, func(n event.NoticeRow) bool { return n.Notice.Code == "stalled" })
	})
	w.results(1)
	h.query(id, "tool Bash") // waiting for a person is not silence
	w.state(session.RequiresAction)
	n := len(h.history(id).Notices)
	timer := time.NewTimer(400 * time.Millisecond)
	<-timer.C
	if c := h.history(id); c.State != string(session.RequiresAction) || len(c.Notices) != n {
		t.Errorf("a turn that waits for a person was taken for a silent one: %s, %d notices", c.State, len(c.Notices))
	}
}

func TestTitle(t *testing.T) {
	h := newHarness(t)
	for _, tt := range []struct{ prompt, want string }{
		{"say hello", "On say hello"},
		{"untitled thoughts", "untitled thoughts"},
		{"say \x1b[31mred\x1b[0m", "On say [31mred[0m"},
	} {
		id := h.connect()
		w := h.watch(id)
		h.query(id, tt.prompt)
		w.until("a title", func(c *event.Conversation) bool { return c.Title != "" })
		if got := h.summary(id).Title; got != tt.want {
			t.Errorf("the title of %q is %q, want %q", tt.prompt, got, tt.want)
		}
		h.refused(api.InvalidParams, "session.rename", api.SessionRenameParams{SessionID: id, Title: "a\nb"})
		h.call("session.rename", api.SessionRenameParams{SessionID: id, Title: "mine"}, nil)
		if got := h.summary(id).Title; got != "mine" {
			t.Errorf("the title after a rename is %q", got)
		}
	}
}

func TestArchiveAndDelete(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.results(1)
	h.call("session.archive", api.SessionRef{SessionID: id}, nil)
	var r api.ListResult
	if h.call("session.list", api.ListParams{}, &r); len(r.Sessions) != 0 {
		t.Errorf("an archived session is listed: %+v", r)
	}
	h.restart()
	if !h.summary(id).Archived {
		t.Error("after a restart the session is not archived")
	}
	h.call("session.unarchive", api.SessionRef{SessionID: id}, nil)
	if h.summary(id).Archived {
		t.Error("the session is still archived")
	}
	var up api.ImageUploadResult
	h.call("image.upload", api.ImageUploadParams{SessionID: id, Name: "a.png", MediaType: "image/png", Data: "aGk="}, &up)
	h.call("session.delete", api.SessionDeleteParams{SessionID: id, AgentFiles: true}, nil)
	h.refused(api.SessionExpired, "session.getHistory", api.SessionRef{SessionID: id})
	var hist api.HistoryListResult
	if h.call("history.list", api.HistoryListParams{}, &hist); len(hist.Sessions) != 0 {
		t.Errorf("the agent still has %+v", hist)
	}
	infos, err := h.store.Sessions(context.Background())
	if err != nil || slices.ContainsFunc(infos, func(i eventlog.SessionInfo) bool { return i.Session == id }) {
		t.Errorf("the log is still there: %+v, %v", infos, err)
	}
	h.restart()
	h.refused(api.SessionExpired, "session.getHistory", api.SessionRef{SessionID: id})
}

func TestFork(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.results(1)
	h.query(id, "say two")
	w.results(2)
	at := ""
	for _, it := range h.history(id).Threads[0].Items {
		if m := it.Message; m != nil && m.Role == "assistant" && at == "" {
			at = m.Blocks[0].UUID
		}
	}
	var r api.ConnectResult
	h.call("session.fork", api.ForkParams{SessionID: id, At: at, Metadata: map[string]string{"version_of": id}}, &r)
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	summary := list.Sessions[slices.IndexFunc(list.Sessions, func(s api.SessionSummary) bool { return s.SessionID == r.SessionID })]
	if summary.Metadata["version_of"] != id || summary.AgentSessionID == "" || summary.Capabilities == nil || len(summary.Capabilities.SupportedEfforts) == 0 {
		t.Errorf("the summary of a fork: %+v", summary)
	}
	if r.SessionID == id {
		t.Fatal("a fork has the id of its origin")
	}
	if got := text(h.history(r.SessionID)); got != "one" {
		t.Errorf("the fork begins with %q, want %q", got, "one")
	}
	wf := h.watch(r.SessionID)
	h.query(r.SessionID, "say three")
	wf.results(1)
	if got := text(h.history(id)); got != "onetwo" {
		t.Errorf("the origin has %q", got)
	}
	var rw api.RewindResult
	h.call("session.rewind", api.RewindParams{SessionID: id, UserMessageID: h.history(id).Threads[0].Items[0].Message.UUID, DryRun: true}, &rw)
	if !rw.CanRewind || len(rw.FilesChanged) != 1 {
		t.Errorf("the dry run says %+v", rw)
	}
}

// bare is a provider with sessions without the optional interfaces.
type bare struct{ agent.Provider }

func (b bare) Open(ctx context.Context, o agent.Options) (agent.Session, error) {
	s, err := b.Provider.Open(ctx, o)
	return bareSession{s}, err
}

type bareSession struct{ agent.Session }

func TestUnsupported(t *testing.T) {
	h := newHarness(t)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.opts.Providers = []agent.Provider{bare{h.provider}}
	h.start()
	var r api.ConnectResult
	h.call("session.connect", api.ConnectParams{}, &r)
	if c := r.Capabilities; c.CanSwitchModel || c.CanThink || c.CanResumeSession || c.CanRunInBackground || len(c.SupportedPermissionModes) > 0 {
		t.Errorf("a bare agent has the capabilities %+v", c)
	}
	ref := api.SessionRef{SessionID: r.SessionID}
	for method, params := range map[string]any{
		"session.setModel": api.SetModelParams{SessionID: r.SessionID}, "session.setPermissionMode": api.SetPermissionModeParams{SessionID: r.SessionID, Mode: "plan"},
		"session.setMaxThinkingTokens": ref, "session.setEffort": ref, "session.fork": api.ForkParams{SessionID: r.SessionID}, "session.rewind": api.RewindParams{SessionID: r.SessionID},
		"session.runInBackground": ref, "mcp.status": ref, "models.list": ref, "task.stop": api.TaskParams{SessionID: r.SessionID}, "usage.context": ref,
		"history.list": api.Empty{}, "usage.summary": api.Empty{}, "session.handBack": ref, "workspace.diff": ref,
	} {
		h.refused(api.Unsupported, method, params)
	}
	w := h.watch(r.SessionID)
	h.query(r.SessionID, "say it works")
	w.results(1)
}

// TestBigResult checks large tool results: one that needs several parts of a record is stored
// completely, and one of 100 MB is cut and marked. Neither blocks the session.
func TestBigResult(t *testing.T) {
	short.SkipQuick(t, "sends large results")
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	cut := short.Count(20_000_000, 100_000_000, 100_000_000)
	for i, size := range []int{6_000_000, cut} {
		h.query(id, fmt.Sprint("big ", size))
		w.results(2*i + 1)
		h.query(id, fmt.Sprint("say after ", size))
		w.results(2*i + 2)
		w.awaitAnswer(fmt.Sprint("after ", size))
	}
	var results []*event.ToolCall
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, it := range w.view.Conversation.Threads[0].Items {
		if it.Message == nil {
			continue
		}
		for _, b := range it.Message.Blocks {
			if b.Tool != nil {
				results = append(results, b.Tool)
			}
		}
	}
	if len(results) != 2 {
		t.Fatalf("there are %d results", len(results))
	}
	if r := results[0]; r.Truncated || len(r.Result.Text()) != 6_000_000 {
		t.Errorf("the result of 6 MB has %d bytes, cut: %v", len(r.Result.Text()), r.Truncated)
	}
	if r := results[1]; !r.Truncated || !strings.HasPrefix(r.Result.Text(), "xxx") || !strings.Contains(r.Result.Text(), fmt.Sprintf("[cut: the result has %d bytes", cut+2)) || len(r.Result) > 128<<10 {
		t.Errorf("the result of %d bytes is %d bytes, cut: %v, …%.100s", cut, len(r.Result), r.Truncated, r.Result[max(0, len(r.Result)-100):])
	}
}

func TestReason(t *testing.T) {
	h := newHarness(t)
	h.refused(api.SessionExpired, "session.query", api.QueryParams{SessionID: "s-none", Text: "x"})
	id := h.connect()
	h.refused(api.InvalidParams, "session.query", api.QueryParams{SessionID: id})
	h.refused(api.InvalidParams, "session.query", api.QueryParams{SessionID: id, Text: "x", Priority: "soon"})
	h.refused(api.InvalidParams, "session.queryWithContent", api.QueryWithContentParams{SessionID: id, Content: []event.JSON{`5`}})
	h.refused("method_not_found", "no.such.method", api.Empty{})
	err := h.client(h.token).Call(h.ctx(), "session.query", json.RawMessage(`[1]`), nil)
	if client.Reason(err) != api.InvalidParams {
		t.Errorf("parameters that are a list: %v", err)
	}
}
