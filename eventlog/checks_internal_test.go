package eventlog

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
)

// An error of the connection is retried; an error of the log, of the caller or of a closed
// connection is not.
func TestTransient(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx  context.Context
		err  error
		want bool
	}{
		{t.Context(), nil, false}, {t.Context(), nats.ErrNoResponders, true}, {t.Context(), errors.New("reset"), true}, {ended, errors.New("reset"), false}, {t.Context(), nats.ErrConnectionClosed, false},
		{t.Context(), ErrNotFound, false}, {t.Context(), ErrTrimmed, false}, {t.Context(), ErrEpoch, false}, {t.Context(), ErrFormat, false}, {t.Context(), ErrDamaged, false}, {t.Context(), ErrClosed, false}, {t.Context(), errRecord, false},
		{t.Context(), &DamageError{}, false},
	} {
		err := tt.err
		if err != nil {
			err = fmt.Errorf("reading: %w", err)
		}
		if got := transient(tt.ctx, err); got != tt.want {
			t.Errorf("%v, with the context ended by %v, is tried again: %v, want %v", tt.err, tt.ctx.Err(), got, tt.want)
		}
	}
}

// A backup is refused if it lacks events of a session that the store has not lost before.
func TestCheckBackup(t *testing.T) {
	gap := []Damage{{From: 3, To: 4}}
	for name, tt := range map[string]struct {
		chain *chain
		state uint64 // the last event before the start of the log
		lost  bool
		ok    bool
	}{
		"whole":                        {&chain{first: 1, last: 9}, 0, false, true},
		"trimmed":                      {&chain{first: 6, last: 9}, 5, false, true},
		"with more than is needed":     {&chain{first: 3, last: 9}, 5, false, true},
		"a gap":                        {&chain{first: 1, last: 9, gaps: gap}, 0, false, false},
		"a late beginning":             {&chain{first: 7, last: 9}, 5, false, false},
		"a gap and a late beginning":   {&chain{first: 7, last: 9, gaps: gap}, 5, false, false},
		"a gap that is known":          {&chain{first: 1, last: 9, gaps: gap}, 0, true, true},
		"a late beginning, known lost": {&chain{first: 7, last: 9}, 5, true, true},
	} {
		s := &Store{}
		if tt.lost {
			s.journal.damage = []Damage{{Session: "s", From: 1, To: 2}}
		}
		err := s.checkBackup(map[string]uint64{"s": tt.state}, map[string]*chain{"s": tt.chain})
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v, want it accepted: %v", name, err, tt.ok)
		}
	}
}

// TestSoundPart checks that a salvage keeps exactly the undamaged records, including those of newer programs.
func TestSoundPart(t *testing.T) {
	for _, tt := range []struct {
		payload []byte
		want    bool
	}{{nil, false}, {[]byte{Format + 1}, true}, {[]byte{Format + 1, 0xff, 0}, true}, {[]byte{Format}, false}, {[]byte{0, 0xff}, false}} {
		if got := soundPart(nil, tt.payload); got != tt.want {
			t.Errorf("%x: %v, want %v", tt.payload, got, tt.want)
		}
	}
}
