package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

// A record is what one call of Append, AppendDelta or PutSnapshot stores: a body, split into
// parts of at most partSize bytes, each a message of its own with the same header.
//
//	byte       format, 1
//	byte       kind
//	8 bytes    epoch of the log
//	uvarints   owner, first, sub, count, time, part, parts
//	bytes      the part of the body
//	4 bytes    CRC-32C of everything before it, big endian
//
// The body has the lengths of the count events as uvarints, and then their bytes.
const (
	formatVersion = 1
	partSize      = 256 << 10
)

// kind says what a record holds.
type kind byte

const (
	kindEvents kind = iota + 1
	kindDeltas
	kindSnapshot
)

// header is what every part of a record starts with.
type header struct {
	kind        kind
	epoch       [8]byte
	owner       uint64 // of deltas
	first       uint64 // the number of the first event; of the event that deltas or a snapshot follow
	sub         uint64 // the counter of the first delta; of the delta that a snapshot holds
	count       uint64 // how many events or deltas; 1 for a snapshot
	time        time.Time
	part, parts uint64 // part counts from 0
}

// last returns the number of the last event of a record of events.
func (h *header) last() uint64 { return h.first + h.count - 1 }

// complete reports whether the part is its record's last.
func (h *header) complete() bool { return h.part+1 == h.parts }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errRecord is wrapped by every error for bytes that are not a record.
var errRecord = errors.New("not a record")

// encodeRecord returns the messages of a record.
func encodeRecord(h header, data ...[]byte) [][]byte {
	h.count = uint64(len(data))
	body := encodeBody(data)
	h.parts = max(1, (uint64(len(body))+partSize-1)/partSize)
	msgs := make([][]byte, 0, h.parts)
	for ; h.part < h.parts; h.part++ {
		n := min(len(body), partSize)
		msgs = append(msgs, encodePart(&h, body[:n]))
		body = body[n:]
	}
	return msgs
}

func encodeBody(data [][]byte) []byte {
	size := 0
	for _, d := range data {
		size += len(d) + binary.MaxVarintLen32
	}
	body := make([]byte, 0, size)
	for _, d := range data {
		body = binary.AppendUvarint(body, uint64(len(d)))
	}
	for _, d := range data {
		body = append(body, d...)
	}
	return body
}

func encodePart(h *header, chunk []byte) []byte {
	msg := make([]byte, 0, len(chunk)+90)
	msg = append(msg, formatVersion, byte(h.kind))
	msg = append(msg, h.epoch[:]...)
	for _, n := range []uint64{h.owner, h.first, h.sub, h.count, uint64(h.time.UnixNano()), h.part, h.parts} {
		msg = binary.AppendUvarint(msg, n)
	}
	msg = append(msg, chunk...)
	return binary.BigEndian.AppendUint32(msg, crc32.Checksum(msg, castagnoli))
}

// decodePart reads one message of a record. The chunk shares memory with msg. The error is ErrFormat for
// a record of a newer format.
func decodePart(msg []byte) (h header, chunk []byte, err error) {
	if len(msg) > 0 && msg[0] > formatVersion {
		return h, nil, fmt.Errorf("%w: record of format %d, known are formats up to %d", ErrFormat, msg[0], formatVersion)
	}
	if len(msg) < 2+len(h.epoch)+4 || msg[0] == 0 {
		return h, nil, fmt.Errorf("%w: %d bytes", errRecord, len(msg))
	}
	sum := len(msg) - 4
	if crc32.Checksum(msg[:sum], castagnoli) != binary.BigEndian.Uint32(msg[sum:]) {
		return h, nil, fmt.Errorf("%w: wrong checksum", errRecord)
	}
	h.kind = kind(msg[1])
	copy(h.epoch[:], msg[2:])
	rest := msg[2+len(h.epoch) : sum]
	var nanos uint64
	for _, p := range []*uint64{&h.owner, &h.first, &h.sub, &h.count, &nanos, &h.part, &h.parts} {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return h, nil, fmt.Errorf("%w: cut off header", errRecord)
		}
		*p, rest = n, rest[size:]
	}
	h.time = time.Unix(0, int64(nanos)).UTC()
	return h, rest, h.check()
}

// check refuses headers that no writer makes.
func (h *header) check() error {
	switch {
	case h.kind < kindEvents || h.kind > kindSnapshot:
		return fmt.Errorf("%w: kind %d", errRecord, h.kind)
	case h.part >= h.parts:
		return fmt.Errorf("%w: part %d of %d", errRecord, h.part+1, h.parts)
	case h.count == 0 || h.kind == kindEvents && (h.first == 0 || h.last() < h.first):
		return fmt.Errorf("%w: %d events from %d on", errRecord, h.count, h.first)
	case h.kind == kindDeltas && (h.sub == 0 || h.sub+h.count-1 < h.sub):
		return fmt.Errorf("%w: %d deltas from %d on", errRecord, h.count, h.sub)
	case h.kind == kindSnapshot && h.count != 1:
		return fmt.Errorf("%w: %d states in a snapshot", errRecord, h.count)
	}
	return nil
}

// decodeBody splits the body of a record into count slices, which share its memory.
func decodeBody(body []byte, count uint64) ([][]byte, error) {
	if count > uint64(len(body)) {
		return nil, fmt.Errorf("%w: %d events in %d bytes", errRecord, count, len(body))
	}
	lens := make([]int, count)
	for i := range lens {
		n, size := binary.Uvarint(body)
		if size <= 0 || n > uint64(len(body)) {
			return nil, fmt.Errorf("%w: cut off lengths", errRecord)
		}
		lens[i], body = int(n), body[size:]
	}
	data := make([][]byte, count)
	for i, n := range lens {
		if n > len(body) {
			return nil, fmt.Errorf("%w: cut off event", errRecord)
		}
		data[i], body = body[:n:n], body[n:]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: %d bytes too many", errRecord, len(body))
	}
	return data, nil
}

// joiner puts the parts of records together. A record that was not finished, because its
// writer died, is dropped when the next one starts.
type joiner struct {
	head header
	next uint64 // the part that comes next; 0 before a record
	body []byte
}

// add takes a message and returns its record once that is complete, else a nil slice. An orphan part, whose
// record's start is missing, is errRecord.
func (j *joiner) add(msg []byte) (header, [][]byte, error) {
	h, chunk, err := decodePart(msg)
	if err != nil {
		return h, nil, err
	}
	switch {
	case h.part == 0:
		*j = joiner{head: h}
	case h.part != j.next || !sameRecord(&h, &j.head):
		*j = joiner{}
		return h, nil, fmt.Errorf("%w: part %d of %d without the part before it", errRecord, h.part+1, h.parts)
	}
	if h.parts == 1 {
		data, err := decodeBody(chunk, h.count)
		return h, data, err
	}
	j.body, j.next = append(j.body, chunk...), h.part+1
	if !h.complete() {
		return h, nil, nil
	}
	data, err := decodeBody(j.body, h.count)
	*j = joiner{}
	return h, data, err
}

func sameRecord(a, b *header) bool {
	x := *a
	x.part = b.part
	return x == *b
}
