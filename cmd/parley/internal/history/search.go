package history

import (
	"errors"
	"fmt"
	"github.com/seed7221b0f9/parley/agent"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

var searchRoles = []transcript.Role{transcript.RoleUser, transcript.RoleAssistant, transcript.RoleTool, transcript.RoleSystem, transcript.RoleTitle}

func newSessionsSearch(code *int) *cobra.Command {
	f, q := &finderFlags{}, agent.HistoryGrep{}
	return sessionCommand{
		use: "search TEXT [flags]", short: "Search the text of all sessions", long: sessionsSearchLong, example: sessionsSearchExample,
		args: term.Arguments(1, 1), codex: true, said: true,
		flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringSliceVar(&q.Roles, "role", nil, "only texts of these `roles`: user, assistant, tool, system, title")
			fs.StringVar(&q.Tool, "tool", "", "only in uses and results of this `tool`")
			fs.BoolVar(&q.CaseSensitive, "case", false, "distinguish upper and lower case")
			fs.BoolVar(&q.MainOnly, "no-subagents", false, "omit subagents")
			fs.IntVarP(&q.Limit, "limit", "n", 0, "stop after this number of matches; 0 is all")
			f.register(cmd)
		},
		run: func(w *sessionWork, args []string) (err error) {
			q.Text = args[0]
			if q.Text == "" {
				return term.Usagef("nothing to search for")
			}
			if q.HistoryFilter, err = f.filter(); err != nil {
				return err
			}
			for _, r := range q.Roles {
				if !slices.Contains(searchRoles, transcript.Role(r)) {
					return term.Usagef("--role %s: it is one of %v", r, searchRoles)
				}
			}
			return w.search(q)
		},
	}.command(code)
}

// search shows matches as they are found, grouped below the title of their session.
func (w *sessionWork) search(q agent.HistoryGrep) error {
	n, limit := 0, q.Limit
	for _, s := range w.sources {
		if q.Limit = limit - n; limit > 0 && q.Limit <= 0 {
			break
		}
		q.Limit = max(0, q.Limit)
		last := ""
		for m, err := range s.Grep(w.ctx, q) {
			if errors.Is(err, agent.ErrUnsupported) {
				w.con.Note(fmt.Sprintf("sessions of %s are not searched: --role, --tool and --case are unsupported for them", s.name))
				break
			}
			if err := w.noteProblem(s, err); err != nil {
				return err
			}
			if err != nil {
				continue
			}
			n++
			if err := w.match(s, &m, m.ID != last); err != nil || w.con.Out.Err != nil {
				return err // Run checks the error of the pen
			}
			last = m.ID
		}
	}
	if n == 0 {
		w.fail = true
		if !w.json {
			w.con.Note("it is in no session")
		}
	}
	return nil
}

// match writes a match. The first match of a session follows its title and the command that
// resumes it, which is never cut, so that it can be copied.
func (w *sessionWork) match(s *source, m *agent.HistoryMatch, first bool) error {
	if w.json {
		return w.con.Out.Encode(m.Wire, "")
	}
	out := w.con.Out
	if first {
		when, title := timeText(m.Row.Modified), term.OneLine(m.Row.Title)
		if s.name != Claude {
			when += " " + s.name
		}
		if out.TTY {
			title = term.Shorten(title, max(20, out.Width-term.Width(when)-2))
		}
		w.paragraph()
		w.line("%s  %s", out.Paint(term.Bold, title), out.Paint(term.Dim, when))
		w.line("%s", out.Paint(term.Dim, term.Sanitize(m.Row.Resume)))
	}
	if m.Role == "" {
		out.Line("  " + term.OneLine(m.Excerpt))
		return nil
	}
	w.hit(m)
	return nil
}

func (w *sessionWork) hit(hit *agent.HistoryMatch) {
	out := w.con.Out
	who := hit.Role
	if hit.Tool != "" {
		who += " " + term.OneLine(hit.Tool)
	}
	if hit.AgentID != "" {
		who += " in " + term.OneLine(hit.AgentID)
	}
	before, match, after := out.Show(hit.Excerpt[:hit.Start]), out.Show(hit.Excerpt[hit.Start:hit.End]), out.Show(hit.Excerpt[hit.End:])
	head := fmt.Sprintf("  %s %s: ", timeText(hit.Time), who)
	if out.TTY { // keeps the match visible
		room := max(20, out.Width-term.Width(head)-term.Width(match))
		if cut := term.Width(before) - room/2; cut > 0 {
			runes := []rune(before)
			before = "…" + string(runes[min(len(runes), cut+1):])
		}
		after = term.Shorten(after, max(1, room-term.Width(before)))
	}
	out.Line(out.Paint(term.Dim, head) + before + out.Paint(term.Yellow, match) + strings.TrimRight(after, " "))
}
