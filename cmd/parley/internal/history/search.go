package history

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/transcript"
)

// wireHit is a hit in JSON.
type wireHit struct {
	SessionID string          `json:"sessionId"`
	Title     string          `json:"title"`
	AgentID   string          `json:"agentId,omitempty"`
	UUID      string          `json:"uuid,omitempty"`
	Time      *time.Time      `json:"time,omitempty"`
	Role      transcript.Role `json:"role"`
	Tool      string          `json:"tool,omitempty"`
	Snippet   string          `json:"snippet"`
	Start     int             `json:"start"`
	End       int             `json:"end"`
	Resume    string          `json:"resume"`
	Path      string          `json:"path"`
}

var searchRoles = []transcript.Role{transcript.RoleUser, transcript.RoleAssistant, transcript.RoleTool, transcript.RoleSystem, transcript.RoleTitle}

func newSessionsSearch(code *int) *cobra.Command {
	f, q, roles := &finderFlags{}, transcript.Query{}, []string{}
	return sessionCommand{
		use: "search TEXT [flags]", short: "Search the text of all sessions", long: sessionsSearchLong, example: sessionsSearchExample,
		args: term.Arguments(1, 1), codex: true,
		flags: func(cmd *cobra.Command) {
			fs := cmd.Flags()
			fs.StringSliceVar(&roles, "role", nil, "only in these `words`: user, assistant, tool, system, title")
			fs.StringVar(&q.Tool, "tool", "", "only in uses and results of this `tool`")
			fs.BoolVar(&q.CaseSensitive, "case", false, "tell upper case from lower")
			fs.BoolVar(&q.MainOnly, "no-subagents", false, "without subagents")
			fs.IntVarP(&q.Hits, "limit", "n", 0, "stop after so many hits; 0 is all")
			f.register(cmd)
		},
		run: func(w *sessionWork, args []string) (err error) {
			q.Text = args[0]
			if q.Text == "" {
				return term.Usagef("nothing to search for")
			}
			if q.Filter, err = f.filter(); err != nil {
				return err
			}
			for _, r := range roles {
				if !slices.Contains(searchRoles, transcript.Role(r)) {
					return term.Usagef("--role %s: it is one of %v", r, searchRoles)
				}
				q.Roles = append(q.Roles, transcript.Role(r))
			}
			return w.search(q)
		},
	}.command(code)
}

// search shows hits as they are found, those of a session below its title.
func (w *sessionWork) search(q transcript.Query) error {
	last, n := "", 0
	for hit, err := range w.claudeHits(q) {
		if err != nil {
			return err
		}
		n++
		if w.json {
			if err := w.writeLine(newWireHit(hit)); err != nil {
				return err
			}
			last = hit.Session.SessionID
			continue
		}
		if hit.Session.SessionID != last {
			last = hit.Session.SessionID
			w.paragraph()
			w.hitHead(hit)
		}
		w.hit(hit)
		if w.con.Out.Err != nil {
			return nil // do says so
		}
	}
	left := q
	if q.Hits > 0 {
		left.Hits = max(0, q.Hits-n)
	}
	if q.Hits == 0 || left.Hits > 0 {
		found, err := w.searchThreads(left)
		if err != nil {
			return err
		}
		n += found
	}
	if n == 0 {
		w.fail = true
		if !w.json {
			w.con.Note("it is in no session")
		}
	}
	return nil
}

// claudeHits are the hits in sessions of Claude; none where they are not asked for.
func (w *sessionWork) claudeHits(q transcript.Query) iter.Seq2[*transcript.Hit, error] {
	if w.whose == Codex {
		return func(func(*transcript.Hit, error) bool) {}
	}
	return w.dir.Search(w.ctx, q)
}

func newWireHit(hit *transcript.Hit) *wireHit {
	h := &wireHit{
		SessionID: hit.Session.SessionID, Title: hit.Session.Summary, AgentID: hit.AgentID, UUID: hit.UUID, Role: hit.Role, Tool: hit.Tool,
		Snippet: hit.Snippet, Start: hit.Start, End: hit.End, Resume: hit.Resume, Path: hit.Session.Path,
	}
	if !hit.Time.IsZero() {
		h.Time = &hit.Time
	}
	return h
}

// hitHead writes which session the next hits are in. The command is whole, so that it
// can be copied.
func (w *sessionWork) hitHead(hit *transcript.Hit) {
	out := w.con.Out
	when, title := timeText(hit.Session.LastModified), term.OneLine(hit.Session.Summary)
	if out.TTY {
		title = term.Shorten(title, max(20, out.Width-term.Width(when)-2))
	}
	w.line("%s  %s", out.Paint(term.Bold, title), out.Paint(term.Dim, when))
	w.line("%s", out.Paint(term.Dim, term.Sanitize(hit.Resume)))
}

func (w *sessionWork) hit(hit *transcript.Hit) {
	out := w.con.Out
	who := string(hit.Role)
	if hit.Tool != "" {
		who += " " + term.OneLine(hit.Tool)
	}
	if hit.AgentID != "" {
		who += " in " + term.OneLine(hit.AgentID)
	}
	before, match, after := out.Show(hit.Snippet[:hit.Start]), out.Show(hit.Snippet[hit.Start:hit.End]), out.Show(hit.Snippet[hit.End:])
	head := fmt.Sprintf("  %s %s: ", timeText(hit.Time), who)
	if out.TTY { // the match stays in sight
		room := max(20, out.Width-term.Width(head)-term.Width(match))
		if cut := term.Width(before) - room/2; cut > 0 {
			runes := []rune(before)
			before = "…" + string(runes[min(len(runes), cut+1):])
		}
		after = term.Shorten(after, max(1, room-term.Width(before)))
	}
	out.Line(out.Paint(term.Dim, head) + before + out.Paint(term.Yellow, match) + strings.TrimRight(after, " "))
}
