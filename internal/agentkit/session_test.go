package agentkit_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func notice(text string) []event.Event { return []event.Event{&event.Notice{Text: text}} }

func add(s *agentkit.Session, text string) {
	s.Add(func() []event.Event { return notice(text) })
}

// ask opens a request with an id.
func ask(ctx context.Context, s *agentkit.Session, id string, h agentkit.Handler) (*agentkit.Prompt, error) {
	return s.Open(ctx, func() []event.Event {
		return []event.Event{&event.PermissionRequest{RequestID: id, Kind: event.PermissionTool}}
	}, h)
}

func cancelled(r *agentkit.Prompt) []event.Event {
	return []event.Event{&event.PermissionResolved{RequestID: r.ID, Behavior: event.ResolvedCancelled}}
}

// texts reads the events to the end.
func texts(t *testing.T, s *agentkit.Session) (list []string, err error) {
	t.Helper()
	for ev, end := range s.Events(t.Context()) {
		switch ev := ev.(type) {
		case *event.Notice:
			list = append(list, ev.Text)
		case *event.PermissionRequest:
			list = append(list, "ask "+ev.RequestID)
		case *event.PermissionResolved:
			list = append(list, ev.Behavior+" "+ev.RequestID)
		}
		err = end
	}
	return list, err
}

// TestQueue runs a producer, a sender and a consumer: every event arrives in the order of its
// producer, and the producer waits while the queue exceeds its limit.
func TestQueue(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		limit, failed := int64(1+rnd.IntN(20)), errors.New("failed")
		s := agentkit.New(agentkit.Options{Limit: int(limit)})
		var made, taken atomic.Int64
		const batch, rounds = 3, 200
		var work sync.WaitGroup
		work.Go(func() {
			for i := range rounds {
				s.Add(func() []event.Event {
					if n := made.Load() - taken.Load(); n > limit+1 { // one of them may be with the consumer
						t.Errorf("seed %d: %d events wait, limit %d", seed, n, limit)
					}
					made.Add(batch)
					return slices.Concat(notice(fmt.Sprint(i, "a")), notice(fmt.Sprint(i, "b")), notice(fmt.Sprint(i, "c")))
				})
			}
		})
		work.Go(func() {
			for i := range rounds / 10 {
				if err := s.Send(func() error { return nil }, func() []event.Event { return notice(fmt.Sprint("sent ", i)) }); err != nil {
					t.Error(err)
				}
			}
		})
		work.Go(func() {
			sent, got := 0, 0
			var last string
			for ev, err := range s.Events(t.Context()) {
				if err != nil {
					if !errors.Is(err, failed) || sent != rounds/10 || got != rounds*batch || last != "last" {
						t.Errorf("seed %d: %d and %d events, %v", seed, got, sent, err)
					}
					return
				}
				want := fmt.Sprint(got/batch, string("abc"[got%batch]))
				switch last = ev.(*event.Notice).Text; {
				case last == want:
					got++
					taken.Add(1)
				case last == fmt.Sprint("sent ", sent):
					sent++
				case last != "last":
					t.Errorf("seed %d: %q instead of %q", seed, last, want)
				}
				if made.Load() == rounds*batch && sent == rounds/10 && got == rounds*batch {
					s.End(failed, func() []event.Event { return notice("last") })
					s.End(nil, nil)
				}
			}
			t.Errorf("seed %d: the events end without an error", seed)
		})
		work.Wait()
	}
}

func TestEvents(t *testing.T) {
	gone := errors.New("gone")
	s := agentkit.New(agentkit.Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(gone)
	for ev, err := range s.Events(ctx) {
		if ev != nil || !errors.Is(err, gone) {
			t.Errorf("event %v, %v", ev, err)
		}
	}
	if _, err := texts(t, s); !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("ranged over again: %v", err)
	}
}

// TestAdd_stop checks that a producer without a consumer waits until Stop, and that the events end
// with the error of Stop.
func TestAdd_stop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, died := agentkit.New(agentkit.Options{Limit: 1}), errors.New("died")
		done := false
		go func() {
			for range 4 {
				add(s, "x")
			}
			done = true
			s.End(nil, nil)
		}()
		if synctest.Wait(); done || s.Alive() != nil || s.Context().Err() != nil {
			t.Error("the producer does not wait")
		}
		s.Stop(died)
		s.Stop(nil)
		<-s.Done()
		if list, err := texts(t, s); len(list) != 4 || !errors.Is(err, died) || !errors.Is(s.Err(), died) {
			t.Errorf("%v, %v; want len(list) == 4 and errors.Is(err, died) and errors.Is(s.Err(), died)", list, err)
		}
		if err := s.Send(func() error { return nil }, nil); !errors.Is(err, agent.ErrClosed) || s.Context().Err() == nil {
			t.Errorf("Send after the end: %v", err)
		}
	})
}

