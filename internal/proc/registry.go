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

// ownerVariable marks what was started through a registry, and whatever that has started, with the name of
// the registry's owner.
const ownerVariable = "PARLEY_OWNER"

// Registry keeps on disk what this program has started, so that the next one finds what a crash has left:
// processes and temporary files. Several programs may share its directory; each has a part of its own in it,
// which a lock shows to be alive. All methods may be called from any goroutine.
type Registry struct {
	dir  string // this program's part
	name string
	lock *os.File

	mu       sync.Mutex
	children map[int]Child // by number
	next     int
	closed   bool
}

// Child is a process in a [Registry].
type Child struct {
	PID int `json:"pid"`
	// Started tells the process from a later one with the same id: its start in the system's own terms.
	// "" where the system does not tell.
	Started string `json:"started,omitempty"`
	Boot    string `json:"boot,omitempty"` // the system's run that Started counts in
	Path    string `json:"path"`
}

// Names in the registry's directory.
const (
	ownerPrefix = "owner-"
	newPrefix   = "new-" // not locked yet
	lockName    = "lock"
	tempName    = "tmp"
	childPrefix = "child-"
)

// staleTime is how old a part must be that has not been locked.
const staleTime = time.Hour

// OpenRegistry opens the registry in dir, which is created for this user only, and ends what programs that
// are gone have left in it: their processes, known by id and start time or by the mark in their environment,
// and their temporary files. It returns those processes. Processes are looked for on Linux alone; elsewhere
// they end with their input.
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

// newRegistry makes this program's part. It gets its name when it is locked: one without a lock would be
// swept away.
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

// TempDir is a directory for temporary files, which go with the registry.
func (r *Registry) TempDir() string { return filepath.Join(r.dir, tempName) }

// Spawner starts processes with next and keeps them in the registry while they live.
func (r *Registry) Spawner(next spawn.Spawner) spawn.Spawner {
	return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		cmd.Env = append(slices.Clone(cmd.Env), ownerVariable+"="+r.name)
		number := 0
		p, err := OnExit(next, func() { r.remove(number) }).Spawn(ctx, cmd)
		if err != nil {
			return nil, err
		}
		// A process that cannot be noted is not lost: it has the mark.
		number = r.add(describe(p.PID(), cmd.Path))
		return p, nil
	})
}

// Unmarked starts processes with next, without the mark of a registry's spawner: the registry then ends the processes
// themselves and not what they have left.
func Unmarked(next spawn.Spawner) spawn.Spawner {
	return spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		cmd.Env = slices.DeleteFunc(slices.Clone(cmd.Env), func(e string) bool { return strings.HasPrefix(e, ownerVariable+"=") })
		return next.Spawn(ctx, cmd)
	})
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
		return // it did not start
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.children, number)
	os.Remove(r.file(number))
}

func (r *Registry) file(number int) string {
	return filepath.Join(r.dir, childPrefix+strconv.Itoa(number)+".json")
}

// Children are the processes that live, the oldest first.
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

// ErrChildren is returned by closing a [Registry] whose processes have not ended.
var ErrChildren = errors.New("processes of the registry have not ended")

// Close ends what the processes have left running, a descendant that has gone its own way, and
// removes this program's part. While a process of the registry lives it does nothing and
// returns [ErrChildren]. It may be called many times.
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
	_, err := endOwned(r.name, nil)
	closeLock(r.lock)
	return errors.Join(err, os.RemoveAll(r.dir))
}

// sweep ends what owners that are gone have left in dir.
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
		return ended, err // the next sweep tries again
	}
	return ended, os.RemoveAll(part)
}

// forkTime is how long a sweep waits for the lock of an owner whose process is gone. A child that the owner
// was starting when it was killed has a copy of the lock until it runs its program.
const forkTime = 5 * time.Second

// takeLockOf takes the lock of the part of an owner that is gone.
func takeLockOf(owner, path string) (lock *os.File, gone bool) {
	for end := time.Now().Add(forkTime); ; time.Sleep(10 * time.Millisecond) {
		lock, gone = takeLock(path)
		if gone || ownerRuns(owner) || time.Now().After(end) {
			return lock, gone
		}
	}
}

// ownerRuns reports whether there is a process with the id that the owner's name begins with.
func ownerRuns(owner string) bool {
	id, _, _ := strings.Cut(owner, "-")
	pid, err := strconv.Atoi(id)
	return err != nil || processRuns(pid)
}

// maxChild is the size of a record.
const maxChild = 1 << 20

// readChildren are the records of a part. One that was being written when its program died tells nothing;
// its process has the mark.
func readChildren(part string) (children []Child) {
	files, _ := fs.Glob(os.DirFS(part), childPrefix+"*.json") // the directory's own name is not a pattern
	for _, f := range files {
		var c Child
		if data, err := regularfile.Read(filepath.Join(part, f), maxChild); err == nil && json.Unmarshal(data, &c) == nil {
			children = append(children, c)
		}
	}
	return children
}
