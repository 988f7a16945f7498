package claudestore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// Copy sessions from the CLI's disk to a store.
func ExampleImportSession() {
	var store claude.SessionStore // of package claudestore, for example
	key, err := claudestore.ImportSession(context.Background(), store, "0a1b2c3d-0000-4000-8000-000000000000", &claudestore.ImportOptions{
		Skipped: func(file string, line int) { log.Printf("%s: line %d is no JSON", file, line) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("resume it with", key.SessionID)
}

// A store calls FoldSummary when it appends to a main transcript.
func ExampleFoldSummary() {
	key := claude.SessionKey{ProjectKey: "-src-project", SessionID: "s"}
	written := time.Now() // by the store's clock
	sum, err := claudestore.FoldSummary(nil, key, []json.RawMessage{json.RawMessage(`{"type":"user","message":{"content":"Hello"}}`)}, written)
	if err != nil {
		log.Fatal(err)
	}
	sum, err = claudestore.FoldSummary(&sum, key, []json.RawMessage{json.RawMessage(`{"type":"tag","tag":"blue"}`)}, written)
	fmt.Println(string(sum.Data), err)
	// Output: {"firstPrompt":"Hello","firstPromptLocked":true,"isSidechain":false,"tag":"blue"} <nil>
}
