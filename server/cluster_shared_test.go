package server

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

// TestCluster_webhooks sets a webhook on one server: the events of the sessions of all servers are
// delivered once each, also after the server that made the calls has ended. A removed webhook gets
// no events.
func TestCluster_webhooks(t *testing.T) {
	h := newCluster(t, 2, eventlog.DefaultLeaseTTL)
	one, two := h.all[0], h.all[1]
	r := newReceiver(t, newFakeClock())
	r.secret = "a secret of the receiver"
	var made api.WebhooksSetResult
	one.call("webhooks.set", api.WebhooksSetParams{Webhook: api.Webhook{URL: r.URL, Enabled: true, Events: []string{"turn_done"}}, Secret: r.secret}, &made)
	id := made.Webhook.ID
	listed := func(n *harness) (w api.Webhook, ok bool) {
		var list api.WebhooksListResult
		n.call("webhooks.list", api.Empty{}, &list)
		for _, w := range list.Webhooks {
			if w.ID == id {
				return w, true
			}
		}
		return w, false
	}
	h.eventually("the webhook on the other server", func() bool { _, ok := listed(two); return ok })
	delivered := func() map[string]int {
		r.mu.Lock()
		defer r.mu.Unlock()
		times := map[string]int{}
		for _, ev := range r.events {
			times[ev.ID]++
		}
		return times
	}
	var sessions []string
	for _, n := range h.all {
		id := n.connect()
		n.query(id, "say one")
		n.watch(id).results(1)
		sessions = append(sessions, id)
	}
	h.eventually("an event of each server", func() bool { return len(delivered()) == 2 })
	h.eventually("the position on the other server", func() bool { w, ok := listed(two); return ok && w.Pending == 0 })
	if err := one.stop(); err != nil {
		t.Fatal(err)
	}
	for i, id := range sessions {
		two.query(id, "say two")
		two.watch(id).results(2)
		h.eventually("the events after the end of a server", func() bool { return len(delivered()) == 3+i })
	}
	for event, n := range delivered() {
		if n != 1 {
			t.Errorf("the event %s was delivered %d times", event, n)
		}
	}
	two.call("webhooks.remove", api.WebhookRef{ID: id}, nil)
	two.query(sessions[0], "say three")
	two.watch(sessions[0]).results(3)
	if n := len(delivered()); n != 4 {
		t.Errorf("after the removal %d events were delivered, want 4", n)
	}
}

// TestCluster_budget starts turns on three servers at the same time: together they reserve at most
// the rest of the shared limit plus one turn.
func TestCluster_budget(t *testing.T) {
	h := newCluster(t, 3, eventlog.DefaultLeaseTTL)
	h.all[0].setBudget(api.Budget{Scope: budget.ScopeServer, LimitTokens: new(int64(35))})
	cost := budget.Amount{Tokens: 10}
	var begun atomic.Int64
	var turns sync.Mutex
	running := map[string]*harness{}
	var work sync.WaitGroup
	for i := range 12 {
		n, id := h.all[i%3], "s-"+string(rune('a'+i))
		work.Go(func() {
			switch v := n.server.accounts.Reserve(budget.Account{Session: id}, cost); v {
			case budget.Begin:
				begun.Add(1)
				turns.Lock()
				running[id] = n
				turns.Unlock()
			case budget.Refuse:
				t.Errorf("the turn of %s was refused", id)
			}
		})
	}
	work.Wait()
	if begun.Load() != 4 { // three are below the limit, the fourth exceeds it
		t.Errorf("%d turns with %d tokens each have begun below a limit of 35", begun.Load(), cost.Tokens)
	}
	for id, n := range running {
		if err := n.server.accounts.Add(t.Context(), budget.Row{Account: budget.Account{Session: id}, Amount: budget.Amount{Tokens: 9}}); err != nil {
			t.Fatal(err)
		}
		n.server.accounts.Release(id)
	}
	for i, n := range h.all {
		h.eventually("the end of the turns on all servers", func() bool {
			return n.server.accounts.Reserve(budget.Account{Session: "s-next"}, cost) == budget.Refuse // 36 are used
		})
		n.server.accounts.Release("s-next")
		if t.Failed() {
			t.Fatalf("on server %d", i)
		}
	}
}

// TestCluster_pairing checks that a pairing code works once, on any server.
func TestCluster_pairing(t *testing.T) {
	h := newCluster(t, 2, eventlog.DefaultLeaseTTL)
	one, two := h.all[0], h.all[1]
	var made, replaced api.PairingCreateResult
	one.call("pairing.create", api.PairingCreateParams{Role: "viewer", Name: "phone"}, &replaced)
	one.call("pairing.create", api.PairingCreateParams{Role: "viewer", Name: "phone"}, &made)
	if status, _ := two.pair(replaced.Code, two.url); status != http.StatusUnauthorized {
		t.Errorf("a code that was replaced: status %d", status)
	}
	var granted atomic.Int64
	var tries sync.WaitGroup
	for i := range 6 {
		n := h.all[i%2]
		tries.Go(func() {
			if _, ok := n.server.pairings.take(made.Code); ok {
				granted.Add(1)
			}
		})
	}
	tries.Wait()
	if granted.Load() != 1 {
		t.Errorf("a code was taken %d times", granted.Load())
	}
	one.call("pairing.create", api.PairingCreateParams{Role: "viewer", Name: "phone"}, &made)
	status, cookies := two.pair(made.Code, two.url)
	if status != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("the code on the other server: status %d", status)
	}
	if status := two.with(cookies[0], "session.list"); status != http.StatusOK {
		t.Errorf("the device: status %d", status)
	}
	h.eventually("the device on the first server", func() bool {
		var list api.TokensListResult
		one.call("tokens.list", api.Empty{}, &list)
		return slices.ContainsFunc(list.Tokens, func(tk api.TokenInfo) bool { return tk.ID == made.ID && tk.Device })
	})
}
