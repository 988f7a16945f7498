// Package doctor checks whether an agent's CLI can run here, and how to fix problems.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/claudedir"
	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/internal/supervise"
)

// Status is the outcome of a check.
type Status string

// The outcomes of a check. A warning is not a failure.
const (
	OK   Status = "ok"
	Warn Status = "warning"
	Fail Status = "failed"
)

// Check is one check and its outcome.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // how to fix it
}

// Patient describes the system to check.
type Patient struct {
	CLIPath string        // "" searches for claude
	Env     []string      // the environment
	Dir     string        // the working directory
	Timeout time.Duration // for the CLI to start
	Others  []string      // the names of other agents that are installed
}

// The supported and tested versions of the CLI.
const (
	Oldest = "2.0.0"
	Tested = "2.1.325"
)

const install = "npm install -g @anthropic-ai/claude-code, or name the program with --cli or PARLEY_CLI"

// Examine makes all checks, in order. It skips checks that depend on a failed one.
func Examine(ctx context.Context, p Patient) []Check {
	var checks []Check
	path, found := p.find()
	checks = append(checks, found)
	var account claude.AccountInfo
	if len(p.Others) > 0 {
		checks = append(checks, Check{"other agents", OK, strings.Join(p.Others, ", "), ""})
	}
	if path != "" {
		binary := p.binary(path)
		checks = append(checks, binary)
		if c, ok := p.runtime(path); ok {
			checks = append(checks, c)
		}
		if binary.Status != Fail {
			var more []Check
			more, account = p.start(ctx, path)
			checks = append(checks, more...)
		}
	}
	if path != "" || found.Status == Fail {
		checks = append(checks, p.credentials(account), p.configDir())
	}
	return append(checks, p.workDir(), p.nested(), p.proxies())
}

// Healthy reports whether no essential check failed.
func Healthy(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return c.Status == Fail })
}

func (p Patient) env(name string) string {
	for _, kv := range slices.Backward(p.Env) {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

func (p Patient) find() (string, Check) {
	path, err := proc.Find(p.CLIPath, p.Env)
	if missing, ok := errors.AsType[*proc.NotFoundError](err); ok {
		if len(p.Others) > 0 && p.CLIPath == "" && p.env("PARLEY_CLI") == "" {
			return "", Check{"CLI", Warn, "Claude Code was not found; looked at " + strings.Join(missing.Tried, ", "), install}
		}
		return "", Check{"CLI", Fail, "not found; looked at " + strings.Join(missing.Tried, ", "), install}
	}
	if err != nil {
		return "", Check{"CLI", Fail, err.Error(), install}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		return path, Check{"CLI", OK, path + " → " + real, ""}
	}
	return path, Check{"CLI", OK, path, ""}
}

// start starts the CLI and checks the information that it reports.
func (p Patient) start(ctx context.Context, path string) ([]Check, claude.AccountInfo) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, fmt.Errorf("it was not ready after %v", p.Timeout))
	defer cancel()
	begun := time.Now()
	client, err := claude.Connect(ctx, &claude.Options{CLIPath: path, Dir: p.Dir, Logger: slog.New(slog.DiscardHandler), Supervisor: supervise.Self()})
	took := time.Since(begun)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx) // on a slow machine the program may not have run yet
		}
		return []Check{{"start", Fail, err.Error(), "run " + path + " yourself to see its output"}}, claude.AccountInfo{}
	}
	defer client.Close()
	version := client.ServerInfo().ClaudeCodeVersion
	if version == "" { // older CLIs do not report it
		version, err = proc.Version(ctx, path, p.Env)
	}
	started := Check{"start", OK, fmt.Sprintf("ready after %.1f s", took.Seconds()), ""}
	return []Check{started, judgeVersion(version, err)}, client.ServerInfo().Account
}

func judgeVersion(version string, err error) Check {
	switch {
	case err != nil:
		return Check{"version", Warn, "unknown: " + err.Error(), ""}
	case proc.Older(version, Oldest):
		return Check{"version", Fail, version + " is older than " + Oldest, "update it: claude update, or " + install}
	case proc.Older(Tested, version):
		return Check{"version", Warn, version + " is newer than " + Tested + ", the newest that was tested", ""}
	}
	return Check{"version", OK, version + " (" + Oldest + " to " + Tested + " work)", ""}
}

// credentialNames are variables that hold credentials or their location. Their values are
// private.
var credentialNames = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
	"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
}

func (p Patient) credentials(account claude.AccountInfo) Check {
	var have []string
	for _, name := range credentialNames {
		if p.env(name) != "" {
			have = append(have, name)
		}
	}
	file := filepath.Join(p.config(), ".credentials.json")
	if _, err := os.Stat(file); err == nil {
		have = append(have, file)
	}
	if s := account.TokenSource; s != "" && s != "none" && !slices.Contains(have, s) {
		have = append(have, s+" (reported by the CLI)")
	}
	if len(have) == 0 {
		return Check{"credentials", Warn, "none found: the agent cannot ask a model", "log in with claude, or set ANTHROPIC_API_KEY"}
	}
	return Check{"credentials", OK, strings.Join(have, ", "), ""}
}

// config returns the CLI's configuration directory.
func (p Patient) config() string { return claudedir.Config(p.env) }

func (p Patient) configDir() Check {
	dir := p.config()
	at := dir
	// The CLI creates a missing directory.
	for _, err := os.Stat(at); errors.Is(err, os.ErrNotExist) && filepath.Dir(at) != at; _, err = os.Stat(at) {
		at = filepath.Dir(at)
	}
	f, err := os.CreateTemp(at, ".parley-doctor-*")
	if err != nil {
		return Check{"config directory", Fail, dir + " cannot be written to: " + err.Error(), "make it writable, or set CLAUDE_CONFIG_DIR to a directory that is"}
	}
	f.Close()
	os.Remove(f.Name())
	if at != dir {
		dir += " (does not exist yet)"
	}
	return Check{"config directory", OK, dir, ""}
}

func (p Patient) workDir() Check {
	if _, err := os.ReadDir(p.Dir); err != nil {
		return Check{"working directory", Fail, err.Error(), "go to a directory that can be read"}
	}
	return Check{"working directory", OK, p.Dir, ""}
}

func (p Patient) nested() Check {
	if p.env("CLAUDECODE") != "" {
		return Check{"nesting", Warn, "CLAUDECODE is set: this runs inside a session of an agent; it is not passed on", ""}
	}
	return Check{"nesting", OK, "not inside another session", ""}
}

func (p Patient) proxies() Check {
	var have []string
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "ANTHROPIC_BASE_URL"} {
		if p.env(name) != "" {
			have = append(have, name)
		}
	}
	if len(have) == 0 {
		return Check{"proxies", OK, "none", ""}
	}
	return Check{"proxies", OK, strings.Join(have, ", ") + " set: the agent uses them", ""}
}
