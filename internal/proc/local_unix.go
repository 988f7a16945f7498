//go:build unix

package proc

import (
	"errors"
	"os"
	"strconv"
	"syscall"

	"github.com/seed7221b0f9/parley/spawn"
)

var signalNames = map[syscall.Signal]string{
	syscall.SIGABRT: "SIGABRT", syscall.SIGALRM: "SIGALRM", syscall.SIGBUS: "SIGBUS",
	syscall.SIGFPE: "SIGFPE", syscall.SIGHUP: "SIGHUP", syscall.SIGILL: "SIGILL",
	syscall.SIGINT: "SIGINT", syscall.SIGKILL: "SIGKILL", syscall.SIGPIPE: "SIGPIPE",
	syscall.SIGPROF: "SIGPROF", syscall.SIGQUIT: "SIGQUIT", syscall.SIGSEGV: "SIGSEGV",
	syscall.SIGSYS: "SIGSYS", syscall.SIGTERM: "SIGTERM", syscall.SIGTRAP: "SIGTRAP",
	syscall.SIGUSR1: "SIGUSR1", syscall.SIGUSR2: "SIGUSR2", syscall.SIGVTALRM: "SIGVTALRM",
	syscall.SIGXCPU: "SIGXCPU", syscall.SIGXFSZ: "SIGXFSZ",
}

func exitStatus(state *os.ProcessState) spawn.ExitStatus {
	ws, _ := state.Sys().(syscall.WaitStatus)
	return waitStatus(ws)
}

func waitStatus(ws syscall.WaitStatus) spawn.ExitStatus {
	if !ws.Signaled() {
		return spawn.ExitStatus{Code: ws.ExitStatus()}
	}
	name := signalNames[ws.Signal()]
	if name == "" {
		name = "SIG" + strconv.Itoa(int(ws.Signal()))
	}
	return spawn.ExitStatus{Code: -1, Signal: name}
}

func (c *child) terminateTree() error { return c.signalGroup(syscall.SIGTERM) }

// signalGroup must be called with c.mu held and the child not reaped.
func (c *child) signalGroup(sig syscall.Signal) error {
	if c.link != nil {
		return c.link.send(byte(sig))
	}
	err := syscall.Kill(-c.tree.group, sig)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
