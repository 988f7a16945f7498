package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

var errNoObject = errors.New("rpc: not a JSON object")

// Decode reads one message. A message, event, delta or block of a type that is not
// known is no error. The error says what is no JSON, or which member has another JSON
// type than it must.
func Decode(data []byte) (Message, error) {
	typ, err := typeOf(data)
	if err != nil {
		return nil, err
	}
	create, ok := messageTypes[typ]
	if !ok {
		return &UnknownMessage{OriginalType: typ, Data: compact(data)}, nil
	}
	m := create()
	return m, fill(data, m)
}

func decodeEvent(data []byte) (Event, error) {
	typ, err := typeOf(data)
	if err != nil {
		return nil, err
	}
	create, ok := eventTypes[typ]
	if !ok {
		return &UnknownEvent{OriginalType: typ, Data: compact(data)}, nil
	}
	e := create()
	return e, fill(data, e)
}

func decodeDelta(data []byte) (Delta, error) {
	typ, err := typeOf(data)
	if err != nil {
		return nil, err
	}
	create, ok := deltaTypes[typ]
	if !ok {
		return &UnknownDelta{OriginalType: typ, Data: compact(data)}, nil
	}
	d := create()
	return d, fill(data, d)
}

func decodeBlock(data []byte) (ContentBlock, error) {
	typ, err := typeOf(data)
	if err != nil {
		return nil, err
	}
	create, ok := blockTypes[typ]
	switch {
	case ok:
		b := create()
		if tool, ok := b.(*ToolUseBlock); ok && typ != "tool_use" {
			tool.BlockType = typ
		}
		return b, fill(data, b)
	case otherBlocks[typ]:
		b := &OtherBlock{BlockType: typ}
		return b, fill(data, b)
	}
	return &UnknownBlock{OriginalType: typ, Data: compact(data)}, nil
}

func decodeBlocks(data []byte) ([]ContentBlock, error) {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return nil, err
	}
	var blocks []ContentBlock
	for _, raw := range raws {
		b, err := decodeBlock(raw)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// typeOf is the type of an object, "" if it names none.
func typeOf(data []byte) (string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return "", fmt.Errorf("rpc: %w", err)
	}
	if members == nil { // null
		return "", errNoObject
	}
	var typ string
	_ = json.Unmarshal(members["type"], &typ) // any other type is no known one
	return typ, nil
}

// fill reads an object into a struct with a field Extra.
func fill(data []byte, v any) error {
	extra, err := unmarshal(data, v)
	if err == nil && extra != nil {
		reflect.ValueOf(v).Elem().FieldByName("Extra").Set(reflect.ValueOf(extra))
	}
	return err
}
