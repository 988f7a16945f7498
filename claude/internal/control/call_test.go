package control

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errGone = errors.New("the CLI is gone")

// bubble runs a test in a bubble and ends its Mux after it.
func bubble(t *testing.T, handle Handler, f func(t *testing.T, p *peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, handle)
		f(t, p)
		p.mux.Fail(errGone)
		p.mux.Wait()
	})
}

func TestCallWritesOneRequestLine(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		id, ended := p.call(t.Context(), "interrupt")
		wantLines(t, p.written(), id, `{"request_id":"%ID","type":"control_request","request":{"subtype":"interrupt"}}`)
		p.succeed(id, `{"still_queued":[]}`)
		if o := now(t, ended); o.err != nil || o.answer.Body != `{"still_queued":[]}` {
			t.Fatalf("%+v; want o.err == nil and o.answer.Body == `{\"still_queued\":[]}`", o)
		}
	})
}

func TestAnswersComeOutOfOrder(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		a, aEnded := p.call(t.Context(), "a")
		b, bEnded := p.call(t.Context(), "b")
		c, cEnded := p.call(t.Context(), "c")
		if a == b || b == c || a == c {
			t.Fatalf("ids %s %s %s", a, b, c)
		}
		p.succeed(c, `"C"`)
		if o := now(t, cEnded); o.answer.Body != `"C"` {
			t.Fatalf("%+v; want o.answer.Body == `\"C\"`", o)
		}
		pending(t, aEnded)
		p.succeed(a, `"A"`)
		p.succeed(b, `"B"`)
		if o := now(t, aEnded); o.answer.Body != `"A"` {
			t.Fatalf("%+v; want o.answer.Body == `\"A\"`", o)
		}
		if o := now(t, bEnded); o.answer.Body != `"B"` {
			t.Fatalf("%+v; want o.answer.Body == `\"B\"`", o)
		}
	})
}

func TestStrayAnswersAreCounted(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		p.succeed("never asked", `{}`)
		id, ended := p.call(t.Context(), "a")
		p.succeed(id, `1`)
		p.succeed(id, `2`) // twice
		if o := now(t, ended); o.answer.Body != `1` {
			t.Fatalf("%+v; want o.answer.Body == `1`", o)
		}
		ctx, cancel := context.WithCancel(t.Context())
		id, ended = p.call(ctx, "b")
		cancel()
		now(t, ended)
		p.succeed(id, `3`) // late
		p.mux.Deliver("control_response", `{"type":"control_response"}`)
		if n := p.mux.Strays(); n != 4 {
			t.Fatalf("%d strays", n)
		}
	})
}

func TestErrorAnswer(t *testing.T) {
	for _, tt := range []struct{ rest, message, code string }{
		{`,"error":"no","error_code":"invalid_mode"`, "no", "invalid_mode"},
		{`,"error":"no"`, "no", ""},
		{``, "", ""},
	} {
		bubble(t, nil, func(t *testing.T, p *peer) {
			id, ended := p.call(t.Context(), "a")
			p.refuse(id, tt.rest)
			e, ok := errors.AsType[*Error](now(t, ended).err)
			if !ok || e.Message != tt.message || e.Code != tt.code {
				t.Fatalf("%q gave %#v", tt.rest, e)
			}
		})
	}
}

func TestAnswerWithoutBody(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		id, ended := p.call(t.Context(), "a")
		p.succeed(id, "")
		if o := now(t, ended); o.err != nil || o.answer.Body != "" || o.answer.Envelope == "" {
			t.Fatalf("%+v; want o.err == nil and o.answer.Body == \"\" and o.answer.Envelope != \"\"", o)
		}
	})
}

func TestAnswerBeforeWriteReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{t: t}
		p.mux = New(Options{Send: func(_ context.Context, line []byte) error {
			p.succeed(requestID(t, string(line)), `{"quick":true}`)
			return nil
		}})
		a, err := p.mux.Call(t.Context(), []byte(`{"subtype":"a"}`))
		if err != nil || a.Body != `{"quick":true}` {
			t.Fatalf("%+v %v; want err == nil and a.Body == `{\"quick\":true}`", a, err)
		}
	})
}

func TestCallAfterContextEndsWritesNothing(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("enough"))
		id, ended := p.call(ctx, "a")
		if o := now(t, ended); o.err == nil || o.err.Error() != "enough" || id != "" {
			t.Fatalf("%+v, written as %q", o, id)
		}
	})
}

func TestCancelWhileWriting(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		release := p.hold()
		ctx, cancel := context.WithCancelCause(t.Context())
		_, ended := p.call(ctx, "a")
		pending(t, ended)
		cancel(errors.New("enough"))
		if o := now(t, ended); o.err == nil || o.err.Error() != "enough" {
			t.Fatalf("%+v; want o.err != nil and o.err.Error() == \"enough\"", o)
		}
		release()
		wantLines(t, p.written(), "")
	})
}

func TestCancelAfterWritingTellsTheCLI(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		ctx, cancel := context.WithCancelCause(t.Context())
		id, ended := p.call(ctx, "a")
		cancel(errors.New("enough"))
		if o := now(t, ended); o.err == nil || o.err.Error() != "enough" {
			t.Fatalf("%+v; want o.err != nil and o.err.Error() == \"enough\"", o)
		}
		wantLines(t, p.written()[1:], id, `{"type":"control_cancel_request","request_id":"%ID"}`)
	})
}

