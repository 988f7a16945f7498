package main

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/bench/corpus"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// corpusDir returns a small generated corpus.
func corpusDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := corpus.Write(t.Context(), dir, corpus.Full().Scale(0.003)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// On a terminal the output has colours, a chart and fitting rows; --live redraws until
// Ctrl-C.
func TestLedgerTerminal(t *testing.T) {
	dir := corpusDir(t)
	p := sitDown(t, "http://127.0.0.1:9", nil, "usage", "daily", "--config-dir", dir, "--live", "--interval", "100ms")
	p.sees("\x1b[H\x1b[2J", "\x1b[1mday ", "cost by day", "│", "no price", "\x1b[H\x1b[2J", "cost by day")
	p.types("\x03")
	p.ends(term.ExitOnSIGINT)

	p = sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "usage", "daily", "--config-dir", dir)
	all := p.ends(term.ExitOK)
	if strings.Contains(all, "\x1b[1m") || !strings.Contains(all, "cost by day") {
		t.Errorf("without colours: %q", all)
	}
	for line := range strings.Lines(all) {
		if n := term.Width(strings.TrimRight(line, "\r\n")); n > 80 && !strings.Contains(line, "\x1b") {
			t.Errorf("%q takes %d columns", line, n)
		}
	}
}
