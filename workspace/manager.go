package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/filelock"
	"github.com/seed7221b0f9/parley/spawn"
)

// The defaults of [Options]: the timeouts of a git command and of a setup command, and the size of
// the largest file in a snapshot, in bytes.
const (
	DefaultTimeout      = 2 * time.Minute
	DefaultSetupTimeout = 10 * time.Minute
	DefaultMaxFile      = 16 << 20
)

// Options configures a [Manager]. Dir is required; every other field has a default.
type Options struct {
	// Dir is the data directory. It is created with mode 0700, and belongs to one manager at a
	// time.
	Dir string
	// Git is the program; empty means git in the PATH of this process.
	Git string
	// Env is an environment, from which git gets the variables on an allow-list; nil means that of
	// this process. SetupEnv is the complete environment of setup commands; nil means git's.
	Env, SetupEnv []string
	// Spawner runs setup commands; nil runs them on this machine without a supervisor.
	Spawner spawn.Spawner
	// Ceilings are directories at which git stops searching for the repository of a subdirectory.
	Ceilings []string
	// Trust decides whether git runs the programs of a repository; nil means never. It is called
	// for each operation with the current programs, from any goroutine.
	Trust func(Programs) bool
	// Timeout bounds each git command with its hooks, and the wait for the git commands of a
	// manager that was killed. SetupTimeout bounds a setup command. 0 means the default.
	Timeout, SetupTimeout time.Duration
	// MaxFile is the size limit in bytes of a file in a snapshot. Larger files are omitted and
	// listed in a diff. 0 means the default.
	MaxFile int64
	// Logger receives the repairs of [Open] after a crash; nil discards them.
	Logger *slog.Logger
}

// Manager creates and removes worktrees and opens trees. Its methods may be called from any
// goroutine; calls for the same directory wait for each other.
type Manager struct {
	opts Options
	git  git
	lock *filelock.File

	end     context.CancelFunc // ends running git commands
	mu      sync.Mutex         // held while git creates a worktree
	trees   sync.Map           // by directory, *sync.Mutex: held while a tree is read or changed
	cleaned sync.Map           // owners with refs that have been cleaned of locks
}

// Open opens a data directory and finishes or undoes the incomplete changes of a killed manager. It
// waits at most Options.Timeout for git processes of such a manager, and for another manager to
// close the directory.
func Open(ctx context.Context, opts Options) (*Manager, error) {
	if opts.Env == nil {
		opts.Env = os.Environ()
	}
	env := gitEnv(opts.Env)
	if len(opts.Ceilings) > 0 {
		env = append(env, "GIT_CEILING_DIRECTORIES="+strings.Join(opts.Ceilings, string(os.PathListSeparator)))
	}
	if opts.SetupEnv == nil {
		opts.SetupEnv = env
	}
	for _, d := range []struct {
		p *time.Duration
		v time.Duration
	}{{&opts.Timeout, DefaultTimeout}, {&opts.SetupTimeout, DefaultSetupTimeout}} {
		if *d.p == 0 {
			*d.p = d.v
		}
	}
	if opts.MaxFile == 0 {
		opts.MaxFile = DefaultMaxFile
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	dir, err := privateDirs(opts.Dir)
	if err != nil {
		return nil, err
	}
	opts.Dir = dir
	m := &Manager{opts: opts, git: git{path: opts.Git, env: env, limit: opts.Timeout}}
	if m.git.path == "" {
		m.git.path = "git"
	}
	if path, err := exec.LookPath(m.git.path); err == nil {
		m.git.path = path // otherwise each command reports that git is missing
	}
	if m.lock, err = m.acquire(ctx); err != nil {
		return nil, err
	}
	m.git.lock = m.lock.File
	m.git.life, m.end = context.WithCancel(context.WithoutCancel(ctx))
	if err := m.recover(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Close releases the data directory, so that another manager can open it. It ends git commands that are
// running; the calls that started them fail, and the next Open finishes or undoes their changes.
func (m *Manager) Close() error {
	m.end()
	m.git.close()
	return m.lock.Unlock()
}

// acquire waits for the lock of the data directory.
func (m *Manager) acquire(ctx context.Context) (*filelock.File, error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	for {
		l, err := filelock.TryLock(filepath.Join(m.opts.Dir, "lock"))
		if err == nil || !errors.Is(err, filelock.ErrLocked) {
			return l, err
		}
		timer := time.NewTimer(20 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("workspace: another process uses %s: %w", m.opts.Dir, context.Cause(ctx))
		}
	}
}

// Directories below the data directory.
const (
	recordsDir = "records" // <id>.json, and journals of files that are being replaced
	treesDir   = "trees"   // <id> is a worktree
	trashDir   = "trash"   // worktrees that are being removed
	indexDir   = "index"   // private indexes
	scratchDir = "scratch" // messages of commits, and inputs of merges
)

// privateDirs creates the data directory and returns its path without symbolic links.
func privateDirs(dir string) (string, error) {
	if dir == "" {
		return "", invalid("the data directory is not set")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	for _, sub := range []string{"", recordsDir, treesDir, trashDir, indexDir, scratchDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return "", fmt.Errorf("workspace: %w", err)
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("workspace: %w", err)
	}
	return real, nil
}

// step is called between the steps of a change. Tests kill the process in it.
var step = func(string) {}
