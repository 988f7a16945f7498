package acpagent

import (
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// tokens adds up the usage of a turn.
type tokens struct{ input, output, read, written int64 }

// add adds the usage in the extension of a chunk, which some agents send instead of the usage in
// the answer.
func (t *tokens) add(meta map[string]json.RawMessage) {
	one := readTokens(event.JSON(meta["usage"]))
	t.input, t.output, t.read, t.written = t.input+one.input, t.output+one.output, t.read+one.read, t.written+one.written
}

// of returns the usage of a turn: from its answer, from the answer's extension, or the sum of its chunks. It is empty
// if the agent reports no usage.
func (t *tokens) of(answer *acp.PromptResponse) event.JSON {
	sum := *t
	if u, ok := answer.Usage.Get(); ok {
		sum = tokens{u.InputTokens, u.OutputTokens, u.CachedReadTokens.Or(0), u.CachedWriteTokens.Or(0)}
	} else if count, ok := event.JSON(answer.Meta["quota"]).Member("token_count"); ok {
		sum = readTokens(count)
	}
	if sum == (tokens{}) {
		return ""
	}
	return event.JSON(fmt.Sprintf(`{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}`,
		sum.input, sum.output, sum.read, sum.written))
}

// readTokens reads a usage with the member names of the protocol or of a model's API.
func readTokens(usage event.JSON) (t tokens) {
	for name, to := range map[string]*int64{
		"inputTokens": &t.input, "input_tokens": &t.input, "outputTokens": &t.output, "output_tokens": &t.output,
		"cachedReadTokens": &t.read, "cachedWriteTokens": &t.written,
	} {
		if n, ok := usage.Member(name); ok {
			_ = json.Unmarshal([]byte(n), to) // another type counts as absent
		}
	}
	return t
}
