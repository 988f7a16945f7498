package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// The files of a raw diff are parsed with all their fields, up to the point where the output was
// cut.
func TestParseRaw(t *testing.T) {
	entry := func(status string, paths ...string) string {
		return ":100644 100755 " + "aaa bbb " + status + "\x00" + strings.Join(paths, "\x00") + "\x00"
	}
	file := func(kind, path, old, oldMode, newMode string) File {
		return File{Kind: kind, Path: path, OldPath: old, OldMode: oldMode, NewMode: newMode, oldBlob: "aaa", newBlob: "bbb"}
	}
	all := []File{file(Added, "a b", "", "", "100755"), file(Deleted, "d", "", "100644", ""), file(Retyped, "t", "", "100644", "100755"), file(Moved, "new", "old", "100644", "100755"),
		file(Moved, "copy", "of", "100644", "100755"), file(Updated, "m", "", "100644", "100755"), file(Updated, "x", "", "100644", "100755")}
	raw := entry("A", "a b") + entry("D", "d") + entry("T", "t") + entry("R086", "old", "new") + entry("C100", "of", "copy") + entry("M", "m") + entry("X", "x")
	for cut := range len(raw) + 1 {
		n := 0 // complete files: their fields, and the zero byte after the last one
		for i, end := 0, 0; i < len(all); i++ {
			fields := 2
			if all[i].Kind == Moved {
				fields = 3
			}
			for range fields {
				next := strings.IndexByte(raw[end:], 0)
				end += next + 1
			}
			if cut >= end {
				n = i + 1
			}
		}
		got := parseRaw(raw[:cut])
		if len(got) > n { // the path of the last one may be cut
			got = got[:n]
		}
		if diff := cmp.Diff(all[:n], got, cmp.AllowUnexported(File{}), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("cut after %d bytes (-want +got):\n%s", cut, diff)
		}
	}
	for _, odd := range []string{"", "\x00", "no head\x00path\x00", ":1 2 3 4 \x00path\x00", ":1 2 3 4\x00path\x00", entry("R100", "old", "")} {
		if got := parseRaw(odd); got == nil || len(got) != 0 {
			t.Errorf("%q: %+v, want no file and no nil", odd, got)
		}
	}
}

