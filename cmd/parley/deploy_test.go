package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/serve"
)

var deployDir = filepath.Join("..", "..", "deploy")

// unit reads the settings of a unit in order.
func unit(t *testing.T, name string) (settings [][2]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deployDir, name))
	if err != nil {
		t.Fatal(err)
	}
	section := ""
	for number, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || section == "" || !regexp.MustCompile(`^[A-Z][A-Za-z]+$`).MatchString(key) {
			t.Errorf("%s:%d: %q is not a setting", name, number+1, line)
		}
		settings = append(settings, [2]string{section + key, value})
	}
	return settings
}

// serveLine checks that parley serve accepts a command line.
func serveLine(t *testing.T, from string, words []string) *serve.Settings {
	t.Helper()
	if len(words) < 2 || filepath.Base(words[0]) != "parley" || words[1] != "serve" {
		t.Fatalf("%s: %q does not run parley serve", from, words)
	}
	f, flags := &serve.Settings{}, pflag.NewFlagSet("serve", pflag.ContinueOnError)
	f.Register(flags)
	if err := flags.Parse(words[2:]); err != nil {
		t.Fatalf("%s: %v", from, err)
	}
	if flags.NArg() > 0 {
		t.Errorf("%s: %q are not flags", from, flags.Args())
	}
	if err := f.Check(); err != nil {
		t.Errorf("%s: %v", from, err)
	}
	return f
}

// TestUnits checks the systemd units: their flags exist, they end only the server and give it
// enough time to stop, and systemd, if it is installed, reports no error.
func TestUnits(t *testing.T) {
	for name, hardened := range map[string]bool{"parley.service": true, "parley-user.service": false} {
		values := map[string]string{}
		for _, s := range unit(t, name) {
			values[s[0]] = s[1]
		}
		f := serveLine(t, name, strings.Fields(values["[Service]ExecStart"]))
		if values["[Service]KillMode"] != "process" || values["[Service]TimeoutStopSec"] != "60" || f.DrainTimeout.Seconds() > 40 {
			t.Errorf("%s ends more than the server (KillMode=%s), or does not give it %v to drain", name, values["[Service]KillMode"], f.DrainTimeout)
		}
		want := []string{"NoNewPrivileges", "RestrictSUIDSGID", "LockPersonality", "SystemCallArchitectures"}
		if hardened {
			want = append(want, "User", "ProtectSystem", "ProtectHome", "TemporaryFileSystem", "PrivateDevices", "ProtectKernelTunables", "RestrictAddressFamilies", "SystemCallFilter", "StateDirectory", "RuntimeDirectory", "RuntimeDirectoryPreserve")
			if v, ok := values["[Service]CapabilityBoundingSet"]; !ok || v != "" {
				t.Errorf("%s leaves the capabilities %q", name, v)
			}
		}
		for _, key := range want {
			if values["[Service]"+key] == "" {
				t.Errorf("%s has no %s", name, key)
			}
		}
		verifyUnit(t, name, values["[Service]ExecStart"])
	}
}

// verifyUnit checks a unit with systemd, with programs that exist on this machine.
func verifyUnit(t *testing.T, name, start string) {
	t.Helper()
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Logf("%s is not verified by systemd: %v", name, err)
		return
	}
	data, err := os.ReadFile(filepath.Join(deployDir, name))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(start)
	text := strings.ReplaceAll(string(data), start, strings.Join(append([]string{"/bin/true"}, words[1:]...), " "))
	text = regexp.MustCompile(`(?m)^(User|Group)=.*\n`).ReplaceAllString(text, "")
	file := filepath.Join(t.TempDir(), "parley.service")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"verify", "--man=no", file}
	if strings.Contains(name, "user") {
		args = slices.Insert(args, 0, "--user")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "XDG_RUNTIME_DIR=" + t.TempDir(), "LC_ALL=C"}
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "parley.service:") {
			t.Errorf("%s: systemd says: %s", name, line)
		}
	}
	if err != nil {
		t.Logf("systemd-analyze: %v\n%s", err, out) // such as on a machine without a running systemd
	}
}

// TestContainerfile checks that the image does not run as root, has a health check, keeps its
// data in a volume, and starts a server with existing flags.
func TestContainerfile(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(deployDir, "Containerfile"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	last := text[strings.LastIndex(text, "\nFROM "):]
	for _, want := range []string{"\nUSER 10001:10001\n", "\nVOLUME /data\n", "/readyz\n", "\nHEALTHCHECK ", "\nCOPY --from=build "} {
		if !strings.Contains(last, want) {
			t.Errorf("the image has no %q", want)
		}
	}
	m := regexp.MustCompile(`(?m)^ENTRYPOINT \[(.*)\]$`).FindStringSubmatch(last)
	if m == nil {
		t.Fatal("the image has no ENTRYPOINT")
	}
	var words []string
	for word := range strings.SplitSeq(m[1], ", ") {
		words = append(words, strings.Trim(word, `"`))
	}
	if begin := []string{"/sbin/tini", "--", "parley-entrypoint"}; len(words) < 3 || !slices.Equal(words[:3], begin) {
		t.Fatalf("the image starts %q, want %q before the server", words, begin)
	}
	if f := serveLine(t, "Containerfile", words[3:]); f.Data != "/data" {
		t.Errorf("the data is in %s, which is not the volume", f.Data)
	}
	if version := regexp.MustCompile(`golang:(\d+\.\d+)`).FindStringSubmatch(text); version == nil || !strings.Contains(goMod(t), "\ngo "+version[1]) {
		t.Errorf("the image is built with Go %v, which is not that of go.mod", version)
	}
}

func goMod(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
