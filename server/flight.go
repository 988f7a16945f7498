package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"
	"unsafe"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// Limits of large responses. Together they hold at most maxFlight bytes, unless there is only one. A client that does
// not read holds its response until the time limit.
const (
	maxFlight     = 128 << 20
	largeResponse = 256 << 10
)

// flight limits the memory of the large responses that are being written. Responses that share a
// text count once. Its methods may be called from any goroutine.
type flight struct {
	max  int
	wait time.Duration // for room

	mu     sync.Mutex
	used   int
	shared map[*byte]int // number of responses, by the text
	freed  chan struct{} // closed when there is more room
}

func newFlight(max int, wait time.Duration) *flight {
	return &flight{max: max, wait: wait, shared: map[*byte]int{}, freed: make(chan struct{})}
}

// errOverloaded is the refusal of a large response without room.
var errOverloaded = &httpError{http.StatusServiceUnavailable,
	&session.Failure{Reason: api.LimitReached, Message: "the server sends as many large responses as it can; try again later"}}

// enter waits for room for a text of this size. A non-nil key identifies a text that several
// responses share. The caller must call leave when the response is written.
func (f *flight) enter(ctx context.Context, key *byte, size int) (leave func(), err error) {
	if size < largeResponse {
		return func() {}, nil
	}
	late := time.NewTimer(f.wait)
	defer late.Stop()
	for {
		freed, ok := f.try(key, size)
		if ok {
			return sync.OnceFunc(func() { f.leave(key, size) }), nil
		}
		select {
		case <-freed:
		case <-late.C:
			return nil, errOverloaded
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try reserves room, or returns a channel that is closed when room was freed.
func (f *flight) try(key *byte, size int) (freed <-chan struct{}, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key == nil || f.shared[key] == 0 {
		if f.used > 0 && f.used+size > f.max {
			return f.freed, false
		}
		f.used += size
	}
	if key != nil {
		f.shared[key]++
	}
	return nil, true
}

func (f *flight) leave(key *byte, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if key != nil {
		if f.shared[key]--; f.shared[key] > 0 {
			return
		}
		delete(f.shared, key)
	}
	f.used -= size
	close(f.freed)
	f.freed = make(chan struct{})
}

// encoded is the JSON of a value. It shares the memory of the conversation in it with all viewers
// of a session.
type encoded struct {
	head  []byte
	large event.JSON
	tail  []byte
}

// hole replaces the conversation while the rest of the value is encoded. It is random, so that no
// other text contains it.
var hole = event.JSON(`"` + random.Hex(16) + `"`)

// hollow returns a value without its conversation, and the conversation.
func hollow(v any) (any, event.JSON) {
	take := func(from *event.JSON) event.JSON {
		text := *from
		if len(text) < largeResponse {
			return ""
		}
		*from = hole
		return text
	}
	var large event.JSON
	switch r := v.(type) {
	case api.GetHistoryResult:
		large = take(&r.Conversation)
		return r, large
	case api.AttachResult:
		large = take(&r.Snapshot)
		return r, large
	case sessionAttached:
		large = take(&r.Snapshot)
		return r, large
	case pollResult:
		large = take(&r.Snapshot)
		return r, large
	}
	return v, ""
}

// encode encodes a value that is part of another one, when there is room for it among the large responses. The caller calls
// leave when the value is written.
func (s *Server) encode(ctx context.Context, v any, wrap func(any) any) (e encoded, leave func(), err error) {
	small, large := hollow(v)
	if large != "" {
		if leave, err = s.flight.enter(ctx, unsafe.StringData(string(large)), len(large)); err != nil {
			return encoded{}, nil, err
		}
	}
	data, err := json.Marshal(wrap(small))
	if err != nil {
		if leave != nil {
			leave()
		}
		return encoded{}, nil, err
	}
	if large != "" {
		head, tail, _ := bytes.Cut(data, []byte(hole))
		return encoded{head, large, tail}, leave, nil
	}
	size := len(data)
	if size < largeResponse {
		return encoded{head: data}, func() {}, nil
	}
	if _, ok := s.flight.try(nil, size); ok {
		return encoded{head: data}, sync.OnceFunc(func() { s.flight.leave(nil, size) }), nil
	}
	data = nil // it is encoded again when there is room
	if leave, err = s.flight.enter(ctx, nil, size); err != nil {
		return encoded{}, nil, err
	}
	if data, err = json.Marshal(wrap(small)); err != nil {
		leave()
		return encoded{}, nil, err
	}
	return encoded{head: data}, leave, nil
}

// plain is a wrap function for encode that adds nothing.
func plain(v any) any { return v }

// write writes the JSON to w, the large part in pieces.
func (e encoded) write(w io.Writer) error {
	if _, err := w.Write(e.head); err != nil {
		return err
	}
	for rest := e.large; rest != ""; {
		n := min(len(rest), maxWrite)
		if _, err := w.Write([]byte(rest[:n])); err != nil {
			return err
		}
		rest = rest[n:]
	}
	if len(e.tail) == 0 {
		return nil
	}
	_, err := w.Write(e.tail)
	return err
}
