package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

func newArchiveRestore(code *int) *cobra.Command {
	f, opts, all := &archiveFlag{}, &transcript.RestoreOptions{}, false
	cmd := sessionCommand{
		use: "restore ID... [flags]", short: "Restore sessions from the archive", long: archiveRestoreLong,
		example: "  parley sessions archive restore 4f1c\n  parley sessions archive restore --all --config-dir /tmp/restored",
		args:    cobra.ArbitraryArgs, ids: 0,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&all, "all", false, "everything")
			cmd.Flags().BoolVar(&opts.KeepTimes, "keep-times", false, "restore the times of the files; the CLI deletes old files when it starts")
			cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "show the changes without making them")
			f.register(cmd)
		},
		run: func(w *sessionWork, args []string) error {
			if all == (len(args) > 0) {
				return term.Usagef("name sessions, or give --all")
			}
			a, err := f.open()
			if err != nil {
				return err
			}
			if opts.Sessions, err = archivedIDs(w, a, args); err != nil {
				return err
			}
			bar := w.bar("restoring files")
			opts.Progress = bar.update
			report, err := a.Restore(w.ctx, w.dir, opts)
			bar.clear()
			if err != nil {
				return err
			}
			return w.showRestored(report, opts.DryRun)
		},
	}.command(code)
	cmd.ValidArgsFunction = f.completeIDs
	return cmd
}

// completeIDs completes the ids of sessions in the archive.
func (f *archiveFlag) completeIDs(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	a, err := f.open()
	if err != nil {
		return nil, directive
	}
	w := &sessionWork{ctx: cmd.Context(), dir: transcript.Open("")}
	list, err := w.archived(a)
	if err != nil {
		return nil, directive
	}
	var ids []cobra.Completion
	for _, s := range list {
		if strings.HasPrefix(s.SessionID, begun) && !slices.Contains(args, s.SessionID) && len(ids) < mostCompleted {
			ids = append(ids, cobra.CompletionWithDesc(s.SessionID, timeText(s.Modified)))
		}
	}
	return ids, directive
}

// archivedIDs returns the ids of the archived sessions that arguments name.
func archivedIDs(w *sessionWork, a *transcript.Archive, args []string) (ids []string, err error) {
	list, err := w.archived(a)
	if err != nil {
		return nil, err
	}
	for _, arg := range args {
		found := map[string]bool{}
		for _, s := range list {
			if s.SessionID == arg || len(arg) >= shortestID && strings.HasPrefix(s.SessionID, strings.ToLower(arg)) {
				found[s.SessionID] = true
			}
		}
		if len(found) == 0 { // a short name from a list
			if s, err := w.session(arg); err == nil && slices.ContainsFunc(list, func(a *archivedSession) bool { return a.SessionID == s.ID }) {
				found[s.ID] = true
			}
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("%w in the archive: %d begin with %s", transcript.ErrNoSession, len(found), term.OneLine(arg))
		}
		for id := range found {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (w *sessionWork) showRestored(r *transcript.RestoreReport, dryRun bool) error {
	w.fail = len(r.Differ)+len(r.Damaged) > 0
	if w.json {
		return w.con.Out.Encode(r, "  ")
	}
	done := "restored"
	if dryRun {
		done = "would be restored"
	}
	w.line("%s %s, %d were there already", term.Plural(int64(len(r.Restored)), "file"), done, len(r.Same))
	for _, path := range r.Differ {
		w.con.Note(path + " exists with another content and was left alone")
	}
	for _, why := range r.Damaged {
		w.con.Note(why)
	}
	return nil
}

func newArchiveVerify(code *int) *cobra.Command {
	f := &archiveFlag{}
	return sessionCommand{
		use: "verify [flags]", short: "Check the whole archive", args: term.NoArguments, flags: f.register,
		run: func(w *sessionWork, _ []string) error {
			a, err := f.open()
			if err != nil {
				return err
			}
			bar := w.bar("checking files")
			damaged, err := a.Verify(w.ctx, bar.update)
			bar.clear()
			if err != nil {
				return err
			}
			w.fail = len(damaged) > 0
			texts := []string{}
			for _, d := range damaged {
				texts = append(texts, d.Error())
			}
			if w.json {
				return w.con.Out.Encode(struct {
					OK      bool     `json:"ok"`
					Damaged []string `json:"damaged"`
				}{!w.fail, texts}, "  ")
			}
			for _, text := range texts {
				w.con.Complain(text)
			}
			if !w.fail {
				w.line("everything in %s is as it was saved", a.Path())
			}
			return nil
		},
	}.command(code)
}

// newArchiveMark returns the command for the official SDK's archive mark, which is
// unrelated to the archive.
func newArchiveMark(code *int, use string, archived bool) *cobra.Command {
	f, short, done := &changeFlags{}, "Mark a session as archived, so that lists can omit it", "is marked as archived"
	if !archived {
		short, done = "Remove the mark", "is not marked as archived"
	}
	return sessionCommand{
		use: use + " ID [flags]", short: short, args: term.Arguments(1, 1), ids: 1, flags: f.register,
		run: func(w *sessionWork, args []string) error {
			s, err := w.kept(args[0])
			if err != nil {
				return err
			}
			if archived {
				err = w.dir.Archive(w.ctx, s.ID, f.options())
			} else {
				err = w.dir.Unarchive(w.ctx, s.ID, f.options())
			}
			return w.report(changed{s.ID, use + "ed", s.Path}, err, "%s %s", s.ID, done)
		},
	}.command(code)
}
