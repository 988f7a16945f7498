package jsonrpc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wire is the other end of a Conn: raw lines.
type wire struct {
	t    *testing.T
	conn *Conn
	in   *io.PipeWriter
	out  *bufio.Reader
}

func dial(t *testing.T, opts Options) *wire {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &wire{t: t, conn: New(inR, outW, opts), in: inW, out: bufio.NewReader(outR)}
	t.Cleanup(func() {
		_ = w.conn.Close()
		_ = inW.Close()
		_ = outR.Close()
		if err := w.conn.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *wire) send(lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(w.in, line+"\n"); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *wire) expect(want string) {
	w.t.Helper()
	got, err := w.out.ReadString('\n')
	if got = strings.TrimSuffix(got, "\n"); err != nil || got != want {
		w.t.Fatalf("got %s, %v\nwant %s", got, err, want)
	}
}

// pair connects two Conns.
func pair(t *testing.T, a, b Options) (*Conn, *Conn) {
	t.Helper()
	abR, abW := io.Pipe()
	baR, baW := io.Pipe()
	x, y := New(baR, abW, a), New(abR, baW, b)
	t.Cleanup(func() {
		for _, c := range []*Conn{x, y} {
			_ = c.Close()
		}
		for _, c := range []*Conn{x, y} {
			if err := c.Wait(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
	return x, y
}

func echo(_ context.Context, m *Message) (any, error) { return json.RawMessage(m.Params), nil }

func TestCall(t *testing.T) {
	for _, bare := range []bool{false, true} {
		w := dial(t, Options{Bare: bare})
		head := `{"jsonrpc":"2.0",`
		if bare {
			head = `{`
		}
		got := make(chan string)
		go func() {
			result, err := w.conn.Call(t.Context(), "a/b", map[string]any{"x": "<&>\n"})
			got <- fmt.Sprint(string(result), err)
		}()
		w.expect(head + `"id":1,"method":"a/b","params":{"x":"<&>\n"}}`)
		w.send(`{"id":1,"result":{"y":2}}`)
		if s := <-got; s != `{"y":2}<nil>` {
			t.Errorf("s is %v; want s == `{\"y\":2}<nil>`", s)
		}
		go func() {
			_, err := w.conn.Call(t.Context(), "c", nil)
			e, _ := errors.AsType[*Error](err)
			got <- fmt.Sprint(e.Code, e.Message, string(e.Data))
		}()
		w.expect(head + `"id":2,"method":"c"}`)
		w.send(`{"id":2,"error":{"code":-32600,"message":"no","data":[1]}}`)
		if s := <-got; s != "-32600 no [1]" && s != "-32600no[1]" {
			t.Errorf("s is %v; want not (s != \"-32600 no [1]\" && s != \"-32600no[1]\")", s)
		}
		go func() {
			_, err := w.conn.Call(t.Context(), "d", nil)
			got <- fmt.Sprint(err)
		}()
		w.expect(head + `"id":3,"method":"d"}`)
		w.send(`{"id":3,"error":"of another shape"}`)
		if s := <-got; s != `"of another shape" (-32603)` {
			t.Errorf("s is %v; want s == `\"of another shape\" (-32603)`", s)
		}
	}
}

// JSON with line breaks is written on one line.
// TestCall_noResult checks that an answer with neither result nor error ends its call with null, and no other line does.
func TestCall_noResult(t *testing.T) {
	for _, answer := range []string{`{"jsonrpc":"2.0","id":1}`, `{"id":1,"error":null}`, `{"id":1,"future":1}`, `{"id":1,"result":null}`} {
		w := dial(t, Options{AnswerStray: true})
		got := make(chan string, 1)
		go func() {
			result, err := w.conn.Call(t.Context(), "m", nil)
			got <- fmt.Sprint(string(result), err)
		}()
		w.expect(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		w.send(`{"id":7}`)
		w.expect(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`)
		w.send(answer)
		select {
		case s := <-got:
			if s != "null<nil>" {
				t.Errorf("%s gives %s", answer, s)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s does not end the call", answer)
		}
	}
}

func TestOneLine(t *testing.T) {
	raw := json.RawMessage("{\n\"a\": 1}")
	line, err := encoder{bare: true}.request("", "m", raw)
	if want := `{"method":"m","params":{"a":1}}`; err != nil || string(line) != want {
		t.Errorf("%s, %v, want %s", line, err, want)
	}
	if line, want := (encoder{bare: true}).answer("1", raw, nil), `{"id":1,"result":{"a":1}}`; string(line) != want {
		t.Errorf("%s, want %s", line, want)
	}
}

func TestRequests(t *testing.T) {
	stray := make(chan string, 10)
	w := dial(t, Options{
		AnswerStray: true,
		Stray:       func(line string, m *Message, err error) { stray <- fmt.Sprint(line, m != nil, err != nil) },
		Handle: func(ctx context.Context, m *Message) (any, error) {
			switch m.Method {
			case "panic":
				panic("boom")
			case "exit":
				runtime.Goexit()
			case "error":
				return nil, fmt.Errorf("x: %w", &Error{Code: 7, Message: "seven"})
			case "none":
				return nil, nil
			case "func":
				return func() {}, nil
			case "data":
				return nil, &Error{Code: 8, Message: "eight", Data: json.RawMessage("{")}
			case "missing":
				return nil, MethodNotFound(m.Method)
			}
			return echo(ctx, m)
		},
	})
	for _, tt := range []struct{ send, want string }{
		{`{"id":1,"method":"echo","params":[1]}`, `"id":1,"result":[1]}`},
		{`{"id":"s","method":"none"}`, `"id":"s","result":null}`},
		{`{"id":null,"method":"none"}`, `"id":null,"result":null}`},
		{`{"id":1.50,"method":"none"}`, `"id":1.50,"result":null}`},
		{`{"id":2,"method":"panic"}`, `"id":2,"error":{"code":-32603,"message":"the handler of panic panicked: boom"}}`},
		{`{"id":3,"method":"exit"}`, `"id":3,"error":{"code":-32603,"message":"the handler of exit ended its goroutine"}}`},
		{`{"id":4,"method":"error"}`, `"id":4,"error":{"code":7,"message":"seven"}}`},
		{`{"id":5,"method":"missing"}`, `"id":5,"error":{"code":-32601,"message":"Method not found: missing"}}`},
		{`{"id":6,"method":"func"}`, `"id":6,"error":{"code":-32603,"message":"the result cannot be encoded: json: unsupported type: func()"}}`},
		{`{"id":7,"method":"data"}`, `"id":7,"error":{"code":8,"message":"eight"}}`},
		{`{"id":`, `"id":null,"error":{"code":-32700,"message":"Parse error"}}`},
		{`17`, `"id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{`{"foo":1}`, `"id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{`{"id":{},"method":"none"}`, `"id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{`[]`, `"id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
	} {
		w.send(tt.send)
		w.expect(`{"jsonrpc":"2.0",` + tt.want)
	}
	if len(stray) != 5 {
		t.Errorf("%d strays", len(stray))
	}
	w.send(`{"id":99,"result":1}`, `{"id":7,"method":"none"}`)
	w.expect(`{"jsonrpc":"2.0","id":7,"result":null}`)
	for len(stray) > 1 {
		<-stray
	}
	if s := <-stray; s != `{"id":99,"result":1}true false` {
		t.Errorf("an unknown answer: %s", s)
	}
}

