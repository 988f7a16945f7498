package history

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
	"github.com/spf13/cobra"
)

func newSessionsTail(code *int) *cobra.Command {
	follow, last := false, 10
	return sessionCommand{
		use: "tail ID [flags]", short: "Show the last lines of a session, and new ones", long: sessionsTailLong, example: sessionsTailExample,
		args: term.Arguments(1, 1), ids: 1,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVarP(&follow, "follow", "f", false, "show new lines as they are written, until Ctrl-C")
			cmd.Flags().IntVarP(&last, "last", "n", 10, "the number of existing lines to show")
		},
		run: func(w *sessionWork, args []string) error {
			if last < 0 {
				return term.Usagef("--last %d: it cannot be negative", last)
			}
			s, err := w.session(args[0])
			if err != nil {
				return err
			}
			return w.tail(s, last, follow)
		},
	}.command(code)
}

// tail shows the last entries with visible content, then new ones.
func (w *sessionWork) tail(s *transcript.Session, last int, follow bool) error {
	var kept []transcript.Entry
	end := int64(0)
	for e, err := range s.Entries(w.ctx) {
		bad, isBad := errors.AsType[*transcript.LineError](err)
		switch {
		case isBad && bad.Torn:
			continue // it may be incomplete; following shows it when it is complete
		case isBad:
			end = bad.Offset + int64(bad.Size) + 1
			continue
		case err != nil:
			return err
		}
		end = e.Position().Offset + int64(e.Position().Size) + 1
		if w.json || entryText(e) != "" {
			kept = append(kept, e)
		}
		if len(kept) > last {
			kept = kept[1:]
		}
	}
	for _, e := range kept {
		if err := w.entry(e); err != nil {
			return err
		}
	}
	if !follow {
		return nil
	}
	for e, err := range s.Follow(w.ctx, &transcript.FollowOptions{From: end}) {
		if bad, ok := errors.AsType[*transcript.LineError](err); ok {
			w.con.Note(bad.Error())
			continue
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err == nil {
			err = w.entry(e)
		}
		if err != nil || w.con.Out.Err != nil {
			return err
		}
	}
	return nil
}

// entry writes an entry: its line as JSON, or a one-line summary.
func (w *sessionWork) entry(e transcript.Entry) error {
	out := w.con.Out
	if w.json {
		out.JSON([]byte(string(e.Raw()) + "\n"))
		return nil
	}
	text := entryText(e)
	if text == "" {
		return nil
	}
	when := ""
	if l := transcript.LinkOf(e); l != nil {
		when = l.Time().Local().Format("15:04:05")
	}
	head := fmt.Sprintf("%-8s %-10s ", when, e.Kind())
	text = term.OneLine(text)
	if out.TTY {
		text = term.Shorten(text, max(20, out.Width-term.Width(head)))
	}
	out.Line(out.Paint(term.Dim, head) + text)
	return nil
}

// entryText returns a one-line summary of an entry, or "" for one without visible
// content.
func entryText(e transcript.Entry) string {
	switch e := e.(type) {
	case *transcript.UserEntry:
		if e.IsMeta {
			return ""
		}
		return contentText(e.Message.Content)
	case *transcript.AssistantEntry:
		return contentText(e.Message.Content)
	case *transcript.SystemEntry:
		return strings.TrimSpace(e.Subtype + " " + e.Text())
	case *transcript.CustomTitleEntry:
		return "title: " + e.CustomTitle
	case *transcript.TagEntry:
		return "tag: " + e.Tag
	}
	return ""
}

func contentText(c message.Content) string {
	if c.IsText() {
		return c.String()
	}
	var parts []string
	for _, b := range c.Blocks() {
		switch b := b.(type) {
		case *message.Text:
			parts = append(parts, b.Text)
		case *message.Thinking:
			parts = append(parts, "(thinking) "+b.Thinking)
		case *message.ToolUse:
			parts = append(parts, "▸ "+b.Name+" "+claudeagent.ToolLine(b.Input))
		case *message.ToolResult:
			mark := "✓ "
			if b.IsError {
				mark = "✗ "
			}
			parts = append(parts, mark+b.Content.String())
		case *message.Image:
			parts = append(parts, "(an image)")
		}
	}
	return strings.Join(parts, " ")
}
