package workspace

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// scripted returns a tree whose git returns only these answers, by the arguments; "!" is a failure.
// For other arguments git exits as if the name did not exist.
func scripted(t *testing.T, answers map[string]string) *Tree {
	t.Helper()
	tree := &Tree{m: manager(t), dir: "/w", top: "/w", owner: "o"}
	tree.m.git.stub = func(c command) ([]byte, error, bool) {
		args := strings.Join(c.args, " ")
		if c.stdin != nil {
			in, err := io.ReadAll(c.stdin)
			if err != nil {
				t.Error(err)
			}
			args += " < " + string(in)
		}
		out, ok := answers[args]
		switch {
		case !ok:
			return nil, &GitError{Command: c.name(), Exit: 1}, true
		case out == "!":
			return nil, errFault, true
		}
		return []byte(out), nil, true
	}
	return tree
}

// with returns answers with others added or replaced; a value of "-" removes one.
func with(answers map[string]string, more ...string) map[string]string {
	all := map[string]string{}
	for k, v := range answers {
		all[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		if all[more[i]] = more[i+1]; more[i+1] == "-" {
			delete(all, more[i])
		}
	}
	return all
}

// TestBranch_table checks the position of a branch for each answer of git.
func TestBranch_table(t *testing.T) {
	const (
		head    = "rev-parse --verify --quiet HEAD^{commit}"
		name    = "symbolic-ref --quiet --short HEAD"
		main    = "show-ref --verify --quiet refs/heads/main"
		master  = "show-ref --verify --quiet refs/heads/master"
		count   = "rev-list --left-right --count refs/heads/main...HEAD --"
		remotes = `config --get-regexp --name-only ^remote\..*\.url$`
		own     = "config --get branch.main.remote"
		pushurl = "config --get remote.origin.pushurl"
		url     = "config --get remote.origin.url"
		there   = "rev-parse --verify --quiet refs/remotes/origin/topic"
	)
	base := map[string]string{head: "c1\n", name: "topic\n", main: "", count: "2\t3\n", remotes: "remote.origin.url\n", url: "u\n", there: "c1\n"}
	whole := Branch{Name: "topic", Target: "main", Ahead: 3, Behind: 2, Remote: "origin", URL: "u", Pushed: true}
	edit := func(f func(*Branch)) Branch { b := whole; f(&b); return b }
	for _, tt := range []struct {
		what    string
		answers map[string]string
		want    Branch
		fails   bool
	}{
		{"all", base, whole, false},
		{"another commit was pushed", with(base, there, "c0\n"), edit(func(b *Branch) { b.Pushed = false }), false},
		{"never pushed", with(base, there, "-"), edit(func(b *Branch) { b.Pushed = false }), false},
		{"another address to push to", with(base, pushurl, "p\n"), edit(func(b *Branch) { b.URL = "p" }), false},
		{"no address", with(base, url, "-"), edit(func(b *Branch) { b.URL = "" }), false},
		{"no remote", with(base, remotes, "-"), edit(func(b *Branch) { b.Remote, b.URL, b.Pushed = "", "", false }), false},
		{"a remote with another name", with(base, remotes, "remote.up.stream.url\n", "config --get remote.up.stream.url", "v\n"), edit(func(b *Branch) { b.Remote, b.URL, b.Pushed = "up.stream", "v", false }), false},
		{"two other remotes", with(base, remotes, "remote.a.url\nremote.b.url\n"), edit(func(b *Branch) { b.Remote, b.URL, b.Pushed = "", "", false }), false},
		{"the remote of the target", with(base, remotes, "remote.a.url\nremote.origin.url\n", own, "a\n", "config --get remote.a.url", "v\n"), edit(func(b *Branch) { b.Remote, b.URL, b.Pushed = "a", "v", false }), false},
		{"a remote of the target that does not exist", with(base, own, "gone\n"), whole, false},
		{"a remote that is an option", with(base, remotes, "remote.-x.url\nremote.origin.url\n"), whole, false},
		{"an old name of the target", with(base, main, "-", master, "", "rev-list --left-right --count refs/heads/master...HEAD --", "0\t1\n"), edit(func(b *Branch) { b.Target, b.Behind, b.Ahead = "master", 0, 1 }), false},
		{"no target", with(base, main, "-"), edit(func(b *Branch) { b.Target, b.Behind, b.Ahead = "", 0, 0 }), false},
		{"the target itself", with(base, name, "main\n"), edit(func(b *Branch) { b.Name, b.Target, b.Behind, b.Ahead, b.Pushed = "main", "", 0, 0, false }), false},
		{"before the first commit", with(base, head, "-"), edit(func(b *Branch) { b.Behind, b.Ahead, b.Pushed = 0, 0, false }), false},
		{"before the first commit, never pushed", with(base, head, "-", there, "-"), edit(func(b *Branch) { b.Behind, b.Ahead, b.Pushed = 0, 0, false }), false},
		{"a detached HEAD", with(base, name, "-"), edit(func(b *Branch) { b.Name, b.URL, b.Pushed = "", "", false }), false},
		{"no count", with(base, count, "!"), Branch{}, true},
		{"a bad count", with(base, count, "x\n"), Branch{}, true},
		{"half a count", with(base, count, "1\n"), Branch{}, true},
		{"no answer about the target", with(base, main, "!"), Branch{}, true},
	} {
		got, err := scripted(t, tt.answers).Branch(t.Context())
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.fails {
			t.Errorf("%s: %v (-want +got):\n%s", tt.what, err, diff)
		}
	}
}

// TestSizes checks the sizes of files, and which are too large to compare.
func TestSizes(t *testing.T) {
	size := func(id string, n int64) string { return fmt.Sprintf("%s %d\n", id, n) }
	const limit = maxTextFile
	files := []File{
		{Path: "text", oldBlob: "a", newBlob: "b"}, {Path: "added", oldBlob: "0", newBlob: "b"},
		{Path: "limit", Binary: true, oldBlob: "l", newBlob: "a"}, {Path: "large", Binary: true, oldBlob: "a", newBlob: "m"}, {Path: "was large", Binary: true, oldBlob: "m", newBlob: "a"},
		{Path: "long text", oldBlob: "m", newBlob: "m"}, {Path: "module", OldMode: modeRepo, oldBlob: "x", newBlob: "y"}, {Path: "became one", NewMode: modeRepo, oldBlob: "x", newBlob: "y"},
	}
	want := []File{
		{Path: "text", OldSize: 3, NewSize: 5}, {Path: "added", NewSize: 5}, {Path: "limit", Binary: true, OldSize: limit, NewSize: 3}, {Path: "large", Large: true, OldSize: 3, NewSize: limit + 1},
		{Path: "was large", Large: true, OldSize: limit + 1, NewSize: 3}, {Path: "long text", OldSize: limit + 1, NewSize: limit + 1}, {Path: "module", OldMode: modeRepo}, {Path: "became one", NewMode: modeRepo},
	}
	const asks = "cat-file --batch-check=%(objectname) %(objectsize) < a\nb\n0\nb\nl\na\na\nm\nm\na\nm\nm\n"
	tree := scripted(t, map[string]string{asks: size("a", 3) + size("b", 5) + "0 missing\n" + size("l", limit) + size("m", limit+1)})
	if err := tree.sizes(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, files, cmpopts.IgnoreUnexported(File{})); diff != "" {
		t.Errorf("the sizes (-want +got):\n%s", diff)
	}
	if err := scripted(t, map[string]string{asks: "!"}).sizes(t.Context(), files); !errors.Is(err, errFault) {
		t.Errorf("without an answer: %v", err)
	}
	if err := scripted(t, nil).sizes(t.Context(), files[6:]); err != nil {
		t.Errorf("submodules alone: %v", err)
	}
}

// TestEntry checks that an entry is found only by the exact path of its file.
func TestEntry(t *testing.T) {
	for _, tt := range []struct{ out, mode, id string }{
		{"100644 blob b1\ta.txt\x00", "100644", "b1"}, {"100755 blob b1\tother\x00120000 blob b2\ta.txt\x00", "120000", "b2"}, {"", "", ""}, {"040000 tree t1\ta.txt/x\x00", "", ""},
		{"100644 blob\ta.txt\x00", "", ""}, {"100644 blob b1 a.txt\x00", "", ""}, {"a.txt", "", ""},
	} {
		mode, id, err := scripted(t, map[string]string{"ls-tree -z t -- a.txt": tt.out}).entry(t.Context(), "t", "a.txt")
		if mode != tt.mode || id != tt.id || err != nil {
			t.Errorf("%q is %q %q, %v, want %q %q", tt.out, mode, id, err, tt.mode, tt.id)
		}
	}
	if _, _, err := scripted(t, map[string]string{"ls-tree -z t -- a.txt": "!"}).entry(t.Context(), "t", "a.txt"); !errors.Is(err, errFault) {
		t.Errorf("without an answer: %v", err)
	}
}

// TestTreeOf checks which names are valid states: HEAD, "", and ids of trees and commits.
func TestTreeOf(t *testing.T) {
	id := strings.Repeat("a", 40)
	const head, empty = "rev-parse --verify --quiet HEAD^{tree}", "hash-object -t tree -w --stdin < "
	for _, tt := range []struct {
		name    string
		answers map[string]string
		want    string
		err     error
	}{
		{"HEAD", map[string]string{head: "t1\n"}, "t1", nil}, {"HEAD", map[string]string{empty: "e\n"}, "e", nil}, {"HEAD", map[string]string{head: "!", empty: "e\n"}, "", errFault},
		{"", map[string]string{empty: "e\n"}, "e", nil}, {"", map[string]string{empty: "!"}, "", errFault},
		{id, map[string]string{"rev-parse --verify --quiet " + id + "^{tree}": "t2\n"}, "t2", nil}, {id, nil, "", ErrNotFound}, {id, map[string]string{"rev-parse --verify --quiet " + id + "^{tree}": "!"}, "", errFault},
		{"main", nil, "", ErrInvalid}, {id[1:], nil, "", ErrInvalid}, {id + "a", nil, "", ErrInvalid}, {"--all", nil, "", ErrInvalid}, {strings.ToUpper(id), nil, "", ErrInvalid},
	} {
		got, err := scripted(t, tt.answers).treeOf(t.Context(), tt.name)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("state %q with %v: %q, %v, want %q, %v", tt.name, tt.answers, got, err, tt.want, tt.err)
		}
	}
}

