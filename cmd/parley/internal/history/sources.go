package history

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/transcript"
)

// source is the history of one agent.
type source struct {
	agent.HistoryBrowser
	name  string
	place string
	dir   *transcript.Dir // nil if the sessions are not files of package transcript
}

func claudeSource(dir *transcript.Dir) *source {
	return &source{HistoryBrowser: claudeagent.HistoryIn(dir), name: Claude, place: dir.Path(), dir: dir}
}

func codexSource(home string) *source {
	h := (&codexagent.Provider{Options: codex.Options{Home: home}}).History()
	return &source{HistoryBrowser: h.(agent.HistoryBrowser), name: Codex, place: home} // codexagent asserts it
}

// sources returns the histories that the flags select.
func (f *Whose) sources(dir *transcript.Dir) (list []*source, err error) {
	if f.Agent != Codex {
		list = append(list, claudeSource(dir))
	}
	home, err := f.Codex()
	if home != "" {
		list = append(list, codexSource(home))
	}
	return list, err
}

// shortestID is the minimum length of an id prefix.
const shortestID = 4

// named reports whether a session has a name: the user's title, or the title in lists.
func named(row *agent.HistoryRow, name string) bool {
	return row.CustomTitle == name || row.Title == name || name != "" && term.OneLine(row.Title) == term.OneLine(name)
}

// find returns the session that an argument names: by an id or its prefix, a title in lists, or
// a file, which is a session of Claude with its path as the id.
func (w *sessionWork) find(arg string) (*source, string, error) {
	if isFile(arg) {
		path, err := filepath.Abs(arg)
		return claudeSource(w.dir), path, err
	}
	for _, s := range w.sources {
		id, err := s.Locate(w.ctx, arg)
		if !errors.Is(err, agent.ErrNotFound) {
			return s, id, err
		}
		var found []string
		for row, err := range s.Find(w.ctx, agent.HistoryFilter{}) {
			if err := w.noteProblem(s, err); err != nil {
				return nil, "", err
			}
			if err == nil && (len(arg) >= shortestID && strings.HasPrefix(row.ID, strings.ToLower(arg)) || named(&row, arg)) {
				found = append(found, row.ID)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return s, found[0], nil
		default:
			return nil, "", fmt.Errorf("%s can be any of %d sessions: %s", term.OneLine(arg), len(found), strings.Join(found, ", "))
		}
	}
	return nil, "", fmt.Errorf("%w: %s", transcript.ErrNoSession, term.OneLine(arg))
}

// noteProblem writes a note about unreadable files, and returns other errors.
func (w *sessionWork) noteProblem(s *source, err error) error {
	problem, ok := errors.AsType[*agent.HistoryProblem](err)
	if !ok {
		return err
	}
	w.con.Note(fmt.Sprintf("%s of %s could not be read, the first: %v", term.Plural(int64(problem.Files), "file"), s.name, problem.First))
	return nil
}

// session is like find for a command that works on files of package transcript.
func (w *sessionWork) session(arg string) (*transcript.Session, error) {
	s, id, err := w.find(arg)
	switch {
	case err != nil:
		return nil, err
	case s.dir == nil:
		return nil, fmt.Errorf("%s is a session of %s, for which this command is unsupported", id, s.name)
	case isFile(arg):
		return transcript.File(id), nil
	}
	return s.dir.Session(id)
}

// Meters returns the meters of the selected agents, by name. It has no meter for Claude, because package
// transcript/usage reads Claude's files.
func (f *Whose) Meters() (map[string]agent.Meter, error) {
	home, err := f.Codex()
	if err != nil || home == "" {
		return nil, err
	}
	m, err := codexSource(home).HistoryBrowser.(agent.Metered).Meter() // codexagent asserts it
	return map[string]agent.Meter{Codex: m}, err
}
