package linecopy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/linecopy"
)

// store is a copy in memory.
type store struct {
	lines   []string
	loads   int
	batches []int
	fail    error // of the next Append, which has its effect
}

func (s *store) Load(context.Context) ([]json.RawMessage, error) {
	s.loads++
	var lines []json.RawMessage
	for _, l := range s.lines {
		lines = append(lines, json.RawMessage(l))
	}
	return lines, nil
}

func (s *store) Append(_ context.Context, lines []json.RawMessage) error {
	for _, l := range lines {
		if id := identity(l); id == "" || !slices.ContainsFunc(s.lines, func(other string) bool { return identity(json.RawMessage(other)) == id }) {
			s.lines = append(s.lines, string(l))
		}
	}
	s.batches = append(s.batches, len(lines))
	err := s.fail
	s.fail = nil
	return err
}

func identity(line json.RawMessage) string {
	var l struct{ ID string }
	_ = json.Unmarshal(line, &l)
	return l.ID
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSave copies each line once: also with a file that begins anew in memory, lines without an end, and appends whose outcome is unknown.
func TestSave(t *testing.T) {
	path, s := filepath.Join(t.TempDir(), "f"), &store{}
	f := &linecopy.File{Path: path, ID: identity}
	save := func(f *linecopy.File, want string) {
		t.Helper()
		if err := f.Save(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.lines, " "); got != want {
			t.Fatalf("the copy has %s, want %s", got, want)
		}
	}
	save(f, "") // there is no file
	write(t, path, "{\"n\":1}\r\nno JSON\n\n{\"n\":2}\n{\"n\":")
	save(f, `{"n":1} {"n":2}`)
	write(t, path, "{\"n\":1}\r\nno JSON\n\n{\"n\":2}\n{\"n\":3}\n{\"id\":\"a\"}\n")
	loads := s.loads
	save(f, `{"n":1} {"n":2} {"n":3} {"id":"a"}`)
	if s.loads != loads {
		t.Error("a later save has read the copy")
	}
	save(&linecopy.File{Path: path, ID: identity}, `{"n":1} {"n":2} {"n":3} {"id":"a"}`)
	text := read(t, path) + "{\"id\":\"a\"}\n{\"n\":1}\n" // the copy has a once
	write(t, path, text)
	s.fail = errors.New("unknown")
	if err := f.Save(t.Context(), s); err == nil {
		t.Error("a failed append is no error")
	}
	save(f, `{"n":1} {"n":2} {"n":3} {"id":"a"} {"n":1}`)
	write(t, path, text+"{\"n\":4}\n")
	save(&linecopy.File{Path: path, ID: identity}, `{"n":1} {"n":2} {"n":3} {"id":"a"} {"n":1} {"n":4}`)

	s.lines = append(s.lines, `{"n":5}`) // of another machine
	f = &linecopy.File{Path: path, ID: identity}
	save(f, `{"n":1} {"n":2} {"n":3} {"id":"a"} {"n":1} {"n":4} {"n":5}`)
	write(t, path, text+"{\"n\":4}\n{\"n\":6}\n")
	if err := f.Save(t.Context(), s); !errors.Is(err, linecopy.ErrDiverged) || len(s.lines) != 7 {
		t.Errorf("a file with other lines than its copy: %v, %d lines", err, len(s.lines))
	}
}

// TestSave_rewritten compares a file again that has become shorter.
func TestSave_rewritten(t *testing.T) {
	path, s := filepath.Join(t.TempDir(), "f"), &store{}
	f := &linecopy.File{Path: path}
	for _, text := range []string{"{\"n\":1}\n{\"n\":2}\n", "{\"n\":1}\n"} {
		write(t, path, text)
		if err := f.Save(t.Context(), s); err != nil || len(s.lines) != 2 {
			t.Fatalf("the copy has %v, %v, want 2 lines", s.lines, err)
		}
	}
	write(t, path, "{\"n\":1}\n{\"n\":3}\n{\"n\":4}\n")
	if err := f.Save(t.Context(), s); !errors.Is(err, linecopy.ErrDiverged) || len(s.lines) != 2 {
		t.Errorf("a file with other lines: %v, the copy has %v", err, s.lines)
	}
}

// TestSave_batches passes a large file in batches of about a MiB.
func TestSave_batches(t *testing.T) {
	path, s := filepath.Join(t.TempDir(), "f"), &store{}
	line := fmt.Sprintf("{\"t\":%q}\n", strings.Repeat("x", 300<<10))
	write(t, path, strings.Repeat(line, 9))
	if err := (&linecopy.File{Path: path}).Save(t.Context(), s); err != nil || fmt.Sprint(s.batches) != "[4 4 1]" {
		t.Errorf("batches of %v lines, %v", s.batches, err)
	}
}

// TestFetch writes a missing file and one with fewer lines, leaves one with more lines, and keeps one with other lines.
func TestFetch(t *testing.T) {
	dir := t.TempDir()
	path, s := filepath.Join(dir, "deep", "f"), &store{}
	if _, err := (&linecopy.File{Path: path}).Fetch(t.Context(), s); !errors.Is(err, linecopy.ErrNoCopy) {
		t.Errorf("without a copy: %v", err)
	}
	s.lines = []string{`{"n": 1}`, `{"n":2}`}
	whole := "{\"n\":1}\n{\"n\":2}\n"
	for _, tt := range []struct {
		name, before, after, kept string
		written                   bool
	}{
		{"missing", "", whole, "", true},
		{"shorter", "{\"n\":1}\n{\"n\"", whole, "", true},
		{"the same", whole, whole, "", false},
		{"the same with white space", "{\"n\" :1}\r\n{\"n\":2}\n", "{\"n\" :1}\r\n{\"n\":2}\n", "", false},
		{"longer", whole + "{\"n\":3}\n", whole + "{\"n\":3}\n", "", false},
		{"another", "{\"n\":1}\n{\"n\":9}\n", whole, "{\"n\":1}\n{\"n\":9}\n", true},
	} {
		_ = os.Remove(path)
		_ = os.Remove(path + linecopy.Replaced)
		if tt.before != "" {
			write(t, path, tt.before)
		}
		f := &linecopy.File{Path: path}
		written, err := f.Fetch(t.Context(), s)
		if err != nil || written != tt.written || read(t, path) != tt.after {
			t.Errorf("%s: written %v, %v; the file has %q, want %q", tt.name, written, err, read(t, path), tt.after)
		}
		if tt.kept != "" && read(t, path+linecopy.Replaced) != tt.kept {
			t.Errorf("%s: %q was kept, want %q", tt.name, read(t, path+linecopy.Replaced), tt.kept)
		}
		loads := s.loads
		if err := f.Save(t.Context(), s); err != nil || s.loads != loads {
			t.Errorf("%s: a save after a fetch reads the copy again: %v", tt.name, err)
		}
		s.lines = s.lines[:2]
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 2 {
		t.Errorf("the directory has %v, %v, want the file and the one that was kept", entries, err)
	}
}

// TestFetch_badCopy leaves the file if the copy is damaged.
func TestFetch_badCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "{\"n\":1}\n")
	if _, err := (&linecopy.File{Path: path}).Fetch(t.Context(), &store{lines: []string{`{"n":1}`, `{"n":`}}); err == nil || read(t, path) != "{\"n\":1}\n" {
		t.Errorf("%v; the file has %q", err, read(t, path))
	}
}
