package server

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// The limits of projects.list.
const (
	maxRecent         = 5
	maxFolders        = 50
	maxFoldersLooked  = 20_000
	maxFolderDepth    = 4
	maxBranches       = 200
	maxRefFile        = 4 << 10
	maxPackedRefs     = 4 << 20
	recentFromHistory = 40
)

// projectsList lists folders in which sessions can start.
func projectsList(s *Server, ctx context.Context, c *caller, p api.ProjectsListParams) (api.ProjectsListResult, error) {
	result := api.ProjectsListResult{Roots: s.opts.Directories, Recent: []api.Project{}, Folders: []api.Project{}}
	if p.Path != "" {
		dir, err := s.directory(p.Path)
		if err != nil {
			return result, err
		}
		one := s.project(dir)
		one.Branches = branches(dir)
		result.Folders = append(result.Folders, one)
		return result, nil
	}
	most := int(p.Limit)
	if most <= 0 || most > maxFolders {
		most = maxFolders
	}
	query := strings.ToLower(p.Query)
	listed := map[string]bool{}
	for _, dir := range s.recentDirs(ctx, c) {
		if len(result.Recent) < maxRecent && named(dir, query) {
			listed[dir] = true
			result.Recent = append(result.Recent, s.project(dir))
		}
	}
	for _, dir := range foldersBelow(ctx, s.opts.Directories, query, maxFoldersLooked) {
		if len(result.Folders) < most && !listed[dir] {
			result.Folders = append(result.Folders, s.project(dir))
		}
	}
	return result, ctx.Err()
}

// recentDirs returns the directories of sessions, newest first, each once: those of the server, then those on disk. Worktrees of the
// server are not below its roots and are therefore omitted.
func (s *Server) recentDirs(ctx context.Context, c *caller) []string {
	type used struct{ dir, at string }
	var all []used
	for _, e := range s.sessions.All(ctx) {
		all = append(all, used{e.CWD, e.UpdatedAt})
	}
	if kept, err := s.histories(ctx, c, ""); err == nil {
		for _, h := range kept {
			list, _, err := h.List(ctx, agent.HistoryQuery{Limit: recentFromHistory})
			if err != nil {
				continue // an unreadable history has no folders
			}
			for _, one := range list {
				all = append(all, used{one.Dir, session.Timestamp(one.Modified)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(b.at, a.at) })
	var dirs []string
	for _, u := range all {
		if u.dir == "" {
			continue
		}
		if dir, err := s.directory(u.dir); err == nil && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func named(dir, query string) bool {
	return strings.Contains(strings.ToLower(filepath.Base(dir)), query)
}

// foldersBelow returns folders with a name that contains the query: repositories first, then those near a root. It looks at
// most at a number of files and folders of all roots together.
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
func (s *Server) project(dir string) api.Project {
	return api.Project{Path: dir, Git: gitDir(dir) != "", Branch: s.branchOf(s.gitAbove(dir))}
}

// gitAbove returns the directory with the git data of the working tree that contains a folder, if its top is below the roots, else "".
func (s *Server) gitAbove(dir string) string {
	for {
		if git := gitDir(dir); git != "" {
			return git
		}
		parent := filepath.Dir(dir)
		if _, err := s.directory(parent); err != nil || parent == dir {
			return ""
		}
		dir = parent
	}
}

// gitDir returns the directory with the git data of a working tree, or "" if the folder is not the top of one. It reads files and does
// not run git, because the folder is untrusted.
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

// branchOf returns the current branch of git data. Data outside of the server's roots, which a file .git can name, is
// not read.
func (s *Server) branchOf(git string) string {
	inside, err := s.directory(git)
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

// branches returns the local branches of a repository with its data in the folder, sorted.
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

// location is where a session runs, in words for people: the repository of a worktree and the branch.
type location struct{ repo, branch string }

// lookups looks each directory up once for a list.
type lookups struct {
	server *Server
	known  map[string]location
}

func (p lookups) of(workspaceID, dir string) location {
	at, ok := p.known[dir]
	if ok {
		return at
	}
	at.branch = p.server.branchOf(p.server.gitAbove(dir))
	if workspaceID != "" {
		if w, err := p.server.workspaces.Get(workspaceID); err == nil { // one that was removed has no name any more
			at.repo = w.Repo
			if at.branch == "" {
				at.branch = w.Branch
			}
		}
	}
	p.known[dir] = at
	return at
}
