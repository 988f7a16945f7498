package place_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/workspace"
)

// A machine answers calls of another one about the files below a directory.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		log.Fatal(err)
	}
	ctx, work := context.Background(), filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "notes.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	worktrees, err := workspace.Open(ctx, workspace.Options{Dir: filepath.Join(dir, "data")})
	if err != nil {
		log.Fatal(err)
	}
	defer worktrees.Close()
	machine := &place.Local{Roots: []string{work}, Manager: worktrees, Confined: true}

	far := place.Remote{Call: func(ctx context.Context, method string, params json.RawMessage) ([]byte, error) {
		return place.Serve(ctx, machine, method, params) // in another process, behind a link
	}}
	text, err := far.Read(ctx, work, "notes.txt", nil)
	fmt.Printf("%q %v\n", text.Text, err)
	_, err = far.Read(ctx, "/etc", "passwd", nil)
	fmt.Println(err)
	// Output:
	// "one\ntwo\n" <nil>
	// directory "/etc" is not one that sessions may run in
}
