package event

import (
	"reflect"
	"slices"
	"strings"
)

// Shape is the JSON object of a type on the wire, for generators of schemas and types of other
// languages.
type Shape struct {
	Name  string       // the name in front ends
	Type  reflect.Type // the Go type
	Form  reflect.Type // a struct with the members of the object, in order
	Union reflect.Type // the interface that it is a variant of, or nil
	Types []string     // the values of its member type in the union
}

// UnionName returns the name of an interface that is the Union of a [Shape].
func UnionName(t reflect.Type) string {
	return map[reflect.Type]string{
		reflect.TypeFor[Event](): "Message", reflect.TypeFor[wireEvent](): "Event",
		reflect.TypeFor[wireDelta](): "Delta", reflect.TypeFor[wireBlock](): "ContentBlock",
	}[t]
}

// wireNames are the names of the types that have another one in Go.
var wireNames = map[reflect.Type]string{
	reflect.TypeFor[Error](): "ErrorMessage", reflect.TypeFor[Status](): "StatusSystem", reflect.TypeFor[Unknown](): "UnknownMessage",
	reflect.TypeFor[wireUser](): "UserMessage", reflect.TypeFor[wireAssistant](): "AssistantMessage", reflect.TypeFor[wireStream](): "StreamEvent",
	reflect.TypeFor[wireMessageStart](): "MessageStartEvent", reflect.TypeFor[wireBlockStart](): "ContentBlockStartEvent",
	reflect.TypeFor[wireBlockDelta](): "ContentBlockDeltaEvent", reflect.TypeFor[wireBlockStop](): "ContentBlockStopEvent",
	reflect.TypeFor[wireMessageDelta](): "MessageDeltaEvent", reflect.TypeFor[wireMessageStop](): "MessageStopEvent",
	reflect.TypeFor[wireInputDelta](): "InputJSONDelta", reflect.TypeFor[wireText](): "TextBlock", reflect.TypeFor[wireThinking](): "ThinkingBlock",
	reflect.TypeFor[wireToolUse](): "ToolUseBlock", reflect.TypeFor[wireToolResult](): "ToolResultBlock", reflect.TypeFor[wireOther](): "OtherBlock",
	reflect.TypeFor[wireAbandoned](): "AbandonedBlocks",
}

// Shapes returns the objects of the wire.
func Shapes() []Shape {
	var all []Shape
	add := func(union reflect.Type, v any, types ...string) {
		t := reflect.TypeOf(v).Elem()
		if i := slices.IndexFunc(all, func(s Shape) bool { return s.Type == t }); i >= 0 {
			all[i].Types = append(all[i].Types, types...)
			return
		}
		name, ok := wireNames[t]
		if !ok {
			name = strings.TrimPrefix(t.Name(), "wire")
		}
		all = append(all, Shape{name, t, form(t), union, types})
	}
	message := reflect.TypeFor[Event]()
	add(message, new(wireUser), "user")
	add(message, new(wireAssistant), "assistant")
	add(message, new(wireStream), "stream_event")
	for name, create := range events {
		add(message, create(), name)
	}
	for name, create := range wireEvents {
		add(reflect.TypeFor[wireEvent](), create(), name)
	}
	for name, create := range wireDeltas {
		add(reflect.TypeFor[wireDelta](), create(), name)
	}
	for name, create := range wireBlocks {
		add(reflect.TypeFor[wireBlock](), create(), name)
	}
	add(reflect.TypeFor[wireBlock](), new(wireOther), otherBlocks...)
	add(nil, new(wireContent))
	add(nil, new(wireStreamMessage))
	add(nil, new(wireAbandoned))
	return all
}

// form returns a struct type with the members of an object.
func form(t reflect.Type) reflect.Type {
	l := layoutOf(t)
	var fields []reflect.StructField
	if l.subtype != "" {
		fields = append(fields, reflect.StructField{Name: "Subtype", Type: stringType, Tag: `json:"subtype"`})
	}
	for _, f := range l.fields {
		sf := t.FieldByIndex(f.index)
		tag := `json:"` + f.name
		if f.omitEmpty {
			tag += ",omitempty"
		}
		fields = append(fields, reflect.StructField{Name: sf.Name, Type: sf.Type, Tag: reflect.StructTag(tag + `"`)})
	}
	return reflect.StructOf(fields)
}
