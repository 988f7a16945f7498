package place

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

	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/server/api"
)

// reasonOf returns the reason of an error, or "".
func reasonOf(err error) api.Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

// endless is a file of infinite size without a line feed. It cancels its context after a number of reads.
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

// TestReadLines_context checks that a read far into an endless file stops when its context ends.
func TestReadLines_context(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	file := &endless{left: 10, end: cancel}
	_, err := readLines(regularfile.Until(ctx, file), "", &api.LineRange{Start: 5, End: 6})
	if !errors.Is(err, context.Canceled) || file.left < 0 {
		t.Errorf("%v, after %d reads too many", err, -file.left)
	}
}

// TestReadLines_longLine checks that a line counts as one line, however long it is.
func TestReadLines_longLine(t *testing.T) {
	text := strings.Repeat("x", 3*maxFileBytes) + "\ntwo\nthree"
	for start, want := range map[int64]string{2: "two\nthree", 3: "three", 4: ""} {
		r, err := readLines(strings.NewReader(text), "", &api.LineRange{Start: start, End: 9})
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
		"a line that exceeds the limit, before a long one": append(slices.Repeat([]string{long[:999] + "\n"}, 1048), long[:60_000]+"\n", long[:100_000]+"\n"),
		"a last line that exceeds the limit":               {long + "\n", long + "z"},
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
			got, err := readLines(strings.NewReader(text), "p", r)
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
		if _, err := readLines(strings.NewReader("a"), "", &r); reasonOf(err) != api.InvalidParams {
			t.Errorf("range %+v: %v, want a refusal", r, err)
		}
	}
}

// TestReadLines_fails checks that a read error in the middle of a file is returned, unless all
// requested lines precede it.
func TestReadLines_fails(t *testing.T) {
	const text = "a\nb\nc\nd\n"
	broken := errors.New("the disk is broken")
	for at := range len(text) {
		for start := int64(1); start <= 4; start++ {
			r := &api.LineRange{Start: start, End: 2}
			if start > 2 {
				r.End = start
			}
			_, err := readLines(io.MultiReader(strings.NewReader(text[:at]), iotest.ErrReader(broken)), "", r)
			if enough := at > int(2*r.End)+1; !enough && !errors.Is(err, broken) {
				t.Errorf("lines %+v of a file that fails after %d bytes: %v, want %v", *r, at, err, broken)
			}
		}
	}
}

// TestReadLines checks which lines of a file are read.
func TestReadLines(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		text   string
		r      *api.LineRange
		want   string
		end    int64 // of the range
		breaks bool  // reading the file fails after the text
		fails  bool
		reason api.Reason
	}{
		"all":                      {text: "a\nb\n", want: "a\nb\n", end: 2},
		"some":                     {text: "a\nb\nc\n", r: &api.LineRange{Start: 2, End: 2}, want: "b\n", end: 2},
		"without an end of line":   {text: "a\nb", r: &api.LineRange{Start: 2, End: 9}, want: "b", end: 2},
		"behind the end":           {text: "a\nb\n", r: &api.LineRange{Start: 4, End: 9}, end: 3},
		"right behind the end":     {text: "a\nb\n", r: &api.LineRange{Start: 3, End: 9}, end: 2},
		"of an empty file":         {end: 0},
		"from 0":                   {text: "a\n", r: &api.LineRange{Start: 0, End: 1}, fails: true, reason: api.InvalidParams},
		"backwards":                {text: "a\n", r: &api.LineRange{Start: 2, End: 1}, fails: true, reason: api.InvalidParams},
		"a broken file":            {text: "a\n", breaks: true, fails: true},
		"a broken file, before it": {text: "a\n", r: &api.LineRange{Start: 3, End: 4}, breaks: true, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			var in io.Reader = strings.NewReader(tt.text)
			if tt.breaks {
				in = io.MultiReader(in, iotest.ErrReader(broken))
			}
			got, err := readLines(in, "p", tt.r)
			if tt.fails {
				if tt.reason != "" && reasonOf(err) != tt.reason || tt.breaks && !errors.Is(err, broken) || got.Text != "" {
					t.Errorf("the text is %q and the error %v, want no text and an error", got.Text, err)
				}
				return
			}
			start := int64(1)
			if tt.r != nil {
				start = tt.r.Start
			}
			if err != nil || got.Text != tt.want || got.Range.Start != start || got.Range.End != tt.end || got.Path != "p" {
				t.Errorf("lines %+v of %q are %q, %v, want %d to %d: %q", got.Range, got.Path, got.Text, err, start, tt.end, tt.want)
			}
		})
	}
}

// TestFoldersBelow checks that a search visits a bounded number of files and folders in all roots together, and stops
// when its context ends.
func TestFoldersBelow(t *testing.T) {
	roots := []string{t.TempDir(), t.TempDir()}
	var all []string
	for _, root := range roots {
		all = append(all, root)
		for _, name := range []string{"a", "b", "c"} {
			all = append(all, filepath.Join(root, name))
			if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	for most := range len(all) + 2 {
		if got, want := len(foldersBelow(t.Context(), roots, "", most)), min(most, len(all)); got != want {
			t.Errorf("with a limit of %d there are %d folders, want %d", most, got, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := foldersBelow(ended, roots, "", 100); len(got) != 0 {
		t.Errorf("after the caller left there are %v, want none", got)
	}
	if maxFoldersLooked > 100_000 {
		t.Errorf("the limit is %d, want at most 100000", maxFoldersLooked)
	}
}

// TestBranches_linked checks that refs behind a symbolic link are not read, because the link can lead out of the roots.
func TestBranches_linked(t *testing.T) {
	dir := t.TempDir()
	refs, git := filepath.Join(dir, "hidden", "refs"), filepath.Join(dir, "linked", ".git")
	for _, d := range []string{filepath.Join(refs, "heads"), git} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(refs, "heads", "secret"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(refs, filepath.Join(git, "refs")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if got := branches(filepath.Dir(git)); len(got) > 0 {
		t.Errorf("a repository with linked refs has the branches %v, want none", got)
	}
}
