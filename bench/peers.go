package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// side is one of the programs measured with the same consumer.
type side struct {
	name string
	argv []string // prefix of the measurement's arguments
}

// build compiles the programs of this repository.
func (b *bench) build(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return fmt.Errorf("go env GOMOD: %w", err)
	}
	b.root = filepath.Dir(strings.TrimSpace(string(out)))
	b.logf("building the firehose, the consumer and the command")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", b.tmp+string(filepath.Separator), "./bench/firehose", "./bench/consumer", "./cmd/parley")
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as in make build
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	b.firehose, b.consumer = b.path("firehose"), b.path("consumer")
	return nil
}

// findSides installs the peers. It skips a peer that cannot be installed, and prints the reason.
func (b *bench) findSides(ctx context.Context) error {
	b.sides = []side{{"parley", []string{b.consumer}}}
	if !b.needsPeers() {
		return nil
	}
	for _, peer := range []struct {
		name string
		argv func(ctx context.Context) ([]string, error)
	}{{"ts", b.installTS}, {"python", b.installPython}} {
		if !slices.Contains(b.peers, peer.name) {
			continue
		}
		argv, err := peer.argv(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			b.notef("without %s: %v", peer.name, err)
			continue
		}
		b.sides = append(b.sides, side{peer.name, argv})
	}
	return nil
}

// needsPeers reports whether a requested row has peers.
func (b *bench) needsPeers() bool {
	return b.wants([]string{"stream_msgs_per_s", "stream_cpu_s", "first_message_ms", "warm_first_message_ms", "list_sessions_s", "list_again_s"})
}

func (b *bench) has(name string) bool { return slices.Contains(b.peers, name) }

func (b *bench) installTS(ctx context.Context) ([]string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	dir, err := b.install(ctx, "ts")
	return []string{node, filepath.Join(b.root, "bench", "ts", "consumer.mjs"), dir}, err
}

func (b *bench) installCcusage(ctx context.Context) ([]string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, err
	}
	dir, err := b.install(ctx, "ccusage")
	return []string{node, filepath.Join(dir, "node_modules", "ccusage", "src", "cli.js")}, err
}

func (b *bench) installPython(ctx context.Context) ([]string, error) {
	dir, err := b.install(ctx, "python")
	return []string{filepath.Join(dir, "venv", "bin", "python"), filepath.Join(b.root, "bench", "python", "consumer.py")}, err
}

// install runs scripts/install-peers, which needs the caller's settings: the registry and the
// cache.
func (b *bench) install(ctx context.Context, peer string) (dir string, err error) {
	b.logf("the %s peer (installed on the first run)", peer)
	cmd := exec.CommandContext(ctx, filepath.Join(b.root, "scripts", "install-peers"), peer)
	ownGroup(cmd)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", errors.New(lastLine(stderr.String(), err.Error()))
	}
	return strings.TrimSpace(string(out)), nil
}

func lastLine(s, otherwise string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return last
	}
	return otherwise
}

// command returns the command of one measurement of a side. The others take the firehose before the
// name of the measurement, Parley's takes a flag.
func (b *bench) command(s side, what string, calls int) []string {
	if s.name == "parley" {
		return append(slices.Clone(s.argv), what, "-cli", b.firehose, "-calls", strconv.Itoa(calls))
	}
	return append(slices.Clone(s.argv), b.firehose, what, strconv.Itoa(calls))
}

// env returns the complete environment of the measured programs: no credentials, settings or
// proxies of the user. No measured program uses a network.
func (b *bench) env(more ...string) []string {
	return append([]string{
		"HOME=" + b.path("home"),
		"TMPDIR=" + b.path("tmp"),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(b.path("home"), ".claude"),
		"PATH=" + strings.Join([]string{"/usr/local/bin", "/usr/bin", "/bin"}, string(os.PathListSeparator)),
		"LANG=C.UTF-8",
		"TZ=UTC",
		"ANTHROPIC_API_KEY=none",
		"ANTHROPIC_BASE_URL=http://127.0.0.1:9",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1",
		"FIREHOSE_INIT=" + b.path("init.json"),
	}, more...)
}
