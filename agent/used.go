package agent

import "github.com/seed7221b0f9/parley/internal/tokens"

// Tokens counts tokens by how they are priced.
type Tokens = tokens.Count

// Used is what one answer of a model used, in tokens. Agents that know it report it for every
// answer, including those of subagents, as soon as the answer has ended; see Options.OnUsed.
type Used struct {
	MessageID       string // the API's id of the answer
	ParentToolUseID string // set for an answer of a subagent
	Model           string
	Tokens
}
