package claude

import (
	"path/filepath"
	"sync"
)

// attachments are the clients of this process to which others can attach.
var attachments struct {
	mu   sync.Mutex
	live map[*Client]*attachment
}

// attachment counts the clients of one session.
type attachment struct {
	first *Client
	n     int
}

// admit allows other clients to attach to a connected one.
func (c *Client) admit() {
	if c.s.guard == nil || !c.s.guard.on {
		return
	}
	attachments.mu.Lock()
	defer attachments.mu.Unlock()
	if attachments.live == nil {
		attachments.live = map[*Client]*attachment{}
	}
	c.shared = &attachment{first: c, n: 1}
	attachments.live[c] = c.shared
}

// attach returns a further client of the session that the options resume, or nil if no client
// of this process writes it.
func attach(opts *Options) *Client {
	if opts == nil || opts.SessionLock != LockAttach || opts.Resume == "" || opts.ForkSession {
		return nil
	}
	dir := lockDir(unchecked(opts))
	attachments.mu.Lock()
	defer attachments.mu.Unlock()
	for c, a := range attachments.live {
		if c.s.guard.locked() == opts.Resume && filepath.Clean(c.s.guard.dir()) == filepath.Clean(dir) {
			a.n++
			return &Client{s: c.s, r: c.r, sending: c.sending, shared: a}
		}
	}
	return nil
}

// closedAlone reports whether the client was closed while other clients still use its session.
func (c *Client) closedAlone() bool {
	if c.shared == nil {
		return false
	}
	attachments.mu.Lock()
	defer attachments.mu.Unlock()
	return c.left && c.shared.n > 0
}

// leave reports whether the session should be closed, because no other client is attached.
func (c *Client) leave() bool {
	a := c.shared
	if a == nil {
		return true
	}
	attachments.mu.Lock()
	defer attachments.mu.Unlock()
	if !c.left {
		c.left = true
		a.n--
	}
	if a.n == 0 {
		delete(attachments.live, a.first)
	}
	return a.n == 0
}
