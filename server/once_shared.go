package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// sharedOnce is a secret of a cluster.
type sharedOnce[T any] struct {
	Expires time.Time `json:"expires"`
	Value   T         `json:"value"`
}

// onceAge is the age at which the buckets drop a secret; every secret expires earlier.
const onceAge = max(pushTTL, machinePairingAge)

// openOnces shares the codes of devices and the nonces of notices in a cluster.
func (s *Server) openOnces(ctx context.Context) (err error) {
	c := s.opts.Cluster
	if c == nil {
		return nil
	}
	if s.pairings.shared, err = c.Bucket(ctx, "PAIRINGS", onceAge); err == nil {
		s.notices.shared, err = c.Bucket(ctx, "NOTICES", onceAge)
	}
	if err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

func onceKey(secret string) string {
	hash := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(hash[:])
}

// share stores a secret for all servers. If there are too many, it ends the oldest.
func (o *onces[T]) share(secret string, value T, expires time.Time) error {
	data, err := json.Marshal(sharedOnce[T]{expires, value})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxShare)
	defer cancel()
	all, err := o.shared.All(ctx)
	if err != nil {
		return err
	}
	for n := len(all) - o.max + 1; n > 0; n-- { // oldest first
		if err := o.shared.Remove(ctx, all[0].Key); err != nil {
			return err
		}
		all = all[1:]
	}
	return o.shared.Create(ctx, onceKey(secret), data)
}

// takeShared uses up a secret. If several servers try at once, one of them gets the value.
func (o *onces[T]) takeShared(secret string) (value T, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), maxShare)
	defer cancel()
	e, err := o.shared.Get(ctx, onceKey(secret))
	if err != nil {
		return value, false
	}
	if err := o.shared.RemoveRevision(ctx, e.Key, e.Revision); err != nil {
		return value, false
	}
	var found sharedOnce[T]
	if json.Unmarshal(e.Value, &found) != nil || !o.now().Before(found.Expires) {
		return value, false
	}
	return found.Value, true
}

// dropShared ends the secrets with these values.
func (o *onces[T]) dropShared(of func(T) bool) {
	ctx, cancel := context.WithTimeout(context.Background(), maxShare)
	defer cancel()
	all, err := o.shared.All(ctx)
	if err != nil {
		return // they expire
	}
	for _, e := range all {
		var found sharedOnce[T]
		if json.Unmarshal(e.Value, &found) == nil && of(found.Value) {
			_ = o.shared.RemoveRevision(ctx, e.Key, e.Revision) // it expires
		}
	}
}
