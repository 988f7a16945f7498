//go:build unix

package usersocket

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// temp creates a directory for sockets with a short path, because that of a test is often too long,
// and returns it.
func temp(t *testing.T) string {
	dir, err := os.MkdirTemp("/tmp", "usersocket-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("TMPDIR", dir)
	return dir
}

// TestCopiedFolder checks that the folder of a socket contains only plain files, so that every
// program can copy it. The copy opens no socket, and a server that starts in it does not affect the
// original.
func TestCopiedFolder(t *testing.T) {
	temp(t)
	folder := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(filepath.Join(folder, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(folder)); err != nil { // fails for sockets
		t.Fatal(err)
	}
	if c, err := Dial(t.Context(), filepath.Join(copied, "sock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Dial in a copy returns %v, %v, want fs.ErrNotExist", c, err)
	}
	second, err := Listen(filepath.Join(copied, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	renamed := folder + "-renamed"
	if err := os.Rename(folder, renamed); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(renamed, "sock"), filepath.Join(copied, "sock")} {
		c, err := Dial(t.Context(), path)
		if err != nil {
			t.Errorf("Dial(%s): %v", path, err)
			continue
		}
		c.Close()
	}
}

// TestRuntimeDirectory checks that the sockets of a service are in its runtime directory, if it has
// a usable one.
func TestRuntimeDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	dir := temp(t)
	for _, c := range []struct{ variable, want string }{{dir + "/run", dir + "/run"}, {dir + "/missing:" + dir + "/run", dir + "/run"}, {dir + "/missing", dir}, {"", dir}} {
		if err := os.MkdirAll(filepath.Join(dir, "run"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv(RuntimeVariable, c.variable)
		l, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := filepath.Dir(filepath.Dir(l.Socket())); got != c.want {
			t.Errorf("with %q the socket is below %s, want %s", c.variable, got, c.want)
		}
		l.Close()
	}
}

// TestRemoval checks that Listen removes the socket of a killed process, and that Close leaves no
// file.
func TestRemoval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sock")
	dir := temp(t)
	killed, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	killed.SetUnlinkOnClose(false)
	killed.UnixListener.Close()
	if c, err := Dial(t.Context(), path); err == nil {
		c.Close()
		t.Error("Dial has reached a closed socket")
	}
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("the directory of sockets has %v, want one entry", entries)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	left, _ := os.ReadDir(dir)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || len(left) > 0 {
		t.Errorf("Close leaves %s (%v) and %v", path, err, left)
	}
}

// TestForeignName checks that a file that names another user's file, a folder, or no file is
// refused, and that no file is removed.
func TestForeignName(t *testing.T) {
	temp(t)
	path := filepath.Join(t.TempDir(), "sock")
	victim := filepath.Join(t.TempDir(), "parley-victim", "file")
	if err := os.MkdirAll(filepath.Dir(victim), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(victim, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := folderID(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"no JSON":   "sock",
		"empty":     "",
		"too large": strings.Repeat(" ", maxName) + "{}",
		"a file":    `{"socket":"` + victim + `","folder":"` + folder + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if c, err := Dial(t.Context(), path); err == nil {
				c.Close()
				t.Error("Dial has connected")
			}
			l, err := Listen(path)
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
			if _, err := os.Stat(victim); err != nil {
				t.Errorf("Listen has removed the file: %v", err)
			}
		})
	}
}
