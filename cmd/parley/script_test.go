//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// waitLimit limits all waits; only a failing test waits this long.
const waitLimit = 60 * time.Second

// TestScripts runs the command against the real CLI and a fake API.
func TestScripts(t *testing.T) {
	cli := e2e.CLI(t)
	testscript.Run(t, testscript.Params{
		Dir:   "testdata/script",
		Setup: func(env *testscript.Env) error { return setup(env, cli) },
		Cmds:  commands,
	})
}

// TestOffline runs commands that need no CLI.
func TestOffline(t *testing.T) {
	short.SkipLong(t, "starts every command")
	files, err := filepath.Glob("testdata/offline/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	var some []string
	for i := 0; i < len(files); i += short.Every(6) {
		some = append(some, files[i])
	}
	testscript.Run(t, testscript.Params{
		Files: some,
		Setup: func(env *testscript.Env) error { return setup(env, "") },
		Cmds:  commands,
	})
}

// setup sets up the environment of a script, without the caller's variables.
func setup(env *testscript.Env, cli string) error {
	path := env.Getenv("PATH") // begins with the directory of the command
	hermetic, err := claudetest.HermeticEnv(env.WorkDir, "http://127.0.0.1:9")
	if err != nil {
		return err
	}
	bin, _, _ := strings.Cut(path, string(os.PathListSeparator))
	wire, err := filepath.Abs(filepath.Join("..", "..", "testdata", "wire"))
	if err != nil {
		return err
	}
	vars := append([]string{"WORK=" + env.WorkDir, "WIRE=" + wire, "GORACE=atexit_sleep_ms=0", "PARLEY_SIM_PACE=0"}, hermetic...)
	for i, v := range vars {
		if rest, ok := strings.CutPrefix(v, "PATH="); ok {
			vars[i] = "PATH=" + bin + string(os.PathListSeparator) + rest
		}
	}
	if cli != "" {
		vars = append(vars, "PARLEY_CLI="+cli)
		if err := claudetest.IsolateProject(env.WorkDir); err != nil {
			return err
		}
	}
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		vars = append(vars, "GOCOVERDIR="+dir)
	}
	env.Vars = vars
	return nil
}

var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"api":     startAPI,
	"elf":     writeELF,
	"exits":   exits,
	"signals": sendSignals,
}

// startAPI implements the command api: it starts a fake API with the script in a file.
func startAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: api script.json")
	}
	script, err := claudetest.ParseScript([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	api, err := claudetest.NewFakeAPI(script)
	ts.Check(err)
	ts.Defer(func() { ts.Check(api.Close()) })
	ts.Setenv("ANTHROPIC_BASE_URL", api.URL())
}

// writeELF implements the command elf: it writes the header of a program for another
// processor.
func writeELF(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: elf arch file")
	}
	machine := elf.EM_AARCH64
	if runtime.GOARCH == args[0] {
		machine = elf.EM_X86_64
	}
	header := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Ehsize: 64}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA], header.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	var b bytes.Buffer
	ts.Check(binary.Write(&b, binary.LittleEndian, header))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o755))
}

// exits implements the command exits: a program must end with an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program args...")
	}
	checkExit(ts, args[0], ts.Exec(args[1], args[2:]...))
}

func checkExit(ts *testscript.TestScript, want string, err error) {
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

var signalsByName = map[string]os.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}

// sendSignals implements the command signals: it runs parley and sends signals, each when
// a text has appeared in the output.
func sendSignals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: signals code [<file] text=SIGNAL... -- args...")
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	program, err := lookPath(ts)
	ts.Check(err)
	i := 1
	for i < len(args) && args[i] != "--" {
		i++
	}
	cmd := exec.CommandContext(ctx, program, args[min(i+1, len(args)):]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = scriptEnv(ts)
	steps := args[1:i]
	if file, ok := strings.CutPrefix(steps[0], "<"); ok {
		cmd.Stdin = strings.NewReader(ts.ReadFile(file))
		steps = steps[1:]
	}
	seen := newWatcher()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = seen.tee(&stdout), seen.tee(&stderr)
	// A program that inherits an ignored SIGHUP, as with nohup, keeps ignoring it; one
	// that is started while the signal is caught does not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	err = cmd.Start()
	signal.Stop(caught)
	ts.Check(err)
	for _, step := range steps {
		text, name, _ := strings.Cut(step, "=")
		if !seen.wait(ctx, text) {
			ts.Logf("%q has not appeared in %q", text, seen.text())
			break
		}
		ts.Check(cmd.Process.Signal(signalsByName[name]))
	}
	err = cmd.Wait()
	_, _ = ts.Stdout().Write(stdout.Bytes())
	_, _ = ts.Stderr().Write(stderr.Bytes())
	checkExit(ts, args[0], err)
}

func lookPath(ts *testscript.TestScript) (string, error) {
	bin, _, _ := strings.Cut(ts.Getenv("PATH"), string(os.PathListSeparator))
	return exec.LookPath(bin + "/parley")
}

// scriptEnv returns the environment of the script, for a program that the test starts
// itself.
func scriptEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{
		"HOME", "CLAUDE_CONFIG_DIR", "TMPDIR", "CLAUDE_CODE_TMPDIR", "PATH", "TZ", "LANG", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING",
		"PARLEY_CLI", "GORACE", "GOCOVERDIR", "WORK", "PARLEY_SIM_PACE", "CODEX_HOME", "FAKE_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// watcher waits for texts in the output of a program.
type watcher struct {
	mu      sync.Mutex
	all     strings.Builder
	changed chan struct{}
}

func newWatcher() *watcher { return &watcher{changed: make(chan struct{}, 1)} }

func (w *watcher) tee(to *bytes.Buffer) writerFunc {
	return func(p []byte) (int, error) {
		w.mu.Lock()
		w.all.Write(p)
		w.mu.Unlock()
		select {
		case w.changed <- struct{}{}:
		default:
		}
		return to.Write(p)
	}
}

func (w *watcher) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

func (w *watcher) wait(ctx context.Context, text string) bool {
	for !strings.Contains(w.text(), text) {
		select {
		case <-w.changed:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

type writerFunc func(p []byte) (int, error)

// Write calls the function.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
