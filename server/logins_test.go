package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/server/webpush"
)

// TestLogins checks the limit of cookies per token: one more ends the oldest cookie of this token,
// and no other cookie or token.
func TestLogins(t *testing.T) {
	all, err := openTokens(filepath.Join(t.TempDir(), tokensName))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	all.now = func() time.Time { return now }
	told := 0
	all.ended = func() { told++ }
	value, other := "", ""
	for _, v := range []*string{&value, &other} {
		if _, *v, err = all.create(token{Role: "viewer"}, 0); err != nil {
			t.Fatal(err)
		}
	}
	exchange := func(value string) (cookie string) {
		t.Helper()
		now = now.Add(time.Second)
		cookie, _, err := all.exchange(value, "")
		if err != nil {
			t.Fatal(err)
		}
		return cookie
	}
	kept := exchange(other)
	var cookies []string
	for n := range maxLogins + 3 {
		cookies = append(cookies, exchange(value))
		if want := max(0, n+1-maxLogins); told != want {
			t.Fatalf("after %d cookies %d were ended, want %d", n+1, told, want)
		}
	}
	held, release := all.hold(t.Context(), &principal{id: all.all[all.place[idOf(cookies[3])]].ID})
	defer release()
	for i, cookie := range append(cookies, kept, value, other) {
		if _, err := all.check(cookie, ""); (err == nil) != (i >= 3) {
			t.Errorf("credential %d: %v, want it valid: %v", i, err, i >= 3)
		}
	}
	cookies = append(cookies, exchange(value))
	if held.Err() == nil {
		t.Error("a connection of the oldest cookie is open")
	}
	if err := all.revoke(idOf(value)); err != nil {
		t.Fatal(err)
	}
	for i, cookie := range cookies {
		if _, err := all.check(cookie, ""); err == nil {
			t.Errorf("cookie %d is valid after its token was revoked", i)
		}
	}
	if _, err := all.check(kept, ""); err != nil {
		t.Errorf("the cookie of another token: %v", err)
	}
}

// idOf returns the id that is part of a token.
func idOf(value string) string { return value[len("pt_") : len("pt_")+12] }

// TestTokens_full checks that a token beyond the limit is refused, and that expired ones do not count and are dropped.
func TestTokens_full(t *testing.T) {
	path := filepath.Join(t.TempDir(), tokensName)
	all := newTokens(path)
	now := time.Now()
	all.now = func() time.Time { return now }
	var full []token
	for n := range maxTokens - 1 {
		full = append(full, token{ID: fmt.Sprint(n), Role: "viewer", Hash: "x"})
	}
	full = append(full, token{ID: "short", Role: "viewer", Hash: "x", Expires: now.Add(time.Minute)})
	all.set(full)
	if _, _, err := all.create(token{Role: "viewer"}, 0); session.FailureOf(err).Reason != api.LimitReached {
		t.Errorf("one more than %d tokens: %v, want a refusal", maxTokens, err)
	}
	now = now.Add(time.Minute)
	tk, _, err := all.create(token{Role: "viewer"}, 0)
	if err != nil {
		t.Fatalf("a token in place of an expired one: %v", err)
	}
	again, err := openTokens(path)
	if err != nil || len(again.all) != maxTokens {
		t.Fatalf("the file has %d tokens, %v, want %d", len(again.all), err, maxTokens)
	}
	if _, ok := again.place["short"]; ok {
		t.Error("the expired token is in the file")
	}
	if _, ok := again.place[tk.ID]; !ok {
		t.Error("the new token is not in the file")
	}
}

