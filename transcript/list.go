package transcript

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/claudedir"
)

// Filter selects sessions by their directory, their origin, their age and more. The zero value
// selects all sessions.
type Filter struct {
	// Dir is a directory: select sessions that were started there or in the other worktrees of its
	// git repository. "" is everywhere.
	Dir string
	// NoWorktrees excludes the other worktrees of Dir.
	NoWorktrees bool
	// NoProgrammatic excludes sessions that programs started, through an SDK or a daemon.
	NoProgrammatic bool
	// Branch, if set, selects sessions with this last branch.
	Branch string
	// Since and Until, if not zero, select sessions that changed in between. Since is inclusive, Until exclusive.
	Since, Until time.Time
	// Offset and Limit page through the list; a Limit of 0 is unlimited.
	Offset, Limit int
	// Index, if set, caches the results, so that the next list reads only changed files; see
	// [OpenIndex].
	Index *Index
}

// Sessions lists sessions, most recently changed first. It reads only the ends of each file, and
// only as many files as the caller ranges over. It omits a file that cannot be read, has no prompt
// or title, belongs to a subagent, or was continued in another session. An error is the last
// element.
func (d *Dir) Sessions(ctx context.Context, filter Filter) iter.Seq2[*Info, error] {
	return func(yield func(*Info, error) bool) {
		found, err := d.candidates(ctx, &filter)
		if err != nil {
			yield(nil, err)
			return
		}
		seen := map[string]bool{}
		skip, left := filter.Offset, filter.Limit
		infos := ordered(ctx, found, func(c *candidate) *Info { return c.info(&filter) })
		for info := range infos {
			if info == nil || seen[info.SessionID] || !filter.wants(info) {
				continue
			}
			seen[info.SessionID] = true
			if skip > 0 {
				skip--
				continue
			}
			if !yield(info, nil) {
				return
			}
			if left--; left == 0 {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
			return
		}
		if left != 0 && filter.Dir == "" && filter.Since.IsZero() && filter.Until.IsZero() {
			filter.Index.forget()
		}
		if err := filter.Index.Save(); err != nil {
			yield(nil, err)
		}
	}
}

func (f *Filter) wants(i *Info) bool {
	return !(f.NoProgrammatic && i.Programmatic) && (f.Branch == "" || f.Branch == i.GitBranch)
}

// candidate is a file that may be a session, before it is read.
type candidate struct {
	id       string
	path     string
	modified time.Time // to the millisecond
	mtime    int64     // the same, to the nanosecond
	size     int64
	stamp    stamp    // key in the index
	hasSide  bool     // the session has a sidecar directory
	project  string   // the requested directory, "" for everywhere
	trees    []string // its worktrees
}

// candidates returns the session files that a filter may select, newest first.
func (d *Dir) candidates(ctx context.Context, filter *Filter) ([]*candidate, error) {
	projects, trees, err := d.projectsFor(ctx, filter)
	if err != nil {
		return nil, err
	}
	var all []*candidate
	for found := range ordered(ctx, projects, listProject) {
		for _, c := range found {
			c.trees = trees
			if (filter.Since.IsZero() || !c.modified.Before(filter.Since)) && (filter.Until.IsZero() || c.modified.Before(filter.Until)) {
				all = append(all, c)
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *candidate) int {
		if c := b.modified.Compare(a.modified); c != 0 {
			return c
		}
		return strings.Compare(b.id, a.id)
	})
	return all, nil
}

// project is a directory with sessions, and the requested working directory that they belong to, or
// "".
type project struct{ dir, of string }

// listProject lists the session files of a project. An unreadable project has no files.
func listProject(p project) []*candidate {
	list, err := os.ReadDir(p.dir)
	if err != nil {
		return nil
	}
	side := map[string]bool{}
	for _, e := range list {
		if e.IsDir() && claudedir.ValidID(e.Name()) {
			side[e.Name()] = true
		}
	}
	var found []*candidate
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || !claudedir.ValidID(id) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		found = append(found, &candidate{
			id: id, path: filepath.Join(p.dir, e.Name()), modified: info.ModTime().Round(time.Millisecond),
			mtime: info.ModTime().UnixNano(), size: info.Size(), hasSide: side[id], project: p.of,
		})
	}
	return found
}

// info reads the info of the file or takes it from the index; it returns nil if lists omit the
// file.
func (c *candidate) info(f *Filter) *Info {
	info, ok := f.Index.lookup(c)
	if !ok {
		var err error
		if info, err = readInfo(c.path, c.project); err != nil {
			return nil
		}
		f.Index.store(c, info)
	}
	if info == nil || info.Summary == "" || c.continued(info) || c.ofAnother(info) {
		return nil
	}
	if info.CWD == "" {
		info.CWD = c.project
	}
	info.LastModified = c.modified
	return info
}

// continued reports whether the session that continues this one exists and is not empty.
func (c *candidate) continued(info *Info) bool {
	if info.continuedIn == "" {
		return false
	}
	return hasTree(filepath.Join(filepath.Dir(c.path), info.continuedIn+".jsonl"))
}
