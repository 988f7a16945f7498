package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
)

// Failure is why a request failed, with a reason that programs read. Its text is for
// people and holds no secrets.
type Failure struct {
	Reason  api.Reason
	Message string
}

func (f *Failure) Error() string { return f.Message }

func failure(reason api.Reason, format string, args ...any) error {
	return &Failure{reason, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error { return failure(api.InvalidParams, format, args...) }

func conflict(format string, args ...any) error { return failure(api.Conflict, format, args...) }

func limit(format string, args ...any) error { return failure(api.LimitReached, format, args...) }

// internalError is the reason of a failure that the caller can do nothing about. Its text
// goes to the log, not to the caller.
const internalError api.Reason = "internal"

// reasons maps the errors of other packages, the first that matches.
var reasons = []struct {
	err    error
	reason api.Reason
}{
	{agent.ErrUnsupported, api.Unsupported},
	{agent.ErrNotFound, api.SessionExpired},
	{agent.ErrNotOpen, api.Conflict},
	{agent.ErrBusy, api.Conflict},
	{agent.ErrInvalid, api.InvalidParams},
	{agent.ErrClosed, api.NotConnected},
	{agent.ErrNotInstalled, api.CLINotFound},
	{agent.ErrAuth, api.AuthFailed},
	{eventlog.ErrConflict, api.NotOwner},
	{eventlog.ErrFull, api.LimitReached},
	{eventlog.ErrTooLarge, api.LimitReached},
	{context.DeadlineExceeded, api.TooSlow},
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
