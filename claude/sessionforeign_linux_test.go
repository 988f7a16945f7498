package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A CLI that knows no lock has the session: ours is given back at once.
func TestGuardGivesBack(t *testing.T) {
	config := filepath.Join(t.TempDir(), "con[fig")
	if err := os.Mkdir(config, 0o700); err != nil {
		t.Fatal(err)
	}
	g := &sessionGuard{launch: unchecked(nil), on: true, dir: func() string { return filepath.Join(config, "parley", "locks") }}
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	started := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[19]
	text, err := json.Marshal(liveCLI{PID: os.Getpid(), SessionID: sessionOne, ProcStart: started})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(config, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Another name of the directory is a pipe, which is not waited for.
	if err := syscall.Mkfifo(filepath.Join(config, "sessions", "1.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(config, "sessions", "2.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := g.take(t.Context(), sessionOne); !errors.Is(err, ErrSessionBusy) {
		t.Fatal("a session that another CLI has was taken")
	}
	if names := locksIn(t, g); len(names) != 0 {
		t.Errorf("%q is left", names)
	}
}
