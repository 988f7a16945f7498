package eventlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/internal/test/largealloc"
)

func testHeader() header {
	return header{
		kind: kindEvents, epoch: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, owner: 300, first: 1 << 40, sub: 0,
		time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}
}

func TestRecord_roundTrip(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789"), 100_000)
	for name, data := range map[string][][]byte{
		"one": {[]byte("x")}, "empty": {nil}, "several": {[]byte("a"), nil, []byte("ccc")}, "large": {large, []byte("x"), large},
		"full part": {large[:partSize-3]}, "one byte more": {large[:partSize-2]},
	} {
		msgs := encodeRecord(testHeader(), data...)
		var join joiner
		for i, msg := range msgs {
			if len(msg) > partSize+100 {
				t.Errorf("%s: part %d has %d bytes", name, i, len(msg))
			}
			h, got, err := join.add(msg)
			if err != nil {
				t.Fatalf("%s: part %d: %v", name, i, err)
			}
			if last := i == len(msgs)-1; last != (got != nil) || last != h.complete() {
				t.Errorf("%s: part %d of %d is complete: %v", name, i, len(msgs), got != nil)
			}
			if got != nil && !slices.EqualFunc(got, data, bytes.Equal) {
				t.Errorf("%s: got other data", name)
			}
			want := testHeader()
			want.count, want.part, want.parts = uint64(len(data)), uint64(i), uint64(len(msgs))
			if !reflect.DeepEqual(h, want) {
				t.Errorf("%s: header %+v, want %+v", name, h, want)
			}
		}
	}
}

// TestRecord_golden reads a record of format 1, which every later version has to support.
func TestRecord_golden(t *testing.T) {
	msg := encodeRecord(testHeader(), []byte("first"), []byte("second"))[0]
	name := filepath.Join("testdata", "record-1.hex")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	old, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	var join joiner
	h, data, err := join.add(old)
	if err != nil || h.first != 1<<40 || h.owner != 300 || len(data) != 2 || string(data[1]) != "second" {
		t.Errorf("%+v, %q, %v; want err == nil and h.first == 1<<40 and h.owner == 300 and len(data) == 2 and string(data[1]) == \"second\"", h, data, err)
	}
	if !bytes.Equal(msg, old) {
		t.Errorf("the format has changed: a new one needs another number\ngot  %x\nwant %x", msg, old)
	}
}

func TestRecord_newerFormat(t *testing.T) {
	msg := encodeRecord(testHeader(), []byte("x"))[0]
	msg[0]++
	var join joiner
	if _, _, err := join.add(msg); !errors.Is(err, ErrFormat) {
		t.Errorf("record of a newer format: %v", err)
	}
}

// TestJoiner_unfinished joins records that their writers did not finish.
func TestJoiner_unfinished(t *testing.T) {
	large := make([]byte, 3*partSize)
	parts := encodeRecord(testHeader(), large)
	whole := encodeRecord(testHeader(), []byte("whole"))[0]
	other := testHeader()
	other.first++
	others := encodeRecord(other, large)
	for name, tt := range map[string]struct {
		msgs  [][]byte
		wrong int // number of messages that are errors
	}{
		"whole after a part":     {[][]byte{parts[0], parts[1], whole}, 0},
		"again from the start":   {append([][]byte{parts[0], parts[1], parts[0], parts[1]}, append(parts[2:], whole)...), 0},
		"orphan":                 {[][]byte{parts[1], whole}, 1},
		"missing part":           {[][]byte{parts[0], parts[2], whole}, 1},
		"late part":              {[][]byte{parts[0], parts[2], parts[1], whole}, 2},
		"part of another record": {[][]byte{parts[0], others[1], whole}, 1},
	} {
		var join joiner
		wrong := 0
		var last [][]byte
		for _, msg := range tt.msgs {
			_, data, err := join.add(msg)
			if errors.Is(err, errRecord) {
				wrong++
			} else if err != nil {
				t.Fatal(err)
			}
			last = data
		}
		if wrong != tt.wrong || len(last) != 1 || string(last[0]) != "whole" {
			t.Errorf("%s: %d errors, want %d; last %.10q", name, wrong, tt.wrong, last)
		}
	}
}

