//go:build unix

package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// startHost starts a host as a process, and ends it with the test.
func startHost(t *testing.T, dir string) {
	t.Helper()
	if err := Start(within(t), dir, "", Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l, err := Dial(within(t), dir, 0)
		if errors.Is(err, ErrNotRunning) {
			return
		}
		must(t, err)
		must(t, l.Stop(within(t)))
		<-l.Done()
		awaitNoHost(t, dir)
	})
}

// awaitNoHost waits until the lock of the host is released.
func awaitNoHost(t *testing.T, dir string) {
	t.Helper()
	await(t, "the end of the host", func() bool { return !errors.Is(Run(cancelled(), dir, Options{}, nil), ErrRunning) })
}

func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func await(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for ctx := within(t); !f(); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s has not happened", what)
		}
	}
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// The host is a separate process in another session, without the descriptors and the environment of its starter. A data
// directory has one host, even if the path of its socket is too long for the system.
func TestStart_detached(t *testing.T) {
	short.Skip(t, "processes")
	t.Setenv("HOST_TEST_SECRET", "hidden")
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	must(t, os.MkdirAll(dir, 0o700))
	inherited, err := os.Open(dir)
	must(t, err)
	defer inherited.Close()
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, inherited.Fd(), syscall.F_SETFD, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	startHost(t, dir)
	must(t, Start(within(t), dir, "", Options{})) // it runs
	if err := Run(within(t), dir, Options{}, nil); !errors.Is(err, ErrRunning) {
		t.Errorf("a second host: %v", err)
	}
	l := connect(t, dir)
	pid := l.Host().PID
	if sid, _, errno := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0); errno != 0 || int(sid) != pid {
		t.Errorf("the host is in session %d", sid)
	}
	if runtime.GOOS == "linux" {
		proc := "/proc/" + strconv.Itoa(pid)
		environ, err := os.ReadFile(proc + "/environ")
		if err != nil || strings.Contains(string(environ), "HOST_TEST_SECRET") {
			t.Errorf("the environment of the host is %q, %v", environ, err)
		}
		fds, err := os.ReadDir(proc + "/fd")
		must(t, err)
		for _, fd := range fds {
			if target, _ := os.Readlink(proc + "/fd/" + fd.Name()); target == dir {
				t.Errorf("descriptor %s of the host is %s", fd.Name(), target)
			}
		}
	}
	info, err := os.Stat(filepath.Join(dir, folder, socketName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v, %v", info, err)
	}
	p := spawnAgent(t, l, shell("echo $$; read line"), AgentOptions{})
	r, err := p.Next(within(t))
	if err != nil || string(r.Data) != fmt.Sprintln(p.PID()) {
		t.Errorf("the agent is %q, %v, and the host reports %d", r.Data, err, p.PID())
	}
	must(t, p.CloseInput())
	if exit, err := p.Exit(within(t)); err != nil || exit.CPU <= 0 || exit.MaxMemory <= 0 {
		t.Errorf("the exit is %+v, %v", exit, err)
	}
}

// A host ends with its agents when its folder is removed, because no owner can connect any more.
func TestRemovedFolder(t *testing.T) {
	short.Skip(t, "processes")
	dir := filepath.Join(t.TempDir(), "data")
	startHost(t, dir)
	l := connect(t, dir)
	p := spawnAgent(t, l, shell("exec sleep 1000"), AgentOptions{})
	host := l.Host().PID
	must(t, l.Close())
	must(t, os.RemoveAll(dir))
	await(t, "the end of the host", func() bool { return !alive(host) })
	await(t, "the end of the agent", func() bool { return !alive(p.PID()) })
}

