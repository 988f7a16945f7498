package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

var (
	errNoObject = errors.New("rpc: not a JSON object")
	errNoList   = errors.New("rpc: not a JSON list")
)

// maxDepth is how deep a message nests at most: that of an event's JSON, and what a
// message has around it.
const maxDepth = 2 * event.MaxDepth

var errDeep = fmt.Errorf("rpc: the message nests deeper than %d levels", maxDepth)

// Decode decodes one message. A message, event, delta or block of an unknown type is not an error.
// Decode returns an error for text that is not JSON or nests too deeply, and for a member with the
// wrong JSON type, which the error names.
func Decode(data []byte) (Message, error) {
	if bytes.HasPrefix(data, []byte(deltaUUIDHead)) {
		if m, ok := decodeDeltaFrame(string(data)); ok {
			return m, nil
		}
	}
	if event.Deeper(string(data), maxDepth) {
		return nil, errDeep
	}
	if err := valid(data); err != nil {
		return nil, err
	}
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

// decodeEvent reads an event that was checked to be JSON.
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
	d := jsonwire.NewDecoder(string(data))
	if d.Kind() != '[' {
		return nil, errNoList
	}
	var blocks []ContentBlock
	for e := d.Elements(); e.Next(); {
		from := d.Offset()
		to := from + len(d.Text())
		b, err := decodeBlock(data[from:to:to])
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, d.Err()
}

// typeOf is the type of an object, "" if it names none.
func typeOf(data []byte) (string, error) {
	members, err := membersOf(data)
	if err != nil {
		return "", err
	}
	if members == nil { // null
		return "", errNoObject
	}
	var typ string
	_ = json.Unmarshal(members["type"], &typ) // any other type is unknown
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
