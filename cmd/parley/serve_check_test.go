package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/doctor"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
	"github.com/seed7221b0f9/parley/internal/sealed"
)

// examineServerWith runs the checks of a server with these flags.
func examineServerWith(t *testing.T, args ...string) map[string]doctor.Check {
	t.Helper()
	f := &serve.Examiner{}
	set := pflag.NewFlagSet("doctor", pflag.ContinueOnError)
	f.Register(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	checks := map[string]doctor.Check{}
	for _, c := range f.Examine(t.Context()) {
		checks[c.Name] = c
	}
	return checks
}

func writeTestFile(t *testing.T, text string, mode os.FileMode, name ...string) {
	t.Helper()
	path := filepath.Join(name...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestDoctor_server tests every check of a server with valid and invalid settings.
func TestDoctor_server(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	fresh := filepath.Join(dir, "fresh")
	writeTestFile(t, `[{"id":"a","hash":"h","role":"viewer"},{"id":"b","hash":"h","role":"viewer","expires":"2020-01-01T00:00:00Z"}]`, 0o600, dir, "good", "server", "tokens.json")
	writeTestFile(t, `[]`, 0o644, dir, "shown", "server", "tokens.json")
	writeTestFile(t, `[{`, 0o600, dir, "cut", "server", "tokens.json")
	writeTestFile(t, "999\n", 0o600, dir, "newer", "log", "format")
	writeTestFile(t, "", 0o600, dir, "file")
	if err := os.Mkdir(filepath.Join(dir, "open"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		check, args string
		status      doctor.Status
		detail      string
	}{
		{"port", "--listen 127.0.0.1:0", doctor.OK, "free"},
		{"port", "--listen " + taken.Addr().String(), doctor.Fail, "in use"},
		{"port", "--listen 192.0.2.1:1", doctor.Fail, "192.0.2.1"}, // not an address of this machine
		{"data directory", "--data " + fresh, doctor.OK, "will be made"},
		{"data directory", "--data " + filepath.Join(dir, "open"), doctor.Warn, "others"},
		{"data directory", "--data " + filepath.Join(dir, "file"), doctor.Fail, "not a directory"},
		{"tokens", "--data " + fresh, doctor.OK, "none"},
		{"tokens", "--data " + filepath.Join(dir, "good"), doctor.OK, "1 valid, 1 expired"},
		{"tokens", "--data " + filepath.Join(dir, "shown"), doctor.Fail, "read by others"},
		{"tokens", "--data " + filepath.Join(dir, "cut"), doctor.Fail, "tokens.json"},
		{"disk", "--quota-mb 1 --data " + fresh, doctor.OK, "up to 1 MB"},
		{"disk", "--quota-mb 8000000000000 --data " + fresh, doctor.Warn, "less than"},
		{"disk", "--data " + filepath.Join(dir, "newer"), doctor.Fail, "format"},
		{"disk", "--data " + filepath.Join(dir, "file"), doctor.Fail, "not a directory"},
		{"NATS", "", doctor.OK, "embedded"},
		{"NATS", "--nats nats://127.0.0.1:1", doctor.Fail, "connecting"},
		{"server settings", "--config " + filepath.Join(dir, "none"), doctor.Fail, "none"},
	} {
		args := strings.Fields(c.args)
		if !strings.Contains(c.args, "--data") {
			args = append(args, "--data", fresh)
		}
		if !strings.Contains(c.args, "--listen") {
			args = append(args, "--listen", "127.0.0.1:0")
		}
		got, ok := examineServerWith(t, args...)[c.check]
		if !ok || got.Status != c.status || !strings.Contains(got.Detail, c.detail) || (got.Status != doctor.OK) != (got.Fix != "") {
			t.Errorf("%s with %q is %+v, want %s with %q", c.check, c.args, got, c.status, c.detail)
		}
	}
	if _, err := os.Stat(fresh); err == nil {
		t.Error("the data directory was made")
	}
}

// TestDoctor_files checks that doctor lists the files that a server has moved aside because they were damaged, and the size of each kind
// of data.
func TestDoctor_files(t *testing.T) {
	data := t.TempDir()
	aside := []string{"tokens.json.damaged-1", "push-key.damaged-2", filepath.Join("workspaces", "records", "w-1.json.damaged-3")}
	for _, name := range aside {
		writeTestFile(t, "x", 0o600, data, "server", name)
	}
	for size, name := range map[int]string{3: "log", 4: filepath.Join("server", "uploads"), 5: filepath.Join("server", "workspaces", "trees", "w-1")} {
		writeTestFile(t, strings.Repeat("x", size<<20), 0o600, data, name, "file")
	}
	checks := examineServerWith(t, "--data", data, "--listen", "127.0.0.1:0", "--limit-mb", "uploads=2")
	for _, name := range aside {
		if c := checks["tokens"]; c.Status != doctor.Warn || !strings.Contains(c.Detail, name) {
			t.Errorf("the check of tokens is %+v, want %s with %s", c, doctor.Warn, name)
		}
	}
	for _, want := range []string{"logs 3 MB", "uploads 4 MB of 2", "worktrees 5 MB"} {
		if c := checks["storage"]; c.Status != doctor.OK || !strings.Contains(c.Detail, want) {
			t.Errorf("the check of storage is %+v, want %s with %q", c, doctor.OK, want)
		}
	}
}

// TestDoctor_damaged checks that doctor lists the damaged files of a stopped server without changing them.
func TestDoctor_damaged(t *testing.T) {
	data := t.TempDir()
	names := []string{"webhooks.json", "push-key", "marks", filepath.Join("secrets", "s-1"), filepath.Join("workspaces", "records", "w-00000001.json")}
	whole := map[string]string{"webhooks.json": "[]", "marks": strings.Repeat("0", 64), names[3]: "{}", names[4]: `{"id":"w-00000001"}`}
	for _, name := range names {
		if text := whole[name]; text != "" {
			writeTestFile(t, string(sealed.Seal([]byte(text))), 0o600, data, "server", name)
		}
	}
	if c := examineServerWith(t, "--data", data, "--listen", "127.0.0.1:0")["tokens"]; c.Status != doctor.OK {
		t.Errorf("with whole files the check is %+v, want %s", c, doctor.OK)
	}
	for _, name := range names {
		text := sealed.Seal([]byte(whole[name]))
		text[0] ^= 1
		writeTestFile(t, string(text), 0o600, data, "server", name)
	}
	c := examineServerWith(t, "--data", data, "--listen", "127.0.0.1:0")["tokens"]
	for _, name := range names {
		if c.Status != doctor.Fail || !strings.Contains(c.Detail, name) {
			t.Errorf("with damaged files the check is %+v, want %s with %s", c, doctor.Fail, name)
		}
		if _, err := os.Stat(filepath.Join(data, "server", name)); err != nil {
			t.Errorf("the check has moved a file: %v", err)
		}
	}
}

// TestDoctor_running runs the checks while the server runs: no check fails, and no token is shown.
func TestDoctor_running(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	f := serveFlagsFor(t, "--listen", "127.0.0.1:0", "--agent", "sim", "--data", data, "--dir", t.TempDir(), "--log-level", "error")
	_, out := serveForTest(t, f)
	link := greetingLink.FindString(out.String())
	address, token, _ := strings.Cut(link, "/#token=")
	checks := examineServerWith(t, "--data", data, "--listen", strings.TrimPrefix(address, "http://"))
	if c := checks["port"]; c.Status != doctor.OK || !strings.Contains(c.Detail, "serves") {
		t.Errorf("the port of a server that runs is %+v", c)
	}
	if c := checks["NATS"]; c.Status != doctor.OK || !strings.Contains(c.Detail, "in use by process") {
		t.Errorf("the store of a server that runs is %+v", c)
	}
	for _, c := range checks {
		if c.Status == doctor.Fail || strings.Contains(c.Detail+c.Fix, token) {
			t.Errorf("%+v; want c.Status != doctor.Fail and not strings.Contains(c.Detail+c.Fix, token)", c)
		}
	}
}
