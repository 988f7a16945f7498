package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Lease is the exclusive right in a cluster to write to a session's log. It expires
// Options.LeaseTTL after its last renewal. Its methods may be called from any goroutine.
type Lease struct {
	store   *Store
	session string
	value   []byte
	epoch   uint64

	mu       sync.Mutex
	revision uint64
	until    time.Time // by this machine's clock, taken before the server set its own
}

// leaseValue is the bucket's value of a lease.
type leaseValue struct {
	Owner string `json:"owner"`
}

// Acquire takes the lease of a session for owner, a name that others see, such as a node's. If another
// lease exists, even one of the same owner, it returns ErrLeaseHeld without waiting.
func (s *Store) Acquire(ctx context.Context, session, owner string) (*Lease, error) {
	ctx, end, err := s.Log(session).beginWrite(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	value, err := json.Marshal(leaseValue{owner})
	if err != nil {
		return nil, err
	}
	start := time.Now()
	revision, err := s.st.leases.Create(ctx, session, value)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil, &LeaseHeldError{Session: session, Owner: s.leaseOwner(ctx, session)}
	}
	if err != nil {
		return nil, fmt.Errorf("eventlog: taking the lease of %s: %w", session, classify(err))
	}
	return &Lease{store: s, session: session, value: value, epoch: revision, revision: revision, until: start.Add(s.opts.LeaseTTL)}, nil
}

// Reacquire acquires a lease that an earlier process of the same owner left, with a higher epoch. Without a lease it is
// like Acquire. The caller ensures that the earlier process has ended.
func (s *Store) Reacquire(ctx context.Context, session, owner string) (*Lease, error) {
	l, err := s.Acquire(ctx, session, owner)
	var held *LeaseHeldError
	if !errors.As(err, &held) || held.Owner != owner {
		return l, err
	}
	ctx, end, err := s.Log(session).beginWrite(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	var value leaseValue
	entry, err := s.st.leases.Get(ctx, session)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, held // it has just ended; the caller may try again
	case err != nil:
		return nil, fmt.Errorf("eventlog: the lease of %s: %w", session, classify(err))
	case json.Unmarshal(entry.Value(), &value) != nil || value.Owner != owner:
		return nil, &LeaseHeldError{Session: session, Owner: value.Owner}
	}
	start := time.Now()
	revision, err := s.st.leases.Update(ctx, session, entry.Value(), entry.Revision())
	if errors.Is(classify(err), ErrConflict) || errors.Is(err, jetstream.ErrKeyExists) {
		return nil, &LeaseHeldError{Session: session, Owner: s.leaseOwner(ctx, session)}
	}
	if err != nil {
		return nil, fmt.Errorf("eventlog: taking the lease of %s: %w", session, classify(err))
	}
	return &Lease{store: s, session: session, value: entry.Value(), epoch: revision, revision: revision, until: start.Add(s.opts.LeaseTTL)}, nil
}

// Owner returns the owner of the lease of a session, or "".
func (s *Store) Owner(ctx context.Context, session string) (string, error) {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return "", err
	}
	defer end()
	entry, err := s.st.leases.Get(ctx, session)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("eventlog: the lease of %s: %w", session, classify(err))
	}
	var value leaseValue
	if err := json.Unmarshal(entry.Value(), &value); err != nil {
		return "", fmt.Errorf("eventlog: the lease of %s: %w", session, err)
	}
	return value.Owner, nil
}

// Leases returns the owners of all sessions with a lease.
func (s *Store) Leases(ctx context.Context) (map[string]string, error) {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	w, err := s.st.leases.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("eventlog: the leases: %w", classify(err))
	}
	defer w.Stop()
	owners := map[string]string{}
	for {
		select {
		case entry, ok := <-w.Updates():
			if !ok || entry == nil {
				if !ok {
					err = errors.New("eventlog: the leases: the connection was closed")
				}
				return owners, err
			}
			var value leaseValue
			_ = json.Unmarshal(entry.Value(), &value) // an unreadable owner has no name
			owners[entry.Key()] = value.Owner
		case <-ctx.Done():
			return nil, fmt.Errorf("eventlog: the leases: %w", context.Cause(ctx))
		}
	}
}

// leaseOwner returns the owner of a lease, if it still exists.
func (s *Store) leaseOwner(ctx context.Context, session string) string {
	var value leaseValue
	if entry, err := s.st.leases.Get(ctx, session); err == nil {
		_ = json.Unmarshal(entry.Value(), &value) // an unreadable owner has no name
	}
	return value.Owner
}

// leaseHeld reports whether a session has a lease.
func (s *Store) leaseHeld(ctx context.Context, session string) (bool, error) {
	ctx, end, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	defer end()
	_, err = s.st.leases.Get(ctx, session)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Epoch returns a number that is larger than that of every earlier lease of the store. It is the owner
// argument of AppendDelta.
func (l *Lease) Epoch() uint64 { return l.epoch }

// Session returns the name of the session of the lease.
func (l *Lease) Session() string { return l.session }

// Held reports whether the lease has not expired by this machine's clock.
func (l *Lease) Held() bool {
	_, until := l.state()
	return time.Now().Before(until)
}

// Renew restarts the time of the lease. The error is ErrLeaseLost once another owner may have it; after
// any other error the lease keeps its remaining time.
func (l *Lease) Renew(ctx context.Context) error {
	ctx, end, err := l.store.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer end()
	revision, until := l.state()
	if !time.Now().Before(until) {
		return l.lost()
	}
	start := time.Now()
	revision, err = l.store.st.leases.Update(ctx, l.session, l.value, revision)
	if errors.Is(classify(err), ErrConflict) || errors.Is(err, jetstream.ErrKeyExists) {
		return l.lost()
	}
	if err != nil {
		return fmt.Errorf("eventlog: renewing the lease of %s: %w", l.session, err)
	}
	l.set(revision, start.Add(l.store.opts.LeaseTTL))
	return nil
}

func (l *Lease) state() (uint64, time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.revision, l.until
}

func (l *Lease) set(revision uint64, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revision, l.until = revision, until
}

// lost marks the lease as ended.
func (l *Lease) lost() error {
	revision, _ := l.state()
	l.set(revision, time.Time{})
	return fmt.Errorf("%w: session %s", ErrLeaseLost, l.session)
}

// Keep renews the lease three times per LeaseTTL until ctx ends, and then returns ctx's error, or
// ErrLeaseLost as soon as another owner may have it. The caller runs it on a separate goroutine.
func (l *Lease) Keep(ctx context.Context) error {
	ticker := time.NewTicker(l.store.opts.LeaseTTL / 3)
	defer ticker.Stop()
	for {
		_, until := l.state()
		attempt, cancel := context.WithDeadline(ctx, until)
		select {
		case <-ticker.C:
		case <-attempt.Done():
		}
		err := l.Renew(attempt)
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, ErrLeaseLost) || errors.Is(err, ErrClosed) {
			return err
		}
	}
}

// Release returns the lease, so that others can acquire it at once. Releasing a lost lease is not
// an error.
func (l *Lease) Release(ctx context.Context) error {
	ctx, end, err := l.store.beginWrite(ctx)
	if err != nil {
		return err
	}
	defer end()
	revision, _ := l.state()
	l.set(revision, time.Time{})
	err = l.store.st.leases.Delete(ctx, l.session, jetstream.LastRevision(revision))
	if err == nil || errors.Is(classify(err), ErrConflict) || errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	return fmt.Errorf("eventlog: releasing the lease of %s: %w", l.session, err)
}
