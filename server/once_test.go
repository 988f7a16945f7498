package server

import (
	"testing"
	"time"
)

// TestOnces checks that a secret returns its value once, unless it has expired or was dropped, and
// that a secret above the limit ends the oldest.
func TestOnces(t *testing.T) {
	now := time.Unix(1000, 0)
	o := &onces[int]{now: func() time.Time { return now }, max: 3}
	var secrets []string
	for i := range 5 {
		secret, expires, err := o.begin(i, time.Minute)
		if err != nil || !expires.Equal(now.Add(time.Minute)) {
			t.Errorf("secret %d expires at %v, want in a minute", i, expires)
		}
		secrets = append(secrets, secret)
	}
	o.drop(func(n int) bool { return n == 3 })
	for i, want := range []bool{false, false, true, false, true} {
		for again := range 2 {
			got, ok := o.take(secrets[i])
			if ok != (want && again == 0) || ok && got != i {
				t.Errorf("secret %d, use %d: %d, %v", i, again, got, ok)
			}
		}
	}
	for _, tt := range []struct {
		age time.Duration
		ok  bool
	}{{time.Minute - 1, true}, {time.Minute, false}} {
		secret, _, _ := o.begin(9, time.Minute)
		now = now.Add(tt.age)
		if _, ok := o.take(secret); ok != tt.ok {
			t.Errorf("after %v it is taken: %v, want %v", tt.age, ok, tt.ok)
		}
	}
	if _, ok := o.take(""); ok {
		t.Error("an empty secret was taken")
	}
}
