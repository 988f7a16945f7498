package history

import (
	"fmt"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/remote"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

func newSessionsArchive(code *int) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "archive",
		Short:   "Archive sessions that the CLI would delete, and restore them",
		Long:    sessionsArchiveLong,
		Example: sessionsArchiveExample,
		Args:    term.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newArchiveSave(code), newArchiveExpiring(code), newArchiveList(code), newArchiveRestore(code), newArchiveVerify(code),
		newArchiveMark(code, "mark", true), newArchiveMark(code, "unmark", false),
	)
	return cmd
}

// archiveFlag is the flag for the directory of the archive.
type archiveFlag struct{ dir string }

func (f *archiveFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "archive", "", "the `directory` of the archive (default $PARLEY_ARCHIVE, else parley/archive with the user's data)")
	if err := cmd.MarkFlagDirname("archive"); err != nil {
		panic(err) // the flag exists
	}
}

func (f *archiveFlag) open() (*transcript.Archive, error) {
	dir := f.dir
	if dir == "" {
		var err error
		if dir, err = remote.DefaultArchive(); err != nil {
			return nil, term.Usagef("--archive: %v", err)
		}
	}
	return transcript.OpenArchive(dir), nil
}

func newArchiveSave(code *int) *cobra.Command {
	f := &archiveFlag{}
	return sessionCommand{
		use: "save [flags]", short: "Copy new lines of sessions to the archive", example: "  parley sessions archive save\n  parley sessions archive save --archive /mnt/backup/claude",
		args: term.NoArguments, flags: f.register,
		run: func(w *sessionWork, _ []string) error {
			a, err := f.open()
			if err != nil {
				return err
			}
			bar := w.bar("saving files")
			report, err := a.Save(w.ctx, w.dir, &transcript.SaveOptions{Progress: bar.update})
			bar.clear()
			if err != nil {
				return err
			}
			w.fail = len(report.Unread) > 0
			if w.json {
				return w.con.Out.Encode(report, "  ")
			}
			w.line("%s, %d new or changed (%s), %s written to %s", term.Plural(int64(report.Files), "file"), report.Changed, sizeText(report.Bytes), sizeText(report.Written), a.Path())
			for _, why := range report.Unread {
				w.con.Note(why)
			}
			return nil
		},
	}.command(code)
}

// expiring is a session that the CLI will delete.
type expiring struct {
	SessionID string    `json:"sessionId"`
	Title     string    `json:"title"`
	Modified  time.Time `json:"modified"`
	DeletedOn time.Time `json:"deletedOn"`
	Archived  bool      `json:"archived"` // the archive has it completely
}

func newArchiveExpiring(code *int) *cobra.Command {
	f, within := &archiveFlag{}, 0
	return sessionCommand{
		use: "expiring [flags]", short: "Show which sessions the CLI will delete, and when", long: archiveExpiringLong,
		example: "  parley sessions archive expiring\n  parley sessions archive expiring --within 7",
		args:    term.NoArguments,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVar(&within, "within", 0, "only those within this number of `days`; 0 is all")
			f.register(cmd)
		},
		run: func(w *sessionWork, _ []string) error {
			a, err := f.open()
			if err != nil {
				return err
			}
			return w.expiring(a, within)
		},
	}.command(code)
}

func (w *sessionWork) expiring(a *transcript.Archive, within int) error {
	kept, err := archivedSessions(a)
	if err != nil {
		return err
	}
	retention := w.dir.Retention()
	list := []*expiring{}
	for info, err := range w.dir.Sessions(w.ctx, transcript.Filter{Index: claudeagent.Index()}) {
		if err != nil {
			return err
		}
		x := &expiring{SessionID: info.SessionID, Title: info.Summary, Modified: info.LastModified, DeletedOn: retention.Expires(info.LastModified)}
		if v := kept[info.ProjectKey+"/"+info.SessionID+".jsonl"]; v != nil {
			x.Archived = v.Size == info.FileSize
		}
		if within <= 0 || time.Until(x.DeletedOn) < time.Duration(within)*24*time.Hour {
			list = append(list, x)
		}
	}
	slices.SortStableFunc(list, func(a, b *expiring) int { return a.DeletedOn.Compare(b.DeletedOn) })
	w.fail = len(list) == 0
	if w.json {
		return w.con.Out.Encode(struct {
			Retention transcript.Retention `json:"retention"`
			Sessions  []*expiring          `json:"sessions"`
		}{retention, list}, "  ")
	}
	return w.showExpiring(list, retention)
}

