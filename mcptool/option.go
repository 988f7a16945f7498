package mcptool

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Option adds to the description of a tool what [NewTool] cannot infer from the type of its
// function.
type Option func(*mcp.Tool)

// Annotations gives the hints of a tool: whether it only reads, destroys, may
// be repeated. Tools that only read are called at the same time.
func Annotations(a mcp.ToolAnnotations) Option {
	return func(t *mcp.Tool) { t.Annotations = &a }
}

// Title returns an option that sets the name of the tool as people see it. The model sees the
// other one.
func Title(title string) Option {
	return func(t *mcp.Tool) { t.Title = title }
}

// InputSchema is the schema of the arguments: a *jsonschema.Schema, or
// anything else that encodes to a JSON schema, which goes on the wire as it is.
func InputSchema(schema any) Option {
	return func(t *mcp.Tool) { t.InputSchema = schema }
}

// Meta returns an option that adds a member to the tool's _meta, which clients of MCP interpret
// as they like.
func Meta(key string, value any) Option {
	return func(t *mcp.Tool) {
		if t.Meta == nil {
			t.Meta = mcp.Meta{}
		}
		t.Meta[key] = value
	}
}

// MetaAlwaysLoad is the member of a tool's _meta that [AlwaysLoad] sets and that the CLI looks
// for.
const MetaAlwaysLoad = "anthropic/alwaysLoad"

// AlwaysLoad puts the tool into the prompt from the first turn on, where the
// CLI would otherwise let the model search for it.
func AlwaysLoad() Option { return Meta(MetaAlwaysLoad, true) }

// SearchHint returns an option with words by which the model finds a tool that is loaded on
// demand.
func SearchHint(hint string) Option { return Meta("anthropic/searchHint", hint) }

// MaxResultSize is the number of characters up to which a result is given to
// the model as it is. The CLI puts longer ones into a file.
func MaxResultSize(chars int) Option { return Meta("anthropic/maxResultSizeChars", chars) }

// EndTurn returns an option that ends the turn after a call of the tool, without a further
// answer of the model.
func EndTurn() Option { return Meta("claude/endTurn", true) }