// When the host is killed, all agents and their children end, and their output can be read up to the last complete
// line.
func TestKilledHost(t *testing.T) {
	short.Skip(t, "processes")
	dir := t.TempDir()
	startHost(t, dir)
	l := connect(t, dir)
	p := spawnAgent(t, l, shell("echo covered; echo one; (trap '' HUP TERM; exec setsid sleep 1000) & echo child $!; read line; printf part; exec sleep 1000"), AgentOptions{Key: "k"})
	wantNext(t, p, "output covered\n")
	wantNext(t, p, "output one\n")
	r, err := p.Next(within(t))
	must(t, err)
	child, err := strconv.Atoi(strings.Fields(string(r.Data))[1])
	must(t, err)
	must(t, p.Checkpoint(within(t), 1, []byte("state")))
	_, err = p.Write(within(t), "a", []byte("go\n"))
	must(t, err)
	a := bufio.NewReader(p.Stdout())
	if part, err := a.Peek(4); err != nil || string(part) != "part" {
		t.Fatalf("%q, %v; want err == nil and string(part) == \"part\"", part, err)
	}
	must(t, syscall.Kill(l.Host().PID, syscall.SIGKILL))
	if _, err := p.Wait(); !errors.Is(err, ErrLinkLost) {
		t.Errorf("Wait returned %v", err)
	}
	await(t, "the end of the agent", func() bool { return !alive(p.PID()) && !alive(child) })
	if _, err := Dial(within(t), dir, 0); !errors.Is(err, ErrNotRunning) {
		t.Errorf("a host that is gone: %v", err)
	}
	wantDead(t, dir)
	startHost(t, dir) // a new host with other agents
	wantDead(t, dir)
	next := spawnAgent(t, connect(t, dir), shell("exit 0"), AgentOptions{})
	if next.Agent().Number <= p.Agent().Number {
		t.Errorf("agent %d comes after %d", next.Agent().Number, p.Agent().Number)
	}
	dead := wantDead(t, dir)
	must(t, dead.Remove())
	if left, err := ReadSpool(dir); err != nil || len(left) > 0 {
		t.Errorf("after it was removed: %+v, %v", left, err)
	}
}

// wantDead reads and checks the agent of TestKilledHost.
func wantDead(t *testing.T, dir string) *DeadAgent {
	t.Helper()
	dead, err := ReadSpool(dir)
	if err != nil || len(dead) != 1 {
		t.Fatalf("%+v, %v; want err == nil and len(dead) == 1", dead, err)
	}
	d := dead[0]
	if d.Key != "k" || string(d.State) != "state" || d.Checkpoint != 1 || d.Exit != nil || d.Last != 4 {
		t.Errorf("the agent is %+v", d)
	}
	var got []string
	for r, err := range d.Records() {
		must(t, err)
		got = append(got, fmt.Sprint(r.Number, " ", r.Kind, " ", strings.Fields(string(r.Data))[0]))
	}
	if want := "2 output one, 3 output child, 4 input go"; strings.Join(got, ", ") != want {
		t.Errorf("the records are %q", got)
	}
	return d
}

// A truncated frame ends the spool, and other damage is an error.
func TestReadSpool_cut(t *testing.T) {
	h := newFakeHost(t, Options{}, talker)
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
	for i := range 5 {
		_, err := p.Write(within(t), fmt.Sprint(i), []byte("x\n"))
		must(t, err)
	}
	must(t, p.CloseInput())
	_, err := p.Exit(within(t))
	must(t, err)
	a, err := h.agent(p.Agent().Number)
	must(t, err)
	<-a.done
	file, err := segmentFiles(a.dir)
	must(t, err)
	text, err := os.ReadFile(file[0])
	must(t, err)
	last := uint64(0)
	for n := range len(text) + 1 {
		must(t, os.WriteFile(file[0], text[:n], 0o600))
		d, err := readAgent(a.dir)
		must(t, err)
		if d.Last < last || d.Last > last+1 {
			t.Fatalf("%d bytes have %d records, one less had %d", n, d.Last, last)
		}
		last = d.Last
	}
	if last != a.info.Last || last < 12 {
		t.Errorf("the file has %d records, want %d", last, a.info.Last)
	}
}

// The records of a spool of several files are all there.
func TestReadSpool_files(t *testing.T) {
	h := newFakeHost(t, Options{Spool: 8 << 10}, talker)
	p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
	for i := range 5 {
		_, err := p.Write(within(t), fmt.Sprint(i), append(bytes.Repeat([]byte("x"), 500), '\n'))
		must(t, err)
	}
	must(t, p.CloseInput())
	_, err := p.Exit(within(t))
	must(t, err)
	a, err := h.agent(p.Agent().Number)
	must(t, err)
	<-a.done
	files, err := segmentFiles(a.dir)
	must(t, err)
	d, err := readAgent(a.dir)
	must(t, err)
	next := uint64(1)
	for r, err := range d.Records() {
		must(t, err)
		if r.Number != next {
			t.Errorf("record %d follows %d", r.Number, next-1)
		}
		next = r.Number + 1
	}
	if len(files) < 2 || next-1 != a.info.Last || d.Last != a.info.Last || d.Exit == nil {
		t.Errorf("%d files have %d records and the exit %v, want at least 2 with %d and one", len(files), next-1, d.Exit, a.info.Last)
	}
}

