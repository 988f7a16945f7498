package server

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/notify"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/webhook"
)

// hooksAlone returns webhooks without a server, with a clock that jumps to the end of each wait. waits has the waits.
func hooksAlone(t *testing.T) (h *webhooks, waits *[]time.Duration) {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	waits = new([]time.Duration)
	opts := Options{now: func() time.Time { return now }, after: func(d time.Duration) <-chan time.Time {
		*waits = append(*waits, d)
		now = now.Add(d)
		c := make(chan time.Time, 1)
		c <- now
		return c
	}}
	o, err := openOutbox(t.Context(), &outboxLog{})
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{opts: opts, logger: slog.New(slog.DiscardHandler), metrics: newMetrics()}
	h = &webhooks{opts: opts, srv: s, path: filepath.Join(t.TempDir(), webhooksName), outbox: o, client: notify.New(nil, nil), runs: map[string]delivery{}}
	s.webhooks = h
	return h, waits
}

// TestDeliver_retries checks the times at which a failing call is tried again, when its event is dropped, and that the position and the error
// of the webhook are stored.
func TestDeliver_retries(t *testing.T) {
	ev := eventlog.Event{Seq: 7, Data: fmt.Appendf(nil, `{"type":%q,"session_id":"s-1"}`, webhook.TurnDone)}
	for name, tt := range map[string]struct {
		id    string
		waits int
		sum   time.Duration // at least
	}{
		"a webhook": {id: "w-1", sum: giveUp},
		"a command": {id: commandID, waits: commandTries - 1},
	} {
		t.Run(name, func(t *testing.T) {
			h, waits := hooksAlone(t)
			h.opts.HookCommand, h.path = filepath.Join(t.TempDir(), "missing"), filepath.Join(t.TempDir(), "missing", "f") // a file would be synced with each try
			k := subscriber{ID: tt.id, URL: "http://127.0.0.1:1/", Cursor: 3, Enabled: true}                               // an address that is not allowed
			h.all = []subscriber{k}
			first, after := "", h.opts.after
			h.opts.after = func(d time.Duration) <-chan time.Time {
				if len(*waits) == 0 {
					first = h.list()[0].LastError
				}
				return after(d)
			}
			if !h.deliver(t.Context(), &k, ev) || k.Cursor != 7 || k.LastError == "" {
				t.Errorf("afterwards the webhook is at %d with the error %q, want that the event was dropped with its error", k.Cursor, k.LastError)
			}
			if first == "" {
				t.Error("while the call is tried again the webhook shows no error, want that of the last try")
			}
			if got := h.all[0]; got.Cursor != 7 || got.LastError != k.LastError {
				t.Errorf("in the list are the position %d and the error %q, want 7 and %q", got.Cursor, got.LastError, k.LastError)
			}
			sum := time.Duration(0)
			for i, d := range *waits {
				sum += d
				if want := min(firstRetry<<min(i, 20), lastRetry); d != want {
					t.Fatalf("wait %d takes %v, want %v", i+1, d, want)
				}
			}
			if tt.waits > 0 && len(*waits) != tt.waits || sum < tt.sum || tt.sum > 0 && sum-(*waits)[len(*waits)-1] >= tt.sum {
				t.Errorf("the event is dropped after %d waits of %v, want %d waits, or the first end of a wait after %v", len(*waits), sum, tt.waits, tt.sum)
			}
		})
	}
}

