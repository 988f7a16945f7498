package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

// The scripted provider and its sessions implement all optional interfaces.
var (
	_ agent.Resumer         = (*Provider)(nil)
	_ agent.Witness         = (*Provider)(nil)
	_ agent.HistoryKeeper   = (*Provider)(nil)
	_ agent.UsageReporter   = (*Provider)(nil)
	_ agent.ModelSetter     = (*Session)(nil)
	_ agent.ModeSetter      = (*Session)(nil)
	_ agent.ThinkingSetter  = (*Session)(nil)
	_ agent.EffortSetter    = (*Session)(nil)
	_ agent.Forker          = (*Session)(nil)
	_ agent.Rewinder        = (*Session)(nil)
	_ agent.Backgrounder    = (*Session)(nil)
	_ agent.TaskController  = (*Session)(nil)
	_ agent.ContextReporter = (*Session)(nil)
	_ agent.MCPController   = (*Session)(nil)
	_ agent.Catalog         = (*Session)(nil)
	_ agent.Titler          = (*Session)(nil)
)

// Fork copies the session's file, up to a message or entirely. Sessions without a file cannot be
// forked.
func (s *Session) Fork(_ context.Context, at string) (string, error) {
	if s.provider.Dir == "" {
		return "", fmt.Errorf("%w: sessions without a file cannot be forked", agent.ErrUnsupported)
	}
	return s.provider.fork(s.id, at)
}

// Rewind reports one pretended change of a file for any prompt of the session. It changes no file.
func (s *Session) Rewind(_ context.Context, uuid string, _ bool) (agent.Rewound, error) {
	lines, err := s.provider.read(s.id)
	if err != nil {
		return agent.Rewound{}, err
	}
	if !slices.ContainsFunc(lines, func(l line) bool { return l.UUID == uuid && l.Role == "user" }) {
		return agent.Rewound{}, fmt.Errorf("%w: prompt %s", agent.ErrNotFound, uuid)
	}
	return agent.Rewound{CanRewind: true, FilesChanged: []string{filepath.Join(s.opts.Dir, "file.txt")}, Insertions: 1}, nil
}

// Background returns false, because no tool of the scripted agent takes long.
func (s *Session) Background(context.Context) (bool, error) { return false, nil }

// StopTask marks a task of the scripted agent as ended. Unknown tasks are [agent.ErrNotFound].
func (s *Session) StopTask(_ context.Context, taskID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.kit.Alive(); err != nil {
		return err
	}
	if !s.tasks[taskID] {
		return fmt.Errorf("%w: task %s", agent.ErrNotFound, taskID)
	}
	s.tasks[taskID] = false
	s.kit.Update(func() []event.Event { // does not block: the consumer may wait for this call
		return []event.Event{s.sign(&event.TaskNotification{TaskID: taskID, Status: "stopped"})}
	})
	return nil
}

// TaskOutput returns a piece of the fixed output of every task of the scripted agent.
func (s *Session) TaskOutput(_ context.Context, taskID string, offset, limit int64) (agent.TaskOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running, ok := s.tasks[taskID]
	if !ok {
		return agent.TaskOutput{}, fmt.Errorf("%w: task %s", agent.ErrNotFound, taskID)
	}
	const output = "output of the task\n"
	if offset < 0 || offset > int64(len(output)) {
		return agent.TaskOutput{}, fmt.Errorf("%w: offset %d", agent.ErrInvalid, offset)
	}
	end := int64(len(output))
	if limit > 0 {
		end = min(end, offset+limit)
	}
	return agent.TaskOutput{Text: output[offset:end], Next: end, EOF: !running && end == int64(len(output))}, nil
}

// ContextUsage returns constant figures in the form of the Claude CLI.
func (s *Session) ContextUsage(context.Context) (json.RawMessage, error) {
	return json.RawMessage(`{"totalTokens":1000,"maxTokens":200000}`), nil
}

// MCPStatus returns the description of the scripted agent's only server, which is always connected.
func (s *Session) MCPStatus(context.Context) ([]json.RawMessage, error) {
	return []json.RawMessage{json.RawMessage(`{"name":"demo","status":"connected"}`)}, nil
}

func mcpServer(name string) error {
	if name != "demo" {
		return fmt.Errorf("%w: MCP server %q", agent.ErrNotFound, name)
	}
	return nil
}

// MCPReconnect accepts the name of the only server and has no effect. Other names are an error.
func (s *Session) MCPReconnect(_ context.Context, server string) error { return mcpServer(server) }

// MCPToggle accepts the name of the only server and has no effect. Other names are an error.
func (s *Session) MCPToggle(_ context.Context, server string, _ bool) error { return mcpServer(server) }

// MCPTools returns the only tool of the only server, which the scripted agent never calls.
func (s *Session) MCPTools(_ context.Context, server string) ([]agent.MCPTool, error) {
	if server != "" {
		if err := mcpServer(server); err != nil {
			return nil, err
		}
	}
	return []agent.MCPTool{{Server: "demo", Name: "echo", Description: "says it again", InputSchema: json.RawMessage(`{"type":"object"}`)}}, nil
}

// Models returns the two models of the scripted agent; the first is the default.
func (s *Session) Models(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "sim-1", Description: "the default"}, {Name: "sim-2"}}, nil
}

// Commands returns the only command of the scripted agent, compact.
func (s *Session) Commands(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "compact"}}, nil
}

// Agents returns the only subagent of the scripted agent, general-purpose.
func (s *Session) Agents(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "general-purpose"}}, nil
}

// Title derives a title from a prompt. It returns "" for a prompt that begins with "untitled".
func (s *Session) Title(_ context.Context, prompt string) (string, error) {
	if strings.HasPrefix(prompt, "untitled") {
		return "", fmt.Errorf("%w: no title", agent.ErrUnsupported)
	}
	return "On " + prompt, nil
}

// Usage returns one row for each session on disk, with constant tokens and cost.
func (p *Provider) Usage(ctx context.Context, q agent.UsageQuery) ([]agent.Usage, error) {
	sessions, _, err := p.History().List(ctx, agent.HistoryQuery{Project: q.Project})
	if err != nil {
		return nil, err
	}
	var rows []agent.Usage
	for _, s := range sessions {
		if !q.Since.IsZero() && s.Modified.Before(q.Since) || !q.Until.IsZero() && s.Modified.After(q.Until) {
			continue
		}
		group := s.Modified.Format(time.DateOnly)
		switch q.GroupBy {
		case "project":
			group = s.Dir
		case "block":
			group = s.Modified.UTC().Truncate(time.Hour).Format(time.RFC3339)
		}
		rows = append(rows, agent.Usage{Group: group, CostUSD: new(0.001), InputTokens: 10, OutputTokens: 5})
	}
	return rows, nil
}
