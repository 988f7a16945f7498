package eventlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// smallBlocks is a quota for which the server creates blocks of 32 kB, largeBlocks one for blocks of 4 MB.
const smallBlocks, largeBlocks = 120_000, 100 << 20

// inSnapshot marks a stored event that the snapshot includes as well.
const inSnapshot = "in the snapshot"

// written holds the events of each log that a test wrote, empty if they were trimmed.
type written map[string][]string

// fillStore writes logs with records of many sizes, and if long is set with some of several parts. One log is trimmed, one deleted,
// and one deleted and recreated.
func fillStore(t *testing.T, s *eventlog.Store, long bool) written {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	all := written{}
	add := func(name string, events ...string) {
		var data [][]byte
		for _, e := range events {
			data = append(data, []byte(e))
		}
		if _, err := s.Log(name).Append(t.Context(), uint64(len(all[name])), data...); err != nil {
			t.Fatal(err)
		}
		all[name] = append(all[name], events...)
	}
	fill := func(names []string, n int) {
		for i := range n {
			name := names[r.IntN(len(names))]
			text := fmt.Sprintf("%s %d %s", name, i, strings.Repeat("text ", r.IntN(1+1<<r.IntN(7))))
			add(name, slices.Repeat([]string{text}, 1+r.IntN(3))...)
		}
	}
	fill([]string{"a", "b", "gone", "again"}, 150)
	for i := range 12 {
		if long {
			add("a", fmt.Sprint(i)+strings.Repeat("x", 600_000))
		}
	}
	for _, name := range []string{"gone", "again"} {
		if err := s.Log(name).Delete(t.Context()); err != nil {
			t.Fatal(err)
		}
		delete(all, name)
	}
	trimmed := uint64(len(all["b"]) / 2)
	if err := errors.Join(s.Log("b").PutSnapshot(t.Context(), trimmed, 0, []byte("half")), s.Log("b").Trim(t.Context(), trimmed)); err != nil {
		t.Fatal(err)
	}
	fill([]string{"a", "b", "c", "again"}, 150)
	first, err := s.Log("b").First(t.Context())
	if err != nil || first < trimmed/2 {
		t.Fatalf("first is %v, err is %v; want err == nil and first >= trimmed/2", first, err)
	}
	for i := range all["b"][:trimmed] {
		all["b"][i] = inSnapshot
	}
	clear(all["b"][:first-1])
	return all
}

// intact returns the events of each log with all parts in undamaged records.
func intact(t *testing.T, whole, dir string) map[string]map[string]bool {
	t.Helper()
	lost := map[string]bool{}
	kept := map[string]map[string]bool{}
	for _, name := range blocks(t, whole) {
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(whole, name)
		after, _ := os.ReadFile(filepath.Join(dir, rel)) // it may be deleted
		at := 0
		for _, rec := range scanBlock(t, name, before) {
			end := at + len(rec.Raw)
			session := strings.TrimPrefix(string(rec.Subject), "parley.log.")
			if kept[session] == nil {
				kept[session] = map[string]bool{}
			}
			for seq := range eventlog.EventsOf(rec.Payload) {
				id := fmt.Sprint(session, seq)
				lost[id] = lost[id] || end > len(after) || !bytes.Equal(before[at:end], after[at:end])
				kept[session][strconv.FormatUint(seq, 10)] = !lost[id]
			}
			at = end
		}
	}
	return kept
}

// damageBlock changes a block of a store at random.
func damageBlock(t *testing.T, r *rand.Rand, dir string) (what string) {
	t.Helper()
	files := blocks(t, dir)
	name := files[r.IntN(len(files))]
	data, err := os.ReadFile(name)
	if err != nil || len(data) == 0 {
		t.Fatalf("err is %v, len(data) is %v; want err == nil and len(data) != 0", err, len(data))
	}
	from := r.IntN(len(data))
	if r.IntN(2) == 0 { // near the start of a record, also among long ones
		starts := recordStarts(t, name, data)
		from = min(len(data)-1, starts[r.IntN(len(starts))]+r.IntN(30))
	}
	to := min(len(data), from+1+r.IntN(1<<r.IntN(16)))
	switch r.IntN(5) {
	case 0, 1:
		what = "a flip"
		data[from] ^= 1 << r.IntN(8)
	case 2:
		what = "zeros"
		clear(data[from:to])
	case 3:
		what = "a truncation"
		data = data[:from]
	case 4:
		removeFile(t, name)
		return "deletion of " + name
	}
	writeFile(t, name, data)
	return fmt.Sprintf("%s at [%d, %d) of %s", what, from, to, name)
}

