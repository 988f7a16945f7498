package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/random"
)

var (
	errStoreUnpersisted = errors.New("claude: SessionStore needs the session to be persisted: PersistSession is false")
	errStoreCheckpoints = errors.New("claude: SessionStore and EnableFileCheckpointing cannot be used together")
	errStoreCannotList  = errors.New("claude: Continue from a SessionStore needs one that can list its sessions")
)

// The limits of a batch before a flush in the background, and the retries of a failing
// store.
const (
	mirrorEntries = 500
	mirrorBytes   = 1 << 20
	storeTimeout  = 60 * time.Second
)

var storeRetries = []time.Duration{200 * time.Millisecond, 800 * time.Millisecond}

// mirror is a sink that copies the CLI's transcript entries to a store, in the order of
// the stream: it delivers a result only after all earlier entries have been stored, or
// have failed and been reported.
type mirror struct {
	next  sink
	store SessionStore
	root  string // the directory of the CLI's projects
	// resumed is the key of a session that was resumed from the store. The session
	// continues under it on any machine.
	resumed SessionKey
	eager   bool
	warn    func(msg string, args ...any)

	box  *lineQueue
	done chan struct{}

	flushing sync.Mutex // serializes flushes
	mu       sync.Mutex
	files    []string // files with pending entries, in the order of their first entry
	pending  map[string][]json.RawMessage
	entries  int
	bytes    int
	behind   sync.WaitGroup // flushes in the background

	claims map[string]SessionStore // by session; used only by flushes
}

func newMirror(next sink, l *launch, root string) *mirror {
	m := &mirror{next: next, store: l.SessionStore, root: root, resumed: l.stored, eager: l.SessionStoreFlush == FlushEager,
		warn: l.logger().Warn, box: newLineQueue(nil), done: make(chan struct{}), pending: map[string][]json.RawMessage{},
		claims: map[string]SessionStore{}}
	go m.run()
	return m
}

func (m *mirror) deliver(e entry) (warning string) {
	m.box.put(e)
	return ""
}

func (m *mirror) finish(err error) {
	m.box.end(err)
	<-m.done
}

func (m *mirror) buffered() int64 { return m.box.size() + m.next.buffered() }

// run passes messages on in order.
func (m *mirror) run() {
	defer close(m.done)
	for {
		e, ok, err := m.box.take(context.Background())
		if !ok {
			m.flush()
			m.behind.Wait()
			m.next.finish(err)
			return
		}
		switch msg := e.msg().(type) {
		case *message.TranscriptMirror:
			m.add(msg)
			continue
		case *message.Result:
			m.flush()
		}
		m.pass(e)
	}
}

func (m *mirror) pass(e entry) {
	if warning := m.next.deliver(e); warning != "" {
		m.warn(warning)
	}
}

func (m *mirror) add(frame *message.TranscriptMirror) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.pending[frame.FilePath]; !ok {
		m.files = append(m.files, frame.FilePath)
	}
	for _, e := range frame.Entries {
		m.pending[frame.FilePath] = append(m.pending[frame.FilePath], e.Bytes())
		m.entries++
		m.bytes += len(e)
	}
	if m.eager || m.entries > mirrorEntries || m.bytes > mirrorBytes {
		m.behind.Go(m.flush)
	}
}

// flush stores all pending entries.
func (m *mirror) flush() {
	m.flushing.Lock()
	defer m.flushing.Unlock()
	m.mu.Lock()
	files, pending := m.files, m.pending
	m.files, m.pending, m.entries, m.bytes = nil, map[string][]json.RawMessage{}, 0, 0
	m.mu.Unlock()
	for _, f := range files {
		m.append(f, pending[f])
	}
}

func (m *mirror) append(file string, entries []json.RawMessage) {
	key, ok := m.key(file)
	if ok && key.SessionID == m.resumed.SessionID {
		key.ProjectKey = m.resumed.ProjectKey
	}
	if !ok {
		m.warn("claude: a transcript outside of the CLI's projects is not stored", "file", file)
		return
	}
	if len(entries) == 0 {
		return
	}
	if err := m.try(key, entries); err != nil {
		m.warn("claude: entries of a transcript were not stored", "session", key.SessionID, "entries", len(entries), "error", err)
		m.pass(mirrorError(key, err))
	}
}

// try appends with at most three attempts. It does not retry after a timeout, because the
// store may still be writing, nor if the session has another writer.
func (m *mirror) try(key SessionKey, entries []json.RawMessage) (err error) {
	for i := 0; ; i++ {
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		err = m.once(ctx, key, entries)
		timedOut := ctx.Err() != nil
		cancel()
		if err == nil || timedOut || i == len(storeRetries) || errors.Is(err, ErrFenced) {
			return err
		}
		<-time.After(storeRetries[i])
	}
}

// once appends, with a claim if the store supports claims. It returns a panic of the
// store as an error.
func (m *mirror) once(ctx context.Context, key SessionKey, entries []json.RawMessage) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("claude: the session store panicked: %v", v)
		}
	}()
	store, ok := m.claims[key.SessionID]
	if !ok {
		store = m.store
		if c, can := m.store.(SessionClaimer); can {
			if store, err = c.Claim(ctx, key); err != nil {
				return err
			}
		}
		m.claims[key.SessionID] = store
	}
	return store.Append(ctx, key, entries)
}

// key returns the key of a transcript's file: <project>/<session>.jsonl, or a file below
// the session's directory for subagents.
func (m *mirror) key(file string) (SessionKey, bool) {
	rel, err := filepath.Rel(m.root, file)
	if err != nil || !filepath.IsLocal(rel) {
		real, err := filepath.EvalSymlinks(m.root)
		if err != nil {
			return SessionKey{}, false
		}
		if rel, err = filepath.Rel(real, file); err != nil || !filepath.IsLocal(rel) {
			return SessionKey{}, false
		}
	}
	parts := strings.Split(strings.TrimSuffix(filepath.ToSlash(rel), ".jsonl"), "/")
	switch {
	case !strings.HasSuffix(rel, ".jsonl"):
		return SessionKey{}, false
	case len(parts) == 2:
		return SessionKey{ProjectKey: parts[0], SessionID: parts[1]}, true
	case len(parts) >= 4:
		return SessionKey{ProjectKey: parts[0], SessionID: parts[1], Subpath: strings.Join(parts[2:], "/")}, true
	}
	return SessionKey{}, false
}

// mirrorError returns the message that reports entries that were not stored.
func mirrorError(key SessionKey, err error) entry {
	m := &message.MirrorError{Error: err.Error(), Key: message.MirrorKey(key)}
	m.Subtype, m.UUID, m.SessionID = "mirror_error", random.UUID(), key.SessionID
	line, encErr := message.Encode(m)
	if encErr != nil {
		return decodedEntry("", m)
	}
	return decodedEntry(string(line), message.DecodeLine(string(line)))
}
