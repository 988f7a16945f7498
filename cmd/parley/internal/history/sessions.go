// Package history has the commands below parley sessions, and continues a past session in a new one.
package history

import (
	"context"
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/agent"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

// sessionFlags are the common flags of all commands below parley sessions.
type sessionFlags struct {
	configDir string
	json      bool
	noColor   bool
	raw       bool
	whose     Whose
}

func New(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sessions",
		Aliases: []string{"session"},
		Short:   "Find, read, change, repair and archive sessions",
		Long:    sessionsLong,
		Example: sessionsExample,
		Args:    term.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newSessionsList(code), newSessionsShow(code), newSessionsSearch(code), newSessionsTail(code), newSessionsTree(code),
		newSessionsExport(code), newSessionsRename(code), newSessionsTag(code), newSessionsFork(code), newSessionsRm(code),
		newSessionsArchive(code), newSessionsDoctor(code), newSessionsRepair(code),
	)
	return cmd
}

// sessionCommand describes a command below parley sessions.
type sessionCommand struct {
	use, short, long, example string
	args                      cobra.PositionalArgs
	ids                       int  // number of arguments that are session ids; -1 means all
	codex                     bool // supports sessions of Codex, and has --agent
	said                      bool // writes text of sessions: sanitized even in a pipe, unless --raw is given
	flags                     func(cmd *cobra.Command)
	run                       func(w *sessionWork, args []string) error
}

// command returns the command with the common flags, completion of ids, signals and exit codes.
func (c sessionCommand) command(code *int) *cobra.Command {
	f := &sessionFlags{}
	cmd := &cobra.Command{
		Use: c.use, Short: c.short, Long: c.long, Example: c.example, Args: c.args,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			*code, err = f.do(cmd.Context(), func(w *sessionWork) error {
				w.con.Out.Outlet.Clean = (c.said || f.json) && !f.raw // escapes keep the values of JSON
				return c.run(w, args)
			})
			return err
		},
		ValidArgsFunction:     f.completeIDs(c.ids),
		DisableFlagsInUseLine: true,
	}
	if c.long == "" {
		cmd.Long = c.short + "."
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	if c.flags != nil {
		c.flags(cmd)
	}
	fs.BoolVar(&f.json, "json", false, "write JSON")
	fs.StringVar(&f.configDir, "config-dir", "", "the configuration `directory` of the agent's CLI (default $CLAUDE_CONFIG_DIR, else ~/.claude)")
	if c.codex {
		f.whose.Register(cmd)
	} else {
		f.whose.Changed = func(string) bool { return false }
	}
	if c.said {
		fs.BoolVar(&f.raw, "raw", false, "keep control characters if the output is not a terminal")
	}
	fs.BoolVar(&f.noColor, "no-color", false, "disable colours")
	if err := cmd.MarkFlagDirname("config-dir"); err != nil {
		panic(err) // the flag exists
	}
	return cmd
}

// sessionWork is a running command.
type sessionWork struct {
	ctx context.Context
	con *term.Console
	dir *transcript.Dir
	// sources are the requested histories.
	sources []*source
	json    bool
	fail    bool // a requested session has a problem; the output has the details
	any     bool // a paragraph was written
}

// do runs a command.
func (f *sessionFlags) do(ctx context.Context, run func(*sessionWork) error) (int, error) {
	if err := f.whose.Choose(); err != nil {
		return 0, err
	}
	return term.Run(ctx, f.noColor, func(ctx context.Context, con *term.Console) (err error) {
		w := &sessionWork{ctx: ctx, con: con, dir: transcript.Open(f.configDir), json: f.json}
		if w.sources, err = f.whose.sources(w.dir); err != nil {
			return err
		}
		if path := w.dir.Path(); strings.TrimSpace(path) == "" || f.configDir == "" && os.Getenv("CLAUDE_CONFIG_DIR") == "" && !filepath.IsAbs(path) {
			return term.Usagef("no configuration directory: set --config-dir or CLAUDE_CONFIG_DIR")
		}
		err = run(w)
		if err == nil && w.fail {
			return term.ErrFailed
		}
		return plainError(err)
	})
}

// plainError removes the name of the package from the text of an error.
func plainError(err error) error {
	if err == nil || !strings.Contains(err.Error(), "transcript: ") || errors.As(err, new(*term.UsageError)) || errors.As(err, new(*term.OutputError)) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), "transcript: ", ""))
}

// line writes a line.
func (w *sessionWork) line(format string, args ...any) { w.con.Out.Line(fmt.Sprintf(format, args...)) }

// paragraph writes a blank line between paragraphs.
func (w *sessionWork) paragraph() {
	if w.any {
		w.con.Out.Line("")
	}
	w.any = true
}

// isFile reports whether an argument is the path of a session file. A title can have the same suffix.
func isFile(arg string) bool {
	_, err := os.Stat(arg)
	return strings.HasSuffix(arg, ".jsonl") && err == nil
}

// kept is like session for a command that works in the configuration directory: a file in another
// place must not select the session with its name there.
func (w *sessionWork) kept(arg string) (*transcript.Session, error) {
	s, err := w.session(arg)
	if err != nil || !isFile(arg) {
		return s, err
	}
	given, err := os.Stat(s.Path)
	if err != nil {
		return nil, err
	}
	if own, err := w.dir.Session(s.ID); err == nil {
		if found, err := os.Stat(own.Path); err == nil && os.SameFile(given, found) {
			return own, nil
		}
	}
	return nil, fmt.Errorf("%w: %s is not the file of one in %s", transcript.ErrNoSession, term.OneLine(arg), w.dir.Path())
}

// mostCompleted limits the sessions that shell completion offers.
const mostCompleted = 200

// completeIDs completes the ids of sessions, the newest first, with their titles.
func (f *sessionFlags) completeIDs(n int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if n >= 0 && len(args) >= n {
			return nil, directive
		}
		var list []cobra.Completion
		for row, err := range claudeSource(transcript.Open(f.configDir)).Find(cmd.Context(), agent.HistoryFilter{}) {
			if err != nil || len(list) == mostCompleted {
				break
			}
			if strings.HasPrefix(row.ID, begun) {
				list = append(list, cobra.CompletionWithDesc(row.ID, term.Shorten(term.OneLine(row.Title), 60)))
			}
		}
		return list, directive
	}
}
