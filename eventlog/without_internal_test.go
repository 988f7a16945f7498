package eventlog

import (
	"slices"
	"testing"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// TestWithout checks which sequences of a closed block are missing from its file: each single one,
// including the first and the last, and all of them.
func TestWithout(t *testing.T) {
	b := closedBlock{First: 11, Last: 15}
	all := []uint64{11, 12, 13, 14, 15}
	records := func(seqs ...uint64) (found []blockfile.Record) {
		for _, seq := range seqs {
			found = append(found, blockfile.Record{Kind: blockfile.Message, Seq: seq})
		}
		return found
	}
	for i, seq := range all {
		if got := b.without(records(slices.Delete(slices.Clone(all), i, i+1)...)); !slices.Equal(got, []uint64{seq}) {
			t.Errorf("without %d: %d are missing", seq, got)
		}
	}
	for name, tt := range map[string]struct {
		records []blockfile.Record
		want    []uint64
	}{
		"nothing is missing":   {records(all...), nil},
		"everything":           {nil, all},
		"only the first":       {records(11), all[1:]},
		"only the last":        {records(15), all[:4]},
		"with later ones":      {records(11, 12, 13, 14, 15, 16, 20), nil},
		"later ones only":      {records(16, 20), all},
		"with one twice":       {records(11, 12, 12, 13, 14, 15), nil},
		"a deletion of a last": {append(records(11, 12, 13, 14), blockfile.Record{Kind: blockfile.Tombstone, Seq: 15}), []uint64{15}},
	} {
		if got := b.without(tt.records); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %d are missing, want %d", name, got, tt.want)
		}
	}
	if got := (&closedBlock{}).without(nil); got != nil {
		t.Errorf("of a block without messages %d are missing", got)
	}
}
