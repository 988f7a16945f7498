package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// git runs the user's git.
type git struct {
	path   string
	env    []string
	limit  time.Duration
	lock   *os.File        // inherited by git, so that the manager's lock is held while it runs
	life   context.Context // ends with the manager, and running commands with it; nil in tests
	open   sync.RWMutex    // read-locked while git runs
	closed bool
	// stub, in tests, returns the result of a command that is not run; nil outside tests.
	stub func(command) (out []byte, err error, ok bool)
}

// command is one call of git.
type command struct {
	dir   string
	args  []string
	stdin io.Reader
	env   []string // additional variables
	guard *guard   // required for a command that may run a program
	look  bool     // settings are read as the repository has them
	hooks bool     // hooks run, and git may take locks
	both  bool     // the output includes standard error
	max   int      // limit of the output in bytes; more is cut and reported
}

// name returns the git subcommand, after settings.
func (c command) name() string {
	args := c.args
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

// errCut is returned with the beginning of an output that exceeds its limit.
var errCut = errors.New("workspace: the output is too long")

// maxOutput is the output limit in bytes of a command with little expected output.
const maxOutput = 64 << 20

// grace is the time that git has to exit after it was asked to.
const grace = 5 * time.Second

// config are settings for commands that the user does not see. They prevent git from running
// programs of a repository that is only read, and from packing the user's repository, which would
// leave a lock if git were killed.
var config = []string{"--no-pager", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false", "-c", "core.splitIndex=false", "-c", "core.quotePath=false", "-c", "color.ui=false",
	"-c", "gc.auto=0", "-c", "maintenance.auto=false"}

// plain are the commands that run no program of a repository, regardless of its settings.
var plain = map[string]bool{
	"cat-file": true, "check-attr": true, "check-ref-format": true, "config": true, "diff-tree": true, "for-each-ref": true, "hash-object": true,
	"interpret-trailers": true, "log": true, "ls-files": true, "ls-tree": true, "merge-file": true, "rev-list": true, "rev-parse": true,
	"show-ref": true, "symbolic-ref": true, "update-ref": true, "worktree": true,
}

// mayRun reports whether a command may run a program of a repository.
func (c command) mayRun() bool {
	return !plain[c.name()] || c.hooks || slices.ContainsFunc(c.args, func(arg string) bool {
		return arg == "--filters" || arg == "--modified" || arg == "add"
	})
}

// close waits for running commands and prevents new ones.
func (g *git) close() {
	g.open.Lock()
	defer g.open.Unlock()
	g.closed = true
}

// run runs git and returns its standard output. A command that may run a program needs a guard.
func (g *git) run(ctx context.Context, c command) ([]byte, error) {
	if c.mayRun() && c.guard == nil {
		return nil, fmt.Errorf("workspace: git %s has no guard", c.name())
	}
	g.open.RLock()
	defer g.open.RUnlock()
	if g.closed {
		return nil, fmt.Errorf("workspace: git %s: %w", c.name(), os.ErrClosed)
	}
	if g.stub != nil {
		if out, err, ok := g.stub(c); ok {
			return out, err
		}
	}
	return g.exec(ctx, c)
}

// exec starts git and waits for its end.
func (g *git) exec(ctx context.Context, c command) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, g.limit)
	defer cancel()
	if g.life != nil {
		defer context.AfterFunc(g.life, cancel)()
	}
	args := config
	env := append(g.env[:len(g.env):len(g.env)], c.env...)
	if c.guard != nil {
		env = append(env, c.guard.env...)
	}
	if !c.hooks && !c.look {
		args = append(args[:len(args):len(args)], "-c", "core.hooksPath="+os.DevNull)
		env = append(env, "GIT_OPTIONAL_LOCKS=0")
	}
	cmd := exec.CommandContext(ctx, g.path, append(args[:len(args):len(args)], c.args...)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.WaitDelay = c.dir, env, c.stdin, grace
	out := &bounded{max: c.max, drop: c.both}
	if out.max == 0 {
		out.max = maxOutput
	}
	said := &bounded{max: 64 << 10, drop: true}
	cmd.Stdout, cmd.Stderr = out, said
	if c.both {
		cmd.Stderr = out
	}
	ownGroup(cmd, g.lock)
	err := cmd.Run()
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		return out.Bytes(), nil
	case out.over && !out.drop:
		return out.Bytes(), errCut
	case ctx.Err() != nil:
		return nil, fmt.Errorf("workspace: git %s: %w", c.name(), context.Cause(ctx))
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, fmt.Errorf("workspace: git: %w", err)
	}
	text := said.String()
	if strings.TrimSpace(text) == "" {
		text = out.String()
	}
	return out.Bytes(), &GitError{Command: c.name(), Exit: exit.ExitCode(), Output: strings.ToValidUTF8(text, "�")}
}

// line runs git in a directory and returns its output without the last line feed.
func (g *git) line(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := g.run(ctx, command{dir: dir, args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// bounded keeps the first bytes that are written to it. Further bytes are an error, which ends the
// writer, or with drop set are discarded.
type bounded struct {
	bytes.Buffer
	max  int
	drop bool
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.max - b.Len()
	if len(p) <= room {
		return b.Buffer.Write(p)
	}
	b.over = true
	b.Buffer.Write(p[:room])
	if b.drop {
		return len(p), nil
	}
	return room, errCut
}

// exitCode returns the exit code of a failed git, or -1.
func exitCode(err error) int {
	if e, ok := errors.AsType[*GitError](err); ok {
		return e.Exit
	}
	return -1
}

// answersNo reports whether git was asked for a name and has exited because the name does not exist. Git that was killed or could
// not run has not answered.
func answersNo(err error) bool { return exitCode(err) > 0 }

// checkName rejects a name that git could take for an option or that is not a single line.
func checkName(what, name string) error {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\r\n") || len(name) > 1024 {
		return invalid("%s %q", what, name)
	}
	return nil
}

// variable returns a variable of git's environment, "" if it is not set.
func (g *git) variable(name string) (value string) {
	for _, entry := range g.env {
		if key, v, _ := strings.Cut(entry, "="); key == name {
			value = v
		}
	}
	return value
}
