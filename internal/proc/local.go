package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/spawn"
)

// local is the Spawner for this machine. See [LocalOptions].
type local struct{ opts LocalOptions }

// Spawn starts cmd as a child of this process, or of a supervisor.
func (l local) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkCommand(cmd); err != nil {
		return nil, err
	}
	c, err := startProcess(ctx, cmd, l.opts)
	if err == nil {
		return c, nil
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil, err
	}
	if failed, ok := errors.AsType[*StartError](err); ok {
		return nil, failed
	}
	return nil, &StartError{Path: cmd.Path, Dir: cmd.Dir, Reason: Diagnose(cmd.Path, err), Err: err}
}

// Local reports that processes run on this machine.
func (local) Local() bool { return true }

// checkCommand returns an error for commands that the system would refuse with a misleading error,
// or accept wrongly.
func checkCommand(cmd spawn.Command) error {
	if cmd.Path == "" {
		return &StartError{Reason: "no program is named"}
	}
	if runtime.GOOS == "windows" && isBatch(cmd.Path) {
		return batchError(cmd.Path)
	}
	return checkDir(cmd)
}

// checkDir checks the working directory, because the system's error "no such file" reads as if the
// program were missing.
func checkDir(cmd spawn.Command) error {
	if cmd.Dir == "" {
		return nil
	}
	info, err := os.Stat(cmd.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return &StartError{cmd.Path, cmd.Dir, fmt.Sprintf("the working directory %s does not exist", cmd.Dir), err}
	case err != nil:
		return &StartError{cmd.Path, cmd.Dir, fmt.Sprintf("the working directory %s cannot be used", cmd.Dir), err}
	case !info.IsDir():
		return &StartError{cmd.Path, cmd.Dir, fmt.Sprintf("the working directory %s is not a directory", cmd.Dir), nil}
	}
	return nil
}

// child is a process started by Local.
type child struct {
	cmd                   *exec.Cmd
	stdin, stdout, stderr *os.File // our ends
	mark                  string   // in the environment of all its descendants; "" with KeepChildren
	link                  *link    // to the supervisor, which then is cmd; nil if the child is a direct child

	// mu prevents signals to a process id that has been released.
	mu     sync.Mutex
	reaped bool
	tree   tree
}

func startProcess(ctx context.Context, cmd spawn.Command, opts LocalOptions) (*child, error) {
	path, err := filepath.Abs(cmd.Path)
	if err != nil {
		return nil, err
	}
	attr := sysProcAttr()
	if cmd.User != "" {
		if err := runAs(attr, cmd.User); err != nil {
			return nil, err
		}
	}
	pipes, err := newPipes()
	if err != nil {
		return nil, err
	}
	c := &child{stdin: pipes[0].w, stdout: pipes[1].r, stderr: pipes[2].r}
	if !opts.KeepChildren {
		c.mark = markVariable + "=" + random.Hex(16)
	}
	c.cmd = &exec.Cmd{
		Path: path,
		Args: append([]string{cmd.Path}, cmd.Args...),
		Dir:  cmd.Dir,
		// Not nil: nil would mean our own environment.
		Env:         c.marked(cmd.Env),
		Stdin:       pipes[0].r,
		Stdout:      pipes[1].w,
		Stderr:      pipes[2].w,
		ExtraFiles:  withoutInherited(),
		SysProcAttr: attr,
	}
	if opts.Supervisor != "" && !opts.KeepChildren {
		err = c.startUnder(ctx, opts.Supervisor)
	} else {
		err = c.start(ctx)
	}
	// The child has its copies. Its streams would not end while ours are open.
	closeAll(pipes[0].r, pipes[1].w, pipes[2].w)
	if err != nil {
		closeAll(c.stdin, c.stdout, c.stderr)
		return nil, err
	}
	widen(c.stdout) // use the time while the child starts
	return c, nil
}

type pipe struct{ r, w *os.File }

// newPipes opens pipes without os/exec, because those of os/exec either need copying goroutines that
// Wait waits for, or are closed by Wait during a read.
func newPipes() (pipes [3]pipe, err error) {
	for i := range pipes {
		if pipes[i], err = newPipe(i == 0); err != nil {
			for _, p := range pipes[:i] {
				closeAll(p.r, p.w)
			}
			return pipes, err
		}
	}
	return pipes, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		f.Close()
	}
}

func (c *child) Stdin() io.WriteCloser { return c.stdin }

func (c *child) Stdout() io.ReadCloser { return c.stdout }

func (c *child) Stderr() io.ReadCloser { return c.stderr }

func (c *child) PID() int {
	if c.link != nil {
		return c.link.pid
	}
	return c.cmd.Process.Pid
}

// marked returns an environment with the mark of the child.
func (c *child) marked(env []string) []string {
	env = append([]string{}, env...)
	if c.mark != "" {
		env = append(env, c.mark)
	}
	return env
}

// Terminate sends SIGTERM to the group; on Windows it has no effect.
func (c *child) Terminate() error { return c.unlessReaped(c.terminateTree) }

// Kill ends the child and its descendants.
func (c *child) Kill() error { return c.unlessReaped(c.killTree) }

func (c *child) unlessReaped(f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reaped {
		return nil
	}
	return f()
}

// Wait reaps the child and kills the rest of its group.
func (c *child) Wait() (spawn.ExitStatus, error) {
	if c.link != nil {
		return c.waitUnder()
	}
	err := c.reap()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return spawn.ExitStatus{Code: -1}, err
	}
	return exitStatus(c.cmd.ProcessState), nil
}
