package eventlog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A pause waits for the running calls, and calls wait for the pause. Both end with their context
// and then have no further effect.
func TestPause(t *testing.T) {
	enough := errors.New("enough")
	over := func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(enough)
		return ctx
	}
	synctest.Test(t, func(t *testing.T) {
		var p pause
		ctx := t.Context()
		for range 2 {
			if err := p.enter(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.begin(over(t)); !errors.Is(err, enough) {
			t.Errorf("a pause that is given up: %v, want %v", err, enough)
		}
		begun := make(chan context.Context, 1)
		go func() {
			inside, err := p.begin(ctx)
			if err != nil {
				t.Error(err)
			}
			begun <- inside
		}()
		p.leave(ctx)
		synctest.Wait()
		if len(begun) > 0 {
			t.Error("a pause began while a call ran")
		}
		if err := p.enter(over(t)); !errors.Is(err, enough) {
			t.Errorf("a call during a pause that is given up: %v, want %v", err, enough)
		}
		p.leave(ctx)
		inside := <-begun
		if err := p.enter(inside); err != nil {
			t.Errorf("a call of the pause: %v", err)
		}
		p.leave(inside)
		entered := make(chan error, 1)
		go func() { entered <- p.enter(ctx) }()
		synctest.Wait()
		if len(entered) > 0 {
			t.Error("a call began during the pause")
		}
		p.end()
		if err := <-entered; err != nil {
			t.Errorf("a call after the pause: %v", err)
		}
		p.leave(ctx)
		if inside, err := p.begin(ctx); err != nil || inside == nil {
			t.Errorf("a pause without calls: %v, want it to begin at once", err)
		}
		p.end()
	})
}

// A loss that a reader finds is new, unless it is known, or the events were never written or were
// removed. The next checkpoint contains it.
func TestJournal_missed(t *testing.T) {
	epoch := [8]byte{1}
	known := []Damage{{"s", 10, 12, "known"}}
	for _, tt := range []struct {
		name string
		d    Damage
		want bool
	}{
		{"new", Damage{"s", 5, 6, ""}, true}, {"up to the last event", Damage{"s", 19, 20, ""}, true}, {"never written", Damage{"s", 20, 21, ""}, false},
		{"removed", Damage{"s", 2, 4, ""}, false}, {"the first that is left", Damage{"s", 3, 4, ""}, true}, {"known", Damage{"s", 10, 12, ""}, false}, {"a part of it", Damage{"s", 11, 11, ""}, false},
		{"more than is known", Damage{"s", 10, 13, ""}, true}, {"before it", Damage{"s", 9, 12, ""}, true}, {"of another session", Damage{"o", 10, 12, ""}, true},
	} {
		d := &dataDir{path: t.TempDir()}
		j := &journal{}
		if j.missed(tt.d, epoch) {
			t.Errorf("%s: it was noted before the store was checked", tt.name)
		}
		if err := j.begin(d, &checkpoint{Lasts: map[string]uint64{"s": 20, "o": 20}, Purged: map[string]uint64{purgeKey("s", epoch): 3}, Damage: known}); err != nil {
			t.Fatal(err)
		}
		got := j.missed(tt.d, epoch)
		c := j.checkpoint()
		if err := j.file.Close(); err != nil {
			t.Error(err)
		}
		if got != tt.want || j.suspect != tt.want || len(c.Damage) != len(known)+map[bool]int{true: 1}[tt.want] {
			t.Errorf("%s: new %v, suspect %v, %d losses; want new %v", tt.name, got, j.suspect, len(c.Damage), tt.want)
		}
		if base, err := os.ReadFile(filepath.Join(d.path, baseName)); err != nil || strings.Contains(string(base), foundOpen) != tt.want {
			t.Errorf("%s: the next Open finds %s, %v", tt.name, base, err)
		}
		if last := c.Damage[len(c.Damage)-1]; tt.want && last != (Damage{tt.d.Session, tt.d.From, tt.d.To, foundOpen}) {
			t.Errorf("%s: the loss is noted as %+v", tt.name, last)
		}
	}
}

// The next Open reads every entry of the journal, whether or not it was moved to the base before.
func TestJournal_read(t *testing.T) {
	d := &dataDir{path: t.TempDir()}
	j := &journal{}
	if err := j.begin(d, &checkpoint{Lasts: map[string]uint64{"gone": 4}, Purged: map[string]uint64{}, Damage: []Damage{{"gone", 1, 2, "x"}, {"kept", 1, 2, "y"}}}); err != nil {
		t.Fatal(err)
	}
	defer j.file.Close()
	base := &checkpoint{Lasts: map[string]uint64{"gone": 4}, Purged: map[string]uint64{}, Damage: []Damage{{"kept", 1, 2, "y"}}}
	epoch := [8]byte{2}
	for _, before := range []uint64{5, 3} { // the second one has no effect
		if err := j.purging("s", epoch, before); err != nil {
			t.Fatal(err)
		}
	}
	j.acked("s", 8)
	j.acked("s", 9)
	if err := j.purging("gone", epoch, everything); err != nil {
		t.Fatal(err)
	}
	if j.last("s") != 9 || j.last("gone") != 0 {
		t.Errorf("the newest events are %d and %d, want 9 and none", j.last("s"), j.last("gone"))
	}
	want := j.checkpoint()
	if err := d.readJournal(base); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, base, cmpopts.IgnoreUnexported(checkpoint{})); diff != "" {
		t.Errorf("the next Open (-want +got):\n%s", diff)
	}
}

func TestDamage_String(t *testing.T) {
	for d, want := range map[Damage]string{{"s", 3, 7, "why"}: "session s has lost its events 3 to 7: why", {"s", 3, 0, "why"}: "session s has lost its events from 3 on: why"} {
		if got := d.String(); !strings.Contains(got, want) {
			t.Errorf("%+v is %q, want %q", d, got, want)
		}
	}
}
