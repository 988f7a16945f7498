package transcript

import (
	"os"
	"path/filepath"
	"testing"
)

// TestByteOrderMark reads the CLI's settings from a file with a byte order mark at its start.
func TestByteOrderMark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte("\ufeff"+`{"cleanupPeriodDays":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if days, err := cleanupDays(file); err != nil || days != 7 {
		t.Errorf("cleanupPeriodDays is %d, %v; want 7", days, err)
	}
}
