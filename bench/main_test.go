package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

// TestMain runs a measuring or a measured program if the environment selects one, and the tests
// otherwise.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == measuredCommand {
		if err := runMeasured(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if size := os.Getenv(eater); size != "" {
		eat(size)
		os.Exit(0)
	}
	e2e.VerifyMain(m)
}
