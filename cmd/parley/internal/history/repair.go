package history

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

// severityStyles are the styles of findings by severity.
var severityStyles = map[transcript.Severity]term.Style{
	transcript.BreaksResume: term.Red, transcript.BreaksDisplay: term.Yellow, transcript.Harmless: term.Dim,
}

// examined holds the findings of a session.
type examined struct {
	SessionID string                `json:"sessionId"`
	Path      string                `json:"path"`
	Live      bool                  `json:"live"` // a process has it open
	Findings  []*transcript.Finding `json:"findings"`
	Error     string                `json:"error,omitempty"` // it could not be read
}

// registerMaxLine registers the flag that the doctor and the repair share.
func registerMaxLine(cmd *cobra.Command, opts *transcript.ExamineOptions) {
	cmd.Flags().IntVar(&opts.MaxLine, "max-line", transcript.DefaultMaxLine, "the length in `bytes` from which a line is oversized")
}

func newSessionsDoctor(code *int) *cobra.Command {
	opts := &transcript.ExamineOptions{}
	return sessionCommand{
		use: "doctor [ID...] [flags]", short: "Search for damage in sessions", long: sessionsDoctorLong, example: sessionsDoctorExample,
		args: cobra.ArbitraryArgs, ids: -1,
		flags: func(cmd *cobra.Command) { registerMaxLine(cmd, opts) },
		run: func(w *sessionWork, args []string) error {
			sessions, err := w.sessionsOf(args)
			if err != nil {
				return err
			}
			return w.examine(sessions, opts)
		},
	}.command(code)
}

