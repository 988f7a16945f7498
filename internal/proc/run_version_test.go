//go:build linux || darwin

package proc

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestVersion(t *testing.T) {
	census(t)
	cmd := behaviour("version")
	if got, err := Version(t.Context(), cmd.Path, cmd.Env); got != "2.1.325" || err != nil {
		t.Errorf("Version: %q, %v", got, err)
	}
	cmd = behaviour("babble")
	_, err := Version(t.Context(), cmd.Path, cmd.Env)
	if err == nil || !strings.Contains(err.Error(), "hello") || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("Version of something else: %v", err)
	}
	if _, err := Version(t.Context(), "/no/such/claude", nil); err == nil {
		t.Error("a missing program has a version")
	}
}

func TestVersionHangs(t *testing.T) {
	census(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	cmd := behaviour("deaf")
	if _, err := Version(ctx, cmd.Path, cmd.Env); err != context.DeadlineExceeded {
		t.Errorf("Version: %v", err)
	}
}
