package proc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/internal/supervise"
)

func openRegistry(t *testing.T, dir string) (*Registry, []Child) {
	t.Helper()
	r, swept, err := OpenRegistry(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, swept
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestRegistrySweeps: opening the registry ends the two descendants in other sessions that a killed program has
// left, and removes its temporary file.
func TestRegistrySweeps(t *testing.T) {
	census(t)
	dir, line := t.TempDir(), newLifeline(t)
	s := start(t, behaviour("registrar", line.env(), registryVar+"="+dir), Options{Spawner: local{}})
	readLine(t, bufio.NewReader(s.Stdout()))
	line.holder(t)
	if other, swept := openRegistry(t, filepath.Join(dir, "other")); len(swept) > 0 || other.Close() != nil {
		t.Fatalf("another registry: %v", swept)
	}
	if r, swept := openRegistry(t, dir); len(swept) > 0 || !line.alive() || r.Close() != nil {
		t.Fatalf("the owner lives, and yet: %v", swept)
	}
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if !line.alive() {
		t.Fatal("nothing is left to sweep")
	}
	r, swept := openRegistry(t, dir)
	line.awaitDeath(t)
	if len(swept) < 2 {
		t.Errorf("swept %v", swept)
	}
	for _, name := range entries(t, dir) {
		if name != r.dir && filepath.Base(name) != "other" {
			t.Errorf("%s is left", name)
		}
	}
}

// TestRegistrySweepsUnfinished: a part that was never locked is removed when it is too old for a program to be
// about to lock it.
func TestRegistrySweepsUnfinished(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": staleTime + time.Minute, "young": staleTime - time.Minute} {
		part := filepath.Join(dir, newPrefix+name)
		if err := errors.Join(os.MkdirAll(filepath.Join(part, tempName), 0o700), os.Chtimes(part, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	r, swept := openRegistry(t, dir)
	left := entries(t, dir)
	if want := []string{filepath.Join(dir, newPrefix+"young"), r.dir}; len(swept) > 0 || !slices.Equal(left, want) {
		t.Errorf("swept %v, left %v", swept, left)
	}
}

// TestRegistrySparesStrangers: a record with an id that now belongs to another process kills no process.
func TestRegistrySparesStrangers(t *testing.T) {
	census(t)
	dir := t.TempDir()
	s := start(t, behaviour("echo"), Options{})
	real := describe(s.PID(), "echo")
	for i, c := range []Child{
		{PID: real.PID, Started: real.Started + "1", Boot: real.Boot},
		{PID: real.PID, Started: real.Started, Boot: "another"},
		{PID: real.PID},
	} {
		part := filepath.Join(dir, ownerPrefix+string(rune('a'+i)))
		if err := os.MkdirAll(part, 0o700); err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(part, childPrefix+"1.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, swept := openRegistry(t, dir); len(swept) > 0 {
		t.Errorf("swept %v", swept)
	}
	roundTrip(t, s, bufio.NewReader(s.Stdout()))
	if left := entries(t, dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestRegistryByRecord: a process without the mark is found by its record.
func TestRegistryByRecord(t *testing.T) {
	census(t)
	dir := t.TempDir()
	s := start(t, behaviour("deaf"), Options{})
	part := filepath.Join(dir, ownerPrefix+"gone")
	if err := os.MkdirAll(part, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(describe(s.PID(), "deaf"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(part, childPrefix+"1.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, swept := openRegistry(t, dir); len(swept) != 1 || swept[0].PID != s.PID() {
		t.Errorf("swept %v", swept)
	}
	<-s.Done()
	if exit := s.Exit(); exit.Signal != "SIGKILL" || !exit.Foreign {
		t.Errorf("%+v; want exit.Signal == \"SIGKILL\" and exit.Foreign", exit)
	}
}

func TestRegistryChildren(t *testing.T) {
	census(t)
	dir := t.TempDir()
	r, _ := openRegistry(t, dir)
	s := start(t, behaviour("echo"), Options{Spawner: r.Spawner(Local)})
	if c := r.Children(); len(c) != 1 || c[0].PID != s.PID() || c[0].Started == "" {
		t.Errorf("children %+v", c)
	}
	if err := r.Close(); !errors.Is(err, ErrChildren) {
		t.Errorf("closed under a child: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if c := r.Children(); len(c) != 0 {
		t.Errorf("children %+v", c)
	}
	if err := r.Close(); err != nil || len(entries(t, dir)) != 0 {
		t.Errorf("%v, left %v", err, entries(t, dir))
	}
}

func TestTreeMemory(t *testing.T) {
	s := start(t, behaviour("echo"), Options{})
	roundTrip(t, s, bufio.NewReader(s.Stdout()))
	if n, err := TreeMemory(s.PID()); err != nil || n < 1<<20 {
		t.Errorf("%d, %v; want err == nil and n >= 1<<20", n, err)
	}
	line := newLifeline(t)
	family := start(t, behaviour("leave-member", line.env()), Options{})
	readLine(t, bufio.NewReader(family.Stdout()))
	line.holder(t)
	one := residentMemory(family.PID())
	if n, err := TreeMemory(family.PID()); err != nil || n < one+1<<20 {
		t.Errorf("the tree has %d, its root %d, %v", n, one, err)
	}
	for _, pid := range []int{0, -1, 1 << 30} {
		if _, err := TreeMemory(pid); !errors.Is(err, ErrNoMemory) {
			t.Errorf("process %d: %v", pid, err)
		}
	}
}

func TestOutOfMemory(t *testing.T) {
	var kills atomic.Int64
	countOOM = func() (int64, bool) { return kills.Load(), true }
	t.Cleanup(func() { countOOM = oomCount })
	for _, tt := range []struct {
		what         string
		end          func(s *Supervisor)
		foreign, oom bool
	}{
		{"by us", func(s *Supervisor) { kills.Add(1); _ = s.Kill() }, false, false},
		{"by somebody", func(s *Supervisor) { _ = syscall.Kill(s.PID(), syscall.SIGKILL) }, true, false},
		{"by the system", func(s *Supervisor) { kills.Add(1); _ = syscall.Kill(s.PID(), syscall.SIGKILL) }, true, true},
		{"by itself", func(s *Supervisor) { kills.Add(1); _ = s.Stop() }, false, false},
	} {
		s := start(t, behaviour("echo"), Options{})
		out := bufio.NewReader(s.Stdout())
		roundTrip(t, s, out)
		tt.end(s)
		<-s.Done()
		if e := s.Exit(); e.Foreign != tt.foreign || e.OutOfMemory != tt.oom {
			t.Errorf("killed %s: %+v", tt.what, e)
		}
	}
}

func TestFindOOMFile(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	v1 := write("memory/box/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n")
	v2 := write("a/b/memory.events", "low 0\noom 9\noom_kill 3\n")
	inside := write("memory.events", "oom_kill 0\n")
	for _, tt := range []struct {
		groups, want string
		count        int64
	}{
		{"5:devices:/\n4:memory:/box\n0::/\n", v1, 4},
		{"0::/a/b\n", v2, 3},
		{"0::/elsewhere\n", inside, 0},
	} {
		got := findOOMFile(root, tt.groups, "/proc/vmstat")
		if n, ok := readOOMCount(got); got != tt.want || n != tt.count || !ok {
			t.Errorf("%q: %s counts %d", tt.groups, got, n)
		}
	}
	if got := findOOMFile(t.TempDir(), "0::/a\n", "/proc/vmstat"); got != "/proc/vmstat" {
		t.Errorf("without control groups %s", got)
	}
}

// TestSweepWaitsForAFork: a child that a killed owner was starting still holds the lock. The sweep waits for it,
// at most forkTime.
func TestSweepWaitsForAFork(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for name, releases := range map[string]bool{"released": true, "held": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			part := filepath.Join(dir, fmt.Sprint(ownerPrefix, gone.Process.Pid, "-0"))
			if err := os.Mkdir(part, 0o700); err != nil {
				t.Fatal(err)
			}
			lock, err := lockOwner(filepath.Join(part, lockName))
			if err != nil {
				t.Fatal(err)
			}
			defer lock.Close()
			synctest.Test(t, func(t *testing.T) {
				swept := make(chan error)
				go func() {
					_, err := sweep(dir)
					swept <- err
				}()
				synctest.Wait()
				if releases {
					lock.Close()
				}
				if err := <-swept; err != nil {
					t.Error(err)
				}
			})
			if left := len(entries(t, dir)); (left == 0) != releases {
				t.Errorf("%d parts are left", left)
			}
		})
	}
}

// TestRegistrySweepsGroups: the processes in the control group of a child are ended, though they have neither the mark nor a
// parent among the children. A group of another owner is left alone. The groups are folders with the files of one.
func TestRegistrySweepsGroups(t *testing.T) {
	census(t)
	dir, groups := t.TempDir(), t.TempDir()
	child := func(base string) (*exec.Cmd, Child) {
		cmd := exec.Command("sleep", "1000")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		g := filepath.Join(groups, base)
		nested := filepath.Join(g, "nested")
		if err := os.MkdirAll(nested, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{filepath.Join(g, "cgroup.kill"): "", filepath.Join(nested, "cgroup.procs"): fmt.Sprintln(cmd.Process.Pid)} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return cmd, Child{PID: 1 << 30, Started: "1", Boot: bootID(), Path: "/agent", Group: g}
	}
	ours, record := child(cgroupPrefix + "1073741824-0123456789abcdef")
	others, foreign := child(cgroupPrefix + "1-0123456789abcdef")
	part := filepath.Join(dir, ownerPrefix+"1073741824-00")
	if err := os.Mkdir(part, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, c := range []Child{record, foreign} {
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(part, fmt.Sprint(childPrefix, i, ".json")), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, swept := openRegistry(t, dir)
	if len(swept) != 1 || swept[0].PID != ours.Process.Pid {
		t.Errorf("swept %v, want process %d", swept, ours.Process.Pid)
	}
	if p, ok := supervise.Read(others.Process.Pid); !ok || p.State == 'Z' {
		t.Error("the process of another owner's group was ended")
	}
}
