package claudeagent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/agentkit"
	"github.com/seed7221b0f9/parley/transcript"
)

// ask calls the CLI unless the session has ended, and translates the error.
func ask[T any](s *Session, call func() (T, error)) (v T, err error) {
	if err = s.kit.Alive(); err != nil {
		return v, err
	}
	v, err = call()
	return v, s.failed(err)
}

// SetModel changes the model from the next request on and returns its name, if the CLI reports
// it.
func (s *Session) SetModel(ctx context.Context, model string) (string, error) {
	name, err := ask(s, func() (string, error) { return s.client.SetModel(ctx, model) })
	if err != nil {
		return "", err
	}
	if name != "" {
		return name, nil
	}
	for _, m := range s.client.ServerInfo().Models {
		if m.Value == cmp.Or(model, "default") {
			return cmp.Or(m.ResolvedModel, m.Value), nil
		}
	}
	return cmp.Or(model, "default"), nil
}

// Modes returns the permission modes of the session. They include auto if a model of the session
// supports it.
func (s *Session) Modes() []string {
	list := modes(s.opts.AllowBypass)
	if !slices.ContainsFunc(s.client.ServerInfo().Models, func(m claude.ModelInfo) bool { return m.SupportsAutoMode }) {
		list = slices.DeleteFunc(list, func(m string) bool { return m == string(message.ModeAuto) })
	}
	return list
}

// SetMode changes the permission mode of the session. The error for a mode that [Session.Modes]
// does not return is [agent.ErrInvalid].
func (s *Session) SetMode(ctx context.Context, mode string) error {
	if err := s.kit.Choose("mode", mode, s.Modes()); err != nil {
		return err
	}
	return s.failed(s.client.SetPermissionMode(ctx, message.PermissionMode(mode)))
}

// SetThinking sets the maximum number of thinking tokens; nil means the default, 0 disables
// thinking.
func (s *Session) SetThinking(ctx context.Context, tokens *int64) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	var n *int
	if tokens != nil {
		n = new(int(*tokens))
	}
	return s.failed(s.client.SetMaxThinkingTokens(ctx, n))
}

// Efforts returns the efforts that the CLI knows. A model may support only some of them.
func (s *Session) Efforts() []string { return efforts() }

func efforts() []string { return []string{"low", "medium", "high", "xhigh", "max"} }

// SetEffort changes the effort for the rest of the session; empty means the model's default.
func (s *Session) SetEffort(ctx context.Context, effort string) error {
	if err := s.kit.Choose("effort", effort, append(efforts(), "")); err != nil {
		return err
	}
	settings := map[string]any{"effortLevel": nil} // null removes an earlier value
	if effort != "" {
		settings["effortLevel"] = effort
	}
	return s.failed(s.client.ApplyFlagSettings(ctx, settings))
}

// Tune changes settings of the CLI for the rest of the session, such as effortLevel and
// fastMode.
func (s *Session) Tune(ctx context.Context, settings map[string]json.RawMessage) error {
	if err := s.kit.Alive(); err != nil {
		return err
	}
	return s.failed(s.client.ApplyFlagSettings(ctx, settings))
}

// Fork copies the session in the CLI's files, completely or up to the message at, and returns
// the id of the copy.
func (s *Session) Fork(ctx context.Context, at string) (string, error) {
	if err := s.kit.Alive(); err != nil {
		return "", err
	}
	fork, err := s.provider.dir().Fork(ctx, s.ID(), &transcript.ForkOptions{UpTo: at})
	if err != nil {
		return "", translate(err)
	}
	return fork.ID, nil
}

// Rewind restores the files that the CLI's tools have changed to their content when a prompt was
// sent. It does not change the conversation.
func (s *Session) Rewind(ctx context.Context, uuid string, dryRun bool) (agent.Rewound, error) {
	rewind := s.client.RewindFiles
	if dryRun {
		rewind = s.client.PreviewRewind
	}
	r, err := ask(s, func() (*claude.RewindResult, error) { return rewind(ctx, uuid) })
	if err != nil {
		return agent.Rewound{}, err
	}
	return agent.Rewound{CanRewind: r.CanRewind, FilesChanged: r.FilesChanged, Insertions: r.Insertions, Deletions: r.Deletions, Error: r.Error}, nil
}

// Background moves all foreground tools to the background, and reports whether there were any.
func (s *Session) Background(ctx context.Context) (bool, error) {
	return ask(s, func() (bool, error) { return s.client.MoveToBackground(ctx, "") })
}

// task finds a task, including nested ones.
func (s *Session) task(id string) (*claude.Task, error) {
	if err := s.kit.Alive(); err != nil {
		return nil, err
	}
	for rest := s.client.Tasks(); len(rest) > 0; {
		t := rest[0]
		if t.ID == id {
			return &t, nil
		}
		rest = append(rest[1:], t.Children...)
	}
	return nil, fmt.Errorf("%w: task %q", agent.ErrNotFound, id)
}

