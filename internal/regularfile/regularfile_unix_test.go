//go:build unix

package regularfile_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// notRegular creates one file of each kind that is not a regular file.
func notRegular(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	paths := map[string]string{
		"directory": dir, "device": os.DevNull, "pipe": filepath.Join(dir, "pipe"), "socket": filepath.Join(dir, "s"),
		"link to a pipe": filepath.Join(dir, "link"),
	}
	if err := syscall.Mkfifo(paths["pipe"], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("pipe", paths["link to a pipe"]); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", paths["socket"])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return paths
}

// regularfile.TestNeverBlocks opens all other kinds of files in every way: a call that blocks fails
// the test by its time limit.
func TestNeverBlocks(t *testing.T) {
	for name, path := range notRegular(t) {
		for call, open := range map[string]func() (*os.File, error){
			"Open":         func() (*os.File, error) { return regularfile.Open(path) },
			"OpenNoFollow": func() (*os.File, error) { return regularfile.OpenNoFollow(path) },
			"OpenFile":     func() (*os.File, error) { return regularfile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) },
			"append":       func() (*os.File, error) { return regularfile.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) },
			"Read":         func() (*os.File, error) { _, err := regularfile.Read(path, 10); return nil, err },
			"ReadNoFollow": func() (*os.File, error) { _, err := regularfile.ReadNoFollow(path, 10); return nil, err },
		} {
			f, err := open()
			if err == nil {
				t.Errorf("%s opens a %s", call, name)
				if f != nil {
					f.Close()
				}
			}
		}
		if _, err := regularfile.Open(path); name != "socket" && !errors.Is(err, regularfile.ErrNotRegular) {
			t.Errorf("the error for a %s: %v", name, err)
		}
	}
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	if text, err := regularfile.Read(link, 4); string(text) != "text" || err != nil {
		t.Errorf("read through a link: %q, %v", text, err)
	}
	if _, err := regularfile.ReadNoFollow(link, 4); err == nil {
		t.Error("a link was followed")
	}
	if f, err := regularfile.OpenFile(link, os.O_WRONLY|os.O_APPEND, 0); err == nil {
		f.Close()
		t.Error("a link was followed for writing")
	}
	if _, err := regularfile.Read(file, 3); !errors.Is(err, regularfile.ErrTooLarge) {
		t.Errorf("more than the limit: %v", err)
	}
	if _, err := regularfile.Read(filepath.Join(dir, "none"), 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	f, err := regularfile.OpenFile(filepath.Join(dir, "new"), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
