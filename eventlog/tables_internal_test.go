package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// A census counts the messages that the blocks contain and that no record deletes, in any order of
// the deletions.
func TestCensus(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var c census
		held, gone := map[uint64]bool{}, map[uint64]bool{}
		for seq, n := uint64(1+r.IntN(3)), r.IntN(30); n > 0; n-- {
			if r.IntN(4) == 0 {
				at := uint64(1 + r.IntN(40))
				c.add(&blockfile.Record{Kind: blockfile.Tombstone, Seq: at})
				gone[at] = true
				continue
			}
			c.add(&blockfile.Record{Kind: blockfile.Message, Seq: seq})
			held[seq] = true
			if r.IntN(5) == 0 && seq > 2 { // a rewritten record of an earlier block
				c.add(&blockfile.Record{Kind: blockfile.Message, Seq: seq - 1})
				seq++
				continue
			}
			seq += 1 + uint64(r.IntN(2)*r.IntN(3))
		}
		live := 0
		for seq := range held {
			if !gone[seq] {
				live++
			}
		}
		if c.total() != len(held) || c.live() != live {
			t.Fatalf("seed %d: the census has %d messages, %d of them live, want %d and %d: runs %v", seed, c.total(), c.live(), len(held), live, c.runs)
		}
	}
}

// The lost messages of a block are those between its first and its last one that no record
// contains.
func TestClosedBlock_without(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		b := closedBlock{First: uint64(r.IntN(5)), Last: uint64(4 + r.IntN(8))}
		var records []blockfile.Record
		held := map[uint64]bool{}
		for seq := uint64(1); seq < 20; seq++ {
			switch r.IntN(3) {
			case 0:
				records = append(records, blockfile.Record{Kind: blockfile.Message, Seq: seq})
				held[seq] = true
			case 1:
				records = append(records, blockfile.Record{Kind: blockfile.Tombstone, Seq: seq})
			}
		}
		var want []uint64
		for seq := b.First; b.First > 0 && seq <= b.Last; seq++ {
			if !held[seq] {
				want = append(want, seq)
			}
		}
		if got := b.without(records); !slices.Equal(got, want) {
			t.Fatalf("seed %d: of the messages %d to %d are missing %v, want %v", seed, b.First, b.Last, got, want)
		}
	}
}

// Missing events are computed from the numbers in the log, the snapshot, the removals and the acknowledged number.
func TestMissing(t *testing.T) {
	epoch := [8]byte{3}
	log := func(first, last uint64, gaps ...Damage) *chain {
		return &chain{epoch: epoch, first: first, last: last, gaps: gaps}
	}
	gap := Damage{"s", 3, 4, "gap"}
	for name, tt := range map[string]struct {
		chain    *chain
		last     uint64 // the last acknowledged event; 0 for an unknown log
		purged   uint64
		snapshot uint64
		want     string
	}{
		"whole":                                  {log(1, 9), 9, 0, 0, "[]"},
		"longer than acknowledged":               {log(1, 9), 7, 0, 0, "[]"},
		"shorter than acknowledged":              {log(1, 9), 11, 0, 0, "[10-11]"},
		"gone":                                   {nil, 5, 0, 0, "[1-5]"},
		"unknown and empty":                      {log(0, 0), 0, 0, 0, "[]"},
		"gap":                                    {log(1, 9, gap), 9, 0, 0, "[3-4]"},
		"a late beginning":                       {log(4, 9), 9, 0, 0, "[1-3]"},
		"a late beginning, trimmed and covered":  {log(4, 9), 9, 4, 3, "[]"},
		"trimmed to there, without the snapshot": {log(4, 9), 9, 4, 0, "[1-3]"},
		"trimmed to there, with an older snapshot": {log(4, 9), 9, 4, 2, "[3-3]"},
		"begins later than trimmed":                {log(6, 9), 9, 4, 9, "[4-5]"},
		"a snapshot beyond the end":                {log(1, 9), 9, 0, 12, "[10-12]"},
		"a snapshot of a log that is gone":         {nil, 3, 0, 5, "[1-5]"},
		"everything at once":                       {log(2, 9, gap), 11, 0, 0, "[1-1 3-4 10-11]"},
	} {
		found, before := map[string]*chain{}, &checkpoint{Lasts: map[string]uint64{}, Purged: map[string]uint64{}}
		if tt.chain != nil {
			found["s"] = tt.chain
		}
		if tt.last > 0 {
			before.Lasts["s"] = tt.last
		}
		if tt.purged > 0 {
			before.Purged[purgeKey("s", epoch)] = tt.purged
		}
		var texts []string
		for _, d := range missing(found, before, func(string, *chain) uint64 { return tt.snapshot }) {
			texts = append(texts, fmt.Sprintf("%d-%d", d.From, d.To))
		}
		if got := fmt.Sprint(texts); got != tt.want {
			t.Errorf("%s: missing are %s, want %s", name, got, tt.want)
		}
	}
}

