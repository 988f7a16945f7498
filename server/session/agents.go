package session

import (
	"context"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// Agents are the calls to a running agent. It is started if necessary.
type Agents struct{ *Sessions }

// Interrupt stops the running turn. Queued inputs still run.
func (s Agents) Interrupt(ctx context.Context, p api.SessionRef) (api.InterruptResult, error) {
	a, release, err := s.useAgent(ctx, p.SessionID)
	if err != nil {
		return api.InterruptResult{}, err
	}
	defer release()
	result := api.InterruptResult{Status: "idle", Dropped: []string{}, StillQueued: []string{}}
	var session agent.Session
	err = a.call(ctx, func() error {
		for _, in := range a.core.queue() {
			result.StillQueued = append(result.StillQueued, in.ID)
		}
		if len(a.core.inflight()) == 0 {
			return nil
		}
		if a.agent != nil {
			session = a.agent.session
		}
		return a.attached()
	})
	if err != nil || session == nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	done, err := session.Interrupt(ctx)
	if err != nil {
		return api.InterruptResult{}, err
	}
	result.Status = "interrupted"
	result.Dropped = append(result.Dropped, done.Dropped...)
	result.StillQueued = append(done.StillQueued, result.StillQueued...)
	err = a.call(ctx, func() error {
		if len(done.Dropped) == 0 {
			return nil
		}
		return a.commit(draft{queue: true, facts: &facts{Removed: done.Dropped}})
	})
	return result, err
}

// RunInBackground moves the agent's running tools to the background.
func (s Agents) RunInBackground(ctx context.Context, p api.SessionRef) (api.StatusResult, error) {
	status := "nothing_to_move"
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, _ *actor, b agent.Backgrounder) error {
		moved, err := b.Background(ctx)
		if moved {
			status = "moved"
		}
		return err
	})
	return api.StatusResult{Status: status}, err
}

// SetModel changes the model of the running agent.
func (s Agents) SetModel(ctx context.Context, p api.SetModelParams) (api.SetModelResult, error) {
	var result api.SetModelResult
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, a *actor, m agent.ModelSetter) error {
		model, err := m.SetModel(ctx, p.Model)
		if err != nil {
			return err
		}
		result.Model = model
		return a.call(ctx, func() error {
			return a.commit(draft{event: &event.SessionInfo{Header: a.core.header(""), Model: &model}, facts: &facts{Model: &model}})
		})
	})
	return result, err
}

// SetPermissionMode changes the permission mode of the running agent.
func (s Agents) SetPermissionMode(ctx context.Context, p api.SetPermissionModeParams) (api.SetPermissionModeResult, error) {
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, a *actor, m agent.ModeSetter) error {
		if p.Mode == "bypassPermissions" {
			if err := a.call(ctx, a.checkBypass); err != nil {
				return err
			}
		}
		if err := m.SetMode(ctx, p.Mode); err != nil {
			return err
		}
		return a.call(ctx, func() error {
			return a.commit(draft{event: &event.SessionInfo{Header: a.core.header(""), PermissionMode: &p.Mode}, facts: &facts{Mode: p.Mode}})
		})
	})
	return api.SetPermissionModeResult{Mode: p.Mode}, err
}

// SetMaxThinkingTokens changes the thinking budget of the running agent.
func (s Agents) SetMaxThinkingTokens(ctx context.Context, p api.SetMaxThinkingTokensParams) (api.StatusResult, error) {
	if p.MaxThinkingTokens != nil && *p.MaxThinkingTokens < 0 {
		return api.StatusResult{}, Invalid("max_thinking_tokens is negative")
	}
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, a *actor, t agent.ThinkingSetter) error {
		if err := t.SetThinking(ctx, p.MaxThinkingTokens); err != nil {
			return err
		}
		return a.call(ctx, func() error {
			return a.commit(draft{event: &event.SessionInfo{Header: a.core.header("")}, facts: &facts{Thinking: &thinking{p.MaxThinkingTokens}}})
		})
	})
	return api.StatusResult{Status: "set"}, err
}

// SetEffort changes the effort of the running agent.
func (s Agents) SetEffort(ctx context.Context, p api.SetEffortParams) (api.StatusResult, error) {
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, a *actor, e agent.EffortSetter) error {
		if err := e.SetEffort(ctx, p.Effort); err != nil {
			return err
		}
		return a.call(ctx, func() error {
			return a.commit(draft{event: &event.SessionInfo{Header: a.core.header("")}, facts: &facts{Effort: &p.Effort}})
		})
	})
	return api.StatusResult{Status: "set"}, err
}

// Fork copies the agent's session and returns the parameters for a session of the copy, and its
// tenant.
func (s Agents) Fork(ctx context.Context, p api.ForkParams) (params api.ConnectParams, tenant string, err error) {
	err = feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, a *actor, f agent.Forker) error {
		id, err := f.Fork(ctx, p.At)
		if err != nil {
			return err
		}
		return a.call(ctx, func() error {
			params, tenant = a.params(), a.core.Opened.Tenant
			params.ResumeSessionID, params.ForkSession, params.InitialPrompt = id, false, ""
			params.Key, params.Provider, params.Model, params.PermissionMode = "", a.core.Provider, a.core.Model, a.core.Mode
			params.Title = ""
			if a.core.modeUnchosen() {
				params.PermissionMode = ""
			}
			if p.Metadata != nil {
				params.Metadata = p.Metadata
			}
			if a.core.Title != "" {
				params.Title = promptTitle("Fork of " + a.core.Title)
			}
			return nil
		})
	})
	return params, tenant, err
}

