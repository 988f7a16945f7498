package codextest

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex"
)

// Home is a set of directories in which the real codex program runs, separate from the user's
// configuration.
type Home struct {
	// Root holds all directories. Codex is CODEX_HOME, Project a trusted working directory.
	Root, Codex, Project string
}

// NewHome creates a home with the API as the only model provider. config is appended to its
// config.toml and may be empty.
func NewHome(tb testing.TB, api *API, config string) *Home {
	tb.Helper()
	// The program gets real paths from the system, so links are resolved first.
	root, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	h := &Home{Root: root, Codex: filepath.Join(root, "home", ".codex"), Project: filepath.Join(root, "project")}
	// The program refuses to put helpers below its temporary directory, which is therefore separate.
	for _, dir := range []string{h.Codex, h.Project, filepath.Join(root, "tmp")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			tb.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(h.Codex, "config.toml"), []byte(Config(api.URL(), h.Project, config)), 0o600); err != nil {
		tb.Fatal(err)
	}
	return h
}

// Model is the model of the hermetic configuration. It uses function tools, not code mode.
const Model = "gpt-5.5"

// Config returns a config.toml for a scripted API at a URL that trusts the project directory, with further keys and tables. It
// switches off three features that would use the network at the start.
func Config(url, project, more string) string {
	var keys, tables []string
	into := &keys
	for line := range strings.Lines(more) {
		if strings.HasPrefix(line, "[") {
			into = &tables
		}
		*into = append(*into, strings.TrimSuffix(line, "\n"))
	}
	return fmt.Sprintf(`model = %q
model_provider = "fake"
check_for_update_on_startup = false
%s
[model_providers.fake]
name = "fake"
base_url = %q
env_key = "FAKE_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[analytics]
enabled = false
[feedback]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
[projects.%q]
trust_level = "trusted"
%s
`, Model, strings.Join(keys, "\n"), url, project, strings.Join(tables, "\n"))
}

// Env returns the complete environment of the program. Requests to other hosts than loopback go to
// a proxy that does not exist.
func (h *Home) Env() []string {
	const nowhere = "http://127.0.0.1:9"
	env := []string{
		"HOME=" + filepath.Join(h.Root, "home"), "CODEX_HOME=" + h.Codex, "TMPDIR=" + filepath.Join(h.Root, "tmp"),
		"FAKE_API_KEY=dummy-key", "LANG=C.UTF-8", "SHELL=/bin/bash",
		"HTTP_PROXY=" + nowhere, "HTTPS_PROXY=" + nowhere, "ALL_PROXY=" + nowhere, "NO_PROXY=127.0.0.1,localhost",
	}
	for _, name := range []string{"PATH", "SYSTEMROOT", "SystemRoot"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Options returns options that run the program at path in the home. Logs go to the test.
func (h *Home) Options(tb testing.TB, path string) *codex.Options {
	return &codex.Options{
		Path: path, Env: h.Env(), Dir: h.Project, ClientName: "parley_test", ClientVersion: "1",
		Logger: slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// Hermetic creates a home and returns options for it.
func Hermetic(tb testing.TB, api *API, path string) (*codex.Options, *Home) {
	tb.Helper()
	h := NewHome(tb, api, "")
	return h.Options(tb, path), h
}