// recordStarts returns the offsets of the records of an undamaged block.
func recordStarts(t *testing.T, name string, data []byte) (starts []int) {
	t.Helper()
	at := 0
	for _, rec := range scanBlock(t, name, data) {
		starts = append(starts, at)
		at += len(rec.Raw)
	}
	return starts
}

// scanBlock returns the records of an undamaged block.
func scanBlock(t *testing.T, name string, data []byte) []blockfile.Record {
	t.Helper()
	index, _ := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".blk"))
	records, bad := (&blockfile.Block{Stream: "PARLEY_LOG", Index: index, Prefix: "parley.log."}).Scan(data)
	if len(bad) > 0 {
		t.Fatalf("%s: the scan does not understand the server's blocks: %v", name, bad)
	}
	return records
}

// TestSalvage damages closed and killed stores. Every missing event is listed, also by Examine before they are opened, no event with
// an intact record is lost, and no deleted or trimmed event reappears.
func TestSalvage(t *testing.T) {
	short.SkipQuick(t, "damages many stores")
	t.Run("small blocks", func(t *testing.T) { testSalvage(t, smallBlocks, short.Count(4, 12, 1000)) })
	if os.Getenv("PARLEY_SOAK") != "" {
		t.Run("large blocks", func(t *testing.T) { testSalvage(t, largeBlocks, 100) })
	}
}

func testSalvage(t *testing.T, quota int64, cases int) {
	root := t.TempDir()
	killed, closed := filepath.Join(root, "killed"), filepath.Join(root, "closed")
	opts := func(dir string) *eventlog.Options {
		return &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: quota}
	}
	s, err := eventlog.Open(t.Context(), opts(closed))
	if err != nil {
		t.Fatal(err)
	}
	all := fillStore(t, s, quota == largeBlocks)
	if err := errors.Join(os.CopyFS(killed, os.DirFS(closed)), s.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(cases) {
		r := rand.New(rand.NewPCG(seed, 3))
		whole, dir := []string{killed, closed}[seed%2], filepath.Join(root, "case")
		if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(whole))); err != nil {
			t.Fatal(err)
		}
		what := damageBlock(t, r, dir)
		kept := intact(t, whole, dir)
		health, err := eventlog.Examine(t.Context(), opts(dir))
		if err != nil {
			t.Fatal(err)
		}
		s, err := eventlog.Open(t.Context(), opts(dir))
		if err != nil {
			t.Fatal(err)
		}
		checkSalvaged(t, s, all, kept)
		if !slices.Equal(health.Damage, s.Damage()) {
			t.Errorf("before Open %v was missing", health.Damage)
		}
		if t.Failed() {
			t.Errorf("seed %d: %s: %v", seed, what, s.Damage())
		}
		if err := s.Close(t.Context()); err != nil || t.Failed() {
			t.Fatal(err)
		}
	}
}

// TestSalvage_running damages open stores, before the server reads the block again. The next reader
// lists the lost events, or else the next start does; no event with an intact record is lost.
func TestSalvage_running(t *testing.T) {
	short.SkipQuick(t, "damages a log again and again")
	t.Cleanup(eventlog.LookAlways())
	for seed := range uint64(short.Count(2, 6, 1000)) {
		runningCase(t, rand.New(rand.NewPCG(seed, 4)), fmt.Sprint("seed ", seed))
	}
}

