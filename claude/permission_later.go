package claude

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed7221b0f9/parley/claude/internal/control"
)

// ErrAnswerLater is returned by a callback when the answer will come from elsewhere: from
// [Client.AnswerPermission], [Client.AnswerElicitation] or [Client.AnswerUserDialog]. The CLI
// waits for it without a limit.
var ErrAnswerLater = errors.New("claude: the answer comes later")

// ErrNotOpen is returned when a request with this id was already answered, was withdrawn by the
// CLI, or never existed.
var ErrNotOpen = errors.New("claude: no such request is open")

// openRequests are the requests of the CLI that can be answered from elsewhere.
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

// remove closes a request; false if it is no longer open. The call that removes it is the one
// that answers.
func (o *openRequests) remove(id string, r *openRequest) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	mine := o.byID[id] == r
	if mine {
		delete(o.byID, id)
	}
	return mine
}

// answerNowOrLater answers with what the callback returns, or with what comes
// from elsewhere while the request is open; the first counts.
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

// answerOpen answers a request that is open. An answer that cannot be sent
// leaves it open.
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

// AnswerPermission answers a request for permission whose callback returned, or
// will return, [ErrAnswerLater]. It can be done once, while the request is open:
// afterwards, and when the CLI has taken the request back, the error is
// [ErrNotOpen]. An answer that cannot be sent, a nil one for example, is an error
// too, and the request stays open. Success means that the answer is on its way.
func (c *Client) AnswerPermission(ctx context.Context, requestID string, result PermissionResult) error {
	return c.s.responder.answerOpen(ctx, requestID, result)
}

// AnswerElicitation answers an elicitation whose callback, [Options.OnElicitation], returned
// [ErrAnswerLater]. It works as [Client.AnswerPermission] does.
func (c *Client) AnswerElicitation(ctx context.Context, requestID string, result *ElicitationResult) error {
	return c.s.responder.answerOpen(ctx, requestID, result)
}

// AnswerUserDialog answers a dialog whose callback, [Options.OnUserDialog], returned
// [ErrAnswerLater]. It works as [Client.AnswerPermission] does.
func (c *Client) AnswerUserDialog(ctx context.Context, requestID string, result *UserDialogResult) error {
	return c.s.responder.answerOpen(ctx, requestID, result)
}
