package eventlog

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

const (
	// journalName is the file with the changes since the base was written.
	journalName = "journal"
	// journalSize is the size in bytes at which a new base replaces the journal.
	journalSize = 1 << 20
	// everything is the removal position of a deleted log.
	everything = math.MaxUint64
)

// journal is the store's record of its logs apart from the server's files: the newest event of each, and the removals. After a kill
// it distinguishes lost events from those that were never written, and a deleted log from one to salvage. A line has the CRC-32C of
// the rest and then either session and newest event, which is not synced, or session, epoch and the event before which all events are
// removed.
type journal struct {
	mu     sync.Mutex
	file   *os.File // nil before Open has checked the store, and for a cluster
	size   int      // of file
	late   bool     // the disk had no room for the base
	lasts  map[string]uint64
	purged map[string]uint64 // by purgeKey
	damage []Damage
	// suspect reports whether the server's files have changed unexpectedly, so that the next Open has to check everything.
	suspect bool
}

func purgeKey(session string, epoch [8]byte) string {
	return session + " " + hex.EncodeToString(epoch[:])
}

// apply applies a line of the file. An incomplete line has no effect.
func (c *checkpoint) apply(line string) {
	sum, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	fields := strings.Fields(rest)
	if sum != fmt.Sprintf("%08x", crc32.Checksum([]byte(rest), castagnoli)) || len(fields) < 2 {
		return
	}
	n, err := strconv.ParseUint(fields[len(fields)-1], 10, 64)
	switch {
	case err != nil:
	case len(fields) == 2:
		c.Lasts[fields[0]] = n
	default:
		key := fields[0] + " " + fields[1]
		c.Purged[key] = max(n, c.Purged[key])
		if n == everything {
			delete(c.Lasts, fields[0])
		}
	}
}

// readJournal adds the changes since the base to it.
func (d *dataDir) readJournal(c *checkpoint) error {
	text, err := os.ReadFile(filepath.Join(d.path, journalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		c.apply(line)
	}
	return err
}

// begin makes a checkpoint the base, and starts an empty file.
func (j *journal) begin(d *dataDir, c *checkpoint) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lasts, j.purged, j.damage = c.Lasts, c.Purged, c.Damage
	if j.file == nil {
		j.file, err = os.OpenFile(filepath.Join(d.path, journalName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	}
	if err != nil {
		return err
	}
	err = j.rebase()
	if isFull(err) { // base and file on disk stay valid: the next line, or the next Open, tries again
		info, statErr := j.file.Stat()
		if statErr != nil {
			return statErr
		}
		j.size, j.late = int(info.Size()), true
		return nil
	}
	return err
}

// checkpoint returns a copy of the state.
func (j *journal) checkpoint() *checkpoint {
	j.mu.Lock()
	defer j.mu.Unlock()
	return &checkpoint{Lasts: maps.Clone(j.lasts), Purged: maps.Clone(j.purged), Damage: slices.Clone(j.damage)}
}

// rebase writes the state into the base, and empties the file.
func (j *journal) rebase() error {
	text, err := json.Marshal(&checkpoint{Lasts: j.lasts, Purged: j.purged, Damage: j.damage})
	if err != nil {
		return err
	}
	if err := writeSynced(filepath.Join(filepath.Dir(j.file.Name()), baseName), text); err != nil {
		return err
	}
	if err := j.file.Truncate(0); err != nil {
		return err
	}
	j.size, j.late = 0, false
	return nil
}

// note appends a line, or nothing after an error: a line after an incomplete one could not be read.
func (j *journal) note(line string) error {
	if j.file == nil {
		return nil
	}
	n, err := fmt.Fprintf(j.file, "%08x %s\n", crc32.Checksum([]byte(line), castagnoli), line)
	if err != nil {
		return errors.Join(err, j.cut(j.size))
	}
	if j.size += n; j.late || j.size > journalSize {
		if err := j.rebase(); !isFull(err) {
			return err
		}
	}
	return nil
}

// isFull reports whether a write has failed because the disk or the quota of the user is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// cut removes the end of the file from a position on.
func (j *journal) cut(size int) error {
	j.size = size
	return j.file.Truncate(int64(size))
}

// acked records the newest event of a log. Without the record a loss may go unnoticed, but the event is stored: an error
// is no reason to fail.
func (j *journal) acked(session string, last uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		j.lasts[session] = last
		_ = j.note(fmt.Sprintf("%s %d", session, last)) // see above
	}
}

// last returns the newest acknowledged event of a log, or 0.
func (j *journal) last(session string) uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lasts[session]
}

// purging records, durably, that the events of a log before an event will be removed. After an error they stay: otherwise the next Open
// would remove what the log has got since.
func (j *journal) purging(session string, epoch [8]byte, before uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	key, size := purgeKey(session, epoch), j.size
	last, listed := j.lasts[session]
	old, had := j.purged[key]
	damage := j.damage
	j.purged[key] = max(before, j.purged[key])
	if before == everything {
		delete(j.lasts, session)
		j.damage = ofOthers(j.damage, session)
	}
	err := j.note(fmt.Sprintf("%s %d", key, before))
	if err == nil {
		err = j.file.Sync()
	}
	if err == nil {
		return nil
	}
	if j.size > size {
		err = errors.Join(err, j.cut(size))
	}
	if j.damage, j.purged[key] = damage, old; !had {
		delete(j.purged, key)
	}
	if listed {
		j.lasts[session] = last
	}
	return err
}

// foundOpen is the reason for events that a reader misses in an open store. The next Open determines all missing events.
const foundOpen = "a file was damaged while the store was open"

// missed records events that a reader did not find. Removed events, which the journal knows, are not lost. It reports whether the
// loss is new.
func (j *journal) missed(d Damage, epoch [8]byte) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || j.lasts[d.Session] < d.To || j.purged[purgeKey(d.Session, epoch)] > d.From {
		return false
	}
	for _, known := range j.damage {
		if known.Session == d.Session && known.From <= d.From && d.To <= known.To {
			return false
		}
	}
	j.damage, j.suspect = append(j.damage, Damage{d.Session, d.From, d.To, foundOpen}), true
	_ = j.rebase() // the list is also in memory, and the next Open checks everything
	return true
}
