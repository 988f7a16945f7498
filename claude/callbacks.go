package claude

import (
	"context"
	"errors"
	"fmt"
	"sync"

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
	answer := s.callbacks()[req.Subtype]
	if answer == nil {
		return nil, control.Unsupported(req.Subtype)
	}
	ctx, release := s.untilClosing(ctx)
	defer release()
	text, err := s.traced(ctx, req, answer)
	if err != nil && errors.Is(context.Cause(ctx), errClosing) {
		return nil, control.ErrNoAnswer // the callback gave up because the session ends; that says nothing of the tool
	}
	return text, err
}

// errClosing is the cause of a callback's context when its session is closed.
var errClosing = fmt.Errorf("%w: the session ends", ErrClosed)

// untilClosing is ctx, ended when the session is being closed as well: the CLI
// can take its time to go, and a person should not be asked meanwhile.
func (s *session) untilClosing(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-s.closing:
			cancel(errClosing)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		watching.Wait()
	}
}

// needsAnswers reports whether the CLI may have to ask something of this process
// as long as it runs, so that its input has to stay open for the answers.
func (o *Options) needsAnswers() bool {
	return o.hasPermissionCallbacks() || o.hasHooks() || o.hasToolServers()
}
