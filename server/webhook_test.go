package server

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/webhook"
)

// fakeClock is a clock that a test advances. Its timers fire when it has passed them.
type fakeClock struct {
	mu      sync.Mutex
	now     time.Time
	timers  map[chan time.Time]time.Time
	waiting chan struct{} // has an element when a wait has started
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Now(), timers: map[chan time.Time]time.Time{}, waiting: make(chan struct{}, 1)}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	c.timers[ch] = c.now.Add(d)
	select {
	case c.waiting <- struct{}{}:
	default:
	}
	return ch
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for ch, at := range c.timers {
		if !at.After(c.now) {
			ch <- c.now
			delete(c.timers, ch)
		}
	}
}

// receiver is a receiver of webhooks that can be down.
type receiver struct {
	*httptest.Server
	clock *fakeClock

	mu      sync.Mutex
	secret  string
	down    bool
	tries   int
	events  []webhook.Event
	bad     []error
	changed chan struct{}
}

func newReceiver(t *testing.T, clock *fakeClock) *receiver {
	r := &receiver{clock: clock, changed: make(chan struct{}, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tries++
		if r.down {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if err := webhook.Verify(r.secret, req.Header.Get(webhook.SignatureHeader), body, clock.Now(), 0); err != nil {
			r.bad = append(r.bad, err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var ev webhook.Event
		if err := json.Unmarshal(body, &ev); err != nil {
			r.bad = append(r.bad, err)
		}
		r.events = append(r.events, ev)
		r.changed <- struct{}{}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) set(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// got waits until n events have arrived and returns their types.
func (r *receiver) got(t *testing.T, n int) []string {
	t.Helper()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		events := slices.Clone(r.events)
		if len(r.bad) > 0 {
			t.Fatalf("the receiver refused calls: %v", r.bad)
		}
		r.mu.Unlock()
		if len(events) >= n {
			var types []string
			for _, e := range events {
				types = append(types, e.Type)
			}
			return types
		}
		select {
		case <-r.changed:
		case <-deadline.C:
			t.Fatalf("%d of %d events came", len(events), n)
		}
	}
}

func webhookHarness(t *testing.T, clock *fakeClock) *harness {
	return newHarness(t, func(o *Options) {
		o.now, o.after = clock.Now, clock.After
		o.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
}

// TestWebhook_down checks that a receiver that is down for an hour, during a restart of the server,
// gets every event afterwards, in order and once.
func TestWebhook_down(t *testing.T) {
	clock := newFakeClock()
	r := newReceiver(t, clock)
	h := webhookHarness(t, clock)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say before") // before the webhook exists
	w.results(1)
	var set api.WebhooksSetResult
	h.call("webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: r.URL + "/hook", Events: []string{}, Enabled: true}}, &set)
	if !strings.HasPrefix(set.Secret, "whsec_") {
		t.Fatalf("the webhook is %+v", set)
	}
	r.mu.Lock()
	r.secret = set.Secret
	r.mu.Unlock()
	h.query(id, "say one")
	if got := r.got(t, 1); got[0] != webhook.TurnDone {
		t.Fatalf("the events are %v", got)
	}
	w.results(2)
	r.set(true)
	h.query(id, "tool Bash")
	w.state(session.RequiresAction)
	request := h.history(id).Prompts[0].RequestID()
	h.call("permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: request, Behavior: "allow"}, nil)
	w.results(3)
	h.query(id, "fail")
	w.results(4)
	<-clock.waiting // it waits for the next try
	for range 30 {
		clock.advance(time.Minute)
	}
	h.restart()
	<-clock.waiting
	w = h.watch(id)
	h.setBudget(api.Budget{Scope: budget.ScopeSession, LimitTokens: new(int64(1)), Action: budget.ActionNotify})
	h.query(id, "say last")
	w.results(5)
	var list api.WebhooksListResult
	h.call("webhooks.list", api.Empty{}, &list)
	if len(list.Webhooks) != 1 || list.Webhooks[0].Pending < 4 || list.Webhooks[0].LastError == "" {
		t.Errorf("while the receiver is down the webhooks are %+v", list)
	}
	r.set(false)
	clock.advance(30 * time.Minute)
	got := r.got(t, 6)
	want := []string{webhook.TurnDone, webhook.NeedsAnswer, webhook.TurnDone, webhook.Failed, webhook.BudgetReached, webhook.TurnDone}
	if !slices.Equal(got, want) {
		t.Errorf("the events are %v, want %v", got, want)
	}
	ids := map[string]bool{}
	last := uint64(0)
	for _, e := range r.events {
		if ids[e.ID] || e.Seq <= last || e.SessionID != id {
			t.Errorf("an event came twice or late: %+v", e)
		}
		ids[e.ID], last = true, e.Seq
	}
}

// TestWebhook_redirect checks that a redirect to this machine is not followed, and that the event
// waits for the receiver.
func TestWebhook_redirect(t *testing.T) {
	clock := newFakeClock()
	reached := make(chan struct{}, 100)
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	defer inner.Close()
	asked := make(chan struct{}, 100)
	outer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		http.Redirect(w, r, inner.URL, http.StatusTemporaryRedirect)
	}))
	defer outer.Close()
	h := webhookHarness(t, clock)
	h.call("webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: outer.URL, Enabled: true}}, nil)
	id := h.connect()
	h.query(id, "say one")
	h.watch(id).results(1)
	<-clock.waiting // it failed, and is retried
	var list api.WebhooksListResult
	h.call("webhooks.list", api.Empty{}, &list)
	if len(asked) != 1 || len(reached) != 0 || list.Webhooks[0].Pending != 1 || !strings.Contains(list.Webhooks[0].LastError, "redirect") {
		t.Errorf("asked %d times, reached %d times, %+v", len(asked), len(reached), list)
	}
}

// TestWebhook_crash checks that an event whose record is in the session's log but not in the outbox
// is sent after the next start.
func TestWebhook_crash(t *testing.T) {
	clock := newFakeClock()
	r := newReceiver(t, clock)
	h := webhookHarness(t, clock)
	r.secret = "a secret of sixteen"
	h.call("webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: r.URL, Enabled: true}, Secret: r.secret}, nil)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	w.results(1)
	r.got(t, 1)
	for ctx, pending := h.ctx(), int64(1); pending > 0; { // its cursor is on disk
		var list api.WebhooksListResult // an omitted member would keep its value
		if err := h.client(h.token).Call(ctx, "webhooks.list", api.Empty{}, &list); err != nil {
			t.Fatal(err)
		}
		pending = list.Webhooks[0].Pending
	}
	// A crash between the two writes leaves a record and no row in the outbox.
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	store, err := eventlog.Open(h.ctx(), &eventlog.Options{Dir: filepath.Join(h.dir, "log"), UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	at, err := store.Log(id).Last(h.ctx())
	if err != nil {
		t.Fatal(err)
	}
	rec := fmt.Appendf(nil, `{"t":%q,"m":{"type":"notice","severity":"error","text":"over","code":"budget_exceeded","provider":"sim"}}`, time.Now().UTC().Format(time.RFC3339Nano))
	if _, err := store.Log(id).Append(h.ctx(), at.Seq, rec); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(h.ctx()); err != nil {
		t.Fatal(err)
	}
	h.start()
	if got := r.got(t, 2); got[1] != webhook.BudgetReached {
		t.Errorf("the events are %v", got)
	}
}

// TestWebhook_methods checks who may set webhooks, which addresses are allowed, and the test call.
func TestWebhook_methods(t *testing.T) {
	clock := newFakeClock()
	r := newReceiver(t, clock)
	h := newHarness(t)
	hook := api.WebhooksSetParams{Webhook: api.Webhook{URL: r.URL, Enabled: true}, Secret: "a secret of sixteen"}
	h.refused(api.InvalidParams, "webhooks.set", hook) // loopback
	for _, u := range []string{"http://169.254.169.254/latest", "http://[::1]/", "file:///etc/passwd", ""} {
		h.refused(api.InvalidParams, "webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: u}})
	}
	h.refused(api.InvalidParams, "webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: "https://example.com", Events: []string{"x"}}})
	h.refused(api.InvalidParams, "webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: "https://example.com"}, Secret: "short"})
	var tk api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "operator"}, &tk)
	for _, method := range []string{"webhooks.list", "webhooks.set", "webhooks.remove", "webhooks.test"} {
		if err := h.client(tk.Token).Call(h.ctx(), method, hook, nil); client.Reason(err) != api.AuthFailed {
			t.Errorf("%s as an operator: %v", method, err)
		}
	}
	h2 := webhookHarness(t, clock)
	var set api.WebhooksSetResult
	h2.call("webhooks.set", hook, &set)
	r.mu.Lock()
	r.secret = hook.Secret
	r.mu.Unlock()
	var tested api.WebhooksTestResult
	h2.call("webhooks.test", api.WebhookRef{ID: set.Webhook.ID}, &tested)
	if tested.Status != 200 || tested.Error != "" || set.Secret != "" {
		t.Errorf("the test call: %+v", tested)
	}
	r.set(true)
	h2.call("webhooks.test", api.WebhookRef{ID: set.Webhook.ID}, &tested)
	if tested.Status != 503 || tested.Error == "" {
		t.Errorf("the test call to a receiver that is down: %+v", tested)
	}
	h2.call("webhooks.remove", api.WebhookRef{ID: set.Webhook.ID}, nil)
	h2.refused(api.Conflict, "webhooks.test", api.WebhookRef{ID: set.Webhook.ID})
}

// TestHooks_pause checks that a webhook is changed only after its calls have ended.
func TestHooks_pause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, done := false, make(chan struct{})
		end := func() {
			go func() {
				<-time.After(time.Second)
				ended = true
				close(done)
			}()
		}
		h := &webhooks{all: []subscriber{{ID: "w-1"}}, runs: map[string]delivery{"w-1": {cancel: end, done: done}}}
		if err := h.pause("w-1"); err != nil || !ended {
			t.Errorf("paused with %v, its calls have ended: %t", err, ended)
		}
		if err := h.pause("w-2"); err == nil {
			t.Error("a webhook that there is not was paused")
		}
		<-done
	})
}

// TestHookCommand checks that a command is run for an event.
func TestHookCommand(t *testing.T) {
	dir := t.TempDir()
	program, out := filepath.Join(dir, "hook"), filepath.Join(dir, "out")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncat > "+out+".new && mv "+out+".new "+out+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, func(o *Options) {
		o.HookCommand, o.Env = program, []string{"PATH=/usr/bin:/bin"}
	})
	id := h.connect()
	h.query(id, "say one")
	h.watch(id).until("the turn", func(c *event.Conversation) bool { return c.Totals.Turns == 1 })
	data, err := os.ReadFile(out)
	for ctx := h.ctx(); err != nil; data, err = os.ReadFile(out) {
		select {
		case <-ctx.Done():
			t.Fatal("the command was not run")
		case <-time.After(20 * time.Millisecond):
		}
	}
	var ev webhook.Event
	if err != nil || json.Unmarshal(data, &ev) != nil || ev.Type != webhook.TurnDone || ev.SessionID != id {
		t.Errorf("the command got %s, %v", data, err)
	}
}

// TestWebhook_stop checks the position of a webhook after a call: after an accepted event, also
// while the server stops, and before an event whose call failed, which is sent after the next
// start.
func TestWebhook_stop(t *testing.T) {
	h := webhookHarness(t, newFakeClock())
	data, err := json.Marshal(webhook.Event{ID: "e", Type: webhook.TurnDone, SessionID: "s-1", Seq: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		status   int
		stops    bool
		cursor   uint64
		goesOn   bool
		ofAnyone string // the session of the webhook
	}{
		"taken":                       {http.StatusOK, false, 7, true, ""},
		"taken while the server ends": {http.StatusOK, true, 7, true, ""},
		"failed while it ends":        {http.StatusServiceUnavailable, true, 3, false, ""},
		"for another session":         {http.StatusServiceUnavailable, true, 7, true, "s-2"},
	} {
		r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) }))
		ctx, cancel := context.WithCancel(t.Context())
		if c.stops {
			cancel()
		}
		k := &subscriber{ID: "w", URL: r.URL, Enabled: true, Cursor: 3, Session: c.ofAnyone}
		goesOn := h.server.webhooks.deliver(ctx, k, eventlog.Event{Seq: 7, Data: data})
		if goesOn != c.goesOn || k.Cursor != c.cursor {
			t.Errorf("%s: it goes on: %v, at %d, want %v, %d", name, goesOn, k.Cursor, c.goesOn, c.cursor)
		}
		cancel()
		r.Close()
	}
}

// TestWebhook_secretStays checks that a webhook keeps its secret when it is changed without one, and shows a secret only when it is made.
func TestWebhook_secretStays(t *testing.T) {
	h := newHarness(t)
	secret := func(id string) string {
		k, _ := h.server.webhooks.find(func(k subscriber) bool { return k.ID == id })
		return k.Secret
	}
	var made, changed api.WebhooksSetResult
	h.call("webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: "https://example.com/a"}}, &made)
	hook := made.Webhook
	hook.URL = "https://example.com/b"
	h.call("webhooks.set", api.WebhooksSetParams{Webhook: hook}, &changed)
	if made.Secret == "" || changed.Secret != "" || secret(hook.ID) != made.Secret {
		t.Errorf("the secret was %q, the change shows %q, and it is %q now; want it unchanged, and shown once", made.Secret, changed.Secret, secret(hook.ID))
	}
	const other = "another secret of a webhook"
	h.call("webhooks.set", api.WebhooksSetParams{Webhook: hook, Secret: other}, &changed)
	if changed.Secret != "" || secret(hook.ID) != other {
		t.Errorf("a change of the secret shows %q, and it is %q now, want %q", changed.Secret, secret(hook.ID), other)
	}
}
