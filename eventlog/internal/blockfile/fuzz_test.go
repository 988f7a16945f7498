package blockfile_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/minio/highwayhash"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// FuzzScan reads arbitrary blocks: records and bad spans cover the block without overlap, and the records alone are a block without a
// bad span that has the same records.
func FuzzScan(f *testing.F) {
	whole, _ := randomBlock(rand.New(rand.NewPCG(1, 1)), 8)
	f.Add(whole)
	f.Add(whole[3:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		records, bad := block.Scan(data)
		size := 0
		var sound []byte
		for _, r := range records {
			size += len(r.Raw)
			sound = append(sound, r.Raw...)
		}
		for _, s := range bad {
			size += s.To - s.From
		}
		if size != len(data) {
			t.Fatalf("records and bad spans have %d bytes of %d", size, len(data))
		}
		again, left := block.Scan(sound)
		if len(left) > 0 || len(again) != len(records) {
			t.Fatalf("the sound records are read as %d records of %d, with %d bad spans", len(again), len(records), len(left))
		}
	})
}

// FuzzReadIndex reads arbitrary content with a valid checksum. It must never panic.
func FuzzReadIndex(f *testing.F) {
	f.Add([]byte{22, 1, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		key := sha256.Sum256([]byte("LOG"))
		hash, err := highwayhash.NewDigest64(key[:])
		if err != nil {
			t.Fatal(err)
		}
		hash.Write(data)
		for _, content := range [][]byte{data, hash.Sum(append([]byte{}, data...))} {
			x, err := blockfile.ReadIndex("LOG", content)
			if (x == nil) != (err != nil) {
				t.Fatalf("ReadIndex returns %v and %v", x, err)
			}
			if err == nil {
				for _, e := range x.Blocks {
					e.Holds(nil)
				}
			}
		}
	})
}
