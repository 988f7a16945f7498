package proc

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// foreign is a process that is not a child of this one. Its streams have no deadlines.
type foreign struct {
	stdin       io.WriteCloser
	out, err    io.ReadCloser
	exit        chan spawn.ExitStatus
	terminate   func() error
	kill        func() error
	waitFailure error
}

func (f *foreign) Stdin() io.WriteCloser { return f.stdin }

func (f *foreign) Stdout() io.ReadCloser { return f.out }

func (f *foreign) Stderr() io.ReadCloser { return f.err }

func (f *foreign) PID() int { return 0 }

func (f *foreign) Terminate() error { return f.terminate() }

func (f *foreign) Kill() error { return f.kill() }

func (f *foreign) Wait() (spawn.ExitStatus, error) { return <-f.exit, f.waitFailure }

type closer struct {
	io.Writer
	close func() error
}

func (c closer) Close() error { return c.close() }

func newForeign() *foreign {
	f := &foreign{out: newHeld("output"), err: newHeld("a log"), exit: make(chan spawn.ExitStatus, 1)}
	nothing := func() error { return nil }
	f.stdin, f.terminate, f.kill = closer{io.Discard, nothing}, nothing, nothing
	return f
}

func startForeign(t *testing.T, f *foreign) *Supervisor {
	t.Helper()
	spawner := spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) { return f, nil })
	s, err := Start(t.Context(), spawn.Command{}, Options{Spawner: spawner})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestForeignLadder: Stop takes its steps in order, each after its default grace, and ends streams
// that other processes hold.
func TestForeignLadder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var mu sync.Mutex
		var steps []string
		step := func(name string) func() error {
			return func() error {
				mu.Lock()
				defer mu.Unlock()
				steps = append(steps, name+" "+time.Since(begin).String())
				return nil
			}
		}
		f := newForeign()
		f.stdin, f.terminate = closer{io.Discard, step("close")}, step("term")
		f.kill = func() error { err := step("kill")(); f.exit <- spawn.ExitStatus{Code: 9}; return err }
		s := startForeign(t, f)
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		if got := strings.Join(steps, ", "); got != "close 0s, term 2s, kill 7s" {
			t.Errorf("steps: %s", got)
		}
		if got, want := s.Exit(), (Exit{ExitStatus: spawn.ExitStatus{Code: 9}, Stderr: "a log"}); got != want {
			t.Errorf("Exit: %+v", got)
		}
		if out, err := io.ReadAll(s.Stdout()); string(out) != "output" || err != nil {
			t.Errorf("output %q, %v", out, err)
		}
		if _, ok := s.Stdin().(writeDeadliner); ok {
			t.Error("stdin claims to have deadlines")
		}
	})
}

// TestForeignStuck: a process that never ends, with methods that block, makes Stop return an error.
func TestForeignStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		block := func() error { <-release; return nil }
		refused := errors.New("refused")
		f := newForeign()
		f.stdin, f.terminate = closer{io.Discard, block}, block
		f.kill = func() error { return refused }
		begin := time.Now()
		s := startForeign(t, f)
		for range 2 {
			if err := s.Close(); !errors.Is(err, refused) {
				t.Errorf("Close: %v", err)
			}
			if took := time.Since(begin); took != 12*time.Second {
				t.Errorf("Close took %v", took)
			}
		}
		close(release)
		f.exit <- spawn.ExitStatus{}
		<-s.Done()
		if err := s.Close(); err != nil {
			t.Errorf("Close after the end: %v", err)
		}
	})
}

// TestForeignWithoutStderr: stderr is optional; an unknown status is reported as unknown.
func TestForeignWithoutStderr(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newForeign()
		f.err, f.waitFailure = nil, errors.New("connection lost")
		s := startForeign(t, f)
		f.exit <- spawn.ExitStatus{Code: -1}
		<-s.Done()
		if got := s.Exit(); got.Code != -1 || got.Err != f.waitFailure || got.Stderr != "" {
			t.Errorf("Exit: %+v", got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSpawnerFails(t *testing.T) {
	broken := errors.New("no such container")
	spawner := spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) { return nil, broken })
	_, err := Start(t.Context(), spawn.Command{Path: "/bin/claude", Dir: "/far"}, Options{Spawner: spawner})
	start, ok := errors.AsType[*StartError](err)
	if !ok || start.Dir != "/far" || !errors.Is(err, broken) {
		t.Errorf("Start: %v", err)
	}
	if got := err.Error(); got != "cannot start /bin/claude: no such container" {
		t.Errorf("text: %s", got)
	}
}

// TestOnExit: the callback runs once when a process ends, and once when a start fails.
func TestOnExit(t *testing.T) {
	told := 0
	f := newForeign()
	works := spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) { return f, nil })
	p, err := OnExit(works, func() { told++ }).Spawn(t.Context(), spawn.Command{})
	if err != nil || told != 0 {
		t.Fatalf("%v, told %d times while it runs", err, told)
	}
	close(f.exit)
	for range 2 {
		if _, err := p.Wait(); err != nil || told != 1 {
			t.Errorf("%v, told %d times of its end", err, told)
		}
	}
	failed := errors.New("no such program")
	fails := spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) { return nil, failed })
	if _, err := OnExit(fails, func() { told++ }).Spawn(t.Context(), spawn.Command{}); !errors.Is(err, failed) || told != 2 {
		t.Errorf("%v, told %d times in all", err, told)
	}
}
