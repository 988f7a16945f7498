package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// echo is a CLI that answers every request with its number, in random order.
type echo struct {
	mux   *Mux
	work  sync.WaitGroup
	quiet atomic.Bool // answers no more
}

func (e *echo) send(_ context.Context, line []byte) error {
	var r struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
		Request   struct {
			N int `json:"n"`
		} `json:"request"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	if r.Type != "control_request" || e.quiet.Load() {
		return nil
	}
	answer := fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%d}}`, r.RequestID, r.Request.N)
	e.work.Go(func() {
		if rand.IntN(8) == 0 {
			<-time.After(time.Duration(rand.IntN(300)) * time.Microsecond)
		}
		e.mux.Deliver("control_response", answer)
		if rand.IntN(16) == 0 {
			e.mux.Deliver("control_response", answer) // twice
		}
	})
	return nil
}

// roundTrip makes one call, which may be cancelled, and counts its outcome.
func (e *echo) roundTrip(t *testing.T, n int, counts *[3]atomic.Int64) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if rand.IntN(4) == 0 {
		stop := time.AfterFunc(time.Duration(rand.IntN(200))*time.Microsecond, cancel)
		defer stop.Stop()
	}
	a, err := e.mux.Call(ctx, fmt.Appendf(nil, `{"subtype":"echo","n":%d}`, n))
	switch {
	case err == nil && a.Body == fmt.Sprint(n):
		counts[0].Add(1)
	case errors.Is(err, context.Canceled) && a.Body == "":
		counts[1].Add(1)
	case err == errGone && a.Body == "":
		counts[2].Add(1)
	default:
		t.Errorf("call %d gave %q, %v", n, a.Body, err)
	}
}

func TestTenThousandRoundTrips(t *testing.T) {
	const callers, each = 64, 160
	e := &echo{}
	e.mux = New(Options{Send: e.send})
	var counts [3]atomic.Int64
	var left atomic.Int64
	left.Store(callers * each)
	var work sync.WaitGroup
	for c := range callers {
		work.Go(func() {
			for i := range each {
				e.roundTrip(t, c*each+i, &counts)
				if left.Add(-1) == callers*4 {
					e.quiet.Store(true) // the remaining calls wait forever
					time.AfterFunc(time.Millisecond, func() { e.mux.Fail(errGone) })
				}
			}
		})
	}
	work.Wait()
	e.work.Wait()
	e.mux.Wait()
	answered, cancelled, failed := counts[0].Load(), counts[1].Load(), counts[2].Load()
	if answered+cancelled+failed != callers*each || answered == 0 || cancelled == 0 || failed == 0 {
		t.Errorf("%d answered, %d cancelled, %d failed of %d", answered, cancelled, failed, callers*each)
	}
	e.mux.update(func(s *state) {
		if len(s.pending) != 0 || len(s.handling) != 0 {
			t.Errorf("%d calls and %d requests are left", len(s.pending), len(s.handling))
		}
	})
}
