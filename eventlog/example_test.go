package eventlog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/eventlog"
)

// exampleStore opens a store in a temporary directory; done removes both.
func exampleStore() (store *eventlog.Store, done func()) {
	dir, err := os.MkdirTemp("", "eventlog-")
	if err != nil {
		log.Fatal(err)
	}
	store, err = eventlog.Open(context.Background(), &eventlog.Options{Dir: filepath.Join(dir, "data")})
	if err != nil {
		log.Fatal(err)
	}
	return store, func() {
		store.Close(context.Background())
		os.RemoveAll(dir)
	}
}

func Example() {
	ctx := context.Background()
	store, done := exampleStore()
	defer done()

	session := store.Log("session-1")
	// Both events are on disk when Append returns, or neither.
	last, err := session.Append(ctx, 0, []byte("hello"), []byte("how are you?"))
	if err != nil {
		log.Fatal(err)
	}
	// A writer that has missed events cannot write.
	if _, err := session.Append(ctx, 1, []byte("too late")); errors.Is(err, eventlog.ErrConflict) {
		fmt.Println(err)
	}
	for event, err := range session.Read(ctx, eventlog.Cursor{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s\n", event.Seq, event.Data)
	}
	fmt.Println("last:", last)
	// Output:
	// eventlog: the last event of session-1 is 2, not 1 as expected
	// 1 hello
	// 2 how are you?
	// last: 2
}

func ExampleLog_Follow() {
	ctx := context.Background()
	store, done := exampleStore()
	defer done()
	session := store.Log("session-1")

	go func() {
		session.Append(ctx, 0, []byte("question"))
		session.AppendDelta(ctx, 0, 1, 1, []byte("an"), []byte("swer"))
	}()
	for event, err := range session.Follow(ctx, eventlog.Cursor{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d.%d %s\n", event.Seq, event.Sub, event.Data)
		if event.Sub == 2 {
			break
		}
	}
	// Output:
	// 1.0 question
	// 1.1 an
	// 1.2 swer
}

// A snapshot allows a reader to start near the end, and old events to be deleted.
func ExampleLog_Trim() {
	ctx := context.Background()
	store, done := exampleStore()
	defer done()
	session := store.Log("session-1")
	for seq := uint64(0); seq < 5; seq++ {
		if _, err := session.Append(ctx, seq, fmt.Appendf(nil, "event %d", seq+1)); err != nil {
			log.Fatal(err)
		}
	}
	if err := session.PutSnapshot(ctx, 4, 0, []byte("state after 4")); err != nil {
		log.Fatal(err)
	}
	if err := session.Trim(ctx, 4); err != nil {
		log.Fatal(err)
	}
	var err error
	for _, readErr := range session.Read(ctx, eventlog.Cursor{}) {
		err = readErr
	}
	fmt.Println(errors.Is(err, eventlog.ErrTrimmed))
	snapshot, err := session.Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", snapshot.Data)
	for event := range session.Read(ctx, snapshot.Cursor) {
		fmt.Printf("%s\n", event.Data)
	}
	// Output:
	// true
	// state after 4
	// event 5
}

func ExampleStore_Acquire() {
	ctx := context.Background()
	store, done := exampleStore()
	defer done()
	lease, err := store.Acquire(ctx, "session-1", "node-a")
	if err != nil {
		log.Fatal(err)
	}
	_, err = store.Acquire(ctx, "session-1", "node-b")
	fmt.Println(err)

	keeping, stop := context.WithCancel(ctx)
	ended := make(chan error)
	go func() { ended <- lease.Keep(keeping) }()
	// … the owner appends events while it has the lease …
	stop()
	fmt.Println(<-ended)
	if err := lease.Release(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// eventlog: node-a holds the lease of session-1
	// context canceled
}

func ExampleStore_Backup() {
	ctx := context.Background()
	store, done := exampleStore()
	defer done()
	if _, err := store.Log("session-1").Append(ctx, 0, []byte("kept")); err != nil {
		log.Fatal(err)
	}
	var backup bytes.Buffer // a file in a real program
	if err := store.Backup(ctx, &backup); err != nil {
		log.Fatal(err)
	}

	dir, err := os.MkdirTemp("", "eventlog-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opts := &eventlog.Options{Dir: filepath.Join(dir, "restored")}
	if err := eventlog.Restore(ctx, &backup, opts); err != nil {
		log.Fatal(err)
	}
	restored, err := eventlog.Open(ctx, opts)
	if err != nil {
		log.Fatal(err)
	}
	defer restored.Close(ctx)
	for event := range restored.Log("session-1").Read(ctx, eventlog.Cursor{}) {
		fmt.Printf("%d %s\n", event.Seq, event.Data)
	}
	// Output:
	// 1 kept
}

// Examine a store that no server has open, and count its damaged files.
func ExampleExamine() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "eventlog-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	opts := &eventlog.Options{Dir: filepath.Join(dir, "data")}
	store, err := eventlog.Open(ctx, opts)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := store.Log("session-1").Append(ctx, 0, []byte("hello")); err != nil {
		log.Fatal(err)
	}
	_, ends, err := store.Ends(ctx)
	if err = errors.Join(err, store.Close(ctx)); err != nil {
		log.Fatal(err)
	}
	health, err := eventlog.Examine(ctx, opts)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("last event:", ends["session-1"])
	fmt.Println("damaged files:", health.Bad)
	// Output:
	// last event: 1
	// damaged files: 0
}
