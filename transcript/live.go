package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrLive means that a process has the session open, and that nobody said that it
// may be changed nevertheless. The error is a [*LiveError].
var ErrLive = errors.New("transcript: the session is live")

// Live is a process that has a session open, as the CLI itself notes it.
type Live struct {
	PID    int
	Status string // busy, idle, …
	CWD    string
	Since  time.Time
}

// LiveError says which process has a session open.
type LiveError struct {
	SessionID string
	Live
}

func (e *LiveError) Error() string {
	return fmt.Sprintf("transcript: session %s is live: process %d has it open since %s", e.SessionID, e.PID, e.Since.Format(time.DateTime))
}

// Is reports whether target is [ErrLive].
func (e *LiveError) Is(target error) bool { return target == ErrLive }

// Live tells whether a CLI of this machine has the session open. CLIs that are too
// old to note it are not seen.
func (d *Dir) Live(id string) (Live, bool) {
	files, _ := filepath.Glob(filepath.Join(globQuote(d.config), "sessions", "*.json"))
	for _, file := range files {
		text, err := os.ReadFile(file)
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
		if json.Unmarshal(text, &note) != nil || note.SessionID != id || !running(note.PID, note.ProcStart) {
			continue
		}
		return Live{PID: note.PID, Status: note.Status, CWD: note.CWD, Since: time.UnixMilli(note.StartedAt)}, true
	}
	return Live{}, false
}
