package claude_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus is where the recordings are: a scenario a folder. PARLEY_WIRE_CORPUS
// names other ones of the same form.
func corpus(tb testing.TB) string {
	tb.Helper()
	if dir := os.Getenv("PARLEY_WIRE_CORPUS"); dir != "" {
		return dir
	}
	return filepath.Join("..", "testdata", "wire")
}

// otherCorpus reports whether the recordings are not the project's own.
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

// stdoutLines returns the lines that the CLI wrote in a scenario, in all of its
// processes, without blank ones.
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
			continue // nothing was started
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
