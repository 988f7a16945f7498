package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
)

// TestNoInit checks in which containers process 1 prevents agents from surviving the server.
func TestNoInit(t *testing.T) {
	for _, c := range []struct {
		name  string
		pid   int
		first string // the name of process 1; "" if it is unknown
		why   string
	}{
		{"service", 100, "systemd", ""},
		{"container with an init", 7, "tini", ""},
		{"no proc", 7, "", ""},
		{"container without an init", 1, "parley", "the server is the first process of its container"},
		{"container with a script", 7, "entry.sh", `the first process of the container, "entry.sh", is not an init`},
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
		if why := noInit(c.pid, dir); why != c.why {
			t.Errorf("%s: got %q, want %q", c.name, why, c.why)
		}
	}
}

// TestHosted checks which setting determines whether agents survive the server, and that parley
// doctor reports it.
func TestHosted(t *testing.T) {
	t.Setenv(keyVariable, "")
	for _, c := range []struct {
		set            Settings
		system, noInit string
		hosted         bool
		why            string
	}{
		{Settings{}, "linux", "", true, "it is the default"},
		{Settings{}, "darwin", "", true, "it is the default"},
		{Settings{}, "windows", "", false, "it is not available on Windows"},
		{Settings{}, "linux", "no init", false, "no init"},
		{Settings{apiKeyFile: "key"}, "linux", "", true, "it is the default"},
		{Settings{host: true}, "linux", "no init", true, "--host is set"},
		{Settings{noHost: true}, "linux", "", false, "--no-host is set"},
	} {
		if hosted, why := c.set.hostedOn(c.system, c.noInit); hosted != c.hosted || why != c.why {
			t.Errorf("%+v: got %t, %q; want %t, %q", c.set, hosted, why, c.hosted, c.why)
		}
	}
	for _, set := range []Settings{{}, {host: true}, {noHost: true}} {
		hosted, why := set.hosted()
		if check := checkAgents(&set); !strings.Contains(check.Detail, why) || strings.Contains(check.Detail, "outlive") != hosted {
			t.Errorf("parley doctor reports %q, want %t, %q", check.Detail, hosted, why)
		}
	}
	if check := checkAgents(&Settings{host: true, noHost: true}); check.Status != doctor.Fail {
		t.Errorf("for --host with --no-host parley doctor reports %+v, want a failure", check)
	}
}
