package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrNoSessions is returned when a scan finds no directory for sessions. Empty directories are not
// an error.
var ErrNoSessions = errors.New("usage: no directory with sessions")

// Options configures [Scan]. The zero value scans the configuration directories that the CLI would
// use.
type Options struct {
	// ConfigDirs are configuration directories of the CLI, each with a projects directory. Empty
	// means [ConfigDirs].
	ConfigDirs []string
	// Workers is the number of files read concurrently; 0 is one per processor.
	Workers int
	// Progress is called while files are read, never concurrently, with the bytes read and the
	// total. It should return quickly.
	Progress func(done, total int64)
}

// ConfigDirs returns the configuration directories that a CLI started from here would use or have
// used: those in CLAUDE_CONFIG_DIR, separated by commas, or else claude in the user's configuration
// directory and ~/.claude.
func ConfigDirs(getenv func(string) string) []string {
	var dirs []string
	for dir := range strings.SplitSeq(getenv("CLAUDE_CONFIG_DIR"), ",") {
		if dir = strings.TrimSpace(dir); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) > 0 {
		return dirs
	}
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	if home == "" {
		return nil
	}
	config := cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config"))
	return []string{filepath.Join(config, "claude"), filepath.Join(home, ".claude")}
}

// Scan reads all transcripts. A file that cannot be read is listed in [Stats].Problems and is not
// an error; if no directory for sessions exists, the error is [ErrNoSessions].
func Scan(ctx context.Context, o Options) (*Ledger, error) {
	if len(o.ConfigDirs) == 0 {
		o.ConfigDirs = ConfigDirs(os.Getenv)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	l := newLedger(o)
	if err := l.Update(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

// Update reads the data appended to the transcripts since the last scan. The answers of a file that
// became shorter or was deleted are kept. The ledger must not be used after an error.
func (l *Ledger) Update(ctx context.Context) error {
	if l.alone {
		return nil
	}
	grown, err := l.find(ctx)
	if err != nil {
		return err
	}
	// Longest files first, so that no worker begins one at the end.
	slices.SortFunc(grown, func(a, b *file) int { return cmp.Compare(b.size-b.offset, a.size-a.offset) })
	total := int64(0)
	for _, f := range grown {
		total += f.size - f.offset
	}
	if err := l.readAll(ctx, grown, total); err != nil {
		return err
	}
	l.places = nil
	l.projects()
	return l.settle(ctx)
}

// readAll reads files with several workers.
func (l *Ledger) readAll(ctx context.Context, files []*file, total int64) error {
	var (
		work sync.WaitGroup
		next atomic.Int64
		mu   sync.Mutex
		done int64
	)
	for range min(l.options.Workers, len(files)) {
		work.Go(func() {
			r := &reader{ledger: l}
			for {
				n := int(next.Add(1)) - 1
				if n >= len(files) || ctx.Err() != nil {
					break
				}
				before := files[n].offset
				err := r.read(ctx, files[n])
				mu.Lock()
				if err != nil && ctx.Err() == nil {
					r.stats.Problems = append(r.stats.Problems, err)
				}
				done += files[n].offset - before
				if l.options.Progress != nil {
					l.options.Progress(done, total)
				}
				mu.Unlock()
			}
			mu.Lock()
			defer mu.Unlock()
			l.stats.add(&r.stats)
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (s *Stats) add(o *Stats) {
	s.Bytes += o.Bytes
	s.Lines += o.Lines
	s.BadLines += o.BadLines
	s.Problems = append(s.Problems, o.Problems...)
}

// find lists the transcripts and returns those that have grown.
func (l *Ledger) find(ctx context.Context) (grown []*file, err error) {
	l.stats.Problems = nil     // remaining problems are found again
	roots := map[string]bool{} // two names may refer to one directory
	for _, dir := range l.options.ConfigDirs {
		root, err := filepath.EvalSymlinks(filepath.Join(dir, "projects"))
		if err != nil || roots[root] {
			continue
		}
		roots[root] = true
		if grown, err = l.findBelow(ctx, root, grown); err != nil {
			return nil, err
		}
	}
	if len(roots) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNoSessions, strings.Join(l.options.ConfigDirs, ", "))
	}
	return grown, nil
}

func (l *Ledger) findBelow(ctx context.Context, root string, grown []*file) ([]*file, error) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			l.stats.Problems = append(l.stats.Problems, err)
			return nil
		case d.IsDir() || !strings.HasSuffix(path, ".jsonl"):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // deleted
		}
		f := l.byPath[path]
		if f == nil {
			f = newFile(path, projectOf(root, path))
			f.id = uint32(len(l.files))
			l.byPath[path], l.files = f, append(l.files, f)
		}
		if f.size = info.Size(); f.size > f.offset {
			grown = append(grown, f)
		}
		return nil
	})
	return grown, err
}

// projectOf returns the name of the directory below root that contains a file.
func projectOf(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return ""
	}
	name, _, found := strings.Cut(filepath.ToSlash(rel), "/")
	if !found {
		return ""
	}
	return name
}
