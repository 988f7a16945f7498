package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"sync"

	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/server/api"
)

// remembered is a file with the list entry of each session, so that a start reads only the logs of
// sessions that have changed or that a dead server has left unfinished. Each line has the CRC-32C
// of the rest, and a [listed]; the last line of a session counts. The file is not synced, because a
// session without a line is read from its log.
type remembered struct {
	path       string
	generation string // of the store
	logf       func(msg string, args ...any)

	mu    sync.Mutex
	lines map[string][]byte // by session
	live  int               // bytes of them
	file  *os.File          // nil if it cannot be written
	size  int               // of the file
}

// listed is a line of the file.
type listed struct {
	Version    int                `json:"version"`
	Generation string             `json:"generation"` // of the store of the session
	AgentID    string             `json:"agent_id,omitempty"`
	Tenant     string             `json:"tenant,omitempty"`
	Summary    api.SessionSummary `json:"summary"` // its Seq is the last event of the log
}

const (
	listVersion  = 1
	maxList      = 1 << 30
	listSlack    = 1 << 20 // excess size that the file may have
	listChecksum = 8       // hexadecimal digits
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openRemembered reads the file. Lines that are damaged, of another version or of another store are ignored.
func (s *Sessions) openRemembered(generation string) map[string]listed {
	r := &s.remembered
	r.path, r.generation, r.logf, r.lines = s.opts.List, generation, s.logger.Warn, map[string][]byte{}
	known := map[string]listed{}
	data, err := regularfile.Read(r.path, maxList)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.logf("what lists show of sessions cannot be read; the sessions are", "err", err)
	}
	for line := range bytes.Lines(data) {
		var m listed
		text, ok := bytes.CutPrefix(line, fmt.Appendf(nil, "%08x ", crc32.Checksum(line[min(len(line), listChecksum+1):], castagnoli)))
		if ok && json.Unmarshal(text, &m) == nil && m.Version == listVersion && m.Generation == generation {
			known[m.Summary.SessionID] = m
			r.take(m.Summary.SessionID, line)
		}
	}
	return known
}

// take sets the line of a session.
func (r *remembered) take(id string, line []byte) {
	r.live += len(line) - len(r.lines[id])
	r.lines[id] = line
}

// keep drops the sessions that are not in the store, and rewrites the file.
func (r *remembered) keep(ends map[string]uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, line := range r.lines {
		if _, ok := ends[id]; !ok {
			r.live -= len(line)
			delete(r.lines, id)
		}
	}
	r.rewrite()
}

// rewrite replaces the file by one without obsolete lines. The caller holds the lock.
func (r *remembered) rewrite() {
	r.close()
	fresh := r.path + ".new"
	all := make([]byte, 0, r.live)
	for _, line := range r.lines {
		all = append(all, line...)
	}
	err := os.WriteFile(fresh, all, 0o600)
	if err == nil {
		err = os.Rename(fresh, r.path)
	}
	if err == nil {
		r.file, err = os.OpenFile(r.path, os.O_WRONLY|os.O_APPEND, 0o600)
	}
	if r.size = len(all); err != nil {
		r.file = nil
		r.logf("what lists show of sessions is not kept; the next start reads the sessions", "err", err)
	}
}

// close closes the file.
func (r *remembered) close() {
	if r.file != nil {
		_ = r.file.Close() // no buffered data
		r.file = nil
	}
}

// add writes the list entry of a session.
func (r *remembered) add(m listed) {
	m.Version, m.Generation = listVersion, r.generation
	text, err := json.Marshal(m)
	if err != nil {
		return // the session will be read
	}
	text = append(text, '\n')
	line := append(fmt.Appendf(nil, "%08x ", crc32.Checksum(text, castagnoli)), text...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil || bytes.Equal(r.lines[m.Summary.SessionID], line) {
		return
	}
	r.take(m.Summary.SessionID, line)
	n, err := r.file.Write(line)
	if r.size += n; err != nil || r.size > 2*r.live+listSlack {
		r.rewrite()
	}
}

// settledOnDisk reports whether a load would have no effect: no agent's work, request, text or notice is pending.
func (a *actor) settledOnDisk() bool {
	c := &a.core
	again, err := c.occur(onRecovered)
	return a.blocked == nil && len(a.batch) == 0 && a.carry == nil && len(a.notes.waiting) == 0 && a.stream.empty() && a.shown.size == 0 &&
		err == nil && again == nil && !c.State.busy() && len(c.inflight()) == 0 && c.hold() == nil && c.closeRequests("") == nil && a.openMessages() == nil
}

// remember stores the list entry of a settled session, so that the next start need not read it.
func (a *actor) remember() {
	if !a.settledOnDisk() {
		return
	}
	a.srv.remembered.add(a.listed())
}

// listed returns the list entry of the session, for another server.
func (a *actor) listed() listed {
	summary := a.summary()
	summary.Viewers, summary.Live, summary.Capabilities = 0, "", nil // only valid for this server
	return listed{AgentID: a.core.AgentID, Tenant: a.core.Opened.Tenant, Summary: summary}
}
