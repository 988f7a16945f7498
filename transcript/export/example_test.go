package export_test

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/seed7221b0f9/parley/transcript"
	"github.com/seed7221b0f9/parley/transcript/export"
)

// Write a session as a page that loads no resource and runs no script.
func ExampleFile() {
	session, err := transcript.Open("").Session("4f1c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88")
	if err != nil {
		log.Fatal(err)
	}
	if err := export.File(context.Background(), "session.html", session, export.HTML, nil, false); err != nil {
		log.Fatal(err)
	}
}

// Write a session to any writer.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "4f1c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88.jsonl")
	lines := `{"type":"user","uuid":"1","sessionId":"4f1c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"What is in go.mod?"}}` + "\n"
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		log.Fatal(err)
	}
	changed := time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)
	if err := os.Chtimes(file, changed, changed); err != nil {
		log.Fatal(err)
	}
	if err := export.Write(context.Background(), os.Stdout, transcript.File(file), export.Markdown, nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// # What is in go.mod?
	//
	// - Session: `4f1c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88`
	// - Began: `2026-01-02 03:04:05 UTC`
	// - Changed: `2026-01-02 03:04:06 UTC`
	//
	// ## User · 2026-01-02T03:04:05Z
	//
	// What is in go.mod?
}
