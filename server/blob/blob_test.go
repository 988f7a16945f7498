package blob_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/server/blob"
	"github.com/seed7221b0f9/parley/server/blob/blobtest"
)

func TestDir(t *testing.T) {
	dir := blob.Dir(filepath.Join(t.TempDir(), "blobs"))
	blobtest.Run(t, func(*testing.T) blob.Store { return dir })
}

// TestDir_private checks the modes of files, and that a link in place of a file is refused.
func TestDir_private(t *testing.T) {
	dir := t.TempDir()
	s := blob.Dir(filepath.Join(dir, "blobs"))
	if err := s.Write(t.Context(), "a/b", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{"blobs": os.ModeDir | 0o700, "blobs/a": os.ModeDir | 0o700, "blobs/a/b": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode() != mode && os.PathSeparator == '/' {
			t.Errorf("%s has the mode %v, %v; want %v", path, info.Mode(), err, mode)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "blobs", "a", "b"), filepath.Join(dir, "blobs", "link")); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	if data, err := s.Read(t.Context(), "link"); err == nil {
		t.Errorf("a link was followed to %q", data)
	}
}

func ExampleDir() {
	dir, err := os.MkdirTemp("", "blob")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s := blob.Dir(dir)
	if err := s.Write(context.Background(), "uploads/picture.png", []byte("…")); err != nil {
		panic(err)
	}
	data, err := s.Read(context.Background(), "uploads/picture.png")
	fmt.Println(string(data), err)
	// Output: … <nil>
}