// A patch is parsed into its files with the numbers of all lines; a patch that was cut marks the
// files from there on.
func TestParsePatch(t *testing.T) {
	patch := strings.Join([]string{
		"diff --git a/one b/one", "index 1..2 100644", "--- a/one", "+++ b/one",
		"@@ -1,3 +1,3 @@ func a()", " a", "-b", "+B", "\\ No newline at end of file", " c",
		"@@ -10 +10,2 @@", "-@@ -1 +1 @@", "+diff --git a/x b/x", "+y",
		"diff --git a/bin b/bin", "index 1..2 100644", "Binary files a/bin and b/bin differ",
		"diff --git a/type b/type", "deleted file mode 100644", "@@ -1 +0,0 @@", "-gone",
		"diff --git a/type b/type", "new file mode 120000", "@@ -0,0 +1 @@", "+target",
		"diff --git a/last b/last", "@@ -5,0 +6,2 @@", "+x", "+y", "",
	}, "\n")
	files := func() []File {
		return []File{{Path: "one", Kind: Updated}, {Path: "bin", Kind: Updated}, {Path: "type", Kind: Retyped}, {Path: "last", Kind: Updated}}
	}
	whole := files()
	if parsePatch(whole, patch, true) {
		t.Errorf("the whole patch was cut: %+v", whole)
	}
	one := whole[0]
	want := []Hunk{{OldStart: 1, OldLines: 3, NewStart: 1, NewLines: 3, Section: "func a()", Lines: []string{" a", "-b", "+B", "\\ No newline at end of file", " c"}},
		{OldStart: 10, OldLines: 1, NewStart: 10, NewLines: 2, Lines: []string{"-@@ -1 +1 @@", "+diff --git a/x b/x", "+y"}}}
	for i := range want {
		want[i].identify("one")
	}
	if diff := cmp.Diff(want, one.Hunks); diff != "" || one.Added != 3 || one.Removed != 2 || one.Binary || one.Truncated {
		t.Errorf("the first file has %d added and %d removed lines, truncated %v (-want +got):\n%s", one.Added, one.Removed, one.Truncated, diff)
	}
	if bin := whole[1]; !bin.Binary || len(bin.Hunks) > 0 || bin.Truncated {
		t.Errorf("the binary file is %+v", bin)
	}
	if typ := whole[2]; typ.Hunks == nil || len(typ.Hunks) > 0 || typ.Added != 1 || typ.Removed != 1 {
		t.Errorf("the file of another type is %+v, want its lines counted and no hunks", typ)
	}
	if last := whole[3]; len(last.Hunks) != 1 || last.Added != 2 {
		t.Errorf("the last file is %+v", last)
	}
	for cut := range len(patch) - 1 {
		got := files()
		if !parsePatch(got, patch[:cut], false) {
			t.Fatalf("cut after %d bytes, nothing is marked", cut)
		}
		truncated := false
		for i, f := range got {
			if truncated = truncated || f.Truncated; truncated && !f.Truncated {
				t.Fatalf("cut after %d bytes, file %d is marked and the next is not", cut, i)
			}
			if len(f.Hunks) > len(whole[i].Hunks) || !slices.EqualFunc(f.Hunks, whole[i].Hunks[:len(f.Hunks)], func(a, b Hunk) bool { return cmp.Equal(a, b) }) {
				t.Fatalf("cut after %d bytes, file %d has %+v, want a part of %+v", cut, i, f.Hunks, whole[i].Hunks)
			}
		}
	}
	big := "diff --git a/big b/big\n@@ -0,0 +1 @@\n+" + strings.Repeat("x", maxFileBytes) + "\n@@ -1,0 +3 @@\n+y\ndiff --git a/next b/next\n@@ -1,0 +2 @@\n+z\n"
	got := []File{{Path: "big"}, {Path: "next"}}
	if !parsePatch(got, big, true) || !got[0].Truncated || len(got[0].Hunks) > 0 || got[1].Truncated || len(got[1].Hunks) != 1 {
		t.Errorf("a file that is too large: %v with %d hunks; the next: %v with %d", got[0].Truncated, len(got[0].Hunks), got[1].Truncated, len(got[1].Hunks))
	}
}

// The header of a hunk has two ranges and a section.
func TestHunkHeader(t *testing.T) {
	for line, want := range map[string]string{
		"@@ -1,2 +3,4 @@ f": "1,2 3,4 f", "@@ -1 +3 @@": "1,1 3,1 ", "@@ -1,0 +3,0 @@": "1,0 3,0 ", "@@ -1,2 +3,4": "", "@@ -1,2 @@": "", "@@ x +3 @@": "", "@@ -1 +x @@": "", "@@ -1,x +3 @@": "", "@@ -1 +3,-1 @@": "",
	} {
		h, ok := hunkHeader(line)
		if got := fmt.Sprintf("%d,%d %d,%d %s", h.OldStart, h.OldLines, h.NewStart, h.NewLines, h.Section); ok != (want != "") || ok && got != want {
			t.Errorf("%q is %q, %v, want %q", line, got, ok, want)
		}
	}
}

