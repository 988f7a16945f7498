// Package short scales tests: go test -short runs less, a soak run more.
package short

import (
	"os"
	"testing"
)

// Skip skips a test with go test -short, which starts no agents, node or browser, and prints the
// reason.
func Skip(tb testing.TB, starts string) {
	tb.Helper()
	SkipLong(tb, "starts "+starts)
}

// SkipLong skips a test that takes much processor time with go test -short, and prints a
// description of the test.
func SkipLong(tb testing.TB, does string) {
	tb.Helper()
	if testing.Short() {
		tb.Skipf("-short: this test %s", does)
	}
}

// SkipQuick skips a test that takes 0.15 s of processor time, or seconds of waiting, with go test -short,
// except where PARLEY_QUICK=0 is set, as make mutants does, and prints what it does.
func SkipQuick(tb testing.TB, does string) {
	tb.Helper()
	if os.Getenv("PARLEY_QUICK") != "0" {
		SkipLong(tb, does)
	}
}

// Count returns the number of repetitions of a test: few with -short, many with PARLEY_SOAK=1.
func Count(few, usual, many int) int {
	switch {
	case os.Getenv("PARLEY_SOAK") != "":
		return many
	case testing.Short():
		return few
	}
	return usual
}

// Every returns n with -short, and otherwise 1. A test with many cases checks only every n-th.
func Every(n int) int { return Count(n, 1, 1) }
