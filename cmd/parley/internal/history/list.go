package history

import (
	"fmt"
	"github.com/seed7221b0f9/parley/agent"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// finderFlags select sessions.
type finderFlags struct {
	dir, branch  string
	since, until string
	noWorktrees  bool
	noPrograms   bool
}

func (f *finderFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&f.dir, "dir", "C", "", "only sessions of this `directory` and of the other worktrees of its repository")
	fs.BoolVar(&f.noWorktrees, "no-worktrees", false, "with --dir: omit the other worktrees")
	fs.StringVar(&f.branch, "branch", "", "only sessions whose last branch was this `branch`")
	fs.StringVar(&f.since, "since", "", "from this `date` on, such as 2026-01-31, or within this time, such as 7d or 12h")
	fs.StringVar(&f.until, "until", "", "up to and including this `date`, or until this time ago")
	fs.BoolVar(&f.noPrograms, "no-programs", false, "omit sessions that programs started")
	if err := cmd.MarkFlagDirname("dir"); err != nil {
		panic(err) // the flag exists
	}
}

func (f *finderFlags) filter() (filter agent.HistoryFilter, err error) {
	filter = agent.HistoryFilter{Dir: f.dir, NoWorktrees: f.noWorktrees, NoPrograms: f.noPrograms, Branch: f.branch}
	if filter.Since, err = moment("since", f.since, 0); err != nil {
		return filter, err
	}
	filter.Until, err = moment("until", f.until, 1)
	return filter, err
}

// moment returns the start of a date plus a number of days, or a time ago.
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

// listed is the default length of a list on a terminal.
const listed = 30

func newSessionsList(code *int) *cobra.Command {
	f, limit, tag, archived := &finderFlags{}, 0, "", false
	return sessionCommand{
		use: "list [flags]", short: "List sessions, most recently changed first", long: sessionsListLong, example: sessionsListExample,
		args: term.NoArguments, codex: true,
		flags: func(cmd *cobra.Command) {
			f.register(cmd)
			cmd.Flags().StringVar(&tag, "tag", "", "only sessions with this `tag`")
			cmd.Flags().BoolVar(&archived, "archived", false, "only sessions that are marked as archived")
			cmd.Flags().IntVarP(&limit, "limit", "n", -1, "maximum number of sessions; 0 is all (default 30 on a terminal, else all)")
		},
		run: func(w *sessionWork, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			if limit < 0 && w.con.Out.TTY && !w.json {
				limit = listed
			}
			filter.Tag, filter.Archived = tag, archived
			list, err := w.list(filter, limit)
			if err != nil {
				return err
			}
			if limit > 0 && len(list) > limit {
				return w.showList(list[:limit], true)
			}
			return w.showList(list, false)
		},
	}.command(code)
}

// listedSession is a session in a list, with its agent.
type listedSession struct {
	agent.HistoryRow
	agent string
}

// list returns the sessions of all agents, the most recently changed first, and at least one more
// than the limit if there are more; 0 means no limit.
func (w *sessionWork) list(filter agent.HistoryFilter, limit int) (list []listedSession, err error) {
	for _, s := range w.sources {
		n := 0
		for row, err := range s.Find(w.ctx, filter) {
			if err := w.noteProblem(s, err); err != nil {
				return nil, err
			}
			if err != nil {
				continue
			}
			list = append(list, listedSession{row, s.name})
			if n++; limit > 0 && n > limit {
				break
			}
		}
	}
	slices.SortStableFunc(list, func(a, b listedSession) int { return b.Modified.Compare(a.Modified) })
	return list, nil
}

func (w *sessionWork) showList(list []listedSession, more bool) error {
	w.fail = len(list) == 0
	if w.json {
		rows := []any{}
		for _, s := range list {
			rows = append(rows, s.Wire)
		}
		return w.con.Out.Encode(rows, "  ")
	}
	if len(list) == 0 {
		var places []string
		for _, s := range w.sources {
			places = append(places, s.place)
		}
		w.con.Note("no such sessions in " + strings.Join(places, " and "))
		return nil
	}
	t := &term.Table{Columns: []term.Column{
		{Title: "id"}, {Title: "changed", Least: 10}, {Title: "title", Min: 24, Least: 8}, {Title: "tag", Drop: 4, Min: 8},
		{Title: "branch", Drop: 3, Min: 8}, {Title: "size", Right: true, Drop: 2}, {Title: "directory", Drop: 1, Min: 12},
	}}
	several := slices.ContainsFunc(list, func(s listedSession) bool { return s.agent != Claude })
	for _, s := range list {
		branch := s.GitBranch
		if branch == "HEAD" { // outside of a repository
			branch = ""
		}
		t.Rows = append(t.Rows, WithAgent([]string{
			w.shortID(s.ID), timeText(s.Modified), term.OneLine(s.Title), term.OneLine(s.Tag), term.OneLine(branch), sizeText(s.FileSize), term.OneLine(home(s.Dir)),
		}, s.agent, several))
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

// home returns a path with ~ for the user's directory.
func home(path string) string {
	dir := homeDir()
	if rest, ok := strings.CutPrefix(path, dir); ok && dir != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
		return "~" + rest
	}
	return path
}
