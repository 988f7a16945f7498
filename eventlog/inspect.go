package eventlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// inspect looks for lost events, unless the store was closed cleanly and is as it was.
func (s *Store) inspect(ctx context.Context, before *checkpoint) error {
	s.lasts, s.damage = before.Lasts, before.Damage
	if s.lasts == nil {
		s.lasts = map[string]uint64{}
	}
	if !before.clean {
		found, err := s.scan(ctx)
		if err != nil {
			return err
		}
		damage, err := s.compare(ctx, found, before)
		if err != nil {
			return err
		}
		if err := s.accept(ctx, damage); err != nil {
			return err
		}
		s.lasts = lastsOf(found)
		if err := s.dir.rebase(&checkpoint{Lasts: s.lasts, Damage: s.damage}); err != nil {
			return err
		}
	}
	s.inspected = true
	return nil
}

// chain is what a scan finds of a log.
type chain struct {
	epoch       [8]byte
	first, last uint64
	gaps        []Damage
	join        joiner
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

// scanStall is how long a scan waits for the next message before it gives up.
const scanStall = 30 * time.Second

// scan reads all messages of the log.
func (s *Store) scan(ctx context.Context) (map[string]*chain, error) {
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

// add takes the next message of the log.
func (c *chain) add(session string, msg []byte) error {
	h, data, err := c.join.add(msg)
	if errors.Is(err, ErrFormat) {
		return err
	}
	if err != nil || data == nil {
		return nil // what it held is missing in the next record
	}
	if c.last == 0 {
		c.first, c.epoch = h.first, h.epoch
	} else if h.first > c.last+1 {
		c.gaps = append(c.gaps, Damage{session, c.last + 1, h.first - 1, "they are not in the store"})
	}
	c.last = max(c.last, h.last())
	return nil
}

// compare returns what is missing in the logs that were found, by their numbers, their snapshots, and
// what the last clean end knew of them.
func (s *Store) compare(ctx context.Context, found map[string]*chain, before *checkpoint) ([]Damage, error) {
	sessions := maps.Clone(before.Lasts)
	if sessions == nil {
		sessions = map[string]uint64{}
	}
	for session := range found {
		sessions[session] += 0
	}
	var damage []Damage
	for _, session := range slices.Sorted(maps.Keys(sessions)) {
		c := found[session]
		if c == nil {
			c = &chain{}
		}
		snapshot, err := s.Log(session).newestSnapshot(ctx)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		if c.first > snapshot.Seq+1 {
			damage = append(damage, Damage{session, snapshot.Seq + 1, c.first - 1, "they are not in the store"})
		}
		damage = append(damage, c.gaps...)
		if end := max(sessions[session], snapshot.Seq); end > c.last {
			damage = append(damage, Damage{session, c.last + 1, end, "they are not in the store"})
		}
		if snapshot.Seq > c.last {
			if err := s.dropSnapshot(ctx, session); err != nil {
				return nil, err
			}
		}
	}
	return damage, nil
}

// accept keeps the damage. Where it is new, the store gets another epoch and no deltas, since numbers
// at the end of a log may be used again.
func (s *Store) accept(ctx context.Context, damage []Damage) error {
	fresh := slices.DeleteFunc(slices.Clone(damage), func(d Damage) bool { return slices.Contains(s.damage, d) })
	s.damage = damage
	if len(fresh) == 0 {
		return nil
	}
	for _, d := range fresh {
		s.opts.Logger.Error("eventlog: the store is damaged", "session", d.Session, "from", d.From, "to", d.To, "reason", d.Reason)
	}
	if err := s.st.delta.Purge(ctx); err != nil {
		return fmt.Errorf("eventlog: deleting deltas: %w", err)
	}
	return s.st.newGeneration(ctx, s.js)
}
