package event

import (
	"cmp"
	"reflect"
	"slices"
)

func decodeBlock(data []byte) (wireBlock, error) {
	return decodeUnion(data, wireBlocks, func(t string, text JSON) wireBlock {
		if slices.Contains(otherBlocks, t) {
			b := &wireOther{BlockType: t}
			_ = fill(data, b) // no field of it can fail
			return b
		}
		return &wireUnknownBlock{OriginalType: t, Data: text}
	})
}

func decodeBlocks(data []byte) ([]wireBlock, error) {
	all := JSON(data).Elements()
	if all == nil {
		return nil, errNoList
	}
	var blocks []wireBlock
	for _, e := range all {
		b, err := decodeBlock([]byte(e))
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// blockOr returns the block of a JSON text, or other if the text is absent. A block with a member
// of an unexpected type is sent as an unknown one.
func blockOr(raw JSON, blockType string, other wireBlock) wireBlock {
	if raw == "" {
		return other
	}
	data := []byte(raw)
	b, err := wireBlock(nil), valid(data)
	if err == nil {
		b, err = decodeBlock(data)
	}
	if err != nil {
		return &wireUnknownBlock{OriginalType: blockType, Data: clean(raw)}
	}
	return b
}

// toolBlock returns a tool call. Members of the API's block without a field are added.
func toolBlock(h *Header, c *Content) *wireToolUse {
	b := &wireToolUse{
		BlockType: c.Type, ID: c.ToolUseID, ToolName: c.Name, ToolType: ToolType(h.Provider, c.Name), Name: c.Name,
		Input: c.Input, Status: ToolInProgress, Title: c.Title, Kind: c.Kind, Content: c.Content, Locations: c.Locations,
	}
	b.BlockType = cmp.Or(b.BlockType, "tool_use")
	b.Extra = layoutOf(wireToolUseType).leftover(c.Raw)
	delete(b.Extra, "type")
	return b
}

// contentBlock returns a complete block.
func contentBlock(h *Header, c *Content) wireBlock {
	switch c.Type {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return toolBlock(h, c)
	case "text":
		return blockOr(c.Raw, c.Type, &wireText{Text: c.Text})
	case "thinking":
		return blockOr(c.Raw, c.Type, &wireThinking{Thinking: c.Text, Signature: c.Signature, Summary: c.Summary})
	case "tool_result": // results are messages; any other is sent unchanged
		return &wireUnknownBlock{OriginalType: c.Type, Data: clean(c.Raw)}
	}
	return blockOr(c.Raw, c.Type, &wireUnknownBlock{OriginalType: c.Type})
}

// contentOf returns the content of a decoded block.
func contentOf(b wireBlock) Content {
	c := Content{Type: typeName(b), Raw: text(b)}
	switch b := b.(type) {
	case *wireText:
		c.Text = b.Text
		if all := JSON(b.Extra["citations"]).Elements(); len(all) > 0 {
			c.Citations = all
		}
	case *wireThinking:
		c.Text, c.Signature, c.Summary = b.Thinking, b.Signature, b.Summary
	case *wireToolUse:
		c.ToolUseID, c.Name, c.Title, c.Kind, c.Input = b.ID, b.ToolName, b.Title, b.Kind, b.Input
		c.Content, c.Locations = Present(string(b.Content)), Present(string(b.Locations))
	case *wireOther:
		c.ToolUseID = JSON(b.Extra["tool_use_id"]).Text()
	case *wireUnknownBlock:
		c = ContentOf(b.Data)
		c.Type = b.OriginalType
	}
	return c
}

// text returns an object as JSON, absent if it cannot be encoded.
func text(v wireObject) JSON {
	data, err := appendWire(nil, v)
	if err != nil {
		return ""
	}
	return JSON(data)
}

var wireToolUseType = reflect.TypeFor[wireToolUse]()

// typeName returns the type of a block, an event or a delta on the wire.
func typeName(v wireObject) string {
	if t, ok := v.(interface{ typeOnWire() string }); ok {
		return t.typeOnWire()
	}
	return wireTypes[reflect.TypeOf(v)]
}
