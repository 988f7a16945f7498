package codexagent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event/prose"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/rollout"
)

var _ interface {
	agent.HistoryBrowser
	agent.Metered
} = history{}

func (h history) Locate(ctx context.Context, id string) (string, error) {
	dir, err := h.dir()
	if err != nil {
		return "", err
	}
	list, _, err := dir.List(ctx)
	if err != nil {
		return "", err
	}
	for _, s := range list {
		if strings.EqualFold(s.ThreadID, id) {
			return s.ThreadID, nil
		}
	}
	return "", fmt.Errorf("%w: session %s", agent.ErrNotFound, id)
}

func (h history) Find(ctx context.Context, f agent.HistoryFilter) iter.Seq2[agent.HistoryRow, error] {
	return func(yield func(agent.HistoryRow, error) bool) {
		dir, err := h.dir()
		if err != nil {
			yield(agent.HistoryRow{}, err)
			return
		}
		list, problems, err := dir.List(ctx)
		if len(problems) > 0 && !yield(agent.HistoryRow{}, &agent.HistoryProblem{Files: len(problems), First: problems[0]}) {
			return
		}
		for _, s := range list {
			if passes(s, f) && !yield(rowOf(s), nil) {
				return
			}
		}
		if err != nil {
			yield(agent.HistoryRow{}, err)
		}
	}
}

// passes reports whether a thread passes a filter. Threads have no tags.
func passes(s *rollout.Session, f agent.HistoryFilter) bool {
	switch {
	case f.Tag != "", f.Archived && !s.Archived, f.Dir != "" && !SameDir(f.Dir, s.CWD), f.Branch != "" && f.Branch != s.GitBranch:
		return false
	case !f.Since.IsZero() && s.ModifiedAt.Before(f.Since), !f.Until.IsZero() && !s.ModifiedAt.Before(f.Until):
		return false
	case f.NoPrograms && (!strings.HasPrefix(s.Originator, "codex") || strings.Contains(s.Originator, "exec")):
		return false
	}
	return true
}

// SameDir reports whether a directory is the working directory of a thread.
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

func rowOf(s *rollout.Session) agent.HistoryRow {
	r := agent.HistoryRow{HistoryInfo: info(s), Title: "(no messages)", Path: s.Path, Resume: "parley chat --agent codex --resume " + s.ThreadID}
	for _, text := range []string{s.AgentNickname, s.Preview, s.Name} {
		if text != "" {
			r.Title = text
		}
	}
	if r.Archived {
		r.Tag = "archived"
	}
	r.Wire = wireRow(s, r.Title)
	return r
}

// row is a thread in JSON, with the members that a session of Claude has.
type row struct {
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
}

func wireRow(s *rollout.Session, title string) *row {
	wire := &row{
		Provider: codexevent.Provider, SessionID: s.ThreadID, Summary: title, LastModified: s.ModifiedAt.UnixMilli(), FileSize: s.Size, CustomTitle: s.Name,
		FirstPrompt: s.Preview, GitBranch: s.GitBranch, CWD: s.CWD, Archived: s.Archived, Path: s.Path, Model: s.Model, ForkedFrom: s.ForkedFromID, Parent: s.ParentThreadID,
	}
	if !s.CreatedAt.IsZero() {
		wire.CreatedAt = new(s.CreatedAt.UnixMilli())
	}
	if s.Usage != nil {
		wire.TotalTokens = &s.Usage.Total.TotalTokens
	}
	return wire
}

