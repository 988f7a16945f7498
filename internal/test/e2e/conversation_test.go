package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

func TestString(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("Hello from the API."))
	got := collect(claude.Query(t.Context(), "Say hello", w.opts))
	if got.err != nil || got.text() != "Hello from the API." {
		t.Fatalf("%v %q %v; want got.err == nil and got.text() == \"Hello from the API.\"", got.err, got.text(), got.kinds())
	}
	r := got.one(t)
	if r.IsError || r.Result != "Hello from the API." || r.Usage.OutputTokens != 5 || r.TotalCostUSD <= 0 || len(r.ModelUsage) != 1 {
		t.Errorf("result %+v", r)
	}
	if !strings.Contains(w.asked(0), "Say hello") {
		t.Errorf("the API was asked %s", w.asked(0))
	}
	init := of[*message.Init](got.messages)
	if len(init) != 1 || init[0].CWD != w.dir || init[0].ClaudeCodeVersion == "" || !slices.Contains(init[0].Tools, "Bash") {
		t.Errorf("init %+v", init)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("4"))
	r, err := claude.Run(t.Context(), "2+2?", w.opts)
	if err != nil || r.Result != "4" {
		t.Errorf("%+v, %v; want err == nil and r.Result == \"4\"", r, err)
	}
}

func TestStreamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"), claudetest.Say("two"))
	answered := make(chan struct{}, 2)
	produce := func(ctx context.Context, send func(message.UserInput) error) error {
		for _, p := range []string{"first", "second"} {
			if err := send(claude.Text(p)); err != nil {
				return err
			}
			select {
			case <-answered:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	var got talk
	for m, err := range claude.QueryStream(t.Context(), produce, w.opts) {
		if err != nil {
			t.Fatal(err)
		}
		got.messages = append(got.messages, m)
		if _, ok := m.(*message.Result); ok {
			answered <- struct{}{}
		}
	}
	if got.text() != "onetwo" || len(got.results()) != 2 {
		t.Errorf("%q %v; want got.text() == \"onetwo\" and len(got.results()) == 2", got.text(), got.kinds())
	}
	if !strings.Contains(w.asked(1), "first") || !strings.Contains(w.asked(1), "second") {
		t.Errorf("the second request was %s", w.asked(1))
	}
}

func TestThreeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("red"), claudetest.Say("green"), claudetest.Say("blue"))
	c := w.connect()
	for i, want := range []string{"red", "green", "blue"} {
		got := collect(c.Query(t.Context(), fmt.Sprintf("turn %d", i)))
		if r := got.one(t); got.err != nil || r.Result != want || got.text() != want {
			t.Errorf("turn %d: %q %v", i, r.Result, got.err)
		}
		if last := got.kinds()[len(got.kinds())-1]; last != "result" {
			t.Errorf("turn %d ends with %s", i, last)
		}
	}
	if c.SessionID() == "" || len(c.ServerInfo().Commands) == 0 || len(c.ServerInfo().Models) == 0 || len(c.ServerInfo().Agents) == 0 {
		t.Errorf("session %q, info %+v", c.SessionID(), c.ServerInfo())
	}
	if err := c.CloseInput(); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// The CLI may merge queued prompts into one turn, which they then share.
func TestThreeQueued(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("A1"), claudetest.Say("A2"), claudetest.Say("A3"))
	c := w.connect()
	var turns [3]*claude.Turn
	for i := range turns {
		var err error
		if turns[i], err = c.Send(t.Context(), claude.Text(fmt.Sprintf("q%d", i+1))); err != nil {
			t.Fatal(err)
		}
	}
	var got [3]talk
	var wg sync.WaitGroup
	for i, turn := range turns {
		wg.Go(func() { got[i] = collect(turn.Messages(t.Context())) })
	}
	wg.Wait()
	for i := range got {
		r := got[i].one(t)
		if got[i].err != nil || r.Result != got[i].text() || !slices.Contains(append(r.UserMessageUUIDs, r.UserMessageUUID), turns[i].ID) {
			t.Errorf("turn %d: %v %s", i, got[i].err, r.Raw())
		}
	}
	if first := got[0].one(t).Result; first != "A1" {
		t.Errorf("the first turn got %q", first)
	}
	if r1, r2 := got[1].one(t), got[2].one(t); (r1.Result == r2.Result) != (r1.UUID == r2.UUID) {
		t.Errorf("two turns have one answer but not one result: %s %s", r1.Raw(), r2.Raw())
	}
}

