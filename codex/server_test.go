package codex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// scripted connects to a scripted server.
func scripted(t *testing.T, s *codextest.Server, change func(o *codex.Options)) *codex.Client {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := &codex.Options{Path: self, Spawner: s, CloseGrace: time.Second, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if change != nil {
		change(o)
	}
	c, err := codex.Connect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return c
}

func start(t *testing.T, c *codex.Client) *codex.Thread {
	t.Helper()
	th, err := c.StartThread(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return th
}

// TestServer_invalidLines sends unknown lines, very long lines and lines that are not messages.
// Every one is tolerated.
func TestServer_invalidLines(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	c := scripted(t, &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		turn.Line("thread 'main' panicked at src/main.rs")
		turn.Line(`{"id":99,"result":{}}`)
		turn.Line(`[]`)
		turn.About("thread/dreamt", map[string]any{"dream": 1})
		turn.Say(long)
		if _, err := turn.Ask(context.Background(), "item/telepathy", map[string]any{}); err == nil {
			t.Error("an unknown request was answered well")
		}
	}}, nil)
	th := start(t, c)
	unknown, text := 0, ""
	for n, err := range th.Query(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		switch n := n.(type) {
		case *item.UnknownNotification:
			unknown++
		case *item.ItemCompleted:
			text = n.Item.(*item.AgentMessage).Text
		}
	}
	if unknown != 1 || text != long {
		t.Errorf("%d unknown, %d bytes", unknown, len(text))
	}
}

// TestServer_dies ends the server during a turn: everything that waits ends, with the exit status.
func TestServer_dies(t *testing.T) {
	for name, die := range map[string]func(s *codextest.Session){
		"SIGKILL": func(s *codextest.Session) { s.Kill("SIGKILL") },
		"code 3":  func(s *codextest.Session) { s.Exit(3) },
		"code 0":  func(s *codextest.Session) { s.Exit(0) },
	} {
		t.Run(name, func(t *testing.T) {
			c := scripted(t, &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
				turn.About("item/started", map[string]any{"item": &item.AgentMessage{ItemHead: item.ItemHead{ID: "m"}}})
				turn.About("item/agentMessage/delta", map[string]any{"itemId": "m", "delta": "half"})
				die(turn.Session)
			}}, nil)
			th := start(t, c)
			all := th.Notifications(t.Context())
			var last error
			cut := ""
			for n, err := range th.Query(t.Context(), "go") {
				last = err
				if n, ok := n.(*item.ItemCut); ok {
					cut = n.Reason + " " + n.Item.(*item.AgentMessage).Text
				}
			}
			e, ok := errors.AsType[*codex.ExitError](last)
			if !ok || name == "SIGKILL" && e.Signal != name || name == "code 3" && e.Code != 3 || cut != "end half" {
				t.Errorf("ended with %v, cut %q", last, cut)
			}
			for _, err := range all {
				last = err
			}
			if !errors.As(last, &e) {
				t.Errorf("the thread ended with %v", last)
			}
			if err := c.Call(t.Context(), "model/list", nil, nil); !errors.As(err, &e) {
				t.Errorf("a call: %v", err)
			}
			if err := c.Wait(t.Context()); !errors.As(err, &e) {
				t.Errorf("Wait: %v", err)
			}
		})
	}
}

// TestServer_silent uses a server that does not answer: a call and Connect end with their context or timeout.
func TestServer_silent(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	s := &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		if c.Method == "model/list" {
			<-hold
		}
		return nil, nil, false
	}}
	c := scripted(t, s, func(o *codex.Options) { o.CallTimeout = 50 * time.Millisecond })
	if err := c.Call(t.Context(), "model/list", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call without a deadline: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Call(ctx, "model/list", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with an ended context: %v", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mute := &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) { <-hold; return nil, nil, false }}
	_, err = codex.Connect(t.Context(), &codex.Options{Path: self, Spawner: mute, HandshakeTimeout: 50 * time.Millisecond, CloseGrace: 100 * time.Millisecond})
	if _, ok := errors.AsType[*codex.HandshakeError](err); !ok || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Connect: %v", err)
	}
}

