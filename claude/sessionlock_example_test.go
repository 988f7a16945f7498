package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/claude"
)

// A session that another process writes is not resumed, unless the policy allows it.
func ExampleLockPolicy() {
	ctx := context.Background()
	opts := &claude.Options{Resume: "0a1b2c3d-0000-4000-8000-000000000000"}
	_, err := claude.Run(ctx, "Go on.", opts)
	if busy, ok := errors.AsType[*claude.SessionBusyError](err); ok {
		fmt.Println("in use by process", busy.PID, "since", busy.Since)
		opts.SessionLock = claude.LockFork
		_, err = claude.Run(ctx, "Go on.", opts)
	}
	if err != nil {
		log.Fatal(err)
	}
}
