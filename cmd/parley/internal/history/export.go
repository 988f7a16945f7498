package history

import (
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/agent"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript/export"
)

func newSessionsExport(code *int) *cobra.Command {
	opts, format, output := agent.HistoryRender{}, "", ""
	return sessionCommand{
		use: "export ID [flags]", short: "Write a session as Markdown, HTML or JSON", long: sessionsExportLong, example: sessionsExportExample,
		args: term.Arguments(1, 1), ids: 1, codex: true, said: true,
		flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringVar(&format, "format", "", "markdown, html or json (default: by the extension of the file, else markdown)")
			fs.StringVarP(&output, "output", "o", "-", "the `file` to write; - is standard output")
			fs.BoolVar(&opts.Replace, "force", false, "overwrite an existing file")
			fs.BoolVar(&opts.Redact, "redact", false, "remove secrets and personal data")
			fs.StringArrayVar(&opts.Secrets, "secret", nil, "with --redact: a further secret `text` (repeatable)")
			fs.BoolVar(&opts.System, "system", false, "include the CLI's notes")
			fs.BoolVar(&opts.NoThinking, "no-thinking", false, "omit the model's thinking")
			fs.BoolVar(&opts.NoTools, "no-tools", false, "omit tools and their results")
			fs.BoolVar(&opts.NoSubagents, "no-subagents", false, "omit subagents")
			values := []string{string(export.Markdown), string(export.HTML), string(export.JSON)}
			if err := cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
				panic(err) // the flag exists
			}
		},
		run: func(w *sessionWork, args []string) error {
			as, err := exportFormat(format, output, w.json)
			if err != nil {
				return err
			}
			s, id, err := w.find(args[0])
			if err != nil {
				return err
			}
			opts.Format = string(as)
			if output != "-" {
				opts.File = output
			}
			return w.export(s, id, opts)
		},
	}.command(code)
}

// export writes a session to a file, or to standard output, sanitized for a terminal.
func (w *sessionWork) export(s *source, id string, opts agent.HistoryRender) error {
	var text strings.Builder
	err := s.Render(w.ctx, &text, id, opts)
	switch {
	case errors.Is(err, agent.ErrUnsupported) && opts.File != "":
		return fmt.Errorf("--output: unsupported for a session of %s; write it to standard output", s.name)
	case errors.Is(err, agent.ErrUnsupported) && (opts.Redact || len(opts.Secrets) > 0):
		return fmt.Errorf("--redact: unsupported for a session of %s", s.name)
	case errors.Is(err, agent.ErrUnsupported) && (opts.System || opts.NoThinking || opts.NoTools || opts.NoSubagents):
		return fmt.Errorf("--system, --no-thinking, --no-tools and --no-subagents: unsupported for a session of %s", s.name)
	case err != nil:
		return err
	case opts.File != "":
		w.line("wrote %s", opts.File)
	default:
		w.con.Out.Print(w.con.Out.Show(text.String()))
	}
	return nil // Run checks the error of the pen
}

// exportFormat returns the export format: from --format, --json, or the name of the file.
func exportFormat(format, output string, json bool) (export.Format, error) {
	if format == "md" {
		format = string(export.Markdown)
	}
	switch {
	case format != "" && !slices.Contains(export.Formats, export.Format(format)):
		return "", term.Usagef("--format %s: it is one of markdown, html and json", format)
	case format != "":
		return export.Format(format), nil
	case json:
		return export.JSON, nil
	}
	switch strings.ToLower(filepath.Ext(output)) {
	case ".html", ".htm":
		return export.HTML, nil
	case ".json":
		return export.JSON, nil
	}
	return export.Markdown, nil
}
