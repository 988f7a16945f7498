package sim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/seed7221b0f9/parley/claude/message"
)

// tour is the scripted reaction to a prompt. Its error is an interrupt, or the failure
// that the tour demonstrates.
type tour func(t *turn) error

// tours are selected by a word in the prompt; the first match counts.
var tours = []struct {
	words []string
	about string
	run   tour
}{
	{[]string{"wait"}, "says something and then waits until it is interrupted", waitTour},
	{[]string{"fail"}, "ends with an error, as a turn does when the API is overloaded", failTour},
	{[]string{"error"}, "uses a tool that fails, and finds another way", errorTour},
	{[]string{"bash"}, "asks for permission to run a command", bashTour},
	{[]string{"edit"}, "asks for permission to change a file", editTour},
	{[]string{"tools", "tool"}, "writes, reads and edits a file and runs a command", toolsTour},
	{[]string{"question"}, "asks two questions", questionTour},
	{[]string{"plan"}, "shows a plan", planTour},
	{[]string{"ask"}, "asks two questions and shows a plan", askTour},
	{[]string{"markdown", "table"}, "shows what Markdown looks like", markdownTour},
	{[]string{"think"}, "thinks before it answers", thinkTour},
	{[]string{"long"}, "talks for a while; a good time to interrupt it", longTour},
}

// tourFor returns the tour for a prompt.
func tourFor(prompt string) tour {
	if strings.EqualFold(strings.TrimSpace(prompt), "say hello") {
		return helloTour
	}
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return r < 'a' || r > 'z' })
	for _, tour := range tours {
		for _, w := range words {
			for _, own := range tour.words {
				if w == own {
					return tour.run
				}
			}
		}
	}
	return generalTour
}

const hello = "*" + Disclosure + "*\n\n"

// steps runs one step after another until one fails.
func steps(list ...func() error) error {
	for _, step := range list {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) sayStep(text string) func() error { return func() error { return t.say(text) } }

func (t *turn) useStep(text string, c call) func() error {
	return func() error { return t.use(text, c) }
}

func generalTour(t *turn) error {
	return steps(
		func() error {
			return t.think("The user wrote something. I have no model to understand it with, so I show what an agent does.",
				hello+"You wrote:\n\n"+quoted(t.text)+"\n\nI cannot answer that. Here is what it looks like when an agent works.")
		},
		t.useStep("First I write a file in "+t.dirName()+".", t.write("notes.md", "# Notes\n\n- draft\n")),
		t.useStep("", t.read("notes.md")),
		t.useStep("Sometimes a tool fails:", t.read("missing.md")),
		t.useStep("Then I try something else, for which I ask.", t.list().asking()),
		t.useStep("", t.edit("notes.md", "draft", "done")),
		t.sayStep("## What you have seen\n\n- text that comes in small pieces\n- thinking, shown dimmed\n- "+
			"five tool calls, **one of which failed**, and one that asked\n\n"+tourTable()+"\n\nWith the `claude` CLI installed the same program talks to a real agent:\n\n"+
			"```sh\nparley doctor\nparley chat --agent claude\n```"),
	)
}

func toolsTour(t *turn) error {
	t.own = true
	return steps(
		t.useStep(hello+"I write a file, look at it, change it, and list the directory.", t.write("hello.txt", "Hello, world.\n")),
		t.useStep("", t.read("hello.txt")),
		t.useStep("", t.edit("hello.txt", "world", "Parley")),
		t.useStep("", t.list()),
		t.useStep("Now one that is not there:", t.read("missing.txt")),
		t.sayStep("`hello.txt` is there and says `Hello, Parley.`; `missing.txt` is not."),
	)
}

func helloTour(t *turn) error {
	return t.say(hello + "Hello! I cannot answer questions, but I can show what an agent does.\n\n" + tourTable())
}

func bashTour(t *turn) error {
	return steps(t.useStep(hello+"I list the files in "+t.dirName()+", if I may.", t.list().askingAlways()), t.sayStep("That was one command."))
}

func editTour(t *turn) error {
	return steps(
		t.useStep(hello+"I write a file in "+t.dirName()+".", t.write("notes.md", "# Notes\n\n- draft\n")),
		t.useStep("Now I change it, if I may.", t.edit("notes.md", "draft", "done").askingAlways()),
		t.sayStep("That was one change."),
	)
}

func errorTour(t *turn) error {
	t.own = true
	return steps(
		t.useStep(hello+"I read a file that does not exist.", t.read("config.json")),
		t.useStep("It is missing. I write one with defaults instead.", t.write("config.json", "{\"colour\": \"green\"}\n")),
		t.useStep("", t.read("config.json")),
		t.sayStep("**Recovered:** the first call failed, the file was written, and the same call worked."),
	)
}

func failTour(t *turn) error {
	if err := t.say(hello + "This turn fails on purpose: 529 Overloaded."); err != nil {
		return err
	}
	t.last = "API Error: 529 Overloaded. (This is simulated.)"
	return errFailed
}

func thinkTour(t *turn) error {
	return t.think("Let me think about that step by step.\n\nFirst, there is no model here, so every thought is a fixed text. "+
		"Second, it still arrives piece by piece, as it would from a model.\n\nThird, whoever watches can tell it from the answer, because it is dimmed.",
		hello+"I thought about it in three steps. The conclusion: thinking is shown, but it is not part of the answer.")
}

func markdownTour(t *turn) error {
	return t.say(hello + strings.Join([]string{
		"# Markdown", "A paragraph with **bold**, *italic*, `code`, ~~old~~ and a [link](https://example.com). Paragraphs are wrapped at the width of the terminal, " +
			"also where the text is 日本語や中文のように空白のない文章であっても、正しい幅で折り返されます。",
		"## Lists", "1. first\n2. second\n   - nested\n   - [x] with a box\n3. third", "## Code",
		"```go\nfunc main() {\n\tfmt.Println(\"Hello, 世界\")\n}\n```", "## A table",
		"| Width | Text | Note |\n|---:|:---|:---:|\n| 5 | hello | Latin |\n| 4 | 世界 | wide |\n| 2 | 🎉 | emoji |", "> A quote,\n> over two lines.", "---", "The end.",
	}, "\n\n"))
}

func longTour(t *turn) error {
	var b strings.Builder
	b.WriteString(hello + "I count to forty, slowly. Ctrl-C interrupts me.\n\n")
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&b, "Paragraph %d. This is one of forty paragraphs, and all of them say the same thing.\n\n", i)
	}
	return t.say(b.String() + "That was all.")
}

