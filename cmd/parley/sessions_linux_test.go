package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// hostileSessions returns a configuration directory with sessions that contain control
// sequences: an intact one and a damaged one.
func hostileSessions(t *testing.T) (dir, id string) {
	t.Helper()
	dir = t.TempDir()
	project := filepath.Join(dir, "projects", "-home-dev-p")
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	trick, err := json.Marshal("\x1b]0;owned\x07\x1b[31m日本語のとても長い題名がここにあります and much more of it \u202e\u009b2J\n" + strings.Repeat("wide ", 40))
	if err != nil {
		t.Fatal(err)
	}
	for seed, fault := range []string{"", "orphan-tool-use"} {
		s := faultinject.New(uint64(seed), "/home/dev/"+strings.Repeat("deep/", 20))
		if fault != "" {
			s.Inject(fault, 0)
		} else {
			id = s.ID
		}
		text := strings.ReplaceAll(string(s.Bytes()), `"prompt 1: `, string(trick[:len(trick)-1])+" ")
		text += `{"type":"custom-title","customTitle":` + string(trick) + `,"sessionId":"` + s.ID + `"}` + "\n"
		if err := os.WriteFile(filepath.Join(project, s.ID+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, id
}

// bar matches the progress bar and its end, which appear on a slow machine.
var bar = regexp.MustCompile(`\r\x1b\[K([a-z ]+: [0-9]+ of [0-9]+)?`)

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// The output of every command fits the terminal, and no text of a session controls it.
func TestSessionsOnTerminal(t *testing.T) {
	short.SkipQuick(t, "starts many commands")
	dir, id := hostileSessions(t)
	for _, tt := range []struct {
		args string
		code int
		fits bool
	}{
		{"list", 0, true},
		{"show " + id, 0, true},
		{"show " + id + " --json", 0, false},
		{"search much", 0, true},
		{"tail " + id, 0, true},
		{"tree " + id, 0, true},
		{"export " + id, 0, false},
		{"doctor", 1, false},
		{"archive expiring", 0, true},
	} {
		for _, env := range []string{"NO_COLOR=", "NO_COLOR=1"} {
			p := sitDown(t, "http://127.0.0.1:9", []string{"CLAUDE_CONFIG_DIR=" + dir, env}, append([]string{"sessions"}, strings.Fields(tt.args)...)...)
			_ = p.cmd.Wait() // the exit code contains the outcome
			<-p.read
			seen := bar.ReplaceAllString(strings.ReplaceAll(p.seen.text(), "\r\n", "\n"), "")
			if code := p.cmd.ProcessState.ExitCode(); code != tt.code {
				t.Errorf("%s: exit code %d: %s", tt.args, code, seen)
			}
			if env != "NO_COLOR=" && strings.Contains(seen, "\x1b") {
				t.Errorf("%s: colours although there should be none: %q", tt.args, seen)
			}
			plain := sgr.ReplaceAllString(seen, "")
			if strings.ContainsFunc(plain, cell.Unsafe) {
				t.Errorf("%s: %q works on the terminal", tt.args, plain)
			}
			for line := range strings.SplitSeq(plain, "\n") {
				if tt.fits && cell.Width(line) > 80 && !strings.Contains(line, "claude --resume") {
					t.Errorf("%s: %d columns: %s", tt.args, cell.Width(line), line)
				}
			}
		}
	}
}
