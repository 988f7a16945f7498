package acpevent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// call collects everything that the agent has reported about one tool call, in tool_call,
// tool_call_update and session/request_permission. A member keeps its value if a later message
// lacks it, because agents spread the command, the diff and the arguments over all three.
type call struct {
	id, name, kind string
	first          string   // the initial title
	titles         []string // all different titles; the current one is last
	members        map[string]json.RawMessage
	input          event.JSON        // the members of objects
	other          event.JSON        // a raw input that is not an object
	content        []json.RawMessage // blocks in the form of events
	locations      []acp.ToolCallLocation
	output         string // the output of the call so far
	status         acp.ToolCallStatus
	running        bool   // texts in its content are output
	extra          bool   // the agent has reported unknown members
	message        string // the message with the call's block and its index; "" if it is not shown
	index          int64
	shown          event.JSON // the block in the last event
	asks           []*asked
	ended          bool
	refused        bool // a person has refused it
	settled        bool // it has a result that the agent has not reported
}

// asked is an open request for permission.
type asked struct {
	id      string
	request *acp.RequestPermissionRequest
	shown   event.JSON // the event as it was last emitted
}

// update converts the start of a tool call to an update.
func update(v *acp.ToolCall) *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{
		ToolCallID: v.ToolCallID, Title: acp.NonZero(v.Title), Name: v.Name, Kind: v.Kind, Status: v.Status, Content: acp.Some(v.Content),
		Locations: acp.Some(v.Locations), RawInput: v.RawInput, RawOutput: v.RawOutput, Object: v.Object,
	}
}

// merge merges a message about a call into the record of the call. A request appends its content;
// an update replaces the text content.
func (k *call) merge(u *acp.ToolCallUpdate, isRequest bool) {
	k.name = cmp.Or(u.Name.Or(""), k.name)
	if title := u.Title.Or(""); title != "" {
		k.first = cmp.Or(k.first, title)
		k.titles = append(slices.DeleteFunc(k.titles, func(t string) bool { return t == title }), title)
		k.titles = k.titles[max(0, len(k.titles)-maxTitles):]
	}
	k.kind = cmp.Or(string(u.Kind.Or("")), k.kind)
	k.status = cmp.Or(u.Status.Or(""), k.status)
	k.extra = k.extra || len(u.Extra) > 0
	k.mergeInput(u.RawInput)
	for _, l := range u.Locations.Or(nil) {
		k.locations = append(slices.DeleteFunc(k.locations, func(o acp.ToolCallLocation) bool { return o.Path == l.Path }), l)
	}
	blocks := contentBlocks(u.Content.Or(nil))
	k.running = !isRequest && len(k.asks) == 0 && (k.status == acp.ToolCallStatusInProgress && k.message != "" || k.isFinal())
	if k.running {
		blocks = slices.DeleteFunc(blocks, func(b json.RawMessage) bool { return diffPath(b) == "" }) // texts are output
	}
	if len(blocks) == 0 {
		return
	}
	kept := slices.DeleteFunc(k.content, func(old json.RawMessage) bool {
		path := diffPath(old)
		return slices.ContainsFunc(blocks, func(b json.RawMessage) bool {
			return path != "" && path == diffPath(b) || string(b) == string(old)
		}) || path == "" && !isRequest && !k.running
	})
	k.content = append(kept, blocks...)
}

// isFinal reports whether the agent has reported the end of the call.
func (k *call) isFinal() bool {
	return k.status == acp.ToolCallStatusCompleted || k.status == acp.ToolCallStatusFailed
}

// maxTitles limits the kept titles of a call.
const maxTitles = 8

// mergeInput merges the members of a raw input. An empty input and null are placeholders and
// ignored.
func (k *call) mergeInput(raw json.RawMessage) {
	var members map[string]json.RawMessage
	switch err := json.Unmarshal(raw, &members); {
	case len(raw) == 0 || string(raw) == "null":
	case err != nil:
		k.other = cmp.Or(event.NewJSON(blank(raw)), k.other)
	default:
		whole := true // it contains all known members
		for name, old := range k.members {
			if value, ok := members[name]; !ok || blank(value) == "" && blank(old) != "" {
				members[name], whole = old, false
			}
		}
		if k.members, k.input = members, event.NewJSON(string(raw)); !whole {
			k.input = encoded(members)
		}
	}
}

// blank returns a JSON text, or "" if it has no content.
func blank(raw json.RawMessage) string {
	if slices.Contains([]string{"null", `""`, "{}", "[]"}, string(raw)) {
		return ""
	}
	return string(raw)
}

