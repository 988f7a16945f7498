package keyproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/usersocket"
)

// callTime is the time limit of a call to the process of a proxy, startTime that of its start.
const (
	callTime  = 10 * time.Second
	startTime = 30 * time.Second
)

// RemoteOptions configures a [Remote].
type RemoteOptions struct {
	// Path is the file that names the socket of the process.
	Path string
	// Key, Upstream and Allow have the meaning of the same fields of Options.
	Key, Upstream string
	Allow         []string
	// Start starts a program that calls [Enter] and outlives this process, with these arguments and
	// this environment. It returns when the program has printed its first line.
	Start func(ctx context.Context, args, env []string) error
	// Env is the environment of the process. The variables for proxies and certificates have their
	// usual effect.
	Env []string
}

// Remote is a proxy in a process that outlives this one, with its address and its tokens. The next Remote with the same path finds it. Its
// methods may be called from any goroutine.
type Remote struct {
	opts RemoteOptions

	mu        sync.Mutex
	line      *line // nil if not connected
	url, door string
	inherited map[string][]string // tokens of an earlier Remote, by session, whose agents were not taken over
}

// OpenRemote connects to the process if a compatible one runs. Otherwise the first grant starts one, and agents that use the old process
// keep it.
func OpenRemote(ctx context.Context, opts RemoteOptions) (*Remote, error) {
	if _, err := (Options{Key: opts.Key, Upstream: opts.Upstream, Allow: opts.Allow}).target(); err != nil {
		return nil, fmt.Errorf("keyproxy: %w", err)
	}
	r := &Remote{opts: opts, inherited: map[string][]string{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	grants, _ := r.dial(ctx) // if it fails, the first grant starts another process
	for _, g := range grants {
		r.inherited[g.Session] = append(r.inherited[g.Session], g.ID)
	}
	return r, nil
}

// dial connects, sends the key and returns the valid tokens. The caller holds mu.
func (r *Remote) dial(ctx context.Context) ([]granted, error) {
	conn, err := usersocket.Dial(ctx, r.opts.Path)
	if err != nil {
		return nil, err
	}
	l := newLine(conn)
	m, err := l.call(message{Open: true, Key: r.opts.Key, Upstream: r.opts.Upstream, Allow: r.opts.Allow})
	if err == nil && m.Version != version {
		err = fmt.Errorf("keyproxy: version %d of the process is not %d", m.Version, version)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	r.line, r.url, r.door = l, m.URL, m.Door
	return m.Grants, nil
}

// connect connects to the process, and starts another if that is impossible. The caller holds mu.
func (r *Remote) connect(ctx context.Context) error {
	if r.line != nil {
		return nil
	}
	if _, err := r.dial(ctx); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := r.opts.Start(ctx, []string{processArgument, r.opts.Path}, r.opts.Env); err != nil {
		return fmt.Errorf("keyproxy: %w", err)
	}
	_, err := r.dial(ctx)
	return err
}

// call sends a request and returns the response. It reconnects once, because the process may have
// died.
func (r *Remote) call(m message) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for range 2 {
		if err = r.connect(context.Background()); err != nil {
			return err
		}
		if _, err = r.line.call(m); err == nil {
			return nil
		}
		if _, refused := errors.AsType[refusal](err); refused {
			return err
		}
		_ = r.line.conn.Close()
		r.line = nil
	}
	return err
}

// refusal is the error text of a request that the process refused.
type refusal string

func (r refusal) Error() string { return "keyproxy: " + string(r) }

// call sends a message and returns the response.
func (l *line) call(m message) (message, error) {
	if err := l.conn.SetDeadline(time.Now().Add(callTime)); err != nil {
		return message{}, err
	}
	if err := l.write(m); err != nil {
		return message{}, err
	}
	answer, err := l.read()
	if err == nil && answer.Error != "" {
		err = refusal(answer.Error)
	}
	return answer, err
}

// URL returns the address that agents use instead of the API's. It is empty before the first grant.
func (r *Remote) URL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.url
}

// Door returns the path of a Unix socket that leads to the proxy, for boxes without a
// network.
func (r *Remote) Door() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.connect(context.Background())
	return r.door, err
}

// Grant creates a token for a session. It is valid until revoke is called, even after the end of this process. revoke also ends the
// session's earlier tokens.
func (r *Remote) Grant(session string) (token string, revoke func(), err error) {
	token, id := newToken()
	if err := r.call(message{Grant: &granted{id.String(), session}}); err != nil {
		return "", nil, err
	}
	ids := append(r.take(session), id.String())
	return token, func() { r.revoke(ids) }, nil
}

// take returns the inherited tokens of a session, once.
func (r *Remote) take(session string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := r.inherited[session]
	delete(r.inherited, session)
	return ids
}

// revoke revokes tokens. If the process has died, they are invalid already.
func (r *Remote) revoke(ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.line == nil {
		if _, err := r.dial(context.Background()); err != nil {
			return
		}
	}
	if _, err := r.line.call(message{Revoke: ids}); err != nil {
		_ = r.line.conn.Close()
		r.line = nil
	}
}

// Settle ends the earlier tokens of all sessions whose agents were not taken over.
func (r *Remote) Settle() {
	r.mu.Lock()
	var ids []string
	for _, left := range r.inherited {
		ids = append(ids, left...)
	}
	clear(r.inherited)
	r.mu.Unlock()
	if len(ids) > 0 {
		r.revoke(ids)
	}
}

// Close disconnects; the process keeps running.
func (r *Remote) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.line == nil {
		return nil
	}
	err := r.line.conn.Close()
	r.line = nil
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
