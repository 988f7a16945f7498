// Package codexrec reads recordings of `codex app-server`: the lines of client and server in a
// scenario, and its session files. It is test support.
package codexrec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/internal/test/checkout"
)

// Variable is the environment variable of a directory of recordings to use instead of the
// project's: one folder per scenario, each with client.jsonl and server.jsonl, plain or with
// .gz.
const Variable = "PARLEY_CODEX_CORPUS"

// Recording is one scenario.
type Recording struct {
	Name    string // of its folder
	Version string // of the server; empty in a corpus of the caller
	Dir     string
}

// Line is one line of either side. Seq orders both.
type Line = tape.Line

// All returns the recordings of the caller's corpus, or the project's own. It fails the test if it
// finds no recordings.
func All(tb testing.TB) []*Recording {
	tb.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		return Own(tb)
	}
	list := in(tb, dir, "")
	if len(list) == 0 {
		tb.Fatal("codexrec: there are no recordings")
	}
	return list
}

// Own returns the project's own recordings.
func Own(tb testing.TB) (list []*Recording) {
	tb.Helper()
	for _, version := range []string{"0.166.0", "0.144.6"} {
		list = append(list, in(tb, filepath.Join(checkout.Root(), "testdata", "codex", version), version)...)
	}
	return list
}

// Named returns a recording of the project for the newer version.
func Named(tb testing.TB, name string) *Recording {
	tb.Helper()
	return &Recording{Name: name, Version: "0.166.0", Dir: filepath.Join(checkout.Root(), "testdata", "codex", "0.166.0", name)}
}

func in(tb testing.TB, dir, version string) []*Recording {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var list []*Recording
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, &Recording{Name: e.Name(), Version: version, Dir: filepath.Join(dir, e.Name())})
		}
	}
	return list
}

// Title names the recording in messages.
func (r *Recording) Title() string {
	if r.Version == "" {
		return r.Name
	}
	return r.Version + "/" + r.Name
}

// Lines returns the lines of both sides, in order.
func (r *Recording) Lines(tb testing.TB) []Line {
	tb.Helper()
	lines, err := r.Read()
	if err != nil {
		tb.Fatalf("%s: %v", r.Title(), err)
	}
	return lines
}

// Read returns what Lines returns. It returns an error if a number is missing, if times
// decrease, or if both files are missing.
func (r *Recording) Read() ([]Line, error) {
	var all []Line
	missing := 0
	for _, name := range []string{"client.jsonl", "server.jsonl"} {
		lines, err := readLines(filepath.Join(r.Dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			missing++ // a scenario may keep a part of its traffic elsewhere
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i := range lines {
			lines[i].Client = name == "client.jsonl"
		}
		all = append(all, lines...)
	}
	if missing == 2 {
		return nil, errors.New("neither client.jsonl nor server.jsonl")
	}
	slices.SortStableFunc(all, func(a, b Line) int { return a.Seq - b.Seq })
	for i := 1; i < len(all) && missing == 0; i++ {
		if all[i].Seq != all[i-1].Seq+1 || all[i].T < all[i-1].T {
			return nil, fmt.Errorf("line %d is not after line %d", all[i].Seq, all[i-1].Seq)
		}
	}
	return all, nil
}

// Legacy reports whether the server had the history mode legacy, from its answer to
// initialize.
func (r *Recording) Legacy(tb testing.TB) bool {
	tb.Helper()
	return slices.ContainsFunc(r.Lines(tb), func(l Line) bool {
		return !l.Client && bytes.Contains(l.Msg, []byte("/0.144.")) && bytes.Contains(l.Msg, []byte(`"userAgent"`))
	})
}

// open opens a file, or the compressed form of it.
func open(name string) (io.ReadCloser, error) {
	f, err := os.Open(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if f, err = os.Open(name + ".gz"); err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

func readLines(name string) ([]Line, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []Line
	for r := bufio.NewReader(f); ; {
		text, err := r.ReadBytes('\n')
		if len(text) > 1 {
			var l Line
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			if err := d.Decode(&l); err != nil {
				return nil, fmt.Errorf("line %d: %w", len(lines)+1, err)
			}
			lines = append(lines, l)
		}
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Home copies the session files of the scenario into a new directory, with the layout of
// CODEX_HOME, and returns it; ok is false if the scenario has none.
func (r *Recording) Home(tb testing.TB) (dir string, ok bool) {
	tb.Helper()
	src := filepath.Join(r.Dir, "rollout")
	if _, err := os.Stat(src); err != nil {
		return "", false
	}
	dir = tb.TempDir()
	err := filepath.WalkDir(src, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(src, strings.TrimSuffix(name, ".gz"))
		if err != nil {
			return err
		}
		return copyFile(strings.TrimSuffix(name, ".gz"), filepath.Join(dir, rel))
	})
	if err != nil {
		tb.Fatal(err)
	}
	return dir, true
}

func copyFile(from, to string) error {
	src, err := open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		_ = dst.Close()
		return err
	}
	return dst.Close()
}
