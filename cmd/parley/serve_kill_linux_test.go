package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// killWorld is a server with a host, which is ended again and again while sessions work. Its
// clients see only broken connections.
type killWorld struct {
	*hostWorld
	diary string // folder of the scripted CLIs' diaries
	cli   string // the program that starts them
	// elsewhere returns the agents of other machines, if any.
	elsewhere func() []host.Agent
	token     string
	rand      *rand.Rand
	// dial connects to a server; again reports whether a refused call is repeated. nil means a single server and no
	// repetition.
	dial  func(ctx context.Context, network string) (net.Conn, error)
	again func(error) bool

	mu       sync.Mutex
	changed  sync.Cond
	address  string // of the running server
	seen     int    // messages of all viewers
	sessions []*keptSession
}

// newKillWorld starts a server with the scripted CLI and an API key.
func newKillWorld(t *testing.T, seed uint64, variables ...string) *killWorld {
	return newKillWorldWith(t, seed, nil, nil, variables...)
}

// newKillWorldWith is like newKillWorld with further variables and arguments of the server.
func newKillWorldWith(t *testing.T, seed uint64, more, args []string, variables ...string) *killWorld {
	dir := t.TempDir()
	env, err := claudetest.HermeticEnv(dir, "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	if err := claudetest.IsolateProject(project); err != nil {
		t.Fatal(err)
	}
	diary := t.TempDir()
	cli := writeKeptCLI(t, dir, diary, variables...)
	h := &hostWorld{t: t, proxied: true}
	args = append([]string{"--cli", cli, "--agent", "claude", "--max-agents", "100", "--api-key-file", keyFile(t, "sk-ant-key-of-many-agents")}, args...)
	h.start(project, append(append(env, "GORACE=atexit_sleep_ms=0"), more...), args...)
	w := wrapWorld(h, seed)
	w.diary, w.cli = diary, cli
	return w
}

// wrapWorld creates the clients of a world that has a server.
func wrapWorld(h *hostWorld, seed uint64) *killWorld {
	w := &killWorld{hostWorld: h, rand: rand.New(rand.NewPCG(seed, 0))}
	w.changed.L = &w.mu
	var made api.TokensCreateResult
	w.call("tokens.create", api.TokensCreateParams{Role: "admin"}, &made)
	w.token = made.Token
	w.moved()
	return w
}

// moved notes the address of the server, because each server chooses one.
func (w *killWorld) moved() {
	u, err := url.Parse(w.client.URL())
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.address = u.Host
}

// newClient returns a client that follows the server when it restarts at another address.
func (w *killWorld) newClient() *client.Client {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if w.dial != nil {
			return w.dial(ctx, network)
		}
		w.mu.Lock()
		address := w.address
		w.mu.Unlock()
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}
	c, err := client.New(client.Options{
		URL: "http://127.0.0.1:1", Token: w.token, HTTPClient: &http.Client{Transport: transport}, Retry: 5e6, MaxRetry: 5e7,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// kill kills the server and starts the next one.
func (w *killWorld) kill() {
	w.end(syscall.SIGKILL)
	w.serve()
	w.moved()
}

// repeats reports whether a call that a server has refused should be repeated.
func (w *killWorld) repeats(err error) bool { return err != nil && w.again != nil && w.again(err) }

// killAt kills the server when viewers have received this number of further messages.
func (w *killWorld) killAt(point int, done <-chan struct{}) bool {
	if !w.awaitMore(point, done) {
		return false
	}
	w.kill()
	return true
}

// awaitMore waits until viewers have received this number of further messages. It returns false if done is
// closed before.
func (w *killWorld) awaitMore(point int, done <-chan struct{}) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for point += w.seen; w.seen < point; w.changed.Wait() {
		select {
		case <-done:
			return false
		default:
		}
	}
	return true
}

// note counts a message for a viewer.
func (w *killWorld) note() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
	w.changed.Broadcast()
}

// keptSession is a session with a simulated user, who sends prompts, answers every request and has
// a view open all the time.
type keptSession struct {
	w      *killWorld
	c      *client.Client
	id     string
	events int // number of messages that the viewer has seen

	mu      sync.Mutex
	news    sync.Cond
	view    client.View
	err     error
	asked   map[string]bool
	refused []string // answers that a server has refused
	answers sync.WaitGroup
	stop    func()
	over    chan struct{}
}

// connect creates a session and opens the view.
func (w *killWorld) connect(ctx context.Context) (*keptSession, error) { return w.connectOn(ctx, "") }

