//go:build unix

package host

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// fakeAgent is a simulated process in this one: a function plays the program.
type fakeAgent struct {
	inR, outR, errR *io.PipeReader
	inW, outW, errW *io.PipeWriter
	ended           chan struct{}
	code            int
	kill            sync.Once
	killed          chan struct{}
}

type program func(stdin *bufio.Reader, stdout io.Writer, stderr io.Writer) (code int)

// play returns a spawner of simulated programs.
func play(f program) spawn.Spawner {
	return spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) {
		a := &fakeAgent{ended: make(chan struct{}), killed: make(chan struct{})}
		a.inR, a.inW = io.Pipe()
		a.outR, a.outW = io.Pipe()
		a.errR, a.errW = io.Pipe()
		go func() {
			a.code = f(bufio.NewReader(a.inR), a.outW, a.errW)
			a.end()
			close(a.ended)
		}()
		return a, nil
	})
}

func (a *fakeAgent) end() {
	a.outW.Close()
	a.errW.Close()
	a.inR.Close()
}

func (a *fakeAgent) Stdin() io.WriteCloser { return a.inW }
func (a *fakeAgent) Stdout() io.ReadCloser { return a.outR }
func (a *fakeAgent) Stderr() io.ReadCloser { return a.errR }
func (a *fakeAgent) PID() int              { return 0 }
func (a *fakeAgent) Terminate() error      { return nil }

func (a *fakeAgent) Kill() error {
	a.kill.Do(func() {
		a.end()
		close(a.killed)
	})
	return nil
}

func (a *fakeAgent) Wait() (spawn.ExitStatus, error) {
	select {
	case <-a.ended:
		return spawn.ExitStatus{Code: a.code}, nil
	case <-a.killed:
		return spawn.ExitStatus{Code: -1, Signal: "SIGKILL"}, nil
	}
}

// fakeHost is a host in this process without a socket, with functions as agents.
type fakeHost struct {
	*server
	t     testing.TB
	epoch uint64
	wg    sync.WaitGroup
}

func newFakeHost(t testing.TB, o Options, f program) *fakeHost {
	t.Helper()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, folder, agentsName), 0o700))
	h, err := newServer(filepath.Join(dir, folder), o, nil)
	must(t, err)
	h.temp, h.close = t.TempDir(), func() {}
	h.spawner = func(bool) spawn.Spawner { return play(f) }
	fake := &fakeHost{server: h, t: t}
	t.Cleanup(func() {
		for _, a := range h.all() {
			must(t, a.process.Kill())
			a.mu.Lock()
			a.dropped = true
			a.room.Broadcast()
			a.mu.Unlock()
			<-a.done
			must(t, a.process.Close())
		}
		h.closeConns()
		fake.wg.Wait()
	})
	return fake
}

// dial connects as the next owner, over conn's other end.
func (h *fakeHost) dial(wrap func(net.Conn) net.Conn) (*Link, error) {
	h.epoch++
	return h.dialAs(h.epoch, wrap)
}

func (h *fakeHost) dialAs(epoch uint64, wrap func(net.Conn) net.Conn) (*Link, error) {
	ours, theirs := net.Pipe()
	h.wg.Go(func() { h.serve(theirs) })
	if wrap != nil {
		ours = wrap(ours)
	}
	return newLink(within(h.t), ours, epoch)
}

func (h *fakeHost) connect() *Link {
	h.t.Helper()
	l, err := h.dial(nil)
	must(h.t, err)
	h.t.Cleanup(func() { l.Close() })
	return l
}

// fakeClock is a clock that tests advance.
type fakeClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*fakeTimer
	armed  chan time.Duration
}

type fakeTimer struct {
	c    *fakeClock
	at   time.Time
	f    func()
	dead bool
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), armed: make(chan time.Duration, 100)}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) AfterFunc(d time.Duration, f func()) timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &fakeTimer{c: c, at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	c.armed <- d
	return t
}

func (t *fakeTimer) Stop() bool {
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	was := !t.dead
	t.dead = true
	return was
}

// advance advances the time and calls due timers.
func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	c.timers = slices.DeleteFunc(c.timers, func(t *fakeTimer) bool {
		if !t.dead && !t.at.After(c.now) {
			t.dead = true
			due = append(due, t.f)
		}
		return t.dead
	})
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// awaitTimer waits until a timer with this duration is set.
func (c *fakeClock) awaitTimer(t testing.TB, want time.Duration) {
	t.Helper()
	for ctx := within(t); ; {
		select {
		case d := <-c.armed:
			if d == want {
				return
			}
		case <-ctx.Done():
			t.Fatalf("no timer of %v was set", want)
		}
	}
}

// cutConn breaks after a number of bytes in both directions together.
type cutConn struct {
	net.Conn
	mu   sync.Mutex
	left int
}

var errCut = errors.New("cut")

func (c *cutConn) allow(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n = min(n, c.left)
	c.left -= n
	return n
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if m := c.allow(n); m < n {
		c.Conn.Close()
		return m, errCut
	}
	return n, err
}

func (c *cutConn) Write(b []byte) (int, error) {
	n := c.allow(len(b))
	m, err := c.Conn.Write(b[:n])
	if err == nil && n < len(b) {
		c.Conn.Close()
		err = errCut
	}
	return m, err
}
