package eventlog

import (
	"context"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// blockID identifies a block.
type blockID struct {
	stream string
	index  int
}

// closedBlock describes a block to which the server no longer appends. When it was recorded, every record had a valid checksum and
// no record was missing.
type closedBlock struct {
	fileStamp
	Sum   uint32 `json:"sum"` // CRC-32C
	First uint64 `json:"first"`
	Last  uint64 `json:"last"` // the sequences of its messages
}

// blockList holds the closed blocks of each stream, by number.
type blockList map[string]map[int]closedBlock

func (l blockList) add(id blockID, b closedBlock) {
	if l[id.stream] == nil {
		l[id.stream] = map[int]closedBlock{}
	}
	l[id.stream][id.index] = b
}

// Tests shorten them.
var (
	// dedupeTime is the minimum age of the newest message of a block so that the server does not read the block at its start, to fill its
	// window of message ids.
	dedupeTime = 2 * time.Second
	// checkDelay is the delay of the background check after Open.
	checkDelay = time.Second
	// lookInterval is the interval at which an open store checks its blocks for changes by others than the server.
	lookInterval = time.Second
)

// maxForgettable is the number of deleted logs in the checkpoint above which Open reads all blocks, to determine which it can drop.
const maxForgettable = 10_000

// forgettable returns the number of deleted logs in the checkpoint.
func (c *checkpoint) forgettable() (n int) {
	for _, before := range c.Purged {
		if before == everything {
			n++
		}
	}
	return n
}

// describe returns the list entry of a block with these records.
func describe(stamp fileStamp, data []byte, records []blockfile.Record) closedBlock {
	b := closedBlock{fileStamp: stamp, Sum: crc32.Checksum(data, castagnoli)}
	for _, r := range records {
		if r.Kind == blockfile.Message {
			if b.First == 0 {
				b.First = r.Seq
			}
			b.Last = max(b.Last, r.Seq)
		}
	}
	return b
}

func stampOf(name string) (fileStamp, error) {
	info, err := os.Stat(name)
	if err != nil {
		return fileStamp{}, err
	}
	return fileStamp{info.Size(), info.ModTime()}, nil
}

func (d *dataDir) readIndex(stream string) (*blockfile.Index, error) {
	data, err := os.ReadFile(filepath.Join(d.streamDir(stream), "msgs", indexName))
	if err != nil {
		return nil, err
	}
	return blockfile.ReadIndex(stream, data)
}

// empty reports whether a stream has no messages, so that the server has written no index.
func (d *dataDir) empty(stream string) bool {
	indexes, err := d.blocks(stream)
	for _, index := range indexes {
		stamp, statErr := stampOf(d.block(stream, index))
		if statErr != nil || stamp.Size > 0 {
			return false
		}
	}
	return err == nil
}

// readSound reads a block, and fails with ErrDamaged unless it has every message that the index lists for it.
func (d *dataDir) readSound(id blockID, x *blockfile.Index, buf *[]byte) (b closedBlock, err error) {
	stamp, err := d.readBlock(id, buf)
	if err != nil {
		return b, err
	}
	records, bad := scanBlock(id, *buf)
	extent, ok := x.Blocks[id.index]
	if len(bad) > 0 || ok && !extent.Holds(records) {
		return b, fmt.Errorf("%w: block %d of stream %s", ErrDamaged, id.index, id.stream)
	}
	return describe(stamp, *buf, records), nil
}

// list returns every block but the last of each stream. An unchanged block keeps its entry of an earlier list. It fails if a
// block is damaged.
func (d *dataDir) list(before blockList) (blockList, error) {
	all := blockList{}
	var buf []byte
	for stream := range blockStreams {
		indexes, err := d.blocks(stream)
		if err != nil {
			return nil, err
		}
		if len(indexes) < 2 {
			continue
		}
		x, err := d.readIndex(stream)
		if err != nil {
			return nil, err
		}
		for _, index := range indexes[:len(indexes)-1] {
			id := blockID{stream, index}
			stamp, err := stampOf(d.block(stream, index))
			if err != nil {
				return nil, err
			}
			b, ok := before[stream][index]
			if !ok || !b.equal(stamp) {
				if b, err = d.readSound(id, x, &buf); err != nil {
					return nil, err
				}
			}
			all.add(id, b)
		}
	}
	return all, nil
}

// examineNear checks the blocks that the server reads at a start with its index: the last one, those with recent messages, those that it may
// rewrite because most of their messages are deleted; and those that are not in the list. It returns the blocks left to check, or nil if
// every block of the store has to be checked.
func (d *dataDir) examineNear(c *checkpoint) *unchecked {
	u := &unchecked{dir: d, left: map[blockID]closedBlock{}, starts: map[string]map[string]int{}}
	c.live = map[string]int{}
	if c.forgettable() > maxForgettable {
		return nil
	}
	for stream := range blockStreams {
		x, err := d.readIndex(stream)
		if err != nil && d.empty(stream) {
			continue
		}
		indexes, listErr := d.blocks(stream)
		if err != nil || listErr != nil || len(indexes) == 0 {
			return nil
		}
		last := indexes[len(indexes)-1]
		for _, index := range indexes {
			id := blockID{stream, index}
			extent, indexed := x.Blocks[index]
			b, listed := c.Blocks[stream][index]
			near := index == last || extent.Last >= x.Last || extent.LastTime > time.Now().Add(-dedupeTime).UnixNano() || extent.Bytes*3/2 < uint64(b.Size)
			if indexed && listed && !near {
				u.left[id] = b
				continue
			}
			if _, err := d.readSound(id, x, &u.buf); err != nil {
				return nil
			}
		}
		for index := range x.Blocks {
			if !slices.Contains(indexes, index) {
				return nil
			}
		}
		if last != x.LastBlock {
			return nil
		}
		c.live[stream], u.starts[stream] = int(x.Msgs), x.Subjects
	}
	return u
}

// unchecked holds the closed blocks that Open has not read, because they are in the list. They are checked in the background, and before
// the server reads them: it cuts a damaged block at its first bad record. They cannot change before that, because removals wait for the
// end of the check.
type unchecked struct {
	dir    *dataDir
	starts map[string]map[string]int // by stream and subject: the first block that may contain it, at the time of Open
	buf    []byte                    // belongs to the holder of the store's turn to read blocks

	mu   sync.Mutex
	left map[blockID]closedBlock
}

// from returns the unchecked blocks of a stream from a number on, newest first.
func (u *unchecked) from(stream string, number int) (ids []blockID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for id := range u.left {
		if id.stream == stream && id.index >= number {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b blockID) int { return b.index - a.index })
	return ids
}

// check checks a block. It returns ErrDamaged for a block that differs from the list.
func (u *unchecked) check(id blockID) error {
	err := readInto(&u.buf, u.dir.block(id.stream, id.index))
	u.mu.Lock()
	defer u.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%w: block %d of stream %s: %w", ErrDamaged, id.index, id.stream, err)
	}
	if crc32.Checksum(u.buf, castagnoli) != u.left[id].Sum {
		return fmt.Errorf("%w: block %d of stream %s", ErrDamaged, id.index, id.stream)
	}
	delete(u.left, id)
	u.freeBuffer()
	return nil
}

