package chat

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex"
)

func TestJudge(t *testing.T) {
	good := &event.ResultMessage{}
	failing := &event.ResultMessage{IsError: true}
	wire := &message.Result{IsError: true}
	tests := []struct {
		title       string
		err         error
		last        *event.ResultMessage
		interrupted bool
		want        int
		silent      bool
	}{
		{"good", nil, good, false, 0, true},
		{"failed", nil, failing, false, 1, true},
		{"failed, and the CLI said so", &message.ResultError{Result: wire}, failing, false, 1, true},
		{"a limit", &claude.RateLimitError{Err: &message.ResultError{Result: wire}}, failing, false, 1, true},
		{"refused", &claude.HandshakeError{Err: &message.ResultError{Result: wire}}, failing, false, 1, true},
		{"no result", nil, nil, false, 4, false},
		{"died", &claude.ExitError{Code: 3}, nil, false, 4, false},
		{"died behind a result", &claude.ExitError{Code: 3}, good, false, 4, false},
		{"stays after its result", &claude.StalledError{Phase: "exit"}, good, false, 0, true},
		{"stays after a failed turn", &claude.StalledError{Phase: "exit"}, failing, false, 1, true},
		{"stays without a result", &claude.StalledError{Phase: "exit"}, nil, false, 4, false},
		{"died connecting", &claude.HandshakeError{Err: &claude.ExitError{Code: 3}}, nil, false, 4, false},
		{"no handshake", &claude.HandshakeError{Err: &claude.StalledError{Phase: "handshake"}}, nil, false, 3, false},
		{"not started", &claude.SpawnError{Err: os.ErrPermission}, nil, false, 3, false},
		{"interrupted", nil, failing, true, 130, true},
		{"interrupted before it began", nil, nil, true, 130, true},
		{"interrupted too late", nil, good, true, 0, true},
		{"died when interrupted", &claude.ExitError{Signal: "SIGSEGV"}, nil, true, 4, false},
		{"SIGTERM", &term.SignalError{Signal: syscall.SIGTERM}, nil, false, 143, true},
		{"SIGINT twice", &term.SignalError{Signal: os.Interrupt}, nil, true, 130, true},
		{"timeout", &timeoutError{time.Second}, nil, false, 1, false},
		{"pipe", term.OutputFailed(syscall.EPIPE), nil, false, 141, true},
		{"disk full", term.OutputFailed(syscall.ENOSPC), nil, false, 1, false},
		{"not installed", agent.ErrNotInstalled, nil, false, 3, false},
		{"codex not started", &codex.SpawnError{Err: os.ErrPermission}, nil, false, 3, false},
		{"interrupted without an error", nil, &event.ResultMessage{Subtype: "interrupted"}, true, 130, true},
		{"interrupted by another", nil, &event.ResultMessage{TerminalReason: "aborted_streaming"}, false, 1, true},
		{"anything", errors.New("x"), nil, false, 4, false},
	}
	for _, tt := range tests {
		if v := judge(tt.err, tt.last, tt.interrupted, ""); v.code != tt.want || (v.say == "") != tt.silent {
			t.Errorf("%s: %+v, want code %d", tt.title, v, tt.want)
		}
	}
}

// TestLimitText: a limit without a name leaves no gap.
func TestLimitText(t *testing.T) {
	for name, want := range map[string]string{"": "rate limit: rejected", "five_hour": "rate limit five_hour: rejected"} {
		if got := limitText(message.RateLimitInfo{RateLimitType: name, Status: "rejected"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
