package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// MarshalJSON writes the complete state as JSON, from which [Conversation.UnmarshalJSON] and the
// TypeScript client can continue.
func (c *Conversation) MarshalJSON() ([]byte, error) {
	c.Settle()
	type plain Conversation
	return jsonwire.Marshal((*plain)(c))
}

// ErrVersion is returned when decoding a [Conversation] of another [ConversationVersion]. Folding
// its events again creates it in the current version.
var ErrVersion = errors.New("event: the conversation has another version")

// UnmarshalJSON replaces the conversation by a state of MarshalJSON, ready for further events. It
// returns [ErrVersion] for a state of another version.
func (c *Conversation) UnmarshalJSON(data []byte) error {
	type plain Conversation
	var p plain
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	if p.Version != ConversationVersion {
		return fmt.Errorf("%w: %d, not %d", ErrVersion, p.Version, ConversationVersion)
	}
	*c = Conversation(p)
	c.clean()
	c.ready()
	return nil
}

// clean removes values that a foreign state may contain and this package never writes: nulls in
// lists, and kinds without their member.
func (c *Conversation) clean() {
	c.Threads = withoutNil(c.Threads)
	for _, t := range c.Threads {
		t.Items = withoutNil(t.Items)
		for _, it := range t.Items {
			if it.Message != nil {
				it.Message.Blocks = withoutNil(it.Message.Blocks)
			}
		}
	}
	c.Tasks, c.Turns = withoutNil(c.Tasks), withoutNil(c.Turns)
	c.Prompts = slices.DeleteFunc(withoutNil(c.Prompts), func(p *Prompt) bool { return p.Event() == nil })
	c.Hooks = slices.DeleteFunc(withoutNil(c.Hooks), func(h *HookRun) bool { return h.Hook == nil })
	c.Notices = slices.DeleteFunc(c.Notices, func(n NoticeRow) bool { return n.Notice == nil })
}

// withoutNil returns a list without its nil elements.
func withoutNil[T any](list []*T) []*T {
	kept := make([]*T, 0, len(list))
	for _, v := range list {
		if v != nil {
			kept = append(kept, v)
		}
	}
	return kept
}
