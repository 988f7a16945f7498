// Package sameids checks that a restarted agent that uses its ids again changes nothing that it said before.
package sameids

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent/event"
)

// Check folds the messages of an agent once and twice, with a restart between. What the first run has left in the
// conversation must be the same in both, and the second run must add its answers.
func Check(t testing.TB, messages []json.RawMessage) {
	t.Helper()
	once, twice := fold(t, messages, 1), fold(t, messages, 2)
	for _, thread := range once.Threads {
		id := thread.ParentToolUseID
		before, after := items(t, thread), items(t, twice.Thread(id))
		if len(after) < len(before) {
			t.Errorf("thread %q: the second run has removed %d of %d items", id, len(before)-len(after), len(before))
			continue
		}
		if diff := cmp.Diff(before, after[:len(before)]); diff != "" {
			t.Errorf("thread %q: the second run has changed items of the first: -before +after\n%s", id, diff)
		}
		if n, m := answers(thread), answers(twice.Thread(id)); m != 2*n {
			t.Errorf("thread %q: %d answers after one run, %d after two", id, n, m)
		}
	}
	if n, m := len(once.Turns), len(twice.Turns); m != 2*n || !slices.Equal(turns(once), turns(twice)[:n]) {
		t.Errorf("the turns are %q after one run, %q after two", turns(once), turns(twice))
	}
	if n, m := len(once.Tasks), len(twice.Tasks); m != 2*n {
		t.Errorf("%d tasks after one run, %d after two", n, m)
	}
}

// fold returns the conversation of several runs of an agent.
func fold(t testing.TB, messages []json.RawMessage, runs int) *event.Conversation {
	t.Helper()
	c := &event.Conversation{}
	var d event.Decoder
	apply := func(line json.RawMessage) {
		events, err := d.Decode(line)
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		for _, ev := range events {
			c.Apply(ev)
		}
	}
	for range runs {
		apply(state("starting"))
		for _, line := range messages {
			apply(line)
		}
		apply(state("interrupted"))
	}
	return c
}

func state(name string) json.RawMessage {
	return json.RawMessage(`{"type":"session_state","state":"` + name + `","session_id":"s","provider":"server"}`)
}

func items(t testing.TB, thread *event.Thread) []string {
	t.Helper()
	var all []string
	if thread == nil {
		return nil
	}
	for _, it := range thread.Items {
		if it.Message != nil && it.Message.Role == "user" { // a prompt has an id of the client: with the same one it is the same prompt, in its next turn
			prompt := *it
			prompt.TurnID = ""
			it = &prompt
		}
		text, err := json.Marshal(it)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(text))
	}
	return all
}

func answers(thread *event.Thread) (n int) {
	for _, it := range thread.Items {
		if it.Message != nil && it.Message.Role == "assistant" {
			n++
		}
	}
	return n
}

func turns(c *event.Conversation) (ids []string) {
	for _, turn := range c.Turns {
		ids = append(ids, turn.ID)
	}
	return ids
}
