package draft2

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Updates converts an update of version 1 to updates of version 2, as JSON objects. An update
// without a counterpart returns no objects.
func Updates(u acp.SessionUpdate) []map[string]any {
	switch v := u.Value.(type) {
	case *acp.ToolCall:
		up := &acp.ToolCallUpdate{
			ToolCallID: v.ToolCallID, Title: acp.Some(v.Title), Name: v.Name, Kind: v.Kind, Status: v.Status, Content: acp.Some(v.Content),
			RawInput: v.RawInput, RawOutput: v.RawOutput, Object: acp.Object{Meta: v.Meta},
		}
		if v.Locations != nil {
			up.Locations = acp.Some(v.Locations)
		}
		return toolUpdates(up)
	case *acp.ToolCallUpdate:
		return toolUpdates(v)
	case *acp.Plan:
		return []map[string]any{{"sessionUpdate": "plan_update", "plan": map[string]any{"type": "items", "planId": "plan", "entries": v.Entries}}}
	case *acp.CurrentModeUpdate:
		return nil
	case *acp.ConfigOptionUpdate:
		return []map[string]any{{"sessionUpdate": u.SessionUpdate, "configOptions": Options(v.ConfigOptions)}}
	case *acp.AvailableCommandsUpdate:
		return []map[string]any{{"sessionUpdate": u.SessionUpdate, "availableCommands": Commands(v.AvailableCommands)}}
	case *acp.ContentChunk:
		if !v.MessageID.IsSet() {
			chunk := *v
			chunk.MessageID = acp.Some(acp.MessageID("message"))
			u.Value = &chunk
		}
	}
	text, err := jsonwire.Marshal(u)
	if err != nil {
		return nil // generated types can be encoded
	}
	same := map[string]any{}
	if json.Unmarshal(text, &same) != nil {
		return nil
	}
	return []map[string]any{same}
}

// Options returns configuration options in the form of version 2.
func Options(list []acp.SessionConfigOption) []any {
	out := []any{}
	for _, o := range list {
		text, err := jsonwire.Marshal(o)
		var m map[string]any
		if err != nil || json.Unmarshal(text, &m) != nil {
			continue // generated types can be encoded
		}
		m["configId"] = m["id"]
		delete(m, "id")
		out = append(out, m)
	}
	return out
}

// Commands returns slash commands in the form of version 2.
func Commands(list []acp.AvailableCommand) []any {
	out := []any{}
	for _, c := range list {
		m := map[string]any{"type": "command", "name": c.Name, "description": c.Description}
		if in, ok := c.Input.Get(); ok {
			m["input"] = map[string]any{"type": "text", "hint": in.Hint.Or("")}
		}
		out = append(out, m)
	}
	return out
}

// isCommand reports whether a call runs a command, which version 2 shows as a terminal.
func isCommand(v *acp.ToolCallUpdate) bool {
	var meta struct {
		ToolName string `json:"toolName"`
	}
	return json.Unmarshal(v.Meta["claudeCode"], &meta) == nil && meta.ToolName == "Bash"
}

// toolUpdates returns a tool call and, for a command, the terminal that shows it.
func toolUpdates(v *acp.ToolCallUpdate) []map[string]any {
	call := toolUpdate(v)
	call["sessionUpdate"] = acp.SessionUpdateIsToolCallUpdate
	if !isCommand(v) {
		return []map[string]any{call}
	}
	terminal := map[string]any{"sessionUpdate": "terminal_update", "terminalId": v.ToolCallID}
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(v.RawInput, &in) == nil && in.Command != "" {
		terminal["command"] = in.Command
	}
	status := v.Status.Or("")
	ended := status == acp.ToolCallStatusCompleted || status == acp.ToolCallStatusFailed
	if ended {
		output := jsonwire.JSON(v.RawOutput).Text()
		code := 0
		if rest, ok := strings.CutPrefix(output, "Exit code "); ok {
			if _, err := fmt.Sscan(rest, &code); err == nil {
				_, output, _ = strings.Cut(rest, "\n")
			}
		} else if status == acp.ToolCallStatusFailed {
			code = 1
		}
		terminal["output"] = map[string]any{"data": base64.StdEncoding.EncodeToString([]byte(output))}
		terminal["exitStatus"] = map[string]any{"exitCode": code}
		delete(call, "rawOutput")
	}
	if len(terminal) == 2 && v.Title.IsZero() {
		return []map[string]any{call}
	}
	return []map[string]any{terminal, call}
}

