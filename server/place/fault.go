package place

import (
	"context"
	"errors"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/workspace"
)

// fault is the encoding of an error for another machine, with its details and, for an error in codes, its code.
type fault struct {
	Text     string
	Code     string                   `json:",omitempty"`
	Reason   api.Reason               `json:",omitempty"`
	Stale    *workspace.StaleError    `json:",omitempty"`
	Loss     *workspace.LossError     `json:",omitempty"`
	Conflict *workspace.ConflictError `json:",omitempty"`
	Git      *workspace.GitError      `json:",omitempty"`
	Output   string                   `json:",omitempty"` // of a setup command
}

// codes maps codes to the errors that keep their identity on the other machine.
var codes = map[string]error{
	"no_git": workspace.ErrNoGit, "not_found": workspace.ErrNotFound, "invalid": workspace.ErrInvalid, "exists": workspace.ErrExists,
	"nothing": workspace.ErrNothing, "unsafe": workspace.ErrUnsafe, "filter": workspace.ErrFilter, "loss": workspace.ErrLoss,
	"session_unsupported": agent.ErrUnsupported, "session_not_found": agent.ErrNotFound, "session_invalid": agent.ErrInvalid,
	"deadline": context.DeadlineExceeded, "canceled": context.Canceled,
}

// faultOf encodes an error. It returns nil for nil.
func faultOf(err error) *fault {
	if err == nil {
		return nil
	}
	f := &fault{Text: err.Error()}
	if e, ok := errors.AsType[*Error](err); ok {
		f.Reason = e.Reason
	}
	f.Stale, _ = errors.AsType[*workspace.StaleError](err)
	f.Loss, _ = errors.AsType[*workspace.LossError](err)
	f.Conflict, _ = errors.AsType[*workspace.ConflictError](err)
	f.Git, _ = errors.AsType[*workspace.GitError](err)
	if e, ok := errors.AsType[*workspace.SetupError](err); ok {
		f.Output = e.Output
	}
	for code, known := range codes {
		if errors.Is(err, known) {
			f.Code = code
		}
	}
	return f
}

// remoteError is an error of another machine with its original text.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }

// error decodes an error.
func (f *fault) error() error {
	switch {
	case f == nil:
		return nil
	case f.Stale != nil:
		return f.Stale
	case f.Loss != nil:
		return f.Loss
	case f.Conflict != nil:
		return f.Conflict
	case f.Output != "":
		return &workspace.SetupError{Output: f.Output, Err: errors.New(f.Text)}
	case codes[f.Code] != nil:
		return &remoteError{f.Text, codes[f.Code]}
	case f.Git != nil:
		return f.Git
	case f.Reason != "":
		return &Error{f.Reason, f.Text}
	}
	return &remoteError{text: f.Text}
}