// StopTask stops a background task of the session. It is not an error if the task has ended.
func (s *Session) StopTask(ctx context.Context, taskID string) error {
	if _, err := s.task(taskID); err != nil {
		return err
	}
	return s.failed(s.client.StopTask(ctx, taskID))
}

// TaskOutput returns a piece of the output of a task. The CLI keeps only the last 8 KiB; if the
// offset is before them, the text begins with a note about the missing bytes.
func (s *Session) TaskOutput(ctx context.Context, taskID string, offset, limit int64) (agent.TaskOutput, error) {
	t, err := s.task(taskID)
	if err != nil {
		return agent.TaskOutput{}, err
	}
	out, err := s.client.ReadTaskOutput(ctx, taskID)
	if err != nil {
		return agent.TaskOutput{}, s.failed(err)
	}
	return piece(out, !t.Live(), offset, limit), nil
}

// piece returns a piece of the end of an output.
func piece(out *claude.TaskOutput, ended bool, offset, limit int64) agent.TaskOutput {
	total := max(out.TotalBytes, int64(len(out.Output)))
	start := total - int64(len(out.Output))
	note := ""
	if offset = min(max(offset, 0), total); offset < start {
		note = fmt.Sprintf("[%d bytes are not kept]\n", start-offset)
		offset = start
	}
	text := out.Output[offset-start:]
	if limit > 0 && int64(len(text)) > limit {
		text = text[:limit]
	}
	next := offset + int64(len(text))
	return agent.TaskOutput{Text: note + text, Next: next, EOF: ended && next == total}
}

// ContextUsage returns the CLI's quick estimate of the contents of the context window, as JSON.
func (s *Session) ContextUsage(ctx context.Context) (json.RawMessage, error) {
	usage, err := ask(s, func() (*claude.ContextUsage, error) {
		return s.client.FetchContextUsage(ctx, claude.ContextDetailSummary)
	})
	if err != nil {
		return nil, err
	}
	return usage.Raw().Bytes(), nil
}

// Title asks a small model for a title for the prompt. It only returns the title and does not
// set it.
func (s *Session) Title(ctx context.Context, prompt string) (string, error) {
	return ask(s, func() (string, error) { return s.client.SuggestSessionTitle(ctx, prompt) })
}

// servers returns the MCP servers, or the one with a name.
func (s *Session) servers(ctx context.Context, name string) ([]claude.MCPServerStatus, error) {
	list, err := ask(s, func() ([]claude.MCPServerStatus, error) { return s.client.ListMCPServers(ctx) })
	if err != nil {
		return nil, err
	}
	return agentkit.Server(list, name, func(m *claude.MCPServerStatus) string { return m.Name })
}

// MCPStatus returns the CLI's description of each MCP server, without its configuration, which
// can hold secrets.
func (s *Session) MCPStatus(ctx context.Context) ([]json.RawMessage, error) {
	servers, err := s.servers(ctx, "")
	if err != nil {
		return nil, err
	}
	list := make([]json.RawMessage, len(servers))
	for i, m := range servers {
		m.Config = nil
		if list[i], err = json.Marshal(m); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// MCPReconnect connects an MCP server of the session again. The server must exist.
func (s *Session) MCPReconnect(ctx context.Context, server string) error {
	if _, err := s.servers(ctx, server); err != nil || server == "" {
		return cmp.Or(err, fmt.Errorf("%w: no server is named", agent.ErrInvalid))
	}
	return s.failed(s.client.ReconnectMCPServer(ctx, server))
}

// MCPToggle enables or disables an MCP server of the session. The server must exist.
func (s *Session) MCPToggle(ctx context.Context, server string, enabled bool) error {
	if _, err := s.servers(ctx, server); err != nil || server == "" {
		return cmp.Or(err, fmt.Errorf("%w: no server is named", agent.ErrInvalid))
	}
	if enabled {
		return s.failed(s.client.EnableMCPServer(ctx, server))
	}
	return s.failed(s.client.DisableMCPServer(ctx, server))
}

// MCPTools returns the tools of one server, or of all servers if server is empty. The CLI does not
// report their schemas.
func (s *Session) MCPTools(ctx context.Context, server string) ([]agent.MCPTool, error) {
	servers, err := s.servers(ctx, server)
	if err != nil {
		return nil, err
	}
	var list []agent.MCPTool
	for _, m := range servers {
		for _, t := range m.Tools {
			list = append(list, agent.MCPTool{Server: m.Name, Name: t.Name, Description: t.Description})
		}
	}
	agentkit.SortTools(list)
	return list, nil
}
