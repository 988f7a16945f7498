package history

import (
	"fmt"
	"os"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/markdown"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/spf13/cobra"
)

func homeDir() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

// showFlags select the shown parts of a conversation.
type showFlags struct {
	last     int
	system   bool
	thinking bool
	full     bool
}

func (f *showFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.system, "system", false, "include the CLI's notes: compactions, slash commands, errors of the API")
	fs.BoolVar(&f.thinking, "thinking", false, "include the model's thinking")
	fs.BoolVar(&f.full, "full", false, "show the whole output of tools")
}

func newSessionsShow(code *int) *cobra.Command {
	f := &showFlags{}
	return sessionCommand{
		use: "show ID [flags]", short: "Show the conversation of a session", long: sessionsShowLong, example: sessionsShowExample,
		args: term.Arguments(1, 1), ids: 1, codex: true, said: true,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVarP(&f.last, "last", "n", 0, "show only this number of messages from the end; only that part of the file is read")
			f.register(cmd)
		},
		run: func(w *sessionWork, args []string) error {
			if f.last < 0 {
				return term.Usagef("--last %d: it cannot be negative", f.last)
			}
			s, id, err := w.find(args[0])
			if err != nil {
				return err
			}
			text, err := s.Show(w.ctx, id, agent.HistoryShow{Last: f.last, System: f.system, Thinking: f.thinking, JSON: w.json})
			if err != nil {
				return err
			}
			if w.json {
				return w.con.Out.Encode(text.Wire, "  ")
			}
			group := 0
			for _, p := range text.Parts {
				f.part(w, &p, &group)
			}
			return nil
		},
	}.command(code)
}

// part writes a part of a message. It first writes a heading with author and time, unless group shows that the message
// has its heading. A result has no heading.
func (f *showFlags) part(w *sessionWork, p *agent.HistoryPart, group *int) {
	out := w.con.Out
	if p.Kind != agent.PartResult && p.Group != *group {
		*group = p.Group
		w.paragraph()
		out.Line(out.Paint(term.Bold, "● "+term.OneLine(p.By)) + out.Paint(term.Dim, "  "+timeText(p.Time)))
	}
	switch p.Kind {
	case agent.PartTool:
		out.Line(out.Paint(term.Yellow, "▸ "+term.OneLine(p.Name)) + " " + term.Shorten(term.OneLine(p.Text), max(20, out.Width-8)))
	case agent.PartResult:
		f.output(w, p.Text, p.Failed)
	case agent.PartBlock:
		out.Line(out.Paint(term.Dim, p.Text))
	default:
		f.text(w, p.Text)
	}
}

// text writes Markdown.
func (f *showFlags) text(w *sessionWork, text string) {
	out := w.con.Out
	if out.TTY {
		text = markdown.Render(text, markdown.Style{Columns: out.Width, Color: out.Color})
	}
	out.Line(strings.TrimRight(text, "\n"))
}

// shownLines is the number of shown lines of a tool's output.
const shownLines = 3

// output writes the beginning of a tool's output, or all of it with --full.
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