// TestFiltered checks which paths need a filter that is not run.
func TestFiltered(t *testing.T) {
	const asks = "check-attr -z --stdin filter < a\x00b\x00c\x00"
	tree := scripted(t, map[string]string{asks: "a\x00filter\x00big\x00b\x00filter\x00unspecified\x00c\x00filter\x00small\x00"})
	g := &guard{blocked: map[string]bool{"big": true}}
	got, err := tree.filtered(t.Context(), g, []string{"a", "b", "c"})
	if diff := cmp.Diff(map[string]bool{"a": true}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := scripted(t, map[string]string{asks: "!"}).filtered(t.Context(), g, []string{"a", "b", "c"}); !errors.Is(err, errFault) {
		t.Errorf("without an answer: %v, %v", got, err)
	}
	for _, paths := range [][]string{nil, {}} {
		if got, err := scripted(t, map[string]string{}).filtered(t.Context(), g, paths); err != nil || len(got) > 0 {
			t.Errorf("no paths: %v, %v", got, err)
		}
	}
	if got, err := scripted(t, nil).filtered(t.Context(), &guard{}, []string{"a"}); err != nil || len(got) > 0 {
		t.Errorf("without a blocked filter git was asked: %v, %v", got, err)
	}
}

// TestNamed checks which files a commit contains: the named files that have changed and the old
// paths of moved ones, without files that need a filter.
func TestNamed(t *testing.T) {
	d := Diff{Files: []File{{Path: "a"}, {Path: "new", OldPath: "old"}}, Left: []LeftOut{{Path: "big", Why: NeedsFilter}, {Path: "huge", Why: "large"}}}
	clean := Diff{Files: d.Files}
	many := Diff{Truncated: true, Files: make([]File, maxDiffFiles)}
	few := Diff{Truncated: true, Files: []File{{Path: "a"}}}
	for _, tt := range []struct {
		what  string
		d     Diff
		named []string
		want  []string
		err   error
	}{
		{"all", clean, nil, []string{"a", "new", "old"}, nil}, {"one", d, []string{"a"}, []string{"a"}, nil}, {"a moved one", d, []string{"new"}, []string{"new", "old"}, nil},
		{"all, with a filter", d, nil, nil, ErrFilter}, {"one that needs a filter", d, []string{"a", "big"}, nil, ErrFilter}, {"an unchanged one", d, []string{"x"}, nil, ErrNotFound},
		{"one that is too large", d, []string{"huge"}, nil, ErrNotFound}, {"one outside", d, []string{"../a"}, nil, ErrInvalid}, {"no file", d, []string{}, nil, ErrNothing},
		{"no change", Diff{}, nil, nil, ErrNothing}, {"too many", many, nil, nil, ErrInvalid}, {"a cut diff", few, nil, []string{"a"}, nil}, {"some of too many", many, []string{"x"}, nil, ErrNotFound},
	} {
		got, err := scripted(t, nil).named(t.Context(), &guard{}, tt.d, tt.named)
		if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v (-want +got):\n%s", tt.what, err, tt.err, diff)
		}
	}
}

