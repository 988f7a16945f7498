package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/guide"
)

// guideRun describes a run of a page's program: the model's replies, and the expected output.
type guideRun struct {
	replies []claudetest.Reply
	want    []string
	queues  bool // prompts are queued, and the CLI may merge two of them into one turn with one reply
}

// answer returns a reply to a request with these words in its last prompt.
func answer(prompt, text string) claudetest.Reply {
	return claudetest.Say(text).When(claudetest.Match{LastIncludes: prompt})
}

func sayAll(texts ...string) (replies []claudetest.Reply) {
	for _, text := range texts {
		replies = append(replies, claudetest.Say(text))
	}
	return replies
}

var shell = func(command string) claudetest.Reply {
	return claudetest.Use("Bash", map[string]any{"command": command, "description": "a command"})
}

// guideRuns has every page with a program. The test fails for a page with a program that is missing
// here.
var guideRuns = map[string]guideRun{
	"readme": {sayAll("It is 4."), []string{"It is 4.", "1 turns, $0.0001"}, false},
	"conversations": {
		append(sayAll("4", "Oslo"), claudetest.Use("StructuredOutput", map[string]any{"files": 3}), answer("Count to three.", "1 2 3"), answer("And backwards.", "3 2 1")),
		[]string{"4 for ", "Oslo\n1 turns", "3 files", "1 2 3\n"}, true,
	},
	"start": {sayAll("One file."), []string{"One file.\n1 turns, $0.0001"}, false},
	"messages": {[]claudetest.Reply{
		shell("echo hello"), claudetest.Say("It is printed."), claudetest.Say("No joke."),
		answer("Describe this picture", "A red pixel."),
		claudetest.Use("Agent", map[string]any{"description": "review", "prompt": "READ IT", "subagent_type": "reviewer", "run_in_background": false}),
		answer("READ IT", "No mistakes."), claudetest.Say("It is sound."),
		{Blocks: []claudetest.Block{claudetest.Text("Waiting.")}, Hold: claudetest.HoldMid},
	}, []string{
		"runs: echo hello\nprinted: hello\n", "text: It is printed.\nNo joke.\nA red pixel.\n", "reviewer: No mistakes.\n", "main: It is sound.\n", "interrupted, 0 prompts wait",
	}, false},
	"permissions": {[]claudetest.Reply{
		shell("rm old"), shell("touch new"), shell("cat .env"),
		claudetest.Use("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
			"question": "Which one?", "header": "Pick", "multiSelect": false,
			"options": []any{map[string]any{"label": "A", "description": "first"}, map[string]any{"label": "B", "description": "second"}},
		}}}),
		claudetest.Say("Clean."),
	}, []string{"Clean.", "denied: Bash"}, false},
	"hooks":               {[]claudetest.Reply{shell("rm -r build"), claudetest.Say("Done.")}, []string{"ran Bash", "would run: rm -r build", "Done."}, false},
	"tools":               {[]claudetest.Reply{claudetest.Use("mcp__meteo__weather", map[string]any{"name": "Oslo"}), claudetest.Say("It is cold.")}, []string{"It is cold."}, false},
	"sessions":            {sayAll("Heron it is."), []string{"claude --resume", "found: ", "2 messages", "Heron it is.", "1 answers"}, false},
	"stores":              {sayAll("Noted.", "heron"), []string{"heron\n"}, false},
	"production":          {sayAll("one", "two", "three", "four"), []string{"one\n", "two 1 in use", "0 places held"}, false},
	"tracing":             {sayAll("Hi."), []string{"first token after", "the turn cost $0.0001"}, false},
	"screens":             {sayAll("Hello there."), []string{"Hello there.\n", "true bytes for a browser", "user: Say hello. (complete)", "assistant: Hello there. (complete)"}, false},
	"server":              {sayAll("Hello from the agent."), []string{"user Say hello.", "assistant Hello from the agent."}, false},
	"anyagent":            {sayAll("Go."), []string{"claude: Go.\n"}, false},
	"codex":               {nil, []string{"PASS"}, false},
	"testing":             {nil, []string{"PASS"}, false},
	"security":            {[]claudetest.Reply{shell("cat .env"), claudetest.Say("It is empty.")}, []string{"It is empty."}, false},
	"troubleshooting":     {sayAll("Hi."), []string{"Hi."}, false},
	"migratingfrompython": {sayAll("4", "Hello."), []string{"4\n", "system/init\n", "assistant\n", "result\n"}, false},
	"migratingfromtypescript": {append(sayAll("4"), answer("First question.", "one!"), answer("Second question.", "two!"),
		claudetest.Use("mcp__calc__add", map[string]any{"A": 1, "B": 2}).When(claudetest.Match{LastIncludes: "Add 1 and 2."}), claudetest.Say("3")),
		[]string{"4\n", "one!\n"}, true},
}

