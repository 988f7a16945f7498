package claude

import (
	"errors"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
)

var moment = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func startHook(event string) message.Message { return &message.HookStarted{HookEvent: event} }

func endHook(event string) message.Message { return &message.HookResponse{HookEvent: event} }

// The deadline of a handshake is extended by the time of start hooks, by at most ten
// minutes in total.
func TestHandshakeDeadline(t *testing.T) {
	type step struct {
		after time.Duration // since the start
		m     message.Message
		wait  time.Duration
		moved bool
	}
	for name, steps := range map[string][]step{
		"no hooks": {{time.Second, &message.Init{}, 0, false}},
		"another event": {
			{time.Second, startHook("PreToolUse"), 0, false},
			{2 * time.Second, endHook("PreToolUse"), 0, false},
		},
		"one hook": {
			{10 * time.Second, startHook("SessionStart"), 50*time.Second + 10*time.Minute, true},
			{70 * time.Second, endHook("SessionStart"), 50 * time.Second, true},
		},
		"two at once": {
			{10 * time.Second, startHook("SessionStart"), 50*time.Second + 10*time.Minute, true},
			{20 * time.Second, startHook("Setup"), 0, false},
			{30 * time.Second, endHook("SessionStart"), 0, false},
			{40 * time.Second, endHook("Setup"), 50 * time.Second, true},
		},
		"one after the other": {
			{10 * time.Second, startHook("Setup"), 50*time.Second + 10*time.Minute, true},
			{9*time.Minute + 10*time.Second, endHook("Setup"), 50 * time.Second, true},
			{9*time.Minute + 20*time.Second, startHook("Setup"), 40*time.Second + time.Minute, true},
			{19 * time.Minute, endHook("Setup"), 40*time.Second + time.Minute - (9*time.Minute + 40*time.Second), true},
		},
		"an end without a start": {{time.Second, endHook("Setup"), 0, false}},
	} {
		var h handshake
		if wait := h.begin(moment, time.Minute, false); wait != time.Minute {
			t.Errorf("%s: at first %v", name, wait)
		}
		for i, s := range steps {
			if wait, moved := h.see(s.m, moment.Add(s.after)); wait != s.wait || moved != s.moved {
				t.Errorf("%s, step %d: %v, %v; want %v, %v", name, i+1, wait, moved, s.wait, s.moved)
			}
		}
	}
}

// A hook that is running when the deadline begins also extends it; a deadline of the
// caller is never extended; a finished hook has no effect.
func TestHandshakeDeadlineBegins(t *testing.T) {
	var h handshake
	h.see(startHook("Setup"), moment)
	if wait := h.begin(moment, time.Minute, false); wait != 11*time.Minute {
		t.Errorf("with a hook %v", wait)
	}
	h = handshake{}
	h.see(startHook("Setup"), moment)
	if wait := h.begin(moment, time.Minute, true); wait != time.Minute {
		t.Errorf("fixed %v", wait)
	}
	if _, moved := h.see(startHook("Setup"), moment); moved {
		t.Error("a fixed deadline was moved")
	}
	h = handshake{ended: true}
	if _, moved := h.see(startHook("Setup"), moment); moved {
		t.Error("a deadline was moved after the end")
	}
}

func TestHandshakeFails(t *testing.T) {
	stalled := &StalledError{Phase: "handshake"}
	refused := &OnFailureError{}
	for name, tt := range map[string]struct {
		err     error
		stop    bool
		stalled *StalledError
	}{
		"refused by the CLI": {err: &control.Error{Message: "no"}, stop: true},
		"no answer":          {err: stalled, stop: true, stalled: stalled},
		"hooks do not block": {err: refused, stop: true},
		"the stream ended":   {err: errEnded},
		"anything else":      {err: errors.New("x")},
	} {
		var h handshake
		v := h.fail(tt.err)
		if !h.ended || h.err != tt.err || h.answer != nil || v.err != tt.err || v.closeInput || v.stalled != tt.stalled {
			t.Errorf("%s: %+v, %+v; want h.ended and h.err == tt.err and h.answer == nil and v.err == tt.err and not v.closeInput and v.stalled == tt.stalled", name, h, v)
		}
		if stop := errors.As(v.stop, new(*HandshakeError)); stop != tt.stop {
			t.Errorf("%s: stops with %v", name, v.stop)
		}
	}
}
