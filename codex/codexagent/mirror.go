package codexagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/filelock"
	"github.com/seed7221b0f9/parley/internal/linecopy"
)

// Copies has copies of the files of threads, which several machines share. A file has the name that it has on the disk,
// without its directory. The calls for one thread do not overlap.
type Copies interface {
	// Files returns the names of a thread's files.
	Files(ctx context.Context, thread string) ([]string, error)
	// Load returns all lines of a file, or nil if there is no such file.
	Load(ctx context.Context, thread, file string) ([]json.RawMessage, error)
	// Append adds lines to a file. It fails if another machine has claimed the thread since.
	Append(ctx context.Context, thread, file string, lines []json.RawMessage) error
	// Claim makes this machine the one that appends to the files of a thread.
	Claim(ctx context.Context, thread string) error
	// Delete removes the files of a thread.
	Delete(ctx context.Context, thread string) error
}

// copied is what a provider remembers of the copies.
type copied struct {
	files     linecopy.Recent[*linecopy.File] // by thread and path
	whole     linecopy.Recent[bool]           // the parts that do not change and have a copy
	replacing sync.Mutex                      // a file can belong to several threads
}

// fileCopy is the copy of a file.
type fileCopy struct {
	copies       Copies
	thread, name string
}

func (c fileCopy) Load(ctx context.Context) ([]json.RawMessage, error) {
	return c.copies.Load(ctx, c.thread, c.name)
}

func (c fileCopy) Append(ctx context.Context, lines []json.RawMessage) error {
	return c.copies.Append(ctx, c.thread, c.name, lines)
}

// file returns the state of a file of a thread.
func (p *Provider) file(thread, path string) *linecopy.File {
	key := thread + " " + path
	f, ok := p.copied.files.Get(key)
	if !ok {
		f = &linecopy.File{Path: path, Replacing: &p.copied.replacing, Keep: !strings.EqualFold(rollout.ThreadOf(filepath.Base(path)), thread)}
		p.copied.files.Put(key, f)
	}
	return f
}

// Mirror copies what Codex has written of a thread to Copies: its files, and those with the beginning of a fork. It does
// not copy the threads of subagents.
func (p *Provider) Mirror(ctx context.Context, sessionID, _ string) error {
	if p.Copies == nil {
		return nil
	}
	dir, err := history{p}.dir()
	if err != nil {
		return err
	}
	parts, err := dir.Parts(ctx, sessionID)
	if errors.Is(err, rollout.ErrNoSession) {
		return nil
	}
	for _, part := range parts {
		if e := p.save(ctx, sessionID, part); e != nil {
			return fmt.Errorf("codex: copying a thread: %w", errors.Join(e, err))
		}
	}
	return err
}

func (p *Provider) save(ctx context.Context, thread string, part rollout.Part) error {
	to := fileCopy{p.Copies, thread, part.Name()}
	if part.Until < 0 && !part.Compressed() {
		return p.file(thread, part.Path).Save(ctx, to)
	}
	key := fmt.Sprintf("%s %s %d", thread, part.Path, part.Until)
	if _, ok := p.copied.whole.Get(key); ok {
		return nil
	}
	path, err := extract(ctx, part, os.TempDir())
	if err != nil {
		return err
	}
	defer os.Remove(path)
	if err := (&linecopy.File{Path: path}).Save(ctx, to); err != nil {
		return err
	}
	p.copied.whole.Put(key, true)
	return nil
}

// extract writes a part to a new file, and returns its path.
func extract(ctx context.Context, part rollout.Part, dir string) (string, error) {
	f, err := os.CreateTemp(dir, ".rollout-*") // mode 0600
	if err != nil {
		return "", err
	}
	if err := errors.Join(part.Copy(ctx, f), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Fetch writes the files of a thread from Copies. It leaves a thread that another process has open as it is, and the
// threads with the beginning of a fork unless their files are shorter.
func (p *Provider) Fetch(ctx context.Context, sessionID, _ string) error {
	if p.Copies == nil {
		return nil
	}
	home, err := p.home()
	if err != nil {
		return err
	}
	if filepath.Base(sessionID) != sessionID {
		return fmt.Errorf("%w: thread %q", agent.ErrNotFound, sessionID)
	}
	if open, err := isOpen(home, sessionID); err != nil || open {
		return err
	}
	if err := p.Copies.Claim(ctx, sessionID); err != nil {
		return fmt.Errorf("codex: fetching a thread: %w", err)
	}
	names, err := p.Copies.Files(ctx, sessionID)
	if err == nil && len(names) == 0 {
		return fmt.Errorf("%w: %s has no copy", agent.ErrNotFound, sessionID)
	}
	own := func(name string) bool { return strings.EqualFold(rollout.ThreadOf(name), sessionID) }
	slices.SortStableFunc(names, func(a, b string) int { // those of the thread last: they make it complete
		switch {
		case own(a) == own(b):
			return strings.Compare(a, b)
		case own(a):
			return 1
		}
		return -1
	})
	for _, name := range names {
		if err == nil {
			err = p.fetch(ctx, home, sessionID, name)
		}
	}
	if err != nil {
		return fmt.Errorf("codex: fetching a thread: %w", err)
	}
	return nil
}

func (p *Provider) fetch(ctx context.Context, home, thread, name string) error {
	part, exists, err := rollout.Open(home).Locate(ctx, name)
	if err != nil {
		return err
	}
	if of := rollout.ThreadOf(name); exists && !strings.EqualFold(of, thread) {
		if open, err := isOpen(home, of); err != nil || open || part.Compressed() {
			return err
		}
	}
	path := filepath.Join(filepath.Dir(part.Path), name)
	if part.Compressed() { // as Codex does before it appends
		plain, err := extract(ctx, part, filepath.Dir(path))
		if err == nil {
			err = os.Rename(plain, path)
		}
		if err != nil {
			return err
		}
	}
	_, err = p.file(thread, path).Fetch(ctx, fileCopy{p.Copies, thread, name})
	return err
}

// isOpen reports whether a Codex process has a thread open for writing. It holds a lock then.
func isOpen(home, thread string) (bool, error) {
	path := filepath.Join(home, "thread-writer-locks", strings.ToLower(thread)+".lock")
	if _, err := os.Stat(path); err != nil {
		return false, nil // there is no lock
	}
	l, err := filelock.TryLock(path)
	if errors.Is(err, filelock.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, l.Unlock()
}

// deleteCopy removes the copy of a thread.
func (p *Provider) deleteCopy(ctx context.Context, thread string) error {
	if p.Copies == nil {
		return nil
	}
	match := func(key string) bool { return strings.HasPrefix(key, thread+" ") }
	p.copied.files.Forget(match)
	p.copied.whole.Forget(match)
	return p.Copies.Delete(ctx, thread)
}
