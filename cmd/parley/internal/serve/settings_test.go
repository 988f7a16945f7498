package serve

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func settings(t *testing.T, args ...string) (*Settings, *pflag.FlagSet) {
	t.Helper()
	f, flags := &Settings{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.Register(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f, flags
}

// TestConfig checks the precedence of a setting: the flag, then the variable, then the file, then the
// default.
func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(file, []byte(`{"listen":"127.0.0.1:1","model":"file","max-agents":3,"dir":["/a","/b"],"allow-bypass":true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PARLEY_MODEL": "env", "PARLEY_LISTEN": "127.0.0.1:2"}
	f, flags := settings(t, "--config", file, "--listen", "127.0.0.1:3")
	if err := f.Load(flags, func(k string) (string, bool) { v, ok := env[k]; return v, ok }); err != nil {
		t.Fatal(err)
	}
	if f.listen != "127.0.0.1:3" || f.model != "env" || f.maxAgents != 3 || strings.Join(f.dirs, " ") != "/a /b" || !f.allowBypass {
		t.Errorf("the settings are %+v", f)
	}
	var out bytes.Buffer
	if err := f.Print(flags, &out); err != nil {
		t.Fatal(err)
	}
	var printed map[string]any
	if err := json.Unmarshal(out.Bytes(), &printed); err != nil || printed["model"] != "env" || printed["max-agents"] != 3.0 {
		t.Errorf("the settings are printed as %s (%v)", out.String(), err)
	}
	// The output is a valid configuration file.
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, flags := settings(t, "--config", file)
	if err := again.Load(flags, func(string) (string, bool) { return "", false }); err != nil {
		t.Fatal(err)
	}
	if again.listen != f.listen || again.idleTimeout != f.idleTimeout || len(again.dirs) != 2 {
		t.Errorf("read again the settings are %+v", again)
	}
	for _, bad := range []string{`{"no-such":1}`, `[]`, `{"max-agents":"many"}`, `{"dir":{}}`} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		f, flags := settings(t, "--config", file)
		if f.Load(flags, func(string) (string, bool) { return "", false }) == nil {
			t.Errorf("the file %s was taken", bad)
		}
	}
}

// TestSpaceGC checks that a server collects memory less often by default, and that GOGC still decides.
func TestSpaceGC(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	spaceGC(func(string) (string, bool) { return "50", true })
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("with GOGC set it was changed to %d", got)
	}
	spaceGC(func(string) (string, bool) { return "", false })
	if got := debug.SetGCPercent(100); got != serveGC {
		t.Errorf("GOGC of a server is %d, want %d", got, serveGC)
	}
}

func TestCheck_openAddress(t *testing.T) {
	for args, ok := range map[string]bool{
		"--listen=127.0.0.1:0": true, "--listen=localhost:0": true, "--listen=[::1]:0": true, "--listen=0.0.0.0:0": false, "--listen=:0": false,
		"--listen=192.168.0.1:80": false, "--listen=example.com:80": false, "--listen=0.0.0.0:0 --insecure": true, "--listen=0.0.0.0:0 --tls-cert=c --tls-key=k": true,
		"--listen=127.0.0.1:0 --tls-cert=c": false, "--listen=nonsense": false,
	} {
		f, _ := settings(t, strings.Fields(args)...)
		if err := f.Check(); (err == nil) != ok {
			t.Errorf("%s: %v; want (err == nil) == ok", args, err)
		}
	}
}

// TestOpenPreviews checks the addresses of previews, and invalid ones.
func TestOpenPreviews(t *testing.T) {
	for args, want := range map[string]string{
		"": "http://*.localhost:PORT", "--preview=false": "",
		"--preview-url=https://*.p.example.org":                                             "https://*.p.example.org",
		"--preview-listen=0.0.0.0:0":                                                        "refused",
		"--preview-listen=0.0.0.0:0 --insecure":                                             "refused", // no name
		"--preview-listen=0.0.0.0:0 --insecure --preview-url=http://10.0.0.5:80":            "http://10.0.0.5",
		"--preview-listen=nonsense":                                                         "refused",
		"--preview-listen=127.0.0.1:9-8":                                                    "refused",
		"--preview-listen=127.0.0.1:0-8":                                                    "refused",
		"--preview-listen=127.0.0.1:1000-2000":                                              "refused",
		"--preview-listen=127.0.0.1:1000-1064":                                              "refused",
		"--preview-url=nonsense":                                                            "refused",
		"--preview-listen=192.0.2.1:0 --tls-cert=/does/not/exist --tls-key=/does/not/exist": "refused",
		"--preview-listen=127.0.0.1:0 --tls-cert=/does/not/exist --tls-key=/does/not/exist": "http://*.localhost:PORT", // without TLS
	} {
		f, _ := settings(t, strings.Fields(args)...)
		s, err := f.openPreviews(t.Context())
		if err != nil {
			if want != "refused" {
				t.Errorf("%s: %v; want want == \"refused\"", args, err)
			}
			continue
		}
		got := ""
		if s.origins != nil {
			got = s.origins.String()
			_, port, _ := net.SplitHostPort(s.listeners[0].Addr().String())
			got = strings.Replace(got, ":"+port, ":PORT", 1)
		}
		s.close()
		if got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

func TestTenantDir(t *testing.T) {
	f := &Settings{Data: "/data", tenantDirs: []string{"given=/srv/given"}}
	seen := map[string]string{}
	for _, name := range []string{"given", "acme", "Acme_1", "..", "a/b", "a b", "~00", "ä", strings.Repeat("x", 65), "."} {
		dir := f.tenantDir(name)
		if rel, err := filepath.Rel("/data/tenants", dir); name != "given" && (err != nil || strings.ContainsAny(rel, `/\`) || strings.HasPrefix(rel, ".")) {
			t.Errorf("%q has the directory %s", name, dir)
		}
		if other := seen[dir]; other != "" {
			t.Errorf("%q and %q share %s", name, other, dir)
		}
		seen[dir] = name
	}
	if f.tenantDir("given") != "/srv/given" || f.tenantDir("acme") != "/data/tenants/acme" {
		t.Errorf("the directories are %v", seen)
	}
	for _, bad := range []string{"acme", "=/x", "acme=relative", "acme="} {
		f.tenantDirs = []string{bad}
		if f.checkTenants() == nil {
			t.Errorf("--tenant-dir %s is taken", bad)
		}
	}
}
