package claude

import (
	"github.com/seed7221b0f9/parley/internal/regularfile"

	"bytes"
	"io"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// watchInterval is the interval of the ownership checks.
const watchInterval = time.Second

// ownerWatch is the goroutine that checks whether the session lost its lock, or another
// program without a lock writes its file, which then grows by prompts or answers while
// the CLI is idle.
type ownerWatch struct {
	s *session

	id   string
	idle int // number of consecutive checks with an idle CLI
	sent int // prompts at the last check
	size int64
}

// run checks every second until the stream of the session has ended.
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

// settled is the number of checks that the CLI has to write the entries of its last turn.
const settled = 2

// look detects other writers of the session's file.
func (w *ownerWatch) look() {
	id, idle, sent := w.s.quietSince()
	if !idle || id != w.id || sent != w.sent {
		w.id, w.idle, w.sent = id, 0, sent
		return
	}
	file := transcriptFile(w.s.launch, id)
	info, err := os.Stat(file)
	if err != nil {
		return // the file does not exist yet, or the CLI has moved it
	}
	if w.idle++; w.idle <= settled {
		w.size = info.Size()
		return
	}
	if info.Size() <= w.size {
		return
	}
	n, err := turnsBetween(file, w.size, info.Size())
	// The CLI may have started to work during the check.
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

// turnsBetween counts the prompts and answers in a part of a file. An idle CLI may write
// all other entries.
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
