package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/manual"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/docs"
)

//go:generate go run . man --format markdown ../../docs/reference

const helpLong = `Help shows the help of a command, or a topic: a guide in short.

"parley help topics" lists the topics. The guides are in docs/guide of the source.`

// newHelp returns the command that shows the help of commands and topics.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [command or topic]", Short: "Help about a command or a topic", Long: helpLong,
		Example: "  parley help run\n  parley help topics\n  parley help permissions",
		RunE:    func(cmd *cobra.Command, args []string) error { return showHelp(cmd, args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return helpWords(cmd.Root(), args), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func showHelp(cmd *cobra.Command, args []string) error {
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
				return writeTopic(cmd.OutOrStdout(), t)
			}
		}
	}
	best := ""
	if len(args) == 1 {
		if best = term.Nearest(args[0], helpWords(cmd.Root(), nil)); best != "" {
			best = "; is " + best + " meant?"
		}
	}
	return &term.UsageError{Text: fmt.Sprintf("there is neither a command nor a topic %q%s \"parley help topics\" lists the topics", strings.Join(args, " "), orStop(best)), Plain: true}
}

// orStop ends a sentence that has no suggestion.
func orStop(suggestion string) string {
	if suggestion == "" {
		return "."
	}
	return suggestion
}

// helpWords are the words that help takes after the ones that are there.
func helpWords(root *cobra.Command, args []string) (words []string) {
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

// topicWidth is how long the lines of a topic are.
const topicWidth = 88

func writeTopic(w io.Writer, t docs.Topic) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", t.Title, wrap(t.Summary, "", topicWidth))
	for point := range strings.Lines(t.Short) {
		fmt.Fprintf(&b, "\n%s\n", wrap(strings.TrimSuffix(point, "\n"), "  ", topicWidth))
	}
	fmt.Fprintf(&b, "\nThe whole guide is docs/%s in the source.\n", t.Page)
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap breaks a text into lines of at most width characters, where its words allow it. All lines
// have the indent, and the first of an indented text a mark.
func wrap(text, indent string, width int) string {
	var b strings.Builder
	column := 0
	if indent != "" {
		b.WriteString("- ")
		column = len(indent)
	}
	for i, word := range strings.Fields(text) {
		switch n := len([]rune(word)); {
		case i > 0 && column+1+n > width:
			b.WriteString("\n" + indent + word)
			column = len(indent) + n
		case i > 0:
			b.WriteString(" " + word)
			column += 1 + n
		default:
			b.WriteString(word)
			column += n
		}
	}
	return b.String()
}

const manLong = `Man writes the manual pages of all commands (section 1) and topics (section 7) into a
directory that exists, for packages: a page for each, named parley-run.1 or parley-hooks.7.

With --format markdown it writes one file, commands.md, with every command and flag.`

// newMan returns the command that writes manual pages.
func newMan() *cobra.Command {
	cmd := &cobra.Command{
		Use: "man [flags] DIR", Short: "Write manual pages into a directory", Long: manLong, Args: term.Arguments(1, 1), DisableFlagsInUseLine: true,
		Example: "  parley man /usr/local/share/man/man1\n  parley completion bash > /etc/bash_completion.d/parley",
	}
	format := cmd.Flags().String("format", "man", "man or markdown")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cmd.Root().InitDefaultCompletionCmd()
		switch *format {
		case "man":
			return writeMan(cmd.Root(), args[0])
		case "markdown":
			return writeManual(args[0], "commands.md", manual.Markdown(cmd.Root()))
		}
		return term.Usagef("--format %s is neither man nor markdown", *format)
	}
	return cmd
}

func writeMan(root *cobra.Command, dir string) error {
	topics, err := docs.Topics()
	if err != nil {
		return err
	}
	for _, c := range manual.Commands(root) {
		if err := writeManual(dir, manual.PageName(c)+".1", manual.Roff(c)); err != nil {
			return err
		}
	}
	for _, t := range topics {
		if err := writeManual(dir, manual.TopicName(t)+".7", manual.TopicRoff(t)); err != nil {
			return err
		}
	}
	return nil
}

func writeManual(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}
