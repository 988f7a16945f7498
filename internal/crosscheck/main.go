// Command crosscheck type-checks the packages of this module and their tests for other systems.
//
//	crosscheck darwin windows
//
// It says what go vet would say of names and types, and no more. It compiles nothing, so that it takes seconds where
// go vet compiles every dependency once more for each system. What it finds goes to standard output; it ends with 1
// then, and with 2 if it could not look.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run checks the current module for each system and returns the exit code.
func run(ctx context.Context, systems []string, out, problems io.Writer) int {
	if len(systems) == 0 || slices.Contains(systems, "-h") || slices.Contains(systems, "--help") {
		fmt.Fprintln(problems, "usage: crosscheck GOOS...")
		return 2
	}
	code := 0
	for _, system := range systems {
		switch err := checkSystem(ctx, ".", system, out); {
		case errors.Is(err, errFaults):
			code = 1
		case err != nil:
			fmt.Fprintf(problems, "crosscheck: %s: %v\n", system, err)
			return 2
		}
	}
	return code
}
