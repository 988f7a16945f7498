package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// Updates2 are the updates of version 2 for one of version 1, as JSON objects. An update
// that version 2 does not have gives none.
func Updates2(u SessionUpdate) []map[string]any {
	switch v := u.Value.(type) {
	case *ToolCall:
		up := &ToolCallUpdate{
			ToolCallID: v.ToolCallID, Title: Some(v.Title), Name: v.Name, Kind: v.Kind, Status: v.Status, Content: Some(v.Content),
			RawInput: v.RawInput, RawOutput: v.RawOutput, Meta: v.Meta,
		}
		if v.Locations != nil {
			up.Locations = Some(v.Locations)
		}
		return toolUpdates2(up)
	case *ToolCallUpdate:
		return toolUpdates2(v)
	case *Plan:
		return []map[string]any{{"sessionUpdate": "plan_update", "plan": map[string]any{"type": "items", "planId": "plan", "entries": v.Entries}}}
	case *CurrentModeUpdate:
		return nil
	case *ConfigOptionUpdate:
		return []map[string]any{{"sessionUpdate": u.SessionUpdate, "configOptions": options2(v.ConfigOptions)}}
	case *AvailableCommandsUpdate:
		return []map[string]any{{"sessionUpdate": u.SessionUpdate, "availableCommands": commands2(v.AvailableCommands)}}
	case *ContentChunk:
		if !v.MessageID.IsSet() {
			chunk := *v
			chunk.MessageID = Some(MessageID("message"))
			u.Value = &chunk
		}
	}
	text, err := marshal(u)
	if err != nil {
		return nil // generated types
	}
	same := map[string]any{}
	if json.Unmarshal(text, &same) != nil {
		return nil
	}
	return []map[string]any{same}
}

// options2 renames what version 2 calls otherwise.
func options2(list []SessionConfigOption) []any {
	out := []any{}
	for _, o := range list {
		text, err := marshal(o)
		var m map[string]any
		if err != nil || json.Unmarshal(text, &m) != nil {
			continue // generated types
		}
		m["configId"] = m["id"]
		delete(m, "id")
		out = append(out, m)
	}
	return out
}

func commands2(list []AvailableCommand) []any {
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
func isCommand(v *ToolCallUpdate) bool {
	var meta struct {
		ToolName string `json:"toolName"`
	}
	return json.Unmarshal(v.Meta["claudeCode"], &meta) == nil && meta.ToolName == "Bash"
}

// toolUpdates2 are a tool call and, for a command, the terminal that shows it.
func toolUpdates2(v *ToolCallUpdate) []map[string]any {
	call := toolUpdate2(v)
	call["sessionUpdate"] = SessionUpdateIsToolCallUpdate
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
	ended := status == ToolCallStatusCompleted || status == ToolCallStatusFailed
	if ended {
		output := text(v.RawOutput)
		code := 0
		if rest, ok := strings.CutPrefix(output, "Exit code "); ok {
			if _, err := fmt.Sscan(rest, &code); err == nil {
				_, output, _ = strings.Cut(rest, "\n")
			}
		} else if status == ToolCallStatusFailed {
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

// toolUpdate2 is a tool call with its content in the form of version 2.
func toolUpdate2(v *ToolCallUpdate) map[string]any {
	call := map[string]any{}
	text, err := marshal(v)
	if err != nil || json.Unmarshal(text, &call) != nil {
		return call // generated types
	}
	if isCommand(v) {
		if v.Content.IsSet() {
			call["content"] = []any{map[string]any{"type": "terminal", "terminalId": v.ToolCallID}}
		}
		return call
	}
	if list, ok := v.Content.Get(); ok {
		call["content"] = contents2(list, v.Locations.Or(nil))
	}
	return call
}

// contents2 joins the hunks of a file to one patch.
func contents2(list []ToolCallContent, locations []ToolCallLocation) []any {
	out := []any{}
	for i, c := range list {
		d, ok := c.Value.(*Diff)
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
		out = append(out, diff2(d, line))
	}
	for _, c := range out {
		if m, ok := c.(map[string]any); ok {
			delete(m, "path")
		}
	}
	return out
}

// diff2 is a diff in the form of version 2. The member path is for joining.
func diff2(d *Diff, line int64) map[string]any {
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

// hunk is a hunk of a patch: the lines that both sides begin and end with are its context.
func hunk(d *Diff, line int64) string {
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
