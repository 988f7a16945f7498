package manual

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/markdown"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/docs"
)

// ShowHelp writes the help of a command, or a topic.
func ShowHelp(cmd *cobra.Command, args []string) error {
	found, rest, err := cmd.Root().Find(args)
	if err == nil && len(rest) == 0 {
		found.InitDefaultHelpFlag()
		return found.Help()
	}
	topics, err := docs.Topics()
	if err != nil {
		return err
	}
	if len(args) == 1 {
		if args[0] == "topics" {
			return writeTopics(cmd.OutOrStdout(), topics)
		}
		for _, t := range topics {
			if t.Name == args[0] {
				return writeTopic(term.NewConsole(term.WantColor(false, os.Getenv)).Out, t)
			}
		}
	}
	best := ""
	if len(args) == 1 {
		if best = term.Nearest(args[0], Words(cmd.Root(), nil)); best != "" {
			best = "; did you mean " + best + "?"
		}
	}
	return &term.UsageError{Text: fmt.Sprintf("unknown command or topic %q%s \"parley help topics\" lists the topics", strings.Join(args, " "), orStop(best)), Plain: true}
}

// orStop returns the suggestion, or a full stop without one.
func orStop(suggestion string) string {
	if suggestion == "" {
		return "."
	}
	return suggestion
}

// Words returns the possible words of help after args.
func Words(root *cobra.Command, args []string) (words []string) {
	cmd, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return nil
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			words = append(words, c.Name())
		}
	}
	if len(args) > 0 {
		return words
	}
	topics, err := docs.Topics()
	if err != nil {
		return words
	}
	for _, t := range topics {
		words = append(words, t.Name)
	}
	return append(words, "topics")
}

func writeTopics(w io.Writer, topics []docs.Topic) error {
	for _, t := range topics {
		if _, err := fmt.Fprintf(w, "%-26s %s\n", t.Name, t.Title); err != nil {
			return err
		}
	}
	return nil
}

// writeTopic writes a guide, rendered for the terminal of the output.
func writeTopic(p *term.Pen, t docs.Topic) error {
	p.Print(markdown.Render(t.Text, markdown.Style{Columns: p.Width, Color: p.Color}))
	return p.Err
}

// WritePages writes the manual pages of all commands and topics into a directory.
func WritePages(root *cobra.Command, dir string) error {
	topics, err := docs.Topics()
	if err != nil {
		return err
	}
	for _, c := range Commands(root) {
		if err := write(dir, PageName(c)+".1", Roff(c)); err != nil {
			return err
		}
	}
	for _, t := range topics {
		if err := write(dir, TopicName(t)+".7", TopicRoff(t)); err != nil {
			return err
		}
	}
	return nil
}

// WriteMarkdown writes the reference of all commands into a directory.
func WriteMarkdown(root *cobra.Command, dir string) error {
	return write(dir, "commands.md", Markdown(root))
}

func write(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}