// Known damage stays listed and is not new. Damage that a reader found in an open store is replaced by the
// findings of Open.
func TestCheckpoint_accept(t *testing.T) {
	known, open, fresh := Damage{"s", 1, 2, "known"}, Damage{"s", 3, 4, foundOpen}, Damage{"s", 3, 3, "fresh"}
	c := &checkpoint{Damage: []Damage{known, open}}
	if got := c.accept([]Damage{known, fresh}); !slices.Equal(got, []Damage{fresh}) {
		t.Errorf("new is %v, want %v", got, fresh)
	}
	if want := []Damage{known, fresh}; !slices.Equal(c.Damage, want) {
		t.Errorf("the damage is %v, want %v", c.Damage, want)
	}
	if got := ofOthers([]Damage{known, {"o", 1, 1, ""}, fresh}, "s"); len(got) != 1 || got[0].Session != "o" {
		t.Errorf("the damage of others is %v, want that of o", got)
	}
	found := map[string]*chain{"trimmed": {epoch: [8]byte{1}, first: 4, last: 9}, "whole": {first: 1, last: 3}, "empty": {}}
	purged := map[string]uint64{}
	adopt(found, purged)
	if want := map[string]uint64{purgeKey("trimmed", [8]byte{1}): 4}; !maps.Equal(purged, want) {
		t.Errorf("the removals are %v, want %v", purged, want)
	}
	if got, want := lastsOf(found), map[string]uint64{"trimmed": 9, "whole": 3}; !maps.Equal(got, want) {
		t.Errorf("the ends are %v, want %v", got, want)
	}
}

// A line of the journal counts only if it is complete: with its checksum, two or three fields and a
// number.
func TestCheckpoint_apply(t *testing.T) {
	line := func(rest string) string {
		f, err := os.CreateTemp(t.TempDir(), "journal")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		j := &journal{file: f}
		if err := j.note(rest); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(f.Name())
		if err != nil || j.size != len(text) {
			t.Fatalf("the journal has %d bytes, and counts %d: %v", len(text), j.size, err)
		}
		return string(text)
	}
	for _, tt := range []struct{ line, want string }{
		{line("s 7"), "map[s:7] map[]"}, {strings.TrimSuffix(line("s 7"), "\n"), "map[s:7] map[]"}, {line("s 7")[1:], "map[s:3] map[]"}, {line("s 7")[:11], "map[s:3] map[]"},
		{line("s"), "map[s:3] map[]"}, {line("s x"), "map[s:3] map[]"}, {line("s e 5"), "map[s:3] map[s e:5]"}, {line(fmt.Sprint("s e ", uint64(everything))), fmt.Sprint("map[] map[s e:", uint64(everything), "]")},
		{line(""), "map[s:3] map[]"}, {"\n", "map[s:3] map[]"}, {line("o 1"), "map[o:1 s:3] map[]"},
	} {
		c := &checkpoint{Lasts: map[string]uint64{"s": 3}, Purged: map[string]uint64{}}
		c.apply(tt.line)
		if got := fmt.Sprint(c.Lasts, c.Purged); got != tt.want {
			t.Errorf("%q makes %s, want %s", tt.line, got, tt.want)
		}
	}
	c := &checkpoint{Purged: map[string]uint64{"s e": 9}}
	if c.apply(line("s e 5")); c.Purged["s e"] != 9 {
		t.Errorf("an earlier removal makes %v, want 9 to stay", c.Purged)
	}
	c.Purged = map[string]uint64{"a": everything, "b": 3, "c": everything}
	if n := c.forgettable(); n != 2 {
		t.Errorf("%d deleted logs, want 2", n)
	}
}

