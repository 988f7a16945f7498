// Package nodefold folds messages with the TypeScript fold, in Node, so that tests can compare
// it with the fold in Go. It is test support.
package nodefold

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// Case is a list of messages for the TypeScript fold.
type Case struct {
	Name     string            `json:"name"`
	Messages []json.RawMessage `json:"messages"`
	Cut      int               `json:"cut,omitempty"`      // encode the state after this number of messages, then continue
	Snapshot json.RawMessage   `json:"snapshot,omitempty"` // start from this state
	Every    bool              `json:"every,omitempty"`    // also continue from the state after each message
}

// Result is the outcome of a case.
type Result struct {
	Name, State, Error string
	MS                 float64
	Steps              float64 // number of steps that depends on the length of the conversation
}

// Fold folds cases with the bundle of the TypeScript fold, all in one process, and returns the
// results by name. Any error fails the test.
func Fold(tb testing.TB, cases []Case) map[string]Result {
	tb.Helper()
	short.Skip(tb, "node")
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
	cmd := exec.Command("node", filepath.Join(checkout.Root(), "claude", "claudeevent", "testdata", "fold.mjs"))
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("node: %v\n%s", err, stderr.String())
	}
	results := map[string]Result{}
	for r := bufio.NewReader(bytes.NewReader(out)); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		var res Result
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