func TestPartialMessages(t *testing.T) {
	t.Parallel()
	w := newWorld(t,
		claudetest.Reply{Blocks: []claudetest.Block{
			claudetest.Thinking("let me think about it").Chunked(5),
			claudetest.Text("I will look.").Chunked(4),
			claudetest.ToolUse("Bash", map[string]any{"command": "echo hi there", "description": "say hi"}).Chunked(6),
		}},
		claudetest.Say("done"))
	w.opts.IncludePartialMessages = true
	w.opts.AllowedTools = []string{"Bash(echo:*)"}
	var acc message.Accumulator
	var streamed []message.ContentBlock
	got := talk{}
	for m, err := range claude.Query(t.Context(), "look", w.opts) {
		if err != nil {
			t.Fatal(err)
		}
		got.messages = append(got.messages, m)
		if acc.Add(m) && acc.Done("") {
			streamed = append(streamed, acc.Message("").Content...)
			acc = message.Accumulator{}
		}
	}
	var whole []message.ContentBlock
	for _, m := range of[*message.Assistant](got.messages) {
		whole = append(whole, m.Message.Content...)
	}
	if len(whole) != 4 || len(streamed) != 4 {
		t.Fatalf("%d whole blocks, %d streamed: %v", len(whole), len(streamed), got.kinds())
	}
	for i := range whole {
		if a, b := describe(whole[i]), describe(streamed[i]); a != b {
			t.Errorf("block %d: whole %s, streamed %s", i, a, b)
		}
	}
	deltas := map[string]int{}
	for _, m := range of[*message.StreamEvent](got.messages) {
		if d, ok := m.Event.(*message.ContentBlockDelta); ok {
			deltas[fmt.Sprintf("%T", d.Delta)]++
		}
	}
	if deltas["*message.TextDelta"] < 4 || deltas["*message.ThinkingDelta"] < 4 || deltas["*message.InputJSONDelta"] < 4 {
		t.Errorf("deltas %v", deltas)
	}
}

// kill ends a CLI before it can write.
func kill(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

func describe(b message.ContentBlock) string {
	switch b := b.(type) {
	case *message.Text:
		return "text " + b.Text
	case *message.Thinking:
		return "thinking " + b.Thinking + " " + b.Signature
	case *message.ToolUse:
		return fmt.Sprint("tool_use ", b.ID, b.Name, b.Input.Value())
	}
	return fmt.Sprintf("%T", b)
}

func TestTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("Bash", map[string]any{"command": "echo from-the-shell > out.txt; cat out.txt"}), claudetest.Say("It ran."))
	w.opts.AllowedTools = []string{"Bash"}
	got := collect(claude.Query(t.Context(), "run it", w.opts))
	if got.err != nil || got.one(t).Result != "It ran." {
		t.Fatalf("%v %v; want got.err == nil and got.one(t).Result == \"It ran.\"", got.err, got.kinds())
	}
	users := of[*message.User](got.messages)
	if len(users) != 1 {
		t.Fatalf("%v; want len(users) == 1", got.kinds())
	}
	block, ok := users[0].Message.Content.Blocks()[0].(*message.ToolResult)
	if !ok || block.IsError || !strings.Contains(block.Content.String(), "from-the-shell") {
		t.Errorf("tool result %s", users[0].Raw())
	}
	var output struct {
		Stdout string `json:"stdout"`
	}
	if err := users[0].ToolUseResult.Decode(&output); err != nil || strings.TrimSpace(output.Stdout) != "from-the-shell" {
		t.Errorf("tool_use_result %s, %v", users[0].ToolUseResult, err)
	}
	if data, err := os.ReadFile(filepath.Join(w.dir, "out.txt")); err != nil || string(data) != "from-the-shell\n" {
		t.Errorf("out.txt: %q, %v", data, err)
	}
}

func TestInterruptStream(t *testing.T) {
	t.Parallel()
	held := claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("a very long story").Chunked(3)}, Hold: claudetest.HoldMid, HoldAfter: new(4)}
	w := newWorld(t, held, claudetest.Say("a short one"))
	w.opts.IncludePartialMessages = true
	c := w.connect()
	turn, err := c.Send(t.Context(), claude.Text("tell me"))
	if err != nil {
		t.Fatal(err)
	}
	var got talk
	for m, err := range turn.Messages(t.Context()) {
		if got.err = err; err != nil {
			break
		}
		got.messages = append(got.messages, m)
		if ev, ok := m.(*message.StreamEvent); ok && ev.TextDelta() != "" && len(of[*message.StreamEvent](got.messages)) == 4 {
			receipt, err := c.Interrupt(t.Context())
			if err != nil || receipt.StillQueued == nil {
				t.Errorf("receipt %+v, %v", receipt, err)
			}
		}
	}
	r := got.one(t)
	if !r.IsError || r.Subtype != message.ResultDuringExecution || r.TerminalReason != message.TerminalAbortedStreaming {
		t.Errorf("result %s", r.Raw())
	}
	if failed := as[*message.ResultError](t, got.err); failed.Result != r {
		t.Errorf("failed is %v; want failed.Result == r", failed)
	}
	next := collect(c.Query(t.Context(), "again"))
	if next.err != nil || next.one(t).Result != "a short one" || next.text() != "a short one" {
		t.Errorf("the next turn: %v %q %v", next.err, next.text(), next.kinds())
	}
}

