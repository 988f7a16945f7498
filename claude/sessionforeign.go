package claude

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/regularfile"
)

// liveCLI is a CLI's own record of its running session, in sessions/<pid>.json of its
// configuration directory. Such a CLI may not use this package's lock.
type liveCLI struct {
	PID       int    `json:"pid"`
	SessionID string `json:"sessionId"`
	StartedAt int64  `json:"startedAt"` // milliseconds since 1970
	ProcStart string `json:"procStart"` // as in /proc/<pid>/stat
	PIDDomain string `json:"pidDomain"` // ends with the namespace of the pid
}

// maxLiveCLI limits the size of such a file.
const maxLiveCLI = 1 << 20

// foreignCLI finds a CLI that runs a session without a lock, or returns nil. It works on Linux
// only, where a process can be distinguished from a later one with the same id.
func foreignCLI(config, id string) *SessionBusyError {
	dir := filepath.Join(config, "sessions")
	files, err := fs.Glob(os.DirFS(dir), "*.json") // the directory name is not a pattern
	if err != nil {
		return nil
	}
	for _, f := range files {
		text, err := regularfile.Read(filepath.Join(dir, f), maxLiveCLI)
		if err != nil {
			continue
		}
		var cli liveCLI
		if json.Unmarshal(text, &cli) == nil && cli.SessionID == id && cli.alive() {
			host, _ := os.Hostname()
			return &SessionBusyError{SessionID: id, PID: cli.PID, Host: host, Since: time.UnixMilli(cli.StartedAt)}
		}
	}
	return nil
}

// alive reports whether the same process is still running.
func (c *liveCLI) alive() bool {
	if space, err := os.Readlink("/proc/self/ns/pid"); err != nil || c.PIDDomain != "" && !strings.HasSuffix(c.PIDDomain, space) {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(c.PID), "stat"))
	if err != nil {
		return false
	}
	// The name, in parentheses, may contain spaces; the start time is the 20th field after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return len(fields) > 19 && fields[0] != "Z" && fields[19] == c.ProcStart
}
