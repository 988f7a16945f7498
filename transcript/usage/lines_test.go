package usage

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The sessions of tests.
const (
	sessionA = "aaaaaaaa-0000-4000-8000-000000000000"
	sessionB = "bbbbbbbb-0000-4000-8000-000000000000"
)

// fields are members of a line that a test changes; a nil value omits the member.
type fields map[string]any

// line returns a line of an answer: msg_1 of req_1 with 1 token in, 10 out, 100 written to the
// cache and 1000 read. Members of the message have the prefix message., those of usage the prefix
// usage.
func line(change fields) string {
	used := fields{"input_tokens": 1, "output_tokens": 10, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 1000}
	message := fields{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": []any{map[string]any{"type": "text", "text": `say "usage":{} \`}}, "usage": used}
	top := fields{
		"parentUuid": nil, "isSidechain": false, "message": message, "requestId": "req_1", "type": "assistant", "uuid": "u", "timestamp": "2026-01-10T12:00:00.000Z",
		"cwd": "/home/dev/p", "sessionId": sessionA, "version": "2.1.325", "gitBranch": "main",
	}
	for name, value := range change {
		to := top
		if rest, ok := strings.CutPrefix(name, "message."); ok {
			name, to = rest, message
		} else if rest, ok := strings.CutPrefix(name, "usage."); ok {
			name, to = rest, used
		}
		if to[name] = value; value == nil {
			delete(to, name)
		}
	}
	text, err := json.Marshal(top)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// with returns f with more fields.
func (f fields) with(more fields) fields {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

// tree writes files into the directory of one project: names and lines.
func tree(t *testing.T, files map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, lines := range files {
		write(t, dir, name, strings.Join(lines, "\n")+"\n")
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, "projects", "-home-dev-p", filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func scan(t *testing.T, dirs ...string) *Ledger {
	t.Helper()
	l, err := Scan(t.Context(), Options{ConfigDirs: dirs})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// scanned returns a ledger of files.
func scanned(t *testing.T, files map[string][]string) *Ledger {
	t.Helper()
	return scan(t, tree(t, files))
}

var inUTC = View{Location: time.UTC}

// The names of files.
const (
	fileA  = sessionA + ".jsonl"
	fileB  = sessionB + ".jsonl"
	agent1 = sessionA + "/subagents/agent-a1.jsonl"
	agent2 = sessionA + "/subagents/agent-a2.jsonl"
)