func TestCancelWhileWriterBlocks(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		ctx, cancel := context.WithCancel(t.Context())
		_, ended := p.call(ctx, "a")
		p.hold()
		cancel()
		if o := now(t, ended); !errors.Is(o.err, context.Canceled) {
			t.Fatalf("%+v; want errors.Is(o.err, context.Canceled)", o)
		}
		// The cancellation is abandoned in time.
		begun := time.Now()
		p.mux.Wait()
		if d := time.Since(begun); d != withdrawTime {
			t.Fatalf("waited %v", d)
		}
	})
}

func TestAnswerAgainstCancellation(t *testing.T) {
	for range 200 {
		bubble(t, nil, func(t *testing.T, p *peer) {
			ctx, cancel := context.WithCancel(t.Context())
			id, ended := p.call(ctx, "a")
			go cancel()
			go p.succeed(id, `{}`)
			o := now(t, ended)
			lines := p.written()
			answered := o.err == nil && o.answer.Body == `{}` && len(lines) == 1 && p.mux.Strays() == 0
			cancelled := errors.Is(o.err, context.Canceled) && o.answer.Body == "" && len(lines) == 2 && p.mux.Strays() == 1
			if answered == cancelled {
				t.Fatalf("%+v, %d strays, %q", o, p.mux.Strays(), lines)
			}
		})
	}
}

func TestSendErrorEndsTheCall(t *testing.T) {
	broken := errors.New("broken pipe")
	m := New(Options{Send: func(context.Context, []byte) error { return broken }})
	if _, err := m.Call(t.Context(), []byte(`{}`)); err != broken {
		t.Fatal(err)
	}
	if _, err := m.Start(t.Context(), []byte(`{}`), nil); err != broken {
		t.Fatal(err)
	}
}

func TestStartReturnsWhenWritten(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		ended := make(chan Ended, 2)
		_, err := p.mux.Start(t.Context(), []byte(`{"subtype":"initialize"}`), func(e Ended) { ended <- e })
		if err != nil {
			t.Fatal(err)
		}
		id := requestID(t, p.written()[0])
		time.AfterFunc(time.Millisecond, func() { p.succeed(id, `{"pid":1}`) })
		e := <-ended
		if a, err := e.Outcome(); !e.Good() || err != nil || a.Body != `{"pid":1}` {
			t.Fatalf("%+v %v; want e.Good() and err == nil and a.Body == `{\"pid\":1}`", a, err)
		}
		p.succeed(id, `{"pid":2}`)
		p.mux.Fail(errGone)
		if len(ended) > 0 {
			t.Fatal("told twice")
		}
	})
}

func TestStartGiveUp(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		ended := make(chan Ended, 2)
		started, err := p.mux.Start(t.Context(), []byte(`{"subtype":"initialize"}`), func(e Ended) { ended <- e })
		if err != nil {
			t.Fatal(err)
		}
		slow := errors.New("slow")
		time.AfterFunc(time.Minute, func() { started.GiveUp(slow) })
		e := <-ended
		if _, err := e.Outcome(); e.Good() || err != slow {
			t.Fatal(err)
		}
		started.GiveUp(errGone)
		if len(ended) > 0 {
			t.Fatal("told twice")
		}
	})
}

func TestStartEndsWithFail(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		ended := make(chan Ended, 1)
		if _, err := p.mux.Start(t.Context(), []byte(`{}`), func(e Ended) { ended <- e }); err != nil {
			t.Fatal(err)
		}
		p.mux.Fail(errGone)
		if _, err := (<-ended).Outcome(); err != errGone {
			t.Fatal(err)
		}
	})
}

func TestFailEndsCallsWithCause(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		_, a := p.call(t.Context(), "a")
		_, b := p.call(t.Context(), "b")
		release := p.hold()
		_, writing := p.call(t.Context(), "c")
		p.mux.Fail(errGone)
		p.mux.Fail(errors.New("too late"))
		release()
		_, later := p.call(t.Context(), "d")
		for _, ended := range []chan outcome{a, b, writing, later} {
			if o := now(t, ended); o.err != errGone {
				t.Fatalf("%+v; want o.err == errGone", o)
			}
		}
		if _, err := p.mux.Start(t.Context(), []byte(`{}`), nil); err != errGone {
			t.Fatal(err)
		}
	})
}

func TestNoWithdrawalAfterFail(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		ctx, cancel := context.WithCancel(t.Context())
		_, ended := p.call(ctx, "a")
		p.mux.Fail(errGone)
		cancel()
		now(t, ended)
		if lines := p.written(); len(lines) != 1 {
			t.Fatalf("%q; want len(lines) == 1", lines)
		}
	})
}

func TestOtherLinesAreIgnored(t *testing.T) {
	bubble(t, nil, func(t *testing.T, p *peer) {
		p.mux.Deliver("assistant", `{"type":"assistant"}`)
		p.takeBack("unknown")
		wantLines(t, p.written(), "")
	})
}
