package claudeagent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/transcript"
	"github.com/seed7221b0f9/parley/transcript/export"
	"github.com/seed7221b0f9/parley/transcript/usage"
)

// defaultPage is the default number of rows of a list.
const defaultPage = 100

// History returns access to the sessions on disk below the CLI's configuration directory,
// including those that other programs have written.
func (p *Provider) History() agent.History { return history{p, p.dir()} }

type history struct {
	p   *Provider
	dir *transcript.Dir
}

// span returns the requested part of a list.
func span(q agent.HistoryQuery) (offset, limit int, err error) {
	if q.Cursor != "" {
		if offset, err = strconv.Atoi(q.Cursor); err != nil || offset < 0 {
			return 0, 0, fmt.Errorf("%w: the cursor %q", agent.ErrInvalid, q.Cursor)
		}
	}
	if limit = int(q.Limit); limit <= 0 {
		limit = defaultPage
	}
	return offset, limit, nil
}

// List returns a page of sessions. It searches the query in their titles and prompts.
func (h history) List(ctx context.Context, q agent.HistoryQuery) (list []agent.HistoryInfo, cursor string, err error) {
	offset, limit, err := span(q)
	if err != nil {
		return nil, "", err
	}
	at := 0
	for info, err := range h.dir.Sessions(ctx, transcript.Filter{Dir: q.Project}) {
		if err != nil {
			return nil, "", translate(err)
		}
		if q.Query != "" && !matches(info, q.Query) {
			continue
		}
		if at++; at <= offset {
			continue
		}
		if len(list) == limit {
			return list, strconv.Itoa(offset + limit), nil
		}
		list = append(list, historyInfo(info))
	}
	return list, "", nil
}

// Metadata describes a session.
func (h history) Metadata(ctx context.Context, id string) (agent.HistoryMetadata, error) {
	s, err := h.dir.Session(id)
	if err != nil {
		return agent.HistoryMetadata{}, translate(err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		return agent.HistoryMetadata{}, translate(err)
	}
	m := agent.HistoryMetadata{HistoryInfo: historyInfo(info)}
	tree, err := s.Tree(ctx)
	if err != nil {
		return m, translate(err)
	}
	messages, err := s.Conversation(ctx, nil)
	m.Messages, m.Branches, m.Versions = int64(len(messages)), branches(tree), versions(tree)
	return m, translate(err)
}

// branches counts the ends of a tree.
func branches(tree *transcript.Tree) (n int64) {
	for rest := slices.Clone(tree.Roots); len(rest) > 0; {
		node := rest[len(rest)-1]
		rest = append(rest[:len(rest)-1], node.Children...)
		if len(node.Children) == 0 {
			n++
		}
	}
	return n
}

// line is a line of a conversation.
type line struct {
	uuid string
	raw  message.JSON
}

// Load reads a page of a session. A page with the whole conversation includes the messages of
// subagents.
func (h history) Load(ctx context.Context, id string, page agent.HistoryPage) (agent.HistoryEvents, error) {
	s, err := h.dir.Session(id)
	if err != nil {
		return agent.HistoryEvents{}, translate(err)
	}
	lines, err := branch(ctx, s, page.Leaf)
	if err != nil {
		return agent.HistoryEvents{}, translate(err)
	}
	from, to, err := cut(lines, page)
	if err != nil {
		return agent.HistoryEvents{}, err
	}
	whole := from == 0 && to == len(lines)
	return agent.HistoryEvents{HasMore: from > 0, Events: h.events(ctx, s, lines[from:to], whole)}, nil
}

// branch returns the conversation that ends with a message, or the newest one.
func branch(ctx context.Context, s *transcript.Session, leaf string) (lines []line, err error) {
	if leaf == "" {
		messages, err := s.Conversation(ctx, &transcript.ConversationOptions{System: true})
		for _, m := range messages {
			lines = append(lines, line{m.UUID, message.JSON(m.Entry.Raw())})
		}
		return lines, err
	}
	tree, err := s.Tree(ctx)
	if err != nil {
		return nil, err
	}
	node := tree.Node(leaf)
	if node == nil {
		return nil, fmt.Errorf("%w: %s", transcript.ErrNoMessage, leaf)
	}
	for ; node != nil; node = node.Parent {
		lines = append(lines, line{node.Link.UUID, message.JSON(node.Entry.Raw())})
	}
	slices.Reverse(lines)
	return lines, nil
}

// cut finds the part of a conversation for a page.
func cut(lines []line, page agent.HistoryPage) (from, to int, err error) {
	find := func(uuid string) int {
		return slices.IndexFunc(lines, func(l line) bool { return l.uuid == uuid })
	}
	to = len(lines)
	if page.Before != "" {
		if to = find(page.Before); to < 0 {
			return 0, 0, fmt.Errorf("%w: message %q", agent.ErrNotFound, page.Before)
		}
	}
	if page.After != "" {
		if from = find(page.After) + 1; from == 0 {
			return 0, 0, fmt.Errorf("%w: message %q", agent.ErrNotFound, page.After)
		}
	}
	from = min(from, to)
	if n := int(page.Limit); n > 0 && to-from > n {
		if page.After != "" {
			return from, from + n, nil
		}
		return to - n, to, nil
	}
	return from, to, nil
}

func (h history) events(ctx context.Context, s *transcript.Session, lines []line, whole bool) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		c := claudeevent.Converter{Provider: h.p.Name()}
		prompt := ""
		send := func(events []event.Event) bool {
			prompt = markPrompts(events, prompt)
			return !slices.ContainsFunc(events, func(ev event.Event) bool { return !yield(ev, nil) })
		}
		for _, l := range lines {
			if !send(c.Entry(l.raw, "")) {
				return
			}
		}
		if !whole {
			send(c.End(nil))
			return
		}
		agents, err := s.Subagents()
		for _, a := range agents {
			var messages []*transcript.Message
			if messages, err = a.Conversation(ctx); err != nil {
				break
			}
			for _, m := range messages {
				if !send(c.Entry(message.JSON(m.Entry.Raw()), a.ToolUseID)) {
					return
				}
			}
		}
		if send(c.End(nil)) && err != nil {
			yield(nil, err)
		}
	}
}

