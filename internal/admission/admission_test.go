package admission_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/internal/admission"
)

// TestAdmission_fair checks that a tenant with three waiting callers does not delay the first place
// of another, that the callback runs once for each waiting caller, and that all places are
// returned.
func TestAdmission_fair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := 0
		a := admission.New(1, errors.New("closed"), func() { waits++ })
		release, err := a.Acquire(t.Context(), "x", 1)
		if err != nil || waits != 0 {
			t.Fatalf("the first caller: %v, %d waits", err, waits)
		}
		var order []string
		for _, tenant := range []string{"greedy", "greedy", "greedy", "modest"} {
			go func() {
				free, err := a.Acquire(t.Context(), tenant, 1)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, tenant)
				free()
			}()
			synctest.Wait()
			<-time.After(time.Second) // of the bubble, so that each has waited longer than the next
		}
		if free, waiting := a.Places(); free != 0 || waiting != 4 || waits != 4 {
			t.Errorf("%d places are free, %d callers wait, %d callbacks; want 0, 4 and 4", free, waiting, waits)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := a.Acquire(cancelled, "gone", 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled caller gets %v, want %v", err, context.Canceled)
		}
		release()
		synctest.Wait()
		if got, want := fmt.Sprint(order), "[greedy modest greedy greedy]"; got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
		if free, waiting := a.Places(); free != 1 || waiting != 0 {
			t.Errorf("%d places are free and %d callers wait, want 1 and 0", free, waiting)
		}
	})
}

// TestAdmission_leave checks that when a caller stops waiting, those after it are admitted if there
// is room.
func TestAdmission_leave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := admission.New(2, errors.New("closed"), nil)
		release, err := a.Acquire(t.Context(), "x", 1)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		heavy, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := a.Acquire(heavy, "x", 2); !errors.Is(err, context.Canceled) {
				t.Errorf("the heavy caller gets %v, want %v", err, context.Canceled)
			}
		}()
		synctest.Wait()
		light, stop := context.WithCancel(t.Context())
		defer stop()
		admitted := false
		go func() {
			free, err := a.Acquire(light, "x", 1)
			if admitted = err == nil; admitted {
				free()
			}
		}()
		synctest.Wait()
		if admitted {
			t.Error("the light caller is admitted before the heavy one")
		}
		cancel()
		synctest.Wait()
		if !admitted {
			t.Errorf("the light caller waits though a place is free: %+v", a.State())
		}
	})
}

// TestAdmission_oneAtATime checks that a tenant that requests one place at a time gets no more
// places than one that waits, because its earlier places count.
func TestAdmission_oneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := admission.New(1, errors.New("closed"), nil)
		release, err := a.Acquire(t.Context(), "often", 1)
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		for _, tenant := range []string{"often", "modest"} {
			go func() {
				free, err := a.Acquire(t.Context(), tenant, 1)
				if err != nil {
					t.Error(err)
					return
				}
				order = append(order, tenant)
				free()
			}()
			synctest.Wait()
			<-time.After(time.Second) // of the bubble, so that the first has waited longer
		}
		release()
		synctest.Wait()
		if got, want := fmt.Sprint(order), "[modest often]"; got != want {
			t.Errorf("the order is %s, want %s", got, want)
		}
	})
}
