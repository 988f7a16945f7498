package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// openPTY returns the two ends of a terminal of 80 columns.
func openPTY(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	var number, unlock uint32
	size := struct{ rows, columns, x, y uint16 }{24, 80, 0, 0}
	ioctl(t, screen, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(t, screen, syscall.TIOCGPTN, unsafe.Pointer(&number))
	ioctl(t, screen, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, terminal
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); errno != 0 {
		t.Fatal(errno)
	}
}

// onTerminal runs parley on a terminal, types text when the expected output has appeared, and
// returns the output and the exit code.
func onTerminal(t *testing.T, script claudetest.Script, env []string, seen, typed string, args ...string) (string, int) {
	t.Helper()
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, script)
	dir := t.TempDir()
	hermetic, err := claudetest.HermeticEnv(dir, api.URL())
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("parley") // created by TestMain
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	screen, terminal := openPTY(t)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = filepath.Join(dir, "tmp")
	cmd.Env = append(append(hermetic, "PARLEY_CLI="+cli, "GORACE=atexit_sleep_ms=0", "TERM=xterm"), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	var all bytes.Buffer
	buf := make([]byte, 4096)
	for {
		n, err := screen.Read(buf)
		all.Write(buf[:n])
		if typed != "" && strings.Contains(all.String(), seen) {
			if _, err := screen.WriteString(typed); err != nil {
				t.Fatal(err)
			}
			typed = ""
		}
		if err != nil { // EIO after all processes have closed the terminal
			break
		}
	}
	_ = cmd.Wait() // the exit code contains the outcome
	return strings.ReplaceAll(all.String(), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

var terminalScript = claudetest.Replies(
	claudetest.Reply{Blocks: []claudetest.Block{
		claudetest.Thinking("Let me see."),
		claudetest.Text("I will \x1b[31mlook.").Chunked(3),
		claudetest.ToolUse("Bash", map[string]any{"command": "echo hi", "description": "x"}),
	}},
	claudetest.Say("Done."),
)

func TestTerminal(t *testing.T) {
	got, code := onTerminal(t, terminalScript, nil, "", "", "run", "--allowed-tools", "Bash", "go")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{
		"\x1b[2mLet me see.\x1b[0m\n\nI will [31mlook.\n\n● \x1b[1mBash\x1b[0m  echo hi  \x1b[32m✓\x1b[0m \x1b[2m",
		"\x1b[0m\n\nDone.\n\n\x1b[2m2 turns · ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestTerminalNoColor(t *testing.T) {
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		got, code := onTerminal(t, terminalScript, []string{env}, "", "", "run", "--show-thinking=false", "--allowed-tools", "Bash", "go")
		if code != 0 || strings.Contains(got, "\x1b") || strings.Contains(got, "Let me see") || !strings.Contains(got, "● Bash  echo hi  ✓ ") {
			t.Errorf("%s: exit code %d, screen %q", env, code, got)
		}
	}
}

func TestTerminalInterrupt(t *testing.T) {
	hold := claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("one two three").Chunked(4)}, Hold: claudetest.HoldMid, HoldAfter: new(4)}
	got, code := onTerminal(t, claudetest.Replies(hold), []string{"NO_COLOR=1"}, "two", "\x03", "run", "go")
	if code != term.ExitOnSIGINT || !strings.Contains(got, "interrupted") {
		t.Errorf("exit code %d, screen %q", code, got)
	}
}

// On a terminal without a CLI, a message reports that it is missing, and the simulated agent
// answers; with JSON output there are no simulated answers.
func TestTerminalWithoutCLI(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "run", "hello")
	if all := p.ends(0); !strings.Contains(all, "There is no claude on this machine") || !strings.Contains(all, "simulated agent") {
		t.Errorf("seen %q", all)
	}
	for _, args := range [][]string{{"--output", "json"}, {"--output", "stream-json"}, {"--json-schema", "{}"}} {
		p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, append([]string{"run", "hello"}, args...)...)
		if all := p.ends(term.ExitNoCLI); !strings.Contains(all, "CLI not found") || strings.Contains(all, "There is no claude") || strings.Contains(all, `"simulated"`) {
			t.Errorf("%v: seen %q", args, all)
		}
	}
}
