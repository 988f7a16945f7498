package claudestore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// A session continues in another process or on another machine, with the store, the
// session id and the directory of the session.
func ExampleNewDir() {
	store, err := claudestore.NewDir("/var/lib/agents/sessions")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	first, err := claude.Run(ctx, "Read the code of this project.", &claude.Options{Dir: "/src/project", SessionStore: store})
	if err != nil {
		log.Fatal(err)
	}
	// Later, elsewhere:
	second, err := claude.Run(ctx, "What does it do?", &claude.Options{Dir: "/src/project", SessionStore: store, Resume: first.SessionID})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.Result)
}

func ExampleMemory() {
	store := claudestore.NewMemory()
	ctx := context.Background()
	key := claude.SessionKey{ProjectKey: claude.ProjectKey(os.TempDir()), SessionID: "0a1b2c3d-0000-4000-8000-000000000000"}
	prompt := json.RawMessage(`{"type":"user","uuid":"u1","message":{"content":"Hello"}}`)
	for range 2 { // an entry with a known uuid is omitted
		if err := store.Append(ctx, key, []json.RawMessage{prompt}); err != nil {
			log.Fatal(err)
		}
	}
	entries, err := store.Load(ctx, key)
	fmt.Println(len(entries), err)
	// Output: 1 <nil>
}

// The process that claims a session last is its writer.
func ExampleMemory_Claim() {
	store := claudestore.NewMemory()
	ctx := context.Background()
	key := claude.SessionKey{ProjectKey: "-src-project", SessionID: "0a1b2c3d-0000-4000-8000-000000000000"}
	old, _ := store.Claim(ctx, key)
	_, _ = store.Claim(ctx, key) // by another process
	fmt.Println(old.Append(ctx, key, []json.RawMessage{json.RawMessage(`{}`)}))
	// Output: claude: the session was claimed by another writer
}