// TestCheckMessage checks which messages and sessions a commit can have.
func TestCheckMessage(t *testing.T) {
	for _, tt := range []struct {
		o  CommitOptions
		ok bool
	}{
		{CommitOptions{Message: "m"}, true}, {CommitOptions{Message: strings.Repeat("m", maxMessage), Session: "s"}, true}, {CommitOptions{Message: strings.Repeat("m", maxMessage+1)}, false},
		{CommitOptions{}, false}, {CommitOptions{Message: " \n\t"}, false}, {CommitOptions{Message: "a\x00"}, false}, {CommitOptions{Message: "m", Session: "-s"}, false},
		{CommitOptions{Message: "m", Session: "a\nb"}, false}, {CommitOptions{Message: "m", Session: " s"}, false}, {CommitOptions{Message: "m", Session: "s "}, false},
	} {
		if err := checkMessage(tt.o); (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%.40q for %q: %v, want ok %t", tt.o.Message, tt.o.Session, err, tt.ok)
		}
	}
}

// TestDeleteRef checks that a ref is deleted only with the expected value.
func TestDeleteRef(t *testing.T) {
	const asks, deletes = "rev-parse --verify --quiet refs/heads/b", "update-ref -d refs/heads/b c1"
	dir := t.TempDir()
	for _, tt := range []struct {
		what    string
		repo    string
		answers map[string]string
		err     error
	}{
		{"the value", dir, map[string]string{asks: "c1\n", deletes: ""}, nil}, {"another value", dir, map[string]string{asks: "c2\n", deletes: "!"}, nil}, {"no ref", dir, map[string]string{deletes: "!"}, nil},
		{"no answer", dir, map[string]string{asks: "!"}, errFault}, {"a deletion that fails", dir, map[string]string{asks: "c1\n", deletes: "!"}, errFault}, {"no repository", dir + "/none", map[string]string{asks: "!"}, nil},
	} {
		if err := scripted(t, tt.answers).m.deleteRef(t.Context(), tt.repo, "refs/heads/b", "c1"); !errors.Is(err, tt.err) {
			t.Errorf("%s: %v, want %v", tt.what, err, tt.err)
		}
	}
}

