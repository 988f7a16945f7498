package nats

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// session is the part of a session that a store has read.
type session struct {
	id      string
	subject string
	turn    sync.Mutex // held while the session is used

	last        uint64 // sequence of the last message that was read
	claim       uint64 // sequence of its last claim
	transcripts map[string]*transcript
	summary     *claude.StoredSummary // nil without a main transcript
}

// transcript holds the uuids of a transcript.
type transcript struct {
	uuids  map[string]bool
	record assembly
	exists bool // it has a complete record
}

// use returns the session of a key, locked for one user at a time.
func (s *Store) use(key claude.SessionKey) (c *session, release func()) {
	s.mu.Lock()
	subject := s.subject(key)
	if c = s.sessions[subject]; c == nil {
		if len(s.sessions) >= maxCached {
			clear(s.sessions) // sessions in use are dropped afterwards
		}
		c = &session{id: key.SessionID, subject: subject, transcripts: map[string]*transcript{}}
		s.sessions[subject] = c
	}
	s.mu.Unlock()
	c.turn.Lock()
	return c, c.turn.Unlock
}

// refresh reads the messages that were written since the last call.
func (s *Store) refresh(ctx context.Context, c *session) error {
	config := jetstream.ConsumerConfig{FilterSubject: c.subject + ".>"}
	if c.last > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, c.last+1
	}
	return s.read(ctx, config, c.apply)
}

// apply applies a message to the session.
func (c *session) apply(m message) error {
	c.last = m.sequence
	kind, sub, _ := strings.Cut(strings.TrimPrefix(m.subject, c.subject+"."), ".")
	sub = untoken(sub)
	switch kind {
	case kindClaim:
		c.claim = m.sequence
	case kindDeleted:
		delete(c.transcripts, sub)
		if sub == "" {
			c.transcripts, c.summary = map[string]*transcript{}, nil
		}
	case kindMain, kindAgent:
		t := c.transcripts[sub]
		if t == nil {
			t = &transcript{uuids: map[string]bool{}}
			c.transcripts[sub] = t
		}
		data, done := t.record.add(m)
		if !done {
			return nil
		}
		entries, err := decode(data)
		if err != nil {
			return err
		}
		t.exists, t.record = true, assembly{}
		for _, e := range entries {
			if id := claudestore.UUID(e); id != "" {
				t.uuids[id] = true
			}
		}
		if kind == kindMain {
			c.summary, err = summaryOf(c.id, m)
		}
		return err
	}
	return nil
}

// fresh returns the entries that a transcript does not have.
func (c *session) fresh(sub string, entries []json.RawMessage) (added []json.RawMessage) {
	seen := map[string]bool{}
	t := c.transcripts[sub]
	for _, e := range entries {
		id := claudestore.UUID(e)
		if id != "" && (seen[id] || t != nil && t.uuids[id]) {
			continue
		}
		seen[id] = true
		added = append(added, e)
	}
	return added
}

// message is a message of the stream.
type message struct {
	subject  string
	sequence uint64
	time     time.Time
	header   natsgo.Header
	data     []byte
}

// readBatch is the number of messages per request, readWait the time limit of a request.
const (
	readBatch = 100
	readWait  = 10 * time.Second
)

// read calls each for the existing messages of a consumer.
func (s *Store) read(ctx context.Context, config jetstream.ConsumerConfig, each func(message) error) (err error) {
	config.AckPolicy, config.MemoryStorage, config.Replicas, config.InactiveThreshold = jetstream.AckNonePolicy, true, 1, time.Minute
	consumer, err := s.stream.CreateConsumer(ctx, config)
	if err != nil {
		return err
	}
	info := consumer.CachedInfo()
	defer func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), readWait)
		defer cancel()
		if e := s.stream.DeleteConsumer(bound, info.Name); err == nil && !errors.Is(e, jetstream.ErrConsumerNotFound) {
			err = e
		}
	}()
	for left := int(info.NumPending); left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, err := consumer.Fetch(min(left, readBatch), jetstream.FetchMaxWait(readWait))
		if err != nil {
			return err
		}
		got := 0
		for m := range batch.Messages() {
			meta, err := m.Metadata()
			if err == nil {
				err = each(message{m.Subject(), meta.Sequence.Stream, meta.Timestamp, m.Headers(), m.Data()})
			}
			if err != nil {
				return err
			}
			got++
			left = min(left-1, int(meta.NumPending)) // others may have been deleted
		}
		if err := batch.Error(); err != nil {
			return err
		}
		if got > 0 {
			continue
		}
		if info, err = consumer.Info(ctx); err != nil || info.NumPending == 0 {
			return err // the messages were deleted meanwhile
		}
		return errors.New("the messages of the stream do not arrive")
	}
	return nil
}
