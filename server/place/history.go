package place

import (
	"context"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
)

// Histories returns the histories of the agents that have one.
func (l *Local) Histories(context.Context) ([]History, error) {
	var all []History
	for _, p := range l.Agents {
		k, ok := p.(agent.HistoryKeeper)
		if !ok {
			continue
		}
		h := k.History()
		if l.Confined {
			h = confined{h, l}
		}
		all = append(all, History{p.Name(), h})
	}
	return all, nil
}

// confined is a read-only history that shows another machine only the sessions below the offered directories.
type confined struct {
	agent.History
	l *Local
}

// see returns an error for a session outside of the offered directories.
func (c confined) see(ctx context.Context, id string) error {
	m, err := c.History.Metadata(ctx, id)
	if err == nil && !c.l.offers(m.Dir) {
		err = agent.ErrNotFound // the caller must not learn whether the session exists
	}
	return err
}

// offers reports whether a directory exists and is offered.
func (l *Local) offers(dir string) bool {
	_, err := l.Dir(dir)
	return err == nil
}

func (c confined) List(ctx context.Context, q agent.HistoryQuery) ([]agent.HistoryInfo, string, error) {
	list, cursor, err := c.History.List(ctx, q)
	list = slices.DeleteFunc(slices.Clone(list), func(i agent.HistoryInfo) bool { return !c.l.offers(i.Dir) })
	return list, cursor, err
}

func (c confined) Search(ctx context.Context, q agent.HistoryQuery) ([]agent.HistoryHit, string, error) {
	hits, cursor, err := c.History.Search(ctx, q)
	seen := map[string]bool{}
	hits = slices.DeleteFunc(slices.Clone(hits), func(h agent.HistoryHit) bool {
		if _, looked := seen[h.ID]; !looked {
			seen[h.ID] = c.see(ctx, h.ID) == nil
		}
		return !seen[h.ID]
	})
	return hits, cursor, err
}

func (c confined) Load(ctx context.Context, id string, page agent.HistoryPage) (agent.HistoryEvents, error) {
	if err := c.see(ctx, id); err != nil {
		return agent.HistoryEvents{}, err
	}
	return c.History.Load(ctx, id, page)
}

func (c confined) Metadata(ctx context.Context, id string) (agent.HistoryMetadata, error) {
	if err := c.see(ctx, id); err != nil {
		return agent.HistoryMetadata{}, err
	}
	return c.History.Metadata(ctx, id)
}

func (c confined) Export(ctx context.Context, id, format string) (agent.HistoryExport, error) {
	if err := c.see(ctx, id); err != nil {
		return agent.HistoryExport{}, err
	}
	return c.History.Export(ctx, id, format)
}

func (c confined) Rename(context.Context, string, string) error { return agent.ErrUnsupported }
func (c confined) Tag(context.Context, string, string) error    { return agent.ErrUnsupported }
func (c confined) Delete(context.Context, string) error         { return agent.ErrUnsupported }

// Usage returns the usage of the agents that keep accounts. If Confined is set, the usage is the sum over the offered
// projects.
func (l *Local) Usage(ctx context.Context, q agent.UsageQuery) ([]agent.Usage, error) {
	rows, found := []agent.Usage{}, false
	for _, p := range l.Agents {
		reporter, ok := p.(agent.UsageReporter)
		if !ok {
			continue
		}
		found = true
		list, err := l.usage(ctx, reporter, q)
		if err != nil {
			return nil, err
		}
		rows = append(rows, list...)
	}
	if !found {
		return nil, fail(api.Unsupported, "no agent of this server keeps accounts")
	}
	return rows, nil
}

func (l *Local) usage(ctx context.Context, reporter agent.UsageReporter, q agent.UsageQuery) ([]agent.Usage, error) {
	if !l.Confined {
		return reporter.Usage(ctx, q)
	}
	ofProjects := q
	ofProjects.GroupBy = "project"
	projects, err := reporter.Usage(ctx, ofProjects)
	if err != nil {
		return nil, err
	}
	sum, seen := []agent.Usage{}, map[string]bool{}
	for _, project := range projects {
		if !l.offers(project.Group) {
			continue
		}
		if q.GroupBy == "project" {
			sum = add(sum, project)
			continue
		}
		if seen[project.Group] {
			continue
		}
		seen[project.Group] = true
		one := q
		one.Project = project.Group
		rows, err := reporter.Usage(ctx, one)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			sum = add(sum, row)
		}
	}
	slices.SortFunc(sum, func(a, b agent.Usage) int { return strings.Compare(a.Group, b.Group) })
	return sum, nil
}

// add adds a row to the sum of its group. The cost of the sum is unknown if the cost of either row is.
func add(sum []agent.Usage, row agent.Usage) []agent.Usage {
	i := slices.IndexFunc(sum, func(u agent.Usage) bool { return u.Group == row.Group })
	if i < 0 {
		return append(sum, row)
	}
	u := &sum[i]
	if u.CostUSD != nil && row.CostUSD != nil {
		u.CostUSD = new(*u.CostUSD + *row.CostUSD)
	} else {
		u.CostUSD = nil
	}
	u.InputTokens += row.InputTokens
	u.OutputTokens += row.OutputTokens
	u.CacheCreationInputTokens += row.CacheCreationInputTokens
	u.CacheReadInputTokens += row.CacheReadInputTokens
	return sum
}