func runningCase(t *testing.T, r *rand.Rand, name string) {
	root := t.TempDir()
	dir, whole := filepath.Join(root, "data"), filepath.Join(root, "whole")
	reopen := func(s *eventlog.Store) *eventlog.Store {
		if s != nil {
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir, UnsafeNoSync: true, Quota: smallBlocks})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := reopen(nil)
	all := fillStore(t, s, false)
	if r.IntN(4) > 0 {
		s = reopen(s) // the server reads the files, not its cache
	}
	if err := os.CopyFS(whole, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	what := damageBlock(t, r, dir)
	kept := intact(t, whole, dir)
	if r.IntN(4) > 0 {
		for session := range all {
			found, err := readAround(t, s.Log(session))
			if err != nil {
				break // the server does not answer, which also reports the damage
			}
			numbers := slices.Sorted(maps.Keys(found))
			listed := slices.ContainsFunc(s.Damage(), func(d eventlog.Damage) bool { return d.Session == session })
			if n := len(numbers); n > 0 && numbers[n-1]-numbers[0] >= uint64(n) && !listed {
				t.Errorf("%s: a reader has %d events from %d to %d, and nothing is listed", session, n, numbers[0], numbers[n-1])
			}
		}
	}
	before, alarmed := s.Damage(), eventlog.FalseAlarm(s)
	s = reopen(s)
	checkSalvaged(t, s, all, kept)
	if err := s.Close(t.Context()); err != nil || alarmed || t.Failed() {
		t.Fatalf("%s: %s: a false alarm: %v; listed while it was open: %v, later: %v; %v", name, what, alarmed, before, s.Damage(), err)
	}
}

// checkSalvaged reads every log around its damage.
func checkSalvaged(t *testing.T, s *eventlog.Store, all written, kept map[string]map[string]bool) {
	t.Helper()
	lost := map[string]bool{}
	for _, d := range s.Damage() {
		for seq := d.From; seq <= d.To; seq++ {
			lost[fmt.Sprint(d.Session, seq)] = true
		}
	}
	infos, err := s.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if all[info.Session] == nil {
			t.Errorf("%s is back", info.Session)
		}
	}
	for name, events := range all {
		found, err := readAround(t, s.Log(name))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range events {
			seq := uint64(i + 1)
			got, ok := found[seq]
			switch {
			case want == "" && ok:
				t.Errorf("%s: trimmed event %d is back", name, seq)
			case want == "", want == inSnapshot:
			case ok && got != want:
				t.Errorf("%s: event %d is another one", name, seq)
			case !ok && kept[name][strconv.FormatUint(seq, 10)]:
				t.Errorf("%s: event %d is whole on disk and lost", name, seq)
			case !ok && !lost[fmt.Sprint(name, seq)]:
				t.Errorf("%s: event %d is lost and not listed", name, seq)
			}
		}
	}
}

// readAround returns the readable events of a log.
func readAround(t *testing.T, l *eventlog.Log) (map[uint64]string, error) {
	t.Helper()
	found := map[uint64]string{}
	first, err := l.First(t.Context())
	if errors.Is(err, eventlog.ErrNotFound) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	at := eventlog.Cursor{Seq: first - 1}
	for again := true; again; {
		again = false
		for e, err := range l.Read(t.Context(), at) {
			var damage *eventlog.DamageError
			if errors.As(err, &damage) && damage.To > at.Seq {
				at.Seq, again = damage.To, true
				break
			}
			if errors.Is(err, eventlog.ErrNotFound) {
				break
			}
			if err != nil {
				return found, fmt.Errorf("%s after %d: %w", l.Session(), at.Seq, err)
			}
			found[e.Seq], at.Seq = string(e.Data), e.Seq
		}
	}
	return found, nil
}

// TestSalvage_snapshot loses a snapshot: the trimmed events that it includes are missing.
func TestSalvage_snapshot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := eventlog.Open(t.Context(), &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"trimmed", "whole"} {
		for n := range uint64(4) {
			appendTexts(t, s.Log(name), n, "text")
		}
		if err := s.Log(name).PutSnapshot(t.Context(), 3, 0, []byte("state")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Log("trimmed").Trim(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	crash(t, dir, s)
	overwrite(t, filepath.Join(dir, "jetstream", "$G", "streams", "PARLEY_SNAPSHOT", "msgs", "1.blk"), 60, randomBytes(200, 9))
	s = open(t, &eventlog.Options{Dir: dir, UnsafeNoSync: true})
	if got, want := fmt.Sprint(s.Damage()), "[session trimmed has lost its events 1 to 2: they are not in the store]"; got != want {
		t.Errorf("damage %s, want %s", got, want)
	}
	if _, err := s.Log("trimmed").Snapshot(t.Context()); !errors.Is(err, eventlog.ErrNotFound) {
		t.Errorf("snapshot: %v", err)
	}
}
