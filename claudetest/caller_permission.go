package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

// permissionOptions are the callbacks that askPermission makes.
var permissionOptions = []string{"canUseTool", "onElicitation", "onUserDialog"}

// ErrUnsayable is what a callback fails with that returned something which no
// type of package claude can say.
var ErrUnsayable = errors.New("claudetest: the recorded callback returned something that is no answer")

// errUnrecorded is what a callback fails with that was not called in the recording.
var errUnrecorded = errors.New("claudetest: the recording has no such call of a callback")

// askPermission gives o the callbacks that the caller had.
func (c *Call) askPermission(o *claude.Options) {
	answers := &permissionAnswers{call: c, used: map[int]bool{}}
	if c.Options["canUseTool"] != nil {
		o.CanUseTool = func(ctx context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
			text, err := answers.give(ctx, "can_use_tool", p.ToolUseID)
			if err != nil {
				return nil, err
			}
			return permissionResult(text)
		}
	}
	if c.Options["onElicitation"] != nil {
		o.OnElicitation = func(ctx context.Context, _ *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
			text, err := answers.give(ctx, "elicitation", "")
			if err != nil {
				return nil, err
			}
			result := &claude.ElicitationResult{}
			return result, json.Unmarshal(text, result)
		}
	}
	if c.Options["onUserDialog"] != nil {
		o.OnUserDialog = func(ctx context.Context, _ *claude.UserDialogRequest) (*claude.UserDialogResult, error) {
			text, err := answers.give(ctx, "request_user_dialog", "")
			if err != nil {
				return nil, err
			}
			var r struct {
				Behavior string
				Result   claude.JSON
			}
			err = json.Unmarshal(text, &r)
			return &claude.UserDialogResult{Result: r.Result, Cancelled: r.Behavior == "cancelled"}, err
		}
	}
}

// Unsayable reports whether a callback of the call returned something that no
// type of package claude can say; it fails with [ErrUnsayable] then.
func (c *Call) Unsayable() bool {
	return slices.ContainsFunc(c.Answers, func(a Answer) bool {
		if a.Subtype != "can_use_tool" || len(a.Return) == 0 || string(a.Return) == "null" {
			return false
		}
		_, err := permissionResult(a.Return)
		return errors.Is(err, ErrUnsayable)
	})
}

// permissionAnswers are the recorded calls of the callbacks.
type permissionAnswers struct {
	call *Call
	mu   sync.Mutex
	used map[int]bool
}

// give does what a callback did: it waits as long, and returns or fails.
func (p *permissionAnswers) give(ctx context.Context, subtype, toolUseID string) (json.RawMessage, error) {
	i := p.next(subtype, toolUseID)
	if i < 0 {
		return nil, errUnrecorded
	}
	p.call.invoke(i)
	a := p.call.Answers[i]
	delay := a.DelayMS
	if a.DelayAfterCancelMS != nil {
		<-ctx.Done()
		delay = *a.DelayAfterCancelMS
	}
	if delay > 0 {
		// The recorded functions did not end with their signal.
		<-time.After(time.Duration(delay * float64(time.Millisecond)))
	}
	switch {
	case a.Throw != nil:
		return nil, errors.New(*a.Throw)
	case len(a.Return) == 0 || string(a.Return) == "null":
		return nil, claude.ErrAnswerLater
	}
	return a.Return, nil
}

// next is the first answer to such a request that was not given yet, -1 if there
// is none.
func (p *permissionAnswers) next(subtype, toolUseID string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, a := range p.call.Answers {
		if a.Subtype == subtype && (toolUseID == "" || a.ToolUseID == toolUseID) && !p.used[i] {
			p.used[i] = true
			return i
		}
	}
	return -1
}

// permissionResult is what a callback returned.
func permissionResult(text json.RawMessage) (claude.PermissionResult, error) {
	var r struct {
		Behavior               string
		Message                string
		Interrupt              bool
		UpdatedInput           claude.JSON
		UpdatedPermissions     []claude.PermissionUpdate
		DecisionClassification claude.DecisionClassification
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsayable, err)
	}
	switch r.Behavior {
	case "allow":
		return &claude.Allow{UpdatedInput: r.UpdatedInput, UpdatedPermissions: r.UpdatedPermissions, Classification: r.DecisionClassification}, nil
	case "deny":
		return &claude.Deny{Message: r.Message, Interrupt: r.Interrupt, Classification: r.DecisionClassification}, nil
	}
	return nil, ErrUnsayable
}
