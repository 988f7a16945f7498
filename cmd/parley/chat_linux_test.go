package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// person is a simulated user at a terminal with a program.
type person struct {
	t      *testing.T
	ctx    context.Context
	screen *os.File
	seen   *watcher
	cmd    *exec.Cmd
	read   chan struct{} // closed when all processes have closed the terminal
	from   int           // offset after the last seen text
	dir    string
}

// sitDown starts parley on a terminal, with a clean environment.
func sitDown(t *testing.T, apiURL string, env []string, args ...string) *person {
	t.Helper()
	dir := t.TempDir()
	hermetic, err := claudetest.HermeticEnv(dir, apiURL)
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("parley") // created by TestMain
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	t.Cleanup(cancel)
	screen, terminal := openPTY(t)
	p := &person{t: t, ctx: ctx, screen: screen, seen: newWatcher(), read: make(chan struct{}), dir: dir}
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Dir = filepath.Join(dir, "tmp")
	p.cmd.Env = append(append(hermetic, "GORACE=atexit_sleep_ms=0", "TERM=xterm", "PARLEY_SIM_PACE=0", "XDG_STATE_HOME="+filepath.Join(dir, "state")), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = terminal, terminal, terminal
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	terminal.Close()
	go func() {
		defer close(p.read)
		_, _ = io.Copy(p.seen.tee(&bytes.Buffer{}), screen) // EIO is the end
	}()
	return p
}

// sees waits until a text appears after the previous one.
func (p *person) sees(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		for {
			all := p.seen.text()
			if i := strings.Index(all[p.from:], text); i >= 0 {
				p.from += i + len(text)
				break
			}
			select {
			case <-p.seen.changed:
			case <-p.ctx.Done():
				p.t.Fatalf("%q has not appeared in %q", text, all[p.from:])
			}
		}
	}
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.screen.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) resizes(columns, rows uint16) {
	p.t.Helper()
	size := struct{ rows, columns, x, y uint16 }{rows, columns, 0, 0}
	ioctl(p.t, p.screen, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
}

// leaves is like ends for a program that had changed the terminal.
func (p *person) leaves(code int) string {
	p.t.Helper()
	all := p.ends(code)
	if !strings.Contains(all, string(term.PasteOff)) {
		p.t.Error("the terminal was not put back")
	}
	return all
}

// ends waits for the end of the program and returns all its output.
func (p *person) ends(code int) string {
	p.t.Helper()
	_ = p.cmd.Wait() // the exit code contains the outcome
	<-p.read
	all := p.seen.text()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("exit code %d, want %d; seen %q", got, code, all)
	}
	return all
}

func TestChatOnTerminal(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "chat")
	p.sees("There is no claude on this machine", "/help lists the commands", "> ")
	p.types("hello there\r")
	p.sees("> hello there", "You wrote:", "│ hello there", "● Write  notes.md", "✓", "? Allow this call? Bash ls -1", "y yes · a always (allow Bash for this session)", "waiting for you", "? ")
	p.types("maybe\r")
	p.sees("? Allow this call?", "? ")
	p.types("y\r")
	p.sees("## What you have seen", "• text that comes", "✓ ", " out")

	// Input is queued while the agent is busy, and can be cancelled.
	p.types("wait\r")
	p.sees("Waiting.", "Ctrl-C interrupts")
	p.types("think now\r")
	p.sees("↳ queued: think now", "1 queued")
	p.types("third\r/queue\r")
	p.sees("↳ queued: third", "1. think now", "2. third")
	p.types("/cancel\r")
	p.sees("withdrawn: third")
	p.types("a draft")
	p.sees("> a draft")

	// Ctrl-C only aborts the turn; the next one runs.
	p.types("\x03")
	p.sees("interrupting", "interrupted", "> think now", "three steps", "✓ ", "> a draft")

	// After a resize the output has the new width.
	p.resizes(30, 20)
	p.types("\x15markdown\r")
	p.sees("> markdown", strings.Repeat("─", 30)+"\r\n", "The end.", "✓ ", " out")

	// Several lines, by a backslash and by pasting; history; completion.
	p.types("one \\\rtwo\r")
	p.sees("… two", "│ one two", "✓ ", " out")
	p.types("\x1b[200~pasted\nlines\x1b[201~\r")
	p.sees("│ pasted lines", "✓ ", " out")
	p.types(strings.Repeat("\x1b[A", 5)) // two rows each, then the prompt before
	p.sees("> markdown")
	p.types("\x15/mod\t")
	p.sees("/mode  /model")
	p.types("l x\r")
	p.sees("the model is now simulated-x")
	p.types("\x04")
	all := p.leaves(0)
	if !strings.Contains(all[p.from:], "(it is not stored)") {
		t.Errorf("the end is %q", all[p.from:])
	}
	history := filepath.Join(p.dir, "state", "parley", "history")
	data, err := os.ReadFile(history)
	if err != nil || !strings.HasPrefix(string(data), "\"hello there\"\n\"wait\"\n") || !strings.Contains(string(data), `"pasted\nlines"`) {
		t.Errorf("the history is %q, %v", data, err)
	}
	if info, err := os.Stat(history); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want err == nil and info.Mode().Perm() == 0o600", info, err)
	}
}

func TestChatEnds(t *testing.T) {
	short.SkipQuick(t, "starts many commands")
	ends := map[string]func(p *person){
		"Ctrl-C at an empty prompt, asked once more": func(p *person) {
			p.types("\x03")
			p.sees("Ctrl-C again ends the conversation", "> ")
			p.types("\x03")
		},
		"an unknown command": func(p *person) {
			p.types("/quti\r")
			p.sees("error: unknown command /quti; did you mean /quit?")
			p.types("/quit\r")
		},
		"quit": func(p *person) { p.types("/quit\r") },
		"Ctrl-C twice": func(p *person) {
			p.types("wait\r")
			p.sees("Waiting.", "Ctrl-C interrupts")
			p.types("\x03\x03")
		},
		"Ctrl-D while busy": func(p *person) {
			p.types("wait\r")
			p.sees("Waiting.", "Ctrl-C interrupts")
			p.types("\x04")
		},
		"Ctrl-C on a draft, then Ctrl-D": func(p *person) {
			p.types("draft")
			p.sees("> draft")
			p.types("\x03\x04")
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "chat", "--agent", "sim")
			p.sees("/help lists the commands")
			end(p)
			p.leaves(0)
		})
	}
	p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "chat", "--agent", "sim")
	p.sees("/help lists the commands")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.leaves(143)
}

// Chat with the real CLI, and with a model that tries to control the terminal.
func TestChatRealCLI(t *testing.T) {
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, claudetest.Replies(
		claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("# Title\n\nSome **bo\x1b[31mld** &#27;[7mtext.").Chunked(3)}},
		claudetest.Say("Second."),
	))
	p := sitDown(t, api.URL(), []string{"PARLEY_CLI=" + cli}, "chat")
	p.sees("/help lists the commands")
	p.types("go\r")
	p.sees("\x1b[1;4mTitle\x1b[0m", "\x1b[1mbo[31mld\x1b[0m [7mtext.", "✓ ")
	p.types("again\r")
	p.sees("Second.", "✓ ")
	p.types("\x04")
	all := p.leaves(0)
	if strings.Contains(all, "\x1b[31m") || strings.Contains(all, "\x1b[7m") || !strings.Contains(all, "continue with: parley chat --resume ") {
		t.Errorf("seen %q", all)
	}
}
