package blockfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/minio/highwayhash"
	"github.com/nats-io/nats-server/v2/server/avl"
)

// Index is the server's index of a stream. The server writes it when it stops and relies on it when
// it starts.
type Index struct {
	Msgs, Last uint64         // number of messages of the stream, and its last sequence
	Subjects   map[string]int // the number of the first block that may contain a subject
	Blocks     map[int]Extent
	LastBlock  int
	LastSum    [sumSize]byte // the checksum of the last record of the last block
}

// Extent is the index entry of a block.
type Extent struct {
	Bytes       uint64 // bytes of its messages that are not deleted
	First, Last uint64 // sequences
	LastTime    int64  // of the last message, in nanoseconds since 1970
	deleted     *avl.SequenceSet
}

// The version of the index that this package reads; the server writes no other.
const (
	indexMagic   = 11
	indexVersion = 4
)

var errIndex = errors.New("blockfile: not an index of a known form")

// ReadIndex decodes an index. It rejects an index that the server would reject by its content.
func ReadIndex(stream string, data []byte) (*Index, error) {
	at := len(data) - sumSize
	key := sha256.Sum256([]byte(stream))
	hash, _ := highwayhash.NewDigest64(key[:]) // fails only for a key of another size
	if at < 2 || data[0] != indexMagic || data[1] != indexVersion {
		return nil, errIndex
	}
	hash.Write(data[:at])
	if !bytes.Equal(hash.Sum(nil), data[at:]) {
		return nil, errIndex
	}
	r := &indexReader{data[2:at]}
	x := &Index{Subjects: map[string]int{}, Blocks: map[int]Extent{}}
	x.Msgs = r.uint()
	bytesAll, first := r.uint(), r.uint()
	base := r.int()
	x.Last = r.uint()
	r.int() // the time of the last message
	for n := r.uint(); n > 0 && r.data != nil; n-- {
		subject := string(r.take(r.uint()))
		r.uint() // the number of messages with the subject
		x.Subjects[subject] = int(r.uint())
		r.uint() // its last block
	}
	var msgs, size uint64
	for n := r.uint(); n > 0 && r.data != nil; n-- {
		number, e := r.extent(base)
		live := e.Last + 1 - e.First - uint64(e.deleted.Size())
		if live == 0 {
			continue // the server drops it
		}
		x.Blocks[number] = e
		msgs, size = msgs+live, size+e.Bytes
	}
	x.LastBlock = int(r.uint())
	copy(x.LastSum[:], r.take(sumSize))
	if r.data == nil || len(r.data) > 0 || msgs != x.Msgs || size != bytesAll || first > x.Last+1 {
		return nil, errIndex
	}
	return x, nil
}

// Holds reports whether the records contain every message that the index lists for a block.
func (e *Extent) Holds(records []Record) bool {
	next := e.First
	for _, r := range records {
		if r.Kind != Message || r.Seq < next {
			continue
		}
		for ; next < r.Seq && next <= e.Last; next++ {
			if !e.deleted.Exists(next) {
				return false
			}
		}
		next = r.Seq + 1
	}
	for ; next <= e.Last; next++ {
		if !e.deleted.Exists(next) {
			return false
		}
	}
	return true
}

// indexReader reads the numbers of an index; its data is nil after an incomplete number.
type indexReader struct{ data []byte }

func (r *indexReader) uint() uint64 {
	v, n := binary.Uvarint(r.data)
	r.skip(n)
	return v
}

func (r *indexReader) int() int64 {
	v, n := binary.Varint(r.data)
	r.skip(n)
	return v
}

func (r *indexReader) skip(n int) {
	if n <= 0 || n > len(r.data) {
		r.data = nil
		return
	}
	r.data = r.data[n:len(r.data):len(r.data)]
}

func (r *indexReader) take(n uint64) []byte {
	if n == 0 || n > uint64(len(r.data)) {
		r.data = nil
		return nil
	}
	part := r.data[:n]
	r.skip(int(n))
	return part
}

// extent reads the index entry of a block; times are relative to base.
func (r *indexReader) extent(base int64) (number int, e Extent) {
	number = int(r.uint())
	e.Bytes, e.First = r.uint(), r.uint()
	r.int() // the time of the first message
	e.Last = r.uint()
	e.LastTime = base + r.int()
	deleted := r.uint()
	r.uint() // messages with a lifetime
	r.uint() // scheduled messages
	e.deleted = &avl.SequenceSet{}
	if deleted > 0 && r.data != nil {
		set, n, err := avl.Decode(r.data)
		if err != nil || uint64(set.Size()) != deleted {
			r.data = nil
			return number, e
		}
		e.deleted = set
		r.skip(n)
	}
	return number, e
}