// The function of Then runs after the answer is written.
func TestThen(t *testing.T) {
	var self *Conn
	ready := make(chan struct{})
	w := dial(t, Options{Bare: true, Handle: func(context.Context, *Message) (any, error) {
		return &Then{Result: 1, Do: func() { <-ready; _ = self.Notify(context.Background(), "after", nil) }}, nil
	}})
	self = w.conn
	close(ready)
	w.send(`{"id":1,"method":"x"}`)
	w.expect(`{"id":1,"result":1}`)
	w.expect(`{"method":"after"}`)
}

func TestBatch(t *testing.T) {
	var seen []string
	w := dial(t, Options{Bare: true, AnswerStray: true, Handle: echo, Notify: func(_ context.Context, m *Message) { seen = append(seen, m.Method) }})
	w.send(`[{"method":"n1"},{"id":1,"method":"a","params":1},3]`)
	got, _ := w.out.ReadString('\n')
	var list []struct {
		ID     any
		Result any
		Error  *Error
	}
	if err := json.Unmarshal([]byte(got), &list); err != nil || len(list) != 2 {
		t.Fatalf("got %s: %v", got, err)
	}
	w.send(`[{"method":"n2"}]`, `[{"id":2,"method":"b","params":"x"}]`)
	w.expect(`[{"id":2,"result":"x"}]`)
	if !slices.Equal(seen, []string{"n1", "n2"}) {
		t.Errorf("notifications %v", seen)
	}
}

// Without AnswerStray an invalid element does not block the answers of its batch.
func TestBatch_quiet(t *testing.T) {
	w := dial(t, Options{Bare: true, Handle: echo})
	w.send(`[5,{"id":1,"method":"a","params":1}]`)
	w.expect(`[{"id":1,"result":1}]`)
}

