package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// checkpoint describes the files of a store. Close writes it, so that Open need not read all files.
// While the store is open it has another name: a store without one was not closed cleanly.
type checkpoint struct {
	Files  map[string]fileStamp `json:"files"`
	Lasts  map[string]uint64    `json:"lasts"`  // the newest event of each session
	Purged map[string]uint64    `json:"purged"` // by purgeKey: the event before which all events were removed
	Damage []Damage             `json:"damage,omitempty"`
	Blocks blockList            `json:"blocks,omitempty"` // need not be read before the server starts; empty if an older program wrote it

	clean  bool           // whether the files are unchanged
	live   map[string]int // number of messages of each stream in the files
	heads  *heads         // content of the blocks
	silent bool           // whether it lacks the removals, because an older program wrote it or it cannot be read
}

// fileStamp detects a changed file.
type fileStamp struct {
	Size int64     `json:"size"`
	Time time.Time `json:"time"`
}

const (
	checkpointName = "checkpoint.json"
	// baseName is the checkpoint while the store is open: it still lists a lower bound of the events.
	baseName = "checkpoint.open.json"
	// indexName is the server's index of a stream, which it trusts.
	indexName = "index.db"
	// countTimeout bounds the requests to the server for the checkpoint in Close.
	countTimeout = 5 * time.Second
)

// takeCheckpoint reads the checkpoint, makes it the base, and compares it with the files. If they
// differ it removes the server's indexes, so that the server reads and checks every message.
func (d *dataDir) takeCheckpoint() (*checkpoint, error) {
	c, err := d.readCheckpoint()
	if err != nil {
		return nil, err
	}
	files, err := d.stamps()
	if err != nil {
		return nil, err
	}
	if len(files) == 0 && len(c.Lasts) == 0 || c.clean && maps.EqualFunc(files, c.Files, fileStamp.equal) {
		c.clean = true
		return c, nil
	}
	c.clean = false
	return c, errors.Join(d.dropIndex(logStream), d.dropIndex(snapshotStream))
}

// readCheckpoint returns the checkpoint of the last clean shutdown, or else the base of a store
// that was not closed, with the changes of its journal. An unreadable one counts as missing.
func (d *dataDir) readCheckpoint() (*checkpoint, error) {
	name, base := filepath.Join(d.path, checkpointName), filepath.Join(d.path, baseName)
	err := os.Rename(name, base)
	clean := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := syncDir(d.path); err != nil {
		return nil, err
	}
	c, err := readBase(base)
	if err != nil {
		return nil, err
	}
	if c.clean = c.clean && clean; c.clean {
		return c, os.RemoveAll(filepath.Join(d.path, journalName))
	}
	return c, d.readJournal(c)
}

// readBase reads a checkpoint; clean reports whether it exists.
func readBase(name string) (*checkpoint, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c := &checkpoint{}
	if err != nil || json.Unmarshal(text, c) != nil {
		c = &checkpoint{}
	} else {
		c.clean = true
	}
	if c.Lasts == nil {
		c.Lasts = map[string]uint64{}
	}
	if c.silent = c.Purged == nil; c.silent {
		c.Purged = map[string]uint64{}
	}
	return c, nil
}

func (s fileStamp) equal(t fileStamp) bool { return s.Size == t.Size && s.Time.Equal(t.Time) }

// stamps returns the files of the log and the snapshots.
func (d *dataDir) stamps() (map[string]fileStamp, error) {
	files := map[string]fileStamp{}
	for _, stream := range []string{logStream, snapshotStream} {
		root := d.streamDir(stream)
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(d.path, path)
			files[filepath.ToSlash(rel)] = fileStamp{info.Size(), info.ModTime()}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// writeCheckpoint writes the state of the store before the server stopped; it writes no checkpoint if c is nil. Without one the next
// Open checks everything, which is also necessary if a block differs from its state at the stop of the server.
func (d *dataDir) writeCheckpoint(c *checkpoint, known blockList, o *Options) error {
	if c == nil {
		return nil
	}
	var err error
	if c.Files, err = d.stamps(); err != nil {
		return err
	}
	if c.Blocks, err = d.list(known); err != nil {
		o.Logger.Warn("eventlog: the next start reads all files", "err", err)
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return writeSynced(filepath.Join(d.path, checkpointName), text)
}

// countRecords returns the checkpoint of the store without its files, or nil if it is not available.
func (s *Store) countRecords() *checkpoint {
	if !s.inspected {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), countTimeout)
	defer cancel()
	if s.journal.suspect || s.srv.restarted.Load() || s.hasCut(ctx) {
		return nil
	}
	for session, state := range s.logs {
		if !state.known {
			if err := s.Log(session).refresh(ctx, state); err != nil {
				return nil
			}
		}
		if s.journal.lasts[session] = state.tip.last; state.tip.last == 0 {
			delete(s.journal.lasts, session)
		}
	}
	return &checkpoint{Lasts: s.journal.lasts, Purged: s.journal.purged, Damage: s.journal.damage}
}

// hasCut reports whether the server has cut blocks since its start, or does not answer.
func (s *Store) hasCut(ctx context.Context) bool {
	for _, stream := range []jetstream.Stream{s.st.log, s.st.snapshot} {
		info, err := stream.Info(ctx, jetstream.WithDeletedDetails(true))
		if err != nil || info.State.Lost != nil {
			return true
		}
	}
	return false
}

// brokenStreams returns the streams with files that the server could not open.
func (d *dataDir) brokenStreams(ctx context.Context, js jetstream.JetStream) ([]string, error) {
	var broken []string
	for _, stream := range []string{logStream, snapshotStream, deltaStream, leaseStream} {
		if _, err := os.Stat(d.streamDir(stream)); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		_, err := js.Stream(ctx, stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			broken = append(broken, stream)
		} else if err != nil {
			return nil, fmt.Errorf("eventlog: opening stream %s: %w", stream, err)
		}
	}
	return broken, nil
}

// discard deletes the files of streams that can be recreated without a relevant loss. It refuses
// those of logs and snapshots, which a new stream would overwrite.
func (d *dataDir) discard(streams []string) error {
	for _, stream := range streams {
		dir := d.streamDir(stream)
		if stream == logStream || stream == snapshotStream {
			return fmt.Errorf("%w: the server cannot open stream %s in %s; restore a backup, or move the data directory away to start anew", ErrDamaged, stream, dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}
