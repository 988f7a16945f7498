package server

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/server/session"
)

// keeping returns a machine and the histories on it that a caller may read.
func (s *Server) keeping(ctx context.Context, c *caller, machine string) (place.Place, error) {
	if machine != "" {
		return s.placeFor(c, machine)
	}
	providers, err := s.tenants.apart(ctx, c.principal)
	return &place.Local{Roots: s.opts.Directories, Manager: s.workspaces, Agents: providers}, err
}

// histories returns the histories of a machine's agents that a caller may read, or only that of the
// named agent.
func (s *Server) histories(ctx context.Context, c *caller, machine, provider string) ([]place.History, error) {
	at, err := s.keeping(ctx, c, machine)
	if err != nil {
		return nil, err
	}
	all, err := at.Histories(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(h place.History) bool { return provider != "" && h.Agent != provider })
	if len(all) == 0 {
		return nil, session.Fail(api.Unsupported, "no agent of this server keeps a history")
	}
	return all, nil
}

// liveSessions returns an agent's sessions on this machine that other processes have open.
func (s *Server) liveSessions(ctx context.Context, c *caller, machine, name string) map[string]agent.Live {
	if machine != "" {
		return nil
	}
	provider, _, err := s.provider(ctx, c.tenant, name)
	if err != nil {
		return nil
	}
	return session.Of[session.Terminals](s.sessions).Lives(ctx, provider)
}

// inHistory calls f with each history of a machine until one contains the session.
func (s *Server) inHistory(ctx context.Context, c *caller, machine string, f func(agent.History) error) error {
	all, err := s.histories(ctx, c, machine, "")
	if err != nil {
		return err
	}
	err = agent.ErrNotFound
	for _, h := range all {
		if err = f(h); !errors.Is(err, agent.ErrNotFound) {
			return err
		}
	}
	return err
}

// paged requests a page from the histories, one after the other. The cursor contains the history
// and its cursor.
func paged[T any](ctx context.Context, s *Server, c *caller, machine, provider, cursor string, ask func(place.History, string) ([]T, string, error)) ([]T, string, error) {
	all, err := s.histories(ctx, c, machine, provider)
	if err != nil {
		return nil, "", err
	}
	return pageOf(all, cursor, ask)
}

// pageOf requests a page from histories; see paged.
func pageOf[H, T any](all []H, cursor string, ask func(H, string) ([]T, string, error)) ([]T, string, error) {
	i, rest := 0, ""
	if cursor != "" {
		number, own, ok := strings.Cut(cursor, ":")
		n, err := strconv.Atoi(number)
		if !ok || err != nil || n < 0 || n >= len(all) {
			return nil, "", session.Invalid("the cursor is not one of this list")
		}
		i, rest = n, own
	}
	for ; i < len(all); i++ {
		list, next, err := ask(all[i], rest)
		switch {
		case err != nil:
			return nil, "", err
		case next != "":
			return list, strconv.Itoa(i) + ":" + next, nil
		case i+1 < len(all) && len(list) > 0:
			return list, strconv.Itoa(i+1) + ":", nil
		case len(list) > 0 || i+1 == len(all):
			return list, "", nil
		}
		rest = ""
	}
	return nil, "", nil
}

func historyInfo(h agent.HistoryInfo) api.HistoryInfo {
	info := api.HistoryInfo{
		SessionID: h.ID, Summary: h.Summary, CustomTitle: h.CustomTitle, FirstPrompt: h.FirstPrompt, Tag: h.Tag, CWD: h.Dir,
		GitBranch: h.GitBranch, FileSize: h.FileSize, Archived: h.Archived,
	}
	if !h.Created.IsZero() {
		info.CreatedAt = session.Timestamp(h.Created)
	}
	if !h.Modified.IsZero() {
		info.LastModified = session.Timestamp(h.Modified)
	}
	return info
}

func historyList(s *Server, ctx context.Context, c *caller, p api.HistoryListParams) (api.HistoryListResult, error) {
	all, cursor, err := paged(ctx, s, c, p.Machine, p.Provider, p.Cursor, func(h place.History, cursor string) ([]api.HistoryInfo, string, error) {
		list, next, err := h.List(ctx, agent.HistoryQuery{Project: p.Project, Query: p.Query, Cursor: cursor, Limit: p.Limit})
		lives := s.liveSessions(ctx, c, p.Machine, h.Agent)
		var infos []api.HistoryInfo
		for _, one := range list {
			info := historyInfo(one)
			info.Provider = h.Agent
			if _, ok := lives[one.ID]; ok {
				info.Live = session.LiveTerminal
			}
			infos = append(infos, info)
		}
		return infos, next, err
	})
	return api.HistoryListResult{Sessions: append([]api.HistoryInfo{}, all...), Cursor: cursor}, err
}

