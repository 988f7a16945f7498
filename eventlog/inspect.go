package eventlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// inspect searches for lost events, unless the store was closed cleanly and is unchanged.
func (s *Store) inspect(ctx context.Context, before *checkpoint) error {
	if !before.clean {
		found, err := s.chains(ctx, before)
		if err != nil {
			return err
		}
		if err := s.removeAgain(ctx, found, before.Purged); err != nil {
			return err
		}
		if before.silent {
			adopt(found, before.Purged)
		}
		damage, err := s.compare(ctx, found, before)
		if err != nil {
			return err
		}
		if err := s.accept(ctx, before, damage); err != nil {
			return err
		}
		before.Lasts = lastsOf(found)
	}
	s.inspected = true
	if s.watch.blocks = before.Blocks; s.watch.blocks == nil {
		s.watch.blocks = blockList{}
	}
	return s.journal.begin(s.dir, before)
}

// chains returns the logs. It does not read them from the server if the server has the same messages as the blocks.
func (s *Store) chains(ctx context.Context, before *checkpoint) (map[string]*chain, error) {
	if before.heads != nil && before.heads.holds(before.live[logStream]) && s.st.holds(ctx, before.live) {
		return before.heads.found(), nil
	}
	before.heads = nil
	return s.scan(ctx, before.Purged)
}

// adopt uses the starts of logs as their trim positions, in a store that does not record these.
func adopt(found map[string]*chain, purged map[string]uint64) {
	for session, c := range found {
		if c.first > 1 {
			purged[purgeKey(session, c.epoch)] = c.first
		}
	}
}

// removeAgain removes the remains of deleted logs and trimmed events that a scan found: the server's marks of their removal are lost.
func (s *Store) removeAgain(ctx context.Context, found map[string]*chain, purged map[string]uint64) error {
	for session, c := range found {
		if c.removed == 0 {
			continue
		}
		subject, upTo := jetstream.WithPurgeSubject(logPrefix+session), jetstream.WithPurgeSequence(c.removed+1)
		if err := s.st.log.Purge(ctx, subject, upTo); err != nil {
			return fmt.Errorf("eventlog: removing events again: %w", err)
		}
	}
	for key, before := range purged {
		session, _, _ := strings.Cut(key, " ")
		if before == everything && (found[session] == nil || found[session].last == 0) {
			if err := s.dropSnapshot(ctx, session); err != nil {
				return err
			}
		}
	}
	return nil
}

// chain is the result of a scan of a log.
type chain struct {
	epoch       [8]byte
	first, last uint64
	gaps        []Damage
	join        joiner
	removed     uint64 // the sequence of the newest removed message
}

func lastsOf(found map[string]*chain) map[string]uint64 {
	lasts := map[string]uint64{}
	for session, c := range found {
		if c.last > 0 {
			lasts[session] = c.last
		}
	}
	return lasts
}

// scanStall is the timeout of a scan for the next message.
const scanStall = 30 * time.Second

// scan reads all messages of the log.
func (s *Store) scan(ctx context.Context, purged map[string]uint64) (map[string]*chain, error) {
	s.scanned = true
	found := map[string]*chain{}
	info, err := s.st.log.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("eventlog: checking the logs: %w", err)
	}
	if info.State.Msgs == 0 {
		return found, nil
	}
	f := &feed{store: s, stream: s.st.log, subject: logPrefix + "*", next: 1}
	defer f.close()
	for pending := uint64(1); pending > 0; {
		msg, err := s.takeWithin(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("eventlog: checking the logs: %w", err)
		}
		pending = msg.pending
		session := strings.TrimPrefix(msg.subject, logPrefix)
		if found[session] == nil {
			found[session] = &chain{}
		}
		if h, _, err := decodePart(msg.data); err == nil && h.first < purged[purgeKey(session, h.epoch)] {
			found[session].removed = msg.seq
			continue
		}
		if err := found[session].add(session, msg.data); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s *Store) takeWithin(ctx context.Context, f *feed) (message, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, scanStall, fmt.Errorf("no message within %v", scanStall))
	defer cancel()
	return f.take(ctx)
}

