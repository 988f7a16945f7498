package claude

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// watchInterval is how often a session looks whether it is still its own.
const watchInterval = time.Second

// foreignWatch notices that another program, which knows no lock, writes the
// session's file: it grows by prompts or answers while the CLI is idle.
type foreignWatch struct {
	id   string
	idle int // how many looks in a row found the CLI idle
	sent int // prompts at the last look
	size int64
}

// watchOwner runs beside a session until its stream has ended.
func (s *session) watchOwner() {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	var w foreignWatch
	for {
		select {
		case <-s.over:
			return
		case <-s.closing:
			return
		case <-tick.C:
			if err := s.guard.stolen(); err != nil {
				s.stop(err)
				return
			}
			s.lookForOthers(&w)
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

func (s *session) lookForOthers(w *foreignWatch) {
	id, idle, sent := s.quietSince()
	if !idle || id != w.id || sent != w.sent {
		w.id, w.idle, w.sent = id, 0, sent
		return
	}
	file := transcriptFile(s.opts, id)
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
	if _, idle, sent := s.quietSince(); err != nil || !idle || sent != w.sent {
		w.idle = 0
		return
	}
	grown := info.Size() - w.size
	w.size = info.Size()
	if n > 0 {
		s.warn("claude: another program writes this session", "session", id, "file", file, "entries", n)
		s.trace.foreignWrite(ForeignWriteTrace{SessionID: id, File: file, Entries: n, Bytes: grown})
	}
}

// turnsBetween counts the prompts and answers in a part of a file. Whatever else
// a CLI writes it may write when it is idle.
func turnsBetween(file string, from, to int64) (n int, err error) {
	f, err := os.Open(file)
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
