package s3

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudestore"
)

// tail is the end of a transcript as far as a writer knows. If others have written after it,
// the next name is taken.
type tail struct {
	mu    sync.Mutex // one append at a time
	known bool
	next  uint64 // the next number to try
	// doubt is the body of a write under that number that got no answer and may have succeeded.
	doubt []byte
}

// maxMissing limits the attempts with a name that is taken and has no object.
const maxMissing = 10

// maxTails limits the number of transcripts with a cached tail.
const maxTails = 1024

func (s *Store) tail(key claude.SessionKey) *tail {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tails[key]
	if t == nil {
		if len(s.tails) >= maxTails {
			s.tails = map[claude.SessionKey]*tail{}
		}
		t = &tail{}
		s.tails[key] = t
	}
	return t
}

// Append appends entries to a transcript as one object of the bucket. If its number is taken,
// it tries the next.
func (s *Store) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	body, err := lines(key, entries)
	if err != nil || len(body) == 0 {
		return err
	}
	_, err = s.add(ctx, key, s.tail(key), body, nil)
	return err
}

func lines(key claude.SessionKey, entries []json.RawMessage) ([]byte, error) {
	if err := claudestore.Check(key); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, e := range entries {
		if err := json.Compact(&b, e); err != nil {
			return nil, fmt.Errorf("claudestore/s3: an entry: %w", err)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// add writes an object after all others and returns its number. It calls look with the objects
// that others have written meanwhile.
func (s *Store) add(ctx context.Context, key claude.SessionKey, t *tail, body []byte, look func(other []byte) error) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := s.find(ctx, key, t); err != nil {
		return 0, err
	}
	for missing := 0; ; {
		n := t.next
		doubt, err := s.b.create(ctx, s.part(key, n), body)
		if err == nil {
			t.next, t.doubt = n+1, nil
			return n, nil
		}
		if !errors.Is(err, errTaken) {
			t.doubt = body
			return 0, err
		}
		other, err := s.b.read(ctx, s.part(key, n))
		if errors.Is(err, errMissing) && missing < maxMissing {
			missing++ // deleted meanwhile, or two concurrent writes both failed
			continue
		}
		if err != nil {
			return 0, err
		}
		mine := (doubt || t.doubt != nil && bytes.Equal(t.doubt, body)) && len(body) > 0 && bytes.Equal(other, body)
		t.next, t.doubt = n+1, nil
		if mine {
			return n, nil
		}
		if look != nil {
			if err := look(other); err != nil {
				return 0, err
			}
		}
	}
}

// find finds the end of a transcript with an unknown tail.
func (s *Store) find(ctx context.Context, key claude.SessionKey, t *tail) error {
	if t.known {
		return nil
	}
	parts, err := s.listParts(ctx, key)
	if err != nil {
		return err
	}
	if len(parts) > 0 {
		last, _ := partNumber(path.Base(parts[len(parts)-1].Key))
		t.next = last + 1
	}
	t.known = true
	return nil
}

// Claim makes the caller the only writer of a session. An earlier writer fails with
// [claude.ErrFenced] from then on.
func (s *Store) Claim(ctx context.Context, key claude.SessionKey) (claude.SessionStore, error) {
	key.Subpath = ""
	if err := claudestore.Check(key); err != nil {
		return nil, err
	}
	n, err := s.add(ctx, key, s.tail(key), nil, nil)
	if err != nil {
		return nil, err
	}
	return &writer{Store: s, key: key, main: tail{known: true, next: n + 1}}, nil
}

// writer is a Store with fenced appends to one session: it checks all objects that others write
// to the main transcript after its claim.
type writer struct {
	*Store
	key  claude.SessionKey
	main tail

	mu     sync.Mutex
	fenced bool
}

// Append adds entries unless another writer has claimed the session.
func (w *writer) Append(ctx context.Context, key claude.SessionKey, entries []json.RawMessage) error {
	if key.ProjectKey != w.key.ProjectKey || key.SessionID != w.key.SessionID {
		return w.Store.Append(ctx, key, entries)
	}
	body, err := lines(key, entries)
	if err != nil || len(body) == 0 {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fenced {
		return claude.ErrFenced
	}
	if key.Subpath != "" {
		if err := w.catchUp(ctx); err != nil {
			return err
		}
		return w.Store.Append(ctx, key, entries)
	}
	_, err = w.add(ctx, key, &w.main, body, w.look)
	return err
}

// look detects another writer's claim, which is an empty object.
func (w *writer) look(other []byte) error {
	if len(other) == 0 {
		w.fenced = true
		return claude.ErrFenced
	}
	return nil
}

// catchUp checks the objects that others have written to the main transcript.
func (w *writer) catchUp(ctx context.Context) error {
	for {
		other, err := w.b.read(ctx, w.part(w.key, w.main.next))
		if errors.Is(err, errMissing) {
			return nil
		}
		if err != nil {
			return err
		}
		w.main.next++
		if err := w.look(other); err != nil {
			return err
		}
	}
}
