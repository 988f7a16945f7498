package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
)

// TestNoInit checks in which containers agents end with the server.
func TestNoInit(t *testing.T) {
	for _, c := range []struct {
		name        string
		pid, parent int
		first       string // the name of process 1; empty if unknown
		why         string
	}{
		{"from a shell", 100, 99, "bash", ""},
		{"service", 100, 1, "systemd", ""},
		{"container with an init", 7, 1, "tini", ""},
		{"no proc", 7, 1, "", ""},
		{"container without an init", 1, 0, "parley", "the server is the first process of its container"},
		{"container with a script", 7, 1, "entry.sh", `the first process of the container, "entry.sh", is no init`},
	} {
		dir := t.TempDir()
		if c.first != "" {
			if err := os.Mkdir(filepath.Join(dir, "1"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "1", "comm"), []byte(c.first+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if why := noInit(c.pid, c.parent, dir); why != c.why {
			t.Errorf("%s: got %q, want %q", c.name, why, c.why)
		}
	}
}

// TestHosted checks which setting decides whether agents outlive the server, and that parley doctor reports it.
func TestHosted(t *testing.T) {
	t.Setenv(keyVariable, "")
	for _, c := range []struct {
		set    Settings
		hosted bool
		why    string
	}{
		{Settings{}, false, "--host is not set"},
		{Settings{host: true}, true, "--host is set"},
		{Settings{noHost: true}, false, "--no-host is set"},
	} {
		hosted, why := c.set.hosted()
		if hosted != c.hosted || why != c.why {
			t.Errorf("got %t, %q; want %t, %q", hosted, why, c.hosted, c.why)
		}
		if check := checkAgents(&c.set); !strings.Contains(check.Detail, c.why) || strings.Contains(check.Detail, "outlive") != c.hosted {
			t.Errorf("parley doctor reports %q, want %t, %q", check.Detail, c.hosted, c.why)
		}
	}
	if check := checkAgents(&Settings{host: true, noHost: true}); check.Status != doctor.Fail {
		t.Errorf("for --host with --no-host parley doctor reports %+v, want a failure", check)
	}
}
