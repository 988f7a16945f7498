package session

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/place"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// Failure is the error of a request, with a reason for programs. Its text is for people and
// contains no secrets.
type Failure struct {
	Reason  api.Reason
	Message string
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Fail returns a failure with a reason.
func Fail(reason api.Reason, format string, args ...any) error {
	return &Failure{reason, fmt.Sprintf(format, args...)}
}

// Invalid returns the failure of a request with invalid parameters.
func Invalid(format string, args ...any) error { return Fail(api.InvalidParams, format, args...) }

// Conflict returns the failure of a request that the state of a session does not allow.
func Conflict(format string, args ...any) error { return Fail(api.Conflict, format, args...) }

// LimitReached returns the failure of a request beyond a limit.
func LimitReached(format string, args ...any) error { return Fail(api.LimitReached, format, args...) }

// InternalError is the reason of a failure that the caller cannot resolve. Its text is logged, not
// sent to the caller.
const InternalError api.Reason = "internal"

// reasonTable maps the errors of other packages to reasons, the first that matches.
type reasonTable []struct {
	err    error
	reason api.Reason
}

// of returns the reason of an error, or "".
func (t reasonTable) of(err error) api.Reason {
	for _, r := range t {
		if errors.Is(err, r.err) {
			return r.reason
		}
	}
	return ""
}

var reasons = reasonTable{
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
	{box.ErrUnavailable, api.Unsupported},
	{box.ErrRefused, api.InvalidParams},
	{context.DeadlineExceeded, api.TooSlow},
}

// FailureOf converts an error for the caller.
func FailureOf(err error) *Failure {
	if f, ok := errors.AsType[*Failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[*place.Error](err); ok {
		return &Failure{e.Reason, e.Text}
	}
	if r := reasons.of(err); r != "" {
		return &Failure{r, err.Error()}
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &Failure{api.LimitReached, "the disk of the server is full; nothing was stored"}
	}
	return &Failure{InternalError, "internal error; the server's log has the details"}
}
