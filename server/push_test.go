package server

import (
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/server/webpush/webpushtest"
	"github.com/seed7221b0f9/parley/webhook"
)

// pushService is the push service of browsers, on loopback with TLS.
type pushService struct {
	*httptest.Server
	clock *fakeClock

	mu       sync.Mutex
	key      string // public key of the server
	status   int    // status of its responses
	browsers map[string]*webpushtest.Browser
	got      []pushMessage
	bad      []error
	tries    chan struct{}
}

func newPushService(t *testing.T, clock *fakeClock) *pushService {
	p := &pushService{clock: clock, status: http.StatusCreated, browsers: map[string]*webpushtest.Browser{}, tries: make(chan struct{}, 1000)}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		defer p.mu.Unlock()
		defer func() { p.tries <- struct{}{} }()
		payload, err := p.browsers[r.URL.Path].Open(r, body, p.key, p.URL, clock.Now())
		var m pushMessage
		if err == nil {
			err = json.Unmarshal(payload, &m)
		}
		if err != nil {
			p.bad = append(p.bad, err)
		}
		if p.status < 300 {
			p.got = append(p.got, m)
		}
		w.WriteHeader(p.status)
	}))
	t.Cleanup(p.Close)
	return p
}

// browser returns a browser that has subscribed at a path.
func (p *pushService) browser(t *testing.T, path string) api.PushSubscribeParams {
	t.Helper()
	b, err := webpushtest.NewBrowser(p.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.browsers[path] = b
	s := b.Subscription()
	return api.PushSubscribeParams{Endpoint: s.Endpoint, Keys: api.PushKeys{P256DH: s.P256DH, Auth: s.Auth}}
}

func (p *pushService) answer(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

// try waits for a call, and returns the messages received so far.
func (p *pushService) try(t *testing.T) []pushMessage {
	t.Helper()
	select {
	case <-p.tries:
	case <-time.After(wait):
		t.Fatal("no message came")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.bad) > 0 {
		t.Fatalf("the browser could not read messages: %v", p.bad)
	}
	return append([]pushMessage{}, p.got...)
}

func pushHarness(t *testing.T, p *pushService) *harness {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(p.Certificate())
	h := newHarness(t, func(o *Options) {
		o.now, o.after, o.Push, o.roots = p.clock.Now, p.clock.After, true, roots
		o.WebhookNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	var key api.PushKeyResult
	h.call("push.key", api.Empty{}, &key)
	if !key.Enabled || key.PublicKey == "" {
		t.Fatalf("the key is %+v", key)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = key.PublicKey
	return h
}

// subscriptions returns the number of browsers on disk.
func (h *harness) subscriptions() int {
	h.server.webhooks.mu.Lock()
	defer h.server.webhooks.mu.Unlock()
	return len(h.server.webhooks.all) - h.server.webhooks.count()
}

// TestPush checks that a browser gets the events, encrypted for it and without text of the
// conversation; that a service that is down gets them later, after a restart with the same key; and
// that an ended subscription is deleted.
func TestPush(t *testing.T) {
	clock := newFakeClock()
	p := newPushService(t, clock)
	h := pushHarness(t, p)
	sub := p.browser(t, "/one")
	h.call("push.subscribe", sub, nil)
	h.server.webhooks.mu.Lock()
	browser := api.WebhookRef{ID: h.server.webhooks.all[0].ID}
	h.server.webhooks.mu.Unlock()
	h.refused(api.Conflict, "webhooks.test", browser) // a subscription is not a webhook
	h.refused(api.Conflict, "webhooks.remove", browser)
	h.refused(api.Conflict, "webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{ID: browser.ID, URL: "https://example.com"}})
	var tested api.PushTestResult
	h.call("push.test", api.PushUnsubscribeParams{Endpoint: sub.Endpoint}, &tested)
	if got := p.try(t); tested.Status != 201 || tested.Error != "" || len(got) != 1 || got[0].Kind != webhook.Test {
		t.Fatalf("the test: %+v, %+v", tested, got)
	}
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say a secret word")
	got := p.try(t)
	if m := got[len(got)-1]; m.Kind != webhook.TurnDone || m.SessionID != id || m.Seq == 0 {
		t.Fatalf("the message is %+v", m)
	}
	w.results(1)
	p.answer(http.StatusServiceUnavailable)
	h.query(id, "fail")
	w.results(2)
	p.try(t)
	<-clock.waiting // for the next try
	info, err := os.Stat(filepath.Join(h.opts.Dir, pushKeyName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file: %v, %v", info, err)
	}
	h.restart()
	p.try(t)
	<-clock.waiting
	p.answer(http.StatusCreated)
	clock.advance(time.Hour)
	got = p.try(t)
	if m := got[len(got)-1]; len(got) != 3 || m.Kind != webhook.Failed || m.SessionID != id {
		t.Fatalf("the messages are %+v", got)
	}
	var list api.WebhooksListResult
	h.call("webhooks.list", api.Empty{}, &list)
	if len(list.Webhooks) != 0 {
		t.Errorf("browsers are among the webhooks: %+v", list)
	}
	p.answer(http.StatusGone)
	w = h.watch(id)
	h.query(id, "say more")
	w.results(3)
	for ctx := h.ctx(); h.subscriptions() > 0; {
		select {
		case <-p.tries:
		case <-ctx.Done():
			t.Fatal("a subscription that has ended is kept")
		case <-time.After(10 * time.Millisecond):
		}
	}
	h.refused(api.Conflict, "push.test", api.PushUnsubscribeParams{Endpoint: sub.Endpoint})
	if strings.Contains(h.logs.String(), sub.Endpoint) || strings.Contains(h.logs.String(), sub.Keys.Auth) {
		t.Error("the log has the address or a key of a browser")
	}
}

// TestPush_final checks that a message that the service rejects permanently is dropped at once, and
// the next one is sent.
func TestPush_final(t *testing.T) {
	clock := newFakeClock()
	p := newPushService(t, clock)
	h := pushHarness(t, p)
	h.call("push.subscribe", p.browser(t, "/one"), nil)
	p.answer(http.StatusBadRequest)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one")
	p.try(t)
	w.results(1)
	p.answer(http.StatusCreated)
	h.query(id, "say two")
	if got := p.try(t); len(got) != 1 {
		t.Errorf("the messages are %+v", got)
	}
}

// TestPush_owner checks that only the account of a subscription can end it, and that it ends with
// its token.
func TestPush_owner(t *testing.T) {
	clock := newFakeClock()
	p := newPushService(t, clock)
	h := pushHarness(t, p)
	var tk api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "viewer", Tenant: "north"}, &tk)
	viewer := h.client(tk.Token)
	sub := p.browser(t, "/viewer")
	if err := viewer.Call(h.ctx(), "push.subscribe", sub, nil); err != nil {
		t.Fatal(err)
	}
	if err := viewer.Call(h.ctx(), "push.subscribe", sub, nil); err != nil || h.subscriptions() != 1 { // again
		t.Errorf("subscribing again: %v, %d", err, h.subscriptions())
	}
	h.refused(api.Conflict, "push.subscribe", sub)
	h.refused(api.Conflict, "push.test", api.PushUnsubscribeParams{Endpoint: sub.Endpoint})
	h.call("push.unsubscribe", api.PushUnsubscribeParams{Endpoint: sub.Endpoint}, nil)
	if h.subscriptions() != 1 {
		t.Error("another account ended the subscription")
	}
	var second api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "viewer"}, &second)
	if err := h.client(second.Token).Call(h.ctx(), "push.subscribe", p.browser(t, "/second"), nil); err != nil {
		t.Fatal(err)
	}
	own := p.browser(t, "/own")
	h.call("push.subscribe", own, nil)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "say one") // without a tenant: a viewer of a tenant does not get it
	w.results(1)
	p.try(t)
	p.try(t)
	h.call("tokens.revoke", api.TokensRevokeParams{ID: second.ID}, nil)
	h.query(id, "say two")
	w.results(2)
	p.try(t)
	for ctx := h.ctx(); h.subscriptions() > 2; {
		select {
		case <-ctx.Done():
			t.Fatal("a subscription outlives its token")
		case <-time.After(10 * time.Millisecond):
		}
	}
	h.call("push.unsubscribe", api.PushUnsubscribeParams{Endpoint: own.Endpoint}, nil)
	if h.subscriptions() != 1 {
		t.Errorf("%d subscriptions are left", h.subscriptions())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.got) != 3 || len(p.bad) != 0 {
		t.Errorf("the messages are %+v, %v", p.got, p.bad)
	}
}

// TestPush_refused checks forbidden addresses, callers that may not subscribe, and a server without
// push.
func TestPush_refused(t *testing.T) {
	clock := newFakeClock()
	p := newPushService(t, clock)
	good := p.browser(t, "/one")
	h := newHarness(t, func(o *Options) { o.Push = true })
	for name, change := range map[string]func(*api.PushSubscribeParams){
		"loopback":   func(*api.PushSubscribeParams) {},
		"metadata":   func(s *api.PushSubscribeParams) { s.Endpoint = "https://169.254.169.254/x" },
		"private":    func(s *api.PushSubscribeParams) { s.Endpoint = "https://[fd00::1]/x" },
		"http":       func(s *api.PushSubscribeParams) { s.Endpoint = "http://push.example.net/x" },
		"no key":     func(s *api.PushSubscribeParams) { s.Endpoint, s.Keys.P256DH = "https://push.example.net/x", "AA" },
		"no secret":  func(s *api.PushSubscribeParams) { s.Endpoint, s.Keys.Auth = "https://push.example.net/x", "" },
		"some event": func(s *api.PushSubscribeParams) { s.Endpoint, s.Events = "https://push.example.net/x", []string{"x"} },
	} {
		s := good
		change(&s)
		err := h.client(h.token).Call(h.ctx(), "push.subscribe", s, nil)
		if client.Reason(err) != api.InvalidParams {
			t.Errorf("%s: %v; want client.Reason(err) == api.InvalidParams", name, err)
		}
	}
	good.Endpoint = "https://push.example.net/x"
	id := h.connect()
	var share api.ShareCreateResult
	h.call("share.create", api.ShareCreateParams{SessionID: id}, &share)
	for _, method := range []string{"push.key", "push.subscribe", "push.unsubscribe", "push.test"} {
		if err := h.client(share.Token).Call(h.ctx(), method, good, nil); client.Reason(err) != api.AuthFailed {
			t.Errorf("%s with a link: %v", method, err)
		}
	}
	off := newHarness(t)
	var key api.PushKeyResult
	off.call("push.key", api.Empty{}, &key)
	if key.Enabled || key.PublicKey != "" {
		t.Errorf("the key is %+v", key)
	}
	off.refused(api.Unsupported, "push.subscribe", good)
	off.refused(api.Unsupported, "push.test", good)
	if _, err := os.Stat(filepath.Join(off.opts.Dir, pushKeyName)); err == nil {
		t.Error("a key was made although nothing is pushed")
	}
	writeFile(t, filepath.Join(off.opts.Dir, pushKeyName), "broken")
	if err := off.stop(); err != nil {
		t.Fatal(err)
	}
	opts := off.opts
	opts.Push, opts.Providers = true, h.server.opts.Providers
	s, err := newServer(h.ctx(), opts, session.StoreOf(openTestStore(t)))
	if err != nil {
		t.Fatalf("with a damaged key the server does not start: %v", err)
	}
	aside, err := DamagedFiles(opts.Dir)
	if key := s.webhooks.push; key == nil || err != nil || len(aside) != 1 || !strings.HasPrefix(aside[0], pushKeyName) {
		t.Errorf("instead of a damaged key there is %v, and aside are %q, %v; want a new key and the damaged one", key, aside, err)
	}
	was := s.webhooks.push.Public()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = newServer(h.ctx(), opts, session.StoreOf(openTestStore(t))); err != nil {
		t.Fatal(err)
	}
	if got := s.webhooks.push.Public(); got != was {
		t.Errorf("the next start has the key %q, want %q", got, was)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	off.start()
}

// TestPush_title checks that a title up to the limit is sent unchanged, and that a longer one is
// cut between two characters.
func TestPush_title(t *testing.T) {
	for _, letter := range []string{"a", "é", "界", "\U0001f600"} {
		for before := range 4 {
			for n := range 4 {
				title := strings.Repeat("x", before) + strings.Repeat(letter, (maxPushTitle-before)/len(letter)+n-1)
				m, err := messageOf(webhook.Event{Type: webhook.TurnDone, SessionID: "s", Seq: 7, Title: title}, offer{}, "")
				if err != nil {
					t.Fatal(err)
				}
				var got pushMessage
				if err := json.Unmarshal(m.Payload, &got); err != nil {
					t.Fatal(err)
				}
				start, cut := strings.CutSuffix(got.Title, "…")
				if cut != (len(title) > maxPushTitle) || !strings.HasPrefix(title, start) || len(start) > maxPushTitle || cut && len(start) <= maxPushTitle-len(letter) {
					t.Errorf("a title of %d bytes of %q is sent as %q", len(title), letter, got.Title)
				}
				if want := (pushMessage{Kind: webhook.TurnDone, SessionID: "s", Title: got.Title, Seq: 7}); got != want {
					t.Errorf("the message is %+v, want %+v", got, want)
				}
			}
		}
	}
}

// TestPush_testGone checks that a subscription that the browser has ended is removed by a test message too.
func TestPush_testGone(t *testing.T) {
	p := newPushService(t, newFakeClock())
	h := pushHarness(t, p)
	for _, tt := range []struct{ status, left int }{{http.StatusCreated, 1}, {http.StatusServiceUnavailable, 1}, {http.StatusGone, 0}} {
		sub := p.browser(t, "/one")
		h.call("push.subscribe", sub, nil)
		p.answer(tt.status)
		var r api.PushTestResult
		h.call("push.test", api.PushUnsubscribeParams{Endpoint: sub.Endpoint}, &r)
		if n := h.subscriptions(); n != tt.left || r.Status != int64(tt.status) || (r.Error == "") != (tt.status == http.StatusCreated) {
			t.Errorf("after a test with status %d there are %d subscriptions, want %d; the result is %+v", tt.status, n, tt.left, r)
		}
	}
}