// rawInput returns the merged input. If the input is not an object but other members exist, it
// becomes one of them.
func (k *call) rawInput() event.JSON {
	switch {
	case k.other != "" && len(k.members) > 0:
		return encoded(map[string]any{"rawInput": k.other, "members": k.members})
	case k.other != "":
		return k.other
	}
	return cmp.Or(k.input, "{}")
}

func (k *call) title() string {
	if len(k.titles) == 0 {
		return ""
	}
	return k.titles[len(k.titles)-1]
}

// toolName returns the name of the tool, or else the first title, which mostly is the name.
func (k *call) toolName() string { return cmp.Or(k.name, k.first, "Tool") }

// list returns a list as JSON, or an absent value if it is empty.
func list[T any](all []T) event.JSON {
	if len(all) == 0 {
		return ""
	}
	return encoded(all)
}

// block returns the call as a block of a message.
func (k *call) block() event.Content {
	b := event.Content{
		Type: "tool_use", ToolUseID: k.id, Name: k.toolName(), Title: k.title(), Kind: k.kind, Input: k.rawInput(),
		Content: list(k.content), Locations: list(k.locations),
	}
	raw := map[string]any{"type": b.Type, "id": b.ToolUseID, "name": b.Name, "title": b.Title, "kind": b.Kind, "input": b.Input}
	if b.Content != "" {
		raw["content"] = b.Content
	}
	if b.Locations != "" {
		raw["locations"] = b.Locations
	}
	b.Raw = encoded(raw)
	return b
}

// permission is a request for permission with all known details of its call.
func (k *call) permission(a *asked) *event.PermissionRequest {
	ev := &event.PermissionRequest{
		Kind: event.PermissionTool, RequestID: a.id, ToolUseID: k.id, ToolName: k.toolName(), DisplayName: k.title(), ToolKind: cmp.Or(k.kind, string(acp.ToolKindOther)),
		Input: k.rawInput(), Locations: list(k.locations), Choices: choices(a.request.Options), Data: encoded(a.request),
	}
	content := slices.Clone(k.content)
	if k.output != "" { // some agents report progress before they ask
		content = append(content, json.RawMessage(event.TextContent(k.output).Raw))
	}
	for _, title := range k.titles[:max(0, len(k.titles)-1)] {
		// An earlier title may be the only text with the command.
		if title != ev.ToolName && !strings.Contains(string(ev.Input), string(event.Quote(title))) {
			content = append(content, json.RawMessage(event.TextContent(title).Raw))
		}
	}
	ev.Content = list(content)
	if plan, _ := ev.Input.Member("plan"); k.kind == string(acp.ToolKindSwitchMode) && plan.Text() != "" {
		ev.Kind = event.PermissionPlan
	}
	silent := blank(json.RawMessage(ev.Input)) == "" && len(content) == 0 && len(k.locations) == 0
	if silent || k.extra || len(a.request.Extra) > 0 {
		ev.Request = ev.Data
	}
	return ev
}

// diffPath returns the path of a diff block, or "" for other blocks.
func diffPath(block json.RawMessage) string {
	if typ, _ := event.JSON(block).Member("type"); typ.Text() != "diff" {
		return ""
	}
	path, _ := event.JSON(block).Member("path")
	return cmp.Or(path.Text(), "?")
}

// contentBlocks converts a call's content to blocks. It skips terminals, because their output
// arrives in other members.
func contentBlocks(parts []acp.ToolCallContent) []json.RawMessage {
	var blocks []json.RawMessage
	for _, part := range parts {
		switch v := part.Value.(type) {
		case *acp.Content:
			block := encoded(v.Content)
			if image, ok := v.Content.Value.(*acp.ImageContent); ok {
				block = encoded(map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": image.MimeType, "data": image.Data}})
			}
			if text, ok := v.Content.Value.(*acp.TextContent); !ok || text.Text != "" {
				blocks = append(blocks, json.RawMessage(block))
			}
		case *acp.Terminal:
		default:
			blocks = append(blocks, json.RawMessage(encoded(part)))
		}
	}
	return blocks
}

// blocksText returns the text of blocks.
func blocksText(blocks []json.RawMessage) string {
	var texts []string
	for _, b := range blocks {
		if c := event.ContentOf(event.JSON(b)); c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// printed returns the terminal output that an agent sends in extension members, for editors with
// terminals.
func printed(meta map[string]json.RawMessage) (text string) {
	for _, name := range []string{"terminal_output", "terminal_output_delta"} {
		data, _ := event.JSON(meta[name]).Member("data")
		text += data.Text()
	}
	return text
}
