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

// LockPolicy selects what happens when a session is resumed while another process writes it.
// Programs that use this package hold a lock file in the CLI's configuration directory while
// they run a session; the system frees it when they end, however they end. A session that is
// resumed by its title is known only when the CLI runs: of another writer a warning is logged
// then. There is no lock for a [Transport], nor for a [spawn.Spawner] that is no local [spawn.Locality]. On Linux a CLI
// that was started by other means, in a terminal for example, is found as well; it can neither
// be attached to nor be asked to end.
type LockPolicy string

// The policies.
const (
	// LockRefuse fails with a *[SessionBusyError] when another process writes the session. It
	// is the default and never disturbs that process.
	LockRefuse LockPolicy = ""
	// LockFork forks the session when another process writes it: the conversation goes on under
	// a new id.
	LockFork LockPolicy = "fork"
	// LockAttach makes Connect return a further Client on the same CLI where the
	// writer is a Client of this process, whose options count then; the CLI ends
	// when the last of them is closed. Otherwise it is LockRefuse.
	LockAttach LockPolicy = "attach"
	// LockSteal takes the session away: its writer notices within seconds and
	// ends with a *[SessionBusyError]. That is waited for, ten seconds at most; a
	// writer that does not end by then, a stopped process say, keeps the session, and Connect
	// returns the error.
	LockSteal LockPolicy = "steal"
	// LockOff takes no lock and ignores those of other processes. Two writers can then damage
	// the transcript.
	LockOff LockPolicy = "off"
)

// SessionBusyError is returned when another process writes the session, or has taken it over.
// It matches [ErrSessionBusy].
type SessionBusyError struct {
	SessionID string
	PID       int       // 0 if it is not known
	Host      string    // where that process is
	Since     time.Time // when it began
	Stolen    bool      // the session was this process's own until then
}

func (e *SessionBusyError) Error() string {
	if e.Stolen {
		return fmt.Sprintf("claude: session %s was taken over by process %d on %s", e.SessionID, e.PID, e.Host)
	}
	return fmt.Sprintf("claude: session %s is in use by process %d on %s since %s", e.SessionID, e.PID, e.Host, e.Since.Format(time.RFC3339))
}

// Is reports whether target is [ErrSessionBusy], which callers can test for if they do not need
// the process.
func (e *SessionBusyError) Is(target error) bool { return target == ErrSessionBusy }

// lockInfo is the content of a lock file.
type lockInfo struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// maxLockInfo is the most that is read of a lock file.
const maxLockInfo = 64 << 10

// sessionGuard holds the lock of the session that a CLI is writing.
type sessionGuard struct {
	launch *launch
	on     bool          // there is a lock
	dir    func() string // of the lock files

	mu       sync.Mutex
	id       string // of the session that is locked
	file     *filelock.File
	released bool
}

// newSessionGuard makes the guard of a CLI that runs here. One that runs
// elsewhere, or with a configuration that no other process sees, has no lock.
func newSessionGuard(l *launch) *sessionGuard {
	g := &sessionGuard{launch: l, dir: sync.OnceValue(func() string { return lockDir(l) })}
	g.on = l.SessionLock != LockOff && l.here() && (l.Isolation == nil || l.Isolation.ConfigDir != "")
	if l.SessionStore != nil || l.Isolation != nil {
		g.dir() // before the environment is changed for the CLI
	}
	return g
}

func (g *sessionGuard) path(id string) string { return filepath.Join(g.dir(), id+".lock") }

// begin takes the lock of the session that the options name, as far as that is known without
// the CLI.
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

// newestSession is the session that Continue goes on with, "" if there is none.
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

// transcriptFile is where the CLI writes a session.
func transcriptFile(l *launch, id string) string {
	env := claudedir.Environ(l.environ())
	return filepath.Join(claudedir.Projects(claudedir.Config(env)), claudedir.Project(env, l.Dir), id+".jsonl")
}

// take takes the lock of a session, or does what the policy says.
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

// alone takes a lock that was free, unless a CLI that knows no lock has the
// session. Such a process cannot be asked to end.
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

// hold keeps a lock in place of the one before. A configuration directory that
// cannot be written to has no locks, and no session fails for that.
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

// sign writes who has a lock into it. One without still locks.
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
		_ = json.Unmarshal(text, &info) // it may be just being written
	}
	return &SessionBusyError{SessionID: id, PID: info.PID, Host: info.Host, Since: info.Since}
}

// stealTime bounds how long the writer before is waited for. One that does not end by
// then, a stopped process for example, keeps the session: the error is [ErrSessionBusy].
var stealTime = 10 * time.Second

func (g *sessionGuard) steal(ctx context.Context, id string) (*filelock.File, error) {
	mine, old, err := filelock.Steal(g.path(id))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, g.busy(id) // another process is taking it
	}
	if err != nil || old == nil {
		return mine, err
	}
	sign(mine) // for the error of the writer before
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(stealTime); !old.Free(); {
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), old.PutBack(mine))
		case now := <-tick.C:
			if now.After(end) {
				// It may be stopped, and go on writing later: there must not be two.
				return nil, g.busyAfter(old.PutBack(mine), id)
			}
		}
	}
	return mine, old.End()
}

// busyAfter is the error for a writer that keeps its lock, which was put back.
func (g *sessionGuard) busyAfter(err error, id string) error { return errors.Join(g.busy(id), err) }

// follow takes the lock of the session that the CLI says it writes.
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

// stolen is the error of a session whose lock another process has by now, nil if all is well.
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

// release gives the lock back. The CLI is gone.
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

// locked is the session whose lock is held, "" if there is none.
func (g *sessionGuard) locked() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.id
}
