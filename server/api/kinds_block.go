package api

// blockTypes is the decode table of blocks.
var blockTypes = map[string]func() ContentBlock{
	"text":            func() ContentBlock { return new(TextBlock) },
	"thinking":        func() ContentBlock { return new(ThinkingBlock) },
	"tool_result":     func() ContentBlock { return new(ToolResultBlock) },
	"unknown":         func() ContentBlock { return new(UnknownBlock) },
	"tool_use":        func() ContentBlock { return new(ToolUseBlock) },
	"server_tool_use": func() ContentBlock { return new(ToolUseBlock) },
	"mcp_tool_use":    func() ContentBlock { return new(ToolUseBlock) },
}

// Type returns "text", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*TextBlock) Type() string { return "text" }

func (*TextBlock) block() {}

// MarshalJSON writes the block as a JSON object: its type, its fields, and then the members of Extra.
func (t *TextBlock) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "thinking", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ThinkingBlock) Type() string { return "thinking" }

func (*ThinkingBlock) block() {}

// MarshalJSON writes the block as a JSON object: its type, its fields, and then the members of Extra.
func (t *ThinkingBlock) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

func (*ToolUseBlock) block() {}

// MarshalJSON writes the block as a JSON object: its type, its fields, and then the members of Extra.
func (t *ToolUseBlock) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "tool_result", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ToolResultBlock) Type() string { return "tool_result" }

func (*ToolResultBlock) block() {}

// MarshalJSON writes the block as a JSON object: its type, its fields, and then the members of Extra.
func (t *ToolResultBlock) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

func (*OtherBlock) block() {}

// MarshalJSON writes the block as a JSON object: its type, its fields, and then the members of Extra.
func (o *OtherBlock) MarshalJSON() ([]byte, error) { return marshal(o, o.Extra) }

// Type returns "unknown", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*UnknownBlock) Type() string { return "unknown" }

func (*UnknownBlock) block() {}

// MarshalJSON writes the block as a JSON object: its type, its fields, and then the members of Extra.
func (u *UnknownBlock) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// Type returns tool_use, or server_tool_use or mcp_tool_use for tools that the API runs. It is
// BlockType, or tool_use if that is empty.
func (t *ToolUseBlock) Type() string {
	if t.BlockType == "" {
		return "tool_use"
	}
	return t.BlockType
}

// Type returns the type that the API has for the block. It is one that this package knows but
// has no fields for.
func (o *OtherBlock) Type() string { return o.BlockType }
