package workspace

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The values of File.Kind: the kind of change of a [File].
const (
	Added    = "add"
	Updated  = "update" // its content, its mode, or both
	Deleted  = "delete"
	Moved    = "move"
	Retyped  = "type" // a file became a link, or the other way round
	modeLink = "120000"
	modeRepo = "160000"
	modeExec = "100755"
)

// File is a file that differs between two states of a tree, with its hunks unless it is binary or
// too large. Sizes are in bytes.
type File struct {
	Path      string
	OldPath   string // for a moved file
	Kind      string
	OldMode   string // git's mode: 100644, 100755, 120000, 160000; empty if the file does not exist
	NewMode   string
	OldSize   int64
	NewSize   int64
	Binary    bool // not text, so without hunks
	Large     bool // too large for a comparison line by line
	Truncated bool // has more hunks than shown
	Untracked bool // not known to git yet
	Added     int  // number of lines in the shown hunks
	Removed   int
	Hunks     []Hunk

	oldBlob, newBlob string
}

// Diff is the difference between two states of a tree, file by file. It has at most 3,000 files and
// 8 MiB of hunks.
type Diff struct {
	From, To  string // ids of trees
	Files     []File
	Left      []LeftOut // if the new side is the current working tree
	Truncated bool      // there are more changes than shown
}

// Limits of a diff.
const (
	maxDiffFiles = 3000
	maxDiffBytes = 8 << 20
	maxFileBytes = 1 << 20 // bytes of hunks of one file
	maxTextFile  = 2 << 20 // a larger file is not compared line by line
	maxRawBytes  = 4 << 20
)

var treeID = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)

// Diff compares two states of the tree. from and to are ids of trees or commits, such as
// [State.Tree] or [Workspace.Base]; HEAD is the checked out commit, an empty from means no files,
// and an empty to is the current directory.
func (t *Tree) Diff(ctx context.Context, from, to string) (Diff, error) {
	defer t.m.hold(t.dir)()
	d, _, err := t.diff(ctx, from, to)
	return d, err
}

// diff is Diff for a caller that holds the tree. It also returns the state of the directory, if it
// was read.
func (t *Tree) diff(ctx context.Context, from, to string) (Diff, State, error) {
	from, err := t.treeOf(ctx, from)
	if err != nil {
		return Diff{}, State{}, err
	}
	var now State
	if to == "" {
		if now, err = t.snapshot(ctx); err != nil {
			return Diff{}, State{}, err
		}
		to = now.Tree
	} else if to, err = t.treeOf(ctx, to); err != nil {
		return Diff{}, State{}, err
	}
	d, err := t.compare(ctx, from, to)
	d.Left = now.Left
	for i, f := range d.Files {
		d.Files[i].Untracked = now.untracked[f.Path]
	}
	return d, now, err
}

// treeOf returns the id of the tree of a name.
func (t *Tree) treeOf(ctx context.Context, name string) (string, error) {
	if name == "HEAD" {
		id, err := t.m.git.line(ctx, t.dir, "rev-parse", "--verify", "--quiet", "HEAD^{tree}")
		if !answersNo(err) {
			return id, err
		}
		name = "" // before the first commit
	}
	if name == "" {
		out, err := t.m.git.run(ctx, command{dir: t.dir, args: []string{"hash-object", "-t", "tree", "-w", "--stdin"}, stdin: strings.NewReader("")})
		return strings.TrimSpace(string(out)), err
	}
	if !treeID.MatchString(name) {
		return "", invalid("state %q", name)
	}
	id, err := t.m.git.line(ctx, t.dir, "rev-parse", "--verify", "--quiet", name+"^{tree}")
	if answersNo(err) {
		return "", fmt.Errorf("%w: state %s", ErrNotFound, name)
	}
	return id, err
}

