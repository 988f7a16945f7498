package control

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

const success = `{"type":"control_response","response":{"subtype":"success","request_id":"%ID"`

func TestRequestIsAnswered(t *testing.T) {
	handle := func(_ context.Context, req Request) ([]byte, error) {
		return fmt.Appendf(nil, `{"id":%q,"subtype":%q,"body":%s}`, req.ID, req.Subtype, req.Body), nil
	}
	bubble(t, handle, func(t *testing.T, p *peer) {
		p.ask("r1", "can_use_tool")
		wantLines(t, p.written(), "r1", success+`,"response":{"id":"r1","subtype":"can_use_tool","body":{"subtype":"can_use_tool","x":1}}}}`)
		if n := p.mux.Busy(); n != 0 {
			t.Fatalf("%d busy", n)
		}
	})
}

func TestAnswersHoldNoNull(t *testing.T) {
	for _, response := range [][]byte{nil, {}, []byte("null")} {
		handle := func(context.Context, Request) ([]byte, error) { return response, nil }
		bubble(t, handle, func(t *testing.T, p *peer) {
			p.ask("r1", "x")
			wantLines(t, p.written(), "r1", success+`}}`)
		})
	}
}

func TestErrorAnswers(t *testing.T) {
	for _, tt := range []struct {
		err  error
		rest string
	}{
		{errors.New(`boom "<&>"`), `"error":"boom \"<&>\""`},
		{&Error{Message: "no", Code: "invalid_mode"}, `"error":"no","error_code":"invalid_mode"`},
		{fmt.Errorf("so: %w", &Error{Message: "no", Code: "c"}), `"error":"so: no","error_code":"c"`},
		{&Error{Message: "no"}, `"error":"no"`},
	} {
		handle := func(context.Context, Request) ([]byte, error) { return []byte(`{"not":"sent"}`), tt.err }
		bubble(t, handle, func(t *testing.T, p *peer) {
			p.ask("r1", "x")
			wantLines(t, p.written(), "r1", `{"type":"control_response","response":{"subtype":"error","request_id":"%ID",`+tt.rest+`}}`)
		})
	}
}

func TestRequestsWithoutHandler(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		p.ask("r1", "brand_new")
		wantLines(t, p.written(), "r1", `{"type":"control_response","response":{"subtype":"error","request_id":"%ID",`+
			`"error":"Unsupported control request subtype: brand_new","error_code":"unsupported_request"}}`)
	})
}

func TestNoAnswer(t *testing.T) {
	handle := func(context.Context, Request) ([]byte, error) { return nil, fmt.Errorf("elsewhere: %w", ErrNoAnswer) }
	bubble(t, handle, func(t *testing.T, p *peer) {
		p.ask("r1", "x")
		wantLines(t, p.written(), "")
	})
}

func TestRequestsRunConcurrently(t *testing.T) {
	release := map[string]chan struct{}{}
	handle := func(_ context.Context, req Request) ([]byte, error) {
		<-release[req.ID]
		return nil, nil
	}
	bubble(t, handle, func(t *testing.T, p *peer) {
		for _, id := range []string{"r1", "r2", "r3"} {
			release[id] = make(chan struct{})
		}
		p.ask("r1", "x")
		p.ask("r2", "x")
		p.ask("r3", "x")
		if n := p.mux.Busy(); n != 3 {
			t.Fatalf("%d busy", n)
		}
		for i, id := range []string{"r3", "r1", "r2"} {
			close(release[id])
			wantLines(t, p.written()[i:], id, success+`}}`)
		}
	})
}

func TestRequestInFlightIsUnique(t *testing.T) {
	release := make(chan struct{})
	calls := 0
	handle := func(context.Context, Request) ([]byte, error) {
		calls++
		<-release
		return nil, nil
	}
	synctest.Test(t, func(t *testing.T) {
		release = make(chan struct{})
		p := newPeer(t, handle)
		p.ask("r1", "x")
		p.ask("r1", "x")
		p.mux.Dispatch(Request{ID: "r1", Subtype: "x"})
		synctest.Wait()
		close(release)
		wantLines(t, p.written(), "r1", success+`}}`)
		if calls != 1 {
			t.Fatalf("%d calls", calls)
		}
	})
}

func TestWithdrawnRequestIsNotAnswered(t *testing.T) {
	var cause error
	handle := func(ctx context.Context, _ Request) ([]byte, error) {
		<-ctx.Done()
		cause = context.Cause(ctx)
		return []byte(`{"late":true}`), nil
	}
	bubble(t, handle, func(t *testing.T, p *peer) {
		p.ask("r1", "x")
		synctest.Wait()
		p.takeBack("r1")
		wantLines(t, p.written(), "")
		if !errors.Is(cause, errWithdrawn) {
			t.Fatalf("cause is %v; want errors.Is(cause, errWithdrawn)", cause)
		}
	})
}

func TestWithdrawnRequestIDReused(t *testing.T) {
	var mu sync.Mutex
	n := 0
	first, second := make(chan struct{}), make(chan struct{})
	handle := func(ctx context.Context, _ Request) ([]byte, error) {
		mu.Lock()
		n++
		mine, wait := n, first
		if n == 2 {
			wait = second
		}
		mu.Unlock()
		<-wait
		if mine == 2 && ctx.Err() != nil {
			return nil, errors.New("its context was ended by the first")
		}
		return fmt.Appendf(nil, "%d", mine), nil
	}
	synctest.Test(t, func(t *testing.T) {
		first, second = make(chan struct{}), make(chan struct{})
		p := newPeer(t, handle)
		p.ask("r1", "x")
		synctest.Wait()
		p.takeBack("r1")
		p.ask("r1", "x")
		synctest.Wait()
		close(first) // ends after the second's start
		wantLines(t, p.written(), "")
		close(second)
		wantLines(t, p.written(), "r1", success+`,"response":2}}`)
	})
}

func TestPanicReturnsErrorAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		p := &peer{t: t}
		p.mux = New(Options{
			Send:   p.send,
			Handle: func(context.Context, Request) ([]byte, error) { panic("boom") },
			OnPanic: func(req Request, value any, stack []byte) {
				told = append(told, fmt.Sprint(req.ID, " ", value, " ", strings.Contains(string(stack), "handle_test.go")))
			},
		})
		p.ask("r1", "hook_callback")
		wantLines(t, p.written(), "r1", `{"type":"control_response","response":{"subtype":"error","request_id":"%ID","error":"the handler of hook_callback panicked: boom"}}`)
		wantLines(t, told, "", "r1 boom true")
		p.mux.Wait()
	})
}

func TestHandlerGoexitIsAnswered(t *testing.T) {
	handle := func(context.Context, Request) ([]byte, error) {
		runtime.Goexit()
		return nil, nil
	}
	bubble(t, handle, func(t *testing.T, p *peer) {
		p.ask("r1", "x")
		wantLines(t, p.written(), "r1", `{"type":"control_response","response":{"subtype":"error","request_id":"%ID","error":"the handler of x did not return"}}`)
	})
}

func TestFailEndsHandlersBeforeWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		var cause error
		p := newPeer(t, func(ctx context.Context, _ Request) ([]byte, error) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			<-finish
			return nil, nil
		})
		p.ask("r1", "x")
		synctest.Wait()
		p.mux.Fail(errGone)
		p.ask("r2", "x") // too late to begin
		waited := make(chan struct{})
		go func() { p.mux.Wait(); close(waited) }()
		synctest.Wait()
		select {
		case <-waited:
			t.Fatal("Wait did not wait")
		default:
		}
		if cause != errGone {
			t.Fatalf("cause is %v; want cause == errGone", cause)
		}
		close(finish)
		<-waited
		wantLines(t, p.written(), "")
	})
}

func TestHandlerMayCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{t: t}
		p.mux = New(Options{Send: p.send, Handle: func(ctx context.Context, _ Request) ([]byte, error) {
			a, err := p.mux.Call(ctx, []byte(`{"subtype":"inner"}`))
			return []byte(a.Body), err
		}})
		p.ask("r1", "outer")
		inner := requestID(t, p.written()[0])
		p.succeed(inner, `{"deep":1}`)
		wantLines(t, p.written()[1:], "r1", success+`,"response":{"deep":1}}}`)
		p.mux.Wait()
	})
}

func TestFailEndsHandlerThatCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{t: t}
		var got error
		p.mux = New(Options{Send: p.send, Handle: func(ctx context.Context, _ Request) ([]byte, error) {
			_, got = p.mux.Call(context.WithoutCancel(ctx), []byte(`{"subtype":"inner"}`))
			return nil, got
		}})
		p.ask("r1", "outer")
		synctest.Wait()
		p.mux.Fail(errGone)
		p.mux.Wait()
		if got != errGone {
			t.Fatalf("got is %v; want got == errGone", got)
		}
	})
}

// The answer is written although the handler's context has ended: a writer that checks
// its context before it writes must not lose the answer.
func TestAnswerOutlivesTheHandlersContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var lines []string
		m := New(Options{
			Send: func(ctx context.Context, line []byte) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				mu.Lock()
				defer mu.Unlock()
				lines = append(lines, string(line))
				return nil
			},
			Handle: func(context.Context, Request) ([]byte, error) { return []byte(`{"ok":true}`), nil },
		})
		m.Dispatch(Request{ID: "a", Subtype: "x"})
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(lines) != 1 || !strings.Contains(lines[0], `"ok":true`) {
			t.Errorf("written: %q", lines)
		}
		m.Fail(errors.New("over"))
	})
}

func TestIdleFollowsLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var events []string
		note := func(s string) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, s)
		}
		release := make(chan struct{})
		var m *Mux
		m = New(Options{
			Send:   func(context.Context, []byte) error { note(fmt.Sprint("answer, busy ", m.Busy())); return nil },
			Handle: func(context.Context, Request) ([]byte, error) { <-release; return nil, nil },
			OnIdle: func() { note(fmt.Sprint("idle, busy ", m.Busy())) },
		})
		for _, id := range []string{"a", "b"} {
			m.Dispatch(Request{ID: id, Subtype: "x"})
		}
		if open := m.Open(); len(open) != 2 || open[0].ID != "a" || open[0].Subtype != "x" || open[0].Since.IsZero() {
			t.Errorf("open: %+v", open)
		}
		m.withdrawn("b")
		release <- struct{}{}
		release <- struct{}{}
		synctest.Wait()
		if got := strings.Join(events, "; "); got != "answer, busy 1; idle, busy 0" {
			t.Errorf("got is %v; want got == \"answer, busy 1; idle, busy 0\"", got)
		}
		m.Dispatch(Request{ID: "c", Subtype: "x"})
		m.Fail(errors.New("gone"))
		release <- struct{}{}
		m.Wait()
		if len(events) != 2 {
			t.Error(events)
		}
	})
}