// TestSubscribe_limits checks that subscriptions of browsers are limited, in all and for each account, and that webhooks do not count.
func TestSubscribe_limits(t *testing.T) {
	h := newHarness(t).server.webhooks
	subscribe := func(account, endpoint string) error {
		return h.subscribe(subscriber{Enabled: true, Push: &pushed{Subscription: webpush.Subscription{Endpoint: endpoint}, Account: account}})
	}
	with := func(n int, account func(int) string) {
		all := []subscriber{{ID: "w-1", URL: "https://example.com"}}
		for i := range n {
			all = append(all, subscriber{ID: fmt.Sprint("p-", i), Push: &pushed{Subscription: webpush.Subscription{Endpoint: fmt.Sprint("https://example.com/", i)}, Account: account(i)}})
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all = all
	}
	other := func(i int) string { return fmt.Sprint("account ", i) }
	same := func(int) string { return "me" }
	for name, tt := range map[string]struct {
		n       int
		account func(int) string
		refused bool
	}{
		"below the limit of all": {maxPush - 1, other, false}, "at the limit of all": {maxPush, other, true},
		"below the own limit": {maxPushAccount - 1, same, false}, "at the own limit": {maxPushAccount, same, true},
	} {
		with(tt.n, tt.account)
		if err := subscribe("me", "https://example.com/new"); (session.FailureOf(err).Reason == api.LimitReached) != tt.refused || (err != nil) != tt.refused {
			t.Errorf("%s: %v, want a refusal: %v", name, err, tt.refused)
		}
	}
	with(maxPushAccount, same)
	if err := subscribe("me", "https://example.com/0"); err != nil {
		t.Errorf("the same browser again: %v", err)
	}
	if err := subscribe("another", "https://example.com/0"); session.FailureOf(err).Reason != api.Conflict {
		t.Errorf("the browser of another account: %v, want a conflict", err)
	}
}

// TestLogout checks that a page that logs out ends its cookie, and that a token is not ended that way.
func TestLogout(t *testing.T) {
	all, err := openTokens(filepath.Join(t.TempDir(), tokensName))
	if err != nil {
		t.Fatal(err)
	}
	_, value, err := all.create(token{Role: "viewer"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	cookie, _, err := all.exchange(value, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{tokens: all, filter: &filter{cookie: "c"}}
	for _, tt := range []struct {
		what, value string
		ends        bool
	}{{"token", value, false}, {"cookie", cookie, true}} {
		p, err := all.check(tt.value, "")
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		if err := s.logout(w, httptest.NewRequest(http.MethodPost, "/v1/logout", nil), &caller{principal: p}); err != nil {
			t.Errorf("the logout of a %s: %v", tt.what, err)
		}
		if _, err := all.check(tt.value, ""); (err != nil) != tt.ends {
			t.Errorf("after its logout the %s is checked with %v, want an error: %v", tt.what, err, tt.ends)
		}
		if c := w.Result().Cookies(); len(c) != 1 || c[0].Value != "" || c[0].MaxAge >= 0 {
			t.Errorf("the logout of a %s sets %v, want that the cookie is deleted", tt.what, c)
		}
	}
}

// TestTokens_used checks that an open connection, also of a cookie, is a use of its token at the time of the list.
func TestTokens_used(t *testing.T) {
	all, err := openTokens(filepath.Join(t.TempDir(), tokensName))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	all.now = func() time.Time { return now }
	_, value, err := all.create(token{Role: "viewer"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	cookie, _, err := all.exchange(value, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, credential := range []string{value, cookie} {
		p, err := all.check(credential, "")
		if err != nil {
			t.Fatal(err)
		}
		_, release := all.hold(t.Context(), p)
		now = now.Add(time.Hour)
		if list := all.list(); len(list) != 1 || list[0].UsedAt != session.Timestamp(now) {
			t.Errorf("the tokens are %+v, want one that is used at %s", list, session.Timestamp(now))
		}
		release()
		last := now
		now = now.Add(time.Hour)
		if list := all.list(); len(list) != 1 || list[0].UsedAt != session.Timestamp(last) {
			t.Errorf("the tokens are %+v, want one that was used at %s", list, session.Timestamp(last))
		}
	}
}
