//go:build unix

package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// dialPolicy is a testPolicy that connects owners with pipes, and sends the other ends of the pipes
// to the test.
type dialPolicy struct {
	testPolicy
	far     chan net.Conn
	waiting chan string
}

func newDialPolicy() *dialPolicy {
	return &dialPolicy{far: make(chan net.Conn, maxDialed), waiting: make(chan string, maxDialed)}
}

func (p *dialPolicy) Dial(ctx context.Context, method string, _ json.RawMessage) (net.Conn, error) {
	switch method {
	case "none":
		return nil, errors.New("nothing listens there")
	case "wait":
		p.waiting <- method
		<-ctx.Done()
		p.waiting <- ctx.Err().Error()
		return nil, ctx.Err()
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return nil, err
	}
	far, err := l.Accept()
	if err != nil {
		return nil, err
	}
	p.far <- far
	return near, nil
}

// tunnelWorld is a link to a relay with a dialPolicy.
func tunnelWorld(t *testing.T) (*Link, *dialPolicy) {
	policy := newDialPolicy()
	h := newFakeHost(t, Options{}, echoAgent)
	l, err := NewLink(within(t), h.relayed(policy), 1)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l, policy
}

// settled waits until no tunnel is left.
func settled(t *testing.T, ts *tunnels) {
	t.Helper()
	for ctx := within(t); ; {
		ts.mu.Lock()
		left := ts.count + len(ts.all)
		ts.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%d tunnels and places are left", left)
		case <-time.After(time.Millisecond):
		}
	}
}

// Tunnels transfer any number of bytes in both directions while an agent writes lines. The end of
// the far connection arrives after its last byte.
func TestTunnel(t *testing.T) {
	l, policy := tunnelWorld(t)
	p, err := l.Launch(within(t), Launch{Agent: "echo", Dir: "/srv/a"}, AgentOptions{})
	must(t, err)
	var wg sync.WaitGroup
	for i := range 8 {
		near, err := l.Tunnel(within(t), "dial", nil)
		must(t, err)
		far := received(t, policy.far)
		text := bytes.Repeat(fmt.Appendf(nil, "%08d\n", i), 1<<17) // 1.1 MiB
		wg.Go(func() {
			if _, err := near.Write(text); err != nil {
				t.Errorf("writing: %v", err)
			}
		})
		wg.Go(func() {
			got := make([]byte, len(text))
			if _, err := io.ReadFull(far, got); err != nil || !bytes.Equal(got, text) {
				t.Errorf("the far end reads other bytes, %v", err)
			}
			if _, err := far.Write(text); err != nil {
				t.Errorf("the far end writes: %v", err)
			}
			far.Close()
		})
		wg.Go(func() {
			if got, err := io.ReadAll(near); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d bytes come back, %v, want %d and the end", len(got), err, len(text))
			}
			near.Close()
		})
	}
	for i := range 20 {
		_, err := p.Write(within(t), fmt.Sprint(i), fmt.Appendf(nil, "%d\n", i))
		must(t, err)
		wantLine(t, p, fmt.Sprintf("checked %d\n", i))
	}
	wg.Wait()
	settled(t, l.tunnels)
}

// If one end does not read, the other one stops after a window; other tunnels and agents continue.
func TestTunnel_flow(t *testing.T) {
	l, policy := tunnelWorld(t)
	near, err := l.Tunnel(within(t), "dial", nil)
	must(t, err)
	far := received(t, policy.far)
	wrote := make(chan int, 1)
	go func() {
		n, _ := far.Write(make([]byte, 64<<20))
		wrote <- n
	}()
	l.tunnels.mu.Lock()
	tn := l.tunnels.all[2] // the request after hello
	l.tunnels.mu.Unlock()
	tn.mu.Lock()
	for tn.queued < tunnelWindow-tunnelPart {
		tn.changed.Wait()
	}
	if tn.queued > tunnelWindow {
		t.Errorf("%d bytes wait, want at most %d", tn.queued, tunnelWindow)
	}
	tn.mu.Unlock()
	other, err := l.Tunnel(within(t), "dial", nil)
	must(t, err)
	farOther := received(t, policy.far)
	_, err = other.Write([]byte("x"))
	must(t, err)
	if _, err := io.ReadFull(farOther, make([]byte, 1)); err != nil {
		t.Errorf("another tunnel: %v", err)
	}
	near.Close() // without reading
	if n := received(t, wrote); n >= 64<<20 {
		t.Errorf("the far end has written %d bytes that nobody read", n)
	}
	other.Close()
	if _, err := farOther.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the far end of a closed tunnel reads %v, want %v", err, io.EOF)
	}
	settled(t, l.tunnels)
}

