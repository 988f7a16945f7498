package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fault in a file for one system, in a test for it, or in a package that is missing there is found for that system
// alone. Faults of the standard library are not looked for.
func TestCheckSystem(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text string
		system     string
		want       string // "" means no fault
	}{
		"nothing":        {"fine.go", "package m\nimport \"unsafe\"\nvar _ = unsafe.Sizeof(0)", "windows", ""},
		"a type":         {"a_windows.go", "package m\nvar x int = \"\"", "windows", "a_windows.go:2"},
		"another system": {"a_windows.go", "package m\nvar x int = \"\"", "darwin", ""},
		"a body":         {"a_darwin.go", "package m\nfunc f() { undefined() }", "darwin", "undefined: undefined"},
		"a test":         {"a_windows_test.go", "package m\nvar _ = missing", "windows", "undefined: missing"},
		"an outer test":  {"a_test.go", "package m_test\nimport \"example.com/m\"\nvar _ = m.Missing", "darwin", "undefined: m.Missing"},
		"a syntax error": {"a_windows.go", "package m\nfunc {", "windows", "a_windows.go:2"},
		"an import":      {"a_windows.go", "package m\nimport _ \"example.com/m/none\"", "windows", "example.com/m/none"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"go.mod": "module example.com/m\n\ngo 1.26\n", "m.go": "package m\n", tt.file: tt.text + "\n"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out bytes.Buffer
			err := checkSystem(t.Context(), dir, tt.system, &out)
			if (err == errFaults) != (tt.want != "") || err != nil && err != errFaults || !strings.Contains(out.String(), tt.want) {
				t.Errorf("%v: %s", err, out.String())
			}
		})
	}
}

func TestRunWantsASystem(t *testing.T) {
	var out, problems bytes.Buffer
	if code := run(t.Context(), nil, &out, &problems); code != 2 || !strings.Contains(problems.String(), "usage") {
		t.Errorf("%d: %s", code, problems.String())
	}
}
