package claudeagent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/transcript"
	"github.com/seed7221b0f9/parley/transcript/export"
)

// HistoryIn returns the past sessions of a configuration directory.
func HistoryIn(dir *transcript.Dir) agent.HistoryBrowser { return history{&Provider{}, dir} }

// session returns the session with an id or a file.
func (h history) session(id string) (*transcript.Session, error) {
	if filepath.IsAbs(id) && strings.HasSuffix(id, ".jsonl") {
		return transcript.File(id), nil
	}
	return h.dir.Session(id)
}

func (h history) Locate(_ context.Context, id string) (string, error) {
	s, err := h.dir.Session(id)
	if err != nil {
		return "", translate(err)
	}
	return s.ID, nil
}

// Index returns the cache of session lists, or nil if there is no directory for it.
func Index() *transcript.Index {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	index, err := transcript.OpenIndex(filepath.Join(cache, "parley"))
	if err != nil {
		return nil
	}
	return index
}

func filterOf(f agent.HistoryFilter) transcript.Filter {
	return transcript.Filter{Dir: f.Dir, NoWorktrees: f.NoWorktrees, NoProgrammatic: f.NoPrograms, Branch: f.Branch, Since: f.Since, Until: f.Until}
}

func (h history) Find(ctx context.Context, f agent.HistoryFilter) iter.Seq2[agent.HistoryRow, error] {
	return func(yield func(agent.HistoryRow, error) bool) {
		filter := filterOf(f)
		filter.Index = Index()
		for info, err := range h.dir.Sessions(ctx, filter) {
			if err != nil {
				yield(agent.HistoryRow{}, err)
				return
			}
			row := rowOf(info)
			if (f.Tag == "" || info.Tag == f.Tag) && (!f.Archived || row.Archived) && !yield(row, nil) {
				return
			}
		}
	}
}

func rowOf(info *transcript.Info) agent.HistoryRow {
	return agent.HistoryRow{HistoryInfo: historyInfo(info), Title: info.Summary, Path: info.Path, Resume: info.ResumeCommand(), Wire: row{info}}
}

// row is a session in JSON: the form of the official SDK, and the provider.
type row struct{ info *transcript.Info }

func (r row) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.info)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"provider":"claude",`), text[1:]...), nil
}

func (h history) Show(ctx context.Context, id string, o agent.HistoryShow) (agent.HistoryText, error) {
	s, err := h.session(id)
	if err != nil {
		return agent.HistoryText{}, err
	}
	messages := []*transcript.Message{}
	if o.Last == 0 {
		messages, err = s.Conversation(ctx, &transcript.ConversationOptions{System: o.System})
	} else if page, e := s.Page(ctx, transcript.PageQuery{Limit: o.Last, System: o.System}); e != nil {
		err = e
	} else {
		messages = page.Messages
	}
	if messages == nil {
		messages = []*transcript.Message{}
	}
	t := agent.HistoryText{Wire: messages}
	if err != nil || o.JSON {
		return t, err
	}
	for i, j := range transcript.Join(messages) {
		for _, b := range j.Blocks() {
			if p := partOf(b, o.Thinking); p.Kind != "" {
				p.Group, p.By, p.Time = i+1, speaker(j.Message), j.Time()
				t.Parts = append(t.Parts, p)
			}
		}
	}
	return t, nil
}

// partOf returns a block as a part, with an empty kind if it is not shown.
func partOf(b message.ContentBlock, thinking bool) agent.HistoryPart {
	switch b := b.(type) {
	case *message.Text:
		if strings.TrimSpace(b.Text) != "" {
			return agent.HistoryPart{Kind: agent.PartText, Text: b.Text}
		}
	case *message.Thinking:
		if thinking && b.Thinking != "" {
			return agent.HistoryPart{Kind: agent.PartText, Text: "> " + strings.ReplaceAll(b.Thinking, "\n", "\n> ")}
		}
	case *message.ToolUse:
		return agent.HistoryPart{Kind: agent.PartTool, Name: b.Name, Text: ToolLine(b.Input)}
	case *message.ToolResult:
		return agent.HistoryPart{Kind: agent.PartResult, Text: b.Content.String(), Failed: b.IsError}
	case *message.RedactedThinking:
	default:
		return agent.HistoryPart{Kind: agent.PartBlock, Text: fmt.Sprintf("[%T]", b)}
	}
	return agent.HistoryPart{}
}

// ToolLine returns the most informative member of a tool's input, or all of it.
func ToolLine(input message.JSON) string {
	var m map[string]any
	if input.Decode(&m) != nil {
		return string(input)
	}
	for _, name := range []string{"command", "file_path", "pattern", "path", "url", "query", "description", "prompt"} {
		if s, ok := m[name].(string); ok && s != "" {
			return s
		}
	}
	return string(input)
}

func speaker(m *transcript.Message) string {
	switch {
	case m.IsCompactSummary:
		return "summary"
	case m.Type == "system":
		if e, ok := m.Entry.(*transcript.SystemEntry); ok {
			return "system " + e.Subtype
		}
	}
	return m.Type
}

// match is a search match in JSON.
type match struct {
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

func (h history) Grep(ctx context.Context, q agent.HistoryGrep) iter.Seq2[agent.HistoryMatch, error] {
	query := transcript.Query{Text: q.Text, CaseSensitive: q.CaseSensitive, Filter: filterOf(q.HistoryFilter), Tool: q.Tool, MainOnly: q.MainOnly, Hits: q.Limit}
	for _, r := range q.Roles {
		query.Roles = append(query.Roles, transcript.Role(r))
	}
	return func(yield func(agent.HistoryMatch, error) bool) {
		for hit, err := range h.dir.Search(ctx, query) {
			if err != nil {
				yield(agent.HistoryMatch{}, err)
				return
			}
			if !yield(matchOf(hit), nil) {
				return
			}
		}
	}
}

func matchOf(hit *transcript.Hit) agent.HistoryMatch {
	wire := &match{
		SessionID: hit.Session.SessionID, Title: hit.Session.Summary, AgentID: hit.AgentID, UUID: hit.UUID, Role: hit.Role, Tool: hit.Tool,
		Snippet: hit.Snippet, Start: hit.Start, End: hit.End, Resume: hit.Resume, Path: hit.Session.Path,
	}
	if !hit.Time.IsZero() {
		wire.Time = &hit.Time
	}
	return agent.HistoryMatch{
		HistoryHit: agent.HistoryHit{ID: hit.Session.SessionID, UUID: hit.UUID, Excerpt: hit.Snippet},
		Row:        rowOf(hit.Session), Role: string(hit.Role), Tool: hit.Tool, AgentID: hit.AgentID, Time: hit.Time, Start: hit.Start, End: hit.End, Wire: wire,
	}
}

func (h history) Render(ctx context.Context, w io.Writer, id string, o agent.HistoryRender) error {
	s, err := h.session(id)
	if err != nil {
		return err
	}
	opts := &export.Options{
		Redact: o.Redact, Secrets: o.Secrets, System: o.System, NoThinking: o.NoThinking, NoTools: o.NoTools, NoSubagents: o.NoSubagents,
	}
	if o.File != "" {
		return export.File(ctx, o.File, s, export.Format(o.Format), opts, o.Replace)
	}
	return export.Write(ctx, w, s, export.Format(o.Format), opts)
}
