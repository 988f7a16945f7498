package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CommitOptions describes a commit that [Tree.Commit] makes. Message is required and has at most
// 64 KiB.
type CommitOptions struct {
	Message string
	// Files are the paths to commit, as [Tree.Diff] names them; nil commits all that differ from
	// HEAD.
	Files []string
	// Hunks maps a path to the ids of the hunks to commit, as [Tree.Diff] names them against HEAD.
	// A file without an entry is committed completely; a file with an empty list is not committed.
	Hunks map[string][]string
	// Session, unless empty, is the value of the added trailer "Parley-Session".
	Session string
}

// Committed is the commit that [Tree.Commit] has made, with the files in it and the output of hooks.
type Committed struct {
	Commit string // the id of the commit
	Branch string // empty for a detached HEAD
	Files  []string
	Output string // of hooks
}

// Trailer is the name of the trailer of a commit message that names the session; see
// CommitOptions.Session.
const Trailer = "Parley-Session"

// maxMessage is the size limit of a commit message in bytes.
const maxMessage = 64 << 10

// Commit commits changed files with the user's git, which signs the commit and runs hooks as
// configured by the user and, if it is trusted, by the repository. Other files in the index stay
// there. The error is [ErrNothing] if there is no change to commit, [ErrFilter] if a file needs a
// filter that is not trusted, and a [*GitError] if a hook rejects the commit; then no commit is made.
func (t *Tree) Commit(ctx context.Context, o CommitOptions) (Committed, error) {
	if err := checkMessage(o); err != nil {
		return Committed{}, err
	}
	defer t.m.hold(t.dir)()
	g, err := t.m.guard(ctx, t.dir)
	if err != nil {
		return Committed{}, err
	}
	files, parts, err := t.committing(ctx, g, o)
	if err != nil {
		return Committed{}, err
	}
	message, err := t.message(ctx, o)
	if err != nil {
		return Committed{}, err
	}
	defer os.Remove(message)
	if err := t.noteCommit(true); err != nil {
		return Committed{}, err
	}
	step("commit noted")
	done, err := t.commit(ctx, g, files, parts, message)
	step("commit made")
	return done, errors.Join(err, t.noteCommit(false))
}

func checkMessage(o CommitOptions) error {
	if strings.TrimSpace(o.Message) == "" || len(o.Message) > maxMessage || strings.ContainsRune(o.Message, 0) {
		return invalid("the message of the commit is empty, too long, or not text")
	}
	if o.Session != "" && (checkName("session", o.Session) != nil || strings.TrimSpace(o.Session) != o.Session) {
		return invalid("session %q", o.Session)
	}
	return nil
}

// committing returns the paths to commit, the named ones or all that have changed, and the entries of those that are
// committed in part.
func (t *Tree) committing(ctx context.Context, g *guard, o CommitOptions) ([]string, []string, error) {
	d, _, err := t.diff(ctx, "HEAD", "")
	if err != nil {
		return nil, nil, err
	}
	named, parts, err := t.partly(ctx, d, o)
	if err != nil {
		return nil, nil, err
	}
	files, err := t.named(ctx, g, d, named)
	return files, parts, err
}

// named returns the paths of a diff to commit: those in the list, or all.
func (t *Tree) named(ctx context.Context, g *guard, d Diff, named []string) ([]string, error) {
	for _, left := range d.Left {
		if left.Why == NeedsFilter && (named == nil || slices.Contains(named, left.Path)) {
			return nil, fmt.Errorf("%w: %s", ErrFilter, left.Path)
		}
	}
	if d.Truncated && named == nil && len(d.Files) >= maxDiffFiles {
		return nil, invalid("more than %d files have changed; name those to commit", maxDiffFiles)
	}
	var files []string
	for _, f := range d.Files {
		if named != nil && !slices.Contains(named, f.Path) {
			continue
		}
		files = append(files, f.Path)
		if f.OldPath != "" {
			files = append(files, f.OldPath)
		}
	}
	for _, path := range named {
		if err := checkPath(path); err != nil {
			return nil, err
		}
		if !slices.Contains(files, path) {
			return nil, fmt.Errorf("%w: %s has not changed", ErrNotFound, path)
		}
	}
	if len(files) == 0 {
		return nil, ErrNothing
	}
	found, err := t.filtered(ctx, g, files)
	for path := range found {
		if t.currentInfo(path) != nil {
			return nil, fmt.Errorf("%w: %s", ErrFilter, path)
		}
	}
	return files, err
}

// message writes the message to a file and returns its name.
func (t *Tree) message(ctx context.Context, o CommitOptions) (string, error) {
	text := []byte(strings.TrimRight(o.Message, "\n") + "\n")
	scratch := filepath.Join(t.m.opts.Dir, scratchDir) // outside of any repository, where trailers may be programs
	if o.Session != "" {
		var err error
		text, err = t.m.git.run(ctx, command{dir: scratch, env: []string{"GIT_CEILING_DIRECTORIES=" + t.m.opts.Dir},
			args: []string{"interpret-trailers", "--trailer", Trailer + ": " + o.Session}, stdin: strings.NewReader(string(text))})
		if err != nil {
			return "", err
		}
	}
	f, err := os.CreateTemp(scratch, "message-")
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return f.Name(), nil
}

func (t *Tree) commit(ctx context.Context, g *guard, files, parts []string, message string) (Committed, error) {
	if len(parts) > 0 {
		return t.commitParts(ctx, g, files, parts, message)
	}
	if err := t.stage(ctx, g, nil, files); err != nil {
		return Committed{}, err
	}
	step("files staged")
	specs := make([]string, len(files))
	for i, f := range files {
		specs[i] = ":(literal)" + f
	}
	out, err := t.m.git.run(ctx, command{dir: t.dir, guard: g, hooks: true, both: true, max: 1 << 20, stdin: strings.NewReader(strings.Join(specs, "\x00") + "\x00"),
		args: []string{"commit", "--quiet", "--file=" + message, "--only", "--pathspec-from-file=-", "--pathspec-file-nul"}})
	if err != nil {
		return Committed{}, err
	}
	commit, branch := t.Head(ctx)
	return Committed{Commit: commit, Branch: branch, Files: files, Output: strings.ToValidUTF8(string(out), "�")}, nil
}

// noteCommit records that a commit in the workspace starts or has ended: if git is killed during
// the commit, its locks can be removed.
func (t *Tree) noteCommit(begins bool) error {
	if t.id == "" {
		return nil
	}
	r, err := t.m.load(t.id)
	if err != nil {
		return err
	}
	r.Commit = begins
	return t.m.save(r)
}