// A journal that has grown is moved to the base. Without a file it records nothing and returns no
// error.
func TestJournal_size(t *testing.T) {
	d := &dataDir{path: t.TempDir()}
	var none journal
	if err := errors.Join(none.purging("s", [8]byte{}, 3), none.note("s 3")); err != nil {
		t.Errorf("a journal without a file: %v", err)
	}
	if none.acked("s", 3); none.last("s") != 0 {
		t.Errorf("a journal without a file has %d, want nothing", none.last("s"))
	}
	j := &journal{}
	if err := j.begin(d, &checkpoint{Lasts: map[string]uint64{}, Purged: map[string]uint64{}}); err != nil {
		t.Fatal(err)
	}
	defer j.file.Close()
	size := func() int64 {
		info, err := j.file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	j.acked("s", 1)
	n := size()
	if n == 0 || int(n) != j.size {
		t.Fatalf("the journal has %d bytes and counts %d, want a line", n, j.size)
	}
	j.size = journalSize - int(n) // exactly one more line fits
	if j.acked("s", 2); size() != 2*n {
		t.Errorf("a journal that is full has %d bytes, want %d", size(), 2*n)
	}
	if j.acked("s", 3); size() != 0 || j.size != 0 {
		t.Errorf("a journal that is too large has %d bytes and counts %d, want none", size(), j.size)
	}
	c, err := readBase(filepath.Join(d.path, baseName))
	if err != nil || c.Lasts["s"] != 3 || !c.clean || c.silent {
		t.Errorf("the base has %v, clean %v, silent %v, %v; want event 3", c.Lasts, c.clean, c.silent, err)
	}
	if err := j.begin(d, &checkpoint{Lasts: map[string]uint64{"s": 9}, Purged: map[string]uint64{}}); err != nil || j.last("s") != 9 {
		t.Errorf("begun again, the newest event is %d, %v, want 9", j.last("s"), err)
	}
}

// A checkpoint is clean if the store was closed and its files are unchanged. Otherwise the server's indexes are
// removed.
func TestTakeCheckpoint(t *testing.T) {
	block := func(d *dataDir) string { return d.block(logStream, 1) }
	for name, tt := range map[string]struct {
		change func(d *dataDir) error
		clean  bool
		lasts  string
	}{
		"unchanged": {func(*dataDir) error { return nil }, true, "map[s:4]"},
		"another size": {func(d *dataDir) error {
			info, err := os.Stat(block(d))
			return errors.Join(err, os.WriteFile(block(d), []byte("block!"), 0o600), os.Chtimes(block(d), info.ModTime(), info.ModTime()))
		}, false, "map[s:4]"},
		"another time":         {func(d *dataDir) error { return os.Chtimes(block(d), time.Now(), time.Unix(1, 0)) }, false, "map[s:4]"},
		"another file":         {func(d *dataDir) error { return os.WriteFile(d.block(snapshotStream, 1), nil, 0o600) }, false, "map[s:4]"},
		"a file less":          {func(d *dataDir) error { return os.Remove(block(d)) }, false, "map[s:4]"},
		"without a checkpoint": {func(d *dataDir) error { return os.Remove(filepath.Join(d.path, checkpointName)) }, false, "map[]"},
		"without a whole one":  {func(d *dataDir) error { return os.WriteFile(filepath.Join(d.path, checkpointName), []byte("{"), 0o600) }, false, "map[s:9]"},
		"not closed, a journal": {func(d *dataDir) error {
			return os.Rename(filepath.Join(d.path, checkpointName), filepath.Join(d.path, baseName))
		}, false, "map[s:9]"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &dataDir{path: t.TempDir()}
			o := (&Options{}).withDefaults()
			for _, stream := range []string{logStream, snapshotStream} {
				if err := os.MkdirAll(filepath.Join(d.streamDir(stream), "msgs"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(d.streamDir(stream), "msgs", indexName), []byte("index"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(block(d), []byte("block"), 0o600); err != nil {
				t.Fatal(err)
			}
			j := &journal{file: must(os.Create(filepath.Join(d.path, journalName)))}
			j.lasts = map[string]uint64{}
			j.acked("s", 9)
			if err := j.file.Close(); err != nil {
				t.Fatal(err)
			}
			if err := d.writeCheckpoint(nil, nil, &o); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(d.path, checkpointName)); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("nothing was written as %v", err)
			}
			if err := d.writeCheckpoint(&checkpoint{Lasts: map[string]uint64{"s": 4}, Purged: map[string]uint64{}}, nil, &o); err != nil {
				t.Fatal(err)
			}
			if err := tt.change(d); err != nil {
				t.Fatal(err)
			}
			c, err := d.takeCheckpoint()
			if err != nil || c.clean != tt.clean {
				t.Fatalf("the checkpoint is clean: %v, %v, want %v", c.clean, err, tt.clean)
			}
			if got := fmt.Sprint(c.Lasts); name != "without a checkpoint" && got != tt.lasts && tt.clean {
				t.Errorf("the events are %s, want %s", got, tt.lasts)
			}
			for _, stream := range []string{logStream, snapshotStream} {
				_, err := os.Stat(filepath.Join(d.streamDir(stream), "msgs", indexName))
				if (err == nil) != tt.clean {
					t.Errorf("the index of %s is there: %v, want %v", stream, err == nil, tt.clean)
				}
			}
			if _, err := os.Stat(filepath.Join(d.path, checkpointName)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the checkpoint of an open store is there: %v", err)
			}
			if _, err := os.Stat(filepath.Join(d.path, journalName)); errors.Is(err, fs.ErrNotExist) && !tt.clean && !strings.Contains(name, "file") && !strings.Contains(name, "another") {
				t.Errorf("the journal of a store that was not closed is gone")
			}
		})
	}
	d := &dataDir{path: t.TempDir()}
	if c, err := d.takeCheckpoint(); err != nil || !c.clean || !c.silent || c.Purged == nil || c.Lasts == nil {
		t.Errorf("an empty directory: %+v, %v, want a clean checkpoint", c, err)
	}
	if err := os.WriteFile(filepath.Join(d.path, baseName), []byte(`{"lasts":{"s":1}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := d.takeCheckpoint(); err != nil || c.clean {
		t.Errorf("events without files: clean %v, %v, want a search", c.clean, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Unchecked blocks are returned from a number on, newest first, and each is checked once against
// the list.
func TestUnchecked(t *testing.T) {
	d := &dataDir{path: t.TempDir()}
	u := &unchecked{dir: d, left: map[blockID]closedBlock{}}
	for _, stream := range []string{logStream, snapshotStream} {
		if err := os.MkdirAll(filepath.Dir(d.block(stream, 1)), 0o700); err != nil {
			t.Fatal(err)
		}
		for index := 1; index <= 3; index++ {
			data := fmt.Appendf(nil, "%s %d", stream, index)
			if err := os.WriteFile(d.block(stream, index), data, 0o600); err != nil {
				t.Fatal(err)
			}
			u.left[blockID{stream, index}] = describe(fileStamp{}, data, nil)
		}
	}
	log := func(index int) blockID { return blockID{logStream, index} }
	if got := u.from(logStream, 2); !slices.Equal(got, []blockID{log(3), log(2)}) {
		t.Errorf("from 2 on there are %v, want 3 and 2", got)
	}
	if err := u.check(log(2)); err != nil {
		t.Errorf("a block that is whole: %v", err)
	}
	if u.buf == nil {
		t.Error("the buffer is gone while blocks are left")
	}
	if got := u.from(logStream, 0); !slices.Equal(got, []blockID{log(3), log(1)}) {
		t.Errorf("after a check there are %v, want 3 and 1", got)
	}
	if err := os.WriteFile(d.block(logStream, 1), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(d.block(logStream, 3)); err != nil {
		t.Fatal(err)
	}
	for _, index := range []int{1, 3} {
		if err := u.check(log(index)); !errors.Is(err, ErrDamaged) {
			t.Errorf("block %d, which has changed: %v, want %v", index, err, ErrDamaged)
		}
	}
	if len(u.left) != 5 {
		t.Errorf("%d blocks are left, want 5: a damaged one is not checked", len(u.left))
	}
	if u.done(); len(u.left) != 0 || u.buf != nil {
		t.Errorf("%d blocks are left, want none, and no buffer", len(u.left))
	}
}

// Removals run concurrently, a backup excludes them, and waiting ends with the context.
func TestGate(t *testing.T) {
	enough := errors.New("enough")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		var leave []func()
		for range 3 {
			out, err := g.shared(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, out)
		}
		alone := make(chan func(), 1)
		go func() {
			out, err := g.alone(t.Context())
			if err != nil {
				t.Error(err)
			}
			alone <- out
		}()
		for i, out := range leave {
			if synctest.Wait(); len(alone) > 0 {
				t.Errorf("a backup began while %d removals ran", len(leave)-i)
			}
			out()
		}
		out := <-alone
		if _, err := g.shared(ended); !errors.Is(err, enough) {
			t.Errorf("a removal during a backup, given up: %v, want %v", err, enough)
		}
		if _, err := g.alone(ended); !errors.Is(err, enough) {
			t.Errorf("a backup during a backup, given up: %v, want %v", err, enough)
		}
		entered := make(chan func(), 1)
		go func() {
			out, err := g.shared(t.Context())
			if err != nil {
				t.Error(err)
			}
			entered <- out
		}()
		if synctest.Wait(); len(entered) > 0 {
			t.Error("a removal began during a backup")
		}
		out()
		(<-entered)()
		if out, err := g.alone(t.Context()); err != nil {
			t.Errorf("a backup of an idle store: %v", err)
		} else {
			out()
		}
	})
}

// A failed check is logged and repeated at the next tick. A check that ends because the store is
// closed is not logged.
func TestCheckDaily(t *testing.T) {
	d := &dataDir{path: t.TempDir()}
	msgs := filepath.Dir(d.block(snapshotStream, 1))
	if err := errors.Join(os.MkdirAll(filepath.Dir(msgs), 0o700), os.WriteFile(msgs, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, ended := range []bool{false, true} {
		var logged bytes.Buffer
		s := &Store{dir: d, watch: newWatch(), opts: Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))}}
		ctx, cancel := context.WithCancel(t.Context())
		ticks, over := make(chan time.Time), make(chan struct{})
		go func() {
			s.checkDaily(ctx, ticks)
			close(over)
		}()
		ticks <- time.Time{}
		if !ended {
			ticks <- time.Time{} // received after the first check
		}
		cancel()
		<-over
		if n := strings.Count(logged.String(), "not salvaged"); !ended && n == 0 {
			t.Errorf("a failed check is logged %d times, want it logged", n)
		}
	}
}

// The context of a link ends when the connection is restored, and the next context does not.
func TestLink(t *testing.T) {
	l := newLink()
	before := l.context()
	if before.Err() != nil || before != l.context() {
		t.Error("the link has ended before it was renewed, want one context")
	}
	if l.renew(); before.Err() == nil || l.context().Err() != nil {
		t.Errorf("after the renewal the contexts have %v and %v, want the first to end", before.Err(), l.context().Err())
	}
}

// The limit of a call is distinguished from the deadline of its caller.
func TestBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pause
		waits := func(ctx context.Context) (int, error) { <-ctx.Done(); return 7, ctx.Err() }
		if v, err := bounded(t.Context(), bounds{&p, time.Second}, waits); !errors.Is(err, errNoAnswer) || v != 7 {
			t.Errorf("a call without an answer: %d, %v, want %v", v, err, errNoAnswer)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := bounded(ctx, bounds{&p, time.Second}, waits); err == nil || errors.Is(err, errNoAnswer) {
			t.Errorf("a call that its caller ends: %v, want the error of the context", err)
		}
		if v, err := bounded(t.Context(), bounds{&p, time.Second}, func(context.Context) (int, error) { return 3, nil }); v != 3 || err != nil {
			t.Errorf("a call that is answered: %d, %v", v, err)
		}
		if p.calls != 0 {
			t.Errorf("%d calls are counted after their end, want none", p.calls)
		}
	})
}

// Errors of the server become those of this package if a caller can act on them.
func TestClassify(t *testing.T) {
	other := errors.New("other")
	for _, tt := range []struct {
		err, want error
		same      bool
	}{
		{other, other, true}, {nil, nil, true},
		{&jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}, ErrConflict, false}, {&jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequenceConstant}, ErrConflict, false},
		{&jetstream.APIError{Description: "maximum bytes exceeded"}, ErrFull, false}, {&jetstream.APIError{Description: "x: no space left on device"}, ErrFull, false},
		{&jetstream.APIError{Description: "insufficient resources"}, ErrFull, false}, {&jetstream.APIError{Description: "resource limits exceeded for account"}, ErrFull, false},
	} {
		if got := classify(tt.err); !errors.Is(got, tt.want) || tt.same && got != tt.err {
			t.Errorf("%v is %v, want %v", tt.err, got, tt.want)
		}
	}
	api := &jetstream.APIError{Description: "unknown"}
	if got := classify(api); got != error(api) {
		t.Errorf("an unknown error of the server is %v, want it as it is", got)
	}
	l := &Log{session: "s"}
	if l.wrap("doing", nil) != nil {
		t.Error("no error has become one")
	}
	if err := l.wrap("doing", other); !errors.Is(err, other) || !strings.Contains(err.Error(), "session s: doing") {
		t.Errorf("the error is %v, want one that names the session and what was done", err)
	}
	if held := (&LockedError{Dir: "d"}).Error(); strings.Contains(held, "process 0") {
		t.Errorf("an unknown process is named: %s", held)
	}
	if held := (&LockedError{Dir: "d", PID: 7}).Error(); !strings.Contains(held, "process 7") {
		t.Errorf("a known process is not named: %s", held)
	}
}

// The used space is the measured one plus later writes; a warning is logged once until there is room again.
func TestRoom(t *testing.T) {
	const quota, reserve = 1000, 100
	for _, tt := range []struct {
		bytes, free, reserve int64
		wantFree             int64
		warns                bool
		fits                 int // maximum number of bytes that fit; -1 for none
	}{
		{0, 5000, reserve, 4900, false, 1000}, {799, 5000, reserve, 4900, false, 201}, {800, 5000, reserve, 4900, true, 200}, {1000, 5000, reserve, 4900, true, 0}, {1001, 5000, reserve, 4900, true, -1},
		{0, 200, reserve, 100, false, 99}, {0, 199, reserve, 99, true, 98}, {0, 100, reserve, 0, true, -1}, {0, 50, reserve, 0, true, -1}, {0, -1, -1, -1, false, 1000},
	} {
		var logged bytes.Buffer
		s := &Store{opts: Options{Quota: quota, Reserve: tt.reserve, Logger: slog.New(slog.NewTextHandler(&logged, nil))}}
		s.room.measured, s.room.bytes, s.room.free = time.Now(), tt.bytes, tt.free
		u := s.usage()
		if u.Bytes != tt.bytes || u.Quota != quota || u.Free != tt.wantFree || (u.Warning != "") != tt.warns {
			t.Errorf("%+v: the usage is %+v", tt, u)
		}
		for range 2 {
			s.warn()
		}
		if got := strings.Count(logged.String(), "nearly full"); (got == 1) != tt.warns || got > 1 {
			t.Errorf("%+v: warned %d times", tt, got)
		}
		for n := tt.fits; n <= tt.fits+1; n++ {
			if err := s.noRoom(max(n, 0)); (err == nil) != (n == tt.fits && n >= 0) || err != nil && !errors.Is(err, ErrFull) {
				t.Errorf("%+v: %d bytes: %v", tt, n, err)
			}
		}
		s.wrote(30)
		if s.room.bytes != tt.bytes+30 || tt.free >= 0 && s.room.free != tt.free-30 || tt.free < 0 && s.room.free != tt.free {
			t.Errorf("%+v: after 30 bytes %d are used and %d free", tt, s.room.bytes, s.room.free)
		}
		if tt.warns {
			s.room.bytes, s.room.free = 0, 5000
			s.warn()
			s.room.bytes = quota
			if s.warn(); strings.Count(logged.String(), "nearly full") != 2 {
				t.Errorf("%+v: full again after there was room: %s, want a second warning", tt, logged.String())
			}
		}
		if s.freed(); !s.room.measured.IsZero() {
			t.Errorf("%+v: the space is not measured again", tt)
		}
	}
	s := &Store{opts: Options{Quota: quota}}
	s.room.free = 10
	if s.wrote(30); s.room.free != 0 {
		t.Errorf("%d bytes are free, want none", s.room.free)
	}
}

// A backup is read back frame by frame. A backup that is cut or changed anywhere is refused.
func TestBackup_frames(t *testing.T) {
	var out bytes.Buffer
	b := newBackupWriter(&out)
	fmt.Fprintf(b, "%s%d\n", backupMagic, backupFormat)
	frames := []frame{{frameState, "a", []byte("state")}, {frameLog, "a", []byte("one")}, {frameLog, "b-_9", nil}}
	for _, f := range frames {
		if err := b.frame(f.kind, f.session, f.msg); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	read := func(data []byte) (got []frame, err error) {
		r, err := openBackup(bytes.NewReader(data))
		for err == nil {
			var f frame
			if f, err = r.next(); err == nil {
				got = append(got, f)
			}
		}
		return got, err
	}
	got, err := read(append(slices.Clone(whole), "more"...))
	if !errors.Is(err, io.EOF) {
		t.Errorf("the backup ends with %v, want %v", err, io.EOF)
	}
	if diff := cmp.Diff(frames, got, cmp.AllowUnexported(frame{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("the frames (-want +got):\n%s", diff)
	}
	for n := range whole {
		if _, err := read(whole[:n]); !errors.Is(err, ErrBackup) {
			t.Errorf("cut after %d bytes: %v, want %v", n, err, ErrBackup)
		}
		for _, bit := range []byte{1, 0x80} {
			data := slices.Clone(whole)
			data[n] ^= bit
			if _, err := read(data); !errors.Is(err, ErrBackup) && !errors.Is(err, ErrFormat) {
				t.Errorf("byte %d changed by %#x: %v, want %v", n, bit, err, ErrBackup)
			}
		}
	}
	if _, err := read([]byte(backupMagic + "2\n")); !errors.Is(err, ErrFormat) {
		t.Errorf("a newer format: %v, want %v", err, ErrFormat)
	}
	for _, session := range []string{"", "a b", strings.Repeat("x", 129)} {
		var out bytes.Buffer
		b := newBackupWriter(&out)
		fmt.Fprintf(b, "%s%d\n", backupMagic, backupFormat)
		if err := errors.Join(b.frame(frameLog, session, nil), b.end()); err != nil {
			t.Fatal(err)
		}
		if got, err := read(out.Bytes()); !errors.Is(err, ErrBackup) || len(got) > 0 {
			t.Errorf("the session %.10q: %v, want %v", session, err, ErrBackup)
		}
	}
	failed := errors.New("the disk has gone")
	if err := cutOff(failed); !errors.Is(err, failed) || errors.Is(err, ErrBackup) {
		t.Errorf("a failed read is %v, want %v", err, failed)
	}
	lost := newBackupWriter(failingWriter{failed})
	if err := errors.Join(lost.frame(frameLog, "a", make([]byte, 3<<20)), lost.end()); !errors.Is(err, failed) {
		t.Errorf("a disk that fails: %v, want %v", err, failed)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// A missing or damaged format file is written again and its old content is kept aside. A newer
// format is refused.
func TestDataDir_format(t *testing.T) {
	o := (&Options{}).withDefaults()
	for text, tt := range map[string]struct {
		err  error
		bad  int
		kept bool
	}{"": {nil, 1, false}, "1\n": {nil, 0, false}, " 1 ": {nil, 0, false}, "0\n": {nil, 1, true}, "-1": {nil, 1, true}, "x": {nil, 1, true}, "2\n": {ErrFormat, 0, false}} {
		d := &dataDir{path: t.TempDir()}
		name := filepath.Join(d.path, formatName)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := d.badState(); n != tt.bad || err != nil {
			t.Errorf("%q: %d damaged files, %v, want %d", text, n, err, tt.bad)
		}
		if err := d.prepare(&o); !errors.Is(err, tt.err) || err != nil && tt.err == nil {
			t.Errorf("%q: %v, want %v", text, err, tt.err)
		}
		if after, err := os.ReadFile(name); err != nil || tt.bad > 0 && string(after) != "1\n" || tt.bad == 0 && string(after) != text {
			t.Errorf("%q has become %q, %v", text, after, err)
		}
		aside, _ := filepath.Glob(filepath.Join(d.path, damagedName, formatName+"-*"))
		if (len(aside) == 1) != tt.kept {
			t.Errorf("%q: kept aside are %v, want it: %v", text, aside, tt.kept)
		}
	}
	d := &dataDir{path: t.TempDir()}
	if err := d.prepare(&o); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(d.path, formatName)); err != nil || string(text) != "1\n" {
		t.Errorf("a new directory has the format %q, %v", text, err)
	}
}

// The configuration of a stream with blocks is written again if it or its checksum is wrong, and
// the old files are kept aside.
func TestDataDir_meta(t *testing.T) {
	o := (&Options{}).withDefaults()
	config := must(os.ReadFile(metaOf(t, &o)[0]))
	sum := metaSum(logStream, config)
	other := bytes.ReplaceAll(config, []byte(logStream), []byte("PARLEY_LOX"))
	memory := bytes.ReplaceAll(config, []byte(`"storage":"file"`), []byte(`"storage":"memory"`))
	if bytes.Equal(other, config) || bytes.Equal(memory, config) {
		t.Fatalf("the configuration is %s, want one with a name and a storage", config)
	}
	for name, tt := range map[string]struct {
		config, sum []byte
		bad         bool
		kept        int
	}{
		"whole": {config, sum, false, 0}, "without a checksum": {config, nil, true, 1}, "with another checksum": {config, metaSum(logStream, other), true, 2}, "without a configuration": {nil, sum, true, 1},
		"of another stream": {other, metaSum(logStream, other), true, 2}, "in memory": {memory, metaSum(logStream, memory), true, 2}, "empty": {nil, nil, true, 0}, "not JSON": {[]byte("{"), metaSum(logStream, []byte("{")), true, 2},
	} {
		d := &dataDir{path: t.TempDir()}
		dir := d.streamDir(logStream)
		if err := os.MkdirAll(filepath.Join(dir, "msgs"), 0o700); err != nil {
			t.Fatal(err)
		}
		for i, data := range [][]byte{tt.config, tt.sum} {
			if data != nil {
				if err := os.WriteFile(filepath.Join(dir, metaFiles[i]), data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if bad, _, _, err := d.badMeta(logStream); bad || err != nil {
			t.Errorf("%s, without blocks: %v, %v, want it left alone", name, bad, err)
		}
		if err := os.WriteFile(d.block(logStream, 1), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := d.badState(); err != nil || (n == 1) != tt.bad {
			t.Errorf("%s: %d damaged files, %v, want it damaged: %v", name, n, err, tt.bad)
		}
		if err := d.mendMeta(&o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if bad, after, _, err := d.badMeta(logStream); bad || err != nil || !tt.bad && !bytes.Equal(after, config) {
			t.Errorf("%s: mended, it is damaged: %v, %v", name, bad, err)
		}
		if aside, _ := filepath.Glob(filepath.Join(d.path, damagedName, logStream+"-meta.*")); len(aside) != tt.kept {
			t.Errorf("%s: kept aside are %v, want %d files", name, aside, tt.kept)
		}
		if isConfig, isSum := soundMeta(snapshotStream, config, sum); isConfig || isSum {
			t.Errorf("the configuration of a stream counts for another: %v, %v", isConfig, isSum)
		}
	}
	if metaFiles != [2]string{server.JetStreamMetaFile, server.JetStreamMetaFileSum} {
		t.Errorf("the files are %v", metaFiles)
	}
}

// metaOf returns the files of a configuration that mendMeta writes.
func metaOf(t *testing.T, o *Options) []string {
	t.Helper()
	d := &dataDir{path: t.TempDir()}
	dir := d.streamDir(logStream)
	if err := os.MkdirAll(filepath.Join(dir, "msgs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(d.block(logStream, 1), nil, 0o600), d.mendMeta(o)); err != nil {
		t.Fatal(err)
	}
	return []string{filepath.Join(dir, metaFiles[0]), filepath.Join(dir, metaFiles[1])}
}
