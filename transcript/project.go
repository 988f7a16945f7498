package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// worktreeLimit is the timeout of git for listing worktrees.
const worktreeLimit = 5 * time.Second

// SessionIn finds a session of a directory by its id, including the other worktrees of the
// directory's git repository. The error is [ErrNoSession] if the session is not found.
func (d *Dir) SessionIn(ctx context.Context, dir, id string) (*Session, error) {
	projects, _, err := d.projectsFor(ctx, &Filter{Dir: dir})
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, p := range projects {
		dirs = append(dirs, p.dir)
	}
	return d.sessionIn(id, dirs)
}

// projectsFor returns the project directories that a filter selects, and the worktrees of its
// directory.
func (d *Dir) projectsFor(ctx context.Context, filter *Filter) (found []project, trees []string, err error) {
	if filter.Dir == "" {
		all, err := d.projectDirs()
		for _, dir := range all {
			found = append(found, project{dir: dir})
		}
		return found, nil, err
	}
	real := claudedir.RealPath(filter.Dir)
	trees = []string{real}
	if !filter.NoWorktrees {
		for _, tree := range worktrees(ctx, real) {
			if !slices.Contains(trees, tree) {
				trees = append(trees, tree)
			}
		}
	}
	taken := map[string]bool{}
	for _, tree := range trees {
		dirs, err := d.projectDirsOf(tree)
		if err != nil {
			return nil, nil, err
		}
		for _, dir := range dirs {
			if !taken[dir] {
				taken[dir] = true
				found = append(found, project{dir: dir, of: tree})
			}
		}
	}
	return found, trees, nil
}

// projectDirsOf returns the project directories with sessions of a directory: the one with its key
// and, for a long path, those with a key that differs only in the hash, as older CLIs wrote it, if
// a session in them names that directory.
func (d *Dir) projectDirsOf(path string) (found []string, err error) {
	key := claudedir.ProjectKey(path)
	for _, name := range []string{d.project, key} {
		dir := filepath.Join(d.projects(), name)
		if info, err := os.Stat(dir); name != "" && err == nil && info.IsDir() {
			found = append(found, dir)
		}
	}
	if len(key) <= claudedir.MaxKey || d.project != "" {
		return found, nil
	}
	all, err := d.projectDirs()
	if err != nil {
		return nil, err
	}
	for _, dir := range all {
		name := filepath.Base(dir)
		if len(name) > claudedir.MaxKey && !sameName(name, key) && sameName(name[:claudedir.MaxKey+1], key[:claudedir.MaxKey]+"-") && holdsSessionOf(dir, path) {
			found = append(found, dir)
		}
	}
	return found, nil
}

// sameName compares file names as the operating system does.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// holdsSessionOf reports whether a session of a project directory names the directory path.
func holdsSessionOf(dir, path string) bool {
	files, _ := filepath.Glob(filepath.Join(globQuote(dir), "*.jsonl"))
	for _, file := range files {
		info, err := readInfo(file, path)
		if err == nil && info != nil && claudedir.Dashes(info.startCWD) == claudedir.Dashes(path) {
			return true
		}
	}
	return false
}

// globQuote escapes the special characters of glob patterns.
func globQuote(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

// worktrees returns the worktrees of the git repository of dir. It returns nil if dir is not in a
// repository or git is not installed.
func worktrees(ctx context.Context, dir string) (trees []string) {
	ctx, cancel := context.WithTimeout(ctx, worktreeLimit)
	defer cancel()
	// The repository is untrusted: programs in its configuration must not run.
	cmd := exec.CommandContext(ctx, "git", "-c", "core.hooksPath="+os.DevNull, "-c", "core.fsmonitor=", "worktree", "list", "--porcelain")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(string(out), "\n") {
		if tree, ok := strings.CutPrefix(strings.TrimSuffix(line, "\r"), "worktree "); ok {
			trees = append(trees, filepath.FromSlash(tree))
		}
	}
	return trees
}

// ofAnother reports whether the session belongs to another existing directory with the same key:
// keys are not unique.
func (c *candidate) ofAnother(info *Info) bool {
	if c.project == "" || info.startCWD == "" || samePath(info.startCWD, c.project) || claudedir.Dashes(info.startCWD) != claudedir.Dashes(c.project) {
		return false
	}
	for _, tree := range c.trees {
		if within(info.startCWD, tree) {
			return false
		}
	}
	real, err := filepath.EvalSymlinks(info.startCWD)
	return err == nil && !samePath(real, claudedir.RealPath(c.project)) && claudedir.Dashes(real) == claudedir.Dashes(c.project)
}

func samePath(a, b string) bool {
	a, b = composed(filepath.ToSlash(a)), composed(filepath.ToSlash(b))
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

func within(path, dir string) bool {
	path, dir = composed(filepath.ToSlash(path)), strings.TrimSuffix(composed(filepath.ToSlash(dir)), "/")
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		path, dir = strings.ToLower(path), strings.ToLower(dir)
	}
	return path == dir || strings.HasPrefix(path, dir+"/")
}

// maxTreeSearch is the number of bytes that hasTree reads before it assumes a tree.
const maxTreeSearch = 16 << 20

// hasTree reports whether a session file has an entry of the tree.
func hasTree(path string) bool {
	f, err := openRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	mark := []byte(`"parentUuid":`)
	buf := make([]byte, readSize)
	kept := 0
	for read := 0; read < maxTreeSearch; {
		n, err := f.Read(buf[kept:])
		if bytes.Contains(buf[:kept+n], mark) {
			return true
		}
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return false
		}
		read += n
		rest := buf[max(0, kept+n-len(mark)) : kept+n]
		kept = copy(buf, rest)
	}
	return true
}
