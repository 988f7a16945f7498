package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// inLoop runs f in the loop of the session.
func (c *stage) inLoop(f func(a *actor)) {
	c.Helper()
	if err := c.with(context.Background(), c.id, func(a *actor) error { f(a); return nil }); err != nil {
		c.Fatal(err)
	}
}

// TestHeld_end checks that text that waits to be joined is stored when the agent ends.
func TestHeld_end(t *testing.T) {
	c := newStage(t, Opened{})
	c.opts.JoinInterval = time.Hour
	p := c.connect()
	c.turn("work")
	h := event.Header{MessageID: "m"}
	for _, ev := range []event.Event{&event.MessageStart{Header: h}, &event.TextStart{Header: h}, &event.TextDelta{Header: h, Text: "one "}, &event.TextDelta{Header: h, Text: "two "}, &event.TextDelta{Header: h, Text: "three"}} {
		p.events <- ev
	}
	c.await("the text waits", func() (waits bool) {
		c.inLoop(func(a *actor) { waits = a.joiner.text.String() == "two three" })
		return waits
	})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	c.inState(Interrupted)
	if !c.has(`one two three`) {
		_, log := c.records(0)
		t.Errorf("the log has\n%s\nwant all of the text", log)
	}
}

// TestStart_abandoned checks that an agent that starts after the end of its session is closed, and
// that its slot is released.
func TestStart_abandoned(t *testing.T) {
	c := newStage(t, Opened{})
	starting, started := make(chan struct{}), make(chan struct{})
	late := newBare("agent-1")
	c.opts.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return c.puppets, nil, nil }
	c.inLoop(func(a *actor) { a.provider = lateProvider{c.puppets, late, starting, started} })
	ended := make(chan error, 1)
	go func() {
		_, err := c.Connected(context.Background(), c.id)
		ended <- err
	}()
	<-starting
	var loop *actor
	c.inLoop(func(a *actor) { loop = a })
	loop.cancel()
	<-loop.done
	close(started)
	if err := <-ended; err == nil {
		t.Error("connecting to a session that has ended is no error")
	}
	c.await("the agent is closed", func() bool { return late.got("Close") })
	c.await("its place is free", func() bool { free, _ := c.Places(); return free == c.opts.MaxAgents })
}

// lateProvider starts an agent when it is allowed to.
type lateProvider struct {
	agent.Provider
	late              bare
	starting, started chan struct{}
}

func (p lateProvider) Open(context.Context, agent.Options) (agent.Session, error) {
	close(p.starting)
	<-p.started
	return p.late, nil
}

// TestLost_listed checks that the list shows immediately that another server has taken over a
// session, and that this server no longer writes.
func TestLost_listed(t *testing.T) {
	c := newStage(t, Opened{})
	c.connect()
	c.log.set("Append", &eventlog.ConflictError{})
	if _, err := Of[Details](c.Sessions).Rename(t.Context(), api.SessionRenameParams{SessionID: c.id, Title: "new"}); err == nil {
		t.Error("a change of a session that is lost is no error")
	}
	c.log.set("Append", nil)
	if info, err := c.Lookup(t.Context(), c.id); err != nil || info.State != string(LostHost) {
		t.Errorf("the list has %q, %v, want %s", info.State, err, LostHost)
	}
	c.gone()
	n, _ := c.records(0)
	_, err := c.Query(t.Context(), c.id, "", `"x"`, "", "by")
	if c.reason("a prompt", err, api.NotOwner); !c.puppets.agent().got("Close") {
		t.Error("the agent runs on, want it closed")
	}
	if m, records := c.records(n); m != n {
		t.Errorf("the log got\n%s\nwant nothing", records)
	}
}

