package server

import (
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/server/webpush"
	"github.com/seed7221b0f9/parley/webhook"
)

// TestPush_message checks how urgent each event is, that only a newer one of the same kind and session replaces a message, and how long it waits.
func TestPush_message(t *testing.T) {
	topics := map[string]string{}
	for _, kind := range []string{webhook.NeedsAnswer, webhook.TurnDone, webhook.Test, "newer"} {
		for _, session := range []string{"s-1", "s-2", "s-1" + kind} {
			ev := webhook.Event{Type: kind, SessionID: session, Seq: 7}
			m, err := messageOf(ev, offer{Nonce: "n"}, "mailto:me@example.org")
			if err != nil {
				t.Fatal(err)
			}
			want := webpush.High
			if kind == webhook.TurnDone {
				want = webpush.Normal
			}
			if m.Urgency != want || m.TTL != pushTTL || m.Subject != "mailto:me@example.org" || len(m.Topic) != 32 {
				t.Errorf("%s: urgency %s, TTL %v, subject %q, topic %q", kind, m.Urgency, m.TTL, m.Subject, m.Topic)
			}
			if other, ok := topics[m.Topic]; ok {
				t.Errorf("%s of %s replaces %s", kind, session, other)
			}
			topics[m.Topic] = kind + " of " + session
			ev.Seq, ev.Title = 8, "another"
			if again, err := messageOf(ev, offer{}, ""); err != nil || again.Topic != m.Topic {
				t.Errorf("a newer %s of %s does not replace the one before: %q, %v", kind, session, again.Topic, err)
			}
		}
	}
}

// TestPushes checks which events a browser gets: those of its tenant that are not too old.
func TestPushes(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	h := &webhooks{opts: Options{now: func() time.Time { return now }}}
	at := func(age time.Duration) string { return now.Add(-age).Format(time.RFC3339) }
	for _, tt := range []struct {
		browser, tenant, time string
		want                  bool
	}{
		{"", "", at(0), true}, {"", "a", at(0), true}, {"a", "a", at(0), true}, {"a", "", at(0), false}, {"a", "b", at(0), false},
		{"", "", at(pushTTL - time.Second), true}, {"", "", at(pushTTL), false}, {"", "", at(-time.Hour), true}, {"", "", "", false}, {"", "", "yesterday", false},
	} {
		k := &subscriber{Push: &pushed{Tenant: tt.browser}}
		if got := h.pushes(k, webhook.Event{Tenant: tt.tenant, Time: tt.time}); got != tt.want {
			t.Errorf("an event of tenant %q at %s for a browser of %q: %t, want %t", tt.tenant, tt.time, tt.browser, got, tt.want)
		}
	}
}
