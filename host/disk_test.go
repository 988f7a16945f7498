//go:build unix

package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// fullDisk is a disk on which a range of calls fails, counted from the first one.
type fullDisk struct {
	systemDisk

	mu           sync.Mutex
	calls        int
	after, count int
	failed       []string
}

func (d *fullDisk) try(what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	if d.calls <= d.after || d.calls > d.after+d.count {
		return nil
	}
	d.failed = append(d.failed, what)
	return &os.PathError{Op: what, Path: "x", Err: syscall.ENOSPC}
}

// fill makes the next calls fail.
func (d *fullDisk) fill(count int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.after, d.count = d.calls, count
}

func (d *fullDisk) create(path string) (diskFile, error) {
	if err := d.try("create"); err != nil {
		return nil, err
	}
	f, err := d.systemDisk.create(path)
	return fullFile{f, d}, err
}

func (d *fullDisk) replace(path string, text []byte) error {
	if err := d.try("replace " + filepath.Base(path)); err != nil {
		return err
	}
	return d.systemDisk.replace(path, text)
}

func (d *fullDisk) write(path string, text []byte) error {
	if err := d.try("write"); err != nil {
		return errors.Join(err, d.systemDisk.write(path, text[:len(text)/2]))
	}
	return d.systemDisk.write(path, text)
}

func (d *fullDisk) mkdir(path string) error {
	if err := d.try("mkdir"); err != nil {
		return err
	}
	return d.systemDisk.mkdir(path)
}

func (d *fullDisk) increase(c counter) (uint64, error) {
	n, err := d.systemDisk.increase(c)
	return n, errors.Join(err, d.try("increase"))
}

// fullFile is a file that stores only the first half of a failing write.
type fullFile struct {
	diskFile
	d *fullDisk
}

func (f fullFile) WriteAt(b []byte, at int64) (int, error) {
	if err := f.d.try("append"); err != nil {
		n, writeErr := f.diskFile.WriteAt(b[:len(b)/2], at)
		return n, errors.Join(err, writeErr)
	}
	return f.diskFile.WriteAt(b, at)
}

func (f fullFile) Truncate(size int64) error {
	if err := f.d.try("truncate"); err != nil {
		return err
	}
	return f.diskFile.Truncate(size)
}

// echo repeats lines, and reports when each begins and ends.
func echo(stdin *bufio.Reader, stdout, _ io.Writer) int {
	fmt.Fprintln(stdout, "hello")
	for {
		line, err := stdin.ReadString('\n')
		if err != nil {
			fmt.Fprintln(stdout, "bye")
			return 0
		}
		fmt.Fprint(stdout, "got ", line)
	}
}

// pad makes lines long enough to fill several files.
var pad = strings.Repeat("x", 600)

// runOn runs an agent on a disk from its start to its end. It returns the records that the owner
// got and those in the files.
func runOn(t *testing.T, d *fullDisk) (records, files []string) {
	h := newFakeHost(t, Options{Spool: 8000}, echo)
	h.disk = d
	l := h.connect()
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("s3cret"), 0o600))
	var p *Process
	again(t, "the start", func() (err error) {
		p, err = l.SpawnAgent(within(t), spawn.Command{Path: "x", Args: []string{secret}, Files: []string{secret}}, AgentOptions{})
		return err
	})
	add := func(r Record) {
		if r.Kind == Exited {
			r.Data = nil // it contains a time
		}
		records = append(records, strings.ReplaceAll(fmt.Sprintf("%d %s %s %s", r.Number, r.Kind, r.ID, r.Data), pad, ""))
	}
	next := func() Record {
		r, err := p.Next(within(t))
		must(t, err)
		add(r)
		return r
	}
	next()
	for _, id := range []string{"a", "b", "c"} {
		if _, err := p.Write(within(t), id, []byte(id+pad+"\n")); err != nil {
			t.Errorf("line %s: %v, failing calls %q", id, err, d.failed)
		}
		next()
		r := next()
		if id == "b" {
			again(t, "the checkpoint", func() error { return p.Checkpoint(within(t), r.Number, []byte("state")) })
		}
	}
	must(t, p.CloseInput())
	for next().Kind != Exited {
	}
	dir := filepath.Join(h.dir, agentsName, fmt.Sprint(p.Agent().Number))
	dead, err := readAgent(dir)
	must(t, err)
	if string(dead.State) != "state" {
		t.Errorf("the state is %q", dead.State)
	}
	owner := records
	records = nil
	for r, err := range dead.Records() {
		must(t, err)
		add(r)
	}
	files, records = records, owner
	must(t, p.Forget(within(t)))
	if left, err := os.ReadDir(h.temp); err != nil || len(left) > 0 {
		t.Errorf("the files of the agent are left: %v, %v", left, err)
	}
	return records, files
}

