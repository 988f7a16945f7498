package claude_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus returns the folder of the recordings, one folder per scenario.
// PARLEY_WIRE_CORPUS overrides it.
func corpus(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv("PARLEY_WIRE_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "testdata", "wire")
}

// otherCorpus reports whether PARLEY_WIRE_CORPUS replaces the project's recordings.
func otherCorpus() bool { return os.Getenv("PARLEY_WIRE_CORPUS") != "" }

// scenarios lists the scenarios of the corpus.
func scenarios(tb testing.TB) []string {
	tb.Helper()
	entries, err := os.ReadDir(corpus(tb))
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
		tb.Fatalf("no scenarios in %s", corpus(tb))
	}
	return names
}

// stdoutLines returns the output lines of all CLI processes of a scenario, without blank
// lines.
func stdoutLines(tb testing.TB, scenario string) []string {
	tb.Helper()
	var lines []string
	dir := filepath.Join(corpus(tb), scenario)
	files, err := filepath.Glob(filepath.Join(dir, "spawn*", "stdout.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range append([]string{filepath.Join(dir, "stdout.jsonl")}, files...) {
		data, err := os.ReadFile(f)
		if os.IsNotExist(err) {
			continue // no process was started
		}
		if err != nil {
			tb.Fatal(err)
		}
		r := bufio.NewReader(bytes.NewReader(data))
		for {
			line, err := r.ReadString('\n')
			if text := strings.TrimRight(line, "\r\n"); strings.TrimSpace(text) != "" {
				lines = append(lines, text)
			}
			if err != nil {
				break
			}
		}
	}
	return lines
}
