package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// runChildServer is the server of the tests that kill it. It runs in a separate process and prints
// its address.
func runChildServer() {
	dir := os.Getenv("PARLEY_TEST_SERVER")
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: filepath.Join(dir, "log"), Logger: logger})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	p := &agenttest.Provider{Dir: filepath.Join(dir, "agent"), Pause: time.Millisecond, Forgetful: os.Getenv("PARLEY_TEST_FORGETFUL") != ""}
	s, err := New(ctx, Options{Providers: []agent.Provider{p}, Store: store, Dir: filepath.Join(dir, "server"), Directories: []string{filepath.Join(dir, "work")},
		Logger: logger, DeltaInterval: 20 * time.Millisecond, DrainTimeout: time.Second})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("http://%s#token=%s\n", l.Addr(), s.Token())
	if err := s.Serve(ctx, l); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	bound, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := store.Close(bound); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is a server in another process.
type child struct {
	t      *testing.T
	dir    string
	env    []string
	cmd    *exec.Cmd
	client *client.Client
	stderr *syncBuffer
}

func newChild(t *testing.T, env ...string) *child {
	dir := t.TempDir()
	for _, sub := range []string{"agent", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c := &child{t: t, dir: dir, env: env}
	c.start()
	t.Cleanup(func() { c.kill() })
	return c
}

func (c *child) start() {
	c.t.Helper()
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append([]string{"PARLEY_TEST_SERVER=" + c.dir, "TMPDIR=" + os.Getenv("TMPDIR"), "HOME=" + c.dir, "GORACE=atexit_sleep_ms=0"}, c.env...)
	c.stderr = &syncBuffer{}
	c.cmd.Stderr = c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		c.t.Fatalf("the server did not start: %v\n%s", err, c.stderr)
	}
	c.client, err = client.New(client.Options{URL: strings.TrimSpace(line), Retry: 10 * time.Millisecond})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it was killed
}

func (c *child) call(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	return c.client.Call(ctx, method, params, result)
}

func (c *child) must(method string, params, result any) {
	c.t.Helper()
	if err := c.call(method, params, result); err != nil {
		c.t.Fatalf("%s: %v\n%s", method, err, c.stderr)
	}
}

// acknowledged holds the server's acknowledgements.
type acknowledged struct {
	mu      sync.Mutex
	inputs  map[string]string // session by the id of an input
	answers map[string]string // behavior by the id of a request
	seqs    map[string]uint64 // largest number of each session
}

// load works on a session until ctx ends.
func (c *child) load(ctx context.Context, session string, acked *acknowledged, r *rand.Rand) {
	for ctx.Err() == nil {
		prompt := []string{"count 30", "tool Bash", "think hard about it", "auto Read", "ask"}[r.IntN(5)]
		var a api.Accepted
		if c.client.Call(ctx, "session.query", api.QueryParams{SessionID: session, Text: prompt}, &a) == nil {
			acked.mu.Lock()
			acked.inputs[a.TurnID] = session
			acked.seqs[session] = max(acked.seqs[session], a.Seq)
			acked.mu.Unlock()
		}
		var inbox api.PermissionListResult
		if c.client.Call(ctx, "permission.list", api.PermissionListParams{SessionID: session}, &inbox) != nil {
			continue
		}
		for _, p := range inbox.Prompts {
			id := p.Prompt.RequestID()
			var done api.RespondResult
			if p.Prompt.Question != nil {
				_ = c.client.Call(ctx, "question.respond", api.QuestionRespondParams{SessionID: session, RequestID: id, Action: "decline"}, &done)
				continue
			}
			if r.IntN(3) == 0 {
				continue // left open, to expire
			}
			if c.client.Call(ctx, "permission.respond", api.PermissionRespondParams{SessionID: session, RequestID: id, Behavior: "deny"}, &done) == nil {
				acked.mu.Lock()
				acked.answers[id] = "deny"
				acked.seqs[session] = max(acked.seqs[session], done.Seq)
				acked.mu.Unlock()
			}
		}
	}
}