func archivedSessions(a *transcript.Archive) (map[string]*transcript.FileVersion, error) {
	files, err := a.Files()
	if err != nil {
		return nil, err
	}
	kept := map[string]*transcript.FileVersion{}
	for _, f := range files {
		kept[f.Path] = f.Latest()
	}
	return kept, nil
}

func (w *sessionWork) showExpiring(list []*expiring, r transcript.Retention) error {
	t := &term.Table{Columns: []term.Column{
		{Title: "id"}, {Title: "deleted on", Least: 10}, {Title: "archived", Drop: 2}, {Title: "title", Min: 20, Drop: 1},
	}}
	lost := 0
	for _, x := range list {
		mark := term.OKMark
		if !x.Archived {
			mark = term.FailMark
			lost++
		}
		t.Rows = append(t.Rows, []string{w.shortID(x.SessionID), x.DeletedOn.Local().Format(time.DateOnly), mark, term.OneLine(x.Title)})
	}
	if len(list) > 0 {
		w.table(t)
	}
	source := "by default"
	if r.Source != "" {
		source = "by " + r.Source
	}
	w.con.Note(fmt.Sprintf("sessions are deleted %d days after their last change, %s, when the CLI is started (cleanupPeriodDays)", r.Days, source))
	if r.Paused != "" {
		w.con.Note("at the moment none is deleted: " + r.Paused)
	}
	if lost > 0 {
		w.con.Note(fmt.Sprintf("%d of these are not in the archive; parley sessions archive save puts them there", lost))
	}
	return nil
}

// archivedSession is a session in an archive.
type archivedSession struct {
	SessionID string    `json:"sessionId"`
	Project   string    `json:"projectKey"`
	Files     int       `json:"files"`
	Size      int64     `json:"size"`
	Modified  time.Time `json:"modified"`
	SavedAt   time.Time `json:"savedAt"`
	Gone      bool      `json:"gone"` // only the archive has it
}

func newArchiveList(code *int) *cobra.Command {
	f, gone := &archiveFlag{}, false
	return sessionCommand{
		use: "list [flags]", short: "List the sessions of the archive", example: "  parley sessions archive list --gone",
		args: term.NoArguments,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&gone, "gone", false, "only sessions that exist only in the archive")
			f.register(cmd)
		},
		run: func(w *sessionWork, _ []string) error {
			a, err := f.open()
			if err != nil {
				return err
			}
			list, err := w.archived(a)
			if err != nil {
				return err
			}
			if gone {
				list = slices.DeleteFunc(list, func(s *archivedSession) bool { return !s.Gone })
			}
			return w.showArchived(list)
		},
	}.command(code)
}

// archived returns the sessions of an archive, the most recently changed first.
func (w *sessionWork) archived(a *transcript.Archive) ([]*archivedSession, error) {
	files, err := a.Files()
	if err != nil {
		return nil, err
	}
	byKey := map[string]*archivedSession{}
	list := []*archivedSession{}
	for _, f := range files {
		id := f.SessionID()
		if id == "" {
			continue
		}
		project, _, _ := strings.Cut(f.Path, "/")
		s := byKey[project+"/"+id]
		if s == nil {
			_, err := os.Stat(filepath.Join(w.dir.Path(), "projects", project, id+".jsonl"))
			s = &archivedSession{SessionID: id, Project: project, Gone: err != nil}
			byKey[project+"/"+id] = s
			list = append(list, s)
		}
		v := f.Latest()
		s.Files++
		s.Size += v.Size
		if f.IsTranscript() || s.Modified.IsZero() {
			s.Modified, s.SavedAt = v.Modified, v.SavedAt
		}
	}
	slices.SortStableFunc(list, func(a, b *archivedSession) int { return b.Modified.Compare(a.Modified) })
	return list, nil
}

func (w *sessionWork) showArchived(list []*archivedSession) error {
	w.fail = len(list) == 0
	if w.json {
		return w.con.Out.Encode(list, "  ")
	}
	if len(list) == 0 {
		w.con.Note("no such sessions in the archive")
		return nil
	}
	t := &term.Table{Columns: []term.Column{
		{Title: "id"}, {Title: "changed", Least: 10}, {Title: "saved", Drop: 2}, {Title: "size", Right: true, Drop: 1},
		{Title: "where", Drop: 3}, {Title: "project", Drop: 4, Min: 12},
	}}
	for _, s := range list {
		where := "both"
		if s.Gone {
			where = "archive"
		}
		t.Rows = append(t.Rows, []string{w.shortID(s.SessionID), timeText(s.Modified), timeText(s.SavedAt), sizeText(s.Size), where, term.OneLine(s.Project)})
	}
	w.table(t)
	return nil
}
