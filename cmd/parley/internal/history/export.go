package history

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
	"github.com/seed7221b0f9/parley/transcript/export"
)

func newSessionsExport(code *int) *cobra.Command {
	opts, format, output, force := &export.Options{}, "", "", false
	return sessionCommand{
		use: "export ID [flags]", short: "Write a session as Markdown, HTML or JSON", long: sessionsExportLong, example: sessionsExportExample,
		args: term.Arguments(1, 1), ids: 1, codex: true,
		flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringVar(&format, "format", "", "markdown, html or json (default by the name of the file, else markdown)")
			fs.StringVarP(&output, "output", "o", "-", "the `file` to write; - is standard output")
			fs.BoolVar(&force, "force", false, "replace the file if there is one")
			fs.BoolVar(&opts.Redact, "redact", false, "take out secrets and personal data")
			fs.StringArrayVar(&opts.Secrets, "secret", nil, "with --redact: a `text` that is secret too (repeatable)")
			fs.BoolVar(&opts.System, "system", false, "also the CLI's own notes")
			fs.BoolVar(&opts.NoThinking, "no-thinking", false, "without what the model thought")
			fs.BoolVar(&opts.NoTools, "no-tools", false, "without tools and their results")
			fs.BoolVar(&opts.NoSubagents, "no-subagents", false, "without subagents")
			values := []string{string(export.Markdown), string(export.HTML), string(export.JSON)}
			if err := cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
				panic(err) // the flag is there
			}
		},
		run: func(w *sessionWork, args []string) error {
			as, err := exportFormat(format, output, w.json)
			if err != nil {
				return err
			}
			s, err := w.session(args[0])
			if id, ok := isCodex(err); ok {
				return w.exportThread(id, as, output, *opts)
			}
			if err != nil {
				return err
			}
			if output == "-" {
				return w.writeExport(s, as, opts)
			}
			if err := export.File(w.ctx, output, s, as, opts, force); err != nil {
				return err
			}
			w.line("wrote %s", output)
			return nil
		},
	}.command(code)
}

// exportThread writes a session of Codex to standard output: what else there is for those of
// Claude is unsupported.
func (w *sessionWork) exportThread(id string, as export.Format, output string, opts export.Options) error {
	switch {
	case output != "-":
		return fmt.Errorf("%w; write it to standard output", unsupportedFor("--output"))
	case opts.Redact || len(opts.Secrets) > 0:
		return unsupportedFor("--redact")
	case opts.NoThinking || opts.NoTools || opts.NoSubagents || opts.System:
		return unsupportedFor("--system, --no-thinking, --no-tools and --no-subagents")
	}
	return w.writeThread(id, string(as))
}

func unsupportedFor(what string) error {
	return fmt.Errorf("%s: unsupported for a session of codex", what)
}

// writeExport writes a session to standard output, safe for a terminal if it is one.
func (w *sessionWork) writeExport(s *transcript.Session, format export.Format, opts *export.Options) error {
	var text strings.Builder
	if err := export.Write(w.ctx, &text, s, format, opts); err != nil {
		return err
	}
	w.con.Out.Print(w.con.Out.Show(text.String()))
	return nil // do looks at the pen
}

// exportFormat is the format that is meant: as --format says, as --json does, as the
// file's name does.
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