// Near finds the hunks that overlap the position in an id; an invalid id returns nil.
func TestNear(t *testing.T) {
	hunks := []Hunk{{ID: "a", OldStart: 1, OldLines: 3}, {ID: "b", OldStart: 5, OldLines: 0}, {ID: "c", OldStart: 7, OldLines: 2}}
	for id, want := range map[string]string{
		"1.1.x": "a", "3.1.x": "a", "4.1.x": "", "3.3.x": "ab", "5.0.x": "b", "5.1.x": "b", "6.1.x": "", "6.2.x": "c", "8.1.x": "c", "9.9.x": "", "0.0.x": "", "1.9.x": "abc",
		"": "", "1.1": "", "x.1.y": "", "1.x.y": "", "1.1.x.y": "",
	} {
		var got string
		for _, h := range Near(hunks, id) {
			got += h.ID
		}
		if got != want {
			t.Errorf("near %q are %q, want %q", id, got, want)
		}
	}
	if got := Near(nil, "1.1.x"); got == nil {
		t.Error("near nothing is nil, want an empty list")
	}
	h := Hunk{OldStart: 3, OldLines: 4, Lines: []string{" a", "-b"}}
	ids := map[string]bool{}
	for _, change := range []func(h *Hunk, path *string){func(*Hunk, *string) {}, func(_ *Hunk, p *string) { *p = "other" }, func(h *Hunk, _ *string) { h.OldStart++ }, func(h *Hunk, _ *string) { h.OldLines++ },
		func(h *Hunk, _ *string) { h.Lines = []string{" a", "+b"} }, func(h *Hunk, _ *string) { h.Lines = []string{" a"} }} {
		other, path := h, "path"
		change(&other, &path)
		other.identify(path)
		ids[other.ID] = true
	}
	if len(ids) != 6 {
		t.Errorf("six hunks have %d ids: %v", len(ids), ids)
	}
	later := h
	later.NewStart, later.Section = 99, "other"
	if h.identify("p"); func() string { later.identify("p"); return later.ID }() != h.ID {
		t.Errorf("an earlier hunk changes the id: %s and %s", h.ID, later.ID)
	}
	if start, lines, ok := place(h.ID); start != 3 || lines != 4 || !ok {
		t.Errorf("the place of %s is %d, %d, %v", h.ID, start, lines, ok)
	}
}

// Code and Touches agree with a plain list of the lines, for any hunk.
func TestHunk_model(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		h := Hunk{OldStart: 1 + r.IntN(5), NewStart: 1 + r.IntN(5)}
		older, newer := map[int]string{}, map[int]string{}
		removed, added := map[int]bool{}, map[int]bool{} // lines of the old side, and the positions before them
		for i := range 1 + r.IntN(8) {
			text := fmt.Sprint("line ", i)
			o, n := h.OldStart+h.OldLines, h.NewStart+h.NewLines
			switch r.IntN(3) {
			case 0:
				h.Lines, older[o], removed[o] = append(h.Lines, "-"+text), text, true
				h.OldLines++
			case 1:
				h.Lines, newer[n], added[o] = append(h.Lines, "+"+text), text, true
				h.NewLines++
			default:
				h.Lines, older[o], newer[n] = append(h.Lines, " "+text), text, text
				h.OldLines, h.NewLines = h.OldLines+1, h.NewLines+1
			}
			if r.IntN(4) == 0 {
				h.Lines = append(h.Lines, "\\ No newline at end of file")
			}
		}
		for first := -1; first < 16; first++ {
			for last := -1; last < 16; last++ {
				for side, lines := range map[Side]map[int]string{Old: older, New: newer} {
					want, whole := []string(nil), first >= 1 && last >= first
					for n := first; n <= last; n++ {
						if line, ok := lines[n]; ok {
							want = append(want, line)
						} else {
							whole = false
						}
					}
					if got, ok := h.Code(side, first, last); ok != whole || ok && !slices.Equal(got, want) {
						t.Fatalf("seed %d: lines %d to %d of the %s side of %q are %q, %v, want %q, %v", seed, first, last, side, h.Lines, got, ok, want, whole)
					}
				}
				if h.OldLines == 0 {
					continue // the position of such a hunk is after its line
				}
				want := false
				for n := first; n <= last; n++ {
					want = want || removed[n] || n > first && added[n]
				}
				if got := h.Touches(first, last); got != want {
					t.Fatalf("seed %d: lines %d to %d of %q from %d on are touched: %v, want %v", seed, first, last, h.Lines, h.OldStart, got, want)
				}
			}
		}
	}
	after := Hunk{OldStart: 5, OldLines: 0, Lines: []string{"+x"}}
	for lines, want := range map[[2]int]bool{{5, 5}: false, {5, 6}: true, {6, 6}: false, {6, 7}: false, {1, 5}: false, {1, 9}: true} {
		if got := after.Touches(lines[0], lines[1]); got != want {
			t.Errorf("a line after line 5 touches %v: %v, want %v", lines, got, want)
		}
	}
}

