package agent

import "github.com/seed7221b0f9/parley/internal/tokens"

// Tokens counts tokens by how they are priced.
type Tokens = tokens.Count

// Used is the token usage of one answer of a model. Agents that know it report it for every answer,
// including those of subagents, at the end of the answer; see Options.OnUsed.
type Used struct {
	MessageID       string // the API's id of the answer
	ParentToolUseID string // set for an answer of a subagent
	Model           string
	Tokens
}
