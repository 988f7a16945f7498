package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/cell"
	"github.com/seed7221b0f9/parley/internal/test/faultinject"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// trick is a text that would set a title, clear the screen, change colours, hide text and reverse its
// direction.
const trick = "evil\x1b]0;owned\x07\x1b[2J\x1b[35m\x1b[8m\u009b2J\u202e\uFDD031\uFDD1\x7f\b\r!"

// kept are the members that plant does not change, so that a line stays valid.
var kept = []string{
	"type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "timestamp", "id", "tool_use_id", "role",
	"request_id", "requestId", "sourceToolAssistantUUID", "leafUuid", "parent_tool_use_id", "user_message_uuid", "event", "stop_reason", "terminal_reason",
}

// plant inserts the trick into every string of a value, except for kept members.
func plant(name string, v any) any {
	switch v := v.(type) {
	case string:
		if !slices.Contains(kept, name) {
			return v + trick
		}
	case []any:
		for i := range v {
			v[i] = plant(name, v[i])
		}
	case map[string]any:
		for k, e := range v {
			v[k] = plant(k, e)
		}
	}
	return v
}

// plantLines plants the trick in every line of JSON. Like the CLI, it escapes only the characters
// that JSON requires to be escaped.
func plantLines(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(text) {
		var v any
		if json.Unmarshal([]byte(line), &v) != nil {
			b.WriteString(strings.TrimRight(line, "\n") + trick + "\n")
			continue
		}
		out, err := json.Marshal(plant("", v))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(out, '\n'))
	}
	return b.String()
}

// seenOn returns the terminal output of a program, without the program's own styles and progress.
func seenOn(t *testing.T, env []string, typed string, args ...string) (plain string, code int) {
	t.Helper()
	p := sitDown(t, "http://127.0.0.1:9", env, args...)
	if typed != "" {
		p.types(typed)
	}
	_ = p.cmd.Wait() // the exit code contains the outcome
	<-p.read
	text := ownSequences.ReplaceAllString(strings.ReplaceAll(p.seen.text(), "\r\n", "\n"), "")
	return text, p.cmd.ProcessState.ExitCode()
}

// ownSequences are the escape sequences that the program itself writes: styles that hide no text,
// progress, and the end of paste mode.
var ownSequences = regexp.MustCompile(`\r\x1b\[K|\x1b\[(?:0|1|2|3|4|7|9|31|32|33|36)(?:;(?:1|2|3|4|9|36))*m|\x1b\[\?2004[hl]`)

