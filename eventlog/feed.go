package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// feed reads the messages of one subject in order, through a consumer that it recreates when the
// server or the connection loses it.
type feed struct {
	store    *Store
	stream   jetstream.Stream
	subject  string // may have a wildcard
	next     uint64 // the next sequence of the stream
	gets     int    // number of messages to request one by one before using a consumer
	consumer jetstream.Consumer
	messages jetstream.MessagesContext
	unwatch  func() bool   // stops waiting for a reconnection
	taken    uint64        // number of messages taken from this consumer
	pause    time.Duration // before the next attempt to create a consumer
}

// message is a message of a stream.
type message struct {
	data    []byte
	subject string
	seq     uint64 // in the stream
	pending uint64 // number of later messages at the time when it was sent
}

const (
	// feedBytes limits the bytes that a feed has requested and not yet taken.
	feedBytes = 4 << 20
	// feedIdle is the time after which the server drops an unused consumer.
	feedIdle = time.Minute
	// feedGets is the number of messages of one log that are requested one by one.
	feedGets = 64
	minPause = 50 * time.Millisecond
	maxPause = 2 * time.Second
)

// take returns the next message, and waits for it if necessary. It fails only when ctx ends, or the
// stream was deleted.
func (f *feed) take(ctx context.Context) (message, error) {
	for {
		if f.gets > 0 {
			if msg, ok := f.get(ctx); ok {
				return msg, nil
			}
		}
		if f.messages == nil {
			if err := f.open(ctx); err != nil {
				return message{}, err
			}
		}
		msg, err := f.messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			return message{}, context.Cause(ctx)
		}
		if err != nil {
			f.close()
			continue
		}
		meta, err := msg.Metadata()
		if err != nil {
			return message{}, err
		}
		if meta.Sequence.Consumer != f.taken+1 { // the client has dropped a message
			f.close()
			continue
		}
		f.taken++
		f.next, f.pause = meta.Sequence.Stream+1, 0
		return message{msg.Data(), msg.Subject(), meta.Sequence.Stream, meta.NumPending}, nil
	}
}

// get requests one message, which is cheaper than a consumer for the few messages that most readers
// lack. If there is no message, or the request fails, the feed continues with a consumer.
func (f *feed) get(ctx context.Context) (message, bool) {
	msg, err := f.stream.GetMsg(ctx, max(1, f.next), jetstream.WithGetMsgSubject(f.subject))
	if err != nil {
		f.gets = 0
		return message{}, false
	}
	f.gets--
	f.next = msg.Sequence + 1
	return message{data: msg.Data, subject: msg.Subject, seq: msg.Sequence}, true
}

// open creates a consumer, and retries until it succeeds, ctx ends or the stream was deleted.
func (f *feed) open(ctx context.Context) error {
	for {
		err := f.tryOpen(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, jetstream.ErrStreamNotFound), errors.Is(err, nats.ErrConnectionClosed):
			return fmt.Errorf("eventlog: reading %s: %w", f.subject, err)
		}
		f.pause = min(max(2*f.pause, minPause), maxPause)
		if err := wait(ctx, f.pause); err != nil {
			return err
		}
	}
}

// wait returns after d, or with the error of ctx.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *feed) tryOpen(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, f.store.opts.Timeout)
	defer cancel()
	link := f.store.link.context()
	consumer, err := f.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       max(1, f.next),
		AckPolicy:         jetstream.AckNonePolicy,
		FilterSubject:     f.subject,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: feedIdle,
	})
	if err != nil {
		return err
	}
	f.consumer, f.taken = consumer, 0
	messages, err := consumer.Messages(jetstream.PullMaxBytes(feedBytes), jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		f.close()
		return err
	}
	f.messages, f.unwatch = messages, context.AfterFunc(link, messages.Stop)
	return nil
}

// close deletes the consumer. The server drops a remaining consumer after a minute.
func (f *feed) close() {
	if f.messages != nil {
		f.unwatch()
		f.messages.Stop()
		f.messages = nil
	}
	if f.consumer == nil {
		return
	}
	name := f.consumer.CachedInfo().Name
	f.consumer = nil
	if !f.store.nc.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = f.stream.DeleteConsumer(ctx, name) // it may be deleted already
}
