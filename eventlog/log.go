package eventlog

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Log is a handle of the log of one session. Creating it is cheap, and its methods may be called
// from any goroutine.
type Log struct {
	store   *Store
	session string
}

// Session returns the name of the session of the log.
func (l *Log) Session() string { return l.session }

// Last returns the position after the newest durable event. The error is ErrNotFound for a log without events.
func (l *Log) Last(ctx context.Context) (Cursor, error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return Cursor{}, err
	}
	defer end()
	tip, err := l.tip(ctx)
	if err != nil {
		return Cursor{}, err
	}
	if tip.last == 0 {
		return Cursor{}, l.notFound()
	}
	return Cursor{Epoch: l.epoch(tip.epoch), Seq: tip.last}, nil
}

// First returns the number of the oldest stored event. The error is ErrNotFound for a log without events.
func (l *Log) First(ctx context.Context) (uint64, error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer end()
	return l.first(ctx)
}

func (l *Log) first(ctx context.Context) (uint64, error) {
	_, h, err := probe(ctx, l.store.st.log, l.subject(), 1)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, l.notFound()
	}
	return h.first, l.wrap("reading the oldest event", err)
}

// info describes the log. The caller has started a call.
func (l *Log) info(ctx context.Context) (SessionInfo, error) {
	tip, err := l.tip(ctx)
	if err != nil {
		return SessionInfo{}, err
	}
	if tip.last == 0 {
		return SessionInfo{}, l.notFound()
	}
	first, err := l.first(ctx)
	if err != nil {
		return SessionInfo{}, err
	}
	return SessionInfo{Session: l.session, First: first, Last: tip.last, Epoch: l.epoch(tip.epoch), Time: tip.time}, nil
}

func (l *Log) notFound() error { return fmt.Errorf("%w: log of session %s", ErrNotFound, l.session) }

// wrap adds the operation and the session to an error of the server.
func (l *Log) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("eventlog: session %s: %s: %w", l.session, doing, classify(err))
}

// begin starts a call for this log.
func (l *Log) begin(ctx context.Context) (context.Context, func(), error) {
	if err := checkSession(l.session); err != nil {
		return nil, nil, err
	}
	return l.checked(l.store.begin(ctx))
}

// beginWrite starts a call for this log that writes.
func (l *Log) beginWrite(ctx context.Context) (context.Context, func(), error) {
	if err := checkSession(l.session); err != nil {
		return nil, nil, err
	}
	return l.checked(l.store.beginWrite(ctx))
}

// checked checks the blocks of the log for a started call.
func (l *Log) checked(ctx context.Context, end func(), err error) (context.Context, func(), error) {
	if err != nil {
		return nil, nil, err
	}
	if err = l.store.look(ctx); err == nil {
		err = l.store.ready(ctx, l.session)
	}
	if err != nil {
		end()
		return nil, nil, l.wrap("checking its files", err)
	}
	return ctx, end, nil
}

func checkSession(name string) error {
	if !validSession(name) {
		return fmt.Errorf("%w: %.140q", ErrSession, name)
	}
	return nil
}

// validSession reports whether a name can be a part of a subject.
func validSession(name string) bool {
	if name == "" || len(name) > 128 {
		return false
	}
	for _, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

func (l *Log) subject() string         { return logPrefix + l.session }
func (l *Log) deltaSubject() string    { return deltaPrefix + l.session }
func (l *Log) snapshotSubject() string { return snapshotPrefix + l.session }

// epoch returns the epoch of the log's cursors: that of the store, followed by that of the log.
func (l *Log) epoch(log [8]byte) string {
	return l.store.st.value(metaGeneration) + hex.EncodeToString(log[:])
}
