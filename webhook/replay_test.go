package webhook_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/webhook"
)

// TestReplays checks that a call that is repeated within the window, while its signature is valid,
// is detected, and that ids are dropped when no signature can be valid any more.
func TestReplays(t *testing.T) {
	at := time.Unix(1_900_000_000, 0)
	body := []byte(`{"id":"s-1-7"}`)
	header := webhook.Sign("secret", at, body)
	var seen webhook.Replays
	for i, now := range []time.Time{at.Add(-4 * time.Minute), at, at.Add(5 * time.Minute)} {
		if err := webhook.Verify("secret", header, body, now, 0); err != nil {
			t.Fatal(err)
		}
		if got := seen.Seen("s-1-7", now, 0); got != (i > 0) {
			t.Errorf("call %d: seen %t", i, got)
		}
	}
	if seen.Seen("s-1-8", at, 0) {
		t.Error("another event was seen")
	}
	late := at.Add(time.Hour)
	if seen.Seen("s-1-7", late, 0) || webhook.Verify("secret", header, body, late, 0) == nil {
		t.Error("what no signature covers is remembered, or still good")
	}
	const most = 100_000
	seen = webhook.Replays{}
	for i := range most {
		seen.Seen(fmt.Sprint(i), late, 0)
	}
	if !seen.Seen("0", late, 0) || !seen.Seen(fmt.Sprint(most-1), late, 0) {
		t.Errorf("of %d events the first or the last is not remembered", most)
	}
	seen.Seen("more", late, 0)
	if seen.Seen("0", late, 0) || !seen.Seen("more", late, 0) {
		t.Errorf("after %d events the first is remembered, or the last is not", most+1)
	}
}

func ExampleReplays() {
	var seen webhook.Replays
	now := time.Unix(1_900_000_000, 0)
	fmt.Println(seen.Seen("s-1-7", now, 0), seen.Seen("s-1-7", now, 0))
	// Output: false true
}

// TestReplays_model compares Replays with a simple list: an event was seen if it arrived within the
// last two windows, including both ends.
func TestReplays_model(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		window := time.Duration(r.IntN(3)) * time.Second // 0 is the default
		unit := window / 2
		if window == 0 {
			unit = webhook.DefaultWindow / 2
		}
		var seen webhook.Replays
		first := map[string]time.Time{}
		now := time.Unix(1_900_000_000, 0)
		for step := range 300 {
			now = now.Add(time.Duration(r.IntN(3)) * unit)
			id := fmt.Sprint(r.IntN(6))
			at, known := first[id]
			want := known && now.Sub(at) <= 4*unit
			if !want {
				first[id] = now
			}
			if got := seen.Seen(id, now, window); got != want {
				t.Fatalf("seed %d, step %d: Seen(%q) = %t, want %t: it came %v ago, the window is %v", seed, step, id, got, want, now.Sub(at), window)
			}
		}
	}
}
