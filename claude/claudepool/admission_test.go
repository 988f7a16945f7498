package claudepool_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudepool"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// admitted records the admitted callers in order.
type admitted struct {
	mu  sync.Mutex
	who []string
}

func (a *admitted) add(who string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.who = append(a.who, who)
}

func TestAdmissionIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := claudepool.NewAdmission(1)
		first, ok := a.TryAcquire(1)
		if !ok {
			t.Fatal("nobody holds a place")
		}
		var got admitted
		var all sync.WaitGroup
		join := func(tenant string) {
			all.Go(func() {
				release, err := a.Acquire(t.Context(), tenant, 1)
				if err != nil {
					t.Error(err)
					return
				}
				got.add(tenant)
				release()
			})
			<-time.After(time.Millisecond) // fixes the order of arrival
			synctest.Wait()
		}
		for _, tenant := range strings.Fields("a a a a b b c") {
			join(tenant)
		}
		var planned []string
		for _, w := range a.State().Waiting {
			planned = append(planned, w.Tenant)
		}
		first()
		all.Wait()
		want := "a b c a b a a"
		if s := strings.Join(got.who, " "); s != want || strings.Join(planned, " ") != want {
			t.Errorf("admitted %s, planned %s, want %s", s, strings.Join(planned, " "), want)
		}
	})
}

// TestAdmissionOfOneAtATime: a tenant that requests again as soon as it is done
// has no advantage over one with many pending requests.
func TestAdmissionOfOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := claudepool.NewAdmission(1)
		var turns [2]atomic.Int64
		var all sync.WaitGroup
		work := func(tenant int) {
			release, err := a.Acquire(t.Context(), fmt.Sprint(tenant), 1)
			if err != nil {
				t.Error(err)
				return
			}
			<-time.After(time.Second)
			turns[tenant].Add(1)
			release()
		}
		for range 50 {
			all.Go(func() { work(0) })
		}
		all.Go(func() {
			for range 50 {
				work(1)
			}
		})
		<-time.After(20*time.Second + time.Millisecond)
		if m, o := turns[0].Load(), turns[1].Load(); m < 8 || o < 8 {
			t.Errorf("in 20 turns: %d for the one with many, %d for the other", m, o)
		}
		all.Wait()
	})
}

// TestAdmissionOfHeavyOnes: small requests do not starve a large one.
func TestAdmissionOfHeavyOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := claudepool.NewAdmission(4)
		hold, err := a.Acquire(t.Context(), "light", 1)
		if err != nil {
			t.Fatal(err)
		}
		var got admitted
		var all sync.WaitGroup
		all.Go(func() {
			release, err := a.Acquire(t.Context(), "heavy", 100) // the whole capacity
			if err != nil {
				t.Error(err)
				return
			}
			got.add("heavy")
			release()
		})
		synctest.Wait()
		all.Go(func() {
			release, err := a.Acquire(t.Context(), "light", 1)
			if err != nil {
				t.Error(err)
				return
			}
			got.add("light")
			release()
		})
		synctest.Wait()
		if len(got.who) > 0 {
			t.Errorf("admitted %v", got.who)
		}
		if _, ok := a.TryAcquire(1); ok {
			t.Error("somebody was passed")
		}
		hold()
		hold() // counts once
		all.Wait()
		if got.who[0] != "heavy" {
			t.Errorf("admitted %v", got.who)
		}
	})
}

func TestAdmissionLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := claudepool.NewAdmission(1)
		hold, _ := a.Acquire(t.Context(), "a", 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("no more patience")
		var left error
		done := make(chan struct{})
		go func() { defer close(done); _, left = a.Acquire(ctx, "b", 1) }()
		synctest.Wait()
		cancel(why)
		<-done
		if !errors.Is(left, why) || len(a.State().Waiting) != 0 {
			t.Errorf("%v, %+v; want errors.Is(left, why) and len(a.State().Waiting) == 0", left, a.State())
		}
		go func() { _, left = a.Acquire(t.Context(), "b", 1) }()
		synctest.Wait()
		a.Close()
		synctest.Wait()
		if !errors.Is(left, claude.ErrClosed) {
			t.Errorf("left is %v; want errors.Is(left, claude.ErrClosed)", left)
		}
		hold()
		if _, err := a.Acquire(t.Context(), "a", 1); !errors.Is(err, claude.ErrClosed) {
			t.Error(err)
		}
	})
}

// TestAdmissionNeverOver: the held places never exceed the capacity.
func TestAdmissionNeverOver(t *testing.T) {
	a := claudepool.NewAdmission(5)
	var held atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		random := rand.New(rand.NewPCG(uint64(i), 1))
		all.Go(func() {
			for range 200 {
				weight := 1 + random.Int64N(4)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(2000))*time.Microsecond)
				release, err := a.Acquire(ctx, fmt.Sprint(i%3), weight)
				cancel()
				if err != nil {
					continue
				}
				if n := held.Add(weight); n > 5 {
					t.Errorf("%d held", n)
				}
				held.Add(-weight)
				release()
			}
		})
	}
	all.Wait()
	if st := a.State(); st.Held != 0 || len(st.Waiting) != 0 {
		t.Errorf("%+v; want st.Held == 0 and len(st.Waiting) == 0", st)
	}
}

// TestAdmissionBeforeTheStart: a process starts only when it has a place, and
// releases the place when it has ended.
func TestAdmissionBeforeTheStart(t *testing.T) {
	opts := claudetest.FakeCLI("hello")
	admission := claudepool.NewAdmission(1)
	opts.Admission, opts.Tenant = admission, "a"
	first, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() { _, err := claude.Connect(ctx, opts); waiting <- err }()
	for len(admission.State().Waiting) == 0 {
		select {
		case err := <-waiting:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	first.Close()
	if r, err := claude.Run(t.Context(), "x", opts); err != nil || r.Result != "you said x" {
		t.Errorf("%+v, %v; want err == nil and r.Result == \"you said x\"", r, err)
	}
	opts.CLIPath = "/nowhere/claude"
	if _, err := claude.Run(t.Context(), "x", opts); err == nil || admission.State().Held != 0 {
		t.Errorf("%v, %+v; want err != nil and admission.State().Held == 0", err, admission.State())
	}
	opts.CLIPath = claudetest.FakeCLI("hello").CLIPath
	admission.Close()
	if _, err := claude.Connect(t.Context(), opts); !errors.Is(err, claude.ErrClosed) {
		t.Errorf("behind its end: %v", err)
	}
}