// TestServer_diesEarly ends the server during the handshake: the error has the reason.
func TestServer_diesEarly(t *testing.T) {
	s := &codextest.Server{Handle: func(n *codextest.Session, c *item.Call) (any, error, bool) {
		n.Exit(3)
		return nil, nil, false
	}}
	_, err := codex.Connect(t.Context(), &codex.Options{Path: os.Args[0], Spawner: s})
	if e, ok := errors.AsType[*codex.ExitError](err); !ok || e.Code != 3 {
		t.Errorf("got %v", err)
	}
	if _, ok := errors.AsType[*codex.HandshakeError](err); !ok {
		t.Errorf("got %v", err)
	}
}

// TestServer_break leaves the loop of a query, which interrupts the turn; a queued prompt continues after it.
func TestServer_break(t *testing.T) {
	c := scripted(t, &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		turn.Say("first " + turn.Prompt)
		if turn.Prompt == "one" {
			<-turn.Interrupted
			turn.End(item.StatusInterrupted, nil)
		}
	}}, nil)
	th := start(t, c)
	for range th.Query(t.Context(), "one") {
		break
	}
	r, err := th.Run(t.Context(), "two")
	if err != nil || r.Text != "first two" {
		t.Errorf("%+v, %v; want err == nil and r.Text == \"first two\"", r, err)
	}
	// The end of the context does the same.
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for n, err := range th.Query(ctx, "one") {
		last = err
		if _, ok := n.(*item.AgentMessageDelta); ok {
			cancel()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("ended with %v", last)
	}
	if r, err := th.Run(t.Context(), "three"); err != nil || r.Text != "first three" {
		t.Errorf("%+v, %v; want err == nil and r.Text == \"first three\"", r, err)
	}
}

// TestServer_ownTurn checks that a prompt waits for a turn that the server started.
func TestServer_ownTurn(t *testing.T) {
	release := make(chan struct{})
	begun := make(chan struct{})
	s := &codextest.Server{}
	s.Handle = func(n *codextest.Session, c *item.Call) (any, error, bool) {
		if c.Method != "thread/goal/set" {
			return nil, nil, false
		}
		go func() {
			turn := func(status string) map[string]any {
				return map[string]any{"threadId": "thread-1", "turn": map[string]any{"id": "goal", "status": status, "items": []any{}}}
			}
			n.Notify("turn/started", turn("inProgress"))
			close(begun)
			<-release
			n.Notify("turn/completed", turn("completed"))
		}()
		return map[string]any{}, nil, true
	}
	c := scripted(t, s, nil)
	th := start(t, c)
	all := th.Notifications(t.Context())
	if err := c.Call(t.Context(), "thread/goal/set", map[string]any{"threadId": th.ID()}, nil); err != nil {
		t.Fatal(err)
	}
	<-begun
	for n := range all { // until the client has received it
		if _, ok := n.(*item.TurnStarted); ok {
			break
		}
	}
	own := th.Active()
	if own == nil || own.ID() != "goal" {
		t.Fatalf("active %+v", own)
	}
	turn, err := th.Send(t.Context(), codex.Text("mine"))
	if err != nil || turn.ID() != "" {
		t.Fatalf("the prompt was not queued: %q, %v", turn.ID(), err)
	}
	close(release)
	if r, err := own.Wait(t.Context()); err != nil || r.TurnID != "goal" {
		t.Errorf("%+v, %v; want err == nil and r.TurnID == \"goal\"", r, err)
	}
	if _, err := turn.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestServer_backPressure checks that a reader that does not read blocks the server, and that Close still works.
func TestServer_backPressure(t *testing.T) {
	sent, reading := make(chan int, 1), make(chan struct{})
	c := scripted(t, &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		<-reading
		n := 0
		for ; n < 5_000; n++ {
			turn.About("warning", map[string]any{"message": strings.Repeat("x", 1000)})
		}
		sent <- n
	}}, func(o *codex.Options) { o.MaxBuffered = 64 << 10 })
	th := start(t, c)
	turn, err := th.Send(t.Context(), codex.Text("go"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, err := range turn.Notifications(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 1 {
			close(reading)
		}
	}
	if n := <-sent; seen != n+2 {
		t.Errorf("%d of %d notifications", seen, n+2)
	}
}

// TestServer_unread checks that an unread turn loses its notifications with an error, and no other turn does.
func TestServer_unread(t *testing.T) {
	c := scripted(t, &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		for range 1000 {
			turn.About("warning", map[string]any{"message": strings.Repeat("x", 1000)})
		}
		turn.Say("done")
	}}, func(o *codex.Options) { o.MaxBuffered = 64 << 10 })
	th := start(t, c)
	turn, err := th.Send(t.Context(), codex.Text("go"))
	if err != nil {
		t.Fatal(err)
	}
	<-turn.Started()
	second, err := th.Send(t.Context(), codex.Text("wait for the first"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	var last error
	for _, err := range turn.Notifications(t.Context()) {
		last = err
	}
	if !errors.Is(last, codex.ErrOverflow) {
		t.Errorf("got %v", last)
	}
	if r, err := turn.Wait(t.Context()); err != nil || r.Text != "done" {
		t.Errorf("%+v, %v; want err == nil and r.Text == \"done\"", r, err)
	}
}

// TestServer_slowCallback checks that a hanging callback is declined after its timeout, and delays Close only briefly.
func TestServer_slowCallback(t *testing.T) {
	answers := make(chan string, 1)
	c := scripted(t, &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		got, err := turn.Ask(context.Background(), "item/commandExecution/requestApproval", map[string]any{
			"threadId": turn.ThreadID, "turnId": turn.TurnID, "itemId": "c", "command": "rm -rf /",
		})
		answers <- fmt.Sprint(string(got), err)
	}}, func(o *codex.Options) {
		o.CallbackTimeout = 20 * time.Millisecond
		o.Approve = func(ctx context.Context, _ *codex.Approval) (codex.Decision, error) {
			<-ctx.Done()
			return codex.Accept, nil
		}
	})
	if _, err := start(t, c).Run(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got != `{"decision":"decline"}<nil>` && got != `{"decision":"decline"} <nil>` {
		t.Errorf("answered %s", got)
	}
}