// toolUpdate returns a tool call with its content in the form of version 2.
func toolUpdate(v *acp.ToolCallUpdate) map[string]any {
	call := map[string]any{}
	text, err := jsonwire.Marshal(v)
	if err != nil || json.Unmarshal(text, &call) != nil {
		return call // generated types can be encoded
	}
	if isCommand(v) {
		if v.Content.IsSet() {
			call["content"] = []any{map[string]any{"type": "terminal", "terminalId": v.ToolCallID}}
		}
		return call
	}
	if list, ok := v.Content.Get(); ok {
		call["content"] = contents(list, v.Locations.Or(nil))
	}
	return call
}

// contents joins the hunks of a file to one patch.
func contents(list []acp.ToolCallContent, locations []acp.ToolCallLocation) []any {
	out := []any{}
	for i, c := range list {
		d, ok := c.Value.(*acp.Diff)
		if !ok {
			out = append(out, c)
			continue
		}
		line := int64(1)
		if i < len(locations) {
			line = max(locations[i].Line.Or(1), 1)
		}
		if n := len(out); n > 0 {
			if before, ok := out[n-1].(map[string]any); ok && before["path"] == d.Path {
				patch, _ := before["patch"].(map[string]any)
				patch["text"] = fmt.Sprint(patch["text"]) + hunk(d, line)
				continue
			}
		}
		out = append(out, diff(d, line))
	}
	for _, c := range out {
		if m, ok := c.(map[string]any); ok {
			delete(m, "path")
		}
	}
	return out
}

// diff returns a diff in the form of version 2. The member path is for joining.
func diff(d *acp.Diff, line int64) map[string]any {
	operation, from := "modify", d.Path
	if !d.OldText.IsSet() {
		operation, from = "add", "/dev/null"
	}
	head := fmt.Sprintf("diff --git %s %s\n--- %s\n+++ %s\n", d.Path, d.Path, from, d.Path)
	return map[string]any{
		"type": "diff", "path": d.Path,
		"changes": []any{map[string]any{"operation": operation, "path": d.Path, "fileType": "text"}},
		"patch":   map[string]any{"format": "git_patch", "text": head + hunk(d, line)},
	}
}

// hunk returns a hunk of a patch. Lines that both sides begin or end with become its context.
func hunk(d *acp.Diff, line int64) string {
	split := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	}
	before, after := split(d.OldText.Or("")), split(d.NewText)
	head := 0
	for head < len(before) && head < len(after) && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < len(before)-head && tail < len(after)-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	var b strings.Builder
	first := func(n int) int64 {
		if n == 0 {
			return line - 1
		}
		return line
	}
	fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", first(len(before)), len(before), first(len(after)), len(after))
	lines := func(mark string, list []string) {
		for _, l := range list {
			b.WriteString(mark + l + "\n")
		}
	}
	lines(" ", before[:head])
	lines("-", before[head:len(before)-tail])
	lines("+", after[head:len(after)-tail])
	lines(" ", before[len(before)-tail:])
	return b.String()
}

// Permission returns a request for permission in the form of version 2.
func Permission(r *acp.RequestPermissionRequest) any {
	call := toolUpdate(&r.ToolCall)
	delete(call, "sessionUpdate")
	title := r.ToolCall.Title.Or("")
	if title == "" {
		title = fmt.Sprintf("Allow %s", r.ToolCall.Name.Or("the tool"))
	}
	return map[string]any{
		"sessionId": r.SessionID, "title": title, "options": r.Options,
		"subject": map[string]any{"type": "tool_call", "toolCall": call},
	}
}
