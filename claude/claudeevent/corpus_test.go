package claudeevent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

// corpus returns the folder of the recordings, one folder per scenario.
// PARLEY_WIRE_CORPUS overrides it.
func corpus() string {
	if dir := os.Getenv("PARLEY_WIRE_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "testdata", "wire")
}

// scenarios lists the folders of a corpus.
func scenarios(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		tb.Fatalf("no scenarios in %s", dir)
	}
	return names
}

// readLines returns the nonblank lines of a file, or nil if the file does not exist.
func readLines(tb testing.TB, name string) []string {
	tb.Helper()
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		tb.Fatal(err)
	}
	var lines []string
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if s := strings.TrimSpace(string(line)); s != "" {
			lines = append(lines, s)
		}
	}
	return lines
}

// stdoutFiles returns the output files of all processes of a scenario.
func stdoutFiles(tb testing.TB, dir string) []string {
	tb.Helper()
	more, err := filepath.Glob(filepath.Join(dir, "spawn*", "stdout.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	return append([]string{filepath.Join(dir, "stdout.jsonl")}, more...)
}

// decode decodes lines like the SDK; lines that are not JSON objects are not messages.
func decode(lines []string) []message.Message {
	var messages []message.Message
	for _, line := range lines {
		m, err := message.Decode([]byte(line))
		if err != nil {
			m = &message.BadLine{Size: len(line), Err: err}
		}
		messages = append(messages, m)
	}
	return messages
}

func mustRead(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
