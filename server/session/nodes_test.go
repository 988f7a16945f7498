package session

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// nodes are the servers of a cluster in memory: with one store, one owner of each session, and lists that reach the others at once.
type nodes struct {
	memStore
	mu     sync.Mutex
	all    map[string]*node
	leases map[string]*lease // by session
	epoch  uint64
	down   error // returned by calls about owners
}

// node is a server of a cluster.
type node struct {
	*Sessions
	c       *nodes
	name    string
	puppets *puppets
}

// lease is the ownership of a session by a node.
type lease struct {
	n     *node
	id    string
	epoch uint64
	lost  chan struct{}
}

func (n *node) Node() string { return n.name }

func (n *node) Own(_ context.Context, id string) (Ownership, error) {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	if n.c.down != nil {
		return nil, n.c.down
	}
	if l := n.c.leases[id]; l != nil && l.n != n {
		return nil, errNotOwner()
	}
	n.c.epoch++
	l := &lease{n, id, n.c.epoch, make(chan struct{})}
	n.c.leases[id] = l
	return l, nil
}

func (n *node) Owner(_ context.Context, id string) (string, error) {
	n.c.mu.Lock()
	defer n.c.mu.Unlock()
	if l := n.c.leases[id]; l != nil {
		return l.n.name, n.c.down
	}
	return "", n.c.down
}

func (n *node) Yield(context.Context, string, string, string) error { return nil }

func (n *node) Show(id string, entry []byte) {
	n.c.mu.Lock()
	others := slices.Collect(func(yield func(*node) bool) {
		for _, other := range n.c.all {
			if other != n && !yield(other) {
				return
			}
		}
	})
	n.c.mu.Unlock()
	for _, other := range others {
		other.Learn(id, entry)
	}
}

func (l *lease) Held() bool { return true }

func (l *lease) Epoch() uint64 { return l.epoch }

func (l *lease) Lost() <-chan struct{} { return l.lost }

func (l *lease) Release() {
	l.n.c.mu.Lock()
	defer l.n.c.mu.Unlock()
	if l.n.c.leases[l.id] == l {
		delete(l.n.c.leases, l.id)
	}
}

// expire ends the lease of a session although its server runs.
func (c *nodes) expire(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.leases[id].lost)
	delete(c.leases, id)
}

// owners returns the owner of each session.
func (c *nodes) owners() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]string{}
	for id, l := range c.leases {
		all[id] = l.n.name
	}
	return all
}

// Log returns a log that can be followed.
func (c *nodes) Log(id string) Log { return polledLog{c.memStore.Log(id).(*memLog)} }

// polledLog follows a log in memory.
type polledLog struct{ *memLog }

func (l polledLog) Follow(ctx context.Context, after eventlog.Cursor) iter.Seq2[eventlog.Event, error] {
	return func(yield func(eventlog.Event, error) bool) {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			for ev, err := range l.Read(ctx, after) {
				if ev.Sub != 0 {
					break
				}
				if !yield(ev, err) {
					return
				}
				after.Seq = ev.Seq
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				yield(eventlog.Event{}, ctx.Err())
				return
			}
		}
	}
}

// newNodes returns a cluster with servers of these names.
func newNodes(t *testing.T, names ...string) *nodes {
	t.Helper()
	c := &nodes{all: map[string]*node{}, leases: map[string]*lease{}}
	for _, name := range names {
		n := &node{c: c, name: name, puppets: newPuppets()}
		n.Sessions, _ = memSessions(t, func(o *Options) {
			o.Owners, o.Store = n, c
			o.Provider = func(context.Context, string, string) (agent.Provider, []string, error) { return n.puppets, nil, nil }
		})
		c.mu.Lock()
		c.all[name] = n
		c.mu.Unlock()
	}
	return c
}

// soon waits for something for at most 10 s.
func soon(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(10 * time.Second); !ok(); <-ticker.C {
		if time.Now().After(end) {
			t.Fatalf("it never came: %s", what)
		}
	}
}

// delivered waits until the agent of a session has confirmed all prompts.
func (n *node) delivered(t *testing.T, id string) {
	t.Helper()
	soon(t, "the agent confirms the prompt", func() bool {
		done := false
		_ = n.with(t.Context(), id, func(a *actor) error {
			done = !a.sending && !slices.ContainsFunc(a.core.Inputs, func(in input) bool { return in.Status != inputDelivered })
			return nil
		})
		return done
	})
}

