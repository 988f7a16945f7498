//go:build unix

package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// servingPolicy is a testPolicy that is also a [Service].
type servingPolicy struct {
	testPolicy
	began, ended chan string // the methods; ended also has the reason
}

func newServingPolicy() *servingPolicy {
	return &servingPolicy{began: make(chan string, 100), ended: make(chan string, 100)}
}

func (p *servingPolicy) Call(ctx context.Context, method string, params json.RawMessage) ([]byte, error) {
	p.began <- method
	switch method {
	case "size":
		var n int
		if err := json.Unmarshal(params, &n); err != nil {
			return nil, err
		}
		return bytes.Repeat([]byte("x"), n), nil
	case "wait":
		<-ctx.Done()
		p.ended <- ctx.Err().Error()
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("no method %q", method)
}

// Calls return results of any size up to the limit, even while an agent writes lines.
func TestCall(t *testing.T) {
	h := newFakeHost(t, Options{}, echoAgent)
	l, err := NewLink(within(t), h.relayed(newServingPolicy()), 1)
	must(t, err)
	defer l.Close()
	p, err := l.Launch(within(t), Launch{Agent: "echo", Dir: "/srv/a"}, AgentOptions{})
	must(t, err)
	var wg sync.WaitGroup
	for _, n := range []int{0, 1, fragment - 1, fragment, fragment + 1, 5*fragment + 7, 2 << 20} {
		wg.Go(func() {
			text, err := l.Call(within(t), "size", json.RawMessage(fmt.Sprint(n)))
			if err != nil || len(text) != n || strings.Trim(string(text), "x") != "" {
				t.Errorf("a result of %d bytes: %d, %v", n, len(text), err)
			}
		})
	}
	for i := range 20 {
		_, err := p.Write(within(t), fmt.Sprint(i), fmt.Appendf(nil, "%d\n", i))
		must(t, err)
		wantLine(t, p, fmt.Sprintf("checked %d\n", i))
	}
	wg.Wait()
	for method, params := range map[string]string{"none": "1", "size": `"x"`} {
		if _, err := l.Call(within(t), method, json.RawMessage(params)); !errors.Is(err, ErrRefused) {
			t.Errorf("%s with %s: %v, want %v", method, params, err, ErrRefused)
		}
	}
	if _, err := l.Call(within(t), "size", json.RawMessage(`"`+strings.Repeat("x", maxParams)+`"`)); !errors.Is(err, ErrRefused) {
		t.Errorf("large parameters: %v, want %v", err, ErrRefused)
	}
	if _, err := l.Call(within(t), "size", json.RawMessage(fmt.Sprint(maxResult+1))); !errors.Is(err, ErrRefused) {
		t.Errorf("a large result: %v, want %v", err, ErrRefused)
	}
	for range maxCalls + 1 {
		if _, err := l.Call(within(t), "size", json.RawMessage("{")); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("parameters that are not JSON: %v, want an error at once", err)
		}
	}
	if len(l.calls) != 0 || len(l.parts) != 0 {
		t.Errorf("%d calls and %d results are left, want none", len(l.calls), len(l.parts))
	}
}

// A call is cancelled on the other machine if its caller cancels or the link ends. Calls over the limit wait for a free
// slot.
func TestCall_ends(t *testing.T) {
	policy := newServingPolicy()
	h := newFakeHost(t, Options{}, echoAgent)
	l, err := NewLink(within(t), h.relayed(policy), 1)
	must(t, err)
	ctx, cancel := context.WithCancel(within(t))
	failed := make(chan error, 2*maxCalls)
	for range maxCalls + 1 {
		go func() {
			_, err := l.Call(ctx, "wait", nil)
			failed <- err
		}()
	}
	for range maxCalls {
		received(t, policy.began)
	}
	select {
	case <-policy.began:
		t.Errorf("more than %d calls are under way", maxCalls)
	default:
	}
	cancel()
	for range maxCalls + 1 {
		if err := received(t, failed); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that was given up: %v, want %v", err, context.Canceled)
		}
	}
	for range maxCalls {
		received(t, policy.ended)
	}
	if text, err := l.Call(within(t), "size", json.RawMessage("3")); err != nil || string(text) != "xxx" {
		t.Errorf("the next call: %q, %v", text, err)
	}
	go func() {
		_, err := l.Call(context.Background(), "wait", nil)
		failed <- err
	}()
	for received(t, policy.began) != "wait" {
	}
	must(t, l.Close())
	if err := received(t, failed); !errors.Is(err, ErrLinkLost) {
		t.Errorf("a call on a link that ends: %v, want %v", err, ErrLinkLost)
	}
	received(t, policy.ended)
}

// received returns the next value of a channel.
func received[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-within(t).Done():
		t.Fatal("nothing has come")
		panic("unreachable")
	}
}

// Calls over the limit are refused. A policy that is not a Service refuses every call.
func TestCall_hostile(t *testing.T) {
	policy := newServingPolicy()
	h := newFakeHost(t, Options{}, echoAgent)
	o := &hostileOwner{conn: h.relayed(policy)}
	o.frames = &frameReader{r: o.conn}
	o.hello(t, 1)
	wait := request{Op: opCall, Method: "wait"}
	for range maxServed {
		o.ask(wait)
		received(t, policy.began)
	}
	for range 100 {
		o.ask(wait)
		o.wantRefusal(t)
	}
	o.ask(request{Op: opCall, Method: "size", Params: json.RawMessage(`"` + strings.Repeat("x", maxParams) + `"`)})
	o.wantRefusal(t)
	for _, q := range []request{wait, {Op: opList}, {Op: opSpawn, Launch: &Launch{Agent: "echo", Dir: "/srv/a"}}} { // with the id of a call
		o.id = 2 - 1
		o.ask(q)
		o.wantRefusal(t)
	}
	o.ask(request{Op: opCancel, Call: 99})
	o.ask(request{Op: opCancel, Call: 2})
	received(t, policy.ended)
	if n := len(h.all()); n != 0 {
		t.Errorf("%d agents run, want none", n)
	}

	o = &hostileOwner{conn: h.relayed(&testPolicy{})}
	o.frames = &frameReader{r: o.conn}
	o.hello(t, 2)
	o.ask(wait)
	o.wantRefusal(t)
}
