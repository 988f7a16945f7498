package joined

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestByteOrderMark reads a token with a byte order mark in front of it, from a file and from standard input.
func TestByteOrderMark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("\ufeffpt_1_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := readToken(file); err != nil || token != "pt_1_x\n" {
		t.Errorf("the file has the token %q, %v; want pt_1_x", token, err)
	}
	if token, err := readLine(t.Context(), strings.NewReader("\ufeffpt_1_x\n")); err != nil || token != "pt_1_x\n" {
		t.Errorf("the line has the token %q, %v; want pt_1_x", token, err)
	}
}
