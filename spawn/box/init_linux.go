package box

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Enter starts the command of a box and does not return, if this process is the first one in a box. A program calls it first in its
// main function.
func Enter() {
	if len(os.Args) == 2 && os.Args[1] == tryArgument {
		syscall.Exit(try(os.Stdin, os.Stdout))
	}
	if len(os.Args) < 2 || os.Args[1] != initArgument {
		return
	}
	syscall.Exit(enter(os.Args[2:])) // no cleanup is needed at the exit
}

// failed is the exit status if the command was not started.
const failed = 125

func enter(args []string) int {
	if err := leaveTerminal(); err != nil {
		fmt.Fprintln(os.Stderr, "parley box: the terminal:", err)
		return failed
	}
	// Otherwise the command would inherit the ignored signal from bwrap. The whole group gets the
	// signal, so it is not forwarded.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	for len(args) > 0 && args[0] != "--" {
		if err := openDoor(args[0]); err != nil {
			fmt.Fprintln(os.Stderr, "parley box: a door:", err)
			return failed
		}
		args = args[1:]
	}
	if len(args) < 2 {
		return 0 // the box was only probed
	}
	pid, err := syscall.ForkExec(args[1], args[1:], &syscall.ProcAttr{Env: Unpacked(os.Environ()), Files: []uintptr{0, 1, 2}})
	if err != nil {
		fmt.Fprintf(os.Stderr, "parley box: %s: %v\n", args[1], err)
		return failed
	}
	// The streams belong to the command: their readers wait until every copy is closed.
	for _, f := range []*os.File{os.Stdin, os.Stdout, os.Stderr} {
		f.Close()
	}
	return reap(pid)
}

// reap waits for the command and for processes without a parent. The end of the first process ends all others.
func reap(command int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return failed
		case pid == command && status.Signaled():
			return 128 + int(status.Signal())
		case pid == command:
			return status.ExitStatus()
		}
	}
}

// Requests of ioctl(2) and keyctl(2).
const (
	tiocnotty      = 0x5422
	joinSessionKey = 1
)

// leaveTerminal detaches this process and its children from the controlling terminal and the keyring of the login session. The
// process stays in its group, so that signals reach it.
func leaveTerminal() error {
	if _, _, errno := syscall.Syscall(syscall.SYS_KEYCTL, joinSessionKey, 0, 0); errno != 0 && errno != syscall.ENOSYS && errno != syscall.EPERM && errno != syscall.EACCES {
		return errno
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil // no terminal
	}
	defer tty.Close()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), tiocnotty, 0); errno != 0 {
		return errno
	}
	return nil
}

// openDoor listens on a port, given as PORT=SOCKET, and connects clients to the socket.
func openDoor(door string) error {
	port, socket, _ := strings.Cut(door, "=")
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err == nil {
		OpenDoor(l, func() (net.Conn, error) { return net.Dial("unix", socket) })
	}
	return err
}
