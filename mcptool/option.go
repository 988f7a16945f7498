package mcptool

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Option adds to the description of a tool data that [NewTool] cannot infer from the type of its
// function.
type Option func(*mcp.Tool)

// Annotations returns an option that sets the hints of a tool: whether it is read-only,
// destructive, or idempotent. The CLI calls read-only tools concurrently.
func Annotations(a mcp.ToolAnnotations) Option {
	return func(t *mcp.Tool) { t.Annotations = &a }
}

// Title returns an option that sets the name of the tool for people. The model sees the name passed
// to [NewTool].
func Title(title string) Option {
	return func(t *mcp.Tool) { t.Title = title }
}

// InputSchema returns an option that replaces the inferred schema of the arguments: a
// *jsonschema.Schema, or any value that encodes to a JSON schema.
func InputSchema(schema any) Option {
	return func(t *mcp.Tool) { t.InputSchema = schema }
}

// Meta returns an option that adds a member to the tool's _meta, which MCP clients interpret.
func Meta(key string, value any) Option {
	return func(t *mcp.Tool) {
		if t.Meta == nil {
			t.Meta = mcp.Meta{}
		}
		t.Meta[key] = value
	}
}

// MetaAlwaysLoad is the member of a tool's _meta that [AlwaysLoad] sets for Claude Code.
const MetaAlwaysLoad = "anthropic/alwaysLoad"

// AlwaysLoad returns an option that shows the tool to the model from the first turn on. Without it
// Claude Code may omit the tool until the model searches for it.
func AlwaysLoad() Option { return Meta(MetaAlwaysLoad, true) }

// SearchHint returns an option with words by which the model finds a tool that is loaded on
// demand.
func SearchHint(hint string) Option { return Meta("anthropic/searchHint", hint) }

// MaxResultSize returns an option that limits the characters of a result that Claude Code shows to
// the model. It stores longer results in a file and passes the path to the model.
func MaxResultSize(chars int) Option { return Meta("anthropic/maxResultSizeChars", chars) }

// EndTurn returns an option that ends the turn after a call of the tool, without a further answer
// of the model.
func EndTurn() Option { return Meta("claude/endTurn", true) }