// A tunnel that loses bytes returns an error in place of the end: when its link ends, and when the far connection fails.
func TestTunnel_broken(t *testing.T) {
	l, policy := tunnelWorld(t)
	reset, err := l.Tunnel(within(t), "dial", nil)
	must(t, err)
	far := received(t, policy.far).(*net.TCPConn)
	must(t, far.SetLinger(0))
	far.Close()
	if _, err := io.ReadAll(reset); !errors.Is(err, errBroken) {
		t.Errorf("a connection that was reset: %v, want %v", err, errBroken)
	}
	near, err := l.Tunnel(within(t), "dial", nil)
	must(t, err)
	far2 := received(t, policy.far)
	_, err = far2.Write([]byte("part"))
	must(t, err)
	_, err = io.ReadFull(near, make([]byte, 4))
	must(t, err)
	must(t, l.Close())
	if _, err := io.ReadAll(near); !errors.Is(err, ErrLinkLost) {
		t.Errorf("a tunnel of a link that has ended: %v, want %v", err, ErrLinkLost)
	}
	if _, err := far2.Read(make([]byte, 1)); err == nil {
		t.Error("the far end is open after the link has ended")
	}
	if _, err := l.Tunnel(within(t), "dial", nil); !errors.Is(err, ErrLinkLost) {
		t.Errorf("another tunnel: %v, want %v", err, ErrLinkLost)
	}
}

// The number of tunnels of a link is limited; a refused, abandoned or closed one frees its place.
func TestTunnel_limit(t *testing.T) {
	l, policy := tunnelWorld(t)
	for range maxTunnels + 1 {
		if _, err := l.Tunnel(within(t), "none", nil); !errors.Is(err, ErrRefused) {
			t.Fatalf("a tunnel to nothing: %v, want %v", err, ErrRefused)
		}
	}
	ctx, cancel := context.WithCancel(within(t))
	failed := make(chan error, 1)
	go func() {
		_, err := l.Tunnel(ctx, "wait", nil)
		failed <- err
	}()
	received(t, policy.waiting)
	cancel()
	if err := received(t, failed); !errors.Is(err, context.Canceled) {
		t.Errorf("a tunnel that was given up: %v, want %v", err, context.Canceled)
	}
	if why := received(t, policy.waiting); why != context.Canceled.Error() {
		t.Errorf("the other machine has ended it with %q", why)
	}
	settled(t, l.tunnels)
	var open []net.Conn
	for range maxTunnels {
		c, err := l.Tunnel(within(t), "dial", nil)
		must(t, err)
		open = append(open, c, received(t, policy.far))
	}
	if _, err := l.Tunnel(within(t), "dial", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("one more: %v, want %v", err, ErrRefused)
	}
	for _, c := range open {
		c.Close()
	}
	settled(t, l.tunnels)
}

// An owner that sends or grants more than it may, or reuses an id, affects no other tunnel, and its
// connection is closed.
func TestTunnel_hostile(t *testing.T) {
	policy := newDialPolicy()
	h := newFakeHost(t, Options{}, echoAgent)
	o := &hostileOwner{conn: h.relayed(policy)}
	o.frames = &frameReader{r: o.conn}
	o.hello(t, 1)
	o.ask(request{Op: opDial, Method: "dial"})
	var a answer
	o.next(t, frameAnswer, &a)
	if a.Failure != nil {
		t.Fatalf("the answer is %+v", a.Failure)
	}
	received(t, policy.far) // never reads
	for _, q := range []request{{Op: opDial, Method: "dial"}, {Op: opList}, {Op: opCall}} {
		o.id--
		o.ask(q)
		o.wantRefusal(t)
	}
	o.send(partFrame(99, 0, []byte("of nobody")))
	o.send(tunnelGrant(99, 1))
	for name, attack := range map[string][]byte{
		"a short frame":   endFrame(append(beginFrame(nil, frameTunnel), 1, 2), 0),
		"a short grant":   endFrame(append(beginFrame(nil, frameRoom), 1, 2), 0),
		"a large grant":   tunnelGrant(2, 1<<31),
		"a grant of none": tunnelGrant(2, tunnelWindow),
		"a large part":    partFrame(2, 0, make([]byte, tunnelWindow+1)),
	} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHost(t, Options{}, echoAgent)
			o := &hostileOwner{conn: h.relayed(policy)}
			o.frames = &frameReader{r: o.conn}
			o.hello(t, 1)
			o.ask(request{Op: opDial, Method: "dial"})
			o.next(t, frameAnswer, new(answer))
			received(t, policy.far)
			o.send(attack)
			o.wantEnd(t)
		})
	}
	h2 := newFakeHost(t, Options{}, echoAgent)
	o2 := &hostileOwner{conn: h2.relayed(&testPolicy{})}
	o2.frames = &frameReader{r: o2.conn}
	o2.hello(t, 1)
	o2.ask(request{Op: opDial, Method: "dial"})
	o2.wantRefusal(t)
}
