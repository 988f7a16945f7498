package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/natstest"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

const (
	// clusterTTL is the duration of leases in these tests.
	clusterTTL = 2 * time.Second
	// takeoverLimit is the time within which a session must have another owner after its lease has
	// expired.
	takeoverLimit = 10 * time.Second
)

// clusterWorld is a killWorld with several servers on NATS. Each has a host.
type clusterWorld struct {
	*killWorld
	servers []*clusterServer
	store   *eventlog.Store // of the test

	mu   sync.Mutex
	next int // index of the server for the next connection
}

// clusterServer is a server with its own data directory.
type clusterServer struct {
	*hostWorld
	node    string
	address string
	up      bool // it accepts connections
}

// newClusterWorld starts servers with a scripted CLI.
func newClusterWorld(t *testing.T, servers, natsServers int, seed uint64) *clusterWorld {
	t.Helper()
	var urls string
	if natsServers == 1 {
		urls = natstest.URL(natstest.Server(t, &natsserver.Options{SyncAlways: true}))
	} else {
		urls = natstest.URL(natstest.Cluster(t, natsServers)...)
	}
	store, err := eventlog.Open(t.Context(), &eventlog.Options{URL: urls, LeaseTTL: clusterTTL, Replicas: natsServers, Quota: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	env, err := claudetest.HermeticEnv(dir, "http://127.0.0.1:9")
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	if err := claudetest.IsolateProject(project); err != nil {
		t.Fatal(err)
	}
	diary := t.TempDir()
	cli, secret := writeKeptCLI(t, dir, diary), filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("k", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &clusterWorld{store: store}
	for range servers {
		h := &hostWorld{t: t}
		h.start(project, append(env, "GORACE=atexit_sleep_ms=0"), "--cli", cli, "--agent", "claude", "--max-agents", "100",
			"--nats", urls, "--nats-replicas", fmt.Sprint(natsServers), "--secret-key-file", secret)
		s := &clusterServer{hostWorld: h}
		s.started()
		w.servers = append(w.servers, s)
	}
	w.killWorld = wrapWorld(w.servers[0].hostWorld, seed)
	w.diary, w.killWorld.dial, w.killWorld.again = diary, w.dial, passing
	for range servers { // each server learns of the token separately
		eventually(t, "the token on every server", func() bool {
			return client.Reason(w.newClient().Call(t.Context(), "session.list", api.ListParams{}, nil)) != api.AuthFailed
		})
	}
	return w
}

// writeKeptCLI writes the scripted CLI with a diary.
func writeKeptCLI(t *testing.T, dir, diary string, variables ...string) (path string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "claude")
	script := fmt.Sprintf("#!/bin/sh\nexport CLAUDETEST_PROGRAM=%s %s=%s GORACE=atexit_sleep_ms=0 %s\nexec %s \"$@\"\n", keptProgram, diaryVariable, diary, strings.Join(variables, " "), self)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// passing reports whether a failure is temporary, until the session has its next owner.
func passing(err error) bool {
	return slices.Contains([]string{"not_owner", "too_slow", "not_connected", "draining"}, string(client.Reason(err)))
}

// started records the address and the name of a server that has started.
func (s *clusterServer) started() {
	s.t.Helper()
	u, err := url.Parse(s.client.URL())
	if err != nil {
		s.t.Fatal(err)
	}
	node, err := os.ReadFile(filepath.Join(s.data, "server", "node"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.address, s.node, s.up = u.Host, strings.TrimSpace(string(node)), true
}

// dial connects to the servers in turn.
func (w *clusterWorld) dial(ctx context.Context, network string) (net.Conn, error) {
	w.mu.Lock()
	var up []string
	for _, s := range w.servers {
		if s.up {
			up = append(up, s.address)
		}
	}
	w.next++
	address := up[w.next%len(up)]
	w.mu.Unlock()
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// setUp sets whether a server gets connections.
func (w *clusterWorld) setUp(s *clusterServer, up bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.up = up
}

// restart starts a server again.
func (w *clusterWorld) restart(s *clusterServer) {
	s.serve()
	w.mu.Lock()
	defer w.mu.Unlock()
	s.started()
}

// owned returns the ids of the sessions that a server owns.
func (w *clusterWorld) owned(s *clusterServer) (ids []string) {
	w.t.Helper()
	owners, err := w.store.Leases(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for id, node := range owners {
		if node == s.node && strings.HasPrefix(id, "s-") {
			ids = append(ids, id)
		}
	}
	return ids
}

// taken waits until other servers own the sessions of a failed one, and checks the time that this
// takes.
func (w *clusterWorld) taken(s *clusterServer, ids []string, struck time.Time) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		owners, err := w.store.Leases(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		waiting := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return owners[id] != "" && owners[id] != s.node })
		if len(waiting) == 0 {
			w.t.Logf("%d sessions were taken over after %v", len(ids), time.Since(struck).Round(10*time.Millisecond))
			return
		}
		if time.Since(struck) > clusterTTL+takeoverLimit {
			w.t.Errorf("%d of %d sessions have no other owner %v after the end of their leases: %v", len(waiting), len(ids), takeoverLimit, waiting)
			return
		}
		<-tick.C
	}
}

// clusterFaults are the faults that a test can cause at the server that owns sessions.
var clusterFaults = map[string]func(w *clusterWorld, s *clusterServer){
	"killed": func(w *clusterWorld, s *clusterServer) {
		w.setUp(s, false)
		ids, struck := w.owned(s), time.Now()
		s.end(syscall.SIGKILL)
		w.taken(s, ids, struck)
		w.restart(s)
	},
	"paused": func(w *clusterWorld, s *clusterServer) {
		w.setUp(s, false)
		ids, struck := w.owned(s), time.Now()
		w.signal(s, syscall.SIGSTOP)
		w.taken(s, ids, struck)
		w.signal(s, syscall.SIGCONT)
		w.setUp(s, true)
	},
	"restarted": func(w *clusterWorld, s *clusterServer) {
		w.setUp(s, false)
		s.end(syscall.SIGTERM)
		w.restart(s)
	},
}

func (w *clusterWorld) signal(s *clusterServer, sig syscall.Signal) {
	w.t.Helper()
	if err := s.server.Process.Signal(sig); err != nil {
		w.t.Fatal(err)
	}
}

// strikeWith returns a function for runKilled that causes a fault of the server with the most
// sessions, each kind in turn.
func (w *clusterWorld) strikeWith(names ...string) func(point int, done <-chan struct{}) bool {
	n := 0
	return func(point int, done <-chan struct{}) bool {
		if !w.awaitMore(point, done) {
			return false
		}
		target := slices.MaxFunc(w.servers, func(a, b *clusterServer) int { return len(w.owned(a)) - len(w.owned(b)) })
		w.t.Logf("server %s with %d sessions is %s", target.node, len(w.owned(target)), names[n%len(names)])
		clusterFaults[names[n%len(names)]](w, target)
		n++
		return true
	}
}

// hosted returns the agents of sessions in all hosts.
func (w *clusterWorld) hosted() map[string]host.Agent {
	w.t.Helper()
	all := map[string]host.Agent{}
	for _, s := range w.servers {
		for n := range 4 {
			at := *s.hostWorld
			if n > 0 {
				at.data = filepath.Join(s.data, "hosts", fmt.Sprint(n))
			}
			for _, a := range at.agents() {
				if other, ok := all[a.Key]; ok && other.Exit == nil && a.Exit == nil {
					w.t.Errorf("session %s has two agents, processes %d and %d", a.Key, other.PID, a.PID)
				}
				all[a.Key] = a
			}
		}
	}
	return all
}

// TestServe_takeover runs nine sessions on three servers with a host each. In turn it restarts,
// kills, or pauses, until its leases have expired, the server with the most sessions. Every turn
// continues like one without a fault, on the agent that began it.
func TestServe_takeover(t *testing.T) {
	short.Skip(t, "servers")
	sessions, turns, points := 9, short.Count(1, 8, 40), short.Count(1, 3, 60)
	w := newClusterWorld(t, 3, short.Count(1, 1, 3), testSeed(t))
	calm, err := w.connect(t.Context())
	if err == nil {
		err = calm.run(t.Context(), 1, turns)
	}
	if err != nil {
		t.Fatal(err)
	}
	gap := sessions * calm.messages() * 2 / 10 / points
	faults := w.runKilled(sessions, turns, points, gap, w.strikeWith("restarted", "killed", "paused"))
	t.Logf("%d faults in %d sessions with %d messages each", faults, sessions, calm.messages())
	if faults < points*8/10 {
		t.Errorf("there were %d faults, want about %d", faults, points)
	}
	w.checkCluster(calm, turns)
}

// checkCluster compares the sessions with one without a fault, ends the servers, and checks the logs.
func (w *clusterWorld) checkCluster(calm *keptSession, turns int) {
	w.t.Helper()
	agents := w.hosted()
	w.checkSessions(calm, agents, turns)
	for _, s := range w.servers {
		s.end(syscall.SIGINT)
	}
	w.checkLines(w.store, agents)
	for _, s := range append([]*keptSession{calm}, w.sessions...) {
		for _, problem := range checkClusterLog(readClusterLog(w.t, w.store, s.id)) {
			w.t.Errorf("the log of %s: %s", s.id, problem)
		}
	}
}
