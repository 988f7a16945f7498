package claude_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// later returns options with callbacks that all return ErrAnswerLater.
func later() *claude.Options {
	return &claude.Options{
		CanUseTool: func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
			return nil, claude.ErrAnswerLater
		},
		OnQuestion: func(context.Context, *claude.QuestionRequest) (*claude.QuestionAnswer, error) {
			return nil, claude.ErrAnswerLater
		},
		OnElicitation: func(context.Context, *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
			return nil, claude.ErrAnswerLater
		},
		OnUserDialog: func(context.Context, *claude.UserDialogRequest) (*claude.UserDialogResult, error) {
			return nil, claude.ErrAnswerLater
		},
		SupportedDialogKinds: []string{"known"},
	}
}

func TestAnswerLater(t *testing.T) {
	withOptions(t, later(), func(t *testing.T, cli *memCLI, c *claude.Client) {
		ctx := t.Context()
		cli.say(request("r1", bashAsk), request("r2", questionAsk), request("r3", formAsk), request("r4", dialogAsk))
		<-time.After(24 * time.Hour)
		for _, id := range []string{"r1", "r2", "r3", "r4"} {
			if got := cli.answered(id); got != "" {
				t.Errorf("%s was answered: %s", id, got)
			}
		}
		// An invalid answer leaves the request open.
		for _, bad := range []claude.PermissionResult{nil, (*claude.Deny)(nil), &claude.Allow{UpdatedInput: "[]"}, choices()} {
			if err := c.AnswerPermission(ctx, "r1", bad); err == nil || errors.Is(err, claude.ErrNotOpen) {
				t.Errorf("%#v: %v; want err != nil and not errors.Is(err, claude.ErrNotOpen)", bad, err)
			}
		}
		if err := c.AnswerElicitation(ctx, "r1", &claude.ElicitationResult{Action: message.ElicitationCancel}); err == nil {
			t.Error("an elicitation's answer was taken for a permission's")
		}
		for _, err := range []error{
			c.AnswerPermission(ctx, "r1", &claude.Deny{Message: "no"}),
			c.AnswerPermission(ctx, "r2", choices()),
			c.AnswerElicitation(ctx, "r3", &claude.ElicitationResult{Action: message.ElicitationCancel}),
			c.AnswerUserDialog(ctx, "r4", &claude.UserDialogResult{Cancelled: true}),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		if got := cli.answered("r1"); got != `{"behavior":"deny","message":"no","toolUseID":"toolu_1"}` {
			t.Errorf("got is %v; want got == `{\"behavior\":\"deny\",\"message\":\"no\",\"toolUseID\":\"toolu_1\"}`", got)
		}
		if cli.answered("r2") == "" || cli.answered("r3") != `{"action":"cancel"}` || cli.answered("r4") != `{"behavior":"cancelled"}` {
			t.Errorf("%q; want cli.answered(\"r2\") != \"\" and cli.answered(\"r3\") == `{\"action\":\"cancel\"}` and cli.answered(\"r4\") == `{\"behavior\":\"cancelled\"}`", cli.read())
		}
		for _, id := range []string{"r1", "r9"} {
			if err := c.AnswerPermission(ctx, id, &claude.Allow{}); !errors.Is(err, claude.ErrNotOpen) {
				t.Errorf("%s: %v; want errors.Is(err, claude.ErrNotOpen)", id, err)
			}
		}
	})
}

func TestAnswerAfterWithdrawal(t *testing.T) {
	withOptions(t, later(), func(t *testing.T, cli *memCLI, c *claude.Client) {
		cli.say(request("r1", bashAsk), request("r2", bashAsk))
		synctest.Wait()
		cli.say(`{"type":"control_cancel_request","request_id":"r1"}`)
		synctest.Wait()
		if err := c.AnswerPermission(t.Context(), "r1", &claude.Allow{}); !errors.Is(err, claude.ErrNotOpen) {
			t.Error(err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.AnswerPermission(ended, "r2", &claude.Allow{}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		c.Close()
		if err := c.AnswerPermission(t.Context(), "r2", &claude.Allow{}); !errors.Is(err, claude.ErrNotOpen) {
			t.Error(err)
		}
		if got := cli.answered("r1") + cli.answered("r2"); got != "" {
			t.Errorf("got is %v; want got == \"\"", got)
		}
	})
}

// The first answer counts, even if it precedes the return of the callback.
func TestAnswerBeforeTheCallbackReturns(t *testing.T) {
	asked := make(chan string, 1)
	opts := &claude.Options{CanUseTool: func(_ context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		asked <- p.RequestID
		<-time.After(time.Second) // virtual
		return &claude.Allow{}, nil
	}}
	withOptions(t, opts, func(t *testing.T, cli *memCLI, c *claude.Client) {
		cli.say(request("r1", bashAsk))
		if err := c.AnswerPermission(t.Context(), <-asked, &claude.Deny{Message: "no"}); err != nil {
			t.Error(err)
		}
		<-time.After(time.Minute)
		if got := cli.answered("r1"); got != `{"behavior":"deny","message":"no","toolUseID":"toolu_1"}` {
			t.Errorf("got is %v; want got == `{\"behavior\":\"deny\",\"message\":\"no\",\"toolUseID\":\"toolu_1\"}`", got)
		}
	})
}
