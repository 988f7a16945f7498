package place

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/workspace"
)

// TestGitTrust checks that a configuration is logged once, with the names of its settings but not their values, and
// that the number of logged configurations is limited.
func TestGitTrust(t *testing.T) {
	var log bytes.Buffer
	trust := GitTrust{Hashes: []string{"good"}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	bad := workspace.Programs{Dir: "/repo", Hash: "bad", Settings: []workspace.Setting{{Key: "filter.a=b.clean", Value: "secret"}}, Hooks: []string{"/repo/.git/hooks/pre-commit"}}
	if !trust.Allows(workspace.Programs{Hash: "good"}) || log.Len() > 0 {
		t.Errorf("a trusted configuration is refused or logged: %q", log.String())
	}
	for range 2 {
		if trust.Allows(bad) {
			t.Error("a configuration that is not trusted is allowed")
		}
	}
	for _, want := range []string{"/repo", "bad", "filter.a=b.clean", "hook pre-commit"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 1 || strings.Contains(log.String(), "secret") {
		t.Errorf("the log has %d lines, want one without values: %s", n, log.String())
	}
	for i := range 2 * maxTold {
		trust.Allows(workspace.Programs{Hash: fmt.Sprint(i)})
	}
	if n := strings.Count(log.String(), "\n"); n != maxTold {
		t.Errorf("the log has %d lines, want %d", n, maxTold)
	}
}
