package claude

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed7221b0f9/parley/claude/internal/control"
)

// callback answers one kind of request of the CLI. It runs in a goroutine of its
// own; ctx ends when the CLI takes the request back and when the session ends.
type callback func(ctx context.Context, req control.Request) ([]byte, error)

// responder answers the requests of a session's CLI with the callbacks of its options.
// It knows no more of the session than what its fields say.
type responder struct {
	launch  *launch
	trace   *tracer
	mcp     *mcpHost
	closing <-chan struct{}              // closed when the session is being ended
	start   func(f func())               // begins a goroutine that the session waits for
	has     func(capability string) bool // what the CLI has said that it can do
	warn    func(msg string, args ...any)

	open            openRequests
	permissionHooks permissionHooks
}

// callbacks are the requests of the CLI that have an answer here.
func (r *responder) callbacks() map[string]callback {
	return map[string]callback{
		"can_use_tool":        r.canUseTool,
		"hook_callback":       r.hookCallback,
		"mcp_message":         r.mcp.message,
		"elicitation":         r.elicitation,
		"request_user_dialog": r.userDialog,
	}
}

// handle answers the CLI's requests.
func (r *responder) handle(ctx context.Context, req control.Request) ([]byte, error) {
	switch req.Subtype {
	case "remote_tool_call", "remote_plumbing_call", "remote_tools_probe", "remote_tools_reannounce":
		return nil, control.ErrNoAnswer // for hosts of another kind; an error would be taken for theirs
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
		return nil, control.ErrNoAnswer // whatever it says, no tool starts any more
	}
	if err != nil && errors.Is(context.Cause(ctx), errClosing) {
		return nil, control.ErrNoAnswer // the callback gave up because the session ends; that says nothing of the tool
	}
	return text, err
}

// errClosing is the cause of a callback's context when its session is closed.
var errClosing = fmt.Errorf("%w: the session ends", ErrClosed)

// startsTools reports whether a tool may run because of the answer to a request.
func startsTools(subtype string) bool { return subtype == "can_use_tool" || subtype == "mcp_message" }

// ending reports whether the session is being ended.
func (r *responder) ending() bool {
	select {
	case <-r.closing:
		return true
	default:
		return false
	}
}

// untilClosing is ctx, ended when the session is being closed as well: the CLI
// can take its time to go, and a person should not be asked meanwhile.
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

// panicked logs a callback that panicked.
func (l *launch) panicked(req control.Request, value any, stack []byte) {
	l.logger().Error("claude: a callback panicked", "request", req.Subtype, "panic", value, "stack", string(stack))
}

// needsAnswers reports whether the CLI may have to ask something of this process
// as long as it runs, so that its input has to stay open for the answers.
func (l *launch) needsAnswers() bool {
	return l.hasPermissionCallbacks() || l.hooks.Any() || l.hasToolServers()
}
