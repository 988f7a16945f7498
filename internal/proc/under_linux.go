package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/supervise"
	"github.com/seed7221b0f9/parley/spawn"
)

// supervisorTime limits the start of a supervisor, which takes milliseconds: a program that is not a supervisor does not
// answer.
const supervisorTime = 30 * time.Second

// errNoSupervisor is returned for a program that does not answer like a supervisor.
var errNoSupervisor = errors.New("the program is not a parley command with a supervisor")

// link is the socket to a supervisor. Its end tells the supervisor that this process has ended.
type link struct {
	conn  *os.File
	lines *bufio.Reader
	pid   int     // of the process below the supervisor
	group *cgroup // nil without one
}

// newLink returns a link and the supervisor's end of it.
func newLink() (*link, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := fds[0], os.NewFile(uintptr(fds[1]), "supervisor")
	if err := syscall.SetNonblock(ours, true); err != nil {
		_ = syscall.Close(ours)
		return nil, nil, errors.Join(err, theirs.Close())
	}
	conn := os.NewFile(uintptr(ours), "supervisor")
	return &link{conn: conn, lines: bufio.NewReader(conn)}, theirs, nil
}

// send sends an order. It ignores a supervisor that has ended: waitUnder ends its leftover processes.
func (l *link) send(order byte) error {
	if _, err := l.conn.Write([]byte{order}); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return err
	}
	return nil
}

// reply reads a line of the supervisor.
func (l *link) reply() (what string, n int, err error) {
	line, err := l.lines.ReadString('\n')
	if err != nil {
		return "", 0, err
	}
	what, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	n, err = strconv.Atoi(number)
	return what, n, err
}

// startUnder starts the command of c below a supervisor, which replaces the command of c.
func (c *child) startUnder(ctx context.Context, path string) error {
	agent := c.cmd
	spec := supervise.Spec{Path: agent.Path, Args: agent.Args, Dir: agent.Dir, Env: agent.Environ()}
	if cred := agent.SysProcAttr.Credential; cred != nil {
		spec.IDs = append([]uint32{cred.Uid, cred.Gid}, cred.Groups...)
	}
	l, theirs, err := newLink()
	if err != nil {
		return err
	}
	// It has no secrets of the agent, and little memory: the garbage collector does not run below the limit.
	env := []string{"GOGC=off", "GOMEMLIMIT=16MiB", "GOMAXPROCS=1"}
	files := agent.ExtraFiles
	if len(files) == 0 {
		files = make([]*os.File, 1)
	}
	files[supervise.Descriptor-3] = theirs
	start := func(attr *syscall.SysProcAttr) error {
		sup := *agent
		sup.Path, sup.Args, sup.Dir, sup.Env, sup.ExtraFiles, sup.SysProcAttr = path, []string{supervise.Name}, "", env, files, attr
		c.cmd, c.link = &sup, l
		return c.cmd.Start()
	}
	if l.group = newCgroup(); l.group != nil {
		err = start(&syscall.SysProcAttr{Setpgid: true, UseCgroupFD: true, CgroupFD: int(l.group.dir.Fd())})
		if err != nil { // the system allows creating a group but not starting processes in it
			l.group.end()
			l.group = nil
		}
	}
	if l.group == nil {
		err = start(&syscall.SysProcAttr{Setpgid: true})
	}
	closeAll(theirs)
	if l.group != nil {
		spec.Group = l.group.path
	}
	if err != nil {
		closeAll(l.conn)
		return &StartError{path, "", "the supervisor", err}
	}
	if err = c.handshake(ctx, spec); err != nil {
		c.abandon(err == ctx.Err())
	}
	return err
}

// abandon ends a supervisor whose process was cancelled or failed to start. A supervisor that knows its task also ends the
// process.
func (c *child) abandon(knows bool) {
	kill := time.AfterFunc(supervisorTime, func() { _ = c.cmd.Process.Kill() })
	defer kill.Stop()
	if !knows {
		kill.Reset(0)
	}
	_ = c.link.send(supervise.CommandKill)
	closeAll(c.link.conn)
	_ = c.cmd.Wait()
	c.link.group.end()
}

// handshake sends the supervisor the command to start and waits for the outcome.
func (c *child) handshake(ctx context.Context, spec supervise.Spec) error {
	conn := c.link.conn
	_ = conn.SetDeadline(time.Now().Add(supervisorTime))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	_, err := conn.Write(spec.Encode())
	var what string
	var n int
	if err == nil {
		what, n, err = c.link.reply()
	}
	if !stop() {
		return context.Cause(ctx)
	}
	_ = conn.SetDeadline(time.Time{})
	switch {
	case err == nil && what == supervise.ReplyStarted:
		c.link.pid, c.tree = n, tree{group: n, start: startOf(n)}
		return nil
	case err == nil && what == supervise.ReplyFailed:
		return &os.PathError{Op: "fork/exec", Path: spec.Path, Err: syscall.Errno(n)}
	}
	return &StartError{c.cmd.Path, "", "the supervisor", errors.Join(errNoSupervisor, err)}
}

// waitUnder waits until the supervisor has ended the process and all its descendants. If the supervisor itself was killed, the
// control group ends the rest; without a group, this process ends those that it finds by group, by parent and by mark.
func (c *child) waitUnder() (spawn.ExitStatus, error) {
	what, n, err := c.link.reply()
	_ = c.cmd.Wait() // its status has no further information
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reaped = true
	closeAll(c.link.conn)
	c.link.group.end()
	if err == nil && what == supervise.ReplyEnded {
		return waitStatus(syscall.WaitStatus(n)), nil
	}
	match := c.found
	if p, ok := supervise.Read(c.tree.group); ok && p.Started != c.tree.start {
		match = c.isMarked // another process has the id, and so the group
	}
	if _, err := endFound(match, map[int]bool{os.Getpid(): true}); err != nil {
		return spawn.ExitStatus{Code: -1}, fmt.Errorf("the supervisor was killed: %w", err)
	}
	return spawn.ExitStatus{Code: -1, Signal: "SIGKILL"}, nil
}
