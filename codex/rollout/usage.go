package rollout

import (
	"context"
	"encoding/hex"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
)

// UsageRecord holds the tokens of one request to a model. Codex's files have no cost.
type UsageRecord struct {
	Time     time.Time
	ThreadID string
	TurnID   string
	Model    string // empty if the file does not name it
	CWD      string
	Branch   string // Git branch at the start of the thread
	Parent   string // for a subagent: its parent thread
	Tokens   item.TokenCount
}

// Usage yields the tokens of every request to a model, file by file. Requests that a thread
// inherited, by a fork or a revert, are yielded once, with the thread that made them. An error is a
// file that was skipped entirely or in part; only the last element can be the error of ctx.
func (d *Dir) Usage(ctx context.Context) iter.Seq2[UsageRecord, error] { return d.Meter().Next(ctx) }

// Meter yields the usage since the last call, each request once. It is not safe for concurrent use.
type Meter struct {
	dir   *Dir
	seen  map[string]metered
	bytes int64
}

// metered is the state of a file at the last call.
type metered struct {
	size     int64
	modified time.Time
	records  int // number of yielded records
	failed   bool
}

// Meter returns a meter of the directory. Its first call yields everything.
func (d *Dir) Meter() *Meter { return &Meter{dir: d, seen: map[string]metered{}} }

// Bytes returns the number of bytes read so far, as stored on disk.
func (m *Meter) Bytes() int64 { return m.bytes }

// Next yields the records of [Dir.Usage] that no earlier call has yielded. Unchanged files are not
// read again. If the caller leaves the loop, the rest of the current file is never yielded.
func (m *Meter) Next(ctx context.Context) iter.Seq2[UsageRecord, error] {
	return func(yield func(UsageRecord, error) bool) {
		files, problems := m.dir.files(ctx, "")
		for _, p := range problems {
			if !yield(UsageRecord{}, p) {
				return
			}
		}
		files = slices.DeleteFunc(files, func(f file) bool {
			old, ok := m.seen[f.path]
			return ok && !old.failed && old.size == f.size && old.modified.Equal(f.modified)
		})
		type result struct {
			records []UsageRecord
			err     error
		}
		next := 0
		for r := range inOrder(len(files), func(i int) (r result) {
			r.records, r.err = fileUsage(ctx, files[i])
			return r
		}) {
			fresh := m.note(files[next], r.records, r.err != nil)
			next++
			for _, u := range fresh {
				if !yield(u, nil) {
					return
				}
			}
			if r.err != nil && (!yield(UsageRecord{}, r.err) || ctx.Err() != nil) {
				return
			}
		}
	}
}

// note stores the state of a file and returns the new records. A file that failed is read again the
// next time, and its error is reported again.
func (m *Meter) note(f file, records []UsageRecord, failed bool) []UsageRecord {
	old := m.seen[f.path]
	m.seen[f.path] = metered{f.size, f.modified, max(len(records), old.records), failed}
	m.bytes += f.size
	return records[min(old.records, len(records)):]
}

// counter reads the tokens of one file.
type counter struct {
	file      file
	meta      *meta
	created   time.Time
	model     string
	turnID    string
	inherited bool // the turn was copied from another file
	records   bool // the file has token_usage_record, so counting token_count would count twice
}

// fileUsage returns the requests in a file.
func fileUsage(ctx context.Context, f file) (records []UsageRecord, err error) {
	fd, err := openRollout(ctx, f.path)
	if err != nil {
		return nil, &FileError{f.path, err}
	}
	defer fd.Close()
	c := &counter{file: f}
	n := 0
	err = scan(fd, c.wants, func(line []byte) bool {
		if n++; n%1000 == 0 && ctx.Err() != nil {
			return false
		}
		if c.meta == nil {
			if c.meta = metaOf(string(line)); c.meta == nil {
				return false
			}
			c.meta.keep()
			c.created, _ = time.Parse(time.RFC3339Nano, c.meta.Timestamp)
			return true
		}
		if r, ok := c.line(string(line)); ok {
			records = append(records, r)
		}
		return true
	})
	switch {
	case ctx.Err() != nil:
		return records, context.Cause(ctx)
	case c.meta == nil && err == nil:
		err = errNotRollout
	}
	if err != nil {
		return records, &FileError{f.path, err}
	}
	return records, nil
}

// wants reports whether a line, by its beginning, can matter.
func (c *counter) wants(head []byte) bool {
	if c.meta == nil {
		return true
	}
	typ, payload, ok := kindOf(head)
	if !ok {
		return true
	}
	switch string(typ) {
	case "token_usage_record", "turn_context":
		return true
	case "event_msg":
		return string(payload) == "task_started" || string(payload) == "token_count" && !c.records
	}
	return false
}

// usageLine is a relevant line, with the members of all relevant types: one pass is enough.
type usageLine struct {
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"`
	Payload   struct {
		Type   string     `json:"type"`
		TurnID string     `json:"turn_id"`
		Model  string     `json:"model"`
		Usage  tokens     `json:"usage"`
		Info   *tokenInfo `json:"info"`
	} `json:"payload"`
}

// line decodes a line.
func (c *counter) line(line string) (UsageRecord, bool) {
	var l usageLine
	if item.DecodeValue(item.JSON(line), &l) != nil {
		return UsageRecord{}, false
	}
	p := &l.Payload
	switch {
	case l.Type == "turn_context":
		if c.model != p.Model {
			c.model = strings.Clone(p.Model)
		}
	case l.Type == "token_usage_record":
		c.records = true
		return c.record(&l, p.TurnID, p.Usage.count()), true
	case l.Type != "event_msg":
	case p.Type == "task_started":
		c.turnID = strings.Clone(p.TurnID)
		c.inherited = before(p.TurnID, c.created)
	case p.Type == "token_count":
		if p.Info != nil && !c.records && !c.inherited && p.Info.Last.Total > 0 {
			return c.record(&l, c.turnID, p.Info.Last.count()), true
		}
	}
	return UsageRecord{}, false
}

func (c *counter) record(l *usageLine, turnID string, count item.TokenCount) UsageRecord {
	if c.turnID != turnID {
		c.turnID = strings.Clone(turnID)
	}
	at, _ := time.Parse(time.RFC3339Nano, l.Timestamp)
	return UsageRecord{
		Time: at, ThreadID: c.file.thread, TurnID: c.turnID, Model: c.model, CWD: c.meta.CWD, Branch: c.meta.Git.Branch,
		Parent: c.meta.ParentThreadID, Tokens: count,
	}
}

// before reports whether an id was generated before a time. The ids are UUIDs of version 7, which
// begin with the time; a fork of the mode legacy copies turns with their ids.
func before(id string, at time.Time) bool {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 || b[6]>>4 != 7 || at.IsZero() {
		return false
	}
	var ms int64
	for _, v := range b[:6] {
		ms = ms<<8 | int64(v)
	}
	return ms < at.UnixMilli()
}