// connectOn is like connect with a machine; empty means the server's.
func (w *killWorld) connectOn(ctx context.Context, machine string) (*keptSession, error) {
	s := &keptSession{w: w, c: w.newClient(), asked: map[string]bool{}, over: make(chan struct{})}
	s.news.L = &s.mu
	var r api.ConnectResult
	if err := s.c.Call(ctx, "session.connect", api.ConnectParams{Idempotency: api.Idempotency{Key: client.Key()}, Machine: machine}, &r); err != nil {
		return nil, fmt.Errorf("session.connect: %w", err)
	}
	s.id = r.SessionID
	ctx, s.stop = context.WithCancel(ctx)
	go func() {
		defer close(s.over)
		s.follow(ctx)
	}()
	return s, nil
}

func (s *keptSession) follow(ctx context.Context) {
	for ev, err := range s.c.Follow(ctx, s.id, &api.Cursor{}) {
		s.mu.Lock()
		if err == nil {
			err = s.view.Apply(ev)
		}
		if err != nil {
			s.err = err
			s.news.Broadcast()
			s.mu.Unlock()
			return
		}
		s.events++
		open := map[string]bool{}
		for _, p := range s.view.Conversation.Prompts {
			id := p.RequestID()
			open[id] = true
			if !s.asked[id] {
				s.answers.Go(func() { s.answer(ctx, id) })
			}
		}
		s.asked = open
		s.news.Broadcast()
		s.mu.Unlock()
		s.w.note()
	}
}

// behavior returns the answer to a request: every third request of the scripted CLI is denied.
func behavior(request string) string {
	number, _ := strings.CutPrefix(request, "fake-")
	if n, err := strconv.Atoi(number); err == nil && n%3 == 0 {
		return "deny"
	}
	return "allow"
}

// answer answers a request. It repeats a call that the end of a server has cut, and calls while the machine of the session is unreachable;
// the server refuses the repetition if the first call had an effect.
func (s *keptSession) answer(ctx context.Context, request string) {
	p := api.PermissionRespondParams{SessionID: s.id, RequestID: request, Behavior: behavior(request)}
	for {
		err := s.c.Call(ctx, "permission.respond", p, nil)
		_, refused := errors.AsType[*client.Error](err)
		if err == nil {
			return
		}
		if refused && client.Reason(err) != api.NotConnected && !s.w.repeats(err) {
			s.mu.Lock()
			s.refused = append(s.refused, fmt.Sprintf("%s: %v", request, err))
			s.mu.Unlock()
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// run sends prompts, each after the end of the turn before.
func (s *keptSession) run(ctx context.Context, first, last int) error {
	for n := first; n <= last; n++ {
		q := api.QueryParams{Idempotency: api.Idempotency{Key: client.Key()}, SessionID: s.id, Text: "turn " + strconv.Itoa(n)}
		err := s.c.Call(ctx, "session.query", q, nil)
		for s.w.repeats(err) && ctx.Err() == nil {
			err = s.c.Call(ctx, "session.query", q, nil)
		}
		if err != nil {
			return fmt.Errorf("session.query: %w", err)
		}
		ended := func(c *event.Conversation) bool {
			return c.Totals.Turns >= int64(n) && c.State == "idle" && openCommands(c) == 0
		}
		if err := s.await(ctx, ended); err != nil {
			return fmt.Errorf("turn %d: %w", n, err)
		}
	}
	return nil
}

// openCommands returns the number of prompts that the CLI has not reported as completed. That report follows the result, so the next prompt
// may be sent before or after it.
func openCommands(c *event.Conversation) int {
	open := map[string]bool{}
	for _, it := range c.Threads[0].Items {
		if it.Unknown == nil || it.Unknown.OriginalType != "command_lifecycle" {
			continue
		}
		id, _ := it.Unknown.Data.Member("command_uuid")
		state, _ := it.Unknown.Data.Member("state")
		if state.Text() == "completed" {
			delete(open, id.Text())
		} else {
			open[id.Text()] = true
		}
	}
	return len(open)
}

// await waits until the view satisfies a condition.
func (s *keptSession) await(ctx context.Context, ok func(*event.Conversation) bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(short.Count(1, 1, 10))*waitLimit) // a session progresses only between kills
	defer cancel()
	defer context.AfterFunc(ctx, s.news.Broadcast)()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !ok(&s.view.Conversation) {
		switch {
		case s.err != nil:
			return s.err
		case ctx.Err() != nil:
			c := &s.view.Conversation
			return fmt.Errorf("%w: session %s is %s after %d turns with %d requests, the queue %+v, and refused answers %q", ctx.Err(), s.id, c.State, c.Totals.Turns, len(c.Prompts), c.Queue, s.refused)
		}
		s.news.Wait()
	}
	return nil
}

// messages returns the number of messages that the viewer has seen.
func (s *keptSession) messages() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.events
}

// close ends the view.
func (s *keptSession) close() {
	s.stop()
	<-s.over
	s.answers.Wait()
}

// runKilled runs sessions with several turns each, kills the server at random points, and returns the number of kills.
func (w *killWorld) runKilled(sessions, turns, points, gap int, strike func(point int, done <-chan struct{}) bool) (kills int) {
	t := w.t
	t.Helper()
	ctx := t.Context()
	var work sync.WaitGroup
	failed := make(chan error, sessions)
	for range sessions {
		work.Go(func() {
			s, err := w.connect(ctx)
			if err == nil {
				w.mu.Lock()
				w.sessions = append(w.sessions, s)
				w.mu.Unlock()
				err = s.run(ctx, 1, turns)
			}
			if err != nil {
				failed <- err
			}
		})
	}
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
		w.changed.Broadcast()
	}()
	for range points {
		if !strike(1+w.rand.IntN(2*gap), done) {
			break
		}
		kills++
	}
	<-done
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	return kills
}

