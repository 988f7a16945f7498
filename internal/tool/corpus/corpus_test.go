package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/checkout"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
)

// TestRun checks three scenarios: an intact one, one with a changed byte in an expected file, and
// an empty folder. Each kind links and runs the tests of other packages, so only make soak runs all
// kinds; the packages test their own checks.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the tests of other packages")
	}
	soak := os.Getenv("PARLEY_SOAK") != ""
	t.Chdir(checkout.Root())
	for kind, c := range map[string]struct{ from, file, old, changed string }{
		"decode":      {"wire/simple-string", "sdk.jsonl", "Hello from fake", "Hello from faKe"},
		"wire":        {"wire/simple-string", "sdk.jsonl", "Hello from fake", "Hello from faKe"},
		"live":        {"wire/simple-string", "sdk.jsonl", "Hello from fake", "Hello from faKe"},
		"fold":        {"wire/simple-string", "sdk.jsonl", "Hello from fake", "Hello from faKe"},
		"transcripts": {"transcripts/plain", "expected.eb6447b8-582d-4984-84b6-560811d102df.messages.json", "assistant", "Assistant"},
		"acp":         {"acp/text", "timeline.jsonl", "Hello th", "Hello Th"},
		"acp-agents":  {"acp-agents/codex-acp-edit_permission", "meta.json", `"difference": "TWO"`, `"difference": "tWO"`},
		"acp-remote":  {"acp-remote/http-prompt", "exchange.jsonl", `"status":202`, `"status":200`},
		"codex":       {"codex/0.144.6/text_stream", "server.jsonl", "Hello, w", "hello, w"},
	} {
		t.Run(kind, func(t *testing.T) {
			if kind != "transcripts" && kind != "decode" && !soak {
				t.Skip("make soak runs this kind")
			}
			if kind == "live" || kind == "acp" {
				e2e.CLI(t)
			}
			dir := t.TempDir()
			whole, changed := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			for _, to := range []string{whole, changed} {
				if err := os.CopyFS(to, os.DirFS(filepath.Join("testdata", c.from))); err != nil {
					t.Fatal(err)
				}
			}
			change(t, filepath.Join(changed, c.file), c.old, c.changed)
			for _, name := range []string{"c", "servers"} {
				if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "servers", "mcp.mjs"), nil, 0o600); err != nil {
				t.Fatal(err) // programs that recordings name are not scenarios
			}
			var out, progress bytes.Buffer
			ok, err := run(t.Context(), kind, dir, &out, &progress)
			lines := strings.Split(out.String(), "\n")
			if err != nil || ok || len(lines) != 5 || lines[0] != "ok a" || !strings.HasPrefix(lines[1], "FAIL b: ") ||
				!strings.HasPrefix(lines[2], "FAIL c: ") || lines[3] != "1 of 3" {
				t.Errorf("%v %v\n%s\n%s; want err == nil and not ok and len(lines) == 5 and lines[0] == \"ok a\" and strings.HasPrefix(lines[1], \"FAIL b: \") and strings.HasPrefix(lines[2], \"FAIL c: \") and lines[3] == \"1 of 3\"", ok, err, out.String(), progress.String())
			}
			t.Log(out.String())
		})
	}
}

// TestKinds finds the test of every check in its package.
func TestKinds(t *testing.T) {
	for kind, checks := range kinds {
		for _, c := range checks {
			files, err := filepath.Glob(filepath.Join(checkout.Root(), c.pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(files, func(name string) bool {
				text, err := os.ReadFile(name)
				return err == nil && bytes.Contains(text, []byte("func "+c.test+"(t *testing.T)"))
			}) {
				t.Errorf("%s: %s has no %s", kind, c.pkg, c.test)
			}
		}
	}
}

// change replaces a text in a file, which may be compressed.
func change(t *testing.T, name, from, to string) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		f, err := os.Open(name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	changed := bytes.Replace(data, []byte(from), []byte(to), -1)
	if bytes.Equal(changed, data) {
		t.Fatalf("%s has no %q", name, from)
	}
	if err := os.WriteFile(name, changed, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRun_unknown checks that an unknown kind and a missing folder are errors.
func TestRun_unknown(t *testing.T) {
	for _, c := range [][2]string{{"none", t.TempDir()}, {"decode", ""}, {"decode", filepath.Join(t.TempDir(), "none")}, {"decode", t.TempDir()}} {
		if ok, err := run(t.Context(), c[0], c[1], io.Discard, io.Discard); ok || err == nil {
			t.Errorf("%q: %v %v; want not ok and err != nil", c, ok, err)
		}
	}
}
