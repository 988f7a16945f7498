package claude

import (
	"context"

	"github.com/seed7221b0f9/parley/internal/control"
)

// callback answers one kind of request of the CLI. It runs in a goroutine of its
// own; ctx ends when the CLI takes the request back and when the session ends.
type callback func(ctx context.Context, req control.Request) ([]byte, error)

// callbacks are the requests of the CLI that have an answer here.
func (s *session) callbacks() map[string]callback {
	return map[string]callback{
		"can_use_tool":        s.canUseTool,
		"hook_callback":       s.hookCallback,
		"mcp_message":         s.mcpMessage,
		"elicitation":         s.elicitation,
		"request_user_dialog": s.userDialog,
	}
}

// handle answers the CLI's requests.
func (s *session) handle(ctx context.Context, req control.Request) ([]byte, error) {
	switch req.Subtype {
	case "remote_tool_call", "remote_plumbing_call", "remote_tools_probe", "remote_tools_reannounce":
		return nil, control.ErrNoAnswer // for hosts of another kind; an error would be taken for theirs
	}
	if answer := s.callbacks()[req.Subtype]; answer != nil {
		return answer(ctx, req)
	}
	return nil, control.Unsupported(req.Subtype)
}

// needsAnswers reports whether the CLI may have to ask something of this process
// as long as it runs, so that its input has to stay open for the answers.
func (o *Options) needsAnswers() bool {
	return o.hasPermissionCallbacks() || o.hasHooks() || o.hasToolServers()
}
