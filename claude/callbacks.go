package claude

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed7221b0f9/parley/claude/internal/control"
)

// callback answers one kind of request of the CLI. It runs in a new goroutine; ctx ends
// when the CLI cancels the request and when the session ends.
type callback func(ctx context.Context, req control.Request) ([]byte, error)

// responder answers the requests of a session's CLI with the callbacks of its options. It
// knows only those parts of the session that its fields hold.
type responder struct {
	launch  *launch
	trace   *tracer
	mcp     *mcpHost
	closing <-chan struct{}              // closed when the session begins to close
	start   func(f func())               // starts a goroutine that the session waits for
	has     func(capability string) bool // reports whether the CLI has announced a capability
	warn    func(msg string, args ...any)

	adopted         bool // the CLI was started by another process
	open            openRequests
	permissionHooks permissionHooks
}

// callbacks returns the handlers by the subtype of the request.
func (r *responder) callbacks() map[string]callback {
	return map[string]callback{
		"can_use_tool":        r.canUseTool,
		"hook_callback":       r.hookCallback,
		"mcp_message":         r.mcp.message,
		"elicitation":         r.elicitation,
		"request_user_dialog": r.userDialog,
	}
}

// handle dispatches a request of the CLI to its callback.
func (r *responder) handle(ctx context.Context, req control.Request) ([]byte, error) {
	switch req.Subtype {
	case "remote_tool_call", "remote_plumbing_call", "remote_tools_probe", "remote_tools_reannounce":
		return nil, control.ErrNoAnswer // meant for another host; an error would count as that host's answer
	}
	answer := r.callbacks()[req.Subtype]
	if answer == nil {
		return nil, control.Unsupported(req.Subtype)
	}
	ctx, release := r.untilClosing(ctx)
	defer release()
	if r.ending() && startsTools(req.Subtype) {
		return nil, control.ErrNoAnswer
	}
	text, err := r.traced(ctx, req, answer)
	if r.ending() && startsTools(req.Subtype) {
		return nil, control.ErrNoAnswer // no answer: the session is closing, so no tool may start
	}
	if err != nil && errors.Is(context.Cause(ctx), errClosing) {
		return nil, control.ErrNoAnswer // the callback failed because the session is closing, which is no decision about the tool
	}
	return text, err
}

// errClosing is the cause of a callback's context when its session closes.
var errClosing = fmt.Errorf("%w: the session ends", ErrClosed)

// startsTools reports whether the answer to a request can start a tool.
func startsTools(subtype string) bool { return subtype == "can_use_tool" || subtype == "mcp_message" }

// ending reports whether the session is closing.
func (r *responder) ending() bool {
	select {
	case <-r.closing:
		return true
	default:
		return false
	}
}

// untilClosing returns ctx with an additional end when the session begins to close: the
// CLI may take a while to exit, and no person should be asked meanwhile.
func (r *responder) untilClosing(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-r.closing:
			cancel(errClosing)
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		cancel(nil)
		watching.Wait()
	}
}

// panicked logs the panic of a callback.
func (l *launch) panicked(req control.Request, value any, stack []byte) {
	l.logger().Error("claude: a callback panicked", "request", req.Subtype, "panic", value, "stack", string(stack))
}

// needsAnswers reports whether the CLI may send requests to this process while it runs,
// so that its input must stay open for the answers.
func (l *launch) needsAnswers() bool {
	return l.hasPermissionCallbacks() || l.hooks.Any() || l.hasToolServers()
}
