package agentkit_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

func put(b *agentkit.Box, ev event.Event) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Queue = append(b.Queue, ev)
	b.Changed.Broadcast()
}

func TestEvents(t *testing.T) {
	b, failed := agentkit.New(), errors.New("failed")
	first, second := &event.Notice{Text: "first"}, &event.Notice{Text: "second"}
	put(b, first)
	var got []event.Event
	for ev, err := range b.Events(t.Context()) {
		if err != nil {
			if !errors.Is(err, failed) {
				t.Errorf("the events end with %v", err)
			}
			break
		}
		if got = append(got, ev); ev == first { // the second comes while the reader waits
			go func() {
				put(b, second)
				b.Mu.Lock()
				defer b.Mu.Unlock()
				b.Over, b.Err = true, failed
				b.Changed.Broadcast()
			}()
		}
	}
	if len(got) != 2 || got[0] != first || got[1] != second {
		t.Errorf("events %v", got)
	}
	for _, err := range b.Events(t.Context()) {
		if !errors.Is(err, agent.ErrInvalid) {
			t.Errorf("ranged over again: %v", err)
		}
	}
}

func TestEvents_context(t *testing.T) {
	b, gone := agentkit.New(), errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(gone)
	for ev, err := range b.Events(ctx) {
		if ev != nil || !errors.Is(err, gone) {
			t.Errorf("event %v, %v", ev, err)
		}
	}
}