// done drops the remaining blocks.
func (u *unchecked) done() {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.left)
	u.freeBuffer()
}

func (u *unchecked) freeBuffer() {
	if len(u.left) == 0 {
		u.buf = nil
	}
}

// ready checks the blocks that the server may read for a session: those from its first block on, including blocks of other sessions, since
// the server walks through them. A reader of the session never requests earlier blocks.
func (s *Store) ready(ctx context.Context, session string) error {
	return s.checked(ctx, func(u *unchecked) (ids []blockID) {
		for stream, prefix := range blockStreams {
			if from, ok := u.starts[stream][prefix+session]; ok {
				ids = append(ids, u.from(stream, from)...)
			}
		}
		return ids
	})
}

// readyAll checks the blocks of streams before the server may read or rewrite any of them.
func (s *Store) readyAll(ctx context.Context, streams ...string) error {
	return s.checked(ctx, func(u *unchecked) (ids []blockID) {
		for _, stream := range streams {
			ids = append(ids, u.from(stream, 0)...)
		}
		return ids
	})
}

// checked checks the blocks that pick returns, and repairs the store if one is damaged.
func (s *Store) checked(ctx context.Context, pick func(*unchecked) []blockID) error {
	u := s.unchecked
	if u == nil || len(pick(u)) == 0 {
		return nil
	}
	done, err := s.watch.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	for _, id := range pick(u) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := u.check(id); err != nil {
			_, err = s.repair(ctx, err)
			return err
		}
	}
	return nil
}

// checkRest checks the remaining blocks, one at a time, until ctx ends. It pauses half of the time for others.
func (s *Store) checkRest(ctx context.Context, delay time.Duration) {
	for more := wait(ctx, delay) == nil; more; {
		more = false
		start := time.Now()
		err := s.checked(ctx, func(u *unchecked) []blockID {
			for _, stream := range []string{snapshotStream, logStream} {
				if ids := u.from(stream, 0); len(ids) > 0 {
					more = true
					return ids[:1]
				}
			}
			return nil
		})
		if err != nil && ctx.Err() == nil {
			s.opts.Logger.Error("eventlog: damaged files are not salvaged; the next start tries again", "err", err)
		}
		if err != nil || wait(ctx, time.Since(start)) != nil {
			return
		}
	}
}
