// Package nats is a session store in a JetStream stream of a NATS server or cluster, 2.11 or newer.
//
//	js, err := jetstream.New(connection)
//	store, err := nats.Open(ctx, js, nats.Options{Replicas: 3})
//	result, err := claude.Run(ctx, prompt, &claude.Options{SessionStore: store})
//
// The entries of an append are one record on the subject of their transcript. A record is written only if nothing of
// its session was written since this store has read the session, so that writers on several machines are serialized
// and a replaced writer is always fenced off. The servers need sync_interval: always: otherwise a power cut can lose
// appends that have succeeded.
package nats

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// Options configures a store. The zero value is valid.
type Options struct {
	// Stream is the name of the stream, and the first token of its subjects; "" means CLAUDE_SESSIONS.
	Stream string
	// Replicas is the number of copies that the cluster keeps; 0 means 1.
	Replicas int
	// MaxBytes limits the size of the stream; 0 means no limit. Appends beyond it fail.
	MaxBytes int64
}

// Store is a session store. It is safe for concurrent use.
type Store struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	name   string

	mu       sync.Mutex
	sessions map[string]*session // by subject
}

// maxCached limits the number of sessions with cached uuids. Other sessions are read again.
const maxCached = 256

// Open opens a store, and creates its stream if it does not exist. The caller closes the connection.
func Open(ctx context.Context, js jetstream.JetStream, opts Options) (*Store, error) {
	if opts.Stream == "" {
		opts.Stream = "CLAUDE_SESSIONS"
	}
	config := jetstream.StreamConfig{
		Name: opts.Stream, Subjects: []string{opts.Stream + ".>"}, Storage: jetstream.FileStorage, Replicas: max(1, opts.Replicas),
		MaxBytes: opts.MaxBytes, Discard: jetstream.DiscardNew,
	}
	if opts.MaxBytes == 0 {
		config.MaxBytes = -1
	}
	stream, err := js.Stream(ctx, opts.Stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if stream, err = js.CreateStream(ctx, config); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			stream, err = js.Stream(ctx, opts.Stream)
		}
	}
	if err != nil {
		return nil, wrap(err)
	}
	return &Store{js: js, stream: stream, name: opts.Stream, sessions: map[string]*session{}}, nil
}

// OpenConn is Open for the JetStream of a connection.
func OpenConn(ctx context.Context, conn *nats.Conn, opts Options) (*Store, error) {
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, wrap(err)
	}
	return Open(ctx, js, opts)
}

func wrap(err error) error {
	if err == nil || errors.Is(err, claude.ErrFenced) {
		return err
	}
	return fmt.Errorf("claudestore/nats: %w", err)
}

// The kinds of messages of a session, in their subjects.
const (
	kindMain    = "m"
	kindAgent   = "a" // of a subagent, with its subpath
	kindClaim   = "c"
	kindDeleted = "d" // deletes the earlier messages of the session, or of the subagent with this subpath
)

// token encodes a part of a key for a subject.
func token(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func untoken(text string) string {
	data, _ := base64.RawURLEncoding.DecodeString(text) // token has encoded it
	return string(data)
}

// subject returns the subject of a session.
func (s *Store) subject(key claude.SessionKey) string {
	return s.name + "." + token(key.ProjectKey) + "." + token(key.SessionID)
}

// transcript returns the subject of a transcript.
func (s *Store) transcript(key claude.SessionKey) string {
	if key.Subpath == "" {
		return s.subject(key) + "." + kindMain
	}
	return s.subject(key) + "." + kindAgent + "." + token(key.Subpath)
}

// Append appends entries to a transcript. It omits entries with a uuid that the transcript already has.
func (s *Store) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	return wrap(s.append(ctx, key, entries, 0))
}

// maxTries limits the attempts to append while others write the same session.
const maxTries = 100

// append adds entries; with a claim, it fails unless that is the session's last claim.
func (s *Store) append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage, claim uint64) error {
	if err := claudestore.Check(key); err != nil || len(entries) == 0 {
		return err
	}
	c, release := s.use(key)
	defer release()
	for range maxTries {
		if err := s.refresh(ctx, c); err != nil {
			return err
		}
		if claim != 0 && claim != c.claim {
			return claude.ErrFenced
		}
		added := c.fresh(key.Subpath, entries)
		if len(added) == 0 {
			return nil
		}
		summary := ""
		if key.Subpath == "" {
			next, err := claudestore.FoldSummary(c.summary, key, added, time.Time{}) // a list uses the time of the message
			if err != nil {
				return err
			}
			summary = string(next.Data)
		}
		err := s.write(ctx, c, s.transcript(key), summary, added)
		if err == nil || !conflicts(err) {
			return err
		}
	}
	return errors.New("other writers keep writing to the session")
}

