package doctor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

func TestMain(m *testing.M) { e2e.VerifyMain(m) }

func write(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func find(t *testing.T, checks []Check, name string) Check {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %q in %+v", name, checks)
	return Check{}
}

func TestExamine(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "config")
	if err := os.Mkdir(config, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, config, ".credentials.json", "{}", 0o600)
	p := Patient{
		CLIPath: write(t, dir, "cli.js", "#!/usr/bin/env node\n", 0o755), Dir: filepath.Join(dir, "nowhere"), Timeout: 20 * time.Second,
		Env: []string{"PATH=" + dir, "CLAUDE_CONFIG_DIR=" + config, "CLAUDE_CODE_USE_BEDROCK=1", "ANTHROPIC_API_KEY=sk-secret"},
	}
	checks := Examine(t.Context(), p)
	for name, want := range map[string]Status{"CLI": OK, "node": Fail, "start": Fail, "credentials": OK, "config directory": OK, "working directory": Fail} {
		if c := find(t, checks, name); c.Status != want || c.Status == Fail && c.Fix == "" {
			t.Errorf("%s: %+v; want c.Status == want and not (c.Status == Fail && c.Fix == \"\")", name, c)
		}
	}
	got := find(t, checks, "credentials").Detail
	if want := "ANTHROPIC_API_KEY, CLAUDE_CODE_USE_BEDROCK, " + filepath.Join(config, ".credentials.json"); got != want {
		t.Errorf("credentials: %q, want %q", got, want)
	}
	for _, c := range checks {
		if strings.Contains(c.Detail+c.Fix, "secret") {
			t.Errorf("%+v tells a secret", c)
		}
	}
	if Healthy(checks) {
		t.Error("nothing is wrong")
	}
}

// TestExamine_others: without Claude Code another agent is enough, unless the user has named the CLI.
func TestExamine_others(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		p       Patient
		healthy bool
	}{
		"another agent":                 {Patient{Others: []string{"codex", "goose"}}, true},
		"no agent":                      {Patient{}, false},
		"another agent, a wrong path":   {Patient{Others: []string{"codex"}, CLIPath: filepath.Join(dir, "no")}, false},
		"another agent, PARLEY_CLI set": {Patient{Others: []string{"codex"}, Env: []string{"PARLEY_CLI=" + filepath.Join(dir, "no")}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.p.Dir, tt.p.Env = dir, append(tt.p.Env, "PATH="+dir, "CLAUDE_CONFIG_DIR="+dir)
			checks := Examine(t.Context(), tt.p)
			if Healthy(checks) != tt.healthy {
				t.Errorf("healthy %v, want %v: %+v", Healthy(checks), tt.healthy, checks)
			}
			if c := find(t, checks, "CLI"); c.Fix == "" || !strings.Contains(c.Detail, dir) {
				t.Errorf("the CLI: %+v, want the places and a fix", c)
			}
			if len(tt.p.Others) > 0 {
				if c := find(t, checks, "other agents"); c.Status != OK || c.Detail != strings.Join(tt.p.Others, ", ") {
					t.Errorf("the others: %+v, want %q", c, tt.p.Others)
				}
			}
			asked := slices.ContainsFunc(checks, func(c Check) bool { return c.Name == "credentials" })
			if asked == tt.healthy {
				t.Errorf("credentials of Claude Code are checked: %v, want %v", asked, !tt.healthy)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]Status{"1.0.100": Fail, "2.0.0": OK, Tested: OK, "2.1.326": Warn, "3.0.0": Warn} {
		if c := judgeVersion(version, nil); c.Status != want {
			t.Errorf("%s: %+v; want c.Status == want", version, c)
		}
	}
	if c := judgeVersion("", os.ErrDeadlineExceeded); c.Status != Warn {
		t.Errorf("%+v; want c.Status == Warn", c)
	}
}

func TestPlaces(t *testing.T) {
	home := t.TempDir()
	p := Patient{Env: []string{"HOME=" + home}, Dir: home}
	if c := p.configDir(); c.Status != OK || !strings.Contains(c.Detail, "does not exist yet") {
		t.Errorf("%+v; want c.Status == OK and strings.Contains(c.Detail, \"does not exist yet\")", c)
	}
	p.Env = []string{"CLAUDE_CONFIG_DIR=" + write(t, home, "file", "", 0o600)}
	if c := p.configDir(); c.Status != Fail {
		t.Errorf("%+v; want c.Status == Fail", c)
	}
	if c := p.credentials(claude.AccountInfo{}); c.Status != Warn {
		t.Errorf("%+v; want c.Status == Warn", c)
	}
	if c := p.credentials(claude.AccountInfo{TokenSource: "keychain"}); c.Status != OK {
		t.Errorf("%+v; want c.Status == OK", c)
	}
	if got := describe(os.Args[0]); !strings.Contains(got, "for ") {
		t.Errorf("this program is %q", got)
	}
}
