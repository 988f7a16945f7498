package mcptool

import "github.com/modelcontextprotocol/go-sdk/mcp"

// Option says more about a tool than [NewTool] can know.
type Option func(*mcp.Tool)

// Annotations gives the hints of a tool: whether it only reads, destroys, may
// be repeated. Tools that only read are called at the same time.
func Annotations(a mcp.ToolAnnotations) Option {
	return func(t *mcp.Tool) { t.Annotations = &a }
}

// Title is the name of a tool for people.
func Title(title string) Option {
	return func(t *mcp.Tool) { t.Title = title }
}

// InputSchema is the schema of the arguments: a *jsonschema.Schema, or
// anything else that encodes to a JSON schema, which goes on the wire as it is.
func InputSchema(schema any) Option {
	return func(t *mcp.Tool) { t.InputSchema = schema }
}

// Meta adds a member to the tool's _meta.
func Meta(key string, value any) Option {
	return func(t *mcp.Tool) {
		if t.Meta == nil {
			t.Meta = mcp.Meta{}
		}
		t.Meta[key] = value
	}
}

// MetaAlwaysLoad is the member of _meta that AlwaysLoad sets.
const MetaAlwaysLoad = "anthropic/alwaysLoad"

// AlwaysLoad puts the tool into the prompt from the first turn on, where the
// CLI would otherwise let the model search for it.
func AlwaysLoad() Option { return Meta(MetaAlwaysLoad, true) }

// SearchHint helps the model to find a tool that is not loaded.
func SearchHint(hint string) Option { return Meta("anthropic/searchHint", hint) }

// MaxResultSize is the number of characters up to which a result is given to
// the model as it is. The CLI puts longer ones into a file.
func MaxResultSize(chars int) Option { return Meta("anthropic/maxResultSizeChars", chars) }

// EndTurn ends the turn behind a call of the tool.
func EndTurn() Option { return Meta("claude/endTurn", true) }