// write publishes a record in parts, each on condition that the session's last message is the one
// that is known.
func (s *Store) write(ctx context.Context, c *session, subject, summary string, entries []json.RawMessage) error {
	parts := split(encode(entries))
	last := c.last
	for i, part := range parts {
		msg := part.message(subject, i, len(parts))
		if i == len(parts)-1 && summary != "" {
			msg.Header.Set(headerSummary, base64.StdEncoding.EncodeToString([]byte(summary)))
		}
		ack, err := s.js.PublishMsg(ctx, msg, jetstream.WithExpectStream(s.name), jetstream.WithExpectLastSequenceForSubject(last, c.subject+".>"))
		if err != nil {
			return err
		}
		last = ack.Sequence
	}
	return nil // the next refresh reads it
}

// conflicts reports whether the error means that another writer has written meanwhile.
func conflicts(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// Load returns all entries of a transcript in their order, or nil if the store has no such transcript.
func (s *Store) Load(ctx context.Context, key claude.SessionKey) ([]json.RawMessage, error) {
	var all []json.RawMessage
	var record assembly
	err := s.read(ctx, jetstream.ConsumerConfig{FilterSubject: s.transcript(key)}, func(m message) error {
		data, done := record.add(m)
		if !done {
			return nil
		}
		entries, err := decode(data)
		all = append(all, entries...)
		return err
	})
	if err != nil {
		return nil, wrap(err)
	}
	return all, nil
}

// ListSubkeys returns the subpaths of a session's subagents, sorted. They do not include the main transcript.
func (s *Store) ListSubkeys(ctx context.Context, key claude.SessionKey) ([]string, error) {
	c, release := s.use(key)
	defer release()
	if err := s.refresh(ctx, c); err != nil {
		return nil, wrap(err)
	}
	var list []string
	for sub, t := range c.transcripts {
		if sub != "" && t.exists {
			list = append(list, sub)
		}
	}
	slices.Sort(list)
	return list, nil
}

// Delete removes a transcript. Deleting the main transcript of a session removes those of its subagents as well.
func (s *Store) Delete(ctx context.Context, key claude.SessionKey) error {
	mark, purge := s.subject(key)+"."+kindDeleted, []string{s.transcript(key)}
	if key.Subpath == "" {
		purge = append(purge, s.subject(key)+"."+kindAgent+".*", s.subject(key)+"."+kindDeleted+".*")
	} else {
		mark += "." + token(key.Subpath)
	}
	ack, err := s.js.Publish(ctx, mark, nil, jetstream.WithExpectStream(s.name))
	for _, subject := range append(purge, mark) {
		if err == nil {
			err = s.stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(ack.Sequence))
		}
	}
	return wrap(err)
}

// Claim makes the caller the writer of a session.
func (s *Store) Claim(ctx context.Context, key claude.SessionKey) (claude.SessionStore, error) {
	key.Subpath = ""
	if err := claudestore.Check(key); err != nil {
		return nil, err
	}
	subject := s.subject(key) + "." + kindClaim
	ack, err := s.js.Publish(ctx, subject, nil, jetstream.WithExpectStream(s.name))
	if err == nil {
		err = s.stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(ack.Sequence))
	}
	if err != nil {
		return nil, wrap(err)
	}
	return &writer{Store: s, key: key, claim: ack.Sequence}, nil
}

// writer is a Store with fenced appends to one session.
type writer struct {
	*Store
	key   claude.SessionKey
	claim uint64
}

// Append adds entries unless another writer has claimed the session.
func (w *writer) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	if key.ProjectKey == w.key.ProjectKey && key.SessionID == w.key.SessionID {
		return wrap(w.append(ctx, key, entries, w.claim))
	}
	return w.Store.Append(ctx, key, entries)
}

// keyOf returns the project and the session of a subject.
func (s *Store) keyOf(subject string) (project, id string) {
	parts := strings.Split(strings.TrimPrefix(subject, s.name+"."), ".")
	if len(parts) < 2 {
		return "", ""
	}
	return untoken(parts[0]), untoken(parts[1])
}
