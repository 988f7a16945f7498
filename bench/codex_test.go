package main

import (
	"testing"

	"github.com/seed7221b0f9/parley/codex/rollout"
)

// TestRollouts checks that the generated rollouts can be listed and read, and that their tokens
// match the generator's count.
func TestRollouts(t *testing.T) {
	c := &codexBench{}
	dir := t.TempDir()
	if err := c.ensure(t.Context(), dir, 3, 300_000); err != nil {
		t.Fatal(err)
	}
	d := rollout.Open(c.home)
	sessions, problems, err := d.List(t.Context())
	if err != nil || len(problems) > 0 || len(sessions) != 3 || sessions[0].Preview != "Prompt 0, please." || sessions[0].Model != "gpt-5.5" {
		t.Fatalf("%d sessions, %v, %v", len(sessions), problems, err)
	}
	conversation, err := d.Read(t.Context(), sessions[0].ThreadID)
	if err != nil || conversation.Skipped > 0 || len(conversation.Turns) < 2 || len(conversation.Turns[1].Items) != 6 {
		t.Fatalf("%d lines passed over, %d turns, %v", conversation.Skipped, len(conversation.Turns), err)
	}
	var tokens int64
	for u, err := range d.Usage(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		tokens += u.Tokens.TotalTokens
	}
	if tokens != c.tokens || tokens == 0 || c.bytes < 300_000 {
		t.Errorf("%d tokens, the generator says %d; %d bytes", tokens, c.tokens, c.bytes)
	}
	again := &codexBench{}
	if err := again.ensure(t.Context(), dir, 3, 300_000); err != nil || again.tokens != c.tokens || again.bytes != c.bytes {
		t.Errorf("what is there is written anew: %+v, %v", again, err)
	}
}
