package e2e_test

import (
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

func TestAPIError(t *testing.T) {
	tests := []struct {
		name   string
		status int
		typ    string
		error  message.AssistantError
	}{
		{"401", 401, "authentication_error", message.ErrorAuthenticationFailed},
		{"500", 500, "api_error", message.ErrorServer},
		{"429", 429, "rate_limit_error", message.ErrorRateLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, claudetest.Fail(tt.status, tt.typ, "this is what went wrong").Times(20))
			w.opts.Env["CLAUDE_CODE_MAX_RETRIES"] = "1"
			got := collect(claude.Query(t.Context(), "hello", w.opts))
			r := got.one(t)
			// The subtype is success; only IsError shows the failure.
			if !r.IsError || r.Subtype != message.ResultSuccess || r.APIErrorStatus != int64(tt.status) {
				t.Errorf("result %s", r.Raw())
			}
			if e := as[*message.ResultError](t, got.err); e.Result.UUID != r.UUID {
				t.Errorf("error of another result")
			}
			answers := of[*message.Assistant](got.messages)
			if len(answers) != 1 || answers[0].Error != tt.error {
				t.Errorf("answers %v", got.kinds())
			}
			if tt.status == 429 {
				as[*claude.RateLimitError](t, got.err)
			}
			_, err := claude.Run(t.Context(), "hello", w.opts)
			as[*message.ResultError](t, err)
		})
	}
}

func TestAPIError_thenOK(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Fail(429, "rate_limit_error", "slow down").Times(1), claudetest.Say("here you are"))
	got := collect(claude.Query(t.Context(), "hello", w.opts))
	if got.err != nil || got.one(t).Result != "here you are" {
		t.Fatalf("%v %v; want got.err == nil and got.one(t).Result == \"here you are\"", got.err, got.kinds())
	}
	retries := of[*message.APIRetry](got.messages)
	if len(retries) != 1 || retries[0].ErrorStatus != 429 || retries[0].Error != message.ErrorRateLimit {
		t.Errorf("retries %v", got.kinds())
	}
}

// A failed turn of a client has an error and a result, and the next turn can succeed.
func TestAPIError_client(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Fail(403, "permission_error", "no").Times(1), claudetest.Say("now it works"))
	c := w.connect()
	bad := collect(c.Query(t.Context(), "one"))
	if r := bad.one(t); as[*claude.ResultError](t, bad.err).Result != r || !r.IsError {
		t.Errorf("%v %s; want as[*claude.ResultError](t, bad.err).Result == r and r.IsError", bad.err, r.Raw())
	}
	good := collect(c.Query(t.Context(), "two"))
	if r := good.one(t); good.err != nil || r.IsError || r.Result != "now it works" {
		t.Errorf("%v %s; want good.err == nil and not r.IsError and r.Result == \"now it works\"", good.err, r.Raw())
	}
	c.CloseInput()
	if err := c.Wait(); err != nil {
		t.Errorf("a good turn came last, but Wait says %v", err)
	}
}
