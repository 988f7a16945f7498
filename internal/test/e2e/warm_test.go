package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudepool"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

func TestPrewarm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("Hello from the API."))
	warm, err := claude.Prewarm(t.Context(), w.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer warm.Close()
	if err := warm.Check(t.Context()); err != nil || warm.ServerInfo() == nil {
		t.Errorf("it does not answer: %v", err)
	}
	if n := len(w.api.Requests()); n != 0 {
		t.Errorf("the API was asked %d times before there was a prompt", n)
	}
	got := collect(warm.Query(t.Context(), "Say hello"))
	if got.err != nil || got.text() != "Hello from the API." || got.one(t).IsError {
		t.Errorf("%v %q %v; want got.err == nil and got.text() == \"Hello from the API.\" and not got.one(t).IsError", got.err, got.text(), got.kinds())
	}
	cold := newWorld(t, claudetest.Say("Hello from the API."))
	want := collect(claude.Query(t.Context(), "Say hello", cold.opts))
	if !slices.Equal(got.kinds(), want.kinds()) {
		t.Errorf("warm %v, cold %v", got.kinds(), want.kinds())
	}
}

// TestPoolRecycles: a conversation continues in a new process, also for the CLI.
func TestPoolRecycles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Say("one"), claudetest.Say("two"))
	p := claudepool.New(claudepool.Options{Min: 1, Max: 2, Recycle: claudepool.Recycle{Memory: 1 << 20}})
	defer p.Close()
	if err := p.Warm(t.Context(), w.opts); err != nil {
		t.Fatal(err)
	}
	l, err := p.Connect(t.Context(), w.opts)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	first := collect(l.Query(t.Context(), "first"))
	pid, session := l.Client().View().PID, l.Client().SessionID()
	if n, err := l.Client().MeasureMemory(); err != nil || n < 50<<20 {
		t.Errorf("the CLI has %d bytes, %v", n, err)
	}
	second := collect(l.Query(t.Context(), "second"))
	if first.text() != "one" || second.text() != "two" || first.err != nil || second.err != nil {
		t.Fatalf("%q %v, %q %v; want first.text() == \"one\" and second.text() == \"two\" and first.err == nil and second.err == nil", first.text(), first.err, second.text(), second.err)
	}
	if now := l.Client().View().PID; !l.Warm() || now == pid || l.Client().SessionID() != session || p.Stats().Recycled != 1 {
		t.Errorf("warm %v, process %d and then %d, session %s and then %s, %+v", l.Warm(), pid, now, session, l.Client().SessionID(), p.Stats())
	}
	if asked := w.asked(1); !strings.Contains(asked, "first") || !strings.Contains(asked, "second") {
		t.Errorf("the second request has %s", asked)
	}
}
