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

// HermeticEnv is a complete environment for running the real CLI on a Unix-like
// system against a fake API, for [exec.Cmd].Env. It is built from nothing: the
// caller's variables, credentials and settings play no part, only the place of a
// node program in the caller's PATH does, for tool servers written for Node.
//
// HOME, CLAUDE_CONFIG_DIR, TMPDIR and CLAUDE_CODE_TMPDIR are directories below
// dir, which are created, for the owner only. The key is a dummy. A baseURL that
// is not on the loopback interface is an error. Variables may be appended; of two
// with one name the later counts.
//
// GIT_CEILING_DIRECTORIES is dir, so that git finds no repository above it. The CLI
// looks for one by itself: the working directory should be one that [IsolateProject]
// was called for.
//
// In a test the CLI's JavaScript engine neither optimises code nor collects garbage on
// more threads. A conversation of a few turns takes less of the processor without them.
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
		env = append(env, "BUN_JSC_useDFGJIT=0", "BUN_JSC_useConcurrentGC=0")
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

// hermeticPath is the system's own directories and the one of node.
func hermeticPath() string {
	dirs := []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	if node, err := exec.LookPath("node"); err == nil && filepath.IsAbs(node) {
		if d := filepath.Dir(node); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// HermeticOptions are options with which the real CLI runs in the environment of
// [HermeticEnv], in a new directory below dir that [IsolateProject] was called for,
// and in nothing else. CLIPath is that of [FindCLI]; it is empty where there is no
// CLI, which the start then reports. A test that sets another Dir calls IsolateProject for it.
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
		return opts, nil // the start says better what is missing
	}
	return opts, err
}

// IsolateProject makes dir a project of its own, and dir itself where it does not
// exist. The CLI takes the nearest directory with a .git in it, upwards, for the
// project: it reads and writes the settings there, and names its memory after it. An
// empty .git in dir ends that search; git itself takes it for nothing.
func IsolateProject(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o700); err != nil {
		return fmt.Errorf("claudetest: %w", err)
	}
	return nil
}