// Reverting a hunk gives the text before it, and is refused if the text differs from the hunk.
func TestHunk_withoutModel(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 2))
		var older, newer, lines []string
		h := Hunk{}
		before := r.IntN(3)
		for i := range before {
			older, newer = append(older, fmt.Sprint("b", i, "\n")), append(newer, fmt.Sprint("b", i, "\n"))
		}
		n := 1 + r.IntN(5)
		noEnd := r.IntN(3) == 0
		for i := range n {
			text := fmt.Sprint("h", i)
			end := "\n"
			if noEnd && i == n-1 {
				end = ""
			}
			sign := []string{"-", "+", " "}[r.IntN(3)]
			lines = append(lines, sign+text)
			if end == "" {
				lines = append(lines, "\\ No newline at end of file")
			}
			if sign != "+" {
				older, h.OldLines = append(older, text+end), h.OldLines+1
			}
			if sign != "-" {
				newer, h.NewLines = append(newer, text+end), h.NewLines+1
			}
		}
		if !noEnd {
			for i := range r.IntN(3) {
				older, newer = append(older, fmt.Sprint("a", i, "\n")), append(newer, fmt.Sprint("a", i, "\n"))
			}
		}
		h.Lines, h.OldStart, h.NewStart = lines, before+1, before+1
		if h.OldLines == 0 {
			h.OldStart--
		}
		if h.NewLines == 0 {
			h.NewStart--
		}
		text := strings.Join(newer, "")
		got, ok := h.without(text)
		if !ok || got != strings.Join(older, "") {
			t.Fatalf("seed %d: %q without %q is %q, %v, want %q", seed, text, lines, got, ok, older)
		}
		if h.NewLines > 0 {
			changed := slices.Clone(newer)
			changed[before+r.IntN(h.NewLines)] = "changed\n"
			if got, ok := h.without(strings.Join(changed, "")); ok {
				t.Fatalf("seed %d: a text that has changed became %q", seed, got)
			}
		}
		h.NewStart = len(newer) + 1
		if h.NewLines == 0 {
			h.NewStart++
		}
		if got, ok := h.without(text); ok && h.NewLines+h.NewStart > 1 {
			t.Fatalf("seed %d: behind the end of the text it became %q", seed, got)
		}
	}
	if got, ok := (Hunk{NewStart: -1, NewLines: 0, Lines: []string{"-x"}}).without("a\n"); ok {
		t.Errorf("before the beginning of the text it became %q", got)
	}
}

// Every setting that names a program is recognized in any section, and similar names are not.
func TestHarmless(t *testing.T) {
	for key, want := range programs {
		for _, section := range []string{"x", "a.b", "X=y"} {
			name := strings.Replace(key, "*", section, 1)
			if got, ok := harmless(name); !ok || got != want {
				t.Errorf("%s: %q, %v, want %q", name, got, ok, want)
			}
		}
	}
	for _, key := range []string{"core.bare", "diff.algorithm", "diff.x.binary", "filter.x.other", "lfs.url", "lfs.extension.x.priority", "lfs.customtransfer.x.args", "alias.x", "core.x.hookspath", "path"} {
		if got, ok := harmless(key); ok {
			t.Errorf("%s is taken for a program: %q", key, got)
		}
	}
	if _, ok := harmless("lfs.Extension.X.clean"); !ok {
		t.Error("a section in another case is no program")
	}
}

// Filters that only the repository has are blocked; filters that the user also has are not.
func TestBlockedFilters(t *testing.T) {
	got := blockedFilters([]setting{
		{scope: "local", key: "filter.a.clean", value: "x"}, {scope: "local", key: "filter.b.smudge", value: "x"}, {scope: "global", key: "filter.b.smudge", value: "x"},
		{scope: "system", key: "filter.c.process", value: "x"}, {scope: "worktree", key: "filter.c.process", value: "x"}, {scope: "local", key: "filter.d.required", value: "true"},
		{scope: "local", key: "filter.e.clean", value: ""}, {scope: "local", key: "filter.f", value: "x"}, {scope: "local", key: "diff.g.clean", value: "x"},
		{scope: "local", key: "filter.h.clean", value: "x"}, {scope: "global", key: "filter.h.clean", value: ""}, {scope: "local", key: "filter.i.j.clean", value: "x"},
	})
	var names []string
	for name := range got {
		names = append(names, name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"a", "h", "i.j"}) {
		t.Errorf("blocked are %q, want a, h and i.j", names)
	}
	env := environment([]setting{{key: "a.b=c", value: "d"}, {key: "e"}})
	if want := []string{"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=a.b=c", "GIT_CONFIG_VALUE_0=d", "GIT_CONFIG_KEY_1=e", "GIT_CONFIG_VALUE_1="}; !slices.Equal(env, want) {
		t.Errorf("the variables are %q, want %q", env, want)
	}
}