// TestTarget checks the target branch of a worktree: its base or the checked out branch, if that is
// another branch.
func TestTarget(t *testing.T) {
	const head = "symbolic-ref --quiet --short HEAD"
	is := func(name string) string { return "show-ref --verify --quiet refs/heads/" + name }
	for _, tt := range []struct {
		base, branch string
		answers      map[string]string
		want         string
		err          error
	}{
		{"", "b", map[string]string{head: "main\n", is("main"): ""}, "main", nil}, {"side", "b", map[string]string{head: "main\n", is("main"): "", is("side"): ""}, "side", nil},
		{"abc", "b", map[string]string{head: "main\n", is("main"): ""}, "", nil}, {"", "b", nil, "", nil}, {"", "main", map[string]string{head: "main\n", is("main"): ""}, "", nil},
		{"", "b", map[string]string{head: "!"}, "", errFault}, {"", "b", map[string]string{head: "main\n", is("main"): "!"}, "", errFault}, {"-x", "b", map[string]string{is("-x"): ""}, "", nil},
	} {
		got, err := scripted(t, tt.answers).m.target(t.Context(), "/w", tt.base, tt.branch)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("base %q, branch %q with %v: %q, %v, want %q, %v", tt.base, tt.branch, tt.answers, got, err, tt.want, tt.err)
		}
	}
}