// again retries f until it succeeds. Each error must name the disk.
func again(t *testing.T, what string, f func() error) {
	t.Helper()
	for range 10 {
		err := f()
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "no space left") {
			t.Errorf("the error of %s is %v, want that of the disk", what, err)
		}
	}
	t.Fatalf("%s fails although the disk has room", what)
}

// If the disk is full for one or several calls, the records and the files keep all records in
// order, and each line reaches the agent once.
func TestDisk_full(t *testing.T) {
	short.SkipQuick(t, "fills a disk")
	var records, files []string
	calls := 0
	synctest.Test(t, func(t *testing.T) {
		d := &fullDisk{}
		records, files = runOn(t, d)
		calls = d.calls
	})
	if len(records) != 11 || len(files) != len(records)-5 || calls < 16 {
		t.Fatalf("after %d calls the records are %q, in files %q", calls, records, files)
	}
	failed := map[string]bool{}
	for after := range calls {
		for _, count := range []int{1, 2, 5} {
			synctest.Test(t, func(t *testing.T) {
				d := &fullDisk{after: after, count: count}
				gotRecords, gotFiles := runOn(t, d)
				if !slices.Equal(gotRecords, records) || !slices.Equal(gotFiles, files) {
					t.Errorf("after %d calls %q fail, and the records are %q, in files %q; want %q, %q", after, d.failed, gotRecords, gotFiles, records, files)
				}
				for _, what := range d.failed {
					failed[what] = true
				}
			})
		}
	}
	for _, what := range []string{"increase", "mkdir", "write", "replace " + agentFile, "create", "append", "truncate", "replace " + stateFile} {
		if !failed[what] {
			t.Errorf("%s has not failed", what)
		}
	}
}

// While the disk is full, Write fails with ErrNotKept when its context ends, and the agent does not
// get the line. The same line can be written later.
func TestDisk_waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost(t, Options{}, echo)
		d := &fullDisk{}
		h.disk = d
		p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
		wantNext(t, p, "output hello\n")
		d.fill(1 << 30)
		ctx, cancel := context.WithTimeout(t.Context(), 5*retryTime+retryTime/2) // between two attempts
		defer cancel()
		_, err := p.Write(ctx, "a", []byte("a\n"))
		if !errors.Is(err, ErrNotKept) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrInputClosed) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("the error is %v, want ErrNotKept with its reason", err)
		}
		if info, err := p.Input(within(t), "a"); err != nil || info.State != InputUnknown {
			t.Errorf("the line is %+v, %v; want an unknown one", info, err)
		}
		written := make(chan error, 1)
		go func() {
			_, err := p.Stdin().Write([]byte("b\n"))
			written <- err
		}()
		synctest.Wait()
		d.fill(0)
		must(t, <-written)
		wantNextOf(t, p, "got b\n")
		_, err = p.Write(within(t), "a", []byte("a\n"))
		must(t, err)
		wantNextOf(t, p, "got a\n")

		d.fill(1 << 30)
		go func() {
			_, err := p.Stdin().Write([]byte("c\n"))
			written <- err
		}()
		synctest.Wait()
		must(t, p.CloseInput())
		if err := <-written; !errors.Is(err, os.ErrClosed) {
			t.Errorf("a line that waits for room when the input is closed: %v", err)
		}
		synctest.Wait()
		d.fill(0)
		for _, want := range []string{"input closed", "output bye\n", "output end", "exited"} {
			wantNext(t, p, want)
		}
	})
}

// An agent that has ended can be forgotten although the disk is full.
func TestDisk_forget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFakeHost(t, Options{}, echo)
		d := &fullDisk{}
		h.disk = d
		p := spawnAgent(t, h.connect(), spawn.Command{Path: "x"}, AgentOptions{})
		wantNext(t, p, "output hello\n")
		d.fill(1 << 30)
		must(t, p.Kill())
		if _, err := p.Exit(within(t)); err != nil {
			t.Fatal(err)
		}
		must(t, p.Forget(within(t)))
	})
}