// Only executable files count as hooks, and one that is too large leaves the repository without a
// hash.
func TestIdentify_hooks(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, name), make([]byte, size), mode), os.Chmod(filepath.Join(dir, name), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("pre-commit.sample", 1, 0o755)
	write("readme", 1, 0o644)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "below"), 0o755), os.Symlink("nowhere", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	own := []setting{{scope: "global", key: "diff.external", value: "x"}, {scope: "local", key: "core.bare", value: "x"}}
	if p := identify(own, []string{dir, filepath.Join(dir, "none")}); p.Hash != "" || len(p.Hooks)+len(p.Settings) > 0 {
		t.Errorf("without programs: %+v, want no hash", p)
	}
	write("pre-commit", maxHookSize, 0o755)
	p := identify([]setting{{scope: "local", key: "diff.external", value: "x"}}, []string{dir})
	if p.Hash == "" || !slices.Equal(p.Hooks, []string{filepath.Join(dir, "pre-commit")}) || !slices.Equal(p.Settings, []Setting{{"diff.external", "x"}}) {
		t.Errorf("the programs are %+v, want a hook and a setting with a hash", p)
	}
	write("pre-commit", maxHookSize+1, 0o755)
	if p := identify(nil, []string{dir}); p.Hash != "" || len(p.Hooks) != 1 {
		t.Errorf("a hook that is too large: %+v, want no hash", p)
	}
	write("pre-commit", 1, 0o755)
	for i := range maxHooks - 1 {
		write(fmt.Sprint("hook", i), 1, 0o755)
	}
	if p := identify(nil, []string{dir}); p.Hash == "" || len(p.Hooks) != maxHooks {
		t.Errorf("%d hooks have the hash %q, want one", len(p.Hooks), p.Hash)
	}
	if p := identify(nil, []string{dir, dir}); p.Hash != "" {
		t.Errorf("%d hooks in two directories have a hash", len(p.Hooks))
	}
}

// Git gets the variables that it needs, without those that point to another repository.
func TestGitEnv(t *testing.T) {
	own := []string{"GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_ALLOW_PROTOCOL="}
	environ := []string{"PATH=/bin", "GIT_DIR=/evil", "LC_ALL=C", "LC_=x", "LCX=y", "HOME", "HOMES=x", "GIT_CONFIG_COUNT=1", "TZ=a=b", "=x"}
	if got, want := gitEnv(environ), append([]string{"PATH=/bin", "LC_ALL=C", "LC_=x", "TZ=a=b"}, own...); !slices.Equal(got, want) {
		t.Errorf("the environment is %q, want %q", got, want)
	}
	if environ[1] != "GIT_DIR=/evil" {
		t.Errorf("the caller's environment has become %q", environ)
	}
}

