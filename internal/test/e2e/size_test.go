package e2e_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// One answer of 5 MB is two lines of that size: the answer and the result.
func TestLongLine(t *testing.T) {
	t.Parallel()
	const unit, n = "0123456789abcdef", 5 << 20 / 16
	w := newWorld(t, claudetest.Reply{Blocks: []claudetest.Block{{TextRepeat: &claudetest.TextRepeat{S: unit, N: n}}}})
	got := collect(claude.Query(t.Context(), "much, please", w.opts))
	if got.err != nil {
		t.Fatal(got.err)
	}
	want := strings.Repeat(unit, n)
	if got.text() != want || got.one(t).Result != want {
		t.Errorf("%d bytes of text, %d of result", len(got.text()), len(got.one(t).Result))
	}
}

func TestLongPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("read it all"))
	prompt := strings.Repeat("All work and no play. ", 2<<20/22)
	got := collect(claude.Query(t.Context(), prompt, w.opts))
	if got.err != nil || got.one(t).Result != "read it all" {
		t.Fatalf("%v %v; want got.err == nil and got.one(t).Result == \"read it all\"", got.err, got.kinds())
	}
	if asked := w.asked(0); strings.Count(asked, "All work and no play. ") != 2<<20/22 {
		t.Errorf("the API saw %d bytes", len(asked))
	}
}

func TestManyAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many CLIs")
	}
	var wg sync.WaitGroup
	for i := range short.Count(0, 8, 20) {
		answer := fmt.Sprintf("answer %d", i)
		w := newWorld(t, claudetest.Say(answer), claudetest.Say("second "+answer))
		wg.Go(func() {
			c, err := claude.Connect(t.Context(), w.opts)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for _, want := range []string{answer, "second " + answer} {
				got := collect(c.Query(t.Context(), "which are you?"))
				if got.err != nil || got.text() != want {
					t.Errorf("%d: %q, %v; want got.err == nil and got.text() == want", i, got.text(), got.err)
				}
			}
		})
	}
	wg.Wait()
}
