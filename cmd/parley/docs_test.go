//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/manual"
	"github.com/seed7221b0f9/parley/internal/test/guide"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// The reference has every command and every flag, and is current.
func TestReference(t *testing.T) {
	var code int
	root := newRoot(&code)
	root.InitDefaultCompletionCmd()
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, cmd := range manual.Commands(root) {
		_, section, found := strings.Cut(string(got), "\n## "+cmd.CommandPath()+"\n")
		if !found {
			t.Errorf("docs/reference/commands.md has no %s", cmd.CommandPath())
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, f := range manual.Flags(cmd) {
			flags++
			if !strings.Contains(section, "`--"+f.Name) {
				t.Errorf("docs/reference/commands.md has no --%s of %s", f.Name, cmd.CommandPath())
			}
		}
	}
	if flags < 100 {
		t.Errorf("only %d flags were looked for", flags)
	}
	if diff := cmp.Diff(strings.Split(manual.Markdown(root), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("docs/reference/commands.md is old: run go generate ./cmd/parley\n%s", diff)
	}
}

// notRun maps snippets that are not run here to the reason; other tests require their exact text.
// Other snippets that are not run have the reason after their fence.
var notRun = map[string]string{
	"README.md: make run": "make run serves until it is stopped, and make test runs this test",
}

// Every shell line of the README and of docs runs, unless its fence has a reason why not: without a
// network, without a CLI, in a temporary home with recorded sessions.
func TestShellSnippets(t *testing.T) {
	short.SkipLong(t, "runs the snippets of the documentation")
	root := os.DirFS(filepath.Join("..", ".."))
	pages, err := guide.Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, scripts := t.TempDir(), 0
	for i := 0; i < len(pages); i += short.Every(3) {
		page := pages[i]
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		script := shellScript(t, page, string(text))
		if script == "" {
			continue
		}
		scripts++
		if _, err := exec.LookPath("curl"); err != nil && strings.Contains(script, "curl ") {
			t.Logf("%s is not run: %v", page, err)
			continue
		}
		file := fmt.Sprintf("exec sh -eu page.sh\n-- page.sh --\nset -x\n%s", script)
		if err := os.WriteFile(filepath.Join(dir, guide.Name(page)+".txtar"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if scripts < short.Count(1, 4, 4) {
		t.Fatalf("only %d pages have commands to run", scripts)
	}
	recorded, err := filepath.Abs(filepath.Join("..", "..", "testdata", "transcripts", "nested", "projects"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: dir, Cmds: commands, Setup: func(env *testscript.Env) error {
		if err := setup(env, ""); err != nil {
			return err
		}
		return os.CopyFS(filepath.Join(env.WorkDir, "home", ".claude", "projects"), os.DirFS(recorded))
	}})
}

// exampleSession is the session id in pages, recordedSession the existing one.
const exampleSession, recordedSession = "4f1c", "028132b0"

// exampleAddress is the server address in pages; the test's server has another port.
const exampleAddress = "http://127.0.0.1:7717"

// startServer is a script that starts a server with the simulated agent, waits until it has printed
// its address, and ends it when the script ends.
const startServer = `parley serve --agent sim --listen 127.0.0.1:0 > serve.log 2>&1 &
server=$!
trap 'kill $server; wait $server || true' EXIT
until grep -q 'export PARLEY_TOKEN' serve.log; do kill -0 $server || { cat serve.log; exit 1; }; sleep 0.1; done
address=$(sed -n 's|^Parley serves on \(http://[^ ]*\)\. .*|\1|p' serve.log)
$(grep -o 'export PARLEY_TOKEN=.*' serve.log)
`

// shellScript returns the commands of a page to run.
func shellScript(t *testing.T, page, text string) (script string) {
	t.Helper()
	serves := false
	for _, s := range guide.Snippets(page, text) {
		switch why, norun := s.NoRun(); {
		case s.Lang() == "bash" || s.Lang() == "shell" || s.Lang() == "console":
			t.Errorf("%s:%d: use sh for shell lines, so that they are run", page, s.Line)
		case s.Lang() != "sh":
		case norun && why == "":
			t.Errorf("%s:%d: norun without a reason", page, s.Line)
		case norun:
			t.Logf("%s:%d is not run: %s", page, s.Line, why)
		default:
			first := page + ": " + strings.Join(strings.Fields(s.Text)[:2], " ")
			if why := notRun[first]; why != "" {
				t.Logf("%s:%d is not run: %s", page, s.Line, why)
				continue
			}
			if s.Server() && !serves {
				serves = true
				script += startServer
			}
			script += strings.ReplaceAll(strings.ReplaceAll(s.Text, exampleSession, recordedSession), exampleAddress, "$address")
		}
	}
	return script
}
