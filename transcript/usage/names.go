package usage

import (
	"bytes"
	"sync"
)

// names maps every text to a small number, so that an entry holds only numbers. The number 0 is the
// empty text. It may be used from several goroutines.
type names struct {
	mu   sync.Mutex
	ids  map[string]uint32
	list []string
}

func newNames() *names {
	return &names{ids: map[string]uint32{"": 0}, list: []string{""}}
}

// id returns the number of a text.
func (n *names) id(s string) uint32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[s]
	if !ok {
		id = uint32(len(n.list))
		n.ids[s] = id
		n.list = append(n.list, s)
	}
	return id
}

// text returns the text of a number from id.
func (n *names) text(id uint32) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.list[id]
}

// recent caches the last text of its kind: the next line mostly has the same.
type recent struct {
	raw []byte
	id  uint32
}

// of returns the number of a JSON text.
func (r *recent) of(n *names, raw []byte) uint32 {
	if bytes.Equal(r.raw, raw) {
		return r.id
	}
	r.raw = append(r.raw[:0], raw...)
	r.id = n.id(unquote(raw))
	return r.id
}
