package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/rpc"
)

// Failure is why a request failed, with a reason that programs read. Its text is for
// people and holds no secrets.
type Failure struct {
	Reason  rpc.Reason
	Message string
}

func (f *Failure) Error() string { return f.Message }

func failure(reason rpc.Reason, format string, args ...any) error {
	return &Failure{reason, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error { return failure(rpc.InvalidParams, format, args...) }

func conflict(format string, args ...any) error { return failure(rpc.Conflict, format, args...) }

func limit(format string, args ...any) error { return failure(rpc.LimitReached, format, args...) }

// internalError is the reason of a failure that the caller can do nothing about. Its text
// goes to the log, not to the caller.
const internalError rpc.Reason = "internal"

// reasons maps the errors of other packages, the first that matches.
var reasons = []struct {
	err    error
	reason rpc.Reason
}{
	{agent.ErrUnsupported, rpc.Unsupported},
	{agent.ErrNotFound, rpc.SessionExpired},
	{agent.ErrNotOpen, rpc.Conflict},
	{agent.ErrBusy, rpc.Conflict},
	{agent.ErrInvalid, rpc.InvalidParams},
	{agent.ErrClosed, rpc.NotConnected},
	{agent.ErrNotInstalled, rpc.CLINotFound},
	{agent.ErrAuth, rpc.AuthFailed},
	{eventlog.ErrConflict, rpc.NotOwner},
	{eventlog.ErrFull, rpc.LimitReached},
	{eventlog.ErrTooLarge, rpc.LimitReached},
	{context.DeadlineExceeded, rpc.TooSlow},
}

// failureOf is an error as the caller gets it.
func failureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	for _, r := range reasons {
		if errors.Is(err, r.err) {
			return &Failure{r.reason, err.Error()}
		}
	}
	return &Failure{internalError, "internal error; the server's log has the details"}
}
