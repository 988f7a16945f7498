// Package serveragent implements agent.Provider for sessions of a Parley server. All viewers of a
// session see the prompts that are sent through it, and it sees theirs.
//
// Closing a session only ends the view; the session continues at the server.
package serveragent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// Server is the part of a server's client that a Provider uses. A [client.Client] is one.
type Server interface {
	// Call calls a method; see [client.Client.Call].
	Call(ctx context.Context, method string, params, result any) error
	// Follow yields the messages of a session; see [client.Client.Follow].
	Follow(ctx context.Context, session string, after *api.Cursor) iter.Seq2[client.Event, error]
}

// Provider opens sessions at a Parley server through a client. Its methods may be called from
// any goroutine.
type Provider struct {
	Client Server
	// Agent is the name of the server's agent that runs new sessions; empty means the server's default.
	Agent string
	// Machine is the joined machine that runs new sessions; empty means the server's. Their directories are those of that machine.
	Machine string
}

var (
	_ agent.Resumer       = (*Provider)(nil)
	_ agent.HistoryKeeper = (*Provider)(nil)
)

// Joins reports that sessions run elsewhere: a resumed session may be in the middle of a turn, and
// others may use it.
func (p *Provider) Joins() bool { return true }

// Name returns "server". The events of its sessions have the name of the agent at the server.
func (p *Provider) Name() string { return "server" }

// Open creates a new session at the server with these options. It continues without the client. Options that are functions
// apply only in this process and are ignored; an empty, non-nil SettingSources is unsupported.
func (p *Provider) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	if opts.SettingSources != nil && len(opts.SettingSources) == 0 {
		return nil, fmt.Errorf("%w: no setting sources at a server", agent.ErrUnsupported)
	}
	partial := opts.Partial
	params := api.ConnectParams{
		Idempotency: api.Idempotency{Key: client.Key()}, Provider: p.Agent, CWD: opts.Dir, Model: opts.Model, Effort: opts.Effort, FallbackModel: opts.FallbackModel, PermissionMode: opts.Mode,
		SystemPrompt: opts.SystemPrompt, AppendSystemPrompt: opts.AppendSystemPrompt, AllowedTools: opts.AllowedTools, DisallowedTools: opts.DisallowedTools,
		AdditionalDirectories: opts.AdditionalDirectories, IncludePartialMessages: &partial, MaxTurns: opts.MaxTurns, MaxBudgetUSD: opts.MaxBudgetUSD,
		MaxThinkingTokens: opts.Thinking, MCPServers: event.NewJSON(string(opts.MCPServers)), Agents: event.NewJSON(string(opts.Agents)), SessionID: opts.ID, Machine: p.Machine,
		SettingSources: opts.SettingSources, Metadata: opts.Metadata, Sandbox: opts.Sandbox,
	}
	return p.connect(ctx, params)
}

// Resume opens a view of a session of the server. If its agent has ended, the next prompt restarts
// it. With opts.Fork the server creates a copy, which is a new session there.
func (p *Provider) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	info, err := p.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if opts.Fork {
		var r api.ConnectResult
		if err := p.call(ctx, "session.fork", api.ForkParams{SessionID: id, At: opts.At}, &r); err != nil {
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

// find returns the server's summary of a session.
func (p *Provider) find(ctx context.Context, id string) (*api.SessionSummary, error) {
	var r api.ListResult
	if err := p.call(ctx, "session.list", api.ListParams{}, &r); err != nil {
		return nil, err
	}
	for i := range r.Sessions {
		if r.Sessions[i].SessionID == id {
			return &r.Sessions[i], nil
		}
	}
	return nil, fmt.Errorf("%w: session %q", agent.ErrNotFound, id)
}

func (p *Provider) connect(ctx context.Context, params api.ConnectParams) (agent.Session, error) {
	var r api.ConnectResult
	if err := p.call(ctx, "session.connect", params, &r); err != nil {
		return nil, err
	}
	return p.attach(ctx, r.SessionID, r.Capabilities.SupportedPermissionModes, params.PermissionMode)
}

// call calls a method of the server.
func (p *Provider) call(ctx context.Context, method string, params, result any) error {
	return translate(p.Client.Call(ctx, method, params, result))
}

// translate converts a rejection of the server to an error of package agent.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*client.Error](err); ok && e.Status == http.StatusForbidden {
		return err // the role of the token does not suffice: another login does not help
	}
	for reason, to := range map[api.Reason]error{
		api.SessionExpired: agent.ErrNotFound, api.AuthFailed: agent.ErrAuth, api.InvalidParams: agent.ErrInvalid,
		api.Unsupported: agent.ErrUnsupported, api.CLINotFound: agent.ErrNotInstalled, api.Conflict: agent.ErrNotOpen,
	} {
		if client.Reason(err) == reason {
			return fmt.Errorf("%w: %w", to, err)
		}
	}
	return err
}

// History returns the sessions of the server and those on its disk.
func (p *Provider) History() agent.History { return history{p} }

// history reads sessions of the server.
type history struct{ p *Provider }

// List returns all sessions of the server, or those of a directory.
func (h history) List(ctx context.Context, q agent.HistoryQuery) ([]agent.HistoryInfo, string, error) {
	var r api.ListResult
	if err := h.p.call(ctx, "session.list", api.ListParams{Project: q.Project}, &r); err != nil {
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

// Load returns the server's conversation as events of complete messages.
func (h history) Load(ctx context.Context, id string, _ agent.HistoryPage) (agent.HistoryEvents, error) {
	var r api.GetHistoryResult
	if err := h.p.call(ctx, "session.getHistory", api.SessionRef{SessionID: id}, &r); err != nil {
		return agent.HistoryEvents{}, err
	}
	c := new(event.Conversation)
	if err := json.Unmarshal([]byte(r.Conversation), c); err != nil {
		return agent.HistoryEvents{}, err
	}
	return agent.HistoryEvents{Events: func(yield func(event.Event, error) bool) {
		for ev := range c.Events() {
			if !yield(ev, nil) {
				return
			}
		}
	}}, nil
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

// Rename sets the title of a session.
func (h history) Rename(ctx context.Context, id, title string) error {
	return h.p.call(ctx, "session.rename", api.SessionRenameParams{SessionID: id, Title: title}, nil)
}

// Delete deletes a session at the server.
func (h history) Delete(ctx context.Context, id string) error {
	return h.p.call(ctx, "session.delete", api.SessionRef{SessionID: id}, nil)
}

// Tag is not supported.
func (history) Tag(context.Context, string, string) error { return agent.ErrUnsupported }

// Search is not supported.
func (history) Search(context.Context, agent.HistoryQuery) ([]agent.HistoryHit, string, error) {
	return nil, "", agent.ErrUnsupported
}

// Export is not supported.
func (history) Export(context.Context, string, string) (agent.HistoryExport, error) {
	return agent.HistoryExport{}, agent.ErrUnsupported
}
