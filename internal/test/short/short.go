// Package short sizes a test: go test -short runs little of it, a soak much.
package short

import (
	"os"
	"testing"
)

// Skip skips a test of go test -short, which starts neither agents nor node nor a browser, and prints the reason.
func Skip(tb testing.TB, starts string) {
	tb.Helper()
	if testing.Short() {
		tb.Skipf("-short: this test starts %s", starts)
	}
}

// Count returns how often a test repeats something: few times with -short, many times with PARLEY_SOAK=1.
func Count(few, usual, many int) int {
	switch {
	case os.Getenv("PARLEY_SOAK") != "":
		return many
	case testing.Short():
		return few
	}
	return usual
}

// Every returns n with -short, and 1 without: a test of many cases looks at each n-th of them then.
func Every(n int) int { return Count(n, 1, 1) }
