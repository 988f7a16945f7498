//go:build linux || darwin

package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/supervise"
	_ "github.com/seed7221b0f9/parley/internal/supervise/first"
	"github.com/seed7221b0f9/parley/spawn"
	"github.com/seed7221b0f9/parley/spawn/spawntest"
	"go.uber.org/goleak"
)

// patience limits all waits; only a failing test waits this long.
const patience = 30 * time.Second

const (
	behaviourVar = "PROC_TEST_BEHAVIOUR"
	lifelineVar  = "PROC_TEST_LIFELINE"
)

// supervisedVar is set if Local starts processes below a supervisor.
const supervisedVar = "PROC_TEST_SUPERVISED"

// TestMain runs the tests, with Local and with a supervisor in its place, or plays the child that a test started.
func TestMain(m *testing.M) {
	spawntest.Main()
	under := local{LocalOptions{Supervisor: supervise.Self()}}
	if os.Getenv(supervisedVar) != "" {
		Local = under
	}
	if name := os.Getenv(behaviourVar); name != "" {
		behave := behaviours[name]
		if behave == nil {
			fmt.Fprintln(os.Stderr, "no such behaviour:", name)
			os.Exit(99)
		}
		behave()
		os.Exit(0)
	}
	code := runTests(m)
	if code == 0 && supervise.Self() != "" && !testing.Short() {
		fmt.Println("under a supervisor:")
		os.Setenv(supervisedVar, "1")
		Local = under
		code = runTests(m)
	}
	os.Exit(code)
}

// runTests checks at the end that no goroutine, child or descriptor is left.
func runTests(m *testing.M) int {
	if testing.CoverMode() != "" {
		defer setCoverDir()()
	}
	warmUp()
	before := openFiles()
	code := m.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if left := childProcesses(); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "children left:", left)
		return 1
	}
	if after := openFiles(); !slices.Equal(before, after) {
		fmt.Fprintf(os.Stderr, "descriptors before:\n%v\nand after:\n%v\n", before, after)
		return 1
	}
	return 0
}

// coverDirVar is the directory for the counters of a child built with coverage; without it, the child complains
// on stderr.
const coverDirVar = "GOCOVERDIR"

// setCoverDir creates that directory and returns the function that removes it.
func setCoverDir() func() {
	dir, err := os.MkdirTemp("", "proc-cover")
	if err != nil {
		panic(err)
	}
	os.Setenv(coverDirVar, dir)
	return func() { os.RemoveAll(dir) }
}

// warmUp makes the runtime open its permanent descriptors.
func warmUp() {
	s, err := Start(context.Background(), behaviour("echo"), Options{})
	if err != nil {
		panic(err)
	}
	if err := s.Close(); err != nil {
		panic(err)
	}
}

// behaviour returns the command that makes this test binary play a child.
func behaviour(name string, env ...string) spawn.Command {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	env = append(env, behaviourVar+"="+name, "GORACE=atexit_sleep_ms=0", "PATH="+os.Getenv("PATH"))
	if value := os.Getenv(supervisedVar); value != "" {
		env = append(env, supervisedVar+"="+value)
	}
	if dir := os.Getenv(coverDirVar); dir != "" {
		env = append(env, coverDirVar+"="+dir)
	}
	return spawn.Command{Path: self, Env: env}
}

// start starts a child and checks at the end of the test that no process of it is left.
func start(t *testing.T, cmd spawn.Command, opts Options) *Supervisor {
	t.Helper()
	s, err := Start(t.Context(), cmd, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// census checks at the end of the test that no process is left. It must be called first.
func census(t *testing.T) {
	t.Helper()
	files, goroutines := openFiles(), goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if left := childProcesses(); len(left) > 0 {
			t.Errorf("children left: %v", left)
		}
		if now := openFiles(); len(now) != len(files) {
			t.Errorf("descriptors before:\n%v\nand after:\n%v", files, now)
		}
		if err := goleak.Find(goroutines); err != nil {
			t.Error(err)
		}
	})
}

// await fails the test if c is not closed in time.
func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c:
	case <-timer.C:
		t.Fatalf("%s has not happened", what)
	}
}

// readLine reads one line of the child's output.
func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("reading a line: %q, %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// roundTrip checks that an echoing child is alive.
func roundTrip(t *testing.T, s *Supervisor, r *bufio.Reader) {
	t.Helper()
	if _, err := io.WriteString(s.Stdin(), "are you there\n"); err != nil {
		t.Fatal(err)
	}
	if got := readLine(t, r); got != "are you there" {
		t.Fatalf("echo: %q", got)
	}
}

// lifeline is a named pipe that a distant process holds open: it ends when that process does.
type lifeline struct {
	path string
	r    *os.File
}

func newLifeline(t *testing.T) lifeline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lifeline")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return lifeline{path, r}
}

func (l lifeline) env() string { return lifelineVar + "=" + l.path }

// holder returns the id of the process that holds the lifeline, and kills it at the end of the test.
func (l lifeline) holder(t *testing.T) int {
	t.Helper()
	if err := l.r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanln(l.r, &pid); err != nil || pid <= 1 {
		t.Fatalf("nobody holds the lifeline: %d, %v", pid, err)
	}
	t.Cleanup(func() {
		if l.alive() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return pid
}

// awaitDeath fails the test if the holder does not end in time. holder must have been called before.
func (l lifeline) awaitDeath(t *testing.T) {
	t.Helper()
	if err := l.r.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, l.r); err != nil {
		t.Fatalf("the process still lives: %v", err)
	}
}

// alive reports whether the holder is running. holder must have been called before.
func (l lifeline) alive() bool {
	_ = l.r.SetReadDeadline(time.Time{})
	_, err := tryRead(l.r, make([]byte, 1))
	return err == errWouldBlock
}
