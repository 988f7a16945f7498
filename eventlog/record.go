package eventlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"time"
)

// A record is the data of one call of Append, AppendDelta or PutSnapshot: a body, split into parts
// of at most partSize bytes, each a separate message with the same header.
//
//	byte       format, 1
//	byte       kind
//	8 bytes    epoch of the log
//	uvarints   owner, first, sub, count, time, part, parts
//	bytes      the part of the body
//	4 bytes    CRC-32C of everything before it, big endian
//
// The body has the lengths of the count events as uvarints, and then their bytes.
const partSize = 256 << 10

// Format is the format of the records that this package writes, and the newest that it reads.
const Format = 1

// kind is the kind of a record.
type kind byte

const (
	kindEvents kind = iota + 1
	kindDeltas
	kindSnapshot
)

// header is the start of every part of a record.
type header struct {
	kind        kind
	epoch       [8]byte
	owner       uint64 // for deltas
	first       uint64 // the number of the first event; for deltas and snapshots, of the preceding event
	sub         uint64 // the counter of the first delta; for a snapshot, of the last included delta
	count       uint64 // number of events or deltas; 1 for a snapshot
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
	var msgs [][]byte
	for msg := range recordParts(h, data) {
		msgs = append(msgs, bytes.Clone(msg))
	}
	return msgs
}

// recordParts yields the messages of a record, all in one buffer: a message is valid until the next. The data may be
// large, and is copied nowhere else.
func recordParts(h header, data [][]byte) iter.Seq[[]byte] { return pieceParts(h, inPieces(data)) }

// inPieces returns events that are one piece each.
func inPieces(events [][]byte) [][][]byte {
	all := make([][][]byte, len(events))
	for i := range events {
		all[i] = events[i : i+1]
	}
	return all
}

// pieceParts is recordParts for events that consist of pieces.
func pieceParts(h header, events [][][]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var lengths []byte
		size := 0
		body := make([][]byte, 1, 1+len(events))
		for _, pieces := range events {
			n := 0
			for _, piece := range pieces {
				n += len(piece)
			}
			lengths = binary.AppendUvarint(lengths, uint64(n))
			size += n
			body = append(body, pieces...)
		}
		body[0] = lengths
		h.count = uint64(len(events))
		h.parts = max(1, (uint64(len(lengths)+size)+partSize-1)/partSize)
		msg := make([]byte, 0, min(len(lengths)+size, partSize)+maxHeader+4)
		for ; h.part < h.parts; h.part++ {
			msg = appendHeader(msg[:0], &h)
			msg, body = appendChunk(msg, body, partSize)
			msg = binary.BigEndian.AppendUint32(msg, crc32.Checksum(msg, castagnoli))
			if !yield(msg) {
				return
			}
		}
	}
}

// maxHeader is the size limit of a header in bytes.
const maxHeader = 2 + 8 + 7*binary.MaxVarintLen64

func appendHeader(msg []byte, h *header) []byte {
	msg = append(msg, Format, byte(h.kind))
	msg = append(msg, h.epoch[:]...)
	for _, n := range []uint64{h.owner, h.first, h.sub, h.count, uint64(h.time.UnixNano()), h.part, h.parts} {
		msg = binary.AppendUvarint(msg, n)
	}
	return msg
}

// appendChunk appends at most n bytes of a body to a message, and returns the rest of the body.
func appendChunk(msg []byte, body [][]byte, n int) ([]byte, [][]byte) {
	for n > 0 && len(body) > 0 {
		piece := body[0][:min(n, len(body[0]))]
		msg = append(msg, piece...)
		n -= len(piece)
		if body[0] = body[0][len(piece):]; len(body[0]) == 0 {
			body = body[1:]
		}
	}
	return msg, body
}

// decodePart decodes one message of a record. The chunk shares memory with msg. The error is ErrFormat
// for a record of a newer format.
func decodePart(msg []byte) (h header, chunk []byte, err error) {
	if len(msg) > 0 && msg[0] > Format {
		return h, nil, fmt.Errorf("%w: record of format %d, known are formats up to %d", ErrFormat, msg[0], Format)
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

// check rejects headers that no writer creates.
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

// joiner joins the parts of records. An unfinished record, because its writer exited, is dropped
// when the next one starts.
type joiner struct {
	head header
	next uint64 // the next part; 0 before a record
	body []byte
}

// add adds a message and returns its record if that is complete, else a nil slice. A part without the start
// of its record is errRecord.
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