// Show returns a thread. Consecutive parts of one speaker share a heading.
func (h history) Show(ctx context.Context, id string, o agent.HistoryShow) (t agent.HistoryText, err error) {
	if o.JSON {
		e, err := h.Export(ctx, id, "json")
		return agent.HistoryText{Wire: json.RawMessage(e.Text)}, err
	}
	c, err := h.fold(ctx, id)
	if err != nil {
		return t, err
	}
	entries := slices.DeleteFunc(prose.Entries(c), func(e prose.Entry) bool {
		return e.Kind == prose.Thinking && !o.Thinking || e.Kind == prose.Note && !o.System
	})
	if o.Last > 0 && len(entries) > o.Last {
		entries = entries[len(entries)-o.Last:]
	}
	by, group := "", 0
	for _, e := range entries {
		if name := speaker(&e); name != by {
			by = name
			group++
		}
		p := agent.HistoryPart{Kind: agent.PartText, Group: group, By: by, Text: e.Text}
		p.Time, _ = time.Parse(time.RFC3339Nano, e.Time) // zero if unknown
		switch e.Kind {
		case prose.Tool:
			p.Kind, p.Name = agent.PartTool, e.Name
			t.Parts = append(t.Parts, p)
			p.Kind, p.Text, p.Failed = agent.PartResult, e.Output, e.Failed
		case prose.Thinking, prose.Note:
			p.Text = e.Markdown(0)
		}
		t.Parts = append(t.Parts, p)
	}
	return t, nil
}

func speaker(e *prose.Entry) string {
	switch {
	case e.Depth > 0:
		return "subagent"
	case e.Kind == prose.User:
		return "user"
	}
	return "assistant"
}

func (h history) Grep(ctx context.Context, q agent.HistoryGrep) iter.Seq2[agent.HistoryMatch, error] {
	return func(yield func(agent.HistoryMatch, error) bool) {
		if len(q.Roles) > 0 || q.Tool != "" || q.CaseSensitive {
			yield(agent.HistoryMatch{}, unsupported("searching threads by role, tool or case"))
			return
		}
		rows := map[string]agent.HistoryRow{}
		for r, err := range h.Find(ctx, q.HistoryFilter) {
			if err == nil {
				rows[r.ID] = r
			} else if !yield(agent.HistoryMatch{}, err) {
				return
			}
		}
		n := 0
		for cursor := ""; ; {
			hits, next, err := h.Search(ctx, agent.HistoryQuery{Query: q.Text, Cursor: cursor})
			if err != nil {
				yield(agent.HistoryMatch{}, err)
				return
			}
			for _, hit := range hits {
				r, ok := rows[hit.ID]
				if !ok {
					continue
				}
				if n++; q.Limit > 0 && n > q.Limit || !yield(matchOf(hit, r), nil) {
					return
				}
			}
			if cursor = next; cursor == "" {
				return
			}
		}
	}
}

func matchOf(hit agent.HistoryHit, r agent.HistoryRow) agent.HistoryMatch {
	return agent.HistoryMatch{HistoryHit: hit, Row: r, Wire: map[string]any{
		"provider": codexevent.Provider, "sessionId": r.ID, "title": r.Title, "uuid": hit.UUID, "snippet": hit.Excerpt, "resume": r.Resume, "path": r.Path,
	}}
}

func (h history) Render(ctx context.Context, w io.Writer, id string, o agent.HistoryRender) error {
	if o.File != "" || o.Redact || len(o.Secrets) > 0 || o.System || o.NoThinking || o.NoTools || o.NoSubagents {
		return unsupported("options of an export of a thread")
	}
	e, err := h.Export(ctx, id, o.Format)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, e.Text)
	return err
}

// Meter returns a reader of the tokens of past requests.
func (h history) Meter() (agent.Meter, error) {
	dir, err := h.dir()
	if err != nil {
		return nil, err
	}
	return meter{dir.Meter()}, nil
}

type meter struct{ *rollout.Meter }

// Next counts cached tokens once: Codex also counts them as input.
func (m meter) Next(ctx context.Context) iter.Seq2[agent.Metering, error] {
	return func(yield func(agent.Metering, error) bool) {
		for r, err := range m.Meter.Next(ctx) {
			t := r.Tokens
			x := agent.Metering{
				Time: r.Time, SessionID: r.ThreadID, Project: r.CWD, Branch: r.Branch, Model: r.Model,
				Input:     max(0, t.InputTokens-t.CachedInputTokens-t.CacheWriteInputTokens),
				CacheRead: t.CachedInputTokens, CacheWrite: t.CacheWriteInputTokens, Output: t.OutputTokens,
			}
			if r.Parent != "" {
				x.SubagentID = r.ThreadID
			}
			if !yield(x, err) {
				return
			}
		}
	}
}