// sessionsOf returns the sessions that arguments name, or all sessions without arguments.
func (w *sessionWork) sessionsOf(args []string) (list []*transcript.Session, err error) {
	for _, arg := range args {
		s, err := w.session(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	if len(args) > 0 {
		return list, nil
	}
	// Not from the list, which may omit damaged sessions.
	files, err := fs.Glob(os.DirFS(w.dir.Path()), "projects/*/*.jsonl")
	for _, file := range files {
		list = append(list, transcript.File(filepath.Join(w.dir.Path(), filepath.FromSlash(file))))
	}
	return list, err
}

func (w *sessionWork) examine(sessions []*transcript.Session, opts *transcript.ExamineOptions) error {
	bar := w.bar("looking at sessions")
	defer bar.clear()
	all := []*examined{}
	damaged := 0
	for i, s := range sessions {
		bar.update(i, len(sessions))
		findings, err := s.Examine(w.ctx, opts)
		if w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		x := &examined{SessionID: s.ID, Path: s.Path, Findings: findings}
		if err != nil {
			x.Error = err.Error()
		}
		if len(findings) > 0 || err != nil {
			_, x.Live = w.dir.Live(s.ID)
			damaged++
			bar.clear()
			w.showExamined(x)
		}
		if x.Findings == nil {
			x.Findings = []*transcript.Finding{}
		}
		all = append(all, x)
		for _, f := range findings {
			w.fail = w.fail || f.Severity != transcript.Harmless
		}
		w.fail = w.fail || err != nil
	}
	w.fail = w.fail || len(sessions) == 0
	if w.json {
		return w.con.Out.Encode(all, "  ")
	}
	bar.clear()
	w.line("%s, %d with something wrong", term.Plural(int64(len(sessions)), "session"), damaged)
	return nil
}

func (w *sessionWork) showExamined(x *examined) {
	if w.json {
		return
	}
	out := w.con.Out
	w.line("%s", out.Paint(term.Bold, term.OneLine(x.SessionID)))
	if x.Error != "" {
		w.line("  %s", out.Paint(term.Red, term.OneLine(x.Error)))
	}
	for _, f := range x.Findings {
		where := fmt.Sprintf("line %d", f.Line)
		if f.Path != x.Path {
			where = filepath.Base(f.Path) + " " + where
		}
		w.line("  %s  %s, %s: %s", out.Paint(severityStyles[f.Severity], fmt.Sprintf("%-14s", f.Severity)), term.OneLine(where), f.Fault, term.OneLine(f.Detail))
	}
	if x.Live {
		w.line("  %s", out.Paint(term.Dim, "a process has it open: a tool that still runs has no result yet"))
	}
	if len(x.Findings) > 0 {
		w.line("  %s", out.Paint(term.Dim, "parley sessions repair "+term.OneLine(x.SessionID)))
	}
}

// wireRepair is a repair in JSON.
type wireRepair struct {
	SessionID string                `json:"sessionId"`
	Repaired  string                `json:"repaired,omitempty"` // the new session
	Path      string                `json:"path,omitempty"`
	Findings  []*transcript.Finding `json:"findings"`
	Changes   []*transcript.Change  `json:"changes"`
	Left      []*transcript.Finding `json:"left"`
}

func newSessionsRepair(code *int) *cobra.Command {
	opts := &transcript.RepairOptions{}
	return sessionCommand{
		use: "repair ID [flags]", short: "Copy a damaged session into a new one without the damage", long: sessionsRepairLong, example: sessionsRepairExample,
		args: term.Arguments(1, 1), ids: 1,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().BoolVarP(&opts.DryRun, "dry-run", "n", false, "show the changes without making them")
			cmd.Flags().StringVar(&opts.Title, "title", "", "the new session's `title` (default: the old title followed by (repaired))")
			registerMaxLine(cmd, &opts.ExamineOptions)
		},
		run: func(w *sessionWork, args []string) error {
			s, err := w.session(args[0])
			if err != nil {
				return err
			}
			done, err := s.Repair(w.ctx, opts)
			if err != nil {
				return err
			}
			return w.showRepair(s, done, opts.DryRun)
		},
	}.command(code)
}

func (w *sessionWork) showRepair(s *transcript.Session, done *transcript.Repair, dryRun bool) error {
	w.fail = len(done.Left) > 0
	if w.json {
		out := wireRepair{SessionID: s.ID, Findings: notNil(done.Findings), Changes: notNil(done.Changes), Left: notNil(done.Left)}
		if done.Session != nil {
			out.Repaired, out.Path = done.Session.ID, done.Session.Path
		}
		return w.con.Out.Encode(out, "  ")
	}
	for _, c := range done.Changes {
		w.change(s, c)
	}
	for _, f := range done.Left {
		w.con.Note("still wrong: " + f.String())
	}
	switch {
	case done.Session != nil:
		w.line("%s is the repaired session; claude --resume %s goes on with it", done.Session.ID, done.Session.ID)
	case dryRun && len(done.Changes) > 0:
		w.line("nothing was written")
	default:
		w.line("nothing is wrong with %s", s.ID)
	}
	return nil
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// change shows a difference: the lines, or the differing members.
func (w *sessionWork) change(s *transcript.Session, c *transcript.Change) {
	out := w.con.Out
	where := fmt.Sprintf("line %d", c.Line)
	if c.Line == 0 {
		where = "a new line"
	}
	if c.Path != s.Path {
		where = filepath.Base(c.Path) + " " + where
	}
	w.line("%s: %s (%s): %s", term.OneLine(where), out.Paint(term.Bold, c.Action), c.Fault, term.OneLine(c.Note))
	before, after := [][2]string{}, [][2]string{}
	switch c.Action {
	case "removed":
		before = append(before, [2]string{"", c.Before})
	case "added":
		after = append(after, [2]string{"", c.After})
	default:
		for _, m := range c.Members() {
			if m.Before != "" {
				before = append(before, [2]string{m.Name + ": ", m.Before})
			}
			if m.After != "" {
				after = append(after, [2]string{m.Name + ": ", m.After})
			}
		}
	}
	w.side(term.Red, "-", before)
	w.side(term.Green, "+", after)
}

// shownOfLine limits the shown part of a session line.
const shownOfLine = 200

func (w *sessionWork) side(s term.Style, mark string, texts [][2]string) {
	limit := shownOfLine
	if w.con.Out.Width > 8 {
		limit = w.con.Out.Width - 4
	}
	for _, t := range texts {
		text := strings.TrimSpace(term.OneLine(t[0] + t[1]))
		w.line("  %s", w.con.Out.Paint(s, mark+" "+term.Shorten(text, limit)))
	}
}