// add adds the next message of the log.
func (c *chain) add(session string, msg []byte) error {
	h, data, err := c.join.add(msg)
	if errors.Is(err, ErrFormat) {
		return err
	}
	if err != nil || data == nil {
		return nil // the next record reveals the missing events
	}
	c.record(session, &h)
	return nil
}

// record adds the next complete record of the log.
func (c *chain) record(session string, h *header) {
	if c.last == 0 {
		c.first, c.epoch = h.first, h.epoch
	} else if h.first > c.last+1 {
		c.gaps = append(c.gaps, Damage{session, c.last + 1, h.first - 1, "they are not in the store"})
	}
	c.last = max(c.last, h.last())
}

// snapshotOf returns the event of the newest snapshot of a session, or 0.
func (s *Store) snapshotOf(ctx context.Context, session string, c *chain, before *checkpoint) (uint64, error) {
	if before.heads != nil {
		return before.heads.snapshot(session, c.epoch), nil
	}
	snapshot, err := s.Log(session).newestSnapshot(ctx)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return 0, err
	}
	return snapshot.Seq, nil
}

// compare returns the events missing in the found logs, and drops the snapshots of events lost at their ends.
func (s *Store) compare(ctx context.Context, found map[string]*chain, before *checkpoint) ([]Damage, error) {
	var failed error
	damage := missing(found, before, func(session string, c *chain) uint64 {
		snapshot, err := s.snapshotOf(ctx, session, c, before)
		if err == nil && snapshot > c.last {
			err = s.dropSnapshot(ctx, session)
		}
		failed = errors.Join(failed, err)
		return snapshot
	})
	return damage, failed
}

// missing returns the events missing in the found logs, according to their numbers, their snapshots,
// and the last clean shutdown.
func missing(found map[string]*chain, before *checkpoint, snapshotOf func(session string, c *chain) uint64) (damage []Damage) {
	sessions := maps.Clone(before.Lasts)
	for session := range found {
		sessions[session] += 0
	}
	for _, session := range slices.Sorted(maps.Keys(sessions)) {
		c := found[session]
		if c == nil {
			c = &chain{}
		}
		snapshot := snapshotOf(session, c)
		// Trimmed events are missing only if the snapshot is missing, too.
		start := min(max(1, before.Purged[purgeKey(session, c.epoch)]), snapshot+1)
		if c.first > start {
			damage = append(damage, Damage{session, start, c.first - 1, "they are not in the store"})
		}
		damage = append(damage, c.gaps...)
		if end := max(sessions[session], snapshot); end > c.last {
			damage = append(damage, Damage{session, c.last + 1, end, "they are not in the store"})
		}
	}
	return damage
}

// accept adds damage to the known damage, and returns the new part.
func (c *checkpoint) accept(damage []Damage) (fresh []Damage) {
	c.Damage = slices.DeleteFunc(c.Damage, func(d Damage) bool { return d.Reason == foundOpen })
	fresh = slices.DeleteFunc(damage, func(d Damage) bool { return slices.Contains(c.Damage, d) })
	c.Damage = append(c.Damage, fresh...)
	return fresh
}

// accept adds damage to the known damage. If a part is new, the store gets another epoch and the deltas of its logs are dropped,
// since numbers at the end of a log may be reused.
func (s *Store) accept(ctx context.Context, before *checkpoint, damage []Damage) error {
	fresh := before.accept(damage)
	if len(fresh) == 0 {
		return nil
	}
	for _, d := range fresh {
		s.logDamage(d)
	}
	for _, d := range fresh {
		if err := s.st.delta.Purge(ctx, jetstream.WithPurgeSubject(deltaPrefix+d.Session)); err != nil {
			return fmt.Errorf("eventlog: deleting deltas: %w", err)
		}
	}
	return s.st.newGeneration(ctx, s.js)
}

func (s *Store) logDamage(d Damage) {
	s.opts.Logger.Error("eventlog: the store is damaged", "session", d.Session, "from", d.From, "to", d.To, "reason", d.Reason)
}

// ofOthers returns the damage of other sessions.
func ofOthers(damage []Damage, session string) []Damage {
	return slices.DeleteFunc(slices.Clone(damage), func(d Damage) bool { return d.Session == session })
}
