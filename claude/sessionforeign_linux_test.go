package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A CLI without a lock has the session: the guard releases its lock at once.
func TestGuardGivesBack(t *testing.T) {
	config := filepath.Join(t.TempDir(), "con[fig")
	if err := os.Mkdir(config, 0o700); err != nil {
		t.Fatal(err)
	}
	g := &sessionGuard{launch: unchecked(nil), on: true, dir: func() string { return filepath.Join(config, "parley", "locks") }}
	text, err := json.Marshal(liveCLI{PID: os.Getpid(), SessionID: sessionOne, ProcStart: startOf(t, os.Getpid())})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(config, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Another file name is a named pipe, which must not block.
	if err := syscall.Mkfifo(filepath.Join(config, "sessions", "1.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "sessions", "2.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.take(t.Context(), sessionOne); !errors.Is(err, ErrSessionBusy) {
		t.Fatal("a session that another CLI has was taken")
	}
	if names := locksIn(t, g); len(names) != 0 {
		t.Errorf("%q is left", names)
	}
	g.launch = unchecked(&Options{Resume: sessionOne, SessionLock: LockFork})
	if err := g.take(t.Context(), sessionOne); err != nil || !g.launch.ForkSession {
		t.Errorf("%v, it is forked: %v", err, g.launch.ForkSession)
	}
	if names := locksIn(t, g); len(names) != 0 {
		t.Errorf("of a session that is only read %q is left", names)
	}
}

// startOf returns the start time of a process as the system reports it.
func startOf(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[19]
}

// The record of a CLI counts while the process that wrote it runs, not for another process with
// the same id: one with another start time, one of another container, or a zombie.
func TestLiveCLI(t *testing.T) {
	ended := exec.Command("/bin/true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	defer ended.Wait()
	const wait, leave = syscall.WEXITED, syscall.WNOWAIT
	if _, _, errno := syscall.Syscall6(syscall.SYS_WAITID, 1 /* P_PID */, uintptr(ended.Process.Pid), 0, wait|leave, 0, 0); errno != 0 {
		t.Fatal(errno)
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	pid := os.Getpid()
	for name, tt := range map[string]struct {
		cli  liveCLI
		want bool
	}{
		"it runs":              {liveCLI{PID: pid, ProcStart: startOf(t, pid)}, true},
		"it runs here":         {liveCLI{PID: pid, ProcStart: startOf(t, pid), PIDDomain: "boot/" + space}, true},
		"in another container": {liveCLI{PID: pid, ProcStart: startOf(t, pid), PIDDomain: "boot/pid:[1]"}, false},
		"another start":        {liveCLI{PID: pid, ProcStart: "1"}, false},
		"no such process":      {liveCLI{PID: 1 << 30, ProcStart: "1"}, false},
		"it has ended":         {liveCLI{PID: ended.Process.Pid, ProcStart: startOf(t, ended.Process.Pid)}, false},
	} {
		if got := tt.cli.alive(); got != tt.want {
			t.Errorf("%s: %v; want got == tt.want", name, got)
		}
	}
}
