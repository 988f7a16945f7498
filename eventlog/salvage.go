package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/eventlog/internal/blockfile"
)

// damagedName is the directory with copies of the blocks before they were salvaged.
const damagedName = "damaged"

// blockStreams are the streams with checked blocks, with the prefix of their subjects.
var blockStreams = map[string]string{logStream: logPrefix, snapshotStream: snapshotPrefix}

// salvage checks every block of the store before the server, which cuts a block at its first bad record, does. A damaged block
// is copied to damagedName and rewritten without its bad parts; the server treats the gap as deleted messages, and inspect finds
// the missing events. It drops deleted logs that have no data left on the disk.
func (d *dataDir) salvage(ctx context.Context, c *checkpoint, o *Options) error {
	damaged, err := d.sweep(ctx, c, func(id blockID, data, sound []byte, bad []blockfile.Span) error {
		return d.rewrite(id, data, sound, bad, o)
	})
	c.clean = c.clean && damaged == 0
	return err
}

// sweep reads every block of the store into the checkpoint: the number of messages, the valid blocks, and the headers of their records.
// It calls mend for damaged blocks, with their bytes, the bytes of their valid records, and the spans between them.
func (d *dataDir) sweep(ctx context.Context, c *checkpoint, mend func(id blockID, data, sound []byte, bad []blockfile.Span) error) (damaged int, err error) {
	held := map[string]bool{}
	c.live, c.Blocks = map[string]int{}, blockList{}
	c.heads = newHeads()
	var buf, sound []byte
	for stream, prefix := range blockStreams {
		var count census
		blocks, err := d.blocks(stream)
		if err != nil {
			return damaged, err
		}
		for _, index := range blocks {
			if ctx.Err() != nil {
				return damaged, context.Cause(ctx)
			}
			id := blockID{stream, index}
			stamp, err := d.readBlock(id, &buf)
			if err != nil {
				return damaged, fmt.Errorf("eventlog: reading block %d of stream %s: %w", index, stream, err)
			}
			records, bad := scanBlock(id, buf)
			sound = sound[:0]
			for _, r := range records {
				if len(bad) > 0 {
					sound = append(sound, r.Raw...)
				}
				count.add(&r)
				session := strings.TrimPrefix(string(r.Subject), prefix)
				h, _, err := decodePart(r.Payload)
				if err == nil {
					key := purgeKey(session, h.epoch)
					if _, ok := c.Purged[key]; ok {
						held[key] = true
					}
				}
				if err == nil || r.Kind == blockfile.Tombstone {
					c.heads.add(stream, session, &h, &r, c.Purged)
				}
			}
			if len(bad) == 0 {
				c.Blocks.add(id, describe(stamp, buf, records))
				continue
			}
			damaged++
			if err := mend(id, buf, sound, bad); err != nil {
				return damaged, fmt.Errorf("eventlog: salvaging block %d of stream %s: %w", index, stream, err)
			}
		}
		c.live[stream] = count.live()
		if stream == snapshotStream {
			c.heads.drop(count.deleted)
		}
	}
	maps.DeleteFunc(c.Purged, func(key string, before uint64) bool { return before == everything && !held[key] })
	return damaged, nil
}

// block returns the name of a block's file.
func (d *dataDir) block(stream string, index int) string {
	return filepath.Join(d.streamDir(stream), "msgs", strconv.Itoa(index)+".blk")
}

// soundPart reports whether a message is a part of a record, possibly of a newer format.
func soundPart(_, payload []byte) bool {
	_, _, err := decodePart(payload)
	return err == nil || errors.Is(err, ErrFormat)
}

// blocks returns the numbers of the blocks of a stream, in order.
func (d *dataDir) blocks(stream string) ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(d.streamDir(stream), "msgs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var blocks []int
	for _, e := range entries {
		name, isBlock := strings.CutSuffix(e.Name(), ".blk")
		if index, err := strconv.Atoi(name); isBlock && err == nil {
			blocks = append(blocks, index)
		}
	}
	slices.Sort(blocks)
	return blocks, err
}

// scanBlock returns the valid records of a block, and the invalid spans.
func scanBlock(id blockID, data []byte) (records []blockfile.Record, bad []blockfile.Span) {
	b := blockfile.Block{Stream: id.stream, Index: id.index, Prefix: blockStreams[id.stream], Sound: soundPart}
	return b.Scan(data)
}

// rewrite copies a damaged block to damagedName and rewrites it with only its valid records.
func (d *dataDir) rewrite(id blockID, data, sound []byte, bad []blockfile.Span, o *Options) error {
	aside := filepath.Join(d.path, damagedName)
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return err
	}
	aside = filepath.Join(aside, fmt.Sprintf("%s-%d-%d.blk", id.stream, id.index, o.Now().UnixNano()))
	if err := writeSynced(aside, data); err != nil {
		return err
	}
	o.Logger.Warn("eventlog: salvaged a damaged block", "stream", id.stream, "block", id.index, "bytes", len(data)-len(sound), "places", len(bad), "copy", aside)
	return errors.Join(writeSynced(d.block(id.stream, id.index), sound), d.dropIndex(id.stream))
}

// readBlock reads a block into a buffer, and returns the stamp of its file before the read.
func (d *dataDir) readBlock(id blockID, buf *[]byte) (fileStamp, error) {
	name := d.block(id.stream, id.index)
	stamp, err := stampOf(name)
	if err != nil {
		return stamp, err
	}
	return stamp, readInto(buf, name)
}

// readInto reads a file into a buffer, which grows if necessary.
func readInto(buf *[]byte, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	*buf = slices.Grow((*buf)[:0], int(info.Size()))[:info.Size()]
	_, err = io.ReadFull(f, *buf)
	return err
}

// dropIndex removes the server's index of a stream, so that the server reads every message.
func (d *dataDir) dropIndex(stream string) error {
	return os.RemoveAll(filepath.Join(d.streamDir(stream), "msgs", indexName))
}

// census counts the messages in the blocks of a stream that are not deleted.
type census struct {
	runs    []run // ranges of sequences, in order
	deleted map[uint64]bool
}

type run struct{ first, last uint64 }

func (c *census) add(r *blockfile.Record) {
	n := len(c.runs)
	switch {
	case r.Kind == blockfile.Tombstone:
		if c.deleted == nil {
			c.deleted = map[uint64]bool{}
		}
		c.deleted[r.Seq] = true
	case r.Kind == blockfile.Message && n > 0 && r.Seq == c.runs[n-1].last+1:
		c.runs[n-1].last++
	case r.Kind == blockfile.Message && (n == 0 || r.Seq > c.runs[n-1].last):
		c.runs = append(c.runs, run{r.Seq, r.Seq})
	}
}

// total counts the messages, including deleted ones.
func (c *census) total() int {
	n := 0
	for _, r := range c.runs {
		n += int(r.last - r.first + 1)
	}
	return n
}

func (c *census) live() int {
	n := c.total()
	for seq := range c.deleted {
		_, in := slices.BinarySearchFunc(c.runs, seq, func(r run, seq uint64) int {
			switch {
			case r.last < seq:
				return -1
			case r.first > seq:
				return 1
			}
			return 0
		})
		if in {
			n--
		}
	}
	return n
}