func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var seen []string
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, s)
		}
		slow := make(chan struct{})
		w := dial(t, Options{
			Notify: func(_ context.Context, m *Message) {
				<-slow
				note(m.Method)
			},
			Handle: func(_ context.Context, m *Message) (any, error) {
				note("request")
				return 1, nil
			},
		})
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			_, _ = w.conn.CallThen(t.Context(), "c", nil, func(json.RawMessage, error) { note("answer") })
		}()
		w.expect(`{"jsonrpc":"2.0","id":1,"method":"c"}`)
		w.send(`{"method":"n1"}`, `{"method":"n2"}`, `{"id":1,"result":0}`, `{"method":"n3"}`, `{"id":1,"method":"r"}`)
		synctest.Wait()
		if len(seen) != 0 {
			t.Errorf("%v overtook", seen)
		}
		close(slow)
		w.expect(`{"jsonrpc":"2.0","id":1,"result":1}`)
		<-answered
		if got := strings.Join(seen, " "); got != "n1 n2 answer n3 request" {
			t.Errorf("order %s", got)
		}
	})
}

// A call from inside a notification is answered although the dispatcher waits.
func TestCallInNotify(t *testing.T) {
	got := make(chan string, 1)
	var self *Conn
	ready := make(chan struct{})
	x, y := pair(t, Options{Notify: func(ctx context.Context, _ *Message) {
		<-ready
		r, err := self.Call(ctx, "again", "v")
		got <- fmt.Sprint(string(r), err)
	}}, Options{Handle: echo})
	self = x
	close(ready)
	if err := y.Notify(t.Context(), "go", nil); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != `"v"<nil>` && s != `"v" <nil>` {
		t.Errorf("s is %v; want not (s != `\"v\"<nil>` && s != `\"v\" <nil>`)", s)
	}
}

// The same if the peer closes the connection meanwhile.
func TestCallInNotify_end(t *testing.T) {
	got := make(chan error, 1)
	opts := Options{}
	var conn *Conn
	ready := make(chan struct{})
	opts.Notify = func(ctx context.Context, _ *Message) {
		<-ready
		_, err := conn.Call(ctx, "again", nil)
		got <- err
	}
	w := dial(t, opts)
	conn = w.conn
	close(ready)
	w.send(`{"method":"go"}`)
	w.expect(`{"jsonrpc":"2.0","id":1,"method":"again"}`)
	_ = w.in.Close()
	if err := <-got; !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

func TestCancel(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	strays := make(chan *Message, 1)
	a, _ := pair(t, Options{CancelMethod: "$/cancel_request", Stray: func(_ string, m *Message, _ error) { strays <- m }}, Options{
		CancelMethod: "$/cancel_request",
		Handle: func(ctx context.Context, m *Message) (any, error) {
			close(started)
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, ctx.Err()
		},
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("why")
	go func() {
		<-started
		cancel(why)
	}()
	if _, err := a.Call(ctx, "x", nil); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if e, _ := errors.AsType[*Error](<-ended); e == nil || e.Code != CodeCancelled {
		t.Errorf("the handler's cause is %v", e)
	}
	if m := <-strays; m.Error == nil || m.Error.Code != CodeCancelled {
		t.Errorf("the late answer is %+v", m)
	}
}

// If the handler of a cancelled request fails with its own error, that error is the answer.
func TestCancel_ownError(t *testing.T) {
	started := make(chan struct{})
	w := dial(t, Options{Bare: true, CancelMethod: "cancel", Handle: func(ctx context.Context, _ *Message) (any, error) {
		close(started)
		<-ctx.Done()
		return nil, &Error{Code: 9, Message: "nine"}
	}})
	w.send(`{"id":1,"method":"x"}`)
	<-started
	w.send(`{"method":"cancel","params":{"requestId":1}}`)
	w.expect(`{"id":1,"error":{"code":9,"message":"nine"}}`)
}

// Without a cancel method no cancellation is sent, and the call still ends.
func TestCancel_none(t *testing.T) {
	w := dial(t, Options{Bare: true, Handle: echo})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := w.conn.Call(ctx, "x", nil)
		done <- err
	}()
	w.expect(`{"id":1,"method":"x"}`)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.send(`{"id":5,"method":"y","params":0}`)
	w.expect(`{"id":5,"result":0}`)
}

// A call from a notification after the last line was read cannot be answered, so it fails at once.
func TestCallInNotify_afterTheLastLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan error, 1)
		opts := Options{}
		var conn *Conn
		read := make(chan struct{})
		opts.Notify = func(ctx context.Context, _ *Message) {
			<-read
			_, err := conn.Call(ctx, "again", nil)
			got <- err
		}
		w := dial(t, opts)
		conn = w.conn
		w.send(`{"method":"go"}`)
		_ = w.in.Close()
		synctest.Wait()
		close(read)
		if err := <-got; !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
	})
}