func historyLoad(s *Server, ctx context.Context, c *caller, p api.HistoryLoadParams) (api.HistoryLoadResult, error) {
	var result api.HistoryLoadResult
	err := s.inHistory(ctx, c, p.Machine, func(h agent.History) error {
		events, err := h.Load(ctx, p.Session, agent.HistoryPage{Before: p.Before, After: p.After, Limit: p.Limit, Leaf: p.Leaf})
		if err != nil {
			return err
		}
		var conv event.Conversation
		for ev, err := range events.Events {
			if err != nil {
				return err
			}
			conv.Apply(ev)
		}
		data, err := conv.MarshalJSON()
		result = api.HistoryLoadResult{Conversation: event.JSON(data), HasMore: events.HasMore}
		return err
	})
	return result, err
}

func historyMetadata(s *Server, ctx context.Context, c *caller, p api.HistoryRef) (api.HistoryMetadataResult, error) {
	var result api.HistoryMetadataResult
	err := s.inHistory(ctx, c, p.Machine, func(h agent.History) error {
		m, err := h.Metadata(ctx, p.Session)
		result = api.HistoryMetadataResult{Info: historyInfo(m.HistoryInfo), Messages: m.Messages, Branches: m.Branches, Versions: historyVersions(m.Versions)}
		return err
	})
	return result, err
}

func historyRename(s *Server, ctx context.Context, c *caller, p api.HistoryRenameParams) (api.Empty, error) {
	title, ok := session.ValidTitle(p.Title)
	if !ok {
		return api.Empty{}, session.Invalid("a title is one line of at most %d visible characters", session.MaxTitle)
	}
	return api.Empty{}, s.inHistory(ctx, c, "", func(h agent.History) error { return h.Rename(ctx, p.Session, title) })
}

func historyTag(s *Server, ctx context.Context, c *caller, p api.HistoryTagParams) (api.Empty, error) {
	return api.Empty{}, s.inHistory(ctx, c, "", func(h agent.History) error { return h.Tag(ctx, p.Session, p.Tag) })
}

// historyDelete deletes a session on disk, unless a session of the server uses it.
func historyDelete(s *Server, ctx context.Context, c *caller, p api.HistoryRef) (api.Empty, error) {
	if s.sessions.HasAgent(ctx, p.Session) {
		return api.Empty{}, session.Conflict("the session is open here; delete it with session.delete")
	}
	return api.Empty{}, s.inHistory(ctx, c, p.Machine, func(h agent.History) error { return h.Delete(ctx, p.Session) })
}

func historyExport(s *Server, ctx context.Context, c *caller, p api.HistoryExportParams) (api.HistoryExportResult, error) {
	if !slices.Contains([]string{"markdown", "json", "html"}, p.Format) {
		return api.HistoryExportResult{}, session.Invalid("format is %q, not markdown, json or html", p.Format)
	}
	var result api.HistoryExportResult
	err := s.inHistory(ctx, c, p.Machine, func(h agent.History) error {
		x, err := h.Export(ctx, p.Session, p.Format)
		result = api.HistoryExportResult{Name: x.Name, MediaType: x.MediaType, Text: x.Text}
		return err
	})
	return result, err
}

func historySearch(s *Server, ctx context.Context, c *caller, p api.HistorySearchParams) (api.HistorySearchResult, error) {
	if strings.TrimSpace(p.Query) == "" {
		return api.HistorySearchResult{}, session.Invalid("the query is empty")
	}
	hits, cursor, err := paged(ctx, s, c, p.Machine, "", p.Cursor, func(h place.History, cursor string) ([]agent.HistoryHit, string, error) {
		return h.Search(ctx, agent.HistoryQuery{Project: p.Project, Query: p.Query, Cursor: cursor, Limit: p.Limit})
	})
	result := api.HistorySearchResult{Hits: []api.HistoryHit{}, Cursor: cursor}
	for _, h := range hits {
		result.Hits = append(result.Hits, api.HistoryHit{Session: h.ID, UUID: h.UUID, Excerpt: h.Excerpt})
	}
	return result, err
}

func usageSummary(s *Server, ctx context.Context, c *caller, p api.UsageSummaryParams) (api.UsageSummaryResult, error) {
	q := agent.UsageQuery{Project: p.Project, GroupBy: p.GroupBy}
	if !slices.Contains([]string{"", "day", "model", "project", "block"}, p.GroupBy) {
		return api.UsageSummaryResult{}, session.Invalid("group_by is %q, not day, model, project or block", p.GroupBy)
	}
	for _, t := range []struct {
		text string
		dst  *time.Time
	}{{p.Since, &q.Since}, {p.Until, &q.Until}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.dst, err = time.Parse(time.RFC3339, t.text); err != nil {
			return api.UsageSummaryResult{}, session.Invalid("%q is not a time of RFC 3339", t.text)
		}
	}
	result := api.UsageSummaryResult{Rows: []api.UsageRow{}}
	at, err := s.keeping(ctx, c, p.Machine)
	if err != nil {
		return result, err
	}
	rows, err := at.Usage(ctx, q)
	for _, u := range rows {
		result.Rows = append(result.Rows, api.UsageRow(u)) // the same fields, with JSON names
	}
	return result, err
}

func historyVersions(list []agent.HistoryVersion) (out []api.HistoryVersion) {
	for _, v := range list {
		out = append(out, api.HistoryVersion{UUID: v.UUID, Parent: v.Parent, Leaf: v.Leaf, TS: v.Time})
	}
	return out
}
