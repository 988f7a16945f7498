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

// damagedName is the directory with the blocks as they were before they were salvaged.
const damagedName = "damaged"

// blockStreams are the streams whose blocks are checked, with the start of their subjects.
var blockStreams = map[string]string{logStream: logPrefix, snapshotStream: snapshotPrefix}

// salvage checks every block of the store before the server does, which cuts a block at its first bad record. A damaged block is
// copied aside and written again without what is bad; the server takes the gap for deleted messages, and inspect finds
// the events that are missing. It forgets deleted logs of which nothing is left on the disk.
func (d *dataDir) salvage(c *checkpoint, o *Options) error {
	held := map[string]bool{}
	c.live = map[string]int{}
	c.heads = newHeads()
	whole := true
	var buf []byte
	for stream, prefix := range blockStreams {
		var count census
		blocks, err := d.blocks(stream)
		if err != nil {
			return err
		}
		for _, index := range blocks {
			b := blockfile.Block{Stream: stream, Index: index, Prefix: prefix, Sound: soundPart}
			damaged, err := d.salvageBlock(&b, &buf, o, func(r *blockfile.Record) {
				count.add(r)
				session := strings.TrimPrefix(string(r.Subject), prefix)
				h, _, err := decodePart(r.Payload)
				if err == nil {
					key := purgeKey(session, h.epoch)
					if _, ok := c.Purged[key]; ok {
						held[key] = true
					}
				}
				if err == nil || r.Kind == blockfile.Tombstone {
					c.heads.add(stream, session, &h, r, c.Purged)
				}
			})
			if err != nil {
				return fmt.Errorf("eventlog: salvaging block %d of stream %s: %w", index, stream, err)
			}
			c.clean = c.clean && !damaged
			whole = whole && !damaged
		}
		c.live[stream] = count.live()
		if stream == snapshotStream {
			c.heads.drop(count.deleted)
		}
	}
	if !whole {
		c.heads = nil
	}
	maps.DeleteFunc(c.Purged, func(key string, before uint64) bool { return before == everything && !held[key] })
	return nil
}

// badBlocks counts the damaged blocks, and changes nothing.
func (d *dataDir) badBlocks(ctx context.Context) (n int, err error) {
	var buf []byte
	for stream, prefix := range blockStreams {
		blocks, err := d.blocks(stream)
		if err != nil {
			return n, err
		}
		for _, index := range blocks {
			if ctx.Err() != nil {
				return n, context.Cause(ctx)
			}
			if err := readInto(&buf, d.block(stream, index)); err != nil {
				return n, err
			}
			b := blockfile.Block{Stream: stream, Index: index, Prefix: prefix, Sound: soundPart}
			if _, bad := b.Scan(buf); len(bad) > 0 {
				n++
			}
		}
	}
	return n, nil
}

// block is the name of a block's file.
func (d *dataDir) block(stream string, index int) string {
	return filepath.Join(d.streamDir(stream), "msgs", strconv.Itoa(index)+".blk")
}

// soundPart reports whether a message is a part of a record, perhaps of a newer format.
func soundPart(_, payload []byte) bool {
	_, _, err := decodePart(payload)
	return err == nil || errors.Is(err, ErrFormat)
}

// blocks returns the numbers of the blocks of a stream, in their order.
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

// salvageBlock checks one block, and writes it again if it is damaged. It calls visit with its sound records.
func (d *dataDir) salvageBlock(b *blockfile.Block, buf *[]byte, o *Options, visit func(*blockfile.Record)) (damaged bool, err error) {
	name := d.block(b.Stream, b.Index)
	if err := readInto(buf, name); err != nil {
		return false, err
	}
	data := *buf
	records, bad := b.Scan(data)
	var sound []byte
	for _, r := range records {
		visit(&r)
		if len(bad) > 0 {
			sound = append(sound, r.Raw...)
		}
	}
	if len(bad) == 0 {
		return false, nil
	}
	aside := filepath.Join(d.path, damagedName)
	if err := os.MkdirAll(aside, 0o700); err != nil {
		return true, err
	}
	aside = filepath.Join(aside, fmt.Sprintf("%s-%d-%d.blk", b.Stream, b.Index, o.Now().UnixNano()))
	if err := writeSynced(aside, data); err != nil {
		return true, err
	}
	o.Logger.Warn("eventlog: salvaged a damaged block", "stream", b.Stream, "block", b.Index, "bytes", len(data)-len(sound), "places", len(bad), "copy", aside)
	return true, errors.Join(writeSynced(name, sound), d.dropIndex(b.Stream))
}

// readInto reads a file into a buffer, which grows if need be.
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

// census counts the messages of a stream that are in its blocks and not deleted.
type census struct {
	runs    []run // of sequences, in their order
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

// total counts the messages, also those that are deleted.
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