// replay folds the whole log of a session.
func (c *child) replay(session string) (*client.View, []event.Event) {
	c.t.Helper()
	var h api.GetHistoryResult
	c.must("session.getHistory", api.SessionRef{SessionID: session}, &h)
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	v := &client.View{}
	var events []event.Event
	for ev, err := range c.client.Follow(ctx, session, &api.Cursor{Epoch: h.Cursor.Epoch}) {
		if err == nil {
			err = v.Apply(ev)
		}
		if err != nil {
			c.t.Fatalf("replaying %s: %v", session, err)
		}
		events = append(events, ev.Events...)
		if v.Cursor.Seq >= h.Cursor.Seq {
			break
		}
	}
	data, err := json.Marshal(&v.Conversation)
	if err != nil {
		c.t.Fatal(err)
	}
	if string(data) != string(h.Conversation) {
		c.t.Errorf("session %s: the replay of the log is not the server's conversation\nreplay  %s\nserver  %s", session, data, h.Conversation)
	}
	return v, events
}

// check compares a session with the acknowledgements.
func (c *child) check(session string, acked *acknowledged) {
	c.t.Helper()
	v, events := c.replay(session)
	if v.Cursor.Seq < acked.seqs[session] {
		c.t.Errorf("session %s ends at %d, %d was acknowledged", session, v.Cursor.Seq, acked.seqs[session])
	}
	if s := v.Conversation.State; s == "running" || s == "requires_action" || s == "starting" || len(v.Conversation.Prompts) > 0 {
		c.t.Errorf("session %s is %s with %d requests after a crash", session, s, len(v.Conversation.Prompts))
	}
	have := map[string]bool{}
	for _, q := range v.Conversation.Queue {
		have[q.ID] = true
		if q.Status != "held" && q.Status != "unknown" {
			c.t.Errorf("input %s of session %s has the status %q after a crash", q.ID, session, q.Status)
		}
	}
	for _, th := range v.Conversation.Threads {
		for _, it := range th.Items {
			if m := it.Message; m != nil && m.User != nil && m.User.IsPrompt {
				have[m.UUID] = true
			} else if m != nil && m.State == event.Streaming {
				c.t.Errorf("session %s has a message that streams for ever", session)
			}
		}
	}
	for id, s := range acked.inputs {
		if s == session && !have[id] {
			c.t.Errorf("input %s of session %s was acknowledged and is gone", id, session)
		}
	}
	resolved := map[string]string{}
	for _, m := range events {
		if p, ok := m.(*event.PermissionResolved); ok {
			resolved[p.RequestID] = p.Behavior
			if p.Behavior == "allow" {
				c.t.Errorf("request %s became an allow", p.RequestID)
			}
		}
	}
	for id, want := range acked.answers {
		if got, ok := resolved[id]; ok && got != want {
			c.t.Errorf("request %s was answered with %s and is %s", id, want, got)
		}
	}
}

