package history

import (
	"fmt"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/markdown"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
	"github.com/spf13/cobra"
)

func homeDir() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

// showFlags select how much of a conversation is shown.
type showFlags struct {
	last     int
	system   bool
	thinking bool
	full     bool
}

func (f *showFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.system, "system", false, "also the CLI's own notes: compactions, slash commands, errors of the API")
	fs.BoolVar(&f.thinking, "thinking", false, "also what the model thought")
	fs.BoolVar(&f.full, "full", false, "the whole output of tools")
}

func newSessionsShow(code *int) *cobra.Command {
	f := &showFlags{}
	return sessionCommand{
		use: "show ID [flags]", short: "Show the conversation of a session", long: sessionsShowLong, example: sessionsShowExample,
		args: term.Arguments(1, 1), ids: 1, codex: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVarP(&f.last, "last", "n", 0, "only the last so many messages; no more of the file is read than it takes")
			f.register(cmd)
		},
		run: func(w *sessionWork, args []string) error {
			s, err := w.session(args[0])
			if id, ok := isCodex(err); ok {
				return f.showThread(w, id)
			}
			if err != nil {
				return err
			}
			messages, err := f.read(w, s)
			if err != nil {
				return err
			}
			if w.json {
				if messages == nil {
					messages = []*transcript.Message{}
				}
				return w.writeJSON(messages)
			}
			for _, j := range transcript.Join(messages) {
				f.message(w, j)
			}
			return nil
		},
	}.command(code)
}

func (f *showFlags) read(w *sessionWork, s *transcript.Session) ([]*transcript.Message, error) {
	if f.last < 0 {
		return nil, term.Usagef("--last %d: it cannot be negative", f.last)
	}
	if f.last == 0 {
		return s.Conversation(w.ctx, &transcript.ConversationOptions{System: f.system})
	}
	page, err := s.Page(w.ctx, transcript.PageQuery{Limit: f.last, System: f.system})
	if err != nil {
		return nil, err
	}
	return page.Messages, nil
}

// message writes a message: who and when, text as it was meant, tools in a line or
// two. Results of tools have no heading.
func (f *showFlags) message(w *sessionWork, j *transcript.Joined) {
	out := w.con.Out
	headed := false
	head := func() {
		if !headed {
			w.paragraph()
			out.Line(out.Paint(term.Bold, "● "+roleName(j.Message)) + out.Paint(term.Dim, "  "+timeText(j.Time())))
			headed = true
		}
	}
	for _, b := range j.Blocks() {
		switch b := b.(type) {
		case *message.Text:
			if strings.TrimSpace(b.Text) != "" {
				head()
				f.text(w, b.Text)
			}
		case *message.Thinking:
			if f.thinking && b.Thinking != "" {
				head()
				f.text(w, "> "+strings.ReplaceAll(b.Thinking, "\n", "\n> "))
			}
		case *message.ToolUse:
			head()
			out.Line(out.Paint(term.Yellow, "▸ "+term.OneLine(b.Name)) + " " + term.Shorten(term.OneLine(toolLine(b.Input)), max(20, out.Width-8)))
		case *message.ToolResult:
			f.result(w, b)
		case *message.RedactedThinking:
		default:
			head()
			out.Line(out.Paint(term.Dim, fmt.Sprintf("[%T]", b)))
		}
	}
}

func roleName(m *transcript.Message) string {
	switch {
	case m.IsCompactSummary:
		return "summary"
	case m.Type == "system":
		if e, ok := m.Entry.(*transcript.SystemEntry); ok {
			return "system " + term.OneLine(e.Subtype)
		}
	}
	return m.Type
}

// text writes Markdown.
func (f *showFlags) text(w *sessionWork, text string) {
	out := w.con.Out
	if out.TTY {
		text = markdown.Render(text, markdown.Style{Columns: out.Width, Color: out.Color})
	}
	out.Line(strings.TrimRight(text, "\n"))
}

// toolLine is what a call is about.
func toolLine(input message.JSON) string {
	var m map[string]any
	if input.Decode(&m) != nil {
		return string(input)
	}
	for _, name := range []string{"command", "file_path", "pattern", "path", "url", "query", "description", "prompt"} {
		if s, ok := m[name].(string); ok && s != "" {
			return s
		}
	}
	return string(input)
}

// shownLines is how much of a tool's output is shown.
const shownLines = 3

func (f *showFlags) result(w *sessionWork, b *message.ToolResult) {
	f.output(w, b.Content.String(), b.IsError)
}

// output writes the beginning of what a tool gave, or with --full all of it.
func (f *showFlags) output(w *sessionWork, text string, failed bool) {
	out := w.con.Out
	lines := strings.Split(strings.TrimRight(out.Show(text), "\n"), "\n")
	rest := 0
	if !f.full && len(lines) > shownLines {
		rest = len(lines) - shownLines
		lines = lines[:shownLines]
	}
	mark := term.Dim
	if failed {
		mark = term.Red
	}
	for _, line := range lines {
		if out.TTY && !f.full {
			line = term.Shorten(line, max(20, out.Width-4))
		}
		out.Line("  " + out.Paint(mark, line))
	}
	if rest > 0 {
		out.Line(out.Paint(term.Dim, fmt.Sprintf("  … %d more lines", rest)))
	}
}
