package claudetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// check returns an error for the first invalid reply, so that a mistake in a script does
// not show up as strange behavior of the CLI.
func (s Script) check() error {
	for i, r := range s.Replies {
		if err := r.check(); err != nil {
			return fmt.Errorf("claudetest: script: reply %d: %w", i, err)
		}
	}
	return nil
}

func (r Reply) check() error {
	if err := r.checkNumbers(); err != nil {
		return err
	}
	if r.Hold != "" && r.Hold != HoldBefore && r.Hold != HoldMid {
		return fmt.Errorf("hold is %q, not before or mid", r.Hold)
	}
	if r.SSEError != nil && !isObject(r.SSEError) {
		return errors.New("sse_error is not an object")
	}
	if _, err := jsonwire.Marshal(r.Usage); err != nil {
		return fmt.Errorf("usage: %w", err)
	}
	if err := r.Error.check(); err != nil {
		return fmt.Errorf("error: %w", err)
	}
	for i, b := range r.Blocks {
		if err := b.check(); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

func (r Reply) checkNumbers() error {
	numbers := []struct {
		name  string
		value *int
	}{
		{"repeat", &r.Repeat}, {"delay_ms", &r.DelayMS}, {"event_delay_ms", &r.EventDelayMS},
		{"hold_after", r.HoldAfter}, {"hold_ms", &r.HoldMS}, {"drop_after", r.DropAfter},
		{"end_after", r.EndAfter}, {"malformed_after", r.MalformedAfter}, {"sse_error_after", r.SSEErrorAfter},
	}
	for _, n := range numbers {
		if n.value != nil && *n.value < 0 {
			return fmt.Errorf("%s is %d", n.name, *n.value)
		}
	}
	return nil
}

func (e *APIError) check() error {
	if e == nil {
		return nil
	}
	if e.Status < 200 || e.Status > 599 {
		return fmt.Errorf("status is %d", e.Status)
	}
	if e.Body != nil && !json.Valid(e.Body) {
		return errors.New("body is not JSON")
	}
	return nil
}

func (b Block) check() error {
	kinds := 0
	for _, set := range []bool{b.Text != nil, b.TextRepeat != nil, b.Thinking != nil, b.ToolUse != nil, b.Raw != nil} {
		if set {
			kinds++
		}
	}
	switch {
	case kinds == 0 && b.Chunks == nil:
		return errors.New("none of text, text_repeat, thinking, tool_use and raw")
	case kinds > 1:
		return errors.New("more than one of text, text_repeat, thinking, tool_use and raw")
	case b.Chunk < 0:
		return fmt.Errorf("chunk is %d", b.Chunk)
	case b.TextRepeat != nil && b.TextRepeat.N < 0:
		return fmt.Errorf("text_repeat: n is %d", b.TextRepeat.N)
	case b.Raw != nil && !isObject(b.Raw):
		return errors.New("raw is not an object")
	}
	return b.ToolUse.check()
}

func (c *ToolCall) check() error {
	switch {
	case c == nil:
		return nil
	case c.Name == "":
		return errors.New("tool_use: no name")
	case c.Input != nil && !isObject(c.Input):
		return errors.New("tool_use: input is not an object (raw_input may be anything)")
	}
	return nil
}

func isObject(data json.RawMessage) bool {
	return json.Valid(data) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}
