// Package serveragent is the provider for sessions of a Parley server. All viewers of a session see
// the prompts that are sent through it, and it sees theirs.
//
// Closing a session only ends the view; the session goes on at the server.
package serveragent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/rpc"
	"github.com/seed7221b0f9/parley/ui"
)

// Provider opens sessions at a Parley server through a client. Its methods may be called from
// any goroutine.
type Provider struct {
	Client *client.Client
}

var (
	_ agent.Resumer       = (*Provider)(nil)
	_ agent.HistoryKeeper = (*Provider)(nil)
)

// Name returns "server". The events of its sessions have the name of the agent that runs at the
// server.
func (p *Provider) Name() string { return "server" }

// Open creates a new session at the server with these options. It lives on when the client is
// gone.
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	partial := opts.Partial
	params := rpc.ConnectParams{
		Idempotency: rpc.Idempotency{Key: client.Key()}, CWD: opts.Dir, Model: opts.Model, FallbackModel: opts.FallbackModel, PermissionMode: opts.Mode,
		SystemPrompt: opts.SystemPrompt, AppendSystemPrompt: opts.AppendSystemPrompt, AllowedTools: opts.AllowedTools, DisallowedTools: opts.DisallowedTools,
		AdditionalDirectories: opts.AdditionalDirectories, IncludePartialMessages: &partial, MaxTurns: opts.MaxTurns, MaxBudgetUSD: opts.MaxBudgetUSD,
		MaxThinkingTokens: opts.Thinking, MCPServers: ui.NewJSON(string(opts.MCPServers)), Agents: ui.NewJSON(string(opts.Agents)), SessionID: opts.ID,
	}
	return p.connect(ctx, params)
}

// Resume opens a view of a session of the server. If its agent has ended, it is started again with
// the next prompt. With opts.Fork the server makes a copy, which is a new session there.
func (p *Provider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	info, err := p.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if opts.Fork {
		var r rpc.ConnectResult
		if err := p.call(ctx, "session.fork", rpc.ForkParams{SessionID: id, At: opts.At}, &r); err != nil {
			return nil, err
		}
		return p.attach(ctx, r.SessionID, r.Capabilities.SupportedPermissionModes, info.PermissionMode)
	}
	var modes []string
	if info.Capabilities != nil {
		modes = info.Capabilities.SupportedPermissionModes
	}
	return p.attach(ctx, id, modes, info.PermissionMode)
}

// find returns what the server says of a session.
func (p *Provider) find(ctx context.Context, id string) (*rpc.SessionSummary, error) {
	var r rpc.ListResult
	if err := p.call(ctx, "session.list", rpc.ListParams{}, &r); err != nil {
		return nil, err
	}
	for i := range r.Sessions {
		if r.Sessions[i].SessionID == id {
			return &r.Sessions[i], nil
		}
	}
	return nil, fmt.Errorf("%w: session %q", agent.ErrNotFound, id)
}

func (p *Provider) connect(ctx context.Context, params rpc.ConnectParams) (agent.Session, error) {
	var r rpc.ConnectResult
	if err := p.call(ctx, "session.connect", params, &r); err != nil {
		return nil, err
	}
	return p.attach(ctx, r.SessionID, r.Capabilities.SupportedPermissionModes, params.PermissionMode)
}

// call calls a method of the server.
func (p *Provider) call(ctx context.Context, method string, params, result any) error {
	return translate(p.Client.Call(ctx, method, params, result))
}

// translate makes a refusal of the server an error of package agent.
func translate(err error) error {
	if err == nil {
		return nil
	}
	for reason, to := range map[rpc.Reason]error{
		rpc.SessionExpired: agent.ErrNotFound, rpc.AuthFailed: agent.ErrAuth, rpc.InvalidParams: agent.ErrInvalid,
		rpc.Unsupported: agent.ErrUnsupported, rpc.CLINotFound: agent.ErrNotInstalled, rpc.Conflict: agent.ErrNotOpen,
	} {
		if client.Reason(err) == reason {
			return fmt.Errorf("%w: %w", to, err)
		}
	}
	return err
}

// History returns access to the sessions that the server has and that it finds on its disk.
func (p *Provider) History() agent.History { return history{p} }

// history reads sessions of the server. It changes none.
type history struct{ p *Provider }

