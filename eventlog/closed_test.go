package eventlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// closedStore returns the directory of a closed store with many blocks, and its content. Its blocks are too old for
// the server to read them at its start. The background check starts after a delay.
func closedStore(t *testing.T, background time.Duration) (dir string, all written) {
	t.Helper()
	t.Cleanup(eventlog.CheckAfter(background))
	dir = filepath.Join(t.TempDir(), "closed")
	s := openSmall(t, dir)
	all = fillStore(t, s, false)
	closeStore(t, s)
	<-time.After(eventlog.DedupeTime)
	return dir, all
}

func openSmall(t *testing.T, dir string) *eventlog.Store {
	t.Helper()
	s, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: smallBlocks})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *eventlog.Store) {
	t.Helper()
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// copyStore copies a store with the times of its files.
func copyStore(t *testing.T, from string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "case")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		return errors.Join(err, os.Chtimes(filepath.Join(to, rel), info.ModTime(), info.ModTime()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// rot changes bytes of a block like a failing disk: its size and its time stay.
func rot(t *testing.T, r *rand.Rand, name string) {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(data)
	from := r.IntN(len(data))
	data[from] ^= 1 << r.IntN(8)
	if r.IntN(2) == 0 {
		clear(data[from:min(len(data), from+1+r.IntN(1<<r.IntN(12)))])
	}
	if bytes.Equal(before, data) {
		data[from] ^= 1
	}
	writeFile(t, name, data)
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 10 s", what)
		}
	}
}

// salvaged reports whether a damaged block was copied to the directory for damaged blocks.
func salvaged(dir string) bool {
	copies, _ := filepath.Glob(filepath.Join(dir, "damaged", "*"))
	return len(copies) > 0
}

// TestClosed damages files of a closed store without changing sizes and times, so that Open does not notice. The background check finds
// it, or the check before a session is read; the file is salvaged while the store is open, before the server reads it: no event with an
// intact record is lost, and lost events are listed at once.
func TestClosed(t *testing.T) {
	short.SkipQuick(t, "opens a store many times")
	whole, all := closedStore(t, 0)
	for seed := range uint64(short.Count(2, 4, 500)) {
		r := rand.New(rand.NewPCG(seed, 5))
		background := time.Duration(0)
		if seed%2 == 0 {
			background = time.Hour
		}
		t.Cleanup(eventlog.CheckAfter(background))
		dir := copyStore(t, whole)
		files := blocks(t, dir)
		name := files[r.IntN(len(files))]
		rot(t, r, name)
		kept := intact(t, whole, dir)
		s := openSmall(t, dir)
		if background > 0 {
			for session := range all {
				if _, err := readAround(t, s.Log(session)); err != nil {
					t.Errorf("seed %d: %s: %v", seed, session, err)
				}
			}
		}
		eventually(t, fmt.Sprintf("seed %d: %s is salvaged", seed, name), func() bool { return salvaged(dir) && eventlog.Unchecked(s) == 0 })
		for range 2 {
			checkSalvaged(t, s, all, kept)
			closeStore(t, s)
			if t.Failed() {
				t.Fatalf("seed %d: %s: %v", seed, name, s.Damage())
			}
			s = openSmall(t, dir)
		}
		closeStore(t, s)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClosed_again damages files of an open store that were checked before, without changing their sizes and times, so that no call
// notices. The daily check finds it before the server reads the file: no event with an intact record is lost. A check of an undamaged
// store has no effect.
func TestClosed_again(t *testing.T) {
	short.SkipQuick(t, "opens a store many times")
	whole, all := closedStore(t, 0)
	ticks := make(chan time.Time)
	t.Cleanup(eventlog.CheckAgain(ticks))
	for seed := range uint64(short.Count(2, 4, 100)) {
		r := rand.New(rand.NewPCG(seed, 6))
		dir := copyStore(t, whole)
		s := openSmall(t, dir)
		eventually(t, "all blocks are checked", func() bool { return eventlog.Unchecked(s) == 0 })
		for range 2 { // the second tick is received after the first check has ended
			ticks <- time.Time{}
		}
		if salvaged(dir) || eventlog.Mended(s) {
			t.Fatalf("seed %d: nothing is damaged, and the store was salvaged", seed)
		}
		files := closedBlocks(t, dir)
		name := files[r.IntN(len(files))]
		kept := rotWhile(t, r, whole, dir, name)
		ticks <- time.Time{}
		ticks <- time.Time{}
		if !salvaged(dir) {
			t.Fatalf("seed %d: %s is damaged, and the check of the next day does not salvage it", seed, name)
		}
		checkSalvaged(t, s, all, kept)
		closeStore(t, s)
		if t.Failed() {
			t.Fatalf("seed %d: %s: %v", seed, name, s.Damage())
		}
	}
}

// rotWhile changes bytes of a block of an open store during a possible check, and returns the intact events.
func rotWhile(t *testing.T, r *rand.Rand, whole, dir, name string) map[string]map[string]bool {
	t.Helper()
	rel, err := filepath.Rel(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	rotten := copyStore(t, whole)
	rot(t, r, filepath.Join(rotten, rel))
	info, err := os.Stat(filepath.Join(rotten, rel))
	if err != nil {
		t.Fatal(err)
	}
	fresh := filepath.Join(t.TempDir(), "block") // so that the file changes atomically
	data, err := os.ReadFile(filepath.Join(rotten, rel))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, fresh, data)
	if err := errors.Join(os.Chtimes(fresh, info.ModTime(), info.ModTime()), os.Rename(fresh, name)); err != nil {
		t.Fatal(err)
	}
	return intact(t, whole, rotten)
}

// closedBlocks returns the files of all blocks but the last of each stream.
func closedBlocks(t *testing.T, dir string) (closed []string) {
	t.Helper()
	files := blocks(t, dir)
	for _, name := range files {
		later := func(other string) bool {
			return filepath.Dir(other) == filepath.Dir(name) && (len(other) > len(name) || len(other) == len(name) && other > name)
		}
		if slices.ContainsFunc(files, later) {
			closed = append(closed, name)
		}
	}
	if len(closed) == 0 {
		t.Fatalf("no closed block among %q", files)
	}
	return closed
}

// TestClosed_list opens a closed store: it reads no block of the list. Deleting logs, after which the server rewrites
// and removes closed blocks, is not damage. Without the list every block is read.
func TestClosed_list(t *testing.T) {
	dir, all := closedStore(t, time.Hour)
	s := openSmall(t, dir)
	if n, left := len(blocks(t, dir)), eventlog.Unchecked(s); left < n/2 {
		t.Errorf("%d blocks of %d are left to the background", left, n)
	}
	if err := s.Log("a").Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	delete(all, "a")
	if n := eventlog.Unchecked(s); n > 0 {
		t.Errorf("the server may rewrite blocks after a deletion, and %d were not checked before", n)
	}
	closeStore(t, s)
	s = openSmall(t, dir)
	checkSalvaged(t, s, all, nil)
	closeStore(t, s)
	if d := s.Damage(); len(d) > 0 || salvaged(dir) {
		t.Errorf("a deletion is reported as damage: %v", d)
	}
	rot(t, rand.New(rand.NewPCG(1, 6)), blocks(t, dir)[0])
	if err := os.Truncate(filepath.Join(dir, "checkpoint.json"), 100); err != nil {
		t.Fatal(err)
	}
	s = openSmall(t, dir)
	if n := eventlog.Unchecked(s); n > 0 || !salvaged(dir) {
		t.Errorf("without a list %d blocks are left to the background; a copy of the damaged one is aside: %v", n, salvaged(dir))
	}
	closeStore(t, s)
}

// TestClosed_elsewhere damages the block before those of a session, and reads, follows and writes the session in every way that does
// not remove events. The block has most of the messages, so that a binary search over all of them would request one in it. The block
// is not read, and the server does not cut it.
func TestClosed_elsewhere(t *testing.T) {
	short.SkipQuick(t, "opens a store many times")
	t.Cleanup(eventlog.CheckAfter(time.Hour))
	dir := filepath.Join(t.TempDir(), "data")
	s := openSmall(t, dir)
	fill := func(session string, after, events uint64, text string) {
		for n := range events {
			appendTexts(t, s.Log(session), after+n, text)
		}
	}
	fill("old", 0, 200, "text")
	fill("old", 200, 4, strings.Repeat("x", 4_000))
	fill("read", 0, 100, "text") // more than a reader requests one by one
	fill("new", 0, 1, strings.Repeat("x", 20_000))
	closeStore(t, s)
	<-time.After(eventlog.DedupeTime)

	name := filepath.Join(filepath.Dir(blocks(t, dir)[0]), "1.blk")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, name, 0, []byte{0xff, 0xff}) // a length: the server cuts the block as soon as it reads it
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	damaged, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s = openSmall(t, dir)
	l := s.Log("read")
	for after := uint64(0); after <= 100; after += 7 {
		found := 0
		for _, err := range l.Read(t.Context(), eventlog.Cursor{Seq: after}) {
			if err != nil {
				t.Fatal(err)
			}
			found++
		}
		if found != int(100-after) {
			t.Errorf("%d events after %d", found, after)
		}
	}
	appendTexts(t, l, 100, "more")
	fill("another", 0, 3, "text")
	for e, err := range l.Follow(t.Context(), eventlog.Cursor{Seq: 20}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq == 101 {
			break
		}
	}
	if _, err := s.Log("absent").First(t.Context()); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("a log that does not exist: %v", err)
	}
	if _, ends, err := s.Ends(t.Context()); err != nil || ends["old"] != 204 || ends["read"] != 101 {
		t.Errorf("ends %v, %v", ends, err)
	}
	if data, err := os.ReadFile(name); err != nil || !bytes.Equal(data, damaged) {
		t.Errorf("the damaged block has %d bytes now, %d before: %v", len(data), len(damaged), err)
	}
	if salvaged(dir) || eventlog.Unchecked(s) == 0 {
		t.Errorf("a block that the session does not need was read: %d are not checked", eventlog.Unchecked(s))
	}
	found, err := readAround(t, s.Log("old"))
	if want := "[session old has lost its events 1 to 1: they are not in the store]"; err != nil || !salvaged(dir) || fmt.Sprint(s.Damage()) != want || len(found) != 203 {
		t.Errorf("the session in the damaged block: %v; %d events; salvaged: %v; damage %v, want %s", err, len(found), salvaged(dir), s.Damage(), want)
	}
	closeStore(t, s)
}

// TestClosed_recent damages a closed block that is recent enough for the server to read at its start and truncate. The
// block must be salvaged first.
func TestClosed_recent(t *testing.T) {
	t.Cleanup(eventlog.CheckAfter(time.Hour))
	t.Cleanup(eventlog.Dedupe(time.Hour))
	dir := filepath.Join(t.TempDir(), "data")
	s := openSmall(t, dir)
	for n := range uint64(90) {
		appendTexts(t, s.Log("old"), n, strings.Repeat("x", 1_000))
	}
	closeStore(t, s)
	files := blocks(t, dir)
	if len(files) < 3 {
		t.Fatalf("%d blocks", len(files))
	}
	name := filepath.Join(filepath.Dir(files[0]), "1.blk")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, name, 0, []byte{0xff, 0xff})
	if err := os.Chtimes(name, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	s = openSmall(t, dir)
	if !salvaged(dir) || eventlog.Unchecked(s) != 0 {
		t.Errorf("salvaged is %v, and %d blocks are not checked", salvaged(dir), eventlog.Unchecked(s))
	}
	closeStore(t, s)
}

// TestClosed_cut removes whole records from closed blocks of a cleanly closed store. The remaining records are intact, so that only the index
// reveals the loss. Open lists exactly the removed ones.
func TestClosed_cut(t *testing.T) {
	short.SkipQuick(t, "opens a store many times")
	whole, all := closedStore(t, time.Hour)
	t.Cleanup(eventlog.Dedupe(time.Hour)) // every block is read at the start
	for _, file := range closedBlocks(t, whole) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		records := scanBlock(t, file, data)
		for name, drop := range map[string]func(i int) bool{
			"the first": func(i int) bool { return i == 0 }, "one between": func(i int) bool { return i == len(records)/2 }, "the last": func(i int) bool { return i == len(records)-1 },
			"the last half": func(i int) bool { return i >= len(records)/2 }, "all": func(int) bool { return true },
		} {
			dir, kept := copyStore(t, whole), intact(t, whole, whole)
			var rest []byte
			for i, rec := range records {
				if !drop(i) {
					rest = append(rest, rec.Raw...)
					continue
				}
				for seq := range eventlog.EventsOf(rec.Payload) {
					delete(kept[strings.TrimPrefix(string(rec.Subject), "parley.log.")], strconv.FormatUint(seq, 10))
				}
			}
			rel, err := filepath.Rel(whole, file)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, rel), rest)
			s := openSmall(t, dir)
			checkSalvaged(t, s, all, kept)
			closeStore(t, s)
			if t.Failed() {
				t.Fatalf("%s of %s is missing: %v", name, rel, s.Damage())
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}
