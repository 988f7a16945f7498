package claude

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed7221b0f9/parley/claude/internal/control"
)

// A callback returns ErrAnswerLater if the program will answer with [Client.AnswerPermission],
// [Client.AnswerElicitation] or [Client.AnswerUserDialog]. The CLI waits for the answer without
// a limit.
var ErrAnswerLater = errors.New("claude: the answer comes later")

// ErrNotOpen is returned when a request with this id was already answered, was cancelled by the
// CLI, or never existed.
var ErrNotOpen = errors.New("claude: no such request is open")

// openRequests holds the requests of the CLI that can be answered later.
type openRequests struct {
	mu   sync.Mutex
	byID map[string]*openRequest
}

type openRequest struct {
	encode func(result any) ([]byte, error)
	answer chan []byte // takes one
}

func (o *openRequests) add(id string, r *openRequest) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = map[string]*openRequest{}
	}
	o.byID[id] = r
}

func (o *openRequests) find(id string) *openRequest {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byID[id]
}

// remove closes a request. It returns false if the request is no longer open. Only the caller
// that gets true may answer.
func (o *openRequests) remove(id string, r *openRequest) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	mine := o.byID[id] == r
	if mine {
		delete(o.byID, id)
	}
	return mine
}

// answerNowOrLater sends the answer that the callback returns, or one that is given while the
// request is open; the first counts.
func answerNowOrLater[R any](ctx context.Context, r *responder, req control.Request, encode func(R) ([]byte, error), call func() (R, error)) ([]byte, error) {
	open := &openRequest{answer: make(chan []byte, 1)}
	open.encode = func(result any) ([]byte, error) {
		typed, ok := result.(R)
		if !ok {
			return nil, fmt.Errorf("claude: a %T is not an answer to %s", result, req.Subtype)
		}
		return encode(typed)
	}
	r.open.add(req.ID, open)
	defer r.open.remove(req.ID, open)
	result, err := call()
	if errors.Is(err, ErrAnswerLater) {
		select {
		case text := <-open.answer:
			return text, nil
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if !r.open.remove(req.ID, open) {
		return <-open.answer, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := encode(result)
	if err != nil {
		r.warn("claude: the answer of a callback cannot be sent", "request", req.Subtype, "error", err)
	}
	return text, err
}

// answerOpen answers a request that is open. If the answer cannot be encoded, the request stays
// open.
func (r *responder) answerOpen(ctx context.Context, id string, result any) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	open := r.open.find(id)
	if open == nil {
		return ErrNotOpen
	}
	text, err := open.encode(result)
	if err != nil {
		return err
	}
	if !r.open.remove(id, open) {
		return ErrNotOpen
	}
	open.answer <- text
	return nil
}

// AnswerPermission answers a permission request for which the callback returned, or will
// return, [ErrAnswerLater]. It succeeds once; if the request is already answered or was
// cancelled by the CLI, the error is [ErrNotOpen]. An invalid answer, such as nil, is also an
// error, and the request stays open. A nil error means that the answer was sent, not that the
// CLI has read it.
func (c *Client) AnswerPermission(ctx context.Context, requestID string, result PermissionResult) error {
	return c.s.responder.answerOpen(ctx, requestID, result)
}

// AnswerElicitation answers an elicitation for which [Options.OnElicitation] returned
// [ErrAnswerLater]. It works like [Client.AnswerPermission].
func (c *Client) AnswerElicitation(ctx context.Context, requestID string, result *ElicitationResult) error {
	return c.s.responder.answerOpen(ctx, requestID, result)
}

// AnswerUserDialog answers a dialog for which [Options.OnUserDialog] returned [ErrAnswerLater].
// It works like [Client.AnswerPermission].
func (c *Client) AnswerUserDialog(ctx context.Context, requestID string, result *UserDialogResult) error {
	return c.s.responder.answerOpen(ctx, requestID, result)
}