// manager returns a manager without a lock and without git, and its data directory.
func manager(t *testing.T) *Manager {
	t.Helper()
	dir, err := privateDirs(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return &Manager{opts: Options{Dir: dir, MaxFile: 100, Logger: slog.New(slog.DiscardHandler)}}
}

// Replacing a file keeps its permissions. A link or a deletion may replace it. Other kinds of files, and paths through a link, are refused.
func TestReplace(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	for name, tt := range map[string]struct {
		old     string // a mode, a link with ->, a directory with /, or ""
		mode    string
		want    string
		refused bool
	}{
		"new":                        {"", "100644", "-rw-r--r-- text", false},
		"new and executable":         {"", modeExec, "-rwxr-xr-x text", false},
		"new link":                   {"", modeLink, "L--------- text", false},
		"file":                       {"600", "100644", "-rw------- text", false},
		"file that becomes a script": {"640", modeExec, "-rwxr-x--- text", false},
		"script that becomes a file": {"755", "100644", "-rw-r--r-- text", false},
		"link that becomes a file":   {"->", "100644", "-rw-r--r-- text", false},
		"file that becomes a link":   {"600", modeLink, "L--------- text", false},
		"deleted":                    {"600", "", "", false},
		"deleted link":               {"->", "", "", false},
		"deleted already":            {"", "", "", false},
		"directory":                  {"/", "100644", "d--------- ", true},
		"deleted directory":          {"/", "", "d--------- ", true},
	} {
		for _, refuses := range []bool{false, true} {
			m := manager(t)
			dir := t.TempDir()
			tree := &Tree{m: m, dir: dir}
			path := filepath.Join(dir, "below", "file")
			outside := filepath.Join(dir, "outside")
			if err := errors.Join(os.WriteFile(outside, []byte("outside"), 0o600), os.Mkdir(filepath.Dir(path), 0o700)); err != nil {
				t.Fatal(err)
			}
			var err error
			switch tt.old {
			case "":
			case "/":
				err = os.Mkdir(path, 0o700)
			case "->":
				err = os.Symlink("../outside", path)
			default:
				var perm fs.FileMode
				fmt.Sscanf(tt.old, "%o", &perm)
				err = errors.Join(os.WriteFile(path, []byte("old"), perm), os.Chmod(path, perm))
			}
			if err != nil {
				t.Fatal(err)
			}
			before := shownFile(path)
			stop, calls := errors.New("it has changed"), 0
			err = tree.replace(replacement{path: "below/file", mode: tt.mode, data: []byte("text")}, func() error {
				if calls++; refuses {
					return stop
				}
				return nil
			})
			want := tt.want
			if refuses || tt.refused {
				want = before
			}
			if got := shownFile(path); strings.HasPrefix(want, "d") != strings.HasPrefix(got, "d") || !strings.HasPrefix(want, "d") && got != want {
				t.Errorf("%s, refused by the guard %v: %q, want %q", name, refuses, got, want)
			}
			switch {
			case tt.refused && (!errors.Is(err, ErrUnsafe) || calls > 0), !tt.refused && refuses && (!errors.Is(err, stop) || calls != 1), !tt.refused && !refuses && (err != nil || calls != 1):
				t.Errorf("%s, refused by the guard %v: %v after %d calls of it", name, refuses, err, calls)
			}
			left, _ := filepath.Glob(filepath.Join(dir, "below", ".parley*"))
			notes, _ := os.ReadDir(filepath.Join(m.opts.Dir, recordsDir))
			if text, err := os.ReadFile(outside); len(left)+len(notes) > 0 || string(text) != "outside" {
				t.Errorf("%s: left are %v and %v; the target of the link has %q, %v", name, left, notes, text, err)
			}
		}
	}
	tree := &Tree{m: manager(t), dir: t.TempDir()}
	if err := os.Symlink("/", filepath.Join(tree.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "../x", "/x", "a/../b", ".git/config", "a/.GIT/x", "a/git~1/x", "a\x00", "link/x", "link/tmp/x"} {
		if err := tree.replace(replacement{path: path, mode: "100644"}, func() error { return nil }); !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrUnsafe) {
			t.Errorf("the path %q: %v, want a refusal", path, err)
		}
	}
	if err := tree.replace(replacement{path: "new/deep/file", mode: "100644", data: []byte("x")}, func() error { return nil }); err != nil {
		t.Errorf("a file in new directories: %v", err)
	}
}

// shownFile describes a file; "" is none.
func shownFile(path string) string {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return ""
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(path)
		return "L--------- " + to
	}
	text, _ := os.ReadFile(path)
	return info.Mode().String() + " " + string(text)
}

