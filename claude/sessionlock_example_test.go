package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// A session that another process is writing is not resumed, unless the policy
// says how.
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

// Sessions that the CLI has kept so far are put into a store.
func ExampleImportSession() {
	var store claude.SessionStore // of package claudestore, for example
	key, err := claude.ImportSession(context.Background(), store, "0a1b2c3d-0000-4000-8000-000000000000", &claude.ImportOptions{
		Skipped: func(file string, line int) { log.Printf("%s: line %d is no JSON", file, line) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("resume it with", key.SessionID)
}

// FoldSummary is what a store calls when it appends to a main transcript.
func ExampleFoldSummary() {
	key := claude.SessionKey{ProjectKey: "-src-project", SessionID: "s"}
	written := time.Now() // by the store's clock
	sum, err := claude.FoldSummary(nil, key, []json.RawMessage{json.RawMessage(`{"type":"user","message":{"content":"Hello"}}`)}, written)
	if err != nil {
		log.Fatal(err)
	}
	sum, err = claude.FoldSummary(&sum, key, []json.RawMessage{json.RawMessage(`{"type":"tag","tag":"blue"}`)}, written)
	fmt.Println(string(sum.Data), err)
	// Output: {"firstPrompt":"Hello","firstPromptLocked":true,"isSidechain":false,"tag":"blue"} <nil>
}
