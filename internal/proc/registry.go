package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/spawn"
)

// ownerVariable marks processes started through a registry, and their descendants, with the name of the registry's
// owner.
const ownerVariable = "PARLEY_OWNER"

// Registry records on disk the processes and temporary files of this program, so that the next program finds those
// that a crash has left. Several programs may share its directory; each has its own part, with a lock that it holds
// while it runs. All methods are safe for concurrent use.
type Registry struct {
	dir  string // this program's part
	name string
	lock *os.File

	mu       sync.Mutex
	children map[int]Child // by number
	next     int
	started  bool // a process may have the mark
	closed   bool
}

// Child is a process in a [Registry].
type Child struct {
	PID int `json:"pid"`
	// Started distinguishes the process from a later one with the same id: its start time in the system's units, or
	// "" if the system does not report it.
	Started string `json:"started,omitempty"`
	Boot    string `json:"boot,omitempty"` // the boot of the system that Started counts from
	Path    string `json:"path"`
	// Group is the folder of the control group that holds the process and everything that it starts, if any.
	Group string `json:"group,omitempty"`
}

// Names in the registry's directory.
const (
	ownerPrefix = "owner-"
	newPrefix   = "new-" // not locked yet
	lockName    = "lock"
	tempName    = "tmp"
	childPrefix = "child-"
)

// staleTime is the age at which an unlocked part is removed.
const staleTime = time.Hour

// OpenRegistry opens the registry in dir, which it creates with access for this user only. It cleans up after programs that
// have ended: it ends their processes, found by id and start time, by the mark in their environment or by their control group,
// and removes their temporary files. It returns those processes. It searches processes only on Linux; elsewhere they end with
// their input.
func OpenRegistry(dir string) (*Registry, []Child, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	swept, err := sweep(dir)
	if err != nil {
		return nil, swept, err
	}
	r, err := newRegistry(dir)
	return r, swept, err
}

// newRegistry creates this program's part. It gets its final name when it is locked, because an unlocked part would
// be swept.
func newRegistry(dir string) (*Registry, error) {
	name := strconv.Itoa(os.Getpid()) + "-" + random.Hex(8)
	r := &Registry{dir: filepath.Join(dir, ownerPrefix+name), name: name, children: map[int]Child{}}
	fresh := filepath.Join(dir, newPrefix+name)
	if err := os.MkdirAll(filepath.Join(fresh, tempName), 0o700); err != nil {
		return nil, err
	}
	lock, err := lockOwner(filepath.Join(fresh, lockName))
	if err == nil {
		err = os.Rename(fresh, r.dir)
	}
	if err != nil {
		closeLock(lock)
		os.RemoveAll(fresh)
		return nil, fmt.Errorf("a registry in %s: %w", dir, err)
	}
	r.lock = lock
	return r, nil
}

func closeLock(f *os.File) {
	if f != nil {
		f.Close()
	}
}

// TempDir returns a directory for temporary files, which are removed with the registry.
func (r *Registry) TempDir() string { return filepath.Join(r.dir, tempName) }

// Spawner starts processes with next and records them in the registry while they run.
func (r *Registry) Spawner(next spawn.Spawner) spawn.Spawner {
	return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		cmd.Env = append(slices.Clone(cmd.Env), ownerVariable+"="+r.name)
		number := 0
		r.setStarted()
		p, err := OnExit(next, func() { r.remove(number) }).Spawn(ctx, cmd)
		if err != nil {
			return nil, err
		}
		// A process that cannot be noted is not lost: it has the mark.
		c := describe(p.PID(), cmd.Path)
		c.Group = groupOf(p)
		number = r.add(c)
		return p, nil
	})
}

// Noted starts processes with next, or on this machine with the options of local if next is nil, and records them in the
// registry. A nil registry does not record processes. If local keeps children, the registry ends only the processes
// themselves, not their leftover descendants.
func (r *Registry) Noted(next spawn.Spawner, local LocalOptions) spawn.Spawner {
	if next == nil {
		next = local.Spawner()
	}
	if r == nil {
		return next
	}
	if local.KeepChildren {
		next = withoutMark(next)
	}
	return r.Spawner(next)
}

