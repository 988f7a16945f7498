package server

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// endless is a file without an end and without a line feed. It ends its context after a while.
type endless struct {
	left int
	end  func()
}

// Read returns zero bytes, like a sparse file.
func (e *endless) Read(p []byte) (int, error) {
	if e.left--; e.left == 0 {
		e.end()
	}
	if e.left < -100 {
		return 0, io.EOF
	}
	clear(p)
	return len(p), nil
}

// TestReadLines_context checks that a read far into an endless file stops with its context.
func TestReadLines_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	file := &endless{left: 10, end: cancel}
	_, err := readLines(regularfile.Until(ctx, file), api.FilesReadParams{Range: &api.LineRange{Start: 5, End: 6}})
	if !errors.Is(err, context.Canceled) || file.left < 0 {
		t.Errorf("%v, after %d reads too many", err, -file.left)
	}
}

// TestReadLines_longLine checks that a line of any length counts once.
func TestReadLines_longLine(t *testing.T) {
	text := strings.Repeat("x", 3*maxFileBytes) + "\ntwo\nthree"
	for start, want := range map[int64]string{2: "two\nthree", 3: "three", 4: ""} {
		r, err := readLines(strings.NewReader(text), api.FilesReadParams{Range: &api.LineRange{Start: start, End: 9}})
		if err != nil || r.Text != want {
			t.Errorf("from line %d: %.20q, %v; want %q", start, r.Text, err, want)
		}
	}
}

// TestReadLines_ranges reads every range of small and of too large files: the lines of the range up to the limits, the end, and whether it
// was truncated.
func TestReadLines_ranges(t *testing.T) {
	long := strings.Repeat("y", maxFileBytes/2)
	files := map[string][]string{
		"empty": nil, "one": {"a"}, "two": {"a\n", "b\n"}, "no line feed at the end": {"a\n", "\n", "c"},
		"as many lines as fit": slices.Repeat([]string{"x\n"}, maxFileLines), "one more": slices.Repeat([]string{"x\n"}, maxFileLines+1),
		"as many bytes as fit": {long, "\n", long[:len(long)-1]}, "lines that are too large": {long + "\n", long + "\n", "c\n"},
	}
	ranges := []*api.LineRange{nil, {Start: 1, End: 1}, {Start: 1, End: 2}, {Start: 2, End: 2}, {Start: 2, End: 9}, {Start: 1, End: maxFileLines}, {Start: 1, End: maxFileLines + 1}, {Start: 2, End: maxFileLines + 1}, {Start: 4, End: 4}}
	for name, parts := range files {
		text := strings.Join(parts, "")
		lines := strings.SplitAfter(text, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for _, r := range ranges {
			from, to := 0, len(lines)
			if r != nil {
				from, to = min(int(r.Start)-1, len(lines)), min(int(r.End), len(lines))
			}
			asked := strings.Join(lines[from:max(from, to)], "")
			fits := min(to-from, maxFileLines)
			want := strings.Join(lines[from:from+max(0, fits)], "")
			truncated := len(asked) > len(want)
			if len(want) > maxFileBytes {
				want, truncated = want[:maxFileBytes], true
			}
			got, err := readLines(strings.NewReader(text), api.FilesReadParams{Path: "p", Range: r})
			if err != nil || got.Path != "p" || got.Text != want || got.Truncated != truncated {
				t.Errorf("%s, range %+v: %d bytes of %q, truncated %v, %v; want %d bytes, truncated %v", name, r, len(got.Text), got.Path, got.Truncated, err, len(want), truncated)
			}
			start := int64(1)
			if r != nil {
				start = r.Start
			}
			shown := int64(strings.Count(want, "\n"))
			if want != "" && !strings.HasSuffix(want, "\n") {
				shown++
			}
			if got.Range.Start != start || got.Range.End != start-1+shown {
				t.Errorf("%s, range %+v: it is lines %+v, want %d lines from %d", name, r, got.Range, shown, start)
			}
		}
	}
	for _, r := range []api.LineRange{{Start: 0, End: 1}, {Start: -1, End: 1}, {Start: 2, End: 1}} {
		if _, err := readLines(strings.NewReader("a"), api.FilesReadParams{Range: &r}); session.FailureOf(err).Reason != api.InvalidParams {
			t.Errorf("range %+v: %v, want a refusal", r, err)
		}
	}
}

// A disk that fails in the middle of a file is an error, unless the lines before were all that was asked for.
func TestReadLines_fails(t *testing.T) {
	const text = "a\nb\nc\nd\n"
	broken := errors.New("the disk is broken")
	for at := range len(text) {
		for start := int64(1); start <= 4; start++ {
			r := &api.LineRange{Start: start, End: 2}
			if start > 2 {
				r.End = start
			}
			_, err := readLines(io.MultiReader(strings.NewReader(text[:at]), iotest.ErrReader(broken)), api.FilesReadParams{Range: r})
			if enough := at > int(2*r.End)+1; !enough && !errors.Is(err, broken) {
				t.Errorf("lines %+v of a file that fails after %d bytes: %v, want %v", *r, at, err, broken)
			}
		}
	}
}

// TestUploads_manyTimes checks that an uploaded image with many references does not fill the memory.
func TestUploads_manyTimes(t *testing.T) {
	short.SkipLong(t, "encodes large files")
	s := &Server{opts: Options{Dir: t.TempDir()}}
	dir := s.uploadDir("s-1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.png"), make([]byte, maxUpload), 0o600); err != nil {
		t.Fatal(err)
	}
	block := event.Encoded(map[string]any{"type": "image", "source": map[string]string{"type": "upload", "id": "a.png"}})
	if got, err := s.uploads("s-1", []event.JSON{block}); err != nil || len(got) != 1 {
		t.Errorf("once: %d blocks, %v", len(got), err)
	}
	var failure *session.Failure
	if _, err := s.uploads("s-1", []event.JSON{block, block}); !errors.As(err, &failure) || failure.Reason != api.LimitReached {
		t.Errorf("twice: %v", err)
	}
}

// TestFiles_jailAtEachCall checks the directory of a session at each call: it may have become a link
// to another one, or been removed from the list since the session started.
func TestFiles_jailAtEachCall(t *testing.T) {
	h := newHarness(t)
	work, outside := filepath.Join(h.dir, "work", "project"), filepath.Join(h.dir, "outside")
	for _, dir := range []string{work, outside} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(work, "file.txt"), "mine")
	writeFile(t, filepath.Join(outside, "file.txt"), "secret")
	var c api.ConnectResult
	h.call("session.connect", api.ConnectParams{CWD: work}, &c)
	methods := map[string]any{
		"files.search": api.FilesSearchParams{SessionID: c.SessionID, Query: "file"}, "files.read": api.FilesReadParams{SessionID: c.SessionID, Path: "file.txt"},
	}
	for name, params := range methods {
		h.call(name, params, nil)
	}
	h.server.opts.Directories = []string{outside} // as after a start with another list
	for name, params := range methods {
		h.refused(api.AuthFailed, name, params)
	}
	h.server.opts.Directories = h.opts.Directories
	if err := os.Rename(work, work+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, work); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for name, params := range methods {
		h.refused(api.AuthFailed, name, params)
	}
}
