package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// ErrLive is returned when a process has the session open and the options do not allow the change.
// The error is a [*LiveError].
var ErrLive = errors.New("transcript: the session is live")

// Live is a process that has a session open, as recorded by the CLI.
type Live struct {
	PID    int
	Status string // busy, idle, …
	CWD    string
	Since  time.Time
}

// LiveError is returned when a process has the session open, and names that process. It matches
// [ErrLive].
type LiveError struct {
	SessionID string
	Live
}

func (e *LiveError) Error() string {
	return fmt.Sprintf("transcript: session %s is live: process %d has it open since %s", e.SessionID, e.PID, e.Since.Format(time.DateTime))
}

// Is reports whether target is [ErrLive], for callers that do not need the process.
func (e *LiveError) Is(target error) bool { return target == ErrLive }

// Live reports whether a CLI on this machine has the session open. It cannot detect CLIs that are
// too old to record it.
func (d *Dir) Live(id string) (Live, bool) {
	live, ok := d.live(func(session string) bool { return session == id })[id]
	return live, ok
}

// LiveSessions returns the sessions that CLIs on this machine have open, by id.
func (d *Dir) LiveSessions() map[string]Live {
	return d.live(func(string) bool { return true })
}

// live reads the records of the running CLIs for the wanted sessions.
func (d *Dir) live(wanted func(id string) bool) map[string]Live {
	all := map[string]Live{}
	files, _ := filepath.Glob(filepath.Join(globQuote(d.config), "sessions", "*.json"))
	for _, file := range files {
		text, err := regularfile.Read(file, sidecarLimit)
		if err != nil {
			continue
		}
		var note struct {
			PID       int    `json:"pid"`
			SessionID string `json:"sessionId"`
			CWD       string `json:"cwd"`
			Status    string `json:"status"`
			StartedAt int64  `json:"startedAt"`
			ProcStart string `json:"procStart"`
		}
		if json.Unmarshal(text, &note) != nil || !wanted(note.SessionID) || !running(note.PID, note.ProcStart) {
			continue
		}
		if _, ok := all[note.SessionID]; !ok {
			all[note.SessionID] = Live{PID: note.PID, Status: note.Status, CWD: note.CWD, Since: time.UnixMilli(note.StartedAt)}
		}
	}
	return all
}
