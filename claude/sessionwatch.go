package claude

import (
	"github.com/seed7221b0f9/parley/internal/regularfile"

	"bytes"
	"io"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// watchInterval is how often a session looks whether it is still its own.
const watchInterval = time.Second

// ownerWatch is the goroutine that looks whether a session is still its own: its
// lock was stolen, or another program, which knows no lock, writes its file, which
// then grows by prompts or answers while the CLI is idle.
type ownerWatch struct {
	s *session

	id   string
	idle int // how many looks in a row found the CLI idle
	sent int // prompts at the last look
	size int64
}

// run looks every second until the stream of the session has ended.
func (w *ownerWatch) run() {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-w.s.over:
			return
		case <-w.s.closing:
			return
		case <-tick.C:
			if err := w.s.guard.stolen(); err != nil {
				w.s.stop(err)
				return
			}
			w.look()
		}
	}
}

// quietSince reports whether the CLI is idle, and how many prompts it had.
func (s *session) quietSince() (id string, idle bool, sent int) {
	s.update(func(st *sessionState) { id, idle, sent = st.sessionID, st.end.over() && !st.end.noMore, st.end.sent })
	return id, idle, sent
}

// settled is how many looks the CLI gets to write what belongs to its last turn.
const settled = 2

// look notices other writers of the session's file.
func (w *ownerWatch) look() {
	id, idle, sent := w.s.quietSince()
	if !idle || id != w.id || sent != w.sent {
		w.id, w.idle, w.sent = id, 0, sent
		return
	}
	file := transcriptFile(w.s.launch, id)
	info, err := os.Stat(file)
	if err != nil {
		return // there is none yet, or the CLI has moved
	}
	if w.idle++; w.idle <= settled {
		w.size = info.Size()
		return
	}
	if info.Size() <= w.size {
		return
	}
	n, err := turnsBetween(file, w.size, info.Size())
	// The CLI may have begun to work while the file was looked at.
	if _, idle, sent := w.s.quietSince(); err != nil || !idle || sent != w.sent {
		w.idle = 0
		return
	}
	grown := info.Size() - w.size
	w.size = info.Size()
	if n > 0 {
		w.s.warn("claude: another program writes this session", "session", id, "file", file, "entries", n)
		w.s.trace.foreignWrite(ForeignWriteTrace{SessionID: id, File: file, Entries: n, Bytes: grown})
	}
}

// turnsBetween counts the prompts and answers in a part of a file. Whatever else
// a CLI writes it may write when it is idle.
func turnsBetween(file string, from, to int64) (n int, err error) {
	f, err := regularfile.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.NewSectionReader(f, from, to-from))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		switch jsonwire.NewDecoder(string(line)).Peek("type") {
		case "user", "assistant":
			n++
		}
	}
	return n, nil
}
