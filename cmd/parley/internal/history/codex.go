package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	uiprose "github.com/seed7221b0f9/parley/agent/event/prose"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/rollout"
	"github.com/seed7221b0f9/parley/transcript"
)

// codexSessionError is a session that is one of Codex, where one of Claude is needed.
type codexSessionError struct{ id string }

func (e *codexSessionError) Error() string {
	return fmt.Sprintf("%s is a session of codex, for which this command is unsupported", e.id)
}

// isCodex returns the id of a session of Codex that an error is about.
func isCodex(err error) (id string, ok bool) {
	e, ok := errors.AsType[*codexSessionError](err)
	if !ok {
		return "", false
	}
	return e.id, true
}

// threads are the sessions of Codex, the newest first; none where they are not asked for.
func (w *sessionWork) threads() ([]*rollout.Session, error) {
	if w.codexHome == "" {
		return nil, nil
	}
	list, problems, err := rollout.Open(w.codexHome).List(w.ctx)
	if len(problems) > 0 {
		w.con.Note(fmt.Sprintf("%s of codex could not be read, the first: %v", term.Plural(int64(len(problems)), "file"), problems[0]))
	}
	return list, err
}

// thread finds the session of Codex that an argument means: an id, the beginning of one, or
// a name. It is transcript.ErrNoSession if there is none.
func (w *sessionWork) thread(arg string) (string, error) {
	list, err := w.threads()
	if err != nil {
		return "", err
	}
	var found []string
	for _, s := range list {
		switch {
		case strings.EqualFold(s.ThreadID, arg):
			return s.ThreadID, nil
		case len(arg) >= shortestID && strings.HasPrefix(s.ThreadID, strings.ToLower(arg)), arg != "" && term.OneLine(threadTitle(s)) == term.OneLine(arg):
			found = append(found, s.ThreadID)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w: %s", transcript.ErrNoSession, term.OneLine(arg))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s can be any of %d sessions: %s", term.OneLine(arg), len(found), strings.Join(found, ", "))
}

// history gives access to the sessions of Codex.
func (w *sessionWork) history() agent.History {
	return (&codexagent.Provider{Options: codex.Options{Home: w.codexHome}}).History()
}

// wantsThread reports whether a session of Codex passes the filter of a list.
func wantsThread(s *rollout.Session, f transcript.Filter) bool {
	switch {
	case f.Dir != "" && !SameDir(f.Dir, s.CWD), f.Branch != "" && f.Branch != s.GitBranch:
		return false
	case !f.Since.IsZero() && s.ModifiedAt.Before(f.Since), !f.Until.IsZero() && !s.ModifiedAt.Before(f.Until):
		return false
	case f.NoProgrammatic && (!strings.HasPrefix(s.Originator, "codex") || strings.Contains(s.Originator, "exec")):
		return false
	}
	return true
}

func SameDir(a, b string) bool {
	abs, err := filepath.Abs(a)
	if err != nil {
		return false
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil && real == b {
		return true
	}
	return abs == b
}

// listedSession is a session of either agent in a list.
type listedSession struct {
	claude *transcript.Info
	codex  *rollout.Session
}

func (s *listedSession) changed() time.Time {
	if s.codex != nil {
		return s.codex.ModifiedAt
	}
	return s.claude.LastModified
}

// MarshalJSON writes the form of the official SDK for Claude, with the agent's name as
// provider, and the same members for Codex as far as it has them.
func (s *listedSession) MarshalJSON() ([]byte, error) {
	if s.claude != nil {
		text, err := json.Marshal(s.claude)
		if err != nil {
			return nil, err
		}
		return append([]byte(`{"provider":"claude",`), text[1:]...), nil
	}
	c := s.codex
	wire := struct {
		Provider     string `json:"provider"`
		SessionID    string `json:"sessionId"`
		Summary      string `json:"summary"`
		LastModified int64  `json:"lastModified"`
		FileSize     int64  `json:"fileSize"`
		CustomTitle  string `json:"customTitle,omitempty"`
		FirstPrompt  string `json:"firstPrompt,omitempty"`
		GitBranch    string `json:"gitBranch,omitempty"`
		CWD          string `json:"cwd,omitempty"`
		CreatedAt    *int64 `json:"createdAt,omitempty"`
		Archived     bool   `json:"archived,omitempty"`
		Path         string `json:"path"`
		Model        string `json:"model,omitempty"`
		TotalTokens  *int64 `json:"totalTokens,omitempty"`
		ForkedFrom   string `json:"forkedFrom,omitempty"`
		Parent       string `json:"parentSessionId,omitempty"`
	}{
		Provider: Codex, SessionID: c.ThreadID, Summary: threadTitle(c), LastModified: c.ModifiedAt.UnixMilli(), FileSize: c.Size, CustomTitle: c.Name,
		FirstPrompt: c.Preview, GitBranch: c.GitBranch, CWD: c.CWD, Archived: c.Archived, Path: c.Path, Model: c.Model, ForkedFrom: c.ForkedFromID, Parent: c.ParentThreadID,
	}
	if !c.CreatedAt.IsZero() {
		wire.CreatedAt = new(c.CreatedAt.UnixMilli())
	}
	if c.Usage != nil {
		wire.TotalTokens = &c.Usage.Total.TotalTokens
	}
	return json.Marshal(wire)
}

func threadTitle(s *rollout.Session) string {
	for _, text := range []string{s.Name, s.Preview, s.AgentNickname} {
		if text != "" {
			return text
		}
	}
	return "(nothing was said)"
}

// merge puts the sessions of both agents together, the one that changed last first, and no
// more than a limit; 0 is all.
func merge(infos []*transcript.Info, threads []*rollout.Session, limit int) (list []*listedSession, more bool) {
	for _, i := range infos {
		list = append(list, &listedSession{claude: i})
	}
	for _, t := range threads {
		list = append(list, &listedSession{codex: t})
	}
	slices.SortStableFunc(list, func(a, b *listedSession) int { return b.changed().Compare(a.changed()) })
	if limit > 0 && len(list) > limit {
		return list[:limit], true
	}
	return list, false
}

// conversation reads a session of Codex.
func (w *sessionWork) conversation(id string) (*event.Conversation, error) {
	return foldHistory(w.ctx, w.history(), Codex, id)
}

// showThread writes a session of Codex as parley sessions show does.
func (f *showFlags) showThread(w *sessionWork, id string) error {
	if f.last < 0 {
		return term.Usagef("--last %d: it cannot be negative", f.last)
	}
	if w.json {
		return w.writeThread(id, "json")
	}
	c, err := w.conversation(id)
	if err != nil {
		return err
	}
	entries := slices.DeleteFunc(uiprose.Entries(c), func(e uiprose.Entry) bool {
		return e.Kind == uiprose.Thinking && !f.thinking || e.Kind == uiprose.Note && !f.system
	})
	if f.last > 0 && len(entries) > f.last {
		entries = entries[len(entries)-f.last:]
	}
	who := ""
	for _, e := range entries {
		f.entry(w, &e, &who)
	}
	return nil
}

// entry writes one thing; who is the heading that it stands below.
func (f *showFlags) entry(w *sessionWork, e *uiprose.Entry, who *string) {
	out := w.con.Out
	name := "assistant"
	switch {
	case e.Depth > 0:
		name = "subagent"
	case e.Kind == uiprose.User:
		name = "user"
	}
	if name != *who {
		*who = name
		w.paragraph()
		out.Line(out.Paint(term.Bold, "● "+name) + out.Paint(term.Dim, "  "+entryTime(e.Time)))
	}
	switch e.Kind {
	case uiprose.Tool:
		out.Line(out.Paint(term.Yellow, "▸ "+term.OneLine(e.Name)) + " " + term.Shorten(term.OneLine(e.Text), max(20, out.Width-8)))
		f.output(w, e.Output, e.Failed)
	case uiprose.Thinking, uiprose.Note:
		f.text(w, e.Markdown(0))
	default:
		f.text(w, e.Text)
	}
}

func entryTime(text string) string {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return ""
	}
	return timeText(t)
}

// writeThread writes a session of Codex in a format of its export.
func (w *sessionWork) writeThread(id, format string) error {
	e, err := w.history().Export(w.ctx, id, format)
	if err != nil {
		return err
	}
	w.con.Out.Print(w.con.Out.Show(e.Text))
	return nil // do looks at the pen
}

// searchThreads shows the hits in sessions of Codex, and returns how many there were.
func (w *sessionWork) searchThreads(q transcript.Query) (n int, err error) {
	if w.codexHome == "" {
		return 0, nil
	}
	if len(q.Roles) > 0 || q.Tool != "" || q.CaseSensitive {
		w.con.Note("sessions of codex are not searched: --role, --tool and --case are unsupported for them")
		return 0, nil
	}
	sessions, err := w.threads()
	if err != nil {
		return 0, err
	}
	byID := map[string]*rollout.Session{}
	for _, s := range sessions {
		if wantsThread(s, q.Filter) {
			byID[s.ThreadID] = s
		}
	}
	last := ""
	for cursor := ""; ; {
		var hits []agent.HistoryHit
		hits, cursor, err = w.history().Search(w.ctx, agent.HistoryQuery{Query: q.Text, Cursor: cursor})
		if err != nil {
			return n, err
		}
		for _, hit := range hits {
			s := byID[hit.ID]
			if s == nil || q.Hits > 0 && n >= q.Hits {
				continue
			}
			n++
			if err := w.threadHit(s, &hit, last != hit.ID); err != nil {
				return n, err
			}
			last = hit.ID
		}
		if cursor == "" || q.Hits > 0 && n >= q.Hits || w.con.Out.Err != nil {
			return n, nil
		}
	}
}

// threadHit shows a hit, the first of a session below its title.
func (w *sessionWork) threadHit(s *rollout.Session, hit *agent.HistoryHit, first bool) error {
	resume := "parley chat --agent codex --resume " + s.ThreadID
	if w.json {
		return w.writeLine(map[string]any{"provider": Codex, "sessionId": s.ThreadID, "title": threadTitle(s), "uuid": hit.UUID, "snippet": hit.Excerpt, "resume": resume, "path": s.Path})
	}
	out := w.con.Out
	if first {
		w.paragraph()
		w.line("%s  %s", out.Paint(term.Bold, term.OneLine(threadTitle(s))), out.Paint(term.Dim, timeText(s.ModifiedAt)+" codex"))
		w.line("%s", out.Paint(term.Dim, resume))
	}
	out.Line("  " + term.OneLine(hit.Excerpt))
	return nil
}