// testSeed returns the seed of the random points: that in the environment, or 1.
func testSeed(t *testing.T) uint64 {
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("PARLEY_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("PARLEY_SEED=%d", seed)
	return seed
}

// TestServe_killed kills the server at random points while sessions run turns with tools, subagents and open permissions. Every turn
// ends as without a kill, every request is answered once, no input is written twice, the log accounts for all lines of each agent, and
// every viewer has the state that a new one gets.
func TestServe_killed(t *testing.T) {
	short.Skip(t, "servers")
	sessions, turns, points := short.Count(1, 3, 20), short.Count(1, 4, 12), short.Count(1, 10, 140)
	w := newKillWorld(t, testSeed(t))
	calm, err := w.connect(t.Context())
	if err == nil {
		err = calm.run(t.Context(), 1, turns)
	}
	if err != nil {
		t.Fatal(err)
	}
	messages := calm.messages()
	gap := sessions * messages * 8 / 10 / points
	kills := w.runKilled(sessions, turns, points, gap, w.killAt)
	t.Logf("%d kills in %d sessions with %d messages each", kills, sessions, messages)
	if kills < points*8/10 {
		t.Errorf("the server was killed %d times, want about %d", kills, points)
	}
	w.checkAll(calm, turns)
}

// checkAll compares the sessions with one without a kill, and ends the server.
func (w *killWorld) checkAll(calm *keptSession, turns int) {
	t := w.t
	t.Helper()
	agents := map[string]host.Agent{}
	everywhere := w.agents()
	if w.elsewhere != nil {
		everywhere = append(everywhere, w.elsewhere()...)
	}
	for _, a := range everywhere {
		agents[a.Key] = a
	}
	w.checkSessions(calm, agents, turns)
	w.end(syscall.SIGINT)
	store, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: filepath.Join(w.data, "log"), UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close(context.Background())
	w.checkLines(store, agents)
}

// checkSessions compares each session with one without a kill, and with the lines that its agent
// has recorded.
func (w *killWorld) checkSessions(calm *keptSession, agents map[string]host.Agent, turns int) {
	t := w.t
	t.Helper()
	for _, s := range append([]*keptSession{calm}, w.sessions...) {
		w.checkSnapshot(s)
		s.close()
		if diff := gocmp.Diff(comparable(t, &calm.view.Conversation), comparable(t, &s.view.Conversation)); diff != "" {
			t.Errorf("session %s differs from one without a kill: -want +got\n%s", s.id, diff)
		}
		w.checkDiary(s, agents[s.id], turns)
	}
}

// checkLines checks that the logs include all lines of the agents. The servers must have ended.
func (w *killWorld) checkLines(store *eventlog.Store, agents map[string]host.Agent) {
	t := w.t
	t.Helper()
	for id, n := range w.unaccounted(store, agents) {
		out := diaryLines(t, w.diary, agents[id].PID, "out")
		for _, line := range out[len(out)-int(min(n, uint64(len(out)))):] {
			if !strings.Contains(line, `"session_state_changed"`) { // such a line causes no event if the state is known
				t.Errorf("the log of %s does not account for the line %s", id, line)
			}
		}
	}
}

// checkSnapshot checks that a viewer of the session has the state that a new one gets.
func (w *killWorld) checkSnapshot(s *keptSession) {
	t := w.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for ev, err := range s.c.Follow(ctx, s.id, nil) {
		var fresh client.View
		if err == nil {
			err = fresh.Apply(ev)
		}
		if err == nil {
			err = s.await(ctx, func(*event.Conversation) bool { return s.view.Cursor.Seq >= fresh.Cursor.Seq })
		}
		if err != nil {
			t.Errorf("the snapshot of %s: %v", s.id, err)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if diff := gocmp.Diff(jsonValue(t, &fresh.Conversation), jsonValue(t, &s.view.Conversation)); diff != "" {
			t.Errorf("the viewer of %s does not have what a new one gets: -new +viewer\n%s", s.id, diff)
		}
		return
	}
}

// checkDiary checks the lines that the agent has read and written, from its diary.
func (w *killWorld) checkDiary(s *keptSession, a host.Agent, turns int) {
	t := w.t
	t.Helper()
	in, out := diaryLines(t, w.diary, a.PID, "in"), diaryLines(t, w.diary, a.PID, "out")
	if n := uint64(len(in) + len(out)); n != a.Last {
		t.Errorf("the agent of %s has read and written %d lines, the host has %d", s.id, n, a.Last)
	}
	var prompts, want []string
	answers := map[string][]string{}
	for _, line := range in {
		var m struct {
			Type, UUID string
			Message    struct{ Content json.RawMessage }
			Response   struct {
				RequestID string `json:"request_id"`
				Response  struct{ Behavior string }
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("the agent has read %q: %v", line, err)
		}
		switch m.Type {
		case "user":
			prompts = append(prompts, promptNumber.FindString(string(m.Message.Content)))
		case "control_response":
			answers[m.Response.RequestID] = append(answers[m.Response.RequestID], m.Response.Response.Behavior)
		}
	}
	for n := range turns {
		want = append(want, "turn "+strconv.Itoa(n+1))
	}
	if diff := gocmp.Diff(want, prompts); diff != "" {
		t.Errorf("the agent of %s has read these prompts: -want +got\n%s", s.id, diff)
	}
	if len(answers) != 3*turns {
		t.Errorf("the agent of %s has %d answers, want %d", s.id, len(answers), 3*turns)
	}
	for id, got := range answers {
		if !slices.Equal(got, []string{behavior(id)}) {
			t.Errorf("the request %s of %s has the answers %q, want one: %s", id, s.id, got, behavior(id))
		}
	}
}

var promptNumber = regexp.MustCompile(`turn \d+`)

// unaccounted returns the number of lines of each agent after the last one in the log, and checks that the log has each line once. The
// server must have ended.
func (w *killWorld) unaccounted(store *eventlog.Store, agents map[string]host.Agent) map[string]uint64 {
	t := w.t
	t.Helper()
	open := map[string]uint64{}
	for id, a := range agents {
		last := uint64(0)
		for ev, err := range store.Log(id).Read(t.Context(), eventlog.Cursor{}) {
			var r struct {
				F struct{ Line uint64 }
			}
			if err == nil && ev.Sub == 0 {
				err = json.Unmarshal(ev.Data, &r)
			}
			if err != nil {
				t.Fatalf("the log of %s: %v", id, err)
			}
			if line := r.F.Line; line > 0 && line <= last {
				t.Errorf("record %d of %s is about line %d, after one about line %d", ev.Seq, id, line, last)
			} else if line > 0 {
				last = line
			}
		}
		open[id] = a.Last - last
	}
	return open
}

// jsonValue is a viewer's conversation.
func jsonValue(t *testing.T, c *event.Conversation) (v any) {
	t.Helper()
	text, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// comparable returns a conversation without the ids and times that differ between sessions.
func comparable(t *testing.T, c *event.Conversation) any {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	plain := uuids.ReplaceAllStringFunc(string(text), func(id string) string {
		if id[0] == '"' {
			return `"waited_ms":0`
		}
		if names[id] == "" {
			names[id] = fmt.Sprint("uuid ", len(names)+1)
		}
		return names[id]
	})
	var v any
	if err := json.Unmarshal([]byte(plain), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// uuids matches the ids and times that differ between sessions.
var uuids = regexp.MustCompile(`"waited_ms":\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
