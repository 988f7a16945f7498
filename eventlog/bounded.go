package eventlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The library limits a call only if its context has no deadline. With a distant deadline a call
// would wait that long for a response that was lost with the connection.

// errNoAnswer is the cause of a call that the server has not answered in time.
var errNoAnswer = errors.New("the server has not answered")

// bounds are the limits of calls to the server: they wait while it is paused, and at most limit for the response.
type bounds struct {
	pause *pause
	limit time.Duration
}

// bounded makes one call to the server.
func bounded[T any](ctx context.Context, b bounds, call func(context.Context) (T, error)) (v T, err error) {
	if err := b.pause.enter(ctx); err != nil {
		return v, err
	}
	defer b.pause.leave(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, b.limit, errNoAnswer)
	defer cancel()
	v, err = call(ctx)
	if err != nil && context.Cause(ctx) == errNoAnswer { // and not the caller's deadline
		err = fmt.Errorf("%w within %v: %w", errNoAnswer, b.limit, err)
	}
	return v, err
}

// boundedStream is a stream with limited calls to the server.
type boundedStream struct {
	jetstream.Stream
	bounds
}

// GetMsg reads a message.
func (s boundedStream) GetMsg(ctx context.Context, seq uint64, opts ...jetstream.GetMsgOpt) (*jetstream.RawStreamMsg, error) {
	return bounded(ctx, s.bounds, func(ctx context.Context) (*jetstream.RawStreamMsg, error) { return s.Stream.GetMsg(ctx, seq, opts...) })
}

// GetLastMsgForSubject reads the newest message of a subject.
func (s boundedStream) GetLastMsgForSubject(ctx context.Context, subject string) (*jetstream.RawStreamMsg, error) {
	return bounded(ctx, s.bounds, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.Stream.GetLastMsgForSubject(ctx, subject)
	})
}

// Info returns the description of the stream.
func (s boundedStream) Info(ctx context.Context, opts ...jetstream.StreamInfoOpt) (*jetstream.StreamInfo, error) {
	return bounded(ctx, s.bounds, func(ctx context.Context) (*jetstream.StreamInfo, error) { return s.Stream.Info(ctx, opts...) })
}

// DeleteMsg deletes a message.
func (s boundedStream) DeleteMsg(ctx context.Context, seq uint64) error {
	_, err := bounded(ctx, s.bounds, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.Stream.DeleteMsg(ctx, seq) })
	return err
}

// Purge deletes messages.
func (s boundedStream) Purge(ctx context.Context, opts ...jetstream.StreamPurgeOpt) error {
	_, err := bounded(ctx, s.bounds, func(ctx context.Context) (struct{}, error) { return struct{}{}, s.Stream.Purge(ctx, opts...) })
	return err
}

// CreateConsumer creates a consumer.
func (s boundedStream) CreateConsumer(ctx context.Context, config jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	return bounded(ctx, s.bounds, func(ctx context.Context) (jetstream.Consumer, error) { return s.Stream.CreateConsumer(ctx, config) })
}

// boundedBucket is a bucket with limited calls to the server.
type boundedBucket struct {
	jetstream.KeyValue
	bounds
}

// Get reads a value.
func (b boundedBucket) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	return bounded(ctx, b.bounds, func(ctx context.Context) (jetstream.KeyValueEntry, error) { return b.KeyValue.Get(ctx, key) })
}

// Create stores a value unless the key exists.
func (b boundedBucket) Create(ctx context.Context, key string, value []byte, opts ...jetstream.KVCreateOpt) (uint64, error) {
	return bounded(ctx, b.bounds, func(ctx context.Context) (uint64, error) { return b.KeyValue.Create(ctx, key, value, opts...) })
}

// Update replaces the value of a known revision.
func (b boundedBucket) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	return bounded(ctx, b.bounds, func(ctx context.Context) (uint64, error) { return b.KeyValue.Update(ctx, key, value, revision) })
}

// Delete deletes a value.
func (b boundedBucket) Delete(ctx context.Context, key string, opts ...jetstream.KVDeleteOpt) error {
	_, err := bounded(ctx, b.bounds, func(ctx context.Context) (struct{}, error) { return struct{}{}, b.KeyValue.Delete(ctx, key, opts...) })
	return err
}

// Purge deletes a value with its history.
func (b boundedBucket) Purge(ctx context.Context, key string, opts ...jetstream.KVDeleteOpt) error {
	_, err := bounded(ctx, b.bounds, func(ctx context.Context) (struct{}, error) { return struct{}{}, b.KeyValue.Purge(ctx, key, opts...) })
	return err
}