func TestConnect_notFound(t *testing.T) {
	_, err := codex.Connect(t.Context(), &codex.Options{Env: []string{"PATH=" + t.TempDir()}})
	if e, ok := errors.AsType[*codex.NotFoundError](err); !ok || !errors.Is(err, codex.ErrNotFound) || len(e.Tried) != 1 {
		t.Errorf("got %v", err)
	}
	_, err = codex.Connect(t.Context(), &codex.Options{Path: t.TempDir()})
	if _, ok := errors.AsType[*codex.SpawnError](err); !ok {
		t.Errorf("a directory: %v", err)
	}
	_, err = codex.Connect(t.Context(), &codex.Options{Config: map[string]any{"x": io.Discard}, Path: os.Args[0]})
	if err == nil || !strings.Contains(err.Error(), "cannot be given") {
		t.Errorf("an odd option: %v", err)
	}
}

// TestReplay replays the recording of a steered turn: the client receives the same messages as in
// the recorded run.
func TestReplay(t *testing.T) {
	var lines []codextest.Line
	for _, l := range codexrec.Named(t, "approval_accept").Lines(t) {
		lines = append(lines, codextest.Line{Seq: l.Seq, Msg: l.Msg, Client: l.Client})
	}
	replay := codextest.NewReplay(lines)
	rec := &codextest.Recorder{Next: replay}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := codex.Connect(t.Context(), &codex.Options{Path: self, Spawner: rec, Approve: func(context.Context, *codex.Approval) (codex.Decision, error) {
		return codex.Accept, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := start(t, c).Run(t.Context(), "Run it")
	if err != nil || r.Text != "Done." || len(items[*item.CommandExecution](r.Items)) != 1 {
		t.Errorf("%+v, %v; want err == nil and r.Text == \"Done.\" and len(items[*item.CommandExecution](r.Items)) == 1", r, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := replay.Err(); err != nil {
		t.Error(err)
	}
	if got := rec.Lines(); len(got) != len(lines) {
		t.Errorf("%d lines were recorded, want %d", len(got), len(lines))
	}
	dir := t.TempDir()
	if err := rec.Save(dir); err != nil {
		t.Fatal(err)
	}
	// The messages of each direction are unchanged; their interleaving depends on timing.
	methods := func(client bool, lines []codextest.Line) (list []string) {
		for _, l := range lines {
			if l.Client == client {
				var m struct{ Method string }
				if err := json.Unmarshal(l.Msg, &m); err != nil {
					t.Fatal(err)
				}
				list = append(list, m.Method)
			}
		}
		return list
	}
	var saved []codextest.Line
	for _, l := range (&codexrec.Recording{Dir: dir}).Lines(t) {
		saved = append(saved, codextest.Line{Msg: l.Msg, Client: l.Client})
	}
	for _, client := range []bool{false, true} {
		if diff := cmp.Diff(methods(client, lines), methods(client, saved)); diff != "" {
			t.Errorf("the values differ:\n%s", diff)
		}
	}
}
