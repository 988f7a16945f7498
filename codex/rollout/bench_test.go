package rollout_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// fill copies a recorded thread n times into a new CODEX_HOME, each with a new id, and repeats its
// turns until a file has at least size bytes.
func fill(b *testing.B, n, size int) (dir string, total int64) {
	b.Helper()
	home, ok := codexrec.Named(b, "approval_accept").Home(b)
	if !ok {
		b.Fatal("no files")
	}
	files, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	if err != nil || len(files) != 1 {
		b.Fatalf("files is %v, err is %v; want err == nil and len(files) == 1", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	meta, turn, _ := bytes.Cut(text, []byte("\n"))
	body := append(append(bytes.Clone(meta), '\n'), bytes.Repeat(turn, 1+size/len(turn))...)
	const id = "01a1de9a-3164-7f42-a449-0a13e079865e"
	dir = b.TempDir()
	for i := range n {
		other := fmt.Sprintf("01a1de9a-3164-7f42-a449-%012x", i)
		name := filepath.Join(dir, "sessions", "2026", "11", fmt.Sprintf("%02d", i%28+1), strings.ReplaceAll(filepath.Base(files[0]), id, other))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			b.Fatal(err)
		}
		data := bytes.ReplaceAll(body, []byte(id), []byte(other))
		total += int64(len(data))
		if err := os.WriteFile(name, data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir, total
}

// BenchmarkList lists 2,000 threads.
func BenchmarkList(b *testing.B) {
	dir, total := fill(b, 2000, 0)
	b.SetBytes(total)
	for b.Loop() {
		sessions, problems, err := rollout.Open(dir).List(b.Context())
		if err != nil || len(sessions) != 2000 || len(problems) > 0 {
			b.Fatalf("len(sessions) is %v, problems is %v, err is %v; want err == nil and len(sessions) == 2000 and len(problems) <= 0", len(sessions), problems, err)
		}
	}
}

// BenchmarkUsage adds up the tokens of 256 MB.
func BenchmarkUsage(b *testing.B) {
	dir, total := fill(b, 64, 4<<20)
	b.SetBytes(total)
	for b.Loop() {
		n := 0
		for _, err := range rollout.Open(dir).Usage(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n == 0 {
			b.Fatal("no requests")
		}
	}
}