// TestSend checks that the events of the answer follow those of the prompt.
func TestSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := agentkit.New(agentkit.Options{})
		refused := errors.New("refused")
		if err := s.Send(func() error { return refused }, func() []event.Event { return notice("refused") }); !errors.Is(err, refused) {
			t.Error(err)
		}
		err := s.Send(func() error {
			go add(s, "answer")
			synctest.Wait()
			return nil
		}, func() []event.Event { return notice("prompt") })
		synctest.Wait()
		s.End(nil, nil)
		if list, _ := texts(t, s); err != nil || strings.Join(list, " ") != "prompt answer" {
			t.Errorf("%v, %v; want err == nil and strings.Join(list, \" \") == \"prompt answer\"", list, err)
		}
	})
}

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := agentkit.New(agentkit.Options{})
		ready, start := false, time.Now()
		go func() { <-time.After(time.Second); s.Do(func() { ready = true }) }()
		s.Await(t.Context(), time.Minute, func() bool { return ready })
		if d := time.Since(start); d != time.Second {
			t.Errorf("waited %v for a change", d)
		}
		s.Await(t.Context(), time.Minute, func() bool { return false })
		if d := time.Since(start); d != time.Second+time.Minute {
			t.Errorf("waited %v without a change", d)
		}
	})
}

// TestAnswer races answers, the end of the request's context and the end of the session: a request
// has one answer, which its waiter gets, or it is withdrawn.
func TestAnswer(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		s := agentkit.New(agentkit.Options{Cancel: cancelled})
		ctx, cancel := context.WithCancel(t.Context())
		r, err := ask(ctx, s, "r", func(_ context.Context, r *agentkit.Prompt, _ agent.Answer) ([]event.Event, error) {
			return []event.Event{&event.PermissionResolved{RequestID: r.ID, Behavior: event.ResolvedDeny}}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var taken atomic.Int64
		var got agent.Answer
		var work sync.WaitGroup
		steps := []func(){cancel, func() { s.Withdraw(agentkit.All) }, func() { s.End(nil, nil) }}[:rnd.IntN(4)]
		for range 3 {
			steps = append(steps, func() {
				if err := s.Answer(t.Context(), "r", &agent.PermissionAnswer{}); err == nil {
					taken.Add(1)
				} else if !errors.Is(err, agent.ErrNotOpen) && !errors.Is(err, agent.ErrClosed) {
					t.Error(err)
				}
			})
		}
		rnd.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		for _, f := range append(steps, func() { got, _ = s.Wait(ctx, r) }) {
			work.Go(f)
		}
		work.Wait()
		cancel()
		s.End(nil, nil)
		list, _ := texts(t, s)
		withdrawn := slices.Contains(list, "cancelled r")
		if n := taken.Load(); n > 1 || (n == 1) != (got != nil) || (n == 1) == withdrawn || len(list) != 2 {
			t.Fatalf("seed %d: %d answers, %v, events %v", seed, n, got, list)
		}
	}
}

// TestOpen_handler checks that a request stays open if its handler fails, that an answer of the wrong
// kind does not reach it, and that its events follow an answer.
func TestOpen_handler(t *testing.T) {
	s, fail := agentkit.New(agentkit.Options{Cancel: cancelled}), true
	r, err := ask(t.Context(), s, "r", func(_ context.Context, r *agentkit.Prompt, _ agent.Answer) ([]event.Event, error) {
		if fail {
			return nil, agent.ErrUnsupported
		}
		return []event.Event{&event.PermissionResolved{RequestID: r.ID, Behavior: event.ResolvedAllow}}, nil
	})
	if err != nil || s.Request("r") != r {
		t.Fatalf("r is %v, err is %v; want err == nil and s.Request(\"r\") == r", r, err)
	}
	for _, tt := range []struct {
		id   string
		a    agent.Answer
		fail bool
		want error
	}{
		{"other", &agent.PermissionAnswer{}, false, agent.ErrNotOpen},
		{"r", &agent.PlanAnswer{}, false, agent.ErrInvalid},
		{"r", &agent.PermissionAnswer{}, true, agent.ErrUnsupported},
		{"r", &agent.PermissionAnswer{}, false, nil},
		{"r", &agent.PermissionAnswer{}, false, agent.ErrNotOpen},
	} {
		fail = tt.fail
		if err := s.Answer(t.Context(), tt.id, tt.a); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v; want errors.Is(err, tt.want)", tt, err)
		}
	}
	if _, err := s.Open(t.Context(), func() []event.Event { return notice("no request") }, nil); !errors.Is(err, agent.ErrUnsupported) {
		t.Errorf("a request without an event: %v", err)
	}
	s.End(nil, nil)
	if list, _ := texts(t, s); strings.Join(list, " ") != "ask r allow r" {
		t.Errorf("events %v", list)
	}
	if err := s.Answer(t.Context(), "r", &agent.PermissionAnswer{}); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// TestAdd_expired checks that a request that the agent withdrew before it continued is resolved before
// the next event.
func TestAdd_expired(t *testing.T) {
	s := agentkit.New(agentkit.Options{Cancel: cancelled})
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := ask(ctx, s, "r", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), s, "other", nil); err != nil {
		t.Fatal(err)
	}
	cancel()
	add(s, "next")
	if err := s.Check("r", &agent.PermissionAnswer{}); !errors.Is(err, agent.ErrNotOpen) {
		t.Errorf("a request that was taken back: %v", err)
	}
	s.End(nil, nil)
	if list, _ := texts(t, s); strings.Join(list, ", ") != "ask r, ask other, cancelled r, next, cancelled other" {
		t.Errorf("events %v", list)
	}
}

