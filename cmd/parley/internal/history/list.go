package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/transcript"
)

// finderFlags say which sessions are meant.
type finderFlags struct {
	dir, branch  string
	since, until string
	noWorktrees  bool
	noPrograms   bool
}

func (f *finderFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&f.dir, "dir", "C", "", "only sessions of this `directory` and of the other worktrees of its repository")
	fs.BoolVar(&f.noWorktrees, "no-worktrees", false, "with --dir: without the other worktrees")
	fs.StringVar(&f.branch, "branch", "", "only sessions that were last on this `branch`")
	fs.StringVar(&f.since, "since", "", "from this `date` on, as 2026-01-31, or since so long ago, as 7d or 12h")
	fs.StringVar(&f.until, "until", "", "up to this `date`, which is included, or so long ago")
	fs.BoolVar(&f.noPrograms, "no-programs", false, "without sessions that programs began")
	if err := cmd.MarkFlagDirname("dir"); err != nil {
		panic(err) // the flag is there
	}
}

func (f *finderFlags) filter() (filter transcript.Filter, err error) {
	filter = transcript.Filter{Dir: f.dir, NoWorktrees: f.noWorktrees, NoProgrammatic: f.noPrograms, Branch: f.branch}
	if filter.Since, err = moment("since", f.since, 0); err != nil {
		return filter, err
	}
	filter.Until, err = moment("until", f.until, 1)
	return filter, err
}

// moment is the start of a date, so many days later, or some time ago.
func moment(flag, text string, daysLater int) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return t.AddDate(0, 0, daysLater), nil
	}
	if d, ok := ParseAgo(text); ok {
		return time.Now().Add(-d), nil
	}
	return time.Time{}, term.Usagef("--%s %s: it is a date such as 2026-01-31, or a time ago such as 7d or 12h", flag, text)
}

// listed is how many sessions a list on a terminal has by default.
const listed = 30

func newSessionsList(code *int) *cobra.Command {
	f, limit, tag, archived := &finderFlags{}, 0, "", false
	return sessionCommand{
		use: "list [flags]", short: "List sessions, the one that changed last first", long: sessionsListLong, example: sessionsListExample,
		args: term.NoArguments, codex: true,
		flags: func(cmd *cobra.Command) {
			f.register(cmd)
			cmd.Flags().StringVar(&tag, "tag", "", "only sessions with this `tag`")
			cmd.Flags().BoolVar(&archived, "archived", false, "only sessions that are marked as archived")
			cmd.Flags().IntVarP(&limit, "limit", "n", -1, "at most so many; 0 is all (default 30 on a terminal, else all)")
		},
		run: func(w *sessionWork, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			filter.Index = w.index()
			if limit < 0 && w.con.Out.TTY && !w.json {
				limit = listed
			}
			infos, err := w.infos(filter, limit, func(info *transcript.Info) bool {
				return (tag == "" || info.Tag == tag) && (!archived || info.Archived != nil && *info.Archived)
			})
			if err != nil {
				return err
			}
			threads, err := w.threads()
			if err != nil {
				return err
			}
			threads = slices.DeleteFunc(threads, func(s *rollout.Session) bool {
				return tag != "" || archived && !s.Archived || !wantsThread(s, filter)
			})
			return w.showList(merge(infos, threads, limit))
		},
	}.command(code)
}

// infos are the sessions of Claude that a list wants, one more than it shows.
func (w *sessionWork) infos(filter transcript.Filter, limit int, want func(*transcript.Info) bool) (list []*transcript.Info, err error) {
	if w.whose == Codex {
		return nil, nil
	}
	for info, err := range w.dir.Sessions(w.ctx, filter) {
		if err != nil {
			return nil, err
		}
		if !want(info) {
			continue
		}
		if list = append(list, info); limit > 0 && len(list) > limit {
			break
		}
	}
	return list, nil
}

// places are where sessions were looked for.
func (w *sessionWork) places() string {
	switch {
	case w.whose == Codex:
		return w.codexHome
	case w.codexHome != "":
		return w.dir.Path() + " and " + w.codexHome
	}
	return w.dir.Path()
}

func (w *sessionWork) showList(list []*listedSession, more bool) error {
	w.fail = len(list) == 0
	if w.json {
		if list == nil {
			list = []*listedSession{}
		}
		return w.writeJSON(list)
	}
	if len(list) == 0 {
		w.con.Note("there are no such sessions in " + w.places())
		return nil
	}
	t := &term.Table{Columns: []term.Column{
		{Title: "id"}, {Title: "changed", Least: 10}, {Title: "title", Min: 24, Least: 8}, {Title: "tag", Drop: 4, Min: 8},
		{Title: "branch", Drop: 3, Min: 8}, {Title: "size", Right: true, Drop: 2}, {Title: "directory", Drop: 1, Min: 12},
	}}
	several := slices.ContainsFunc(list, func(s *listedSession) bool { return s.codex != nil })
	for _, s := range list {
		t.Rows = append(t.Rows, WithAgent(w.listCells(s), s.agent(), several))
	}
	if several {
		t.Columns = slices.Insert(t.Columns, 1, term.Column{Title: "agent"})
	}
	w.table(t)
	if more {
		w.con.Note(fmt.Sprintf("there are more than these %d; --limit 0 shows all", len(list)))
	}
	return nil
}

func (s *listedSession) agent() string {
	if s.codex != nil {
		return Codex
	}
	return Claude
}

// listCells are the cells of a session in a list.
func (w *sessionWork) listCells(s *listedSession) []string {
	if c := s.codex; c != nil {
		tag := ""
		if c.Archived {
			tag = "archived"
		}
		return []string{
			w.shortID(c.ThreadID), timeText(c.ModifiedAt), term.OneLine(threadTitle(c)), tag, term.OneLine(c.GitBranch), sizeText(c.Size), term.OneLine(home(c.CWD)),
		}
	}
	info := s.claude
	branch := info.GitBranch
	if branch == "HEAD" { // outside of a repository
		branch = ""
	}
	return []string{
		w.shortID(info.SessionID), timeText(info.LastModified), term.OneLine(info.Summary), term.OneLine(info.Tag), term.OneLine(branch),
		sizeText(info.FileSize), term.OneLine(home(info.CWD)),
	}
}

// home is a path with ~ for the user's directory.
func home(path string) string {
	dir := homeDir()
	if rest, ok := strings.CutPrefix(path, dir); ok && dir != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		return "~" + rest
	}
	return path
}
