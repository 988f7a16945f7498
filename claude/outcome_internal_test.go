package claude

import (
	"errors"
	"io"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

func TestOutcome(t *testing.T) {
	failed := &message.Result{IsError: true, Subtype: "error_during_execution", NumTurns: 1}
	limited := &message.Result{IsError: true, APIErrorStatus: 429}
	good, empty := &message.Result{NumTurns: 1}, &message.Result{}
	exit, killed := &ExitError{Code: 1}, &ExitError{Signal: "killed"}
	stop, write := errors.New("stop"), errors.New("write")
	for name, tt := range map[string]struct {
		seen               []message.Message
		hot                string
		read, cause, write error
		is                 error
		result, limit      bool
		resets             int64 // of a limit; 0 if unknown
	}{
		"a good end":               {read: io.EOF},
		"a failed write":           {read: io.EOF, write: write, is: write},
		"stopped by its user":      {read: exit, cause: errStopped},
		"stopped for a reason":     {read: exit, cause: stop, is: stop},
		"an exit":                  {read: exit, is: exit},
		"an error result":          {seen: []message.Message{failed}, read: exit, result: true},
		"killed after it":          {seen: []message.Message{failed}, read: killed, is: killed},
		"a limit":                  {seen: []message.Message{&message.RateLimitEvent{RateLimitInfo: message.RateLimitInfo{ResetsAt: 7}}, limited}, read: exit, limit: true, resets: 7},
		"a limit without an end":   {seen: []message.Message{&message.RateLimitEvent{}, limited}, read: exit, limit: true},
		"a good result after it":   {seen: []message.Message{failed, good}, read: exit, is: exit},
		"an empty result after it": {seen: []message.Message{failed, empty}, read: exit, result: true},
		"a turn after it":          {seen: []message.Message{failed, &message.Init{}}, read: exit, is: exit},
		"an answer after it":       {seen: []message.Message{failed}, hot: "assistant", read: exit, is: exit},
		"a prompt after it":        {seen: []message.Message{failed}, hot: "user", read: exit, result: true},
		"an error result, no exit": {seen: []message.Message{failed}, read: io.EOF},
	} {
		var o outcome
		for _, m := range tt.seen {
			o.see(m)
		}
		if tt.hot != "" {
			o.active(tt.hot)
		}
		err := o.of(tt.read, tt.cause, tt.write)
		limit, isLimit := errors.AsType[*RateLimitError](err)
		switch {
		case tt.limit:
			if !isLimit || limit.resetsAt.IsZero() != (tt.resets == 0) || tt.resets != 0 && limit.resetsAt.Unix() != tt.resets {
				t.Errorf("%s: %v; want isLimit and limit.resetsAt.IsZero() == (tt.resets == 0) and not (tt.resets != 0 && limit.resetsAt.Unix() != tt.resets)", name, err)
			}
		case tt.result:
			if !errors.As(err, new(*message.ResultError)) {
				t.Errorf("%s: %v; want errors.As(err, new(*message.ResultError))", name, err)
			}
		case err != tt.is:
			t.Errorf("%s: %v, want %v", name, err, tt.is)
		}
	}
}
