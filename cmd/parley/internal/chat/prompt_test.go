package chat

import (
	"errors"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"os"
	"path/filepath"
	"testing"
)

func TestReadPrompt(t *testing.T) {
	tests := []struct {
		args  []string
		input string
		want  string // "" means a usage error
	}{
		{[]string{"a", "b"}, "", "a b"},
		{[]string{"a"}, "piped\n", "a\n\npiped\n"},
		{[]string{"a"}, "\n", "a\n"},
		{nil, "piped", "piped"},
		{nil, "\ufeffpiped", "piped"},
		{[]string{"-"}, "piped", "piped"},
		{[]string{"-"}, "", ""},
		{nil, " \n", ""},
		{[]string{" "}, "", ""},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), "input")
		if err := os.WriteFile(path, []byte(tt.input), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadPrompt(t.Context(), tt.args, f, func(string) {})
		f.Close()
		_, usage := errors.AsType[*term.UsageError](err)
		if got != tt.want || usage != (tt.want == "") {
			t.Errorf("ReadPrompt(%q) with %q = %q, %v, want %q", tt.args, tt.input, got, err, tt.want)
		}
	}
}

// A device is not read if there is a prompt.
func TestReadPromptDevice(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := ReadPrompt(t.Context(), []string{"a"}, f, func(string) {}); got != "a" || err != nil {
		t.Errorf("readPrompt = %q, %v", got, err)
	}
}