// withoutMark starts processes with next, without the mark of a registry's spawner: the registry then ends only the processes
// themselves, not their leftover descendants.
func withoutMark(next spawn.Spawner) spawn.Spawner {
	return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		cmd.Env = slices.DeleteFunc(slices.Clone(cmd.Env), func(e string) bool { return strings.HasPrefix(e, ownerVariable+"=") })
		return next.Spawn(ctx, cmd)
	})
}

func (r *Registry) setStarted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = true
}

func (r *Registry) add(c Child) (number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next++
	r.children[r.next] = c
	if data, err := json.Marshal(c); err == nil && c.PID > 0 {
		_ = os.WriteFile(r.file(r.next), data, 0o600)
	}
	return r.next
}

func (r *Registry) remove(number int) {
	if number == 0 {
		return // its start failed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.children, number)
	os.Remove(r.file(number))
}

func (r *Registry) file(number int) string {
	return filepath.Join(r.dir, childPrefix+strconv.Itoa(number)+".json")
}

// Children returns the running processes, the oldest first.
func (r *Registry) Children() []Child {
	r.mu.Lock()
	defer r.mu.Unlock()
	numbers := make([]int, 0, len(r.children))
	for n := range r.children {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	children := make([]Child, 0, len(numbers))
	for _, n := range numbers {
		children = append(children, r.children[n])
	}
	return children
}

// ErrChildren is returned when a [Registry] with running processes is closed.
var ErrChildren = errors.New("processes of the registry have not ended")

// Close ends leftover descendants of the registry's processes and removes this program's part. While a process of the
// registry is running, it returns [ErrChildren] and has no effect. It may be called several times.
func (r *Registry) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	if len(r.children) > 0 {
		return ErrChildren
	}
	r.closed = true
	var err error
	if r.started {
		_, err = endOwned(r.name, nil)
	}
	closeLock(r.lock)
	return errors.Join(err, os.RemoveAll(r.dir))
}

// sweep ends the processes that ended owners have left in dir.
func sweep(dir string) (swept []Child, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		part := filepath.Join(dir, e.Name())
		name, owned := strings.CutPrefix(e.Name(), ownerPrefix)
		switch {
		case owned && e.IsDir():
			ended, sweepErr := sweepPart(part, name)
			swept, err = append(swept, ended...), errors.Join(err, sweepErr)
		case strings.HasPrefix(e.Name(), newPrefix):
			if info, infoErr := e.Info(); infoErr == nil && time.Since(info.ModTime()) > staleTime {
				os.RemoveAll(part)
			}
		}
	}
	return swept, err
}

func sweepPart(part, name string) ([]Child, error) {
	lock, gone := takeLockOf(name, filepath.Join(part, lockName))
	if !gone {
		return nil, nil // its owner lives, or another process sweeps it
	}
	defer closeLock(lock)
	ended, err := endOwned(name, readChildren(part))
	if err != nil {
		return ended, err // the next sweep retries
	}
	return ended, os.RemoveAll(part)
}

// forkTime limits how long a sweep waits for the lock of an owner that has ended. A child that the owner was just
// starting holds a copy of the lock until it runs its program.
const forkTime = 5 * time.Second

// takeLockOf takes the lock of the part of an ended owner.
func takeLockOf(owner, path string) (lock *os.File, gone bool) {
	for end := time.Now().Add(forkTime); ; time.Sleep(10 * time.Millisecond) {
		lock, gone = takeLock(path)
		if gone || ownerRuns(owner) || time.Now().After(end) {
			return lock, gone
		}
	}
}

// ownerRuns reports whether a process with the id in the owner's name exists.
func ownerRuns(owner string) bool {
	id, _, _ := strings.Cut(owner, "-")
	pid, err := strconv.Atoi(id)
	return err != nil || processRuns(pid)
}

// maxChild is the maximum size of a record.
const maxChild = 1 << 20

// readChildren returns the records of a part. It skips a record that was incomplete when its program died; its
// process has the mark.
func readChildren(part string) (children []Child) {
	files, _ := fs.Glob(os.DirFS(part), childPrefix+"*.json") // the directory name is not a pattern
	for _, f := range files {
		var c Child
		if data, err := regularfile.Read(filepath.Join(part, f), maxChild); err == nil && json.Unmarshal(data, &c) == nil {
			children = append(children, c)
		}
	}
	return children
}
