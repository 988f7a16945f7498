package spawntest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// Patience bounds each wait. No wait takes this long unless the spawner is faulty.
const Patience = 30 * time.Second

// Options describe the spawner to [Run]. Spawner is required.
type Options struct {
	// Spawner returns the spawner for one test; it may use the Cleanup of t.
	Spawner func(t testing.TB) spawn.Spawner
	// Path is the absolute path of the helper where the spawner runs programs. Empty means the executable of the test.
	Path string
	// Env are further entries of the helper's environment.
	Env []string
	// Elsewhere is set for a spawner with programs that do not share the files and process ids of the test.
	Elsewhere bool
}

// Run runs the suite, each check as a subtest.
func Run(t *testing.T, o Options) {
	for _, c := range cases {
		if c.unix && runtime.GOOS == "windows" || c.here && o.Elsewhere {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.run(suite{t, o, o.Spawner(t)}) })
	}
}

// suite is one running test.
type suite struct {
	*testing.T
	o       Options
	spawner spawn.Spawner
}

// cases are the checks. Those with unix need signals, those with here a spawner of this machine.
var cases = []struct {
	name       string
	run        func(suite)
	unix, here bool
}{
	{name: "Echo", run: testEcho},
	{name: "Binary", run: testBinary},
	{name: "PartOfLine", run: testPartOfLine},
	{name: "SeparateStreams", run: testSeparateStreams},
	{name: "Args", run: testArgs},
	{name: "Env", run: testEnv},
	{name: "Dir", run: testDir, here: true},
	{name: "Files", run: testFiles, here: true},
	{name: "PID", run: testPID, here: true},
	{name: "ExitCode", run: testExitCode},
	{name: "StartFails", run: testStartFails},
	{name: "ContextEnded", run: testContextEnded},
	{name: "ContextEndsLater", run: testContextEndsLater},
	{name: "WaitUnread", run: testWaitUnread},
	{name: "CloseEndsRead", run: testCloseEndsRead},
	{name: "CloseEndsWrite", run: testCloseEndsWrite},
	{name: "Terminate", run: testTerminate, unix: true},
	{name: "Kill", run: testKill},
	{name: "KillChildren", run: testKillChildren, unix: true},
	{name: "AfterWait", run: testAfterWait},
	{name: "Many", run: testMany},
}

// command returns the helper with a behaviour.
func (s suite) command(behaviour string, args ...string) spawn.Command {
	s.Helper()
	path := s.o.Path
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			s.Fatal(err)
		}
		path = self
	}
	env := append([]string{behaviourVar + "=" + behaviour, "GORACE=atexit_sleep_ms=0"}, s.o.Env...)
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		env = append(env, "GOCOVERDIR="+dir)
	}
	return spawn.Command{Path: path, Args: args, Env: env}
}

// run is a process; a goroutine waits for its end, as users of spawners do.
type run struct {
	s suite
	spawn.Process
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr io.ReadCloser
	ended  chan struct{}
	status spawn.ExitStatus
	err    error
}

// start starts the helper and kills it at the end of the test.
func (s suite) start(behaviour string, args ...string) *run {
	s.Helper()
	return s.startCommand(s.command(behaviour, args...))
}

func (s suite) startCommand(cmd spawn.Command) *run {
	s.Helper()
	return s.startIn(s.Context(), cmd)
}

func (s suite) startIn(ctx context.Context, cmd spawn.Command) *run {
	s.Helper()
	p, err := s.spawner.Spawn(ctx, cmd)
	if err != nil {
		s.Fatalf("Spawn: %v", err)
	}
	r := &run{s: s, Process: p, stdin: p.Stdin(), stdout: p.Stdout(), stderr: p.Stderr(), ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		r.status, r.err = p.Wait()
	}()
	s.Cleanup(func() {
		_ = p.Kill()
		r.wait()
		r.stdin.Close()
		r.stdout.Close()
		if r.stderr != nil {
			r.stderr.Close()
		}
	})
	return r
}

// within fails the test if f takes too long.
func (s suite) within(what string, f func()) {
	s.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		s.Fatalf("%s has not ended", what)
	}
}

// wait returns the exit status of the process.
func (r *run) wait() (spawn.ExitStatus, error) {
	r.s.Helper()
	r.s.within("Wait", func() { <-r.ended })
	return r.status, r.err
}

// wantExit fails the test unless the process ends with the status.
func (r *run) wantExit(want spawn.ExitStatus) {
	r.s.Helper()
	if status, err := r.wait(); err != nil || status != want {
		r.s.Errorf("Wait returned %+v, %v, want %+v", status, err, want)
	}
}

// read returns the rest of a stream.
func (r *run) read(what string, stream io.Reader) []byte {
	r.s.Helper()
	var all []byte
	var err error
	r.s.within("reading "+what, func() { all, err = io.ReadAll(stream) })
	if err != nil {
		r.s.Errorf("%s: %v", what, err)
	}
	return all
}

// expect reads exactly the bytes of want from stdout.
func (r *run) expect(want string) {
	r.s.Helper()
	got := make([]byte, len(want))
	var n int
	var err error
	r.s.within("reading "+want, func() { n, err = io.ReadFull(r.stdout, got) })
	if err != nil || string(got) != want {
		r.s.Fatalf("stdout has %q, %v, want %q", got[:n], err, want)
	}
}

func (r *run) write(text string) {
	r.s.Helper()
	r.s.within("writing", func() {
		if _, err := io.WriteString(r.stdin, text); err != nil {
			r.s.Errorf("stdin: %v", err)
		}
	})
}

// unblock ends a pending call on a stream as package spawn describes: by a deadline if it supports one.
func unblock(stream io.Closer, deadline func(time.Time) error) error {
	if deadline != nil && deadline(time.Unix(1, 0)) == nil {
		return nil
	}
	return stream.Close()
}

func sameBytes(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	return errors.New("the bytes differ: " + describe(got, at) + ", want " + describe(want, at))
}

func describe(b []byte, at int) string {
	rest := b[at:min(len(b), at+16)]
	return cmp.Or(string(rest), "the end")
}

// cancelled returns an ended context.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