// compare compares two trees.
func (t *Tree) compare(ctx context.Context, from, to string) (Diff, error) {
	d := Diff{From: from, To: to, Files: []File{}}
	if from == to {
		return d, nil
	}
	options := []string{"diff-tree", "-r", "-M", "-l1000", "--no-commit-id", "--relative", "--no-ext-diff", "--no-textconv", "--submodule=short"}
	raw, err := t.m.git.run(ctx, command{dir: t.dir, max: maxRawBytes, args: append(options[:len(options):len(options)], "--raw", "-z", "--no-abbrev", from, to)})
	if err != nil && !errors.Is(err, errCut) {
		return Diff{}, err
	}
	d.Truncated = err != nil
	d.Files = parseRaw(string(raw))
	if len(d.Files) > maxDiffFiles {
		d.Files, d.Truncated = d.Files[:maxDiffFiles], true
	}
	args := append([]string{"-c", "core.bigFileThreshold=" + strconv.Itoa(maxTextFile), "-c", "diff.suppressBlankEmpty=false"}, options...)
	patch, err := t.m.git.run(ctx, command{dir: t.dir, max: maxDiffBytes, args: append(args, "-p", "-U3", "--indent-heuristic", "--full-index", from, to)})
	if err != nil && !errors.Is(err, errCut) {
		return Diff{}, err
	}
	whole := err == nil
	rest := parsePatch(d.Files, string(patch), whole)
	d.Truncated = d.Truncated || !whole || rest
	return d, t.sizes(ctx, d.Files)
}

// sizes sets the sizes of files, and distinguishes large ones from binary ones.
func (t *Tree) sizes(ctx context.Context, files []File) error {
	var ids []string
	for _, f := range files {
		if f.OldMode != modeRepo && f.NewMode != modeRepo {
			ids = append(ids, f.oldBlob, f.newBlob)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	out, err := t.m.git.run(ctx, command{dir: t.dir, args: []string{"cat-file", "--batch-check=%(objectname) %(objectsize)"}, stdin: strings.NewReader(strings.Join(ids, "\n") + "\n")})
	if err != nil {
		return err
	}
	size := map[string]int64{}
	for line := range strings.SplitSeq(string(out), "\n") {
		id, n, _ := strings.Cut(line, " ")
		if v, err := strconv.ParseInt(n, 10, 64); err == nil { // a missing size means that the side has no file
			size[id] = v
		}
	}
	for i := range files {
		f := &files[i]
		f.OldSize, f.NewSize = size[f.oldBlob], size[f.newBlob]
		if f.Binary && max(f.OldSize, f.NewSize) > maxTextFile {
			f.Binary, f.Large = false, true
		}
	}
	return nil
}

// file returns the file with a path.
func (d Diff) file(path string) (File, bool) {
	for _, f := range d.Files {
		if f.Path == path {
			return f, true
		}
	}
	return File{}, false
}

// Commit is a commit in a list: its id, the first line of its message, its author and its time.
type Commit struct {
	ID      string
	Subject string
	Author  string
	Time    string // RFC 3339
}

// maxCommits is the maximum number of commits in a list, the newest ones.
const maxCommits = 200

// Commits returns the commits from base, the id of a commit, to the checked out one, without base.
// The newest is first; there are at most 200.
func (t *Tree) Commits(ctx context.Context, base string) ([]Commit, error) {
	if !treeID.MatchString(base) {
		return nil, invalid("commit %q", base)
	}
	out, err := t.m.git.line(ctx, t.dir, "log", "-z", "--no-show-signature", fmt.Sprintf("--max-count=%d", maxCommits), "--format=%H%x1f%s%x1f%an%x1f%aI", base+"..HEAD", "--")
	if err != nil {
		return nil, err
	}
	list := []Commit{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if parts := strings.Split(entry, "\x1f"); len(parts) == 4 {
			list = append(list, Commit{parts[0], parts[1], parts[2], parts[3]})
		}
	}
	return list, nil
}
