package claude

import (
	"github.com/seed7221b0f9/parley/internal/regularfile"

	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/filelock"
)

// LockPolicy selects the behavior when a session is resumed while another process writes it. Programs that use this
// package hold a lock file in the CLI's configuration directory while they run a session; the system releases it when
// they end for any reason. If a session is resumed by its title, its id is known only after the start of the CLI;
// another writer then causes only a warning in the log. There is no lock with a [Transport], or with a [spawn.Spawner]
// that is not a local [spawn.Locality]. On Linux a CLI that was started by other means, such as in a terminal, is
// detected too; it can neither be attached to nor be asked to end.
type LockPolicy string

// The lock policies.
const (
	// LockRefuse fails with a *[SessionBusyError] when another process writes the session. It
	// is the default and never disturbs that process.
	LockRefuse LockPolicy = ""
	// LockFork forks the session if another process writes it: the conversation continues under a new id.
	LockFork LockPolicy = "fork"
	// LockAttach makes Connect return a further Client of the same CLI if the writer is a Client of this process; the
	// options of the first Client apply, and the CLI ends when the last Client is closed. Otherwise it is the same as
	// LockRefuse.
	LockAttach LockPolicy = "attach"
	// LockSteal takes over the session: its writer detects this within seconds and ends with a *[SessionBusyError].
	// Connect waits for that, at most ten seconds. A writer that does not end in this time, such as a stopped process,
	// keeps the session, and Connect returns the error.
	LockSteal LockPolicy = "steal"
	// LockOff takes no lock and ignores the locks of other processes. Two writers can then damage the transcript.
	LockOff LockPolicy = "off"
)

// SessionBusyError is returned when another process writes the session, or has taken it over.
// It matches [ErrSessionBusy].
type SessionBusyError struct {
	SessionID string
	PID       int       // 0 if unknown
	Host      string    // the host of that process
	Since     time.Time // when it began
	Stolen    bool      // this process had the session before
}

func (e *SessionBusyError) Error() string {
	if e.Stolen {
		return fmt.Sprintf("claude: session %s was taken over by process %d on %s", e.SessionID, e.PID, e.Host)
	}
	return fmt.Sprintf("claude: session %s is in use by process %d on %s since %s", e.SessionID, e.PID, e.Host, e.Since.Format(time.RFC3339))
}

// Is reports whether target is [ErrSessionBusy], for callers that do not need the details.
func (e *SessionBusyError) Is(target error) bool { return target == ErrSessionBusy }

// lockInfo is the content of a lock file.
type lockInfo struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// maxLockInfo limits the size of a lock file that is read.
const maxLockInfo = 64 << 10

// sessionGuard holds the lock of the session that a CLI is writing.
type sessionGuard struct {
	launch *launch
	on     bool          // locking is enabled
	dir    func() string // of the lock files

	mu       sync.Mutex
	id       string // of the session that is locked
	file     *filelock.File
	released bool
}

// newSessionGuard returns the guard of a CLI on this machine. A CLI elsewhere, or with a private configuration
// directory, has no lock.
func newSessionGuard(l *launch) *sessionGuard {
	g := &sessionGuard{launch: l, dir: sync.OnceValue(func() string { return lockDir(l) })}
	g.on = l.SessionLock != LockOff && l.here() && (l.Isolation == nil || l.Isolation.ConfigDir != "")
	if l.SessionStore != nil || l.Isolation != nil {
		g.dir() // before the environment is changed for the CLI
	}
	return g
}

func (g *sessionGuard) path(id string) string { return filepath.Join(g.dir(), id+".lock") }

// begin locks the session that the options name, if its id is known without the CLI.
func (g *sessionGuard) begin(ctx context.Context) error {
	switch l := g.launch; {
	case l.SessionID != "":
		return g.take(ctx, l.SessionID)
	case l.ForkSession:
		return nil
	case l.Resume != "":
		return g.take(ctx, l.Resume)
	case l.Continue:
		return g.take(ctx, newestSession(l))
	}
	return nil
}

// newestSession returns the session that Continue resumes, or "".
func newestSession(l *launch) (id string) {
	files, err := os.ReadDir(filepath.Dir(transcriptFile(l, "x")))
	if err != nil {
		return ""
	}
	var newest time.Time
	for _, f := range files {
		info, err := f.Info()
		if err == nil && filepath.Ext(f.Name()) == ".jsonl" && info.ModTime().After(newest) {
			newest, id = info.ModTime(), f.Name()[:len(f.Name())-len(".jsonl")]
		}
	}
	return id
}

// transcriptFile returns the CLI's file of a session.
func transcriptFile(l *launch, id string) string {
	env := claudedir.Environ(l.environ())
	return filepath.Join(claudedir.Projects(claudedir.Config(env)), claudedir.Project(env, l.Dir), id+".jsonl")
}

