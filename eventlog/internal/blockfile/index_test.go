package blockfile_test

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server/avl"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// indexed is a block and its entry in an index.
type indexed struct {
	number             int
	size, first, last  uint64
	firstTime, endTime int64 // relative to the base
	deleted            []uint64
}

// indexTotals are the totals of an index over all blocks.
type indexTotals struct{ msgs, bytes, first, last uint64 }

const indexBase = 1_700_000_000_000_000_000

// encodeIndex returns the index of stream LOG as the server writes it.
func encodeIndex(totals indexTotals, blocks ...indexed) []byte {
	data := []byte{11, 4}
	number := func(values ...uint64) {
		for _, v := range values {
			data = binary.AppendUvarint(data, v)
		}
	}
	number(totals.msgs, totals.bytes, totals.first)
	data = binary.AppendVarint(data, indexBase)
	number(totals.last)
	data = binary.AppendVarint(data, indexBase)
	number(1, 5)
	data = append(data, "log.a"...)
	number(totals.msgs, 3, 9)
	number(uint64(len(blocks)))
	for _, b := range blocks {
		number(uint64(b.number), b.size, b.first)
		data = binary.AppendVarint(data, b.firstTime)
		number(b.last)
		data = binary.AppendVarint(data, b.endTime)
		number(uint64(len(b.deleted)), 0, 0)
		if len(b.deleted) > 0 {
			var set avl.SequenceSet
			for _, seq := range b.deleted {
				set.Insert(seq)
			}
			data = append(data, set.Encode(nil)...)
		}
	}
	number(uint64(blocks[len(blocks)-1].number))
	return sign(append(data, "checksum"...))
}

// sign adds the checksum of an index.
func sign(data []byte) []byte {
	key := sha256.Sum256([]byte("LOG"))
	hash, _ := highwayhash.NewDigest64(key[:])
	hash.Write(data)
	return hash.Sum(data)
}

// TestReadIndex reads an index, and rejects one that contradicts itself or is incomplete.
func TestReadIndex(t *testing.T) {
	blocks := []indexed{
		{number: 3, size: 100, first: 11, last: 20, firstTime: 5, endTime: 7, deleted: []uint64{12, 13, 20}},
		{number: 4, size: 1, first: 21, last: 22, deleted: []uint64{21, 22}}, // empty: the server drops it
		{number: 9, size: 50, first: 23, last: 24, firstTime: 8, endTime: 9},
	}
	totals := indexTotals{msgs: 9, bytes: 150, first: 11, last: 24}
	whole := encodeIndex(totals, blocks...)
	x, err := blockfile.ReadIndex("LOG", whole)
	if err != nil {
		t.Fatal(err)
	}
	if x.Msgs != 9 || x.Last != 24 || len(x.Subjects) != 1 || x.Subjects["log.a"] != 3 || x.LastBlock != 9 || string(x.LastSum[:]) != "checksum" || len(x.Blocks) != 2 {
		t.Errorf("the index is %+v", x)
	}
	for _, want := range []indexed{blocks[0], blocks[2]} {
		if got := x.Blocks[want.number]; got.Bytes != want.size || got.First != want.first || got.Last != want.last || got.LastTime != indexBase+want.endTime {
			t.Errorf("block %d is %+v, want %+v", want.number, got, want)
		}
	}
	if _, err := blockfile.ReadIndex("OTHER", whole); err == nil {
		t.Error("the index of another stream is accepted")
	}
	for name, wrong := range map[string]indexTotals{
		"one message more": {10, 150, 11, 24}, "one message less": {8, 150, 11, 24}, "more bytes": {9, 151, 11, 24}, "less bytes": {9, 149, 11, 24}, "a first sequence beyond the end": {9, 150, 26, 24},
	} {
		if _, err := blockfile.ReadIndex("LOG", encodeIndex(wrong, blocks...)); err == nil {
			t.Errorf("an index with %s is accepted", name)
		}
	}
	if _, err := blockfile.ReadIndex("LOG", encodeIndex(indexTotals{9, 150, 25, 24}, blocks...)); err != nil {
		t.Errorf("an index that begins after its end, as after the removal of all: %v", err)
	}
	body := whole[:len(whole)-8]
	for n := range body {
		if _, err := blockfile.ReadIndex("LOG", sign(slices.Clone(body[:n]))); err == nil {
			t.Errorf("the first %d of %d bytes are accepted", n, len(body))
		}
	}
	if _, err := blockfile.ReadIndex("LOG", sign(append(slices.Clone(body), 0))); err == nil {
		t.Error("an index with one byte more is accepted")
	}
	if _, err := blockfile.ReadIndex("LOG", sign(append([]byte{11, 5}, body[2:]...))); err == nil {
		t.Error("an index of another version is accepted")
	}
}

// TestHolds compares the records of a block with its entry in the index: each sequence from the
// first to the last must be present or deleted.
func TestHolds(t *testing.T) {
	whole := encodeIndex(indexTotals{msgs: 7, bytes: 10, first: 11, last: 20}, indexed{number: 1, size: 10, first: 11, last: 20, deleted: []uint64{12, 15, 16}})
	x, err := blockfile.ReadIndex("LOG", whole)
	if err != nil {
		t.Fatal(err)
	}
	extent := x.Blocks[1]
	all := []uint64{11, 13, 14, 17, 18, 19, 20}
	holds := func(seqs ...uint64) bool {
		var records []blockfile.Record
		for _, seq := range seqs {
			records = append(records, blockfile.Record{Kind: blockfile.Message, Seq: seq})
		}
		return extent.Holds(records)
	}
	for name, tt := range map[string]struct {
		seqs []uint64
		want bool
	}{
		"all":                         {all, true},
		"with those that are deleted": {[]uint64{11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, true},
		"with earlier ones":           {append([]uint64{9, 10}, all...), true},
		"with later ones":             {append(slices.Clone(all), 21, 25), true},
		"with one twice":              {[]uint64{11, 13, 13, 14, 17, 18, 19, 20}, true},
		"none":                        {nil, false},
		"only later ones":             {[]uint64{21}, false},
		"only earlier ones":           {[]uint64{10}, false},
	} {
		if got := holds(tt.seqs...); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	for i, seq := range all {
		if holds(slices.Delete(slices.Clone(all), i, i+1)...) {
			t.Errorf("a block without %d holds everything", seq)
		}
	}
	gap := blockfile.Record{Kind: blockfile.Message + 1, Seq: 14}
	if extent.Holds([]blockfile.Record{{Seq: 11}, {Seq: 13}, gap, {Seq: 17}, {Seq: 18}, {Seq: 19}, {Seq: 20}}) {
		t.Error("a record of another kind counts as a message")
	}
}