// TestKill9 kills the server at random points under load. No acknowledged data may be missing.
func TestKill9(t *testing.T) {
	short.SkipQuick(t, "kills many servers")
	kills := short.Count(1, 10, 200)
	c := newChild(t)
	acked := &acknowledged{inputs: map[string]string{}, answers: map[string]string{}, seqs: map[string]uint64{}}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	var sessions []string
	for i := range kills {
		if i%20 == 0 { // old sessions become long
			sessions = nil
			for range 3 {
				var s api.ConnectResult
				c.must("session.connect", api.ConnectParams{}, &s)
				sessions = append(sessions, s.SessionID)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for n, s := range sessions {
			wg.Go(func() { c.load(ctx, s, acked, rand.New(rand.NewPCG(seed, uint64(i*10+n)))) })
		}
		timer := time.NewTimer(time.Duration(20+r.IntN(400)) * time.Millisecond)
		<-timer.C
		c.kill()
		cancel()
		wg.Wait()
		c.start()
		for _, s := range sessions {
			c.check(s, acked)
		}
		if t.Failed() {
			t.Fatalf("after kill %d", i+1)
		}
	}
	t.Logf("%d kills, %d inputs and %d answers acknowledged", kills, len(acked.inputs), len(acked.answers))
}

// TestKill9_unknown kills the server while the agent works on an input without any output. The
// agent's files decide: if they do not contain the input, a person can send it again, and the
// server does not.
func TestKill9_unknown(t *testing.T) {
	short.SkipQuick(t, "starts and kills servers")
	for _, tt := range []struct {
		env   []string
		queue int
	}{{[]string{"PARLEY_TEST_FORGETFUL=1"}, 1}, {nil, 0}} {
		c := newChild(t, tt.env...)
		var s api.ConnectResult
		c.must("session.connect", api.ConnectParams{}, &s)
		c.must("session.query", api.QueryParams{SessionID: s.SessionID, Text: "stall"}, nil)
		eventually(t, "the agent works", func() bool {
			var h api.GetHistoryResult
			c.must("session.getHistory", api.SessionRef{SessionID: s.SessionID}, &h)
			return strings.Contains(string(h.Conversation), `"init":`)
		})
		c.kill()
		c.start()
		v, _ := c.replay(s.SessionID)
		if v.Conversation.State != string(session.Interrupted) {
			t.Errorf("the state is %s, want interrupted", v.Conversation.State)
		}
		q := v.Conversation.Queue
		if len(q) != tt.queue || len(q) == 1 && q[0].Status != "unknown" {
			t.Errorf("with %v the queue is %+v", tt.env, q)
		}
		if len(q) == 0 {
			continue
		}
		c.must("queue.release", api.SessionRef{SessionID: s.SessionID}, nil)
		var list api.QueueListResult
		c.must("queue.list", api.SessionRef{SessionID: s.SessionID}, &list)
		if len(list.Items) != 1 {
			t.Error("an input of unknown fate was released with the others")
		}
	}
}

// TestSIGTERM stops the server during turns and open requests: it exits with 0 within its timeout,
// and everything can be resumed.
func TestSIGTERM(t *testing.T) {
	short.SkipQuick(t, "starts several servers")
	c := newChild(t)
	var ids []string
	for _, prompt := range []string{"wait", "tool Bash", "count 100000", "say done"} {
		var s api.ConnectResult
		c.must("session.connect", api.ConnectParams{}, &s)
		c.must("session.query", api.QueryParams{SessionID: s.SessionID, Text: prompt}, nil)
		c.must("session.query", api.QueryParams{SessionID: s.SessionID, Text: "say next"}, nil)
		ids = append(ids, s.SessionID)
	}
	eventually(t, "a request is open", func() bool {
		var inbox api.PermissionListResult
		c.must("permission.list", api.PermissionListParams{}, &inbox)
		return len(inbox.Prompts) == 1
	})
	began := time.Now()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("the server ended with %v\n%s", err, c.stderr)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the server took %v to end", took)
	}
	c.start()
	for _, id := range ids {
		v, _ := c.replay(id)
		if s := session.State(v.Conversation.State); s != session.Idle && s != session.Interrupted {
			t.Errorf("session %s is %s", id, s)
		}
		for _, q := range v.Conversation.Queue {
			if q.Status != "held" {
				t.Errorf("session %s has %+v in its queue", id, q)
			}
		}
		var r api.Accepted
		c.must("session.query", api.QueryParams{SessionID: id, Text: "say resumed"}, &r)
		if r.Held { // queued after the prompt that the shutdown has held
			c.must("queue.release", api.SessionRef{SessionID: id}, nil)
		}
		eventually(t, "the session works again", func() bool {
			var h api.GetHistoryResult
			c.must("session.getHistory", api.SessionRef{SessionID: id}, &h)
			var conv event.Conversation
			return json.Unmarshal([]byte(h.Conversation), &conv) == nil && strings.Contains(text(&conv), "resumed")
		})
	}
}
