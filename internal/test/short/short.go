// Package short leaves out what go test -short is too short for.
package short

import "testing"

// Skip skips a test of go test -short, which starts neither agents nor node nor a browser, and prints the reason.
func Skip(tb testing.TB, starts string) {
	tb.Helper()
	if testing.Short() {
		tb.Skipf("-short: this test starts %s", starts)
	}
}
