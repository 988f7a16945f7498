// Package blockfile reads the block files of a NATS file store without the server. The server cuts a block at its first bad record;
// [Scan] continues after it. Blocks must be neither compressed nor encrypted.
package blockfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/minio/highwayhash"
)

// A record, little endian:
//
//	4 bytes    length of the record; the top bit: it has a header
//	8 bytes    sequence, with the bits of a tombstone and of an erased message
//	8 bytes    time
//	2 bytes    length of the subject
//	bytes      subject
//	4 bytes    length of the header, if there is one
//	bytes      header, payload
//	8 bytes    HighwayHash of sequence, time, subject, header and payload
//
// The checksum covers none of the lengths.
const (
	fixed     = 22
	sumSize   = 8
	minRecord = fixed + sumSize
	maxRecord = 32 << 20

	headerBit = 1 << 31
	erasedBit = 1 << 63
	tombBit   = 1 << 62
)

// Kind is the kind of a record.
type Kind byte

// The kinds of records: a message, a mark that a message was deleted, and a message with overwritten content.
const (
	Message Kind = iota
	Tombstone
	Erased
)

// Record is a record with a valid checksum. Its slices share the memory of the block.
type Record struct {
	Kind             Kind
	Seq              uint64 // for a tombstone: the sequence of the deleted message
	Subject, Payload []byte
	Raw              []byte // the complete record
}

// Span is a part of a block, from the offset From to the one before To.
type Span struct{ From, To int }

// Block identifies a block file and the form of its messages.
type Block struct {
	Stream string
	Index  int
	Prefix string // prefix of the subject of each message
	// Sound reports whether a message with a valid checksum was written by its writer. It detects wrong lengths, which the
	// checksum does not cover; nil accepts all.
	Sound func(subject, payload []byte) bool
}

// Scan returns the valid records of a block in order, and the invalid spans between them. Its time is linear in the size of data:
// the bytes that it hashes to find the next record are limited.
func (b *Block) Scan(data []byte) (records []Record, bad []Span) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", b.Stream, b.Index))
	hash, _ := highwayhash.NewDigest64(key[:]) // fails only for a key of another size
	s := scanner{b, data, hash, 8*len(data) + 1<<20}
	for at := 0; at < len(data); {
		r, ok := s.record(at)
		if !ok {
			next := s.next(at + 1)
			bad = append(bad, Span{at, next})
			at = next
			continue
		}
		records = append(records, r)
		at += len(r.Raw)
	}
	return records, bad
}

// scanner is a scan of a block.
type scanner struct {
	*Block
	data   []byte
	hash   *highwayhash.Digest64
	budget int // number of bytes that may still be hashed to find a record after damage
}

// next returns the offset of the first record at or after an offset, or the end of the block.
func (s *scanner) next(at int) int {
	for ; at+minRecord <= len(s.data); at++ {
		raw, subject, body, ok := s.frame(at)
		if !ok || !s.plausible(raw, subject) {
			continue
		}
		if s.budget -= len(raw); s.budget < 0 {
			break
		}
		if _, ok := s.verify(raw, subject, body); ok {
			return at
		}
	}
	return len(s.data)
}

// plausible reports whether the start of a record looks valid, so that few positions are hashed.
func (s *scanner) plausible(raw, subject []byte) bool {
	seq := binary.LittleEndian.Uint64(raw[4:])
	switch {
	case seq&tombBit != 0:
		return len(raw) == minRecord
	case seq&erasedBit != 0:
		return len(subject) == 0 && (len(raw) == minRecord || binary.LittleEndian.Uint64(raw[12:]) == 0)
	}
	return bytes.HasPrefix(subject, []byte(s.Prefix))
}

// record returns the record at an offset, if it is valid.
func (s *scanner) record(at int) (Record, bool) {
	raw, subject, body, ok := s.frame(at)
	if !ok {
		return Record{}, false
	}
	return s.verify(raw, subject, body)
}

// frame splits the bytes at an offset according to its lengths: body starts with the length of a header, if it has one.
func (s *scanner) frame(at int) (raw, subject, body []byte, ok bool) {
	rest := s.data[at:]
	if len(rest) < minRecord {
		return nil, nil, nil, false
	}
	size := int(binary.LittleEndian.Uint32(rest) &^ headerBit)
	subjectEnd := fixed + int(binary.LittleEndian.Uint16(rest[20:]))
	bodyStart := subjectEnd
	if rest[3]&0x80 != 0 {
		bodyStart += 4
	}
	if size > len(rest) || size > maxRecord || bodyStart > size-sumSize {
		return nil, nil, nil, false
	}
	return rest[:size:size], rest[fixed:subjectEnd], rest[subjectEnd : size-sumSize], true
}

// verify checks a framed record.
func (s *scanner) verify(raw, subject, body []byte) (Record, bool) {
	hasHeader := raw[3]&0x80 != 0
	hashed, payload := body, body
	if hasHeader {
		hashed = body[4:]
	}
	s.hash.Reset()
	s.hash.Write(raw[4:20])
	s.hash.Write(subject)
	s.hash.Write(hashed)
	var sum [sumSize]byte
	if !bytes.Equal(s.hash.Sum(sum[:0]), raw[len(raw)-sumSize:]) {
		return Record{}, false
	}
	seq := binary.LittleEndian.Uint64(raw[4:])
	r := Record{Seq: seq &^ (erasedBit | tombBit), Subject: subject, Raw: raw}
	switch {
	case seq&tombBit != 0:
		r.Kind = Tombstone
		return r, len(raw) == minRecord
	case seq&erasedBit != 0:
		r.Kind = Erased
		return r, len(subject) == 0
	}
	if hasHeader {
		size := uint64(binary.LittleEndian.Uint32(body))
		if size > uint64(len(hashed)) || !bytes.HasPrefix(hashed, []byte("NATS/1.0")) || !bytes.HasSuffix(hashed[:size], []byte("\r\n\r\n")) {
			return Record{}, false
		}
		payload = hashed[size:]
	}
	r.Payload = payload
	return r, bytes.HasPrefix(subject, []byte(s.Prefix)) && (s.Sound == nil || s.Sound(subject, payload))
}