// TestLearn checks which list entries of other servers are accepted: newer ones, of sessions that
// this server does not have in memory.
func TestLearn(t *testing.T) {
	s, _ := memSessions(t)
	entryOf := func(id, title string, seq uint64) []byte {
		return []byte(fmt.Sprintf(`{"agent_id":"a-%s","tenant":"t-%s","summary":{"session_id":%q,"title":%q,"seq":%d}}`, title, title, id, title, seq))
	}
	a := s.newActor("s-mine", "e")
	defer a.cancel()
	for name, tt := range map[string]struct {
		before *entry
		data   []byte
		want   string
	}{
		"a new session":                 {nil, entryOf("s-x", "new", 3), "new a-new t-new 3"},
		"a newer entry":                 {&entry{summary: api.SessionSummary{Title: "old", Seq: 2}, agentID: "a", tenant: "t"}, entryOf("s-x", "new", 3), "new a-new t-new 3"},
		"the same event":                {&entry{summary: api.SessionSummary{Title: "old", Seq: 3}}, entryOf("s-x", "new", 3), "new a-new t-new 3"},
		"an older entry":                {&entry{summary: api.SessionSummary{Title: "old", Seq: 4}, agentID: "a", tenant: "t"}, entryOf("s-x", "new", 3), "old a t 4"},
		"a session of this server":      {&entry{summary: api.SessionSummary{Title: "old", Seq: 2}, actor: a}, entryOf("s-x", "new", 3), "old   2"},
		"a session that is loaded":      {&entry{summary: api.SessionSummary{Title: "old", Seq: 2}, loading: make(chan struct{})}, entryOf("s-x", "new", 3), "old   2"},
		"a deleted session":             {&entry{summary: api.SessionSummary{Title: "old", Seq: 2}}, nil, "none"},
		"a deleted one of this server":  {&entry{summary: api.SessionSummary{Title: "old", Seq: 2}, actor: a}, nil, "old   2"},
		"a deleted one that is unknown": {nil, nil, "none"},
		"an entry of another session":   {&entry{summary: api.SessionSummary{Title: "old", Seq: 2}}, entryOf("s-y", "new", 3), "old   2"},
		"no entry":                      {nil, []byte("{"), "none"},
	} {
		delete(s.entries, "s-x")
		if tt.before != nil {
			s.entries["s-x"] = tt.before
		}
		s.Learn("s-x", tt.data)
		got := "none"
		if e := s.entries["s-x"]; e != nil {
			got = fmt.Sprintf("%s %s %s %d", e.summary.Title, e.agentID, e.tenant, e.summary.Seq)
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if seq := s.toldSeq("s-x"); tt.want == "none" && seq != 0 || tt.want != "none" && !strings.HasSuffix(tt.want, fmt.Sprint(" ", seq)) {
			t.Errorf("%s: the list has event %d", name, seq)
		}
	}
	delete(s.entries, "s-x")
}

// TestJoined checks that consecutive deltas of one block are joined to one message with the
// position of the last, and that no other messages are joined.
func TestJoined(t *testing.T) {
	h := event.Header{MessageID: "m", Provider: "p"}
	encoder := event.NewEncoder("00000000", 0, event.CapabilityOutputDelta)
	item := func(seq, sub uint64, ev event.Event) Item {
		all, err := encoder.Messages(ev)
		if err != nil || len(all) == 0 {
			t.Fatalf("%T: %d messages, %v", ev, len(all), err)
		}
		it := Item{Seq: seq, Sub: sub, ts: fmt.Sprint("t", sub), msg: all[len(all)-1]}
		if sub > 0 {
			it.delta = ev
		}
		return it
	}
	text := func(sub uint64, index int64, s string) Item {
		return item(1, sub, &event.TextDelta{Header: h, Index: index, Text: s})
	}
	items := []Item{item(1, 0, &event.Notice{Header: h, Text: "n"}), text(1, 0, "a"), text(2, 0, "b"), text(3, 0, "c"), text(4, 1, "d"), item(1, 5, &event.ThinkingDelta{Header: h, Index: 1, Thinking: "e"}), text(6, 1, "f"), text(7, 1, "g")}
	var got []string
	for _, it := range joined(slices.Clone(items)) {
		found := "notice"
		for _, s := range []string{"abc", "fg", "d", "e"} {
			if strings.Contains(string(it.msg), `"`+s+`"`) && found == "notice" {
				found = s
			}
		}
		got = append(got, fmt.Sprintf("%d.%d %s %s", it.Seq, it.Sub, it.ts, found))
	}
	if want := "1.0 t0 notice; 1.3 t3 abc; 1.4 t4 d; 1.5 t5 e; 1.7 t7 fg"; strings.Join(got, "; ") != want {
		t.Errorf("joined are\n%s\nwant\n%s", strings.Join(got, "; "), want)
	}
	if one := joined(items[:1]); len(one) != 1 || &one[0] != &items[0] {
		t.Error("one item was copied")
	}
}

// TestCheckContent checks which prompts are accepted, and that the reason of a refusal is named.
func TestCheckContent(t *testing.T) {
	for content, want := range map[event.JSON]string{
		`"text"`: "", `[{"type":"text","text":"x"}]`: "", `[{"type":"image"},{"type":"new"}]`: "", `""`: "empty", `[]`: "empty", ``: "neither", `{}`: "neither", `7`: "neither", `"open`: "neither", `[7]`: "block 0", `[{"type":"text"},{}]`: "block 1", `[{"type":""}]`: "block 0", `["x"]`: "block 0",
	} {
		err := checkContent(content)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || FailureOf(err).Reason != api.InvalidParams) {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
}

// TestEncode_large checks that a large prompt is not copied into its record, and that a shorter one is.
func TestEncode_large(t *testing.T) {
	s, _ := memSessions(t)
	a := s.newActor(Prefix+"large", "e")
	defer a.cancel()
	for _, size := range []int{largeMessage - 1, largeMessage} {
		text := strings.Repeat("x", size)
		all := a.encode("now", &event.UserMessage{Header: event.Header{UUID: "u"}, IsText: true, IsPrompt: true, Blocks: []event.Content{{Type: "text", Text: text}}})
		if len(all) != 1 || all[0].rec.isLarge() != (size >= largeMessage) || all[0].ev == nil {
			t.Errorf("%d bytes are %d records, the first large: %v", size, len(all), all[0].rec.isLarge())
		}
	}
}

// TestSeen_messages checks that a line is recognized by each uuid under which a conversation can
// contain it.
func TestSeen_messages(t *testing.T) {
	conv := &event.Conversation{
		Turns: []*event.Turn{{}, {Start: &event.TurnStart{PromptID: "turn"}}},
		Threads: []*event.Thread{{ParentToolUseID: "p", Items: []*event.Item{
			{Message: &event.Message{UUID: "message", ID: "m", Blocks: []*event.Block{{UUID: "block", Index: 3, Whole: true, Tool: &event.ToolCall{ResultUUID: "result"}}, {Index: 4}}}},
			{ToolResult: &event.ToolResult{}}, {},
		}}},
	}
	conv.Threads[0].Items[1].ToolResult.UUID = "orphan"
	prompt := func(uuid string) event.Event { return &event.UserMessage{Header: event.Header{UUID: uuid}} }
	answer := func(parent, message string, index int64) event.Event {
		return &event.AssistantMessage{Header: event.Header{UUID: "new", ParentToolUseID: parent, MessageID: message}, Blocks: []event.IndexedBlock{{Index: index}}}
	}
	for name, tt := range map[string]struct {
		ev    event.Event
		fresh bool
	}{
		"the prompt of a turn": {&event.TurnStart{PromptID: "turn"}, false}, "another turn": {&event.TurnStart{PromptID: "other"}, true}, "a turn without a prompt": {&event.TurnStart{}, false},
		"a message": {prompt("message"), false}, "a block": {prompt("block"), false}, "a result": {&event.ToolComplete{Header: event.Header{UUID: "result"}}, false}, "an orphan": {&event.ToolComplete{Header: event.Header{UUID: "orphan"}}, false},
		"without a name": {prompt(""), false}, "another message": {prompt("other"), true}, "a whole block": {answer("p", "m", 3), false}, "a block in part": {answer("p", "m", 4), true}, "of another thread": {answer("", "m", 3), true}, "of another message": {answer("p", "n", 3), true},
	} {
		s := newSeen(conv)
		if got := s.fresh(tt.ev); got != tt.fresh || s.began != tt.fresh {
			t.Errorf("%s is new: %v, and a new turn began: %v, want %v", name, got, s.began, tt.fresh)
		}
	}
}

// modes is an agent with permission modes and nothing else.
type modes struct{ agent.Session }

func (modes) SetMode(context.Context, string) error { return nil }
func (modes) Modes() []string                       { return []string{"plan", "bypassPermissions"} }

// TestCapabilitiesOf checks the reported capabilities of an agent with every optional feature and
// of an agent without any.
func TestCapabilitiesOf(t *testing.T) {
	p := newPuppets()
	all := agent.CapabilitiesOf(p, &puppet{bare: newBare("x")})
	want := api.Capabilities{CanInterrupt: true, CanSendRichContent: true, CanSwitchModel: all.Model, CanSwitchPermissionMode: true, SupportedPermissionModes: []string{"plan"}, CanThink: all.Thinking, CanResumeSession: all.Resume,
		CanRunInBackground: all.Background, SupportedEfforts: all.Efforts, CanFork: all.Fork, CanRewind: all.Rewind}
	if diff := cmp.Diff(want, CapabilitiesOf(p, &puppet{bare: newBare("x")}, false)); diff != "" {
		t.Errorf("without bypass (-want +got):\n%s", diff)
	}
	want.SupportedPermissionModes, want.CanSkipPermissions = []string{"plan", "bypassPermissions"}, true
	if diff := cmp.Diff(want, CapabilitiesOf(p, &puppet{bare: newBare("x")}, true)); diff != "" {
		t.Errorf("with bypass (-want +got):\n%s", diff)
	}
	none := CapabilitiesOf(bareProvider{}, newBare("x"), true)
	if diff := cmp.Diff(api.Capabilities{CanInterrupt: true, CanSendRichContent: true, SupportedPermissionModes: []string{}}, none); diff != "" {
		t.Errorf("of an agent without features (-want +got):\n%s", diff)
	}
	if got := CapabilitiesOf(bareProvider{}, modes{}, false); !got.CanSwitchPermissionMode || got.CanSkipPermissions {
		t.Errorf("of an agent with modes: %+v", got)
	}
}

// bareProvider is a provider without optional features.
type bareProvider struct{ agent.Provider }

// TestWatchStall checks each step of the policy for a silent turn: the notice, the interrupt, the end of the agent and its new start.
func TestWatchStall(t *testing.T) {
	for name, tt := range map[string]struct {
		policy Stall
		silent time.Duration
		taken  stallStep
		idle   bool
		notice string // empty for none
		calls  string // of the agent
		step   stallStep
	}{
		"not silent":         {Stall{Notify: time.Minute}, time.Second, stallNone, false, "", "", stallNone},
		"idle":               {Stall{Notify: time.Minute}, time.Hour, stallNone, true, "", "", stallNone},
		"a notice":           {Stall{Notify: time.Minute, Interrupt: time.Hour}, 61 * time.Second, stallNone, false, "The agent is silent for 1m1s.", "", stallNotified},
		"notified already":   {Stall{Notify: time.Minute}, 2 * time.Minute, stallNotified, false, "", "", stallNotified},
		"an interrupt":       {Stall{Notify: time.Minute, Interrupt: time.Hour}, time.Hour, stallNotified, false, "The turn is interrupted: the agent is silent for 1h0m0s.", "Interrupt", stallInterrupted},
		"the end":            {Stall{Kill: time.Hour}, time.Hour, stallInterrupted, false, "The agent is ended: it is silent for 1h0m0s.", "Close", stallKilled},
		"a start afterwards": {Stall{Kill: time.Hour, Resume: true}, time.Hour, stallNone, false, "The agent is ended: it is silent for 1h0m0s.", "Close", stallKilled},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			c.opts.Stall = tt.policy
			p := c.connect()
			if !tt.idle {
				c.turn("work")
			}
			p.take()
			n, _ := c.records(0)
			c.inLoop(func(a *actor) {
				a.stalled = tt.taken
				a.watchStall(a.quiet.Add(tt.silent))
				if a.stalled != tt.step {
					t.Errorf("step %d was taken, want %d", a.stalled, tt.step)
				}
			})
			if m, records := c.records(n); (m > n) != (tt.notice != "") || !strings.Contains(records, tt.notice) {
				t.Errorf("the log got %q, want %q", records, tt.notice)
			}
			if tt.calls != "" {
				c.await("the call of the agent", func() bool { return p.got(tt.calls) })
			} else if calls := p.take(); calls != "" {
				t.Errorf("the agent was called with %s, want nothing", calls)
			}
			if tt.policy.Resume {
				c.await("a new agent", func() bool { return c.puppets.agent() != nil && c.puppets.agent().closed != p.closed })
			}
		})
	}
	c := newStage(t, Opened{})
	c.opts.Stall = Stall{Notify: 1}
	c.inLoop(func(a *actor) {
		a.core.State = Running
		if a.watchStall(time.Now().Add(time.Hour)); a.stalled != stallNone {
			t.Errorf("without an agent step %d was taken, want none", a.stalled)
		}
		a.core.State = Idle
	})
}