// No string of a session, of a file name or of a directory controls the terminal, in any command, as
// text or as JSON.
func TestHostileSessions(t *testing.T) {
	short.SkipLong(t, "runs every command on every session")
	config := t.TempDir()
	project := filepath.Join(config, "projects", "-home-"+strings.ReplaceAll(trick, "/", ""))
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for seed, fault := range append([]string{""}, faultinject.Faults[:short.Count(1, len(faultinject.Faults), len(faultinject.Faults))]...) {
		s := faultinject.New(uint64(seed), "/home/dev/p")
		if fault != "" {
			s.Inject(fault, 0)
		}
		text := plantLines(t, string(s.Bytes()))
		for _, entry := range []map[string]any{{"type": "custom-title", "customTitle": "title" + trick}, {"type": "tag", "tag": "tag" + trick}, {"type": "new" + trick, "text": trick}} {
			entry["sessionId"] = s.ID
			line, err := json.Marshal(entry)
			if err != nil {
				t.Fatal(err)
			}
			text += string(line) + "\n"
		}
		if err := os.WriteFile(filepath.Join(project, s.ID+".jsonl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	if err := os.WriteFile(filepath.Join(project, "name"+trick+".jsonl"), []byte("{"+trick+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(t.TempDir(), "archive"+trick)
	env := []string{"CLAUDE_CONFIG_DIR=" + config, "PARLEY_ARCHIVE=" + archive}
	commands := []string{
		"sessions list", "sessions search evil", "sessions doctor", "sessions archive expiring", "sessions archive save", "sessions archive list",
		"sessions archive verify", "sessions archive restore --all --dry-run", "sessions show " + trick, "sessions rm --trash",
		"usage daily", "usage session", "usage project", "usage model", "usage branch", "usage agent", "usage blocks", "sessions show nothing" + trick,
	}
	for i, id := range ids {
		verbs := []string{"show --thinking --full --system", "export", "repair --dry-run", "tail -n 100", "tree --all", "rename ID x" + trick, "tag ID y" + trick}
		if i > 1 {
			verbs = verbs[:3] // the commands that show most of a session, and its faults
		}
		for _, c := range verbs {
			if verb, rest, renames := strings.Cut(c, " ID "); renames {
				commands = append(commands, "sessions "+verb+" "+id+" "+rest)
				continue
			}
			verb, flags, _ := strings.Cut(c, " ")
			commands = append(commands, strings.TrimSpace("sessions "+verb+" "+id+" "+flags))
		}
	}
	commands = append(commands, "sessions repair "+ids[1], "sessions fork "+ids[0]+" --title z"+trick, "sessions rm "+ids[1], "sessions rm --trash")
	pipedSessions(t, env, ids[0])
	shown := 0
	for _, command := range commands {
		for _, format := range []string{"", " --json"} {
			plain, code := seenOn(t, env, "", strings.Split(command+format, " ")...)
			if strings.Contains(plain, "evil") {
				shown++
			}
			if strings.ContainsFunc(plain, cell.Unsafe) || code < 0 || code > 2 {
				t.Errorf("%q: exit code %d, %q works on the terminal", command+format, code, plain)
			}
		}
	}
	if shown < len(commands) {
		t.Errorf("only %d of %d outputs show a planted text: the test shows little", shown, 2*len(commands))
	}
}

// pipedSessions checks that the text of a session is also sanitized in a pipe, unless --raw is given.
func pipedSessions(t *testing.T, env []string, id string) {
	t.Helper()
	parley := linkedProgram(t)
	for _, command := range []string{"list", "list --json", "tree " + id, "tree --json " + id, "tail " + id, "tail --json " + id, "search evil", "show " + id, "export " + id, "export --format html " + id, "search --json evil", "show --json " + id, "export --json " + id} {
		for _, raw := range []bool{false, true} {
			args := append([]string{"sessions"}, strings.Fields(command)...)
			if raw {
				if verb := args[1]; verb == "list" || verb == "tree" || verb == "tail" {
					continue // their text is always sanitized
				}
				args = append(args, "--raw")
			}
			cmd := exec.CommandContext(t.Context(), parley, args...)
			cmd.Env = append([]string{"HOME=" + t.TempDir()}, env...)
			out, err := cmd.Output()
			unsafe := strings.ContainsFunc(string(out), cell.Unsafe)
			if err != nil || !strings.Contains(string(out), "evil") || unsafe && !raw || raw && !unsafe && !strings.Contains(command, "json") {
				t.Errorf("%s, raw %v: it ended with %v and printed %.500q", command, raw, err, out)
			}
		}
	}
}

// No string of the CLI can control the terminal, in text, JSON and chat.
func TestHostileCLI(t *testing.T) {
	short.SkipQuick(t, "starts many commands")
	names := []string{"parallel-tools", "partial-thinking", "api-429-then-ok", "unknown-content-block", "ask-user-question", "api-400"}
	for i := 0; i < len(names); i += short.Every(3) {
		name := names[i]
		dir := filepath.Join(t.TempDir(), "r"+strings.ReplaceAll(trick, "/", ""))
		if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "testdata", "wire", name))); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "stdout.jsonl")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(plantLines(t, string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		agent := []string{"--at-once", "--agent", "replay:" + dir}
		for _, args := range [][]string{{"run"}, {"run", "--verbose"}, {"run", "--output", "json"}, {"run", "--output", "stream-json"}} {
			plain, code := seenOn(t, nil, "", slices.Concat(args, agent, []string{"go"})...)
			if strings.ContainsFunc(plain, cell.Unsafe) || !strings.Contains(plain, "evil") || code > 4 {
				t.Errorf("%s, %v: exit code %d, seen %q", name, args, code, plain)
			}
		}
	}
}

// File names and program output that doctor shows cannot control the terminal.
func TestHostileDoctor(t *testing.T) {
	short.SkipQuick(t, "starts many commands")
	cli := filepath.Join(t.TempDir(), "claude"+strings.ReplaceAll(trick, "/", ""))
	if err := os.WriteFile(cli, []byte("#!/bin/sh\nprintf '2.1.0 evil\\033[2J\\n'\nprintf 'evil\\033[2J\\n' >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"doctor", "--cli", cli}, {"doctor", "--json", "--cli", cli}, {"run", "--cli", cli, "hi"}, {"run", "--cli", cli + "x", "hi"}, {"run", "--model" + trick, "x"}, {"no" + trick}} {
		plain, _ := seenOn(t, nil, "", args...)
		if strings.ContainsFunc(plain, cell.Unsafe) || !strings.Contains(plain, "evil") {
			t.Errorf("%q: seen %q", args, plain)
		}
	}
}
