package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claudetest"
)

// watched collects every message of a client until it is closed.
type watched struct {
	mu       sync.Mutex
	messages []claude.Message
}

func watch(t *testing.T, c *claude.Client) *watched {
	w := &watched{}
	seq := c.Messages(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range seq {
			if err != nil {
				return
			}
			w.mu.Lock()
			w.messages = append(w.messages, m)
			w.mu.Unlock()
		}
	}()
	t.Cleanup(func() { c.Close(); <-done })
	return w
}

func (w *watched) all() []claude.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.messages)
}

func (w *watched) String() string {
	var b strings.Builder
	for _, m := range w.all() {
		fmt.Fprintf(&b, "%.600s\n", m.Raw())
	}
	return b.String()
}

func sendTo(t *testing.T, c *claude.Client, text string) *claude.Turn {
	t.Helper()
	return ok[*claude.Turn](t)(c.Send(t.Context(), claude.Text(text)))
}

var _ = errors.Is
var _ context.Context

func TestClear(t *testing.T) {
	w := newWorld(t, claudetest.Say("one"), claudetest.Say("two"))
	c := w.connect()
	seen := watch(t, c)
	collect(c.Query(t.Context(), "hello")).one(t)
	before := c.SessionID()
	turn := sendTo(t, c, "/clear")
	r, err := turn.Wait(t.Context())
	t.Log(before, c.SessionID(), r, err)
	collect(c.Query(t.Context(), "again")).one(t)
	t.Log(c.SessionID())
	t.Log(seen)
}

func TestProbeQueued(t *testing.T) {
	for _, all := range []bool{false, true} {
		held := claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("a very long story").Chunked(3)}, Hold: claudetest.HoldMid, HoldAfter: new(4)}
		w := newWorld(t, held, claudetest.Say("second"), claudetest.Say("third"))
		w.opts.IncludePartialMessages = true
		c := w.connect()
		seen := watch(t, c)
		a := sendTo(t, c, "tell me")
		for m := range a.Messages(t.Context()) {
			if ev, ok := m.(*claude.StreamEventMessage); ok && ev.TextDelta() != "" {
				break
			}
		}
		b := sendTo(t, c, "and then")
		for m := range b.Messages(t.Context()) {
			t.Log(claude.Kind(m))
			break
		}
		t.Log(a.State(), b.State(), c.View())
		var rc *claude.InterruptReceipt
		if all {
			rc = ok[*claude.InterruptReceipt](t)(c.InterruptAll(t.Context()))
		} else {
			rc = ok[*claude.InterruptReceipt](t)(c.Interrupt(t.Context()))
		}
		t.Logf("%s", rc.Raw())
		ra, err := a.Wait(t.Context())
		t.Log(ra.Subtype, err, a.State())
		rb, err := b.Wait(t.Context())
		t.Log(rb, err, b.State())
		t.Log(c.WaitIdle(t.Context()), c.View())
		t.Log(seen)
	}
}
func TestProbeTasks(t *testing.T) {
	w := newWorld(t,
		claudetest.Use("Bash", map[string]any{"command": "until [ -e go.txt ]; do read -t 0.05 < /dev/zero; done; echo done", "description": "bg", "run_in_background": true}),
		claudetest.Say("started"), claudetest.Say("noticed"))
	w.opts.AllowedTools = []string{"Bash"}
	c := w.connect()
	seen := watch(t, c)
	collect(c.Query(t.Context(), "run it")).one(t)
	t.Logf("%+v %+v", c.Tasks(), c.View())
	w.write("go.txt", "")
	t.Log(c.WaitIdle(t.Context()))
	t.Logf("%+v %+v", c.Tasks(), c.View())
	t.Log(seen)
}

func TestProbeNested(t *testing.T) {
	helper := claude.AgentDefinition{Description: "helps", Prompt: "HELPER SYSTEM"}
	inner := claude.AgentDefinition{Description: "helps more", Prompt: "INNER SYSTEM"}
	w := newWorld(t,
		claudetest.Use("Agent", map[string]any{"description": "outer", "prompt": "do", "subagent_type": "helper", "run_in_background": true}),
		claudetest.Use("Agent", map[string]any{"description": "inner", "prompt": "do", "subagent_type": "inner", "run_in_background": false}).When(claudetest.Match{SystemIncludes: "HELPER SYSTEM"}),
		claudetest.Say("inner result").When(claudetest.Match{SystemIncludes: "INNER SYSTEM"}),
		claudetest.Say("outer result").When(claudetest.Match{SystemIncludes: "HELPER SYSTEM"}),
		claudetest.Say("main 1"), claudetest.Say("main 2"), claudetest.Say("main 3"))
	w.opts.Agents = map[string]claude.AgentDefinition{"helper": helper, "inner": inner}
	c := w.connect()
	seen := watch(t, c)
	collect(c.Query(t.Context(), "run it")).one(t)
	t.Logf("%+v %+v", c.Tasks(), c.View())
	t.Log(c.WaitIdle(t.Context()))
	t.Logf("%+v %+v", c.Tasks(), c.View())
	t.Log(seen)
}