// TestTitle_prompt checks that a session gets its prompt as a title, marked as such, if its agent makes no
// titles.
func TestTitle_prompt(t *testing.T) {
	c := newStage(t, Opened{})
	c.puppets.bare = true
	if _, err := c.Connected(t.Context(), c.id); err != nil {
		t.Fatal(err)
	}
	var session bare
	c.inLoop(func(a *actor) { session = a.agent.session.(bare) })
	if _, err := c.Query(t.Context(), c.id, "", `"fix the bug"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	c.await("the prompt is sent", func() bool { return session.got("Send") })
	session.result()
	c.await("the title", func() (titled bool) {
		c.inLoop(func(a *actor) { titled = a.core.Title == "fix the bug" && a.core.TitleBy == "prompt" })
		return titled
	})
}

// TestWatchAfter checks the positions at which a viewer of a turn can start, and that a refused
// viewer does not keep the session in use.
func TestWatchAfter(t *testing.T) {
	c := newStage(t, Opened{})
	c.connect()
	r, err := c.Query(t.Context(), c.id, "key", `"work"`, "", "by")
	if err != nil {
		t.Fatal(err)
	}
	c.inState(Running)
	c.await("the prompt is confirmed", func() bool { return c.confirmed(r.TurnID) })
	head, _ := c.records(0)
	uses := func() (n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.entries[c.id].refs
	}
	epoch := ""
	c.inLoop(func(a *actor) { epoch = a.hub.epoch })
	for name, tt := range map[string]struct {
		at   api.Cursor
		fail string
		ok   bool
	}{
		"the head": {api.Cursor{Seq: uint64(head)}, "", true}, "an earlier event": {api.Cursor{Epoch: epoch, Seq: 1}, "", true}, "after the head": {api.Cursor{Seq: uint64(head) + 1}, "", false},
		"another epoch": {api.Cursor{Epoch: "other", Seq: 1}, "", false}, "a log that cannot be read": {api.Cursor{Seq: 1}, "Read", false},
	} {
		if tt.fail != "" {
			c.log.set(tt.fail, errFault)
			c.inLoop(func(a *actor) {
				a.hub.mu.Lock()
				defer a.hub.mu.Unlock()
				a.hub.items, a.hub.bytes = nil, 0
			})
		}
		v, standing, end, err := c.WatchAfter(t.Context(), c.id, tt.at)
		if tt.fail != "" {
			c.log.set(tt.fail, nil)
		}
		if !tt.ok {
			if c.reason(name, err, api.Resync); uses() != 0 {
				t.Errorf("%s: %d uses are left", name, uses())
			}
			continue
		}
		if err != nil || v.Cursor.Seq != tt.at.Seq || v.Cursor.Epoch != epoch || uses() != 1 {
			t.Fatalf("%s: at %+v, %v, with %d uses", name, v.Cursor, err, uses())
		}
		if want := (Standing{Busy: true, Head: uint64(head), Turn: r.TurnID, From: r.Seq}); standing != want {
			t.Errorf("%s: the session is %+v, want %+v", name, standing, want)
		}
		if end(); uses() != 0 {
			t.Errorf("%s: after its end %d uses are left", name, uses())
		}
	}
	c.puppets.agent().result()
	c.inState(Idle)
	if standing, err := c.Standing(t.Context(), c.id); err != nil || standing.Busy || standing.Turn != "" || standing.From != 0 || standing.Head <= uint64(head) {
		t.Errorf("after the turn the session is %+v, %v", standing, err)
	}
}

// TestFailureOf checks the reason of every named error, and that the text of an unknown error is
// not sent to clients.
func TestFailureOf(t *testing.T) {
	for _, r := range reasons {
		if f := FailureOf(fmt.Errorf("secret: %w", r.err)); f.Reason != r.reason || !strings.Contains(f.Message, "secret") {
			t.Errorf("%v is %s with %q, want %s", r.err, f.Reason, f.Message, r.reason)
		}
	}
	if f := FailureOf(errors.New("secret")); f.Reason != InternalError || strings.Contains(f.Message, "secret") {
		t.Errorf("an unknown error is %s with %q, want no text of it", f.Reason, f.Message)
	}
	own := Conflict("of one's own %d", 7)
	if f := FailureOf(fmt.Errorf("x: %w", own)); f.Reason != api.Conflict || f.Message != "of one's own 7" {
		t.Errorf("a failure is %s with %q, want it as it is", f.Reason, f.Message)
	}
}
