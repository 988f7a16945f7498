package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// git runs git in a directory with a clean environment.
func (s *simServer) git(dir, stdin string, args ...string) string {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, s.env, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// worktree creates a repository, a workspace of it and a session there.
func (s *simServer) worktree() (api.Workspace, string) {
	s.Helper()
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "U"}, {"config", "user.email", "u@example.invalid"}} {
		s.git(s.dir, "", args...)
	}
	s.write(s.dir, "a.txt", numberedLines(40))
	s.git(s.dir, "", "add", ".")
	s.git(s.dir, "", "commit", "-qm", "one")
	var ws api.WorkspaceResult
	s.call("workspace.create", api.WorkspaceCreateParams{Repo: s.dir}, &ws)
	var c api.ConnectResult
	s.call("session.connect", api.ConnectParams{WorkspaceID: ws.Workspace.ID}, &c)
	return ws.Workspace, c.SessionID
}

func numberedLines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line " + string(rune('a'+i%26)) + "\n")
	}
	return b.String()
}

func (s *simServer) write(dir, name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

var hunkID = regexp.MustCompile(`\[hunk (\S+)\]`)

// TestWorkspaceCommands shows, reverts, commits and removes changes, and passes the diff to
// git.
func TestWorkspaceCommands(t *testing.T) {
	short.SkipLong(t, "starts git again and again")
	s := newSimServer(t)
	ws, id := s.worktree()
	lines := strings.SplitAfter(numberedLines(40), "\n")
	lines[4], lines[30] = "five\n", "thirty\n"
	s.write(ws.Path, "a.txt", strings.Join(lines, ""))
	s.write(ws.Path, "new \"file\".txt", "without a line feed")
	diff, complaints, code := s.parley("diff", id)
	hunks := hunkID.FindAllStringSubmatch(diff, -1)
	if code != 0 || complaints != "" || len(hunks) != 3 || !strings.Contains(diff, "\n-line e\n+five\n") || strings.Contains(diff, "\x1b") {
		t.Fatalf("exit code %d, %q\n%s", code, complaints, diff)
	}
	s.git(s.dir, diff, "apply", "--check") // git refuses invalid input
	s.git(s.dir, diff, "apply", "--stat")
	if out, _, code := s.parley("diff", "--stat", id); code != 0 || !strings.Contains(out, "update +2     -2     a.txt\n") || !strings.HasSuffix(out, "2 files, +3 -2\n") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	var d api.WorkspaceDiffResult
	if out, _, code := s.parley("diff", "--json", "--file", "a.txt", id); code != 0 || json.Unmarshal([]byte(out), &d) != nil || len(d.Files) != 1 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	left, _, code := s.parley("workspace", "revert", "--hunk", hunks[0][1], id, "a.txt")
	if code != 0 || strings.Contains(left, "five") || !strings.Contains(left, "+thirty") {
		t.Errorf("exit code %d\n%s", code, left)
	}
	if _, complaints, code := s.parley("workspace", "revert", "--hunk", hunks[0][1], id, "a.txt"); code != exitConflict || complaints == "" {
		t.Errorf("a hunk that is gone: exit code %d, %q", code, complaints)
	}
	if _, _, code := s.parley("workspace", "remove", ws.ID); code != exitConflict {
		t.Errorf("removing work: exit code %d", code)
	}
	commit, complaints, code := s.parley("workspace", "commit", "-m", "Say thirty", "--trailer", id)
	if code != 0 || s.git(ws.Path, "", "log", "-1", "--format=%H%n%s%n%b") != commit+"Say thirty\nParley-Session: "+id+"\n\n" {
		t.Errorf("exit code %d, %q, commit %q", code, complaints, commit)
	}
	if _, _, code := s.parley("workspace", "commit", "-m", "Nothing", id); code != exitConflict {
		t.Errorf("committing nothing: exit code %d", code)
	}
	if _, _, code := s.parley("workspace", "commit", id); code != term.ExitUsage {
		t.Errorf("without a message: exit code %d", code)
	}
	if out, _, code := s.parley("workspace", "list"); code != 0 || !strings.Contains(out, ws.ID) || !strings.Contains(out, id) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if _, complaints, code := s.parley("workspace", "remove", "--keep-branch", id); code != 0 {
		t.Errorf("exit code %d, %q", code, complaints)
	}
	if out, _, _ := s.parley("workspace", "list", "--json"); out != `{"workspaces":[]}`+"\n" {
		t.Errorf("the list is %s", out)
	}
	if _, complaints, code := s.parley("diff", "s-none"); code != term.ExitFailed || !strings.Contains(complaints, "not found") {
		t.Errorf("exit code %d, %q", code, complaints)
	}
}

// On a terminal a diff has colours, and the content of files cannot control the terminal.
func TestDiff_terminal(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	s := newSimServer(t)
	ws, id := s.worktree()
	s.write(ws.Path, "evil.txt", "\x1b]0;title\x07text\n")
	p := sitDown(t, "http://127.0.0.1:9", nil, "diff", "--data", s.data, id)
	if all := p.ends(0); !strings.Contains(all, "\x1b[32m+") || strings.Contains(all, "\x1b]0;") || !strings.Contains(all, "text") {
		t.Errorf("seen %q", all)
	}
}
