package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestServe_hostDies kills the host, or the host and the server, at random points while sessions run turns. No agent and no child process
// is left, the sessions have every word that the host had read from their agents, and all of them can be continued.
func TestServe_hostDies(t *testing.T) {
	short.Skip(t, "servers")
	for _, both := range []bool{false, true} {
		t.Run(map[bool]string{false: "host", true: "host and server"}[both], func(t *testing.T) {
			for n := range short.Count(1, 1, 10) {
				checkHostDies(t, both, testSeed(t)+uint64(n))
			}
		})
	}
}

func checkHostDies(t *testing.T, both bool, seed uint64) {
	w := newKillWorld(t, seed, childVariable+"=1")
	const sessions = 3
	ctx := t.Context()
	before, cancel := context.WithCancel(ctx)
	defer cancel()
	var work sync.WaitGroup
	for range sessions {
		s, err := w.connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		w.sessions = append(w.sessions, s)
	}
	for _, s := range w.sessions {
		work.Go(func() { _ = s.run(before, 1, 1000) }) // until the host dies
	}
	agents := w.awaitSeen(sessions*20 + w.rand.IntN(400))
	cancel()
	work.Wait()
	if err := w.server.Process.Signal(syscall.SIGSTOP); err != nil { // otherwise it reads and removes the files
		t.Fatal(err)
	}
	w.killHost()
	w.checkGone(agents)
	said := w.spooled()
	if len(said) != sessions {
		t.Fatalf("%d agents are left in files, want %d", len(said), sessions)
	}
	if !both {
		if err := w.server.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	} else {
		w.end(syscall.SIGKILL)
		w.serve()
		w.moved()
	}
	for _, s := range w.sessions {
		err := s.await(ctx, func(c *event.Conversation) bool {
			return (c.State == "interrupted" || c.State == "idle") && mainText(c) == said[s.id]
		})
		s.mu.Lock()
		got, turns := mainText(&s.view.Conversation), s.view.Conversation.Totals.Turns
		s.mu.Unlock()
		if err != nil {
			t.Fatalf("%v; the session has the text\n%s\nand the host had\n%s", err, got, said[s.id])
		}
		work.Go(func() {
			if err := s.resume(ctx, turns+1); err != nil {
				t.Errorf("session %s cannot be continued: %v", s.id, err)
			}
		})
	}
	work.Wait()
	for _, s := range w.sessions {
		s.close()
	}
	w.end(syscall.SIGINT)
}

// resume sends a prompt and waits until the session has this number of turns. The server may detect the end of an idle agent only
// when it sends the prompt, which is then held like those before it; resume releases them.
func (s *keptSession) resume(ctx context.Context, turns int64) error {
	p := api.QueryParams{Idempotency: api.Idempotency{Key: client.Key()}, SessionID: s.id, Text: "go on"}
	if err := s.c.Call(ctx, "session.query", p, nil); err != nil {
		return fmt.Errorf("session.query: %w", err)
	}
	done := func(c *event.Conversation) bool {
		return c.State == "idle" && c.Totals.Turns >= turns && len(c.Queue) == 0
	}
	held := func(c *event.Conversation) bool { return c.State == "interrupted" && len(c.Queue) > 0 }
	if err := s.await(ctx, func(c *event.Conversation) bool { return done(c) || held(c) }); err != nil {
		return err
	}
	if err := s.c.Call(ctx, "queue.release", api.SessionRef{SessionID: s.id}, nil); err != nil {
		return fmt.Errorf("queue.release: %w", err)
	}
	return s.await(ctx, done)
}

// checkGone checks that agents and their children end.
func (w *killWorld) checkGone(agents []host.Agent) {
	t := w.t
	t.Helper()
	for _, a := range agents {
		child := notedPID(filepath.Join(w.diary, fmt.Sprint(a.PID, ".child")))
		if child == 0 {
			t.Errorf("the agent of %s has no child", a.Key)
		}
		eventually(t, "the agent and its child end with the host", func() bool { return syscall.Kill(a.PID, 0) != nil && syscall.Kill(child, 0) != nil })
	}
}

// awaitSeen waits until viewers have received this number of messages, and returns the agents.
func (w *killWorld) awaitSeen(n int) []host.Agent {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.seen < n {
		w.changed.Wait()
	}
	return w.agents()
}

// killHost kills the host of the agents.
func (w *killWorld) killHost() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), waitLimit)
	defer cancel()
	l, err := host.Dial(ctx, w.data, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	if err := syscall.Kill(l.Host().PID, syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	<-l.Done()
}

// spooled returns the streamed text in the files of a dead host, by session.
func (w *killWorld) spooled() map[string]string {
	w.t.Helper()
	dead, err := host.ReadSpool(w.data)
	if err != nil {
		w.t.Fatal(err)
	}
	said := map[string]string{}
	for _, d := range dead {
		if d.Key == "helper" { // the key proxy
			continue
		}
		var b strings.Builder
		for r, err := range d.Records() {
			if err != nil {
				w.t.Fatal(err)
			}
			var m struct {
				Event struct{ Delta struct{ Text string } }
			}
			if r.Kind == host.Output && json.Unmarshal(r.Data, &m) == nil {
				b.WriteString(m.Event.Delta.Text)
			}
		}
		said[d.Key] = b.String()
	}
	return said
}

// mainText returns the text of the agent in the main thread.
func mainText(c *event.Conversation) string {
	var b strings.Builder
	for _, it := range c.Threads[0].Items {
		if it.Message == nil || it.Message.Role != "assistant" {
			continue
		}
		for _, block := range it.Message.Blocks {
			b.WriteString(block.Text.String())
		}
	}
	return b.String()
}
