package claude_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// ownerOptions returns the options of a session in a configuration directory of the test.
func ownerOptions(dir string) *claude.Options {
	o := claudetest.FakeCLI("hello")
	o.Env["HOME"], o.Env["CLAUDE_CONFIG_DIR"] = dir, filepath.Join(dir, "config")
	o.Dir, o.Logger = dir, slog.New(slog.DiscardHandler)
	return o
}

// sessionOwner runs a client: it prints its session, and after the end of its input how
// the session ended.
func sessionOwner(cli *claudetest.CLI) int {
	o := ownerOptions(cli.Env("OWNER_DIR"))
	o.Continue = cli.Env("OWNER_HOW") == "continue"
	c, err := claude.Connect(context.Background(), o)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if !o.Continue { // a continued session is locked before the first message of the CLI
		for m, err := range c.Query(context.Background(), "hello") {
			if err != nil {
				fmt.Println(m, err)
				return 1
			}
		}
	}
	// A new session is locked concurrently with its messages, as soon as its CLI has
	// reported the id.
	if !signed(filepath.Join(cli.Env("OWNER_DIR"), "config/parley/locks"), os.Getpid()) {
		fmt.Println("there is no lock")
		return 1
	}
	fmt.Println("session", c.SessionID())
	<-cli.InputEnd()
	_, err = c.Send(context.Background(), claude.Text("still here?"))
	fmt.Println("sent", err)
	c.Close()
	return 0
}

// signed waits at most a minute until a lock in dir names the process.
func signed(dir string, pid int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		files, _ := filepath.Glob(filepath.Join(dir, "*"))
		for _, f := range files {
			if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), fmt.Sprintf(`"pid":%d`, pid)) {
				return true
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	return false
}

// otherProcess is a process that owns a session.
type otherProcess struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

func (p *otherProcess) line(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	return strings.TrimSpace(line)
}

// end closes the input of the process and waits for it.
func (p *otherProcess) end(t *testing.T) string {
	t.Helper()
	p.in.Close()
	last := p.line(t)
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	return last
}

func startOwner(t *testing.T, dir, how string) *otherProcess {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	for k, v := range claudetest.FakeCLI("session-owner").Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Env = append(cmd.Env, "OWNER_DIR="+dir, "OWNER_HOW="+how)
	cmd.Stderr = os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return &otherProcess{cmd: cmd, in: in, out: bufio.NewReader(out)}
}

// The lock of a session keeps a second process away: for a continued session, and for a
// new one with an id that only its CLI knows. It is released when its owner has ended.
func TestSessionLockOfTwoProcesses(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"continue", "new"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			newest := "22222222-2222-4222-8222-222222222222"
			if how == "continue" {
				project := filepath.Join(dir, "config", "projects", claude.ProjectKey(dir))
				if err := os.MkdirAll(project, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(project, newest+".jsonl"), []byte("{}\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			owner := startOwner(t, dir, how)
			id := strings.TrimPrefix(owner.line(t), "session ")
			again := ownerOptions(dir)
			again.Resume = id
			if how == "continue" {
				again.Resume = newest
			}
			_, err := claude.Run(t.Context(), "Me too.", again)
			if busy, ok := errors.AsType[*claude.SessionBusyError](err); !ok || busy.PID != owner.cmd.Process.Pid || busy.SessionID != again.Resume {
				t.Errorf("%s: %v; want ok and busy.PID == owner.cmd.Process.Pid and busy.SessionID == again.Resume", again.Resume, err)
			}
			if last := owner.end(t); last != "sent <nil>" {
				t.Errorf("last is %v; want last == \"sent <nil>\"", last)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "config/parley/locks/*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if _, err := claude.Run(t.Context(), "Alone.", again); err != nil {
				t.Error(err)
			}
		})
	}
}
