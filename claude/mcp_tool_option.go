package claude

import "github.com/modelcontextprotocol/go-sdk/mcp"

// ToolOption says more about a tool than [NewTool] can know.
type ToolOption func(*mcp.Tool)

// ToolAnnotations gives the hints of a tool: whether it only reads, destroys, may
// be repeated. Tools that only read are called at the same time.
func ToolAnnotations(a mcp.ToolAnnotations) ToolOption {
	return func(t *mcp.Tool) { t.Annotations = &a }
}

// ToolTitle is the name of a tool for people.
func ToolTitle(title string) ToolOption {
	return func(t *mcp.Tool) { t.Title = title }
}

// ToolInputSchema is the schema of the arguments: a *jsonschema.Schema, or
// anything else that encodes to a JSON schema, which goes on the wire as it is.
func ToolInputSchema(schema any) ToolOption {
	return func(t *mcp.Tool) { t.InputSchema = schema }
}

// ToolMeta adds a member to the tool's _meta.
func ToolMeta(key string, value any) ToolOption {
	return func(t *mcp.Tool) {
		if t.Meta == nil {
			t.Meta = mcp.Meta{}
		}
		t.Meta[key] = value
	}
}

const metaAlwaysLoad = "anthropic/alwaysLoad"

// ToolAlwaysLoad puts the tool into the prompt from the first turn on, where the
// CLI would otherwise let the model search for it.
func ToolAlwaysLoad() ToolOption { return ToolMeta(metaAlwaysLoad, true) }

// ToolSearchHint helps the model to find a tool that is not loaded.
func ToolSearchHint(hint string) ToolOption { return ToolMeta("anthropic/searchHint", hint) }

// ToolMaxResultSize is the number of characters up to which a result is given to
// the model as it is. The CLI puts longer ones into a file.
func ToolMaxResultSize(chars int) ToolOption { return ToolMeta("anthropic/maxResultSizeChars", chars) }

// ToolEndTurn ends the turn behind a call of the tool.
func ToolEndTurn() ToolOption { return ToolMeta("claude/endTurn", true) }
