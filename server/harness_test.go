package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

func TestMain(m *testing.M) {
	if os.Getenv("PARLEY_TEST_SERVER") != "" {
		runChildServer()
		return
	}
	if os.Getenv(devVariable) != "" {
		runDevServer()
		return
	}
	if os.Getenv("PARLEY_TEST_CROWD") != "" {
		runCrowd()
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/nats-io/nats-server/v2/server.init.0.func1"))
}

// wait is the timeout of tests for expected events.
const wait = 2 * time.Minute

// harness is a server on a loopback port with a scripted agent.
type harness struct {
	*testing.T
	provider *agenttest.Provider
	server   *Server
	store    *eventlog.Store
	dir      string
	url      string
	http     *http.Client // for url; nil is the default
	token    string
	opts     Options
	synced   bool         // the log is synced before it is acknowledged, as in production; slower
	reserve  int64        // of the store; 0 is the default
	stop     func() error // drains and waits
	logs     *syncBuffer
}

// syncBuffer is a buffer for several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newHarness(t *testing.T, change ...func(*Options)) *harness {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"agent", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := &harness{T: t, dir: dir, provider: &agenttest.Provider{Dir: filepath.Join(dir, "agent")}, logs: &syncBuffer{}}
	h.opts = Options{Dir: filepath.Join(dir, "server"), Directories: []string{filepath.Join(dir, "work")}, Version: "test",
		Logger: slog.New(slog.NewTextHandler(h.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, f := range change {
		f(&h.opts)
	}
	h.start()
	t.Cleanup(func() {
		if err := h.stop(); err != nil {
			t.Errorf("stopping the server: %v", err)
		}
		if t.Failed() && testing.Verbose() {
			t.Log(h.logs.String())
		}
	})
	return h
}

// start starts the server, also again after stop.
func (h *harness) start() {
	h.Helper()
	var err error
	h.store, err = eventlog.Open(context.Background(), &eventlog.Options{Dir: filepath.Join(h.dir, "log"), UnsafeNoSync: !h.synced, Reserve: h.reserve, Logger: h.opts.Logger})
	if err != nil {
		h.Fatal(err)
	}
	opts := h.opts
	opts.Store = h.store
	if opts.Providers == nil {
		opts.Providers = []agent.Provider{h.provider}
	}
	h.server, err = New(context.Background(), opts)
	if err != nil {
		h.Fatal(err)
	}
	addr := "127.0.0.1:0"
	if h.url != "" {
		addr = strings.TrimPrefix(h.url, "http://") // the same address again
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		h.Fatal(err)
	}
	h.url, h.token = "http://"+l.Addr().String(), h.server.Token()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.server.Serve(ctx, l) }()
	store := h.store
	h.stop = sync.OnceValue(func() error {
		cancel()
		err := <-served
		http.DefaultClient.CloseIdleConnections()
		bound, done := context.WithTimeout(context.Background(), wait)
		defer done()
		if e := store.Close(bound); e != nil && err == nil {
			err = e
		}
		return err
	})
}

// restart drains the server and starts one on the same data.
func (h *harness) restart() {
	h.Helper()
	if err := h.stop(); err != nil {
		h.Fatal(err)
	}
	h.start()
}

func (h *harness) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	h.Cleanup(cancel)
	return ctx
}

func (h *harness) client(token string) *client.Client {
	h.Helper()
	c, err := client.New(client.Options{URL: h.url, HTTPClient: h.http, Token: token, Retry: 10 * time.Millisecond, MaxRetry: 100 * time.Millisecond})
	if err != nil {
		h.Fatal(err)
	}
	return c
}

// call calls a method and fails the test on an error.
func (h *harness) call(method string, params, result any) {
	h.Helper()
	if err := h.client(h.token).Call(h.ctx(), method, params, result); err != nil {
		h.Fatalf("%s: %v", method, err)
	}
}

// refused calls a method that must fail with a reason.
func (h *harness) refused(want api.Reason, method string, params any) {
	h.Helper()
	err := h.client(h.token).Call(h.ctx(), method, params, nil)
	if got := client.Reason(err); got != want {
		h.Errorf("%s: %v (reason %q), want reason %q", method, err, got, want)
	}
}

// connect creates a session.
func (h *harness) connect() string {
	h.Helper()
	var r api.ConnectResult
	h.call("session.connect", api.ConnectParams{}, &r)
	return r.SessionID
}

func (h *harness) query(session, text string) api.Accepted {
	h.Helper()
	var r api.Accepted
	h.call("session.query", api.QueryParams{SessionID: session, Text: text}, &r)
	return r
}

// watch folds a session in the background.
func (h *harness) watch(session string) *watcher {
	h.Helper()
	return h.watchAs(h.token, session)
}

func (h *harness) watchAs(token, session string) *watcher {
	h.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	w := &watcher{t: h.T, cancel: cancel, changed: make(chan struct{}), done: make(chan struct{})}
	c := h.client(token)
	go func() {
		defer close(w.done)
		for ev, err := range c.Follow(ctx, session, nil) {
			w.mu.Lock()
			if err == nil {
				err = w.view.Apply(ev)
			}
			w.events = append(w.events, ev.Events...)
			w.err = err
			close(w.changed)
			w.changed = make(chan struct{})
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	h.Cleanup(w.stop)
	return w
}

// watcher is a viewer.
type watcher struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	view    client.View
	events  []event.Event
	err     error
	changed chan struct{}
}

func (w *watcher) stop() {
	w.cancel()
	<-w.done
}

// until waits until ok accepts the conversation.
func (w *watcher) until(what string, ok func(c *event.Conversation) bool) {
	w.t.Helper()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		w.mu.Lock()
		good, changed, err := ok(&w.view.Conversation), w.changed, w.err
		w.mu.Unlock()
		if good {
			return
		}
		select {
		case <-changed:
		case <-w.done:
			w.t.Fatalf("the viewer ended (%v) before: %s", err, what)
		case <-deadline.C:
			w.mu.Lock()
			data, _ := json.Marshal(&w.view.Conversation)
			w.mu.Unlock()
			w.t.Fatalf("it never came: %s; the conversation is %.3000s", what, data)
		}
	}
}

// results waits until n turns have ended and the session is idle.
func (w *watcher) results(n int) {
	w.t.Helper()
	w.until("the end of the turns", func(c *event.Conversation) bool {
		return c.State == string(session.Idle) && int(c.Totals.Turns) >= n
	})
}

func (w *watcher) state(s session.State) {
	w.t.Helper()
	w.until("state "+string(s), func(c *event.Conversation) bool { return c.State == string(s) })
}

// text returns the text of all answers in a conversation.
func text(c *event.Conversation) string {
	var b strings.Builder
	for _, th := range c.Threads {
		for _, it := range th.Items {
			if it.Message == nil || it.Message.Role != "assistant" {
				continue
			}
			for _, bl := range it.Message.Blocks {
				b.WriteString(bl.Text.String())
			}
		}
	}
	return b.String()
}

func (w *watcher) awaitAnswer(want string) {
	w.t.Helper()
	w.until("the answer "+want, func(c *event.Conversation) bool { return strings.Contains(text(c), want) })
}

// info returns the server's info of a session without loading it.
func (h *harness) info(session string) session.Info {
	h.Helper()
	info, err := h.server.sessions.Lookup(h.ctx(), session)
	if err != nil {
		h.Fatal(err)
	}
	return info
}

// history returns the server's conversation.
func (h *harness) history(session string) *event.Conversation {
	h.Helper()
	var r api.GetHistoryResult
	h.call("session.getHistory", api.SessionRef{SessionID: session}, &r)
	var c event.Conversation
	if err := json.Unmarshal([]byte(r.Conversation), &c); err != nil {
		h.Fatal(err)
	}
	return &c
}

// do sends an HTTP request unchanged.
func (h *harness) do(req *http.Request) (int, http.Header, []byte) {
	h.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	return resp.StatusCode, resp.Header, data
}

type uiConversation = event.Conversation

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