// markPrompts marks the message that began a turn of the user as a prompt, like in the live
// session. It takes and returns the prompt of the last turn.
func markPrompts(events []event.Event, prompt string) string {
	for _, ev := range events {
		switch ev := ev.(type) {
		case *event.TurnStart:
			if prompt = ""; ev.By == event.ByUser {
				prompt = ev.PromptID
			}
		case *event.UserMessage:
			ev.IsPrompt = ev.IsPrompt || prompt != "" && ev.UUID == prompt
		}
	}
	return prompt
}

// Rename sets the title of a session.
func (h history) Rename(ctx context.Context, id, title string) error {
	return translate(h.dir.Rename(ctx, id, title, &transcript.ChangeOptions{Live: true}))
}

// Tag sets the tag of a session.
func (h history) Tag(ctx context.Context, id, tag string) error {
	return translate(h.dir.Tag(ctx, id, tag, &transcript.ChangeOptions{Live: true}))
}

// Delete moves a session to the trash of package transcript, and removes its copy for other machines. The error for an
// open session is agent.ErrBusy.
func (h history) Delete(ctx context.Context, id string) error {
	err := h.dir.Delete(ctx, id, nil)
	if h.p.Copies != nil && (err == nil || errors.Is(err, transcript.ErrNoSession)) {
		err = errors.Join(err, h.p.Copies.Delete(ctx, id)) // otherwise the session would return
	}
	return translate(err)
}

// Search searches the text of all sessions.
func (h history) Search(ctx context.Context, q agent.HistoryQuery) (hits []agent.HistoryHit, cursor string, err error) {
	offset, limit, err := span(q)
	if err != nil {
		return nil, "", err
	}
	if q.Query == "" {
		return nil, "", fmt.Errorf("%w: the search text is empty", agent.ErrInvalid)
	}
	at := 0
	for hit, err := range h.dir.Search(ctx, transcript.Query{Text: q.Query, Filter: transcript.Filter{Dir: q.Project}, Hits: offset + limit + 1}) {
		if err != nil {
			return nil, "", translate(err)
		}
		if at++; at <= offset {
			continue
		}
		if len(hits) == limit {
			return hits, strconv.Itoa(offset + limit), nil
		}
		hits = append(hits, agent.HistoryHit{ID: hit.Session.SessionID, UUID: hit.UUID, Excerpt: hit.Snippet})
	}
	return hits, "", nil
}

var mediaTypes = map[export.Format]string{export.Markdown: "text/markdown", export.HTML: "text/html", export.JSON: "application/json"}

// Export renders a session.
func (h history) Export(ctx context.Context, id, format string) (agent.HistoryExport, error) {
	f := export.Format(format)
	if mediaTypes[f] == "" {
		return agent.HistoryExport{}, fmt.Errorf("%w: the format %q", agent.ErrInvalid, format)
	}
	s, err := h.dir.Session(id)
	if err != nil {
		return agent.HistoryExport{}, translate(err)
	}
	var out bytes.Buffer
	if err := export.Write(ctx, &out, s, f, nil); err != nil {
		return agent.HistoryExport{}, translate(err)
	}
	return agent.HistoryExport{Name: id + f.Extension(), MediaType: mediaTypes[f], Text: out.String()}, nil
}

// Usage adds up the tokens of past sessions by day, model, project or block of five hours, at
// list prices.
func (p *Provider) Usage(ctx context.Context, q agent.UsageQuery) ([]agent.Usage, error) {
	by := usage.By(cmp.Or(q.GroupBy, string(usage.ByDay)))
	if !slices.Contains([]usage.By{usage.ByDay, usage.ByModel, usage.ByProject, byBlock}, by) {
		return nil, fmt.Errorf("%w: usage by %q", agent.ErrInvalid, q.GroupBy)
	}
	ledger, err := usage.Scan(ctx, usage.Options{ConfigDirs: []string{p.configDir()}})
	if errors.Is(err, usage.ErrNoSessions) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	view := usage.View{Since: q.Since, Until: q.Until, Project: q.Project}
	var list []agent.Usage
	if by == byBlock {
		for _, b := range ledger.Blocks(view, time.Now()) {
			if !b.Gap {
				list = append(list, usageOf(b.Start.UTC().Format(time.RFC3339), b.Sum))
			}
		}
		return list, nil
	}
	for _, r := range ledger.Report(by, view).Rows {
		list = append(list, usageOf(r.Key, r.Sum))
	}
	return list, nil
}

// byBlock groups by blocks of five hours. [usage.Report] has no such group, because a pause also
// ends a block.
const byBlock usage.By = "block"

func usageOf(group string, s usage.Sum) agent.Usage {
	u := agent.Usage{
		Group: group, InputTokens: s.Input, OutputTokens: s.Output,
		CacheCreationInputTokens: s.CacheWrite(), CacheReadInputTokens: s.CacheRead,
	}
	if len(s.Missing) == 0 {
		u.CostUSD = &s.Cost
	}
	return u
}
