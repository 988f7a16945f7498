package server

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestConnects_memory connects, drops and leaves dead peers many times: the server's memory,
// goroutines and places do not grow. PARLEY_SOAK=1 makes it 10,000.
func TestConnects_memory(t *testing.T) {
	short.SkipLong(t, "measures memory")
	connects := short.Count(20, 200, 10_000)
	h := newHarness(t, func(o *Options) { o.WriteTimeout, o.Logger = time.Second, nil })
	id := h.connect()
	w := h.watch(id)
	h.query(id, "big 9000000") // more than the buffers of a socket hold
	w.results(1)
	w.stop()
	plain := h.connect()
	round := func(n int) {
		var wg sync.WaitGroup
		var next atomic.Int64
		for range 8 {
			wg.Go(func() {
				for i := next.Add(1); int(i) <= n && !t.Failed(); i = next.Add(1) {
					switch {
					case i%40 == 0:
						h.deadPeer(id)
					case i%2 == 0:
						h.dropSocket(plain)
					default:
						h.dropStream(plain)
					}
				}
			})
		}
		wg.Wait()
		eventually(t, "all connections are gone", func() bool { return len(h.server.conns) == 0 })
		http.DefaultClient.CloseIdleConnections()
	}
	round(max(short.Count(8, 40, 40), connects/20)) // warm-up: permanent allocations exist after it
	heap, goroutines := heapInUse(), runtime.NumGoroutine()
	round(connects)
	eventually(t, "the goroutines are gone", func() bool { return runtime.NumGoroutine() <= goroutines+8 })
	grown := int64(heapInUse()) - int64(heap)
	for range 20 { // the last answers, of nine megabytes each, may still be in transit
		if grown > 4<<20 {
			stall(h.ctx(), 100*time.Millisecond)
			grown = min(grown, int64(heapInUse())-int64(heap))
		}
	}
	fmt.Printf("connects %d heap_mb %d grown_kb %d\n", connects, heap>>20, grown>>10)
	if grown > 14<<20 { // at most one such answer more than before
		t.Errorf("%d connections leave %d KB", connects, grown>>10)
	}
	for _, s := range []string{id, plain} {
		if n := h.info(s).Viewers; n != 0 {
			t.Errorf("%d viewers are left", n)
		}
	}
}