// TestOpen_withdrawn checks that a request that the agent withdraws is resolved at once, without an
// event after it, and that the others stay open. That holds whether the agent waits for its answer or
// not.
func TestOpen_withdrawn(t *testing.T) {
	for name, waits := range map[string]bool{"the answer comes later": false, "the agent waits": true} {
		t.Run(name, func(t *testing.T) {
			s := agentkit.New(agentkit.Options{Cancel: cancelled})
			ctx, cancel := context.WithCancel(t.Context())
			r, err := ask(ctx, s, "r", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ask(t.Context(), s, "other", nil); err != nil {
				t.Fatal(err)
			}
			waited := make(chan error, 1)
			go func() {
				if !waits {
					waited <- context.Canceled
					return
				}
				_, err := s.Wait(ctx, r)
				waited <- err
			}()
			var seen []string
			bound, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			for ev, err := range s.Events(bound) {
				if err != nil {
					t.Fatalf("after %v: %v", seen, err)
				}
				switch ev := ev.(type) {
				case *event.PermissionRequest:
					seen = append(seen, "ask "+ev.RequestID)
				case *event.PermissionResolved:
					seen = append(seen, ev.Behavior+" "+ev.RequestID)
				}
				if len(seen) == 2 {
					cancel()
				}
				if len(seen) == 3 {
					break
				}
			}
			if got := strings.Join(seen, ", "); got != "ask r, ask other, cancelled r" {
				t.Errorf("events %s", got)
			}
			if err := <-waited; err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the wait for its answer ends with %v", err)
			}
			if err := s.Answer(t.Context(), "r", &agent.PermissionAnswer{}); !errors.Is(err, agent.ErrNotOpen) {
				t.Errorf("an answer that is too late: %v", err)
			}
			if err := s.Check("other", &agent.PermissionAnswer{}); err != nil {
				t.Errorf("the other request: %v", err)
			}
			cancel()
			s.End(nil, nil)
		})
	}
}

// TestEnd_open checks that each request has one resolution after the end: by its answer, by Cancel,
// by the last events, or without an answer.
func TestEnd_open(t *testing.T) {
	head := event.Header{Provider: "p", SessionID: "s"}
	resolved := func(id, behavior string) []event.Event {
		return []event.Event{&event.PermissionResolved{Header: head, RequestID: id, Behavior: behavior}}
	}
	s := agentkit.New(agentkit.Options{Cancel: func(r *agentkit.Prompt) []event.Event {
		if r.ID == "cancelled" {
			return resolved(r.ID, event.ResolvedUnknown)
		}
		return nil
	}})
	var asks []event.Event
	for _, id := range []string{"answered", "cancelled", "last", "withdrawn", "lost"} {
		asks = append(asks, &event.PermissionRequest{Header: head, RequestID: id, ToolUseID: "t-" + id, Kind: event.PermissionTool})
	}
	asks = append(asks, &event.QuestionRequest{Header: head, RequestID: "question", Kind: event.QuestionAsk}, &event.QuestionRequest{Header: head, RequestID: "form", Kind: event.QuestionElicitation})
	s.AddLine(1, false, func() []event.Event { return asks })
	s.AddLine(2, true, func() []event.Event {
		return []event.Event{&event.PermissionRequest{Header: head, RequestID: "past", Kind: event.PermissionTool}}
	})
	if err := s.Answer(t.Context(), "lost", &agent.PermissionAnswer{Allow: true}); err != nil {
		t.Fatal(err) // in memory, without a line
	}
	s.Update(func() []event.Event { return resolved("answered", event.ResolvedAllow) })
	s.Withdraw(func(r *agentkit.Prompt) bool { return r.ID == "withdrawn" })
	s.End(nil, func() []event.Event {
		return append(resolved("last", event.ResolvedExpired), resolved("answered", event.ResolvedDeny)...)
	})
	got := map[string]string{}
	for ev, err := range s.Events(t.Context()) {
		if id := event.ResolvedID(ev); id != "" && err == nil {
			if got[id] != "" || ev.Head().Provider != "p" || ev.Head().SessionID != "s" {
				t.Errorf("%s is resolved after %q by %#v", id, got[id], ev)
			}
			switch ev := ev.(type) {
			case *event.PermissionResolved:
				got[id] = ev.Behavior + ev.ToolUseID
			case *event.QuestionResolved:
				got[id] = ev.Action
			}
		}
	}
	if want := "map[answered:allow cancelled:unknown form:expired last:expired lost:expiredt-lost past:expired question:expired withdrawn:expiredt-withdrawn]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