func waitTour(t *turn) error {
	if err := t.use(hello+"I look around, and then I wait until someone interrupts me.", t.list()); err != nil {
		return err
	}
	text := &message.Text{Text: "Waiting."}
	t.count([]message.ContentBlock{text})
	s := &stream{turn: t, id: t.answerID()}
	s.begin()
	if err := s.pieces(0, text); err != nil {
		return err
	}
	select {
	case <-t.ctx.Done():
		s.breakOff(0, text, text.Text)
		return errInterrupted
	case <-t.a.cli.InputEnd():
		s.finish(0, text)
		s.end("end_turn")
		t.last = text.Text
		return nil
	}
}

// quoted returns a shortened prompt as a quote.
func quoted(prompt string) string {
	const most = 300
	if utf8.RuneCountInString(prompt) > most {
		prompt = string([]rune(prompt)[:most]) + "…"
	}
	return "> " + strings.ReplaceAll(strings.TrimSpace(prompt), "\n", "\n> ")
}

func tourTable() string {
	var b strings.Builder
	b.WriteString("| Say | and I |\n|---|---|")
	for _, tour := range tours {
		fmt.Fprintf(&b, "\n| %s | %s |", tour.words[0], tour.about)
	}
	return b.String()
}

// path returns the path of a file that the tools use. In the agent's own directory it has the given
// name; in a user's directory it has a name that did not exist before the session.
func (t *turn) path(name string) string {
	if !t.project() {
		return filepath.Join(t.a.own, name)
	}
	if t.a.files[name] == "" {
		t.a.files[name] = unused(t.a.dir, "parley-demo-"+name)
	}
	return t.a.files[name]
}

// unused returns the path of a file that does not exist in dir, with a number after its name if needed.
func unused(dir, name string) string {
	path := filepath.Join(dir, name)
	ext := filepath.Ext(name)
	for i := 2; ; i++ {
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) || i > 1000 {
			return path
		}
		path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), i, ext))
	}
}

// project reports whether the tools of the turn use the user's directory, so that it asks before a change.
func (t *turn) project() bool { return !t.own && t.a.dir != t.a.own }

// dir returns the directory of the tools of the turn.
func (t *turn) dir() string {
	if t.own {
		return t.a.own
	}
	return t.a.dir
}

// dirName names the directory of the turn in a text.
func (t *turn) dirName() string {
	if t.project() {
		return "the project"
	}
	return "a directory of my own"
}

func (t *turn) write(name, content string) call {
	path := t.path(name)
	return call{name: "Write", input: map[string]any{"file_path": path, "content": content}, asks: t.project(), run: func(context.Context, string) (string, error) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return "", err
		}
		return "File created successfully at: " + path, nil
	}}
}

func (t *turn) read(name string) call {
	return call{name: "Read", input: map[string]any{"file_path": t.path(name)}, run: func(context.Context, string) (string, error) {
		data, err := os.ReadFile(t.path(name))
		if errors.Is(err, os.ErrNotExist) {
			return "", errors.New("File does not exist. Note: your current working directory is " + t.dir() + ".")
		}
		return string(data), err
	}}
}

func (t *turn) edit(name, old, replacement string) call {
	input := map[string]any{"file_path": t.path(name), "old_string": old, "new_string": replacement}
	return call{name: "Edit", input: input, run: func(context.Context, string) (string, error) {
		data, err := os.ReadFile(t.path(name))
		if err != nil {
			return "", err
		}
		err = os.WriteFile(t.path(name), []byte(strings.Replace(string(data), old, replacement, 1)), 0o600)
		return "The file " + t.path(name) + " has been updated successfully.", err
	}}
}

// list runs a real command in the agent's directory.
func (t *turn) list() call {
	args := []string{"ls", "-1"}
	if runtime.GOOS == "windows" {
		args = []string{"cmd", "/c", "dir", "/b"}
	}
	input := map[string]any{"command": strings.Join(args, " "), "description": "List the files"}
	return call{name: "Bash", input: input, run: func(ctx context.Context, _ string) (string, error) {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = t.dir()
		out, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%w\n%s", err, out)
		}
		return strings.TrimSpace(string(out)), nil
	}}
}