// Files of the host have the mode 0600 and folders 0700. No file contains an argument or a variable
// of an agent.
func TestStored(t *testing.T) {
	short.Skip(t, "processes")
	dir := t.TempDir()
	startHost(t, dir)
	cmd := shell(": an-argument; echo hello; read line; echo $line; read line")
	cmd.Env = append(cmd.Env, "VARIABLE=of-the-environment")
	p := spawnAgent(t, connect(t, dir), cmd, AgentOptions{})
	wantNext(t, p, "output hello\n")
	_, err := p.Write(within(t), "a", []byte("to the agent\n"))
	must(t, err)
	wantNext(t, p, "input a to the agent\n")
	wantNext(t, p, "output to the agent\n")
	lines := false
	must(t, filepath.WalkDir(filepath.Join(dir, folder), func(path string, e fs.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		must(t, err)
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v, want %v", path, info.Mode(), want)
		}
		if !e.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(path)
		must(t, err)
		lines = lines || bytes.Contains(text, []byte("to the agent"))
		for _, kept := range []string{"an-argument", "of-the-environment"} {
			if bytes.Contains(text, []byte(kept)) {
				t.Errorf("%s has %q of the agent's start", path, kept)
			}
		}
		return nil
	}))
	if !lines {
		t.Error("no file has the lines of the agent")
	}
}

// Files in arguments outlive the owner's copies, and are removed with the agent.
func TestFiles_copied(t *testing.T) {
	short.Skip(t, "processes")
	l := connect(t, runHost(t, Options{}))
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("hidden\n"), 0o600))
	cmd := shell(`echo "$0"; read line; cat "$0"`)
	cmd.Args, cmd.Files = append(cmd.Args, secret), []string{secret}
	p := spawnAgent(t, l, cmd, AgentOptions{})
	r, err := p.Next(within(t))
	must(t, err)
	own := strings.TrimSpace(string(r.Data))
	info, err := os.Stat(own)
	if err != nil || own == secret || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %s: %v, %v", own, info, err)
	}
	must(t, os.Remove(secret))
	_, err = io.WriteString(p.Stdin(), "go\n")
	must(t, err)
	wantNextOf(t, p, "hidden\n")
	_, err = p.Exit(within(t))
	must(t, err)
	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}

// wantNextOf skips lines to the agent.
func wantNextOf(t *testing.T, p *Process, output string) {
	t.Helper()
	for {
		r, err := p.Next(within(t))
		must(t, err)
		if r.Kind == Output {
			if string(r.Data) != output {
				t.Fatalf("the agent wrote %q, want %q", r.Data, output)
			}
			return
		}
	}
}

// A program that cannot be started gives the same error as without a host.
func TestSpawn_fails(t *testing.T) {
	short.Skip(t, "processes")
	l := connect(t, runHost(t, Options{}))
	_, err := l.Spawn(within(t), spawn.Command{Path: "/does/not/exist"})
	_, direct := proc.Local.Spawn(within(t), spawn.Command{Path: "/does/not/exist", Dir: "."})
	start, ok := errors.AsType[*proc.StartError](err)
	if !ok || start.Reason == "" || !errors.Is(err, fs.ErrNotExist) || err.Error() != direct.Error() {
		t.Errorf("the error is %v, want %v", err, direct)
	}
}

// Epochs only grow, also with concurrent processes.
func TestNextEpoch(t *testing.T) {
	dir := t.TempDir()
	seen := make(chan uint64, 40)
	for range 4 {
		go func() {
			for range 10 {
				n, err := NextEpoch(dir)
				if err != nil {
					t.Error(err)
				}
				seen <- n
			}
		}()
	}
	got := map[uint64]bool{}
	for range 40 {
		got[<-seen] = true
	}
	if n, err := NextEpoch(dir); err != nil || n != 41 || len(got) != 40 {
		t.Errorf("%d epochs, then %d, %v", len(got), n, err)
	}
	must(t, os.WriteFile(filepath.Join(dir, folder, epochName), []byte("damaged"), 0o600))
	if n, err := NextEpoch(dir); err == nil {
		t.Errorf("of a damaged file: %d", n)
	}
}
