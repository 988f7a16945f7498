package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

// changeFlags are the flags of commands that change a session.
type changeFlags struct{ live bool }

func (f *changeFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.live, "live", false, "change the session even if a process has it open")
}

func (f *changeFlags) options() *transcript.ChangeOptions {
	return &transcript.ChangeOptions{Live: f.live}
}

// changed describes a change.
type changed struct {
	SessionID string `json:"sessionId"`
	Done      string `json:"done"`
	Path      string `json:"path,omitempty"`
}

// report writes the change, and explains a refusal.
func (w *sessionWork) report(c changed, err error, format string, args ...any) error {
	if errors.Is(err, transcript.ErrLive) {
		return fmt.Errorf("%w; --live does it nevertheless", err)
	}
	if err != nil {
		return err
	}
	if w.json {
		return w.con.Out.Encode(c, "")
	}
	w.line(format, args...)
	return nil
}

func newSessionsRename(code *int) *cobra.Command {
	f := &changeFlags{}
	return sessionCommand{
		use: "rename ID TITLE [flags]", short: "Set the title of a session", example: "  parley sessions rename 4f1c 'The parser'",
		args: term.Arguments(2, 2), ids: 1, codex: true, flags: f.register,
		run: func(w *sessionWork, args []string) error {
			src, id, err := w.find(args[0])
			if err == nil && src.dir == nil {
				err = src.Rename(w.ctx, id, args[1])
				return w.report(changed{id, "renamed", ""}, err, "%s is now %q", id, term.OneLine(args[1]))
			}
			s, err := w.kept(args[0])
			if err != nil {
				return err
			}
			err = w.dir.Rename(w.ctx, s.ID, args[1], f.options())
			return w.report(changed{s.ID, "renamed", s.Path}, err, "%s is now %q", s.ID, term.OneLine(args[1]))
		},
	}.command(code)
}

func newSessionsTag(code *int) *cobra.Command {
	f, remove := &changeFlags{}, false
	return sessionCommand{
		use: "tag ID [TAG] [flags]", short: "Set or remove the tag of a session", example: "  parley sessions tag 4f1c review\n  parley sessions tag 4f1c --remove",
		args: term.Arguments(1, 2), ids: 1,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&remove, "remove", false, "remove the tag")
			f.register(cmd)
		},
		run: func(w *sessionWork, args []string) error {
			if remove == (len(args) == 2) {
				return term.Usagef("give either a tag or --remove")
			}
			s, err := w.kept(args[0])
			if err != nil {
				return err
			}
			if remove {
				err = w.dir.Tag(w.ctx, s.ID, "", f.options())
				return w.report(changed{s.ID, "untagged", s.Path}, err, "%s has no tag", s.ID)
			}
			err = w.dir.Tag(w.ctx, s.ID, args[1], f.options())
			return w.report(changed{s.ID, "tagged", s.Path}, err, "%s is tagged %q", s.ID, term.OneLine(args[1]))
		},
	}.command(code)
}

func newSessionsFork(code *int) *cobra.Command {
	opts := &transcript.ForkOptions{}
	return sessionCommand{
		use: "fork ID [flags]", short: "Copy a session, or its beginning, into a new one", example: sessionsForkExample,
		args: term.Arguments(1, 1), ids: 1,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&opts.UpTo, "at", "", "end with the message that has this `uuid` (parley sessions tree --json shows them)")
			cmd.Flags().StringVar(&opts.Title, "title", "", "the new session's `title` (default: the old title followed by (fork))")
		},
		run: func(w *sessionWork, args []string) error {
			s, err := w.kept(args[0])
			if err != nil {
				return err
			}
			fork, err := w.dir.Fork(w.ctx, s.ID, opts)
			if err != nil {
				return err
			}
			return w.report(changed{fork.ID, "forked", fork.Path}, nil, "%s is the new session", fork.ID)
		},
	}.command(code)
}

func newSessionsRm(code *int) *cobra.Command {
	f, permanently, undo, list := &changeFlags{}, false, false, false
	return sessionCommand{
		use: "rm ID... [flags]", short: "Move sessions to the trash, from which they can be restored", long: sessionsRmLong, example: sessionsRmExample,
		args: cobra.ArbitraryArgs, ids: -1,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&permanently, "permanently", false, "delete permanently, as the official SDK does")
			cmd.Flags().BoolVar(&undo, "undo", false, "restore deleted sessions")
			cmd.Flags().BoolVar(&list, "trash", false, "list deleted sessions")
			f.register(cmd)
			cmd.MarkFlagsMutuallyExclusive("permanently", "undo", "trash")
		},
		run: func(w *sessionWork, args []string) error {
			switch {
			case list && len(args) == 0:
				return w.showTrash()
			case list || len(args) == 0:
				return term.Usagef("name the sessions, or only --trash")
			}
			for _, arg := range args {
				if err := w.rm(arg, undo, &transcript.DeleteOptions{ChangeOptions: *f.options(), Permanently: permanently}); err != nil {
					return err
				}
			}
			return nil
		},
	}.command(code)
}

func (w *sessionWork) rm(arg string, undo bool, opts *transcript.DeleteOptions) error {
	if undo {
		id, err := w.trashed(arg)
		if err == nil {
			err = w.dir.Restore(id)
		}
		return w.report(changed{SessionID: id, Done: "restored"}, err, "%s is back", term.OneLine(id))
	}
	s, err := w.kept(arg)
	if err != nil {
		return err
	}
	err = w.dir.Delete(w.ctx, s.ID, opts)
	if opts.Permanently {
		return w.report(changed{SessionID: s.ID, Done: "deleted"}, err, "%s is gone", s.ID)
	}
	return w.report(changed{SessionID: s.ID, Done: "trashed"}, err, "%s is in the trash; parley sessions rm --undo %s gets it back", s.ID, s.ID)
}

// trashed returns the id of the deleted session that an argument names: an id, or a
// prefix of one.
func (w *sessionWork) trashed(arg string) (string, error) {
	list, err := w.dir.Trash()
	if err != nil {
		return "", err
	}
	var found []string
	for _, x := range list {
		if x.SessionID == arg {
			return arg, nil
		}
		if len(arg) >= shortestID && strings.HasPrefix(x.SessionID, strings.ToLower(arg)) && !slices.Contains(found, x.SessionID) {
			found = append(found, x.SessionID)
		}
	}
	switch len(found) {
	case 0:
		return arg, fmt.Errorf("%w in the trash: %s", transcript.ErrNoSession, term.OneLine(arg))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s can be any of %d deleted sessions: %s", term.OneLine(arg), len(found), strings.Join(found, ", "))
}

func (w *sessionWork) showTrash() error {
	list, err := w.dir.Trash()
	if err != nil {
		return err
	}
	w.fail = len(list) == 0
	if w.json {
		if list == nil {
			list = []*transcript.Trashed{}
		}
		return w.con.Out.Encode(list, "  ")
	}
	t := &term.Table{Columns: []term.Column{{Title: "id"}, {Title: "deleted"}, {Title: "project", Drop: 1, Min: 12}}}
	for _, x := range list {
		t.Rows = append(t.Rows, []string{x.SessionID, timeText(x.DeletedAt), term.OneLine(x.ProjectKey)})
	}
	if len(list) == 0 {
		w.con.Note("the trash is empty")
		return nil
	}
	w.table(t)
	return nil
}