// Every Go snippet of the README and of docs compiles, and the programs of the pages run unchanged,
// with a claude on PATH.
func TestGuides(t *testing.T) {
	t.Parallel()
	cli := e2e.CLI(t)
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	pages := assembled(t, root)
	bin := filepath.Join(t.TempDir(), "guides")
	runnable, err := buildPages(root, bin, pages)
	if err != nil {
		t.Fatal(err)
	}
	if len(runnable) < 10 {
		t.Errorf("only %d pages have a program: %v", len(runnable), runnable)
	}
	for _, name := range runnable {
		run, ok := guideRuns[name]
		if !ok {
			t.Errorf("the page %s has a program and no row in guideRuns", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runGuide(t, []string{bin, name}, cli, run)
		})
	}
}

// assembled returns the Go code of every page, by its name.
func assembled(t *testing.T, root string) map[string]*assembly {
	t.Helper()
	names, err := guide.Pages(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]*assembly{}
	for _, page := range names {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		name := guide.Name(page)
		a, err := assemble(name, guide.Snippets(page, string(text)))
		if err != nil {
			t.Error(err)
			continue
		}
		if len(a.Files) > 0 {
			pages[name] = a
		}
	}
	return pages
}

// runGuide runs the program of a page with a claude on PATH, and checks its output.
func runGuide(t *testing.T, argv []string, cli string, run guideRun) {
	t.Helper()
	api := claudetest.StartFakeAPI(t, claudetest.Replies(run.replies...))
	env, err := claudetest.HermeticEnv(t.TempDir(), api.URL())
	if err != nil {
		t.Fatal(err)
	}
	path, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(cli, filepath.Join(path, "claude")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(env, "PARLEY_CLI="+cli, "PATH="+path+":/usr/bin:/bin", "GOCOVERDIR="+t.TempDir())
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%v", err)
	}
	for _, want := range run.want {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("%q was not printed", want)
		}
	}
	if left := api.Unused(); left > 0 && (!run.queues || left > 1) {
		t.Errorf("%d replies were not asked for", left)
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", stdout.String(), stderr.String())
	}
}

// twoPieces is a page with a program in two pieces.
const twoPieces = "# A page\n\n```go\npackage main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(word()) }\n```\n\nText.\n\n```go\nfunc word() string { return strings.ToUpper(\"x\") }\n```\n\n```sh norun: it serves\nparley serve\n```\n"

func TestAssemble(t *testing.T) {
	a, err := assemble("a", guide.Snippets("docs/guide/a.md", twoPieces))
	if err != nil {
		t.Fatal(err)
	}
	if !a.HasMain || len(a.Files) != 2 {
		t.Errorf("%+v; want a.HasMain and len(a.Files) == 2", a)
	}
	text := a.Files["page.go"]
	for _, want := range []string{"package a\nimport \"fmt\"\nimport \"strings\"\n", "//line docs/guide/a.md:6\n\n\nfunc main", "//line docs/guide/a.md:13\n\nfunc word"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	_, err = assemble("a", guide.Snippets("docs/guide/a.md", "```go\nx := 1\n```\n"))
	if err == nil || !strings.Contains(err.Error(), "docs/guide/a.md") {
		t.Errorf("statements are a piece of a file: %v", err)
	}
}