// FuzzRecord decodes arbitrary messages: none panics or uses more memory than its size, and decoded messages encode to the same bytes.
func FuzzRecord(f *testing.F) {
	f.Add(encodeRecord(testHeader(), []byte("a"), nil, []byte("b"))[0])
	f.Add(encodeRecord(header{kind: kindDeltas, first: 1, sub: 1}, []byte("delta"))[0])
	f.Add(encodeRecord(header{kind: kindSnapshot, first: 1}, []byte("state"))[0])
	f.Add([]byte{})
	f.Add([]byte{2, 1})
	f.Fuzz(func(t *testing.T, msg []byte) {
		check := func(msg []byte) {
			var join joiner
			h, data, err := join.add(msg)
			if err != nil {
				if !errors.Is(err, errRecord) && !errors.Is(err, ErrFormat) {
					t.Fatalf("unnamed error %v", err)
				}
				return
			}
			if data == nil {
				return
			}
			again := encodeRecord(header{kind: h.kind, epoch: h.epoch, owner: h.owner, first: h.first, sub: h.sub, time: h.time}, data...)
			var join2 joiner
			h2, data2, err := join2.add(again[0])
			if err == nil && len(again) == 1 && (h2 != h || !slices.EqualFunc(data, data2, bytes.Equal)) {
				t.Fatalf("%+v became %+v", h, h2)
			}
		}
		check(msg)
		check(seal(msg)) // with a valid checksum
	})
}

// seal sets a valid checksum and a known format, so that fuzzing gets past them.
func seal(msg []byte) []byte {
	content := bytes.Clone(msg[:max(0, len(msg)-4)])
	if len(content) > 0 {
		content[0] = Format
	}
	return binary.BigEndian.AppendUint32(content, crc32.Checksum(content, castagnoli))
}

// TestRecordParts_copies checks that the parts of a large record are created one at a time.
func TestRecordParts_copies(t *testing.T) {
	if !largealloc.Exact {
		t.Skip("the race detector makes copies")
	}
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<19)
	var joined joiner
	var got [][]byte
	stacks := largealloc.Stacks(int64(len(large)/2), func() {
		for msg := range recordParts(testHeader(), [][]byte{[]byte("small"), large, nil}) {
			if len(msg) > partSize+maxHeader+4 {
				t.Errorf("a part has %d bytes, want at most %d and its header", len(msg), partSize)
			}
		}
	})
	if len(stacks) != 0 {
		t.Errorf("%d copies of the data, want none:\n%s", len(stacks), strings.Join(stacks, "\n"))
	}
	for msg := range recordParts(testHeader(), [][]byte{[]byte("small"), large, nil}) {
		_, data, err := joined.add(msg)
		if err != nil {
			t.Fatal(err)
		}
		got = data
	}
	if len(got) != 3 || string(got[0]) != "small" || !bytes.Equal(got[1], large) || len(got[2]) != 0 {
		t.Errorf("the parts make %d other events", len(got))
	}
}

// TestPieceParts checks that the pieces of an event are one event, however they are cut.
func TestPieceParts(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789"), partSize/5)
	for _, cut := range []int{0, 1, partSize - 1, partSize, len(large)} {
		var joined joiner
		var got [][]byte
		for msg := range pieceParts(testHeader(), [][][]byte{{[]byte("a"), nil, []byte("b")}, {large[:cut], large[cut:]}, {}}) {
			_, data, err := joined.add(msg)
			if err != nil {
				t.Fatal(err)
			}
			got = data
		}
		if len(got) != 3 || string(got[0]) != "ab" || !bytes.Equal(got[1], large) || len(got[2]) != 0 {
			t.Errorf("cut at %d: the parts make %d other events", cut, len(got))
		}
	}
}
