package place

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/server/api"
)

// Limits of projects.
const (
	maxRecent        = 5
	maxFolders       = 50
	maxFoldersLooked = 20_000
	maxFolderDepth   = 4
	maxBranches      = 200
	maxRefFile       = 4 << 10
	maxPackedRefs    = 4 << 20
)

// Projects lists folders in which sessions can start. It ignores recent folders outside of the roots, such as
// worktrees.
func (l *Local) Projects(ctx context.Context, q ProjectsQuery) (api.ProjectsListResult, error) {
	result := api.ProjectsListResult{Roots: l.Roots, Recent: []api.Project{}, Folders: []api.Project{}}
	if q.Path != "" {
		dir, err := l.Dir(q.Path)
		if err != nil {
			return result, err
		}
		one := l.project(dir)
		one.Branches = branches(dir)
		result.Folders = append(result.Folders, one)
		return result, nil
	}
	if q.Limit <= 0 || q.Limit > maxFolders {
		q.Limit = maxFolders
	}
	query := strings.ToLower(q.Query)
	listed := map[string]bool{}
	for _, recent := range q.Recent {
		dir, err := l.Dir(recent)
		if err != nil || l.Manager.Holds(dir) || listed[dir] || len(result.Recent) >= maxRecent || !named(dir, query) {
			continue
		}
		listed[dir] = true
		result.Recent = append(result.Recent, l.project(dir))
	}
	for _, dir := range foldersBelow(ctx, l.Roots, query, maxFoldersLooked) {
		if len(result.Folders) < q.Limit && !listed[dir] {
			result.Folders = append(result.Folders, l.project(dir))
		}
	}
	return result, ctx.Err()
}

// BranchOf returns the checked out branch of the working tree that contains a directory, or "".
func (l *Local) BranchOf(dir string) string { return l.branchOf(l.gitAbove(dir)) }

func named(dir, query string) bool {
	return strings.Contains(strings.ToLower(filepath.Base(dir)), query)
}

// foldersBelow returns folders with a name that contains the query: repositories first, then those near a root. It
// visits a bounded number of files and folders in all roots together.
func foldersBelow(ctx context.Context, roots []string, query string, most int) []string {
	type found struct {
		dir   string
		git   bool
		depth int
	}
	var all []found
	looked := 0
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if looked++; looked > most || ctx.Err() != nil {
				return fs.SkipAll
			}
			if err != nil {
				return fs.SkipDir // skip an unreadable folder
			}
			if !d.IsDir() {
				return nil
			}
			depth := 0
			if rel, err := filepath.Rel(root, path); err == nil && rel != "." {
				depth = 1 + strings.Count(rel, string(filepath.Separator))
			}
			if depth > 0 && (strings.HasPrefix(d.Name(), ".") || slices.Contains(skippedDirs, d.Name())) {
				return fs.SkipDir
			}
			if named(path, query) {
				all = append(all, found{path, gitDir(path) != "", depth})
			}
			if depth >= maxFolderDepth {
				return fs.SkipDir
			}
			return nil
		})
	}
	slices.SortStableFunc(all, func(a, b found) int {
		if a.git != b.git {
			if a.git {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.dir, b.dir))
	})
	var dirs []string
	for _, f := range all {
		if !slices.Contains(dirs, f.dir) {
			dirs = append(dirs, f.dir)
		}
	}
	return dirs
}

// project describes a folder.
func (l *Local) project(dir string) api.Project {
	return api.Project{Path: dir, Git: gitDir(dir) != "", Branch: l.branchOf(l.gitAbove(dir))}
}

// gitAbove returns the git directory of the working tree that contains a folder, or "" if the top of the tree is not
// below the roots.
func (l *Local) gitAbove(dir string) string {
	for {
		if git := gitDir(dir); git != "" {
			return git
		}
		parent := filepath.Dir(dir)
		if _, err := l.Dir(parent); err != nil || parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitDir returns the git directory of a working tree, or "" if the folder is not the top of one. It reads files and
// does not run git, because the folder is untrusted.
func gitDir(dir string) string {
	path := filepath.Join(dir, ".git")
	info, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	if info.IsDir() {
		return path
	}
	text, err := regularfile.ReadNoFollow(path, maxRefFile)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return filepath.Clean(to)
}

// branchOf returns the current branch in a git directory. It reads no directory outside of the roots, which a file .git
// can name.
func (l *Local) branchOf(git string) string {
	inside, err := l.Dir(git)
	if git == "" || err != nil {
		return ""
	}
	text, err := regularfile.ReadNoFollow(filepath.Join(inside, "HEAD"), maxRefFile)
	branch, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: refs/heads/")
	if err != nil || !ok || strings.ContainsAny(branch, "\n\r\x00") {
		return ""
	}
	return branch
}

// branches returns the local branches in a git directory, sorted.
func branches(dir string) []string {
	git := gitDir(dir)
	if git != filepath.Join(dir, ".git") {
		return nil
	}
	var all []string
	heads := filepath.Join(git, "refs", "heads")
	real, err := filepath.EvalSymlinks(heads)
	looked := 0
	_ = filepath.WalkDir(heads, func(path string, d fs.DirEntry, failed error) error {
		if looked++; failed != nil || err != nil || real != heads || looked > maxFoldersLooked || len(all) >= maxBranches {
			return fs.SkipAll // a link can lead out of the roots
		}
		if rel, err := filepath.Rel(heads, path); err == nil && d.Type().IsRegular() && !strings.HasSuffix(rel, ".lock") {
			all = append(all, filepath.ToSlash(rel))
		}
		return nil
	})
	packed, _ := regularfile.ReadNoFollow(filepath.Join(git, "packed-refs"), maxPackedRefs) // a missing file has no branches
	for line := range strings.Lines(string(packed)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), " refs/heads/"); ok && len(all) < maxBranches {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