// The end of the incoming stream closes the outgoing one.
func TestEnd_closesTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := dial(t, Options{})
		_ = w.in.Close()
		if _, err := w.out.ReadByte(); err != io.EOF {
			t.Errorf("the outgoing stream: %v", err)
		}
	})
}

func TestEnd(t *testing.T) {
	w := dial(t, Options{})
	done := make(chan error)
	go func() {
		_, err := w.conn.Call(t.Context(), "x", nil)
		done <- err
	}()
	w.expect(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
	_ = w.in.Close()
	if err := <-done; !errors.Is(err, io.EOF) {
		t.Errorf("a call at the end: %v", err)
	}
	<-w.conn.Done()
	if err := w.conn.Err(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := w.conn.Call(t.Context(), "y", nil); !errors.Is(err, io.EOF) {
		t.Errorf("a later call: %v", err)
	}
}

// Messages before the end are delivered, including answers.
func TestEnd_queued(t *testing.T) {
	n := 0
	hold := make(chan struct{})
	w := dial(t, Options{Notify: func(context.Context, *Message) { <-hold; n++ }})
	done := make(chan error)
	go func() {
		_, err := w.conn.Call(t.Context(), "x", nil)
		done <- err
	}()
	w.expect(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
	for range 100 {
		w.send(`{"method":"n"}`)
	}
	w.send(`{"id":1,"result":true}`)
	_ = w.in.Close()
	close(hold)
	if err := <-done; err != nil || n != 100 {
		t.Errorf("%v, %d notifications", err, n)
	}
}

func TestClose(t *testing.T) {
	inHandler := make(chan struct{})
	a, b := pair(t, Options{}, Options{Handle: func(ctx context.Context, _ *Message) (any, error) {
		close(inHandler)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	done := make(chan error)
	go func() {
		_, err := a.Call(t.Context(), "x", nil)
		done <- err
	}()
	<-inHandler
	_ = b.Close()
	_ = a.Close()
	if err := <-done; !errors.Is(err, ErrClosed) && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if err := b.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if err := a.Notify(t.Context(), "x", nil); !errors.Is(err, ErrClosed) && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// A callback that does not return makes Wait end with its context, not before.
func TestWait_bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		w := dial(t, Options{Notify: func(context.Context, *Message) { <-stuck }})
		w.send(`{"method":"n"}`)
		synctest.Wait()
		_ = w.conn.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := w.conn.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		close(stuck)
	})
}

func TestLimits(t *testing.T) {
	hold := make(chan struct{})
	strays := make(chan error, 1)
	w := dial(t, Options{
		Bare: true, MaxRequests: 2, MaxLine: 100, AnswerStray: true,
		Stray:  func(_ string, _ *Message, err error) { strays <- err },
		Handle: func(context.Context, *Message) (any, error) { <-hold; return 0, nil },
	})
	w.send(`{"id":1,"method":"a"}`, `{"id":2,"method":"a"}`, `{"id":3,"method":"a"}`)
	w.expect(`{"id":3,"error":{"code":-32001,"message":"Too many requests at once"}}`)
	w.send(strings.Repeat("x", 101))
	w.expect(`{"id":null,"error":{"code":-32600,"message":"The message has 101 bytes, the limit is 100"}}`)
	if err := <-strays; err == nil || !strings.Contains(err.Error(), "101 bytes") {
		t.Error(err)
	}
	close(hold)
	for range 2 {
		if _, err := w.out.ReadString('\n'); err != nil {
			t.Error(err)
		}
	}
	// Answered requests no longer count.
	for _, id := range []string{"4", "5", "6"} {
		w.send(`{"id":` + id + `,"method":"a"}`)
		w.expect(`{"id":` + id + `,"result":0}`)
	}
}

// A request over the limit is answered with an error and its id, a call whose answer is over the limit fails, and the next line counts.
func TestLimits_long(t *testing.T) {
	w := dial(t, Options{Bare: true, MaxLine: 100, AnswerStray: true, Handle: func(_ context.Context, m *Message) (any, error) { return m.Method, nil }})
	long := strings.Repeat("x", 100)
	for part, id := range map[string]string{
		`{"id":7,"method":"m","params":"` + long + `"}`: "7", `{"method":"m","id":"a","params":"` + long + `"}`: `"a"`,
		`{"id":7,"params":"` + long + `"}`: "null", `{"method":"m","params":"` + strings.Repeat("x", 5000) + `","id":7}`: "null", "[" + long + "]": "null",
	} {
		w.send(part, `{"id":8,"method":"next"}`)
		w.expect(fmt.Sprintf(`{"id":%s,"error":{"code":-32600,"message":"The message has %d bytes, the limit is 100"}}`, id, len(part)))
		w.expect(`{"id":8,"result":"next"}`)
	}
	failed := make(chan error, 1)
	go func() {
		_, err := w.conn.Call(t.Context(), "ask", nil)
		failed <- err
	}()
	w.expect(`{"id":1,"method":"ask"}`)
	w.send(`{"id":1,"method":"m","params":"` + long + `"}`)
	w.expect(`{"id":1,"error":{"code":-32600,"message":"The message has 133 bytes, the limit is 100"}}`)
	w.send(`{"id":1,"result":"` + long + `"}`)
	if e, ok := errors.AsType[*Error](<-failed); !ok || e.Code != CodeInvalidRequest {
		t.Errorf("the call returned %v, want that its answer is too long", e)
	}
}

func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		n := 0
		w := dial(t, Options{MaxBuffered: 1000, Notify: func(context.Context, *Message) { <-hold; n++ }})
		sent := 0
		go func() {
			for range 1000 {
				w.send(`{"method":"n"}`)
				sent++
			}
		}()
		synctest.Wait()
		if sent > 50 {
			t.Errorf("%d lines were read ahead", sent)
		}
		close(hold)
		synctest.Wait()
		if sent != 1000 || n != 1000 {
			t.Errorf("%d sent, %d delivered", sent, n)
		}
	})
}

// While a notification waits for the answer to its own call, all lines before that answer are read
// regardless of the limit. Then the limit applies again.
func TestBackPressure_callInNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lines = 100
		var conn *Conn
		ready, hold := make(chan struct{}), make(chan struct{})
		n := 0
		w := dial(t, Options{Bare: true, MaxBuffered: 1000, Notify: func(ctx context.Context, m *Message) {
			if m.Method != "go" {
				<-hold
				n++
				return
			}
			<-ready
			if _, err := conn.Call(ctx, "again", nil); err != nil {
				t.Error(err)
			}
		}})
		conn = w.conn
		close(ready)
		w.send(`{"method":"go"}`)
		w.expect(`{"id":1,"method":"again"}`)
		for range lines {
			w.send(`{"method":"n"}`)
		}
		w.send(`{"id":1,"result":0}`)
		sent := 0
		go func() {
			for range lines {
				w.send(`{"method":"n"}`)
				sent++
			}
		}()
		synctest.Wait()
		if sent > 1 {
			t.Errorf("%d more lines were read ahead", sent)
		}
		close(hold)
		synctest.Wait()
		if n != 2*lines {
			t.Errorf("%d notifications", n)
		}
	})
}