// The temporary files of a killed process are removed with their journals, and no other file.
func TestRecoverFiles(t *testing.T) {
	m, dir := manager(t), t.TempDir()
	note := func(name, text string) string {
		path := filepath.Join(m.opts.Dir, recordsDir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{".parley-aa.tmp", ".parley-bb.tmp", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	notes := []string{
		note("f-aa.json", fmt.Sprintf(`{"dir":%q,"tmp":".parley-aa.tmp"}`, dir)), note("f-xx.json", fmt.Sprintf(`{"dir":%q,"tmp":"other"}`, dir)), note("f-yy.json", fmt.Sprintf(`{"dir":%q,"tmp":".parley-bb.tmp"}`, dir)),
		note("f-zz.json", "{"), note("f-gone.json", `{"dir":"/no/such/directory","tmp":".parley-gone.tmp"}`),
	}
	kept := note("w-12345678.json", "{}")
	if err := m.recoverFiles(); err != nil {
		t.Fatal(err)
	}
	for _, path := range notes {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left", path)
		}
	}
	left, _ := os.ReadDir(dir)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if _, err := os.Stat(kept); err != nil || !slices.Equal(names, []string{".parley-bb.tmp", "other"}) {
		t.Errorf("left are %q, want the files that no note of their own names; the record: %v", names, err)
	}
}

// A record is found only by its exact id; records that are being created or removed are in no list.
func TestRecords(t *testing.T) {
	m := manager(t)
	id := func(n int) string { return fmt.Sprintf("w-1234567%d", n) }
	for i, state := range []string{ready, making, settingUp, removing, ready} {
		if err := m.save(record{Workspace: Workspace{ID: id(i), Path: fmt.Sprint("p", i)}, State: state}); err != nil {
			t.Fatal(err)
		}
		w, err := m.Get(id(i))
		if (err == nil) != (state == ready) || err != nil && !errors.Is(err, ErrNotFound) || w.Path != fmt.Sprint("p", i) {
			t.Errorf("%s: %+v, %v", state, w, err)
		}
	}
	list, err := m.List()
	if err != nil || len(list) != 2 || list[0].ID != id(0) || list[1].ID != id(4) {
		t.Errorf("the list is %+v, %v, want those that are ready", list, err)
	}
	for _, bad := range []string{"", "w-1234567", "w-1234567g", "../w-12345678", "w-12345678/x", "x-12345678", "w-99999999"} {
		if _, err := m.Get(bad); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v, want %v", bad, err, ErrNotFound)
		}
	}
	if m := manager(t); os.RemoveAll(filepath.Join(m.opts.Dir, recordsDir)) == nil {
		if list, err := m.List(); err != nil || list == nil || len(list) > 0 {
			t.Errorf("without records: %v, %v, want an empty list", list, err)
		}
	}
}

// A record in which any byte was changed is moved aside. The other workspaces stay listed, also
// after the next start.
func TestRecords_damaged(t *testing.T) {
	short.SkipQuick(t, "runs git many times")
	m := manager(t)
	const id, other = "w-12345678", "w-12345679"
	for _, id := range []string{id, other} {
		if err := m.save(record{Workspace: Workspace{ID: id, Path: "p"}, State: ready}); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(m.recordPath(id))
	if err != nil {
		t.Fatal(err)
	}
	harmed := [][]byte{{}, []byte("{"), whole[:len(whole)-3], []byte(`{"id":"` + other + `","state":"ready"}`)}
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 1
		harmed = append(harmed, data)
	}
	for i, data := range harmed {
		if err := os.WriteFile(m.recordPath(id), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := m.recover(t.Context()); err != nil {
			t.Fatalf("a start with %q: %v", data, err)
		}
		if w, err := m.Get(id); !errors.Is(err, ErrNotFound) {
			t.Errorf("the workspace of %q is %+v, %v; want %v", data, w, err, ErrNotFound)
		}
		if list, err := m.List(); err != nil || len(list) != 1 || list[0].ID != other {
			t.Errorf("with %q the list is %+v, %v; want the other workspace", data, list, err)
		}
		if aside, err := DamagedRecords(m.opts.Dir); err != nil || len(aside) != i+1 {
			t.Errorf("after %d damages %d records are aside, %v", i+1, len(aside), err)
		}
	}
	if err := os.WriteFile(m.recordPath(id), whole[:bytes.IndexByte(whole, '\n')], 0o600); err != nil { // as an older program writes it
		t.Fatal(err)
	}
	if _, err := m.Get(id); err != nil {
		t.Errorf("a record without a checksum: %v", err)
	}
	if aside, err := DamagedRecords(t.TempDir()); err != nil || len(aside) > 0 {
		t.Errorf("of a new directory %q are aside, %v", aside, err)
	}
}

// After a kill a workspace can be used again, even if its setup or a commit was running.
func TestRecoverOne(t *testing.T) {
	m := manager(t)
	common := t.TempDir()
	r := record{Workspace: Workspace{ID: "w-12345678", Path: filepath.Join(common, "tree"), Branch: "wt/x", Output: "so far\n"}, CommonDir: common}
	r.State = settingUp
	if err := m.recoverOne(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got, err := m.load(r.ID); err != nil || got.State != ready || !strings.HasPrefix(got.Output, "so far\n[the server ended") {
		t.Errorf("after its setup: %+v, %v, want it ready", got, err)
	}
	admin := m.adminDir(r)
	locks := []string{filepath.Join(common, "refs", "heads", "wt", "x.lock"), filepath.Join(admin, "index.lock"), filepath.Join(admin, "HEAD.lock"), filepath.Join(admin, "next-index-17.lock")}
	keep := filepath.Join(admin, "index")
	for _, name := range append(locks, keep) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r.State = ready
	if err := m.recoverOne(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(locks[0]); err != nil {
		t.Errorf("without a commit its locks are gone: %v", err)
	}
	r.Commit = true
	if err := m.recoverOne(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, name := range locks {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after its commit %s is left", name)
		}
	}
	if got, err := m.load(r.ID); err != nil || got.Commit || got.State != ready {
		t.Errorf("after its commit: %+v, %v", got, err)
	}
	if _, err := os.Stat(keep); err != nil {
		t.Errorf("its index: %v, want it kept", err)
	}
}

// The top of a working tree is the nearest directory with git data.
func TestCheckTop(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(top, "a", "b")
	if err := errors.Join(os.MkdirAll(below, 0o700), os.Mkdir(filepath.Join(top, ".git"), 0o700), os.Symlink(below, filepath.Join(top, "link"))); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]error{top: nil, below: nil, filepath.Join(top, "link"): nil} {
		if err := checkTop(dir, top); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%s: %v, want %v", dir, err, want)
		}
		if !belowGit(dir) {
			t.Errorf("%s is not below git", dir)
		}
	}
	if err := checkTop(below, filepath.Join(top, "a")); !errors.Is(err, ErrUnsafe) {
		t.Errorf("another top: %v, want %v", err, ErrUnsafe)
	}
	if err := checkTop(filepath.Join(top, "none"), top); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that does not exist: %v", err)
	}
	if err := checkTop(top, filepath.Join(top, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a top that does not exist: %v", err)
	}
	m := manager(t)
	trees := filepath.Join(m.opts.Dir, treesDir)
	for path, want := range map[string]bool{trees + "/w-12345678": true, trees + "/w-12345678/a": true, trees: false, trees + "/other": false, trees + "/w-12345678x": false, m.opts.Dir: false, "/w-12345678": false} {
		if got := m.Holds(path); got != want {
			t.Errorf("%s is held: %v, want %v", path, got, want)
		}
	}
}

// Files that cannot be in a snapshot are listed with the reason.
func TestLeaveOut(t *testing.T) {
	m := manager(t)
	tree := &Tree{m: m, dir: t.TempDir()}
	for name, size := range map[string]int{"small": 100, "large": 101} {
		if err := os.WriteFile(filepath.Join(tree.dir, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("large", filepath.Join(tree.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]LeftOut{"small": {}, "large": {"large", 101, "large"}, "link": {}, "none": {}, "sub/": {"sub", 0, "repository"}} {
		if got, ok := tree.leaveOut(path); got != want || ok != (want.Why != "") {
			t.Errorf("%s: %+v, %v, want %+v", path, got, ok, want)
		}
	}
	if err := (&LossError{Files: []string{"a", "b"}}).Error(); !strings.Contains(err, "a, b") || strings.Contains(err, "commits") || strings.Contains(err, "and more") {
		t.Errorf("a loss of files is %q", err)
	}
	if err := (&LossError{Commits: []string{"c"}, More: true}).Error(); !strings.Contains(err, "c; and more") || strings.Contains(err, "not committed") {
		t.Errorf("a loss of commits is %q", err)
	}
	if !errors.Is(&LossError{}, ErrLoss) || errors.Is(&LossError{}, ErrStale) || !errors.Is(&StaleError{}, ErrStale) || errors.Is(&StaleError{}, ErrLoss) {
		t.Error("the errors do not match their kinds")
	}
}
