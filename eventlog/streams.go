package eventlog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/seed7221b0f9/parley/internal/random"
)

// The streams and their subjects; the last token of a subject is the session.
const (
	logStream      = "PARLEY_LOG"
	deltaStream    = "PARLEY_DELTA"
	snapshotStream = "PARLEY_SNAPSHOT"
	leaseBucket    = "PARLEY_LEASE"
	leaseStream    = "KV_" + leaseBucket

	logPrefix      = "parley.log."
	deltaPrefix    = "parley.delta."
	snapshotPrefix = "parley.snapshot."

	// deltaAge is the lifetime of a delta that TrimDeltas does not free.
	deltaAge = 24 * time.Hour

	metaFormat     = "parley_format"
	metaGeneration = "parley_generation" // part of every epoch
	metaRestoring  = "parley_restoring"  // set while Restore has not finished
)

// streams are the handles of a store's streams.
type streams struct {
	log, delta, snapshot jetstream.Stream
	leases               jetstream.KeyValue
	meta                 atomic.Pointer[map[string]string]
}

// streamConfigs returns the configurations of the streams of a new store, the log first.
func streamConfigs(o *Options) []jetstream.StreamConfig {
	base := jetstream.StreamConfig{
		Storage:  jetstream.FileStorage,
		Replicas: o.Replicas,
		Discard:  jetstream.DiscardNew,
		MaxBytes: o.Quota,
		// A replica that is not up to date may answer a direct read.
		AllowDirect: o.Replicas == 1,
		// The expected sequence replaces the server's window of message ids.
		Duplicates: 100 * time.Millisecond,
	}
	log, delta, snapshot := base, base, base
	log.Name, log.Subjects = logStream, []string{logPrefix + "*"}
	log.Metadata = map[string]string{metaFormat: strconv.Itoa(Format), metaGeneration: random.Hex(4)}
	snapshot.Name, snapshot.Subjects = snapshotStream, []string{snapshotPrefix + "*"}
	delta.Name, delta.Subjects = deltaStream, []string{deltaPrefix + "*"}
	delta.Discard, delta.MaxBytes, delta.MaxAge = jetstream.DiscardOld, deltaQuota, deltaAge
	if o.Replicas == 1 && o.URL == "" {
		delta.PersistMode = jetstream.AsyncPersistMode // the server rejects it with replicas
	}
	return []jetstream.StreamConfig{log, delta, snapshot}
}

// openStreams opens the streams and creates those that are missing.
func openStreams(ctx context.Context, js jetstream.JetStream, o *Options, p *pause) (s *streams, created bool, err error) {
	var open [3]jetstream.Stream
	for i, config := range streamConfigs(o) {
		stream, isNew, err := openStream(ctx, js, config, o.Timeout)
		created = created || isNew
		if err != nil {
			return nil, created, fmt.Errorf("eventlog: opening stream %s: %w", config.Name, err)
		}
		open[i] = boundedStream{stream, bounds{p, o.Timeout}}
	}
	leases, err := openLeases(ctx, js, o)
	if err != nil {
		return nil, created, fmt.Errorf("eventlog: opening bucket %s: %w", leaseBucket, err)
	}
	s = &streams{log: open[0], delta: open[1], snapshot: open[2], leases: boundedBucket{leases, bounds{p, o.Timeout}}}
	meta := open[0].CachedInfo().Config.Metadata
	s.meta.Store(&meta)
	return s, created, s.checkMeta()
}

// openStream opens a stream, or creates it.
func openStream(ctx context.Context, js jetstream.JetStream, config jetstream.StreamConfig, limit time.Duration) (stream jetstream.Stream, created bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stream, err = js.Stream(ctx, config.Name)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return stream, false, err
	}
	stream, err = js.CreateStream(ctx, config)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another node of the cluster has created it
		stream, err = js.Stream(ctx, config.Name)
	}
	return stream, true, err
}

// openLeases opens the bucket of leases without changing one that exists. The store uses the time of its leases: a server with a longer one
// would lose each lease before it renews it.
func openLeases(ctx context.Context, js jetstream.JetStream, o *Options) (jetstream.KeyValue, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	leases, err := js.KeyValue(ctx, leaseBucket)
	if err == nil {
		status, err := leases.Status(ctx)
		if err == nil && status.TTL() > 0 {
			o.LeaseTTL = status.TTL()
		}
		return leases, err
	}
	if !errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, err
	}
	return js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: leaseBucket, TTL: o.LeaseTTL, Replicas: o.Replicas, MaxBytes: deltaQuota / 4,
	})
}

// holds reports whether the streams have as many messages as their files.
func (s *streams) holds(ctx context.Context, live map[string]int) bool {
	for _, stream := range []jetstream.Stream{s.log, s.snapshot} {
		if info, err := stream.Info(ctx); err != nil || info.State.Msgs != uint64(live[info.Config.Name]) {
			return false
		}
	}
	return true
}

// value returns a value of the metadata of the log's stream, or "".
func (s *streams) value(key string) string { return (*s.meta.Load())[key] }

func (s *streams) checkMeta() error {
	format, err := strconv.Atoi(s.value(metaFormat))
	if err != nil {
		return fmt.Errorf("%w: stream %s has no format number", ErrDamaged, logStream)
	}
	return checkFormat(format, "stream "+logStream)
}

// setMeta changes metadata of the log's stream; an empty value removes it.
func (s *streams) setMeta(ctx context.Context, js jetstream.JetStream, changes map[string]string) error {
	config := s.log.CachedInfo().Config
	meta := maps.Clone(*s.meta.Load())
	for k, v := range changes {
		meta[k] = v
		if v == "" {
			delete(meta, k)
		}
	}
	config.Metadata = meta
	if _, err := js.UpdateStream(ctx, config); err != nil {
		return fmt.Errorf("eventlog: changing stream %s: %w", logStream, err)
	}
	s.meta.Store(&meta)
	return nil
}

// newGeneration invalidates all cursors.
func (s *streams) newGeneration(ctx context.Context, js jetstream.JetStream) error {
	return s.setMeta(ctx, js, map[string]string{metaGeneration: random.Hex(4)})
}
