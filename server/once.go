package server

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/server/cluster"
)

// onces holds secrets that can be used once, each with a value. It keeps only the hash of a secret,
// in memory; in a cluster in a bucket, so that every server accepts it. Its methods may be called
// from any goroutine.
type onces[T any] struct {
	now    func() time.Time
	max    int // the maximum number; another one ends the oldest
	shared *cluster.Bucket

	mu   sync.Mutex
	open []once[T]
}

type once[T any] struct {
	hash    [sha256.Size]byte
	expires time.Time
	value   T
}

// begin returns a new secret with 128 random bits.
func (o *onces[T]) begin(value T, age time.Duration) (secret string, expires time.Time, err error) {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	secret = base64.RawURLEncoding.EncodeToString(b)
	now := o.now()
	expires = now.Add(age)
	if o.shared != nil {
		return secret, expires, o.share(secret, value, expires)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open = slices.DeleteFunc(o.open, func(e once[T]) bool { return !now.Before(e.expires) })
	if n := len(o.open) - o.max + 1; n > 0 {
		o.open = slices.Delete(o.open, 0, n)
	}
	o.open = append(o.open, once[T]{sha256.Sum256([]byte(secret)), expires, value})
	return secret, expires, nil
}

// take uses up a secret and returns its value. It takes the same time for every wrong secret.
func (o *onces[T]) take(secret string) (value T, ok bool) {
	if o.shared != nil {
		return o.takeShared(secret)
	}
	hash := sha256.Sum256([]byte(secret))
	o.mu.Lock()
	defer o.mu.Unlock()
	found := -1
	for i := range o.open {
		if subtle.ConstantTimeCompare(o.open[i].hash[:], hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return value, false
	}
	e := o.open[found]
	o.open = slices.Delete(o.open, found, found+1)
	if !o.now().Before(e.expires) {
		return value, false
	}
	return e.value, true
}

// drop ends the secrets with these values.
func (o *onces[T]) drop(of func(T) bool) {
	if o.shared != nil {
		o.dropShared(of)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open = slices.DeleteFunc(o.open, func(e once[T]) bool { return of(e.value) })
}