func TestManyCalls(t *testing.T) {
	a, b := pair(t, Options{Handle: echo}, Options{Handle: echo})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			c := a
			if i%2 == 0 {
				c = b
			}
			long := strings.Repeat("é", i*100)
			got, err := c.Call(t.Context(), "echo", long)
			if want, _ := json.Marshal(long); err != nil || string(got) != string(want) {
				t.Errorf("%d: %d bytes, %v", i, len(got), err)
			}
		})
	}
	wg.Wait()
}

// FuzzConn: for any input each line is reported once, and the connection continues.
func FuzzConn(f *testing.F) {
	for _, s := range []string{`{"method":"n"}`, `{"id":1,"method":"r"}`, `[{"id":1,"method":"r"},2]`, `{"id":1,"result":null}`, `[`, `null`, `[[]]`, "{\"id\":1,\"id\":2}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n") || strings.Trim(line, " \t\r") == "" {
			t.Skip("not one line")
		}
		seen := 0
		last := make(chan struct{})
		inR, inW := io.Pipe()
		count := func() { seen++ }
		var mu sync.Mutex
		c := New(inR, discard{}, Options{
			Notify: func(_ context.Context, m *Message) {
				if m.Method == "the last" {
					close(last)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				count()
			},
			Stray:  func(string, *Message, error) { mu.Lock(); defer mu.Unlock(); count() },
			Handle: func(context.Context, *Message) (any, error) { mu.Lock(); defer mu.Unlock(); count(); return nil, nil },
		})
		_, _ = io.WriteString(inW, line+"\n"+`{"method":"the last"}`+"\n")
		<-last
		_ = inW.Close()
		if err := c.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if seen == 0 && !strings.Contains(line, "the last") {
			t.Fatalf("%q disappeared", line)
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
