package rpc

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

// Type is text.
func (*TextBlock) Type() string { return "text" }

func (*TextBlock) block() {}

// MarshalJSON writes the block.
func (t *TextBlock) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is thinking.
func (*ThinkingBlock) Type() string { return "thinking" }

func (*ThinkingBlock) block() {}

// MarshalJSON writes the block.
func (t *ThinkingBlock) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

func (*ToolUseBlock) block() {}

// MarshalJSON writes the block.
func (t *ToolUseBlock) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is tool_result.
func (*ToolResultBlock) Type() string { return "tool_result" }

func (*ToolResultBlock) block() {}

// MarshalJSON writes the block.
func (t *ToolResultBlock) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

func (*OtherBlock) block() {}

// MarshalJSON writes the block.
func (o *OtherBlock) MarshalJSON() ([]byte, error) { return marshal(o, o.Extra) }

// Type is unknown.
func (*UnknownBlock) Type() string { return "unknown" }

func (*UnknownBlock) block() {}

// MarshalJSON writes the block.
func (u *UnknownBlock) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// Type is tool_use, server_tool_use or mcp_tool_use.
func (t *ToolUseBlock) Type() string {
	if t.BlockType == "" {
		return "tool_use"
	}
	return t.BlockType
}

// Type is the API's type of the block.
func (o *OtherBlock) Type() string { return o.BlockType }