// TestHooks_limits checks the numbers of webhooks and of characters of a secret, and that a change keeps what it does not name.
func TestHooks_limits(t *testing.T) {
	h, _ := hooksAlone(t)
	h.all = append(h.all, subscriber{ID: "push", Push: &pushed{}}) // a browser does not count
	set := func(p api.WebhooksSetParams) (api.WebhooksSetResult, error) {
		p.Webhook.URL = "https://example.com/"
		return webhooksSet(h.srv, t.Context(), nil, p)
	}
	for n, ok := range map[int]bool{1: false, minSecret - 1: false, minSecret: true, maxSecret: true, maxSecret + 1: false} {
		r, err := set(api.WebhooksSetParams{Secret: strings.Repeat("x", n)})
		if ok != (err == nil) || !ok && session.FailureOf(err).Reason != api.InvalidParams || r.Secret != "" {
			t.Errorf("a secret of %d characters: %v, shown %q, want that it is accepted: %v, and not shown", n, err, r.Secret, ok)
		}
	}
	var last string
	for range maxWebhooks - 2 { // those above
		r, err := set(api.WebhooksSetParams{})
		if err != nil {
			t.Fatalf("after %d webhooks: %v", h.count(), err)
		}
		last = r.Webhook.ID
	}
	if _, err := set(api.WebhooksSetParams{}); session.FailureOf(err).Reason != api.LimitReached || h.count() != maxWebhooks {
		t.Errorf("one more webhook: %v, there are %d, want limit_reached and %d", err, h.count(), maxWebhooks)
	}
	i := h.at(last)
	h.all[i].Cursor, h.all[i].Created = 5, h.all[i].Created.Add(-time.Hour)
	before := h.all[i]
	if _, err := set(api.WebhooksSetParams{Webhook: api.Webhook{ID: last, SessionID: "s-1"}}); err != nil {
		t.Errorf("changing a webhook at the limit: %v", err)
	}
	if got := h.all[i]; got.Cursor != 5 || !got.Created.Equal(before.Created) || got.Secret != before.Secret || got.Session != "s-1" {
		t.Errorf("the changed webhook is %+v, want position, time and secret of %+v", got, before)
	}
	h.path = filepath.Join(h.path, "not a directory")
	if _, err := set(api.WebhooksSetParams{Webhook: api.Webhook{ID: last, SessionID: "s-2"}}); err == nil || h.all[h.at(last)].Session != "s-1" {
		t.Errorf("a change that cannot be stored: %v, the webhook is for %q, want an error and s-1", err, h.all[h.at(last)].Session)
	}
	for _, id := range []string{"push", commandID, "none"} {
		if _, err := set(api.WebhooksSetParams{Webhook: api.Webhook{ID: id}}); session.FailureOf(err).Reason != api.Conflict {
			t.Errorf("changing %s: %v, want a conflict", id, err)
		}
		if _, err := webhooksRemove(h.srv, t.Context(), nil, api.WebhookRef{ID: id}); session.FailureOf(err).Reason != api.Conflict {
			t.Errorf("removing %s: %v, want a conflict", id, err)
		}
	}
}

// TestTokens_age checks the longest life of a token.
func TestTokens_age(t *testing.T) {
	all := newTokens(filepath.Join(t.TempDir(), tokensName))
	for age, ok := range map[time.Duration]bool{-time.Second: false, 0: true, time.Second: true, maxTokenAge: true, maxTokenAge + time.Second: false} {
		tk, _, err := all.create(token{Role: "viewer"}, age)
		if ok != (err == nil) || !ok && session.FailureOf(err).Reason != api.InvalidParams {
			t.Errorf("a token of %v: %v, want that it is accepted: %v", age, err, ok)
		}
		if ok && (tk.Expires.IsZero() != (age == 0) || age > 0 && tk.Expires.Sub(tk.Created) != age) {
			t.Errorf("a token of %v lasts from %v to %v", age, tk.Created, tk.Expires)
		}
	}
}

// TestPageOf checks that the pages of several histories together have every element once, in order, and that a history without elements needs no
// page.
func TestPageOf(t *testing.T) {
	down := errors.New("the history is damaged")
	pages := func(all ...map[string]string) (got []string, err error) { // the pages of each history by their cursors
		cursor := ""
		for range 10 {
			var list []string
			list, cursor, err = pageOf(all, cursor, func(h map[string]string, cursor string) ([]string, string, error) {
				text := h[cursor]
				if text == "down" {
					return nil, "", down
				}
				text, next, _ := strings.Cut(text, ">")
				return strings.Fields(text), next, nil
			})
			if err != nil {
				return got, err
			}
			if got = append(got, strings.Join(list, " ")); cursor == "" {
				return got, nil
			}
		}
		return got, errors.New("the pages do not end")
	}
	none := map[string]string{}
	for name, tt := range map[string]struct {
		all  []map[string]string
		want string
		err  error
	}{
		"one page":            {[]map[string]string{{"": "a b"}}, "a b", nil},
		"two pages":           {[]map[string]string{{"": "a>1:x", "1:x": "b"}}, "a|b", nil},
		"two histories":       {[]map[string]string{{"": "a>x", "x": "b"}, {"": "c>x", "x": "d"}}, "a|b|c|d", nil},
		"empty ones":          {[]map[string]string{none, {"": "a"}, none}, "a|", nil},
		"an empty first page": {[]map[string]string{none, none, {"": "a>x", "x": "b"}}, "a|b", nil},
		"an empty last page":  {[]map[string]string{{"": "a>x"}, {"": "b", "x": "of another history"}}, "a|b", nil},
		"nothing":             {[]map[string]string{none, none}, "", nil},
		"a damaged one":       {[]map[string]string{{"": "a"}, {"": "down"}}, "a", down},
	} {
		got, err := pages(tt.all...)
		if strings.Join(got, "|") != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: the pages are %q, %v, want %q, %v", name, strings.Join(got, "|"), err, tt.want, tt.err)
		}
	}
	for _, cursor := range []string{"x", "2:", "-1:", ":", "1"} {
		if _, _, err := pageOf(slices.Repeat([]int{0}, 2), cursor, func(int, string) ([]int, string, error) { return nil, "", nil }); session.FailureOf(err).Reason != api.InvalidParams {
			t.Errorf("the cursor %q: %v, want invalid_params", cursor, err)
		}
	}
}
