package claudetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/clipath"
)

func TestHermeticEnv(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "caller")
	t.Setenv("ANTHROPIC_MODEL", "caller")
	t.Setenv("CLAUDE_CONFIG_DIR", "/caller")
	t.Setenv("HTTPS_PROXY", "http://caller")
	node := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(node, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(node))

	dir := t.TempDir()
	env, err := claudetest.HermeticEnv(dir, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		got[name] = value
		if strings.Contains(value, "caller") {
			t.Errorf("%s comes from the caller", v)
		}
	}
	for _, name := range []string{"HOME", "CLAUDE_CONFIG_DIR", "TMPDIR", "CLAUDE_CODE_TMPDIR"} {
		info, err := os.Stat(got[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.HasPrefix(got[name], dir+string(filepath.Separator)) || info.Mode().Perm() != 0o700 {
			t.Errorf("%s=%s with mode %v", name, got[name], info.Mode())
		}
	}
	for name, want := range map[string]string{
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "TZ": "UTC", "LANG": "C.UTF-8", "DISABLE_AUTOUPDATER": "1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
		"GIT_CEILING_DIRECTORIES": dir, "BUN_JSC_useDFGJIT": "0", "BUN_JSC_useConcurrentGC": "0", "GORACE": "atexit_sleep_ms=0",
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" + filepath.Dir(node),
	} {
		if got[name] != want {
			t.Errorf("%s=%q, want %q", name, got[name], want)
		}
	}
	if len(got) != 17 || got["ANTHROPIC_API_KEY"] == "" {
		t.Errorf("environment %q", env)
	}
}

func TestHermeticEnvErrors(t *testing.T) {
	for _, url := range []string{"", "https://api.anthropic.com", "http://192.0.2.1:80", "127.0.0.1:80", "http://%zz"} {
		if _, err := claudetest.HermeticEnv(t.TempDir(), url); err == nil {
			t.Errorf("no error for base URL %q", url)
		}
	}
	for _, url := range []string{"http://localhost:80", "http://[::1]:80"} {
		if _, err := claudetest.HermeticEnv(t.TempDir(), url); err != nil {
			t.Error(err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := claudetest.HermeticEnv(file, "http://127.0.0.1:1"); err == nil {
		t.Error("no error for a directory that is a file")
	}
}

func TestHermeticOptions(t *testing.T) {
	cli := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(cli, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PARLEY_CLI", cli)
	dir := t.TempDir()
	opts, err := claudetest.HermeticOptions(dir, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	if opts.CLIPath != cli || !opts.CleanEnv || opts.Dir != filepath.Join(dir, "project") {
		t.Errorf("CLIPath %s, CleanEnv %v, Dir %s", opts.CLIPath, opts.CleanEnv, opts.Dir)
	}
	if _, err := os.Stat(filepath.Join(opts.Dir, ".git")); err != nil {
		t.Error(err)
	}
	t.Setenv("PARLEY_CLI", filepath.Join(t.TempDir(), "missing"))
	if _, err := claudetest.HermeticOptions(t.TempDir(), "http://127.0.0.1:1"); err == nil {
		t.Error("no error for a PARLEY_CLI that does not exist")
	}
}

func TestFindCLI(t *testing.T) {
	place := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	find := func() string {
		t.Helper()
		path, err := claudetest.FindCLI()
		if err != nil {
			t.Error(err)
		}
		return path
	}
	t.Setenv("PARLEY_CLI", "")
	t.Setenv("PARLEY_CACHE", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if path, err := claudetest.FindCLI(); err == nil {
		t.Errorf("found %s where there is none", path)
	}
	onPath := place(filepath.Join(bin, "claude"))
	if got := find(); got != onPath {
		t.Errorf("on PATH: %s", got)
	}
	cached, err := clipath.Cached()
	if err != nil {
		t.Skip(err) // no CLI exists for this system
	}
	if place(cached); find() != cached {
		t.Errorf("in the cache: %s", find())
	}
	named := place(filepath.Join(t.TempDir(), "mine"))
	t.Setenv("PARLEY_CLI", named)
	if got := find(); got != named {
		t.Errorf("in PARLEY_CLI: %s", got)
	}
}
