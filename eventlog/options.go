package eventlog

import (
	"log/slog"
	"time"
)

// The defaults of [Options]. Sizes are in bytes.
const (
	DefaultQuota        = 10 << 30
	DefaultReserve      = 256 << 20
	DefaultMaxAppend    = 128 << 20
	DefaultSyncInterval = time.Second
	DefaultTimeout      = 10 * time.Second
	DefaultLeaseTTL     = 30 * time.Second
)

// Options configures a store. Dir or URL is required; every other zero field has a default.
type Options struct {
	// Dir is the data directory of an embedded server. It is created with mode 0700, and an
	// existing directory that others may enter is changed to it.
	Dir string
	// URL is the address of a NATS server or cluster instead of an embedded one, as in
	// "nats://a:4222,nats://b:4222". Dir must then be empty.
	URL string
	// Credentials and RootCAs are the paths of a NATS credentials file and of a PEM file with
	// certificate authorities, only for URL. Both may be empty.
	Credentials, RootCAs string
	// Replicas is the number of servers of the cluster that keep a copy; 0 is 1. It applies when
	// the streams are created.
	Replicas int

	// Quota limits the bytes of all logs and snapshots on disk; 0 is DefaultQuota. With URL it applies when
	// the streams are created.
	Quota int64
	// Reserve is the number of bytes of the disk that writers leave free; 0 is DefaultReserve,
	// negative disables it. It applies to an embedded server.
	Reserve int64
	// MaxAppend limits the bytes of one call of Append or PutSnapshot; 0 is DefaultMaxAppend.
	MaxAppend int
	// SyncInterval is the interval at which deltas are synced; 0 is DefaultSyncInterval. It applies to an embedded server.
	SyncInterval time.Duration
	// Timeout bounds each call to the server, even if the deadline of the context is later; 0 is DefaultTimeout.
	Timeout time.Duration
	// LeaseTTL is the time after which a lease that is not renewed expires; 0 is DefaultLeaseTTL.
	// With URL it applies when the streams are created; Store.Options returns the effective value.
	LeaseTTL time.Duration

	// Now is the clock for Event.Time; nil is time.Now.
	Now func() time.Time
	// Logger receives warnings of the store and of the embedded server; nil discards them.
	Logger *slog.Logger
	// UnsafeNoSync turns off syncing, which breaks the durability of Append. It is for tests that
	// need no durability and for the test that shows the difference.
	UnsafeNoSync bool
}

// withDefaults returns a copy in which every zero field has its default.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	setDefault(&c.Replicas, 1)
	setDefault(&c.Quota, DefaultQuota)
	setDefault(&c.Reserve, DefaultReserve)
	setDefault(&c.MaxAppend, DefaultMaxAppend)
	setDefault(&c.SyncInterval, DefaultSyncInterval)
	setDefault(&c.Timeout, DefaultTimeout)
	setDefault(&c.LeaseTTL, DefaultLeaseTTL)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
