//go:build linux || darwin

package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

func TestRoundTrip(t *testing.T) {
	census(t)
	s := start(t, behaviour("echo"), Options{})
	r := bufio.NewReader(s.Stdout())
	roundTrip(t, s, r)
	if s.PID() <= 0 {
		t.Errorf("PID %d", s.PID())
	}
	if e := s.Exit(); !errors.Is(e.Err, ErrRunning) || e.Code != -1 {
		t.Errorf("Exit while running: %+v", e)
	}
	if err := s.Stdin().Close(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Errorf("the rest: %q, %v", rest, err)
	}
	await(t, s.Done(), "the end")
	if got, want := s.Exit(), (Exit{}); got != want {
		t.Errorf("Exit: %+v", got)
	}
	if n, err := s.Stdout().Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("Read after the end: %d, %v", n, err)
	}
}

func TestExitCodeAndStderr(t *testing.T) {
	census(t)
	var lines []string
	s := start(t, behaviour("fail"), Options{OnStderr: func(l string) { lines = append(lines, l) }})
	await(t, s.Done(), "the end")
	want := Exit{ExitStatus: spawn.ExitStatus{Code: 3}, Stderr: "one\n\n  two  \nthree"}
	if got := s.Exit(); got != want {
		t.Errorf("Exit: %+v, want %+v", got, want)
	}
	if want := []string{"one", "  two", "three"}; !slices.Equal(lines, want) {
		t.Errorf("lines %q, want %q", lines, want)
	}
}

func TestSignalFromOutside(t *testing.T) {
	census(t)
	s := start(t, behaviour("echo"), Options{})
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, s.Done(), "the end")
	if got, want := s.Exit().ExitStatus, (spawn.ExitStatus{Code: -1, Signal: "SIGKILL"}); got != want {
		t.Errorf("Exit: %+v", got)
	}
	if got := s.Exit().String(); got != "signal SIGKILL" {
		t.Errorf("String: %q", got)
	}
}

func TestEnvironmentIsComplete(t *testing.T) {
	census(t)
	cmd := behaviour("env", "ONE=1", "TWO=2", "ONE=3")
	out, err := io.ReadAll(start(t, cmd, Options{}).Stdout())
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	slices.Sort(got)
	want := []string{"GORACE=atexit_sleep_ms=0", "ONE=3", behaviourVar + "=env", "PATH=" + os.Getenv("PATH"), "TWO=2"}
	if dir := os.Getenv(coverDirVar); dir != "" {
		want = append(want, coverDirVar+"="+dir)
	}
	if value := os.Getenv(supervisedVar); value != "" {
		want = append(want, supervisedVar+"="+value)
	}
	mark := slices.IndexFunc(got, func(entry string) bool { return strings.HasPrefix(entry, markVariable+"=") })
	if mark < 0 {
		t.Fatalf("environment %q has no mark", got)
	}
	got = slices.Delete(got, mark, mark+1)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}

// TestRelativePath: a relative path is relative to this process's directory, not to the
// child's.
func TestRelativePath(t *testing.T) {
	census(t)
	cmd := behaviour("pwd")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Path, err = filepath.Rel(here, cmd.Path); err != nil {
		t.Fatal(err)
	}
	cmd.Dir, err = filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(start(t, cmd, Options{}).Stdout())
	if got := strings.TrimSpace(string(out)); err != nil || got != cmd.Dir {
		t.Errorf("working directory %q, %v, want %q", got, err, cmd.Dir)
	}
}

func TestLadder(t *testing.T) {
	const short, long = 20 * time.Millisecond, patience
	tests := []struct {
		behaviour            string
		closing, term, kills time.Duration
		want                 spawn.ExitStatus
	}{
		{"echo", long, long, long, spawn.ExitStatus{}},
		{"term", short, long, long, spawn.ExitStatus{Code: 7}},
		{"deaf", short, short, long, spawn.ExitStatus{Code: -1, Signal: "SIGKILL"}},
	}
	for _, test := range tests {
		t.Run(test.behaviour, func(t *testing.T) {
			census(t)
			s := start(t, behaviour(test.behaviour),
				Options{CloseGrace: test.closing, TermGrace: test.term, KillGrace: test.kills})
			if test.behaviour != "echo" {
				readLine(t, bufio.NewReader(s.Stdout()))
			}
			var stops sync.WaitGroup
			for range 4 {
				stops.Go(func() {
					if err := s.Stop(); err != nil {
						t.Errorf("Stop: %v", err)
					}
					if !isClosed(s.Done()) {
						t.Error("Stop returned before the end")
					}
				})
			}
			stops.Wait()
			if got := s.Exit().ExitStatus; got != test.want {
				t.Errorf("Exit: %+v, want %+v", got, test.want)
			}
			if err := s.Kill(); err != nil {
				t.Errorf("Kill after the end: %v", err)
			}
		})
	}
}