// Rewind restores files to their state before a prompt.
func (s Agents) Rewind(ctx context.Context, p api.RewindParams) (api.RewindResult, error) {
	var result api.RewindResult
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, a *actor, r agent.Rewinder) error {
		if !p.DryRun {
			if err := a.call(ctx, func() error {
				if a.core.State.busy() {
					return Conflict("a turn runs; interrupt it first")
				}
				return nil
			}); err != nil {
				return err
			}
		}
		done, err := r.Rewind(ctx, p.UserMessageID, p.DryRun)
		result = api.RewindResult{CanRewind: done.CanRewind, FilesChanged: done.FilesChanged, Insertions: done.Insertions, Deletions: done.Deletions, Error: done.Error}
		if err != nil || p.DryRun || !done.CanRewind {
			return err
		}
		return a.call(ctx, func() error {
			return a.commit(draft{event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeInfo, Code: "rewind",
				Text: "Files were taken back to an earlier prompt.", Data: event.Encoded(map[string]any{"user_message_id": p.UserMessageID, "files": done.FilesChanged})}})
		})
	})
	return result, err
}

// MCPStatus returns the MCP servers of the agent.
func (s Agents) MCPStatus(ctx context.Context, p api.SessionRef) (api.MCPStatusResult, error) {
	result := api.MCPStatusResult{Servers: []event.JSON{}}
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, _ *actor, m agent.MCPController) error {
		all, err := m.MCPStatus(ctx)
		for _, raw := range all {
			result.Servers = append(result.Servers, event.NewJSON(string(raw)))
		}
		return err
	})
	return result, err
}

// MCPReconnect reconnects the agent with an MCP server.
func (s Agents) MCPReconnect(ctx context.Context, p api.MCPServerParams) (api.StatusResult, error) {
	return api.StatusResult{Status: "reconnected"}, feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, _ *actor, m agent.MCPController) error {
		return m.MCPReconnect(ctx, p.ServerName)
	})
}

// MCPToggle turns an MCP server on or off.
func (s Agents) MCPToggle(ctx context.Context, p api.MCPToggleParams) (api.StatusResult, error) {
	status := "disabled"
	if p.Enabled {
		status = "enabled"
	}
	return api.StatusResult{Status: status}, feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, _ *actor, m agent.MCPController) error {
		return m.MCPToggle(ctx, p.ServerName, p.Enabled)
	})
}

// MCPTools returns the tools of MCP servers.
func (s Agents) MCPTools(ctx context.Context, p api.MCPToolsParams) (api.MCPToolsResult, error) {
	result := api.MCPToolsResult{Tools: []api.MCPTool{}}
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, _ *actor, m agent.MCPController) error {
		all, err := m.MCPTools(ctx, p.ServerName)
		for _, t := range all {
			result.Tools = append(result.Tools, api.MCPTool{ServerName: t.Server, Name: t.Name, Description: t.Description, InputSchema: event.NewJSON(string(t.InputSchema))})
		}
		return err
	})
	return result, err
}

// names requests the catalogue of a session, or of its provider.
func (s Agents) names(ctx context.Context, id string, get func(agent.Catalog, context.Context) ([]agent.Entry, error)) (api.NamesResult, error) {
	result := api.NamesResult{Items: []event.JSON{}}
	a, session, release, err := s.agentOf(ctx, id)
	if err != nil {
		return result, err
	}
	defer release()
	catalog, ok := session.(agent.Catalog)
	if !ok {
		if catalog, ok = a.provider.(agent.Catalog); !ok {
			return result, Fail(api.Unsupported, "the agent of this session has no catalogue")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.CallTimeout)
	defer cancel()
	entries, err := get(catalog, ctx)
	for _, e := range entries {
		item := event.Present(string(e.Data))
		if item == "" {
			item = event.Encoded(e)
		}
		result.Items = append(result.Items, item)
	}
	return result, err
}

// ModelsList returns the models of the agent.
func (s Agents) ModelsList(ctx context.Context, p api.SessionRef) (api.NamesResult, error) {
	return s.names(ctx, p.SessionID, agent.Catalog.Models)
}

// CommandsList returns the commands of the agent.
func (s Agents) CommandsList(ctx context.Context, p api.SessionRef) (api.NamesResult, error) {
	return s.names(ctx, p.SessionID, agent.Catalog.Commands)
}

// AgentsList returns the subagents of the agent.
func (s Agents) AgentsList(ctx context.Context, p api.SessionRef) (api.NamesResult, error) {
	return s.names(ctx, p.SessionID, agent.Catalog.Agents)
}

// TaskStop stops a task in the background.
func (s Agents) TaskStop(ctx context.Context, p api.TaskParams) (api.StatusResult, error) {
	return api.StatusResult{Status: "stopped"}, feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, _ *actor, t agent.TaskController) error {
		return t.StopTask(ctx, p.TaskID)
	})
}

// TaskOutput returns the output of a task from an offset on.
func (s Agents) TaskOutput(ctx context.Context, p api.TaskOutputParams) (api.TaskOutputResult, error) {
	var result api.TaskOutputResult
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, _ *actor, t agent.TaskController) error {
		out, err := t.TaskOutput(ctx, p.TaskID, p.Offset, p.Limit)
		result = api.TaskOutputResult{Output: out.Text, Offset: out.Next, EOF: out.EOF}
		return err
	})
	return result, err
}

// UsageContext returns the context usage of the agent.
func (s Agents) UsageContext(ctx context.Context, p api.SessionRef) (api.UsageContextResult, error) {
	var result api.UsageContextResult
	err := feature(ctx, s.Sessions, p.SessionID, func(ctx context.Context, _ *actor, r agent.ContextReporter) error {
		raw, err := r.ContextUsage(ctx)
		result.Usage = event.NewJSON(string(raw))
		return err
	})
	return result, err
}
