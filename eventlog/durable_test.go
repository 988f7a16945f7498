package eventlog_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestKill kills a process that appends, at random points, and checks that all acknowledged events are stored. The
// store is never closed cleanly and continues from kill to kill. PARLEY_SOAK=1 makes it 200 points.
func TestKill(t *testing.T) {
	short.SkipQuick(t, "kills many writers")
	points := short.Count(3, 10, 200)
	dir := filepath.Join(t.TempDir(), "data")
	random := rand.New(rand.NewPCG(3, uint64(points)))
	var acked, checked [childSessions]uint64
	for point := range points {
		killAfter(t, dir, 1+random.IntN(60), &acked)
		s, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir})
		if err != nil {
			t.Fatalf("point %d: %v", point, err)
		}
		if damage := s.Damage(); len(damage) > 0 {
			t.Errorf("point %d: damage %v", point, damage)
		}
		for i := range acked {
			from := checked[i]
			if point == points-1 {
				from = 0 // all events once more
			}
			checked[i] = checkChildLog(t, s.Log(fmt.Sprint("s", i)), i, from, acked[i])
		}
		// The child opens a store that was not closed cleanly as well.
		if point%2 == 0 {
			crash(t, dir, s)
		} else if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("at point %d, with acknowledged %v", point, acked)
		}
	}
	t.Logf("%d points, acknowledged %v", points, acked)
}

// crash closes a store and removes the files that distinguish a clean shutdown from a crash.
func crash(t *testing.T, dir string, s *eventlog.Store) {
	t.Helper()
	if err := errors.Join(s.Close(t.Context()), os.Remove(filepath.Join(dir, "checkpoint.json"))); err != nil {
		t.Fatal(err)
	}
}

