package server

import (
	"context"
	"time"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// errToken is the rejection of an unknown or ended token.
var errToken = session.Fail(api.AuthFailed, "the token is missing, wrong or expired")

// holding is a socket or a stream that ends with its token.
type holding struct {
	id  string
	end context.CancelCauseFunc
}

// find returns a token that has not ended. A cookie ends with its token.
func (t *tokens) find(id string) (token, bool) {
	tk, ok := t.start, id != "" && t.start.ID == id
	if i, there := t.place[id]; there {
		tk, ok = t.all[i], true
	}
	if !ok || tk.expired(t.now()) {
		return token{}, false
	}
	if tk.Parent != "" && tk.Parent != t.start.ID {
		i, there := t.place[tk.Parent]
		if !there || t.all[i].expired(t.now()) {
			return token{}, false
		}
	}
	return tk, true
}

// current returns an error if the token of a caller has ended, or its access has changed.
func (t *tokens) current(p *principal) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	tk, ok := t.find(p.id)
	if !ok || tk.Role != p.role.String() || tk.Tenant != p.tenant || tk.Session != p.session {
		return errToken
	}
	return nil
}

// hold returns a context that ends, with errToken as its cause, when the token of a caller ends. The
// caller must release it.
func (t *tokens) hold(ctx context.Context, p *principal) (held context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := &holding{p.id, cancel}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.find(h.id); ok {
		t.held[h] = struct{}{}
	} else {
		cancel(errToken)
	}
	return ctx, func() {
		t.mu.Lock()
		delete(t.held, h)
		t.mu.Unlock()
		cancel(nil)
	}
}

// set replaces the tokens, ends connections without a valid token, and waits for the next expiry.
func (t *tokens) set(all []token) {
	t.all, t.place = all, make(map[string]int, len(all))
	for i, tk := range all {
		t.place[tk.ID] = i
	}
	for id := range t.used {
		if _, ok := t.find(id); !ok {
			delete(t.used, id)
		}
	}
	t.sweep()
	t.await()
}

// sweep ends the sockets and streams of ended tokens.
func (t *tokens) sweep() {
	for h := range t.held {
		if _, ok := t.find(h.id); !ok {
			h.end(errToken)
			delete(t.held, h)
		}
	}
}

// await sets the timer for the token that expires next.
func (t *tokens) await() {
	if t.expiry != nil {
		t.expiry.Stop()
		t.expiry = nil
	}
	var next time.Time
	for _, tk := range t.all {
		if e := tk.Expires; !e.IsZero() && e.After(t.now()) && (next.IsZero() || e.Before(next)) {
			next = e
		}
	}
	if next.IsZero() || !t.live {
		return
	}
	t.expiry = time.AfterFunc(next.Sub(t.now()), func() {
		t.mu.Lock()
		t.sweep()
		t.await()
		t.mu.Unlock()
		t.ended()
	})
}

// watch ends sockets and streams when their token expires, until stop is called.
func (t *tokens) watch(ended func()) (stop func()) {
	set := func(live bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.live = live
		t.await()
	}
	t.ended = ended
	set(true)
	return func() { set(false) }
}

// maxPrinted is the maximum number of printed tokens. Each start of a server after a crash adds
// one.
const maxPrinted = 8

// print creates the owner's token that is printed for a port. It is stored until endPrinted.
func (t *tokens) print(port string) (string, error) {
	tk, value, err := t.create(token{Name: session.OwnerName, Account: ownerAccount, Role: roleAdmin.String(), Port: port, Node: t.shared.self()}, 0)
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	printed := 0
	drop := map[string]bool{}
	for i := len(t.all) - 1; i >= 0; i-- { // newest first
		if old := t.all[i]; old.Port != "" && old.Parent == "" && old.Node == tk.Node {
			if printed++; printed > maxPrinted && old.ID != tk.ID {
				drop[old.ID] = true
			}
		}
	}
	t.mu.Unlock()
	if len(drop) > 0 {
		_, err = t.remove(func(old token) bool { return drop[old.ID] || drop[old.Parent] })
	}
	return value, err
}
