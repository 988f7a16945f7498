package linecopy

import "sync"

// maxRecent limits the values that a Recent has.
const maxRecent = 1024

// Recent remembers values that can be made again, such as the state of a [File]. With more than 1024 values it forgets
// some. The zero value is empty. It is safe for concurrent use.
type Recent[V any] struct {
	mu  sync.Mutex
	all map[string]V
}

// Get returns a value.
func (r *Recent[V]) Get(key string) (v V, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok = r.all[key]
	return v, ok
}

// Put sets a value.
func (r *Recent[V]) Put(key string, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]V{}
	}
	for other := range r.all {
		if len(r.all) < maxRecent {
			break
		}
		delete(r.all, other)
	}
	r.all[key] = v
}

// Forget removes the values with matching keys.
func (r *Recent[V]) Forget(match func(key string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.all {
		if match(key) {
			delete(r.all, key)
		}
	}
}
