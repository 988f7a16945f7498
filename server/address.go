package server

import (
	"net/netip"
	"sync"
	"time"
)

// The limits of one address. Many programs and local proxies share a loopback address, so that only
// the limit of the whole server applies to its connections.
const (
	maxAddressConns    = 64
	maxBadTokens       = 10  // per minute
	maxBadTokensLocal  = 100 // from loopback
	maxAddressesTries  = 10_000
	maxBadTokensWindow = time.Minute
)

// addressKey returns the key under which limits count an address: a host has a whole network of IPv6
// addresses.
func addressKey(addr string) (key string, local bool) {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return addr, false
	}
	a = a.Unmap().WithZone("")
	if a.Is6() && !a.IsLoopback() {
		if p, err := a.Prefix(64); err == nil {
			return p.String(), false
		}
	}
	return a.String(), a.IsLoopback()
}

// places counts the open connections of each address.
type places struct {
	max int

	mu   sync.Mutex
	open map[string]int
}

// enter reserves a place for an address. It returns false if all are occupied.
func (p *places) enter(addr string) (leave func(), ok bool) {
	key, local := addressKey(addr)
	if local {
		return func() {}, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[key] >= p.max {
		return nil, false
	}
	if p.open == nil {
		p.open = map[string]int{}
	}
	p.open[key]++
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open[key]--; p.open[key] == 0 {
			delete(p.open, key)
		}
	}), true
}

// tries counts the wrong tokens of each address per minute.
type tries struct {
	now func() time.Time

	mu    sync.Mutex
	since time.Time
	count map[string]int
}

// bad counts a wrong token. first reports whether it is the first of the address in this minute, and
// more whether the address may try again. If too many addresses try, new ones may not.
func (t *tries) bad(addr string) (first, more bool) {
	key, local := addressKey(addr)
	t.mu.Lock()
	defer t.mu.Unlock()
	if now := t.now(); t.count == nil || now.Sub(t.since) >= maxBadTokensWindow || now.Before(t.since) {
		t.since, t.count = now, map[string]int{}
	}
	if t.count[key] == 0 && len(t.count) >= maxAddressesTries {
		return false, false
	}
	t.count[key]++
	max := maxBadTokens
	if local {
		max = maxBadTokensLocal
	}
	return t.count[key] == 1, t.count[key] <= max
}