func TestBreakInterrupts(t *testing.T) {
	t.Parallel()
	held := claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("a very long story").Chunked(3)}, Hold: claudetest.HoldMid, HoldAfter: new(4)}
	w := newWorld(t, held, claudetest.Say("fresh"))
	w.opts.IncludePartialMessages = true
	c := w.connect()
	for m, err := range c.Query(t.Context(), "tell me") {
		if err != nil {
			t.Fatal(err)
		}
		if ev, ok := m.(*message.StreamEvent); ok && ev.TextDelta() != "" {
			break
		}
	}
	next := collect(c.Query(t.Context(), "again"))
	if next.err != nil || next.one(t).Result != "fresh" || next.text() != "fresh" {
		t.Errorf("the next turn: %v %q %v", next.err, next.text(), next.kinds())
	}
}

// blocker is a tool call that does not end by itself and reports when it runs.
const blocker = "echo started > started.txt; tail -f /dev/null"

func TestAbortInTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("Bash", map[string]any{"command": blocker}), claudetest.Say("never"))
	w.opts.AllowedTools = []string{"Bash"}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	got := talk{}
	for m, err := range claude.Query(ctx, "run it", w.opts) {
		if err != nil {
			got.err = err
			break
		}
		got.messages = append(got.messages, m)
		if a, ok := m.(*message.Assistant); ok {
			if _, ok := a.Message.Content[0].(*message.ToolUse); ok {
				cancel(stop)
			}
		}
	}
	cancel(nil)
	if !errors.Is(got.err, stop) {
		t.Errorf("ended with %v after %v", got.err, got.kinds())
	}
	if strings.Contains(got.text(), "never") {
		t.Error("the turn went on")
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	held := claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("half of a")}, Hold: claudetest.HoldMid, HoldAfter: new(3)}
	w := newWorld(t, held)
	w.opts.IncludePartialMessages = true
	pid := make(chan int, 1)
	w.opts.Trace = &claude.Trace{Spawn: func(s claude.SpawnTrace) { pid <- s.PID }}
	got := talk{}
	killed := false
	for m, err := range claude.Query(t.Context(), "talk", w.opts) {
		if err != nil {
			got.err = err
			break
		}
		got.messages = append(got.messages, m)
		if ev, ok := m.(*message.StreamEvent); ok && ev.TextDelta() != "" && !killed {
			killed = true
			if err := kill(<-pid); err != nil {
				t.Fatal(err)
			}
		}
	}
	if e := as[*claude.ExitError](t, got.err); e.Signal != "SIGKILL" || e.Code != -1 {
		t.Errorf("got %+v", e)
	}
}

func TestKilledClient(t *testing.T) {
	t.Parallel()
	held := claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("half of a")}, Hold: claudetest.HoldBefore}
	w := newWorld(t, held)
	pid := make(chan int, 1)
	w.opts.Trace = &claude.Trace{Spawn: func(s claude.SpawnTrace) { pid <- s.PID }}
	c := w.connect()
	turn, err := c.Send(t.Context(), claude.Text("talk"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.api.WaitRequests(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := kill(<-pid); err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Wait(t.Context()); as[*claude.ExitError](t, err).Signal != "SIGKILL" {
		t.Errorf("the turn ended with %v", err)
	}
	if _, err := c.Interrupt(t.Context()); as[*claude.ExitError](t, err).Signal != "SIGKILL" {
		t.Errorf("a control request ended with %v", err)
	}
	if err := c.Wait(); as[*claude.ExitError](t, err).Signal != "SIGKILL" {
		t.Errorf("Wait: %v", err)
	}
}

// Resuming a missing session is ErrNoSession, by id and by title.
func TestResumeOfNoSession(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"11111111-1111-4111-8111-111111111111", "a title that there is not"} {
		w := newWorld(t, claudetest.Say("a new conversation"))
		w.opts.Resume = name
		_, err := claude.Run(t.Context(), "Go on.", w.opts)
		c, connected := claude.Connect(t.Context(), w.opts)
		if c != nil {
			c.Close()
		}
		if !errors.Is(err, claude.ErrNoSession) || !errors.Is(connected, claude.ErrNoSession) || len(w.api.Requests()) > 0 {
			t.Errorf("%s: Run %v, Connect %v, %d requests", name, err, connected, len(w.api.Requests()))
		}
	}
}
