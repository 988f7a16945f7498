package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
	"github.com/seed7221b0f9/parley/server/cluster"
	"github.com/seed7221b0f9/parley/server/session"
)

// clusterKey is the secret of the clusters of tests.
var clusterKey = bytes.Repeat([]byte("k"), cluster.MinKey)

// clusterHarness runs several servers on one NATS cluster. Their agents share one directory.
type clusterHarness struct {
	*testing.T
	dir  string
	urls string
	ttl  time.Duration
	all  []*harness
	// machine returns the name of the machine of a server, which has a host there; nil means that no server has a host.
	machine func(n int) string
}

// newCluster starts servers on a NATS server.
func newCluster(t *testing.T, servers int, ttl time.Duration) *clusterHarness {
	t.Helper()
	short.SkipQuick(t, "starts several servers")
	srv := natstest.Server(t, &natsserver.Options{SyncAlways: true})
	h := &clusterHarness{T: t, dir: t.TempDir(), urls: natstest.URL(srv), ttl: ttl}
	for _, sub := range []string{"agent", "work"} {
		if err := os.Mkdir(filepath.Join(h.dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range servers {
		h.add(h.urls)
	}
	return h
}

// add starts one more server, which connects to NATS at addr.
func (h *clusterHarness) add(url string) *harness {
	h.Helper()
	n := &harness{T: h.T, dir: h.TempDir(), provider: &agenttest.Provider{Dir: filepath.Join(h.dir, "agent")}, logs: &syncBuffer{}}
	n.opts = Options{Dir: filepath.Join(n.dir, "server"), TurnReserve: budget.Amount{USD: 0.01, Tokens: 1}, Directories: []string{filepath.Join(h.dir, "work")}, Version: "test", WebhookNetworks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Logger: slog.New(slog.NewTextHandler(n.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	h.startNode(n, url)
	h.all = append(h.all, n)
	h.Cleanup(func() {
		if err := n.stop(); err != nil {
			h.Errorf("stopping a server: %v", err)
		}
		if h.Failed() && testing.Verbose() {
			h.Log(n.logs.String())
		}
	})
	return n
}

func (h *clusterHarness) startNode(n *harness, url string) {
	h.Helper()
	store, err := eventlog.Open(context.Background(), &eventlog.Options{URL: url, LeaseTTL: h.ttl, Timeout: 5 * time.Second, Logger: n.opts.Logger})
	if err != nil {
		h.Fatal(err)
	}
	if err := os.MkdirAll(n.opts.Dir, 0o700); err != nil {
		h.Fatal(err)
	}
	id, err := cluster.NodeID(n.opts.Dir)
	if err != nil {
		h.Fatal(err)
	}
	c, err := cluster.Open(context.Background(), cluster.Options{Store: store, Node: id, Name: id, Key: clusterKey, Logger: n.opts.Logger})
	if err != nil {
		h.Fatal(err)
	}
	opts := n.opts
	opts.Store, opts.Cluster, opts.Providers = store, c, []agent.Provider{n.provider}
	leaveHost := func() error { return nil }
	if h.machine != nil {
		leases, err := HostLeases(context.Background(), c, h.machine(len(h.all)))
		if err == nil {
			opts.Host, err = session.OpenHost(context.Background(), filepath.Join(n.dir, "host"), session.HostOptions{Leases: leases}, opts.Logger)
		}
		if err != nil {
			h.Fatal(err)
		}
		leaveHost = opts.Host.Close
	}
	if n.server, err = New(context.Background(), opts); err != nil {
		h.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.Fatal(err)
	}
	n.store, n.url, n.token = store, "http://"+l.Addr().String(), n.server.Token()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- n.server.Serve(ctx, l) }()
	n.stop = sync.OnceValue(func() error {
		cancel()
		err := errors.Join(<-served, leaveHost())
		http.DefaultClient.CloseIdleConnections()
		c.Close()
		bound, done := context.WithTimeout(context.Background(), wait)
		defer done()
		if e := store.Close(bound); e != nil && err == nil {
			err = e
		}
		return err
	})
}

// eventually calls ok until it reports true.
func (h *clusterHarness) eventually(what string, ok func() bool) {
	h.Helper()
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			h.Fatalf("it never came: %s", what)
		}
	}
}

// listed returns a session in the list of a server.
func (h *harness) listed(id string) (api.SessionSummary, bool) {
	h.Helper()
	var r api.ListResult
	h.call("session.list", api.ListParams{}, &r)
	for _, s := range r.Sessions {
		if s.SessionID == id {
			return s, true
		}
	}
	return api.SessionSummary{}, false
}

// TestCluster_ownerLives starts a second server while a turn runs on the first: it takes no session, shows the turn, and forwards
// calls for the session.
func TestCluster_ownerLives(t *testing.T) {
	h := newCluster(t, 1, eventlog.DefaultLeaseTTL)
	one := h.all[0]
	id := one.connect()
	one.query(id, "wait")
	one.watch(id).awaitAnswer("I wait.")
	two := h.add(h.urls)
	h.eventually("the running session in the list of the other server", func() bool {
		s, ok := two.listed(id)
		return ok && s.State == string(session.Running)
	})
	w := two.watch(id)
	w.awaitAnswer("I wait.")
	w.state(session.Running)
	two.call("session.interrupt", api.SessionRef{SessionID: id}, nil)
	w.results(1)
	two.query(id, "say hello from the other server")
	w.awaitAnswer("hello from the other server")
	w.results(2)
	if one.provider.Opened() != 1 || two.provider.Opened() != 0 {
		t.Errorf("%d and %d agents were started, want 1 and 0", one.provider.Opened(), two.provider.Opened())
	}
}

// TestCluster_stopped drains the server of a session: another server continues it at once, also for
// viewers.
func TestCluster_stopped(t *testing.T) {
	h := newCluster(t, 2, eventlog.DefaultLeaseTTL)
	one, two := h.all[0], h.all[1]
	id := one.connect()
	w := two.watch(id)
	one.query(id, "say first")
	w.results(1)
	if err := one.stop(); err != nil {
		t.Fatal(err)
	}
	two.query(id, "say second")
	w.awaitAnswer("second")
	w.results(2)
	if two.provider.Opened() != 1 {
		t.Errorf("%d agents were started on the second server, want 1", two.provider.Opened())
	}
}

// TestCluster_isolated disconnects the owner of a running session from NATS until its lease has
// expired: another server takes over the session, and the first can no longer write when it is
// connected again.
func TestCluster_isolated(t *testing.T) {
	h := newCluster(t, 1, 3*time.Second)
	line := newGate(t, strings.TrimPrefix(h.urls, "nats://"))
	isolated := h.add("nats://" + line.address())
	other := h.all[0]
	id := isolated.connect()
	w := other.watch(id)
	isolated.query(id, "wait")
	w.awaitAnswer("I wait.")
	line.cut()
	w.state(session.Interrupted)
	other.query(id, "say taken over")
	w.awaitAnswer("taken over")
	line.heal()
	h.eventually("the first server forwards", func() bool {
		err := isolated.client(isolated.token).Call(isolated.ctx(), "session.query", api.QueryParams{SessionID: id, Text: "say by way of the first"}, nil)
		return err == nil
	})
	w.awaitAnswer("by way of the first")
	if n := isolated.provider.Running(); n != 0 {
		t.Errorf("%d agents of the first server run", n)
	}
	checkOwners(t, other.store, id)
}

// checkOwners reads the log of a session: the records are numbered without gaps, and after a server
// with a higher epoch owns the session, no earlier owner writes.
func checkOwners(t *testing.T, store *eventlog.Store, id string) {
	t.Helper()
	var seq, epoch uint64
	for ev, err := range store.Log(id).Read(t.Context(), eventlog.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Sub != 0 {
			continue
		}
		if seq++; ev.Seq != seq {
			t.Errorf("event %d came as number %d", ev.Seq, seq)
		}
		if o := ownerOf(t, ev.Data); o > 0 {
			if o <= epoch {
				t.Errorf("event %d has epoch %d after %d", ev.Seq, o, epoch)
			}
			epoch = o
		}
	}
	if epoch == 0 {
		t.Error("no record has an owner")
	}
}

// ownerOf returns the epoch of the owner whose writes begin with this record, or 0.
func ownerOf(t *testing.T, data []byte) uint64 {
	t.Helper()
	var rec struct {
		F struct {
			Owner struct {
				Epoch uint64 `json:"epoch"`
			} `json:"owner"`
		} `json:"f"`
	}
	if err := json.Unmarshal(data, &rec); err != nil {
		t.Fatal(err)
	}
	return rec.F.Owner.Epoch
}

// TestCluster_rights revokes a token: the other server no longer forwards or serves its calls, and
// the owner of a session checks the current rights.
func TestCluster_rights(t *testing.T) {
	h := newCluster(t, 2, eventlog.DefaultLeaseTTL)
	one, two := h.all[0], h.all[1]
	id := one.connect()
	var made api.TokensCreateResult
	one.call("tokens.create", api.TokensCreateParams{Name: "viewer", Role: "viewer"}, &made)
	viewer := two.client(made.Token)
	h.eventually("the token on the other server", func() bool {
		return viewer.Call(two.ctx(), "session.getHistory", api.SessionRef{SessionID: id}, nil) == nil
	})
	if err := viewer.Call(two.ctx(), "session.query", api.QueryParams{SessionID: id, Text: "say no"}, nil); client.Reason(err) != api.AuthFailed {
		t.Errorf("a viewer prompts: %v", err)
	}
	forwarded := func(method string) api.Reason { // the owner's decision
		request := fmt.Appendf(nil, `{"method":%q,"token":%q,"params":{"session_id":%q,"text":"say no"}}`, method, made.ID, id)
		if _, err := one.server.serveForwarded(t.Context(), request); err != nil {
			return session.FailureOf(err).Reason
		}
		return ""
	}
	if r := forwarded("session.query"); r != api.AuthFailed {
		t.Errorf("the owner lets a viewer prompt: %q", r)
	}
	if r := forwarded("session.getHistory"); r != "" {
		t.Errorf("the owner refuses a viewer: %s", r)
	}
	two.call("tokens.revoke", api.TokensRevokeParams{ID: made.ID}, nil)
	for i, n := range h.all {
		h.eventually("the end of the token", func() bool {
			err := n.client(made.Token).Call(n.ctx(), "session.getHistory", api.SessionRef{SessionID: id}, nil)
			return client.Reason(err) == api.AuthFailed
		})
		if t.Failed() {
			t.Errorf("on server %d", i)
		}
	}
	if r := forwarded("session.getHistory"); r != api.AuthFailed {
		t.Errorf("the owner serves a revoked token: %q", r)
	}
}

// TestCluster_token checks that the token of a server's owner becomes invalid on all servers when
// it is replaced and when the server ends, and that tokens can be checked while a change waits for
// NATS.
func TestCluster_token(t *testing.T) {
	h := newCluster(t, 1, eventlog.DefaultLeaseTTL)
	line := newGate(t, strings.TrimPrefix(h.urls, "nats://"))
	one, two := h.add("nats://"+line.address()), h.all[0]
	valid := func(token string) bool {
		return client.Reason(two.client(token).Call(two.ctx(), "session.list", api.ListParams{}, nil)) != api.AuthFailed
	}
	first := one.token
	h.eventually("the token on the other server", func() bool { return valid(first) })
	second := one.server.Token()
	h.eventually("the next token on the other server", func() bool { return valid(second) })
	h.eventually("the end of the first", func() bool { return !valid(first) })
	line.cut()
	tokens, made := one.server.tokens, make(chan struct{})
	go func() { defer close(made); _, _, _ = tokens.create(token{Role: "viewer"}, 0) }()
	h.eventually("a change", func() bool {
		free := tokens.changing.TryLock()
		if free {
			tokens.changing.Unlock()
		}
		return !free
	})
	if _, err := tokens.check(second, ""); err != nil {
		t.Error(err)
	}
	select {
	case <-made:
		t.Error("the check has waited for the change")
	default:
	}
	line.heal()
	<-made
	if err := one.stop(); err != nil {
		t.Fatal(err)
	}
	h.eventually("the end of the second", func() bool { return !valid(second) })
}

// gate is a connection to NATS that can be cut without notifying either side.
type gate struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	open  chan struct{} // closed while bytes pass
	conns []net.Conn
	wg    sync.WaitGroup
}

func newGate(t *testing.T, target string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: l, target: target, open: make(chan struct{})}
	close(g.open)
	g.wg.Go(g.accept)
	t.Cleanup(func() {
		l.Close()
		g.heal()
		g.mu.Lock()
		for _, c := range g.conns {
			c.Close()
		}
		g.mu.Unlock()
		g.wg.Wait()
	})
	return g
}

func (g *gate) address() string { return g.listener.Addr().String() }

func (g *gate) accept() {
	for {
		in, err := g.listener.Accept()
		if err != nil {
			return
		}
		g.passes()
		out, err := net.Dial("tcp", g.target)
		if err != nil {
			in.Close()
			continue
		}
		g.mu.Lock()
		g.conns = append(g.conns, in, out)
		g.mu.Unlock()
		g.wg.Go(func() { g.copy(out, in) })
		g.wg.Go(func() { g.copy(in, out) })
	}
}

// passes blocks while the connection is cut.
func (g *gate) passes() {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	<-open
}

func (g *gate) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		g.passes()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) heal() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.open:
	default:
		close(g.open)
	}
}
