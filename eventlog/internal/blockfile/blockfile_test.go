package blockfile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/minio/highwayhash"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

var block = blockfile.Block{Stream: "LOG", Index: 7, Prefix: "log.", Sound: func(_, payload []byte) bool { return bytes.HasPrefix(payload, []byte("{")) }}

// encode returns a record as the server writes it.
func encode(seq uint64, subject, header, payload string) []byte {
	size := uint32(30 + len(subject) + len(payload))
	body := payload
	if header != "" {
		size = (size + 4 + uint32(len(header))) | 1<<31
		body = header + payload
	}
	raw := binary.LittleEndian.AppendUint32(nil, size)
	raw = binary.LittleEndian.AppendUint64(raw, seq)
	when := uint64(1_700_000_000_000_000_000)
	if seq>>63 != 0 {
		when = 0
	}
	raw = binary.LittleEndian.AppendUint64(raw, when)
	key := sha256.Sum256([]byte("LOG-7"))
	hash, _ := highwayhash.NewDigest64(key[:])
	hash.Write(raw[4:])
	hash.Write([]byte(subject + body))
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(subject)))
	raw = append(raw, subject...)
	if header != "" {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(header)))
	}
	return hash.Sum(append(raw, body...))
}

// randomBlock returns a block with records of every kind and of many sizes.
func randomBlock(r *rand.Rand, n int) (data []byte, offsets []int) {
	for seq := uint64(1); seq <= uint64(n); seq++ {
		offsets = append(offsets, len(data))
		payload := "{" + string(bytes.Repeat([]byte{'x', byte(r.Uint32())}, r.IntN(1+1<<r.IntN(12))))
		switch r.IntN(8) {
		case 0:
			data = append(data, encode(seq|1<<62, "", "", "")...)
		case 1:
			data = append(data, encode(seq|1<<63, "", "", payload)...)
		case 2, 3, 4:
			data = append(data, encode(seq, "log.a", "", payload)...)
		default:
			data = append(data, encode(seq, fmt.Sprint("log.s", seq), "NATS/1.0\r\nA: b\r\n\r\n", payload)...)
		}
	}
	return data, offsets
}

// TestScan damages a block at random: it finds exactly the intact records, and reports a span where bytes changed.
func TestScan(t *testing.T) {
	for seed := range uint64(short.Count(200, 1000, 20_000)) {
		r := rand.New(rand.NewPCG(seed, 1))
		whole, offsets := randomBlock(r, 1+r.IntN(30))
		data := slices.Clone(whole)
		from := r.IntN(len(data))
		to := min(len(data), from+1+r.IntN(1<<r.IntN(12)))
		switch r.IntN(4) {
		case 0:
			data[from] ^= 1 << r.IntN(8)
			to = from + 1
		case 1:
			clear(data[from:to])
		case 2:
			for i := from; i < to; i++ {
				data[i] = byte(r.Uint32())
			}
		case 3:
			data, to = data[:from], len(whole)
		}
		records, bad := block.Scan(data)
		var want, got []string
		for i, at := range offsets {
			end := append(offsets, len(whole))[i+1]
			if end <= len(data) && bytes.Equal(whole[at:end], data[at:end]) {
				want = append(want, string(whole[at:end]))
			}
		}
		size := 0
		for _, rec := range records {
			got, size = append(got, string(rec.Raw)), size+len(rec.Raw)
		}
		for _, span := range bad {
			size += span.To - span.From
		}
		if !slices.Equal(got, want) || size != len(data) {
			t.Fatalf("seed %d: %d records of %d, %d bytes of %d, bad %v after damage at [%d, %d)", seed, len(got), len(want), size, len(data), bad, from, to)
		}
	}
}

// TestScan_kinds reads the content of each kind of record.
func TestScan_kinds(t *testing.T) {
	data := slices.Concat(encode(5, "log.a", "NATS/1.0\r\nA: b\r\n\r\n", "{1}"), encode(6, "log.b", "", "{2}"), encode(5|1<<62, "", "", ""), encode(6|1<<63, "", "", "??"))
	records, bad := block.Scan(data)
	got := ""
	for _, r := range records {
		got += fmt.Sprintf("%d %d %s %s;", r.Kind, r.Seq, r.Subject, r.Payload)
	}
	if want := "0 5 log.a {1};0 6 log.b {2};1 5  ;2 6  ;"; got != want || bad != nil {
		t.Errorf("records %q, bad %v, want %q", got, bad, want)
	}
}

// TestScan_bound scans a block that looks like the start of a long record everywhere. Without a limit each
// position would be hashed to the end.
func TestScan_bound(t *testing.T) {
	var piece []byte
	piece = binary.LittleEndian.AppendUint32(piece, 1<<20)
	piece = append(piece, make([]byte, 16)...)
	piece = binary.LittleEndian.AppendUint16(piece, 5)
	data := bytes.Repeat(append(piece, "log.a"...), 4<<20/27)
	start := time.Now()
	if records, bad := block.Scan(data); len(records) != 0 || len(bad) != 1 {
		t.Errorf("%d records, bad %v", len(records), bad)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