func TestKillCutsStopShort(t *testing.T) {
	census(t)
	s := start(t, behaviour("deaf"), Options{CloseGrace: time.Hour})
	readLine(t, bufio.NewReader(s.Stdout()))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := s.Stop(); err != nil {
			t.Errorf("Stop: %v", err)
		}
	}()
	if err := s.Kill(); err != nil {
		t.Error(err)
	}
	await(t, stopped, "the end of Stop")
	if got := s.Exit().Signal; got != "SIGKILL" {
		t.Errorf("signal %q", got)
	}
}

// TestBurst: output right before the exit is not lost for a slow reader.
func TestBurst(t *testing.T) {
	census(t)
	s := start(t, behaviour("burst"), Options{DrainDelay: time.Millisecond})
	var got []byte
	buf := make([]byte, 1000)
	for {
		n, err := s.Stdout().Read(buf)
		got = append(got, buf[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 1<<20-60<<10 {
			await(t, s.Done(), "the end") // The rest is read long after the exit.
		}
	}
	if !bytes.Equal(got, burst(1<<20)) {
		t.Errorf("%d bytes, not what was written", len(got))
	}
}

// TestReadAfterStop: unread output survives Stop, but not Close.
func TestReadAfterStop(t *testing.T) {
	census(t)
	for _, read := range []bool{true, false} {
		s := start(t, behaviour("term"), Options{CloseGrace: time.Nanosecond})
		one := make([]byte, 1)
		if _, err := io.ReadFull(s.Stdout(), one); err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		if read {
			if rest, err := io.ReadAll(s.Stdout()); string(rest) != "eady\n" || err != nil {
				t.Errorf("the rest: %q, %v", rest, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		want := map[bool]error{true: io.EOF, false: os.ErrClosed}[read]
		if _, err := s.Stdout().Read(one); err != want {
			t.Errorf("Read after Close: %v, want %v", err, want)
		}
	}
}

func TestStdin(t *testing.T) {
	census(t)
	s := start(t, behaviour("hang"), Options{CloseGrace: time.Nanosecond, TermGrace: patience})
	in, ok := s.Stdin().(interface{ SetWriteDeadline(time.Time) error })
	if !ok {
		t.Fatal("stdin has no SetWriteDeadline")
	}
	// There is no reader: the write blocks until Close ends it.
	failed := make(chan struct{})
	go func() {
		defer close(failed)
		if _, err := s.Stdin().Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Write: %v", err)
		}
	}()
	var closes sync.WaitGroup
	for range 8 {
		closes.Go(func() {
			if err := s.Stdin().Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	closes.Wait()
	await(t, failed, "the end of the write")
	if err := in.SetWriteDeadline(time.Now()); err == nil {
		t.Error("SetWriteDeadline after Close succeeds")
	}
}

func TestStartCancelled(t *testing.T) {
	census(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	spawner := spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) {
		t.Error("spawned")
		return nil, errors.New("spawned")
	})
	if _, err := Start(ctx, behaviour("echo"), Options{Spawner: spawner}); err != context.Canceled {
		t.Errorf("Start: %v", err)
	}
	if _, err := Local.Spawn(ctx, behaviour("echo")); err != context.Canceled {
		t.Errorf("Spawn: %v", err)
	}
}

// TestCancelledWhileSpawning: a process that starts too late is killed and reaped.
func TestCancelledWhileSpawning(t *testing.T) {
	census(t)
	ctx, cancel := context.WithCancel(t.Context())
	var pid int
	spawner := spawn.Func(func(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
		p, err := Local.Spawn(ctx, cmd)
		if err == nil {
			pid = p.PID()
		}
		cancel()
		return p, err
	})
	if _, err := Start(ctx, behaviour("deaf"), Options{Spawner: spawner}); err != context.Canceled {
		t.Errorf("Start: %v", err)
	}
	if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
		t.Errorf("process %d: %v", pid, err)
	}
}

func TestCancelAfterStart(t *testing.T) {
	census(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, behaviour("echo"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	roundTrip(t, s, bufio.NewReader(s.Stdout()))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := s.Exit(); got != (Exit{}) {
		t.Errorf("Exit: %+v", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	census(t)
	var all sync.WaitGroup
	for range short.Count(8, 50, 50) {
		all.Go(func() {
			s, err := Start(t.Context(), behaviour("echo"), Options{CloseGrace: patience})
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(s.Stdin(), "hello\n")
			if line, err := bufio.NewReader(s.Stdout()).ReadString('\n'); line != "hello\n" {
				t.Errorf("echo: %q, %v", line, err)
			}
			if err := s.Close(); err != nil || s.Exit() != (Exit{}) {
				t.Errorf("Close: %v, %+v", err, s.Exit())
			}
		})
	}
	all.Wait()
}
