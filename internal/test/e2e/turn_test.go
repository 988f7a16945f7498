package e2e_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// watch collects every message of a client. The returned function closes the client and
// returns them.
func watch(t *testing.T, c *claude.Client) func() talk {
	seq := c.Messages(t.Context())
	got := make(chan talk, 1)
	go func() { got <- collect(seq) }()
	all := sync.OnceValue(func() talk {
		c.Close()
		return <-got
	})
	t.Cleanup(func() { all() })
	return all
}

func sendTo(t *testing.T, c *claude.Client, text string) *claude.Turn {
	t.Helper()
	return ok[*claude.Turn](t)(c.Send(t.Context(), claude.Text(text)))
}

// until ranges over a turn until a message fits.
func until(t *testing.T, turn *claude.Turn, fits func(message.Message) bool) {
	t.Helper()
	for m, err := range turn.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if fits(m) {
			return
		}
	}
	t.Fatal("the turn has ended before")
}

func isDelta(m message.Message) bool {
	ev, ok := m.(*message.StreamEvent)
	return ok && ev.TextDelta() != ""
}

func isQueued(m message.Message) bool {
	l, ok := m.(*message.CommandLifecycle)
	return ok && l.State == message.CommandQueued
}

// longStory returns an answer that does not end by itself.
func longStory() claudetest.Reply {
	return claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("a very long story").Chunked(3)}, Hold: claudetest.HoldMid, HoldAfter: new(4)}
}

func TestClearChangesTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"), claudetest.Say("two"))
	c := w.connect()
	seen := watch(t, c)
	first := collect(c.Query(t.Context(), "hello")).one(t)
	if r, err := sendTo(t, c, "/clear").Wait(t.Context()); err != nil || r.SessionID == first.SessionID || r.SessionID != c.SessionID() {
		t.Fatalf("%v, %v, the client is in %s", r, err, c.SessionID())
	}
	again := collect(c.Query(t.Context(), "again")).one(t)
	if again.SessionID != c.SessionID() || again.Result != "two" || c.View().SessionID != c.SessionID() {
		t.Errorf("%s in %s, the client in %s", again.Result, again.SessionID, c.SessionID())
	}
	if resets := of[*message.ConversationReset](seen().messages); len(resets) != 1 || resets[0].Trigger != "clear" {
		t.Errorf("resets: %v", resets)
	}
}

func TestInterruptWithAQueuedPrompt(t *testing.T) {
	t.Parallel()
	for _, drop := range []bool{false, true} {
		t.Run(fmt.Sprint("drop ", drop), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, longStory(), claudetest.Say("second"))
			w.opts.IncludePartialMessages = true
			c := w.connect()
			a := sendTo(t, c, "tell me")
			until(t, a, isDelta)
			b := sendTo(t, c, "and then")
			until(t, b, isQueued)
			if v := c.View(); v.Phase != claude.PhaseStreaming || v.Queued != 1 || v.PID == 0 || a.State() != message.CommandStarted || b.State() != message.CommandQueued {
				t.Errorf("%+v, %s and %s", v, a.State(), b.State())
			}
			interrupt := c.Interrupt
			if drop {
				interrupt = c.InterruptAll
			}
			receipt := ok[*claude.InterruptReceipt](t)(interrupt(t.Context()))
			named := receipt.StillQueued
			if drop {
				named = receipt.Cancelled
			}
			if !slices.Equal(named, []string{b.ID}) {
				t.Errorf("receipt %s", receipt.Raw())
			}
			if r, err := a.Wait(t.Context()); !errors.As(err, new(*claude.ResultError)) || r.TerminalReason != message.TerminalAbortedStreaming || a.State() != message.CommandCancelled {
				t.Errorf("%v, %v, %s; want errors.As(err, new(*claude.ResultError)) and r.TerminalReason == message.TerminalAbortedStreaming and a.State() == message.CommandCancelled", r, err, a.State())
			}
			r, err := b.Wait(t.Context())
			switch {
			case drop && (!errors.Is(err, claude.ErrCancelled) || b.State() != message.CommandCancelled):
				t.Errorf("dropped: %v, %v, %s", r, err, b.State())
			case !drop && (err != nil || r.Result != "second" || b.State() != message.CommandCompleted):
				t.Errorf("kept: %v, %v, %s", r, err, b.State())
			}
			if err := c.WaitIdle(t.Context()); err != nil || c.View().Phase != claude.PhaseIdle {
				t.Errorf("%v, %+v; want err == nil and c.View().Phase == claude.PhaseIdle", err, c.View())
			}
		})
	}
}

func TestCancelOfAQueuedPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("slow")}, Hold: claudetest.HoldMid, HoldAfter: new(1), HoldMS: 1500})
	w.opts.IncludePartialMessages = true
	c := w.connect()
	a := sendTo(t, c, "tell me")
	until(t, a, func(m message.Message) bool { return message.Kind(m) == "stream_event" })
	b := sendTo(t, c, "and then")
	until(t, b, isQueued)
	if err := b.Cancel(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Wait(t.Context()); !errors.Is(err, claude.ErrCancelled) {
		t.Error(err)
	}
	if r, err := a.Wait(t.Context()); err != nil || r.Result != "slow" {
		t.Errorf("%v, %v; want err == nil and r.Result == \"slow\"", r, err)
	}
	if err := c.WaitIdle(t.Context()); err != nil {
		t.Error(err)
	}
}

// bashUntil returns a command that ends when a file exists.
func bashUntil(file string) string {
	return "until [ -e " + file + " ]; do read -t 0.05 < /dev/zero; done; echo done"
}

func TestWaitIdleWithABackgroundCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t,
		claudetest.Use("Bash", map[string]any{"command": bashUntil("go.txt"), "description": "wait for it", "run_in_background": true}),
		claudetest.Say("started"), claudetest.Say("noticed"))
	w.opts.AllowedTools = []string{"Bash"}
	c := w.connect()
	seen := watch(t, c)
	collect(c.Query(t.Context(), "run it")).one(t)
	tasks := c.Tasks()
	if len(tasks) != 1 || !tasks[0].Live() || tasks[0].Type != "local_bash" || tasks[0].Description != "wait for it" || !tasks[0].Backgrounded {
		t.Fatalf("%+v; want len(tasks) == 1 and tasks[0].Live() and tasks[0].Type == \"local_bash\" and tasks[0].Description == \"wait for it\" and tasks[0].Backgrounded", tasks)
	}
	idle := make(chan error, 1)
	go func() { idle <- c.WaitIdle(t.Context()) }()
	// The CLI answers after all earlier messages.
	if err := c.Control(t.Context(), "mcp_status", nil, nil); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-idle:
		t.Fatalf("idle under a task: %v", err)
	default:
	}
	if v := c.View(); v.Phase != claude.PhaseBackground || v.LiveTasks != 1 {
		t.Errorf("%+v; want v.Phase == claude.PhaseBackground and v.LiveTasks == 1", v)
	}
	w.write("go.txt", "")
	if err := <-idle; err != nil {
		t.Fatal(err)
	}
	// The turn that the CLI began by itself has ended too.
	if got := seen(); len(got.results()) != 2 || got.results()[1].Result != "noticed" {
		t.Errorf("%v; want len(got.results()) == 2 and got.results()[1].Result == \"noticed\"", got.kinds())
	}
	if done := c.Tasks()[0]; done.Live() || done.Status != message.TaskCompleted || done.OutputFile == "" || done.Ended.Before(done.Started.Add(-time.Second)) {
		t.Errorf("%+v; want not done.Live() and done.Status == message.TaskCompleted and done.OutputFile != \"\" and not done.Ended.Before(done.Started.Add(-time.Second))", done)
	}
}

func TestWaitIdleWithAStoppedTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("Bash", map[string]any{"command": blocker, "description": "bg", "run_in_background": true}), claudetest.Say("started"))
	w.opts.AllowedTools = []string{"Bash"}
	c := w.connect()
	collect(c.Query(t.Context(), "run it")).one(t)
	if err := c.StopTask(t.Context(), c.Tasks()[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := c.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if done := c.Tasks()[0]; done.Live() || done.Status != message.TaskKilled {
		t.Errorf("%+v; want not done.Live() and done.Status == message.TaskKilled", done)
	}
}

func TestNestedAgents(t *testing.T) {
	t.Parallel()
	outer, inner := claudetest.Match{SystemIncludes: "OUTER SYSTEM"}, claudetest.Match{SystemIncludes: "INNER SYSTEM"}
	agent := func(name string) claudetest.Reply {
		return claudetest.Use("Agent", map[string]any{"description": "do " + name, "prompt": "do", "subagent_type": name, "run_in_background": name == "outer"})
	}
	w := newWorld(t, agent("outer"), agent("inner").When(outer), claudetest.Say("inner result").When(inner), claudetest.Say("outer result").When(outer),
		claudetest.Say("main 1"), claudetest.Say("main 2"), claudetest.Say("main 3"))
	w.opts.Agents = map[string]claude.AgentDefinition{
		"outer": {Description: "helps", Prompt: "OUTER SYSTEM"}, "inner": {Description: "helps more", Prompt: "INNER SYSTEM"}}
	c := w.connect()
	collect(c.Query(t.Context(), "run it")).one(t)
	if err := c.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	tasks := c.Tasks()
	if len(tasks) != 1 || len(tasks[0].Children) != 1 {
		t.Fatalf("%+v; want len(tasks) == 1 and len(tasks[0].Children) == 1", tasks)
	}
	for name, task := range map[string]claude.Task{"outer": tasks[0], "inner": tasks[0].Children[0]} {
		if task.AgentType != name || task.Description != "do "+name || task.Status != message.TaskCompleted || task.Summary != name+" result" || task.Usage.TotalTokens == 0 || task.Live() {
			t.Errorf("%s: %+v; want task.AgentType == name and task.Description == \"do \"+name and task.Status == message.TaskCompleted and task.Summary == name+\" result\" and task.Usage.TotalTokens != 0 and not task.Live()", name, task)
		}
	}
}

func TestSilenceTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("Bash", map[string]any{"command": blocker}), claudetest.Say("fresh"))
	w.opts.AllowedTools = []string{"Bash"}
	w.opts.SilenceTimeout = 4 * time.Second
	c := w.connect()
	_, err := sendTo(t, c, "run it").Wait(t.Context())
	if stalled := as[*claude.StalledError](t, err); stalled.Phase != "silence" || stalled.InFlightTool != "Bash" || stalled.LastEvent == "" {
		t.Errorf("%+v; want stalled.Phase == \"silence\" and stalled.InFlightTool == \"Bash\" and stalled.LastEvent != \"\"", stalled)
	}
	next := collect(c.Query(t.Context(), "again"))
	if next.err != nil || next.one(t).Result != "fresh" || next.text() != "fresh" {
		t.Errorf("the next turn: %v %q %v", next.err, next.text(), next.kinds())
	}
}