// List returns all sessions of the server, or those of a directory.
func (h history) List(ctx context.Context, q agent.HistoryQuery) ([]agent.HistoryInfo, string, error) {
	var r rpc.ListResult
	if err := h.p.call(ctx, "session.list", rpc.ListParams{Project: q.Project}, &r); err != nil {
		return nil, "", err
	}
	var list []agent.HistoryInfo
	for _, s := range r.Sessions {
		info := agent.HistoryInfo{ID: s.SessionID, CustomTitle: s.Title, Dir: s.CWD, Archived: s.Archived}
		if at, err := time.Parse(time.RFC3339, s.UpdatedAt); err == nil {
			info.Modified = at
		}
		list = append(list, info)
	}
	return list, "", nil
}

// Load yields the conversation that the server shows, as events of whole messages.
func (h history) Load(ctx context.Context, id string, _ agent.HistoryPage) (agent.HistoryEvents, error) {
	var r rpc.GetHistoryResult
	if err := h.p.call(ctx, "session.getHistory", rpc.SessionRef{SessionID: id}, &r); err != nil {
		return agent.HistoryEvents{}, err
	}
	c := new(ui.Conversation)
	if err := json.Unmarshal([]byte(r.Conversation), c); err != nil {
		return agent.HistoryEvents{}, err
	}
	return agent.HistoryEvents{Events: conversationEvents(c)}, nil
}

// conversationEvents are events that fold to the main thread of a conversation.
func conversationEvents(c *ui.Conversation) iter.Seq2[ui.Event, error] {
	return func(yield func(ui.Event, error) bool) {
		thread := c.Thread("")
		if thread == nil {
			return
		}
		for _, item := range thread.Items {
			for _, ev := range itemEvents(item, c.Provider) {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

// itemEvents are the events of one thing in a conversation.
func itemEvents(item *ui.Item, provider string) []ui.Event {
	m := item.Message
	if m == nil {
		return nil
	}
	head := ui.Header{Provider: provider, MessageID: m.ID, UUID: m.UUID}
	if m.Role == "user" {
		ev := &ui.UserMessage{Header: head, IsPrompt: m.IsPrompt, IsSynthetic: m.IsSynthetic, IsMeta: m.IsMeta}
		for _, b := range m.Blocks {
			ev.Blocks = append(ev.Blocks, blockContent(b))
		}
		return []ui.Event{ev}
	}
	ev := &ui.AssistantMessage{Header: head, Model: m.Model, Error: m.Error, StopReason: m.StopReason}
	events := []ui.Event{ev}
	for _, b := range m.Blocks {
		ev.Blocks = append(ev.Blocks, ui.IndexedBlock{Index: b.Index, Block: blockContent(b)})
		if t := b.Tool; t != nil && t.Status != ui.ToolInProgress {
			events = append(events, &ui.ToolComplete{
				Header: ui.Header{Provider: provider}, ToolUseID: t.ID, Content: t.Result, IsError: t.Status == ui.ToolFailed, ToolUseResult: t.ToolUseResult,
			})
		}
	}
	return events
}

func blockContent(b *ui.Block) ui.Content {
	switch {
	case b.Tool != nil:
		return ui.Content{Type: b.Type, ToolUseID: b.Tool.ID, Name: b.Tool.Name, Title: b.Tool.Title, Kind: b.Tool.Kind, Input: b.Tool.Input}
	case b.Data != "":
		return ui.ContentOf(b.Data)
	}
	return ui.Content{Type: b.Type, Text: b.Text.String()}
}

// Metadata describes one session.
func (h history) Metadata(ctx context.Context, id string) (agent.HistoryMetadata, error) {
	list, _, err := h.List(ctx, agent.HistoryQuery{})
	for _, info := range list {
		if info.ID == id {
			return agent.HistoryMetadata{HistoryInfo: info}, nil
		}
	}
	return agent.HistoryMetadata{}, errors.Join(err, agent.ErrNotFound)
}

// Rename gives a session a title.
func (h history) Rename(ctx context.Context, id, title string) error {
	return h.p.call(ctx, "session.rename", rpc.SessionRenameParams{SessionID: id, Title: title}, nil)
}

// Delete deletes a session at the server.
func (h history) Delete(ctx context.Context, id string) error {
	return h.p.call(ctx, "session.delete", rpc.SessionRef{SessionID: id}, nil)
}

// Tag, Search and Export are not offered.
func (history) Tag(context.Context, string, string) error { return agent.ErrUnsupported }

// Search is not offered.
func (history) Search(context.Context, agent.HistoryQuery) ([]agent.HistoryHit, string, error) {
	return nil, "", agent.ErrUnsupported
}

// Export is not offered.
func (history) Export(context.Context, string, string) (agent.HistoryExport, error) {
	return agent.HistoryExport{}, agent.ErrUnsupported
}
