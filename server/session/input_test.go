package session

import (
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// TestQueued checks what can be changed: an input that waits, and no other.
func TestQueued(t *testing.T) {
	commands := map[string]func(*core, string) (draft, error){
		"edit":   func(c *core, id string) (draft, error) { return c.editInput(id, mustJSON("other")) },
		"remove": func(c *core, id string) (draft, error) { return c.removeInput(id) },
	}
	for status, waits := range map[inputStatus]bool{inputQueued: true, inputHeld: true, inputUnknown: true, inputSent: false, inputDelivered: false} {
		for name, command := range commands {
			c := &core{Inputs: []input{{ID: "a", Content: mustJSON("x"), Status: status}}}
			if _, err := command(c, "a"); (err == nil) != waits {
				t.Errorf("%s of an input that is %s: %v, want it to be possible: %v", name, status, err, waits)
			}
			if _, err := command(c, "b"); FailureOf(err).Reason != api.Conflict {
				t.Errorf("%s of an input that is not there: %v", name, err)
			}
		}
		c := &core{Inputs: []input{{ID: "a", Content: mustJSON("x"), Status: status}}}
		if _, err := c.reorder([]string{"a"}); (err == nil) != waits {
			t.Errorf("a new order of an input that is %s: %v", status, err)
		}
		if in, next := c.nextInput(); next != (status == inputQueued) || next && in.ID != "a" {
			t.Errorf("an input that is %s is sent next: %v", status, next)
		}
	}
}

// TestQueue_bound checks that a queue takes its last input and no more.
func TestQueue_bound(t *testing.T) {
	c := &core{}
	for range maxQueue - 1 {
		c.Inputs = append(c.Inputs, input{Status: inputQueued})
	}
	in := input{ID: "a", Content: mustJSON("x"), Status: inputQueued}
	if _, err := c.enqueue(in, ""); err != nil {
		t.Errorf("input %d: %v", maxQueue, err)
	}
	c.Inputs = append(c.Inputs, in)
	if _, err := c.enqueue(in, ""); FailureOf(err).Reason != api.LimitReached {
		t.Errorf("input %d: %v, want a refusal", maxQueue+1, err)
	}
}

// TestLimitedUntil checks which resets of a rate limit are believed: those that are to come, and not
// further away than any limit lasts.
func TestLimitedUntil(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		limited string
		want    bool
	}{
		"none":             {"", false},
		"no time":          {"soon", false},
		"past":             {Timestamp(now.Add(-time.Second)), false},
		"now":              {Timestamp(now), false},
		"to come":          {Timestamp(now.Add(time.Second)), true},
		"the furthest":     {Timestamp(now.Add(maxResetWait)), true},
		"further":          {Timestamp(now.Add(maxResetWait + time.Second)), false},
		"years away":       {Timestamp(now.AddDate(40, 0, 0)), false},
		"as far as it can": {Timestamp(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), false},
	} {
		k := core{Limited: c.limited, Opened: Opened{Params: api.ConnectParams{WaitForRateLimit: true}}}
		if got := k.limitedUntil(now); (got != "") != c.want || got != "" && got != c.limited {
			t.Errorf("%s: limited until %q, want %v", name, got, c.want)
		}
		if got := k.waitsForReset(now); got != c.want {
			t.Errorf("%s: inputs wait: %v, want %v", name, got, c.want)
		}
		k.Opened.Params.WaitForRateLimit = false
		if k.waitsForReset(now) {
			t.Errorf("%s: inputs wait, and nobody asked for it", name)
		}
		failed, fine := &event.ResultMessage{IsError: true}, &event.ResultMessage{}
		if n := len(k.waitForReset(failed, now, "id")); (n == 1) != c.want || n > 1 {
			t.Errorf("%s: %d drafts after a turn that failed", name, n)
		}
		if n := len(k.waitForReset(fine, now, "id")); n != 0 {
			t.Errorf("%s: %d drafts after a turn that did not fail", name, n)
		}
	}
}

// TestRateLimited checks what is read of an event about a rate limit.
func TestRateLimited(t *testing.T) {
	reset := time.Unix(1_800_000_000, 0)
	for info, want := range map[string]*string{
		"": nil, `[]`: nil, `{}`: nil, `{"status":"allowed","resetsAt":1800000000}`: new(""), `{"status":"allowed_warning"}`: new(""),
		`{"status":"rejected","resetsAt":1800000000}`: new(Timestamp(reset)), `{"status":"rejected"}`: new(""), `{"status":"rejected","resetsAt":-1}`: new(""),
		`{"status":"rejected","resetsAt":1e11}`: new(""), `{"status":"rejected","resetsAt":1e300}`: new(""),
	} {
		got := rateLimited(&event.RateLimit{Info: event.JSON(info)})
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s: %v, want %v", info, got, want)
		}
	}
}
