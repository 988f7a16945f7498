package server

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/webhook"
)

// openTestStore opens a separate store.
func openTestStore(t *testing.T) *eventlog.Store {
	t.Helper()
	store, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: filepath.Join(t.TempDir(), "log"), UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		defer cancel()
		if err := store.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return store
}

// kept returns the number of events in a log.
func kept(t *testing.T, store *eventlog.Store, name string) uint64 {
	t.Helper()
	first, err := store.Log(name).First(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last, err := store.Log(name).Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return last.Seq - first + 1
}

// TestOutbox_trim checks that the outbox does not grow without limit, that the events are known
// after a restart, and that another server that wrote less continues after the trimming.
func TestOutbox_trim(t *testing.T) {
	store := openTestStore(t)
	st := session.StoreOf(store)
	open := func() *outbox {
		o, err := openOutbox(t.Context(), st.Log(outboxLogName))
		if err != nil {
			t.Fatal(err)
		}
		o.max, o.step = 50, 10
		return o
	}
	other, o := open(), open()
	event := func(session string, seq uint64) []webhook.Event {
		return []webhook.Event{{ID: fmt.Sprintf("%s-%d", session, seq), SessionID: session, Seq: seq}}
	}
	for i := range uint64(300) {
		if err := o.add(t.Context(), event(fmt.Sprintf("s-%d", i%7), i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if n := kept(t, store, outboxLogName); n < 50 || n > 65 {
		t.Errorf("%d of 300 events are kept, want 50 to 65", n)
	}
	again := open()
	if last, _ := again.last(); last != 300 {
		t.Errorf("a new start knows %d events", last)
	}
	if err := other.add(t.Context(), event("s-0", 301)); err != nil {
		t.Fatal(err)
	}
	if last, _ := other.last(); last != 301 || other.marks["s-3"] == 0 {
		t.Errorf("the other server knows %d events, with the marks %v", last, other.marks)
	}
	if err := again.add(t.Context(), event("s-3", 12)); err != nil { // trimmed long ago
		t.Fatal(err)
	}
	if at, err := st.Log(outboxLogName).Last(t.Context()); err != nil || at.Seq != 301 {
		t.Errorf("an event that was trimmed is added again: %+v, %v", at, err)
	}
	again.forget("s-3")
	if _, ok := again.marks["s-3"]; ok {
		t.Error("the mark of a session that is gone is kept")
	}
}

// TestWebhook_trimmed checks that a webhook that is too far behind continues with the remaining events.
func TestWebhook_trimmed(t *testing.T) {
	clock := newFakeClock()
	r := newReceiver(t, clock)
	h := webhookHarness(t, clock)
	r.secret = "a secret of sixteen"
	var set api.WebhooksSetResult
	hook := api.WebhooksSetParams{Webhook: api.Webhook{URL: r.URL, Enabled: false}, Secret: r.secret}
	h.call("webhooks.set", hook, &set)
	box := h.server.webhooks.outbox
	box.mu.Lock()
	box.max, box.step = 5, 5
	box.mu.Unlock()
	for i := range uint64(40) {
		if err := box.add(h.ctx(), []webhook.Event{{ID: fmt.Sprint(i + 1), Type: webhook.TurnDone, SessionID: "s", Seq: i + 1}}); err != nil {
			t.Fatal(err)
		}
	}
	hook.Webhook.ID, hook.Webhook.Enabled = set.Webhook.ID, true
	h.call("webhooks.set", hook, nil)
	r.got(t, 5)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, e := range r.events[len(r.events)-5:] {
		if e.Seq != uint64(36+i) {
			t.Errorf("event %d is %+v", i, e)
		}
	}
}

// TestLedger_trim checks that the rows of the ledger are trimmed when the book includes them, that
// no amount is lost, and that another server that missed the trimming catches up.
func TestLedger_trim(t *testing.T) {
	short.SkipQuick(t, "writes many rows")
	store := openTestStore(t)
	st := session.StoreOf(store)
	limits := []budget.Limit{{Scope: budget.ScopeServer, Tokens: new(int64(1 << 40)), Action: budget.ActionNotify}}
	open := func() *accounts {
		l, err := openAccounts(t.Context(), st.Log(ledgerLogName), Options{now: time.Now, Budgets: limits})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	other, l := open(), open()
	const rows = 3 * ledgerSnapshot
	row := func() budget.Row {
		return budget.Row{Time: time.Now(), Account: budget.Account{Session: "s-1"}, Amount: budget.Amount{Tokens: 2}}
	}
	for range rows {
		if err := l.Add(t.Context(), row()); err != nil {
			t.Fatal(err)
		}
	}
	if n := kept(t, store, ledgerLogName); n > ledgerSnapshot {
		t.Errorf("%d of %d rows are kept", n, rows)
	}
	if got := open().Spent("s-1"); got.Tokens != 2*rows {
		t.Errorf("after a new start the session has used %+v", got)
	}
	if err := other.Add(t.Context(), row()); err != nil {
		t.Fatal(err)
	}
	if got := other.Spent("s-1"); got.Tokens != 2*rows+2 {
		t.Errorf("the other server knows of %+v", got)
	}
	if all := other.all(); len(all) != 1 {
		t.Errorf("its limits are %+v", all)
	}
	if got := open().Spent("s-1"); got.Tokens != 2*rows+2 {
		t.Errorf("in the end the session has used %+v", got)
	}
}