// take locks a session, or applies the policy if the lock is held.
func (g *sessionGuard) take(ctx context.Context, id string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.on || g.id == id || !claudedir.ValidID(id) || g.dir() == "" {
		return nil
	}
	f, err := g.try(id)
	if !errors.Is(err, filelock.ErrLocked) {
		return g.alone(id, f, err)
	}
	switch resumed := g.launch.Resume != "" || g.launch.Continue; {
	case g.launch.SessionLock == LockFork && resumed && g.launch.SessionID == "":
		g.launch.forks()
		return nil
	case g.launch.SessionLock == LockSteal:
		f, err := g.steal(ctx, id)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, ErrSessionBusy) {
			return err
		}
		g.hold(id, f, err)
		return nil
	}
	return g.busy(id)
}

// alone keeps a newly acquired lock, unless a CLI without a lock has the session open, which cannot be asked to end.
func (g *sessionGuard) alone(id string, f *filelock.File, err error) error {
	g.hold(id, f, err)
	busy := foreignCLI(filepath.Dir(filepath.Dir(g.dir())), id)
	switch {
	case busy == nil:
		return nil
	case g.launch.SessionLock == LockFork && g.launch.SessionID == "":
		g.launch.forks()
		g.drop()
		return nil
	}
	g.drop()
	return busy
}

func (g *sessionGuard) try(id string) (*filelock.File, error) {
	if err := makeLockDir(g.dir()); err != nil {
		return nil, err
	}
	return filelock.TryLock(g.path(id))
}

// hold replaces the held lock. A configuration directory that is not writable has no locks, which does not fail the
// session.
func (g *sessionGuard) hold(id string, f *filelock.File, err error) {
	if err != nil {
		g.launch.logger().Warn("claude: the session cannot be locked", "session", id, "error", err)
		return
	}
	if g.file != nil {
		g.file.Remove()
	}
	g.id, g.file = id, f
	sign(f)
}

// sign writes the owner into a lock file. A lock without an owner still locks.
func sign(f *filelock.File) {
	host, _ := os.Hostname()
	text, err := json.Marshal(lockInfo{PID: os.Getpid(), Host: host, Since: time.Now()})
	if err == nil && f.Truncate(0) == nil {
		_, _ = f.WriteAt(text, 0)
	}
}

func (g *sessionGuard) busy(id string) *SessionBusyError {
	var info lockInfo
	if text, err := regularfile.ReadNoFollow(g.path(id), maxLockInfo); err == nil {
		_ = json.Unmarshal(text, &info) // the file may be incomplete while it is written
	}
	return &SessionBusyError{SessionID: id, PID: info.PID, Host: info.Host, Since: info.Since}
}

// stealTime limits the wait for the previous writer. A writer that does not end in time, such as a stopped process,
// keeps the session: the error is [ErrSessionBusy].
var stealTime = 10 * time.Second

func (g *sessionGuard) steal(ctx context.Context, id string) (*filelock.File, error) {
	mine, old, err := filelock.Steal(g.path(id))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, g.busy(id) // another process is stealing it
	}
	if err != nil || old == nil {
		return mine, err
	}
	sign(mine) // for the error of the previous writer
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(stealTime); !old.Free(); {
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), old.PutBack(mine))
		case now := <-tick.C:
			if now.After(end) {
				// It may be stopped and continue writing later: there must never be two writers.
				return nil, g.busyAfter(old.PutBack(mine), id)
			}
		}
	}
	return mine, old.End()
}

// busyAfter returns the error for a lock that was put back because its writer did not end.
func (g *sessionGuard) busyAfter(err error, id string) error { return errors.Join(g.busy(id), err) }

// follow locks the session that the CLI reports to write.
func (g *sessionGuard) follow(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.released || !g.on || g.id == id || !claudedir.ValidID(id) || g.dir() == "" {
		return
	}
	f, err := g.try(id)
	if errors.Is(err, filelock.ErrLocked) {
		e := g.busy(id)
		g.launch.logger().Warn("claude: two processes write one session", "session", id, "pid", e.PID, "host", e.Host)
		return
	}
	g.hold(id, f, err)
}

// stolen returns the error of a session with a lock that another process has taken over, or nil.
func (g *sessionGuard) stolen() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil || g.file.Holds() {
		return nil
	}
	e := g.busy(g.id)
	e.Stolen = true
	return e
}

// release releases the lock. The CLI has ended.
func (g *sessionGuard) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.released = true
	g.drop()
}

func (g *sessionGuard) drop() {
	if g.file != nil {
		g.file.Remove()
		g.file, g.id = nil, ""
	}
}

// locked returns the session of the held lock, or "".
func (g *sessionGuard) locked() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.id
}
