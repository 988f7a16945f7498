package ui_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"testing"
)

// foldCase is a list of messages that the TypeScript fold is to fold.
type foldCase struct {
	Name     string            `json:"name"`
	Messages []json.RawMessage `json:"messages"`
	Cut      int               `json:"cut,omitempty"`      // encode the state behind so many, and go on
	Snapshot json.RawMessage   `json:"snapshot,omitempty"` // begin from this state
}

// foldResult is what became of a case.
type foldResult struct {
	Name, State, Error string
	MS                 float64
}

// foldInNode folds cases with the bundle of the TypeScript fold, all in one process.
func foldInNode(tb testing.TB, cases []foldCase) map[string]foldResult {
	tb.Helper()
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	enc.SetEscapeHTML(false)
	for _, c := range cases {
		if c.Messages == nil {
			c.Messages = []json.RawMessage{}
		}
		if err := enc.Encode(c); err != nil {
			tb.Fatal(err)
		}
	}
	cmd := exec.Command("node", "testdata/fold.mjs")
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("node: %v\n%s", err, stderr.String())
	}
	results := map[string]foldResult{}
	for r := bufio.NewReader(bytes.NewReader(out)); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var res foldResult
		if err := json.Unmarshal(line, &res); err != nil {
			tb.Fatal(err)
		}
		results[res.Name] = res
	}
	if len(results) != len(cases) {
		tb.Fatalf("node folded %d cases of %d\n%s", len(results), len(cases), stderr.String())
	}
	return results
}