// follows returns the number of sessions that a server follows.
func (n *node) follows() int {
	n.followers.mu.Lock()
	defer n.followers.mu.Unlock()
	return len(n.followers.all)
}

// sees reads messages of a viewer until one contains a text, and checks that their numbers have no
// gap.
func sees(t *testing.T, v *Viewer, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		before := v.Cursor.Seq
		items, err := v.Next(ctx)
		if err != nil {
			t.Fatalf("waiting for %q: %v", text, err)
		}
		for _, it := range items {
			if it.Sub == 0 && it.Seq != before+1 {
				t.Fatalf("message %d follows message %d", it.Seq, before)
			}
			before = max(before, it.Seq)
			if strings.Contains(string(it.msg), text) {
				return
			}
		}
	}
}

// TestNodes_follow checks a session with viewers on another server: they get every message, share one follower, cannot change the session, and
// move on when its owner does.
func TestNodes_follow(t *testing.T) {
	c := newNodes(t, "a", "b")
	a, b := c.all["a"], c.all["b"]
	if err := a.Create(t.Context(), "s-1", Opened{Tenant: "ten", Params: api.ConnectParams{Title: "Title"}}); err != nil {
		t.Fatal(err)
	}
	if i, err := b.Lookup(t.Context(), "s-1"); err != nil || i.Title != "Title" || i.Tenant != "ten" || i.Loaded {
		t.Errorf("the other server lists %+v, %v", i, err)
	}
	one, start, endOne, err := b.Watch(t.Context(), "s-1", nil, Capabilities{})
	if err != nil || start.Cursor.Seq == 0 || len(start.Snapshot) == 0 {
		t.Fatalf("a viewer on the other server starts at %+v, %v", start.Cursor, err)
	}
	two, _, endTwo, err := b.Watch(t.Context(), "s-1", &api.Cursor{Epoch: start.Cursor.Epoch}, Capabilities{})
	if err != nil || two.Cursor.Seq != 0 || b.follows() != 1 || b.Owns("s-1") || !a.Owns("s-1") {
		t.Fatalf("another one starts at %+v, %v; %d followers", two.Cursor, err, b.follows())
	}
	if _, err := b.Query(t.Context(), "s-1", "", `"x"`, "", "by"); !isNotOwner(err) {
		t.Errorf("a prompt for a session of another server: %v", err)
	}
	if err := b.Owned(t.Context(), "s-1"); !isNotOwner(err) {
		t.Errorf("a session of another server is one of this: %v", err)
	}
	if err := a.Owned(t.Context(), "s-1"); err != nil {
		t.Errorf("a session is not one of its server: %v", err)
	}
	if _, err := a.Query(t.Context(), "s-1", "", `"first prompt"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	sees(t, one, "first prompt")
	sees(t, two, "first prompt")
	endTwo()
	if b.follows() != 1 {
		t.Error("the follower has ended with one of its viewers")
	}
	a.delivered(t, "s-1")
	soon(t, "a search on the other server finds the prompt", func() bool {
		r, err := Of[Details](b.Sessions).Search(t.Context(), api.SessionSearchParams{Query: "first prompt"})
		return err == nil && len(r.Hits) == 1
	})
	soon(t, "the turn begins", func() bool { i, _ := b.Lookup(t.Context(), "s-1"); return i.State == string(Running) })
	a.puppets.agent().result()
	soon(t, "the turn ends", func() bool { i, _ := b.Lookup(t.Context(), "s-1"); return i.State == string(Idle) })
	a.Close()
	soon(t, "the first server has released the session", func() bool { return len(c.owners()) == 0 })
	if _, err := b.Query(t.Context(), "s-1", "", `"second prompt"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	sees(t, one, "second prompt")
	if !b.Owns("s-1") {
		t.Error("the server that got a prompt does not own the session")
	}
	endOne()
	soon(t, "the follower ends", func() bool { return b.follows() == 0 })
}

// TestNodes_lost checks that a session whose owner has failed is found, taken over and repaired by
// another server, and that the earlier owner no longer writes.
func TestNodes_lost(t *testing.T) {
	c := newNodes(t, "a", "b")
	a, b := c.all["a"], c.all["b"]
	for _, id := range []string{"s-1", "s-2"} {
		if err := a.Create(t.Context(), id, Opened{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Query(t.Context(), "s-1", "", `"work"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	a.delivered(t, "s-1")
	soon(t, "the turn begins", func() bool { i, _ := b.Lookup(t.Context(), "s-1"); return i.State == string(Running) })
	if _, err := b.Take(t.Context(), "s-1"); err != nil || b.Owns("s-1") {
		t.Errorf("taking a session with an owner: %v, owned %t", err, b.Owns("s-1"))
	}
	if _, err := a.Connected(t.Context(), "s-2"); err != nil {
		t.Fatal(err)
	}
	soon(t, "the other session is idle", func() bool { i, _ := b.Lookup(t.Context(), "s-2"); return i.State == string(Idle) })
	before := c.owners()
	if got := b.Orphans(t.Context(), before, before); len(got) != 0 {
		t.Errorf("with an owner %v are orphans", got)
	}
	c.expire("s-1")
	now := c.owners()
	if got := b.Orphans(t.Context(), before, now); !slices.Equal(got, []string{"s-1"}) {
		t.Errorf("the orphans are %v, want s-1", got)
	}
	if _, err := b.Take(t.Context(), "s-1"); err != nil || !b.Owns("s-1") {
		t.Fatalf("taking a session without an owner: %v, owned %t", err, b.Owns("s-1"))
	}
	i, err := b.Lookup(t.Context(), "s-1")
	if err != nil || i.State == string(Running) {
		t.Errorf("the session that was taken over is %+v, %v, want its turn ended", i, err)
	}
	if got := b.Orphans(t.Context(), before, c.owners()); len(got) != 0 {
		t.Errorf("after the session was taken over %v are orphans", got)
	}
	soon(t, "the earlier owner gives up", func() bool { return !a.Owns("s-1") })
	if _, err := a.Query(t.Context(), "s-1", "", `"too late"`, "", "by"); !isNotOwner(err) {
		t.Errorf("a prompt for the earlier owner: %v", err)
	}
	for ev, err := range c.Log("s-1").Read(t.Context(), eventlog.Cursor{}) {
		if err != nil || strings.Contains(string(ev.Data), "too late") {
			t.Errorf("the log has %s, %v, which its earlier owner wrote", ev.Data, err)
		}
	}
	if _, err := b.Take(t.Context(), "s-none"); !IsMissing(err) || b.Exists("s-none") {
		t.Errorf("taking a session that does not exist: %v, listed %t", err, b.Exists("s-none"))
	}
	// A session that has changed since its entry was sent, although it was idle then.
	c.expire("s-2")
	soon(t, "the earlier owner gives up", func() bool { return !a.Owns("s-2") })
	listed := func(less uint64) {
		at, _ := c.Log("s-2").Last(t.Context())
		b.mu.Lock()
		defer b.mu.Unlock()
		b.entries["s-2"].summary.Seq = at.Seq - less
	}
	listed(0)
	if got := b.Orphans(t.Context(), map[string]string{"s-2": "a", "other": "a"}, c.owners()); len(got) != 0 {
		t.Errorf("%v are orphans, want none: the list has the last message", got)
	}
	listed(1)
	if got := b.Orphans(t.Context(), map[string]string{"s-2": "a", "other": "a"}, c.owners()); !slices.Equal(got, []string{"s-2"}) {
		t.Errorf("the orphans are %v, want s-2, which has a message that was not listed", got)
	}
	if got := b.Orphans(t.Context(), map[string]string{"s-2": "a"}, map[string]string{"s-2": "a"}); len(got) != 0 {
		t.Errorf("%v are orphans, want none: they have an owner", got)
	}
}

// TestNodes_deleted checks that a deleted session leaves the lists and the viewers of other servers.
func TestNodes_deleted(t *testing.T) {
	c := newNodes(t, "a", "b")
	a, b := c.all["a"], c.all["b"]
	if err := a.Create(t.Context(), "s-1", Opened{}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Delete(t.Context(), "s-1", false); !isNotOwner(err) || !a.Exists("s-1") {
		t.Errorf("deleting a session of another server: %v", err)
	}
	if _, _, err := a.Delete(t.Context(), "s-1", false); err != nil {
		t.Fatal(err)
	}
	if a.Exists("s-1") || b.Exists("s-1") {
		t.Errorf("the session is listed: %t, on the other server %t, want neither", a.Exists("s-1"), b.Exists("s-1"))
	}
	soon(t, "the session has no owner", func() bool { return len(c.owners()) == 0 })
}

// TestNodes_hidden checks that a follower shows a session to no other tenant, and that it ends when
// its last caller was refused.
func TestNodes_hidden(t *testing.T) {
	c := newNodes(t, "a", "b")
	a, b := c.all["a"], c.all["b"]
	b.visible = func(_ context.Context, tenant string) bool { return tenant != "secret" }
	if err := a.Create(t.Context(), "s-1", Opened{Tenant: "secret"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Attach(t.Context(), api.AttachParams{SessionID: "s-1"}); FailureOf(err).Reason != api.SessionExpired {
		t.Errorf("a session of another tenant: %v", err)
	}
	if _, err := b.Attach(t.Context(), api.AttachParams{SessionID: "s-none"}); FailureOf(err).Reason != api.SessionExpired {
		t.Errorf("a session that does not exist: %v", err)
	}
	if n := b.follows(); n != 0 {
		t.Errorf("%d followers are left", n)
	}
	c.mu.Lock()
	c.down = Fail(api.InvalidParams, "no cluster")
	c.mu.Unlock()
	if _, err := b.Attach(t.Context(), api.AttachParams{SessionID: "s-1"}); FailureOf(err).Reason != api.InvalidParams {
		t.Errorf("without the cluster: %v", err)
	}
	if err := b.Create(t.Context(), "s-2", Opened{}); FailureOf(err).Reason != api.InvalidParams || b.Exists("s-2") {
		t.Errorf("a new session without the cluster: %v", err)
	}
}

// TestNodes_badRecord checks that a follower that cannot read a message ends together with its
// viewer.
func TestNodes_badRecord(t *testing.T) {
	c := newNodes(t, "a", "b")
	a, b := c.all["a"], c.all["b"]
	if err := a.Create(t.Context(), "s-1", Opened{}); err != nil {
		t.Fatal(err)
	}
	f, release, err := b.watched(t.Context(), "s-1")
	if err != nil {
		t.Fatal(err)
	}
	log := c.Log("s-1")
	at, _ := log.Last(t.Context())
	if _, err := log.Append(t.Context(), at.Seq, []byte("{")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-f.done:
	case <-time.After(10 * time.Second):
		t.Error("the follower of a log that cannot be read goes on")
	}
	release()
	if b.follows() != 0 {
		t.Error("the follower is left")
	}
}

// TestNodes_moved checks that a viewer of a follower that ends continues at the owner of the session, and counts there alone.
func TestNodes_moved(t *testing.T) {
	c := newNodes(t, "a", "b")
	a, b := c.all["a"], c.all["b"]
	if err := a.Create(t.Context(), "s-1", Opened{}); err != nil {
		t.Fatal(err)
	}
	v, _, end, err := b.Watch(t.Context(), "s-1", nil, Capabilities{})
	if err != nil {
		t.Fatal(err)
	}
	follower := v.actor
	a.Close()
	soon(t, "the first server has released the session", func() bool { return len(c.owners()) == 0 })
	if _, err := b.Take(t.Context(), "s-1"); err != nil {
		t.Fatal(err)
	}
	follower.cancel()
	<-follower.done
	if _, err := b.Query(t.Context(), "s-1", "", `"a prompt"`, "", "by"); err != nil {
		t.Fatal(err)
	}
	sees(t, v, "a prompt")
	owner := v.actor
	if owner == follower || owner.hub.watching() != 1 || follower.hub.watching() != 0 || b.follows() != 0 {
		t.Errorf("the owner has %d viewers, the follower %d, %d followers are left, want 1, 0, 0", owner.hub.watching(), follower.hub.watching(), b.follows())
	}
	end()
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries["s-1"]; owner.hub.watching() != 0 || e.refs != 0 || e.summary.Viewers != 0 {
		t.Errorf("after its end the session has %d viewers (%d listed) and %d uses, want none", owner.hub.watching(), e.summary.Viewers, e.refs)
	}
}