// dropSocket attaches over a socket and drops it without closing.
func (h *harness) dropSocket(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, h.url+"/v1/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + h.token}}})
	if err != nil {
		h.Errorf("socket: %v", err)
		return
	}
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageText, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"session.attach","params":{"session_id":%q}}`, id)); err != nil {
		h.Errorf("attach: %v", err)
		return
	}
	if _, _, err := conn.Read(ctx); err != nil {
		h.Errorf("attach: %v", err)
	}
}

// stream opens a stream of events manually and reads the header.
func (h *harness) stream(id string, buffer int) net.Conn {
	c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.Errorf("stream: %v", err)
		return nil
	}
	if buffer > 0 {
		_ = c.(*net.TCPConn).SetReadBuffer(buffer)
	}
	_ = c.SetReadDeadline(time.Now().Add(wait))
	_, _ = fmt.Fprintf(c, "GET /v1/sessions/%s/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", id, h.token)
	line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
	if dead := buffer > 0 && err != nil; !dead && !strings.Contains(line, "200") { // a dead peer may be disconnected before it reads
		h.Errorf("stream: %q, %v", line, err)
	}
	return c
}

// dropStream starts a stream of events and drops it.
func (h *harness) dropStream(id string) {
	if c := h.stream(id, 0); c != nil {
		_ = c.Close()
	}
}

// deadPeer starts a stream of events and reads no data: the server has to end it.
func (h *harness) deadPeer(id string) {
	c := h.stream(id, 4096)
	if c == nil {
		return
	}
	defer c.Close()
	before := time.Now()
	for h.info(id).Viewers > 0 && time.Since(before) < wait {
		stall(context.Background(), 10*time.Millisecond)
	}
	if time.Since(before) >= wait {
		h.Error("a peer that takes nothing is kept")
	}
}

// TestConnect_keys checks that an idempotency key belongs to its token: a retry finds the session,
// another token creates a new one.
func TestConnect_keys(t *testing.T) {
	w := newTwoTenants(t, true)
	var other api.TokensCreateResult
	w.call("tokens.create", api.TokensCreateParams{Name: "other", Role: "operator", Tenant: "acme"}, &other)
	tokens := []string{w.token, w.tokens["acme"], w.tokens["globex"], other.Token}
	owners := map[string]int{}
	for i, token := range tokens {
		for _, key := range []string{"k", "k", "l", "l"} {
			var c api.ConnectResult
			if err := w.client(token).Call(w.ctx(), "session.connect", api.ConnectParams{Idempotency: api.Idempotency{Key: key}}, &c); err != nil {
				t.Fatal(err)
			}
			if owner, known := owners[c.SessionID]; known && owner != i {
				t.Errorf("token %d has the session of token %d with the key %q", i, owner, key)
			}
			owners[c.SessionID] = i
		}
	}
	if len(owners) != 2*len(tokens) {
		t.Errorf("%d sessions, want one for each token and key: %v", len(owners), owners)
	}
}

// TestBudget_keys checks that two tokens with the same key set two budgets.
func TestBudget_keys(t *testing.T) {
	h := newHarness(t)
	var other api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Name: "other", Role: "admin"}, &other)
	limit := 1.0
	ids := map[string]int{}
	for _, token := range []string{h.token, other.Token} {
		for _, key := range []string{"k", "k", "l"} {
			var set api.BudgetSetResult
			p := api.BudgetSetParams{Idempotency: api.Idempotency{Key: key}, Budget: api.Budget{Scope: "server", Period: "day", LimitUSD: &limit}}
			if err := h.client(token).Call(h.ctx(), "budget.set", p, &set); err != nil {
				t.Fatal(err)
			}
			ids[set.Budget.ID]++
		}
	}
	if len(ids) != 4 {
		t.Errorf("two keys of two tokens, one of them used twice, made the budgets %v; want 4", ids)
	}
}

// TestQuery_keys checks that keys in a session are scoped to the caller and the method: no call is dropped because
// another caller or another method has used its key.
func TestQuery_keys(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	var other api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Name: "other", Role: "operator"}, &other)
	key := api.Idempotency{Key: "k"}
	turns := map[string]bool{}
	for _, token := range []string{h.token, other.Token} {
		for range 2 {
			for method, params := range map[string]any{
				"session.query":            api.QueryParams{Idempotency: key, SessionID: id, Text: "say a"},
				"session.queryWithContent": api.QueryWithContentParams{Idempotency: key, SessionID: id, Content: []event.JSON{`{"type":"text","text":"say b"}`}},
			} {
				var a api.Accepted
				if err := h.client(token).Call(h.ctx(), method, params, &a); err != nil {
					t.Fatal(err)
				}
				turns[a.TurnID] = true
			}
		}
	}
	if len(turns) != 4 || turns[""] {
		t.Errorf("two callers, two methods and one key, each used twice, made the turns %v; want 4", turns)
	}
}

// TestKeys_scoped checks that every method with a session and a key scopes the key to its caller.
func TestKeys_scoped(t *testing.T) {
	found := 0
	for _, m := range methods {
		if _, ok := m.params.FieldByName("Key"); !ok || m.params.Kind() != reflect.Struct {
			continue
		}
		if _, ok := m.params.FieldByName("SessionID"); !ok || m.name == "session.connect" {
			continue
		}
		found++
		keys := map[string]bool{}
		for _, account := range []string{"a", "b"} {
			for _, method := range []string{m.name, "other"} {
				p := reflect.New(m.params).Elem()
				p.FieldByName("Key").SetString("k")
				ownKey(p, &caller{principal: &principal{account: account}}, method)
				keys[p.FieldByName("Key").String()] = true
			}
		}
		if len(keys) != 4 || keys["k"] {
			t.Errorf("%s: the keys are %v", m.name, keys)
		}
	}
	if found < 10 {
		t.Errorf("%d methods have a session and a key", found)
	}
}
