package transcript_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed7221b0f9/parley/transcript"
)

// Examine a session that the API rejects, and copy it without the damage.
func ExampleSession_Repair() {
	ctx := context.Background()
	session, err := transcript.Open("").Session("4f1c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88")
	if err != nil {
		log.Fatal(err)
	}
	findings, err := session.Examine(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range findings {
		fmt.Println(f.Severity, f.Fault, "in line", f.Line)
	}
	repair, err := session.Repair(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	if repair.Session != nil {
		fmt.Println("claude --resume", repair.Session.ID)
	}
}

// Save all sessions before the CLI deletes them, and restore a deleted one.
func ExampleArchive() {
	ctx := context.Background()
	dir, archive := transcript.Open(""), transcript.OpenArchive("/var/backups/claude")
	saved, err := archive.Save(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(saved.Changed, "of", saved.Files, "files were new; sessions are kept for", dir.Retention().Days, "days")
	if _, err := archive.Restore(ctx, dir, &transcript.RestoreOptions{Sessions: []string{"4f1c2b6e-6f0e-4a53-9d0f-2f5e3a1b7c88"}}); err != nil {
		log.Fatal(err)
	}
}
