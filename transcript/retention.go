package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"time"

	"github.com/seed7221b0f9/parley/internal/regularfile"
	"github.com/seed7221b0f9/parley/internal/textfile"
)

// DefaultCleanupDays is the number of days that the CLI keeps sessions if its setting
// cleanupPeriodDays is not set.
const DefaultCleanupDays = 30

// Retention is the time that the CLI keeps sessions. It deletes older ones when it starts.
type Retention struct {
	Days   int    `json:"days"`
	Source string `json:"source,omitempty"` // the settings file, "" for the default
	// Paused, if set, is the reason why the CLI currently deletes no sessions: a settings file that
	// it cannot parse.
	Paused string `json:"paused,omitempty"`
}

// Expires returns the time at which a file with this modification time is old enough to be deleted.
func (r Retention) Expires(modified time.Time) time.Time { return modified.AddDate(0, 0, r.Days) }

// Retention reads how long the CLI keeps the sessions of this directory: from the organisation's
// settings, else the user's. A CLI that runs in a directory with different settings uses those;
// sessions of the desktop program are kept longer.
func (d *Dir) Retention() Retention {
	for _, path := range []string{managedSettings(), filepath.Join(d.config, "settings.json")} {
		days, err := cleanupDays(path)
		switch {
		case err != nil:
			return Retention{Days: DefaultCleanupDays, Source: path, Paused: err.Error()}
		case days > 0:
			return Retention{Days: days, Source: path}
		}
	}
	return Retention{Days: DefaultCleanupDays}
}

// settingsLimit is the size in bytes from which a settings file is not read.
const settingsLimit = 16 << 20

// cleanupDays returns the value in a settings file, 0 if it is not set.
func cleanupDays(path string) (int, error) {
	text, err := regularfile.Read(path, settingsLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var settings struct {
		CleanupPeriodDays *float64 `json:"cleanupPeriodDays"`
	}
	if err := json.Unmarshal(textfile.Trim(text), &settings); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	switch days := settings.CleanupPeriodDays; {
	case days == nil:
		return 0, nil
	case *days < 1 || *days != float64(int(*days)):
		return 0, fmt.Errorf("%s: cleanupPeriodDays is %v and must be at least 1", path, *days)
	default:
		return int(*days), nil
	}
}

// managedSettings returns the path of the organisation's settings.
func managedSettings() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}
