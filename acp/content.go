package acp

// Error codes that the protocol adds to those of JSON-RPC. Clients handle them in specific ways.
const (
	CodeAuthRequired     = -32000 // the agent has no valid credentials
	CodeResourceNotFound = -32002 // a session or a file does not exist
)

// TextBlock returns a content block with a text, for prompts and messages.
func TextBlock(s string) ContentBlock {
	return ContentBlock{Type: ContentBlockIsText, Value: &TextContent{Text: s}}
}