// killAfter starts a child and kills it after it has printed some lines, all of which count.
func killAfter(t *testing.T, dir string, lines int, acked *[childSessions]uint64) {
	t.Helper()
	cmd := childCommand(t, "append", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for n := 0; scanner.Scan(); n++ {
		var i int
		var seq uint64
		if _, err := fmt.Sscan(scanner.Text(), &i, &seq); err == nil {
			acked[i] = max(acked[i], seq)
		}
		if n == lines {
			cmd.Process.Kill()
		}
	}
	if err := scanner.Err(); err != nil {
		t.Errorf("reading what the child acknowledged: %v", err)
	}
	cmd.Wait()
}

// checkChildLog checks the events of a log after the number from, and returns the last one.
func checkChildLog(t *testing.T, l *eventlog.Log, i int, from, acked uint64) uint64 {
	t.Helper()
	seq := from
	for e, err := range l.Read(t.Context(), eventlog.Cursor{Seq: from}) {
		if err != nil {
			t.Fatal(err)
		}
		if seq++; e.Seq != seq || string(e.Data) != string(childEvent(i, seq)) {
			t.Fatalf("%s: event %d has number %d and %d bytes", l.Session(), seq, e.Seq, len(e.Data))
		}
	}
	if seq < acked {
		t.Errorf("%s: event %d was acknowledged, the log ends at %d", l.Session(), acked, seq)
	}
	return seq
}

// TestSynced puts the store on a file system in a file, and copies that file while the store is open, as after a power failure.
// The copy has everything acknowledged; without syncing it does not, which proves that the test can detect it. Where file
// systems cannot be mounted, the test checks the system calls of a process instead.
func TestSynced(t *testing.T) {
	short.SkipQuick(t, "traces system calls")
	if why := cannotMount(t); why != "" {
		t.Logf("no loop mount: %s", why)
		testSyncCalls(t)
		return
	}
	for _, sync := range []bool{true, false} {
		t.Run(fmt.Sprintf("sync=%v", sync), func(t *testing.T) {
			image := filepath.Join(t.TempDir(), "disk")
			run(t, "truncate", "-s", "64M", image)
			run(t, "mkfs.ext4", "-q", "-F", image)
			s := open(t, &eventlog.Options{Dir: filepath.Join(mount(t, image), "data"), UnsafeNoSync: !sync, Reserve: -1})
			// Several blocks of the server's files, small and large records.
			const events = 60
			for n := uint64(0); n < events; n++ {
				if _, err := s.Log("a").Append(t.Context(), n, childEvent(0, n+1)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Log("a").PutSnapshot(t.Context(), events, 0, []byte("state")); err != nil {
				t.Fatal(err)
			}
			run(t, "cp", image, image+".copy")
			got, err := readCopy(t, mount(t, image+".copy"))
			if sync && (err != nil || got != events+1) {
				t.Errorf("after the failure there are %d of %d events and snapshots; %v", got, events+1, err)
			}
			if !sync && got == events+1 {
				t.Error("without syncing everything is there after the failure as well: this test proves nothing")
			}
		})
	}
}

// readCopy returns the number of events and snapshots in a store that was not closed.
func readCopy(t *testing.T, dir string) (uint64, error) {
	t.Helper()
	var logged bytes.Buffer
	s, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: filepath.Join(dir, "data"), Reserve: -1, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	if err != nil {
		return 0, err
	}
	defer s.Close(t.Context())
	if strings.Contains(logged.String(), "cannot open") {
		return 0, errors.New(logged.String())
	}
	n := uint64(0)
	for e, err := range s.Log("a").Read(t.Context(), eventlog.Cursor{}) {
		if err != nil {
			return n, err
		}
		if n++; string(e.Data) != string(childEvent(0, n)) {
			t.Errorf("event %d is another one", n)
		}
	}
	if snapshot, err := s.Log("a").Snapshot(t.Context()); err == nil && string(snapshot.Data) == "state" {
		n++
	}
	return n, nil
}

// cannotMount returns the reason why file systems in files cannot be mounted here.
func cannotMount(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		return "the system is " + runtime.GOOS
	}
	if os.Geteuid() != 0 {
		return "it takes root"
	}
	image := filepath.Join(t.TempDir(), "try")
	dir := t.TempDir()
	for _, args := range [][]string{{"truncate", "-s", "8M", image}, {"mkfs.ext4", "-q", "-F", image}, {"mount", "-o", "loop", image, dir}, {"umount", dir}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Sprintf("%s: %v: %s", args[0], err, out)
		}
	}
	return ""
}

// mount mounts an image until the end of the test.
func mount(t *testing.T, image string) string {
	t.Helper()
	dir := t.TempDir()
	run(t, "mount", "-o", "loop", image, dir)
	t.Cleanup(func() { run(t, "umount", dir) })
	return dir
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// testSyncCalls runs a child under strace: between the write of an event and its acknowledgement,
// the file of the event is synced.
func testSyncCalls(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		cannotTest(t, "neither loop mounts nor strace are to be had")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := childCommand(t, "once", filepath.Join(t.TempDir(), "data"))
	cmd.Args = append([]string{strace, "-f", "-s", "400", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", trace}, cmd.Args...)
	cmd.Path = strace
	if err := cmd.Run(); err != nil {
		cannotTest(t, fmt.Sprintf("strace cannot run here (%v)", err))
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	checkSyncCalls(t, string(text))
}

// cannotTest skips a test that cannot run here. In CI on Linux it fails.
func cannotTest(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" && runtime.GOOS == "linux" {
		t.Fatalf("%s; in CI one of them has to work", why)
	}
	t.Skipf("%s; durability is not tested", why)
}

var (
	syncCall  = regexp.MustCompile(`\bf(?:data)?sync\((\d+)`)
	writeCall = regexp.MustCompile(`\bp?write(?:64)?\((\d+), "(.*)`)
)

// checkSyncCalls fails for an acknowledgement without a preceding sync of the event's file.
func checkSyncCalls(t *testing.T, trace string) {
	t.Helper()
	acks, events := 0, 0
	dirty := "" // the file with an unsynced event
	for line := range strings.Lines(trace) {
		if m := syncCall.FindStringSubmatch(line); m != nil && m[1] == dirty {
			dirty = ""
		}
		m := writeCall.FindStringSubmatch(line)
		switch {
		case m == nil:
		case strings.Contains(m[2], "MARKED-EVENT"):
			dirty = m[1]
			events++
		case m[1] == "1" && strings.Contains(m[2], "ACKNOWLEDGED"):
			if acks++; dirty != "" {
				t.Errorf("acknowledgement %d comes before the sync", acks)
			}
		}
	}
	if acks != 5 || events < 5 {
		t.Errorf("%d acknowledgements and %d writes of events in the trace, want 5", acks, events)
	}
}

// TestSyncCalls runs the alternative check of syncing, so that it works where it is needed.
func TestSyncCalls(t *testing.T) {
	testSyncCalls(t)
}

// TestLock opens one directory twice, in this process and in another one.
func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	locked := func(pid int) {
		t.Helper()
		_, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir, UnsafeNoSync: true})
		var e *eventlog.LockedError
		if !errors.Is(err, eventlog.ErrLocked) || !errors.As(err, &e) || e.PID != pid || !strings.Contains(err.Error(), fmt.Sprint(pid)) {
			t.Errorf("Open of a directory in use by %d: %v", pid, err)
		}
	}
	s := open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	locked(os.Getpid())
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	cmd := childCommand(t, "hold", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("holding\n"))); err != nil {
		t.Fatal(err)
	}
	locked(cmd.Process.Pid)
	cmd.Process.Kill()
	cmd.Wait()
	open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
}

// TestOpen_noSockets checks that an embedded store neither listens nor connects.
func TestOpen_noSockets(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it takes /proc")
	}
	sockets := func() (names []string) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if to, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name())); err == nil && strings.HasPrefix(to, "socket:") {
				names = append(names, to)
			}
		}
		return names
	}
	before := sockets()
	s := open(t, nil)
	appendTexts(t, s.Log("a"), 0, "one")
	wantRead(t, s.Log("a"), eventlog.Cursor{}, "1=one")
	if after := sockets(); len(after) != len(before) {
		t.Errorf("sockets %v, before the store %v", after, before)
	}
}
