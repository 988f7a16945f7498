package claudetest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
)

// HermeticEnv returns a complete environment for running the real CLI on a Unix-like system
// against a fake API, for [exec.Cmd].Env. It does not use the caller's variables, credentials
// and settings, except for the directory of a node program in the caller's PATH, for tool
// servers written for Node.
//
// HOME, CLAUDE_CONFIG_DIR, TMPDIR and CLAUDE_CODE_TMPDIR are directories below dir, which it
// creates with access for the owner only. The API key is a dummy. A baseURL that is not on the
// loopback interface is an error. The caller may append variables; of two with the same name
// the later counts.
//
// GIT_CEILING_DIRECTORIES is dir, so that git finds no repository above it. The CLI searches
// for one by itself, so call [IsolateProject] for the working directory.
//
// In a test it disables the optimizing compiler and the concurrent garbage collector of the
// CLI's JavaScript engine, so that a conversation of a few turns uses less CPU time, and the
// second for which a Go program with the race detector, such as a hook or a tool server,
// waits before it exits.
func HermeticEnv(dir, baseURL string) (env []string, err error) {
	if err := checkLoopback(baseURL); err != nil {
		return nil, fmt.Errorf("claudetest: base URL %q: %w", baseURL, err)
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("claudetest: %w", err)
	}
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	config := filepath.Join(home, ".claude")
	for _, d := range []string{home, config, tmp} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("claudetest: %w", err)
		}
	}
	env = []string{
		"HOME=" + home,
		"CLAUDE_CONFIG_DIR=" + config,
		"TMPDIR=" + tmp,
		"CLAUDE_CODE_TMPDIR=" + tmp,
		"PATH=" + hermeticPath(),
		"TZ=UTC",
		"LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + baseURL,
		"ANTHROPIC_API_KEY=sk-ant-fake-key",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"GIT_CEILING_DIRECTORIES=" + dir,
	}
	if testing.Testing() {
		env = append(env, "BUN_JSC_useDFGJIT=0", "BUN_JSC_useConcurrentGC=0", "GORACE=atexit_sleep_ms=0")
	}
	return env, nil
}

func checkLoopback(baseURL string) error {
	u, err := url.Parse(baseURL)
	if err != nil {
		return err
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("host %q is not on the loopback interface", host)
	}
	return nil
}

// hermeticPath returns a PATH with the system's directories and the directory of node.
func hermeticPath() string {
	dirs := []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	if node, err := exec.LookPath("node"); err == nil && filepath.IsAbs(node) {
		if d := filepath.Dir(node); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// HermeticOptions returns options that run the real CLI in exactly the environment of
// [HermeticEnv], in a new isolated directory below dir. CLIPath is the result of [FindCLI]; if
// there is no CLI, it is empty and starting a session fails. A test that sets another Dir
// should call [IsolateProject] for it.
func HermeticOptions(dir, baseURL string) (*claude.Options, error) {
	environ, err := HermeticEnv(dir, baseURL)
	if err != nil {
		return nil, err
	}
	opts := &claude.Options{Env: map[string]string{}, CleanEnv: true}
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		opts.Env[k] = v
	}
	if opts.Dir, err = filepath.Abs(filepath.Join(dir, "project")); err != nil {
		return nil, fmt.Errorf("claudetest: %w", err)
	}
	if err := IsolateProject(opts.Dir); err != nil {
		return nil, err
	}
	opts.CLIPath, err = FindCLI()
	if err != nil && os.Getenv("PARLEY_CLI") == "" {
		return opts, nil // starting the CLI gives a better error
	}
	return opts, err
}

// IsolateProject makes dir a separate project and creates it if it does not exist. The CLI
// uses the nearest directory with a .git, upwards, as the project: it reads and writes the
// settings there, and names its memory after it. An empty .git in dir ends that search; git
// itself ignores it.
func IsolateProject(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		return fmt.Errorf("claudetest: %w", err)
	}
	return nil
}
