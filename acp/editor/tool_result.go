package editor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent/event"
)

// result is the shown result of a tool call.
type result struct {
	title   string
	content []acp.ToolCallContent // nil keeps the shown content
	raw     json.RawMessage
	text    string // the output
}

// resultOf returns the part of a result that users see. It omits the agent's texts for its model.
func resultOf(t *toolCall, ev *event.ToolComplete) result {
	blocks := resultBlocks(ev.Content)
	text := cleanResult(t, joinText(blocks), ev)
	r := result{raw: rawResult(ev.Content, joinText(blocks), text), text: text}
	if t.name == "ExitPlanMode" && !ev.IsError {
		r.title = "Exited Plan Mode"
		return r
	}
	if !ev.IsError && isEdit(t.name) {
		return r // the diff contains it
	}
	switch {
	case text != "":
		r.content = textContents(quoted(t, text, ev.IsError))
	case ev.IsError:
		r.content = nil
	}
	for _, b := range blocks {
		if c, ok := promptBlock(&b); ok && b.Type != "text" {
			r.content = append(r.content, blockContent(c))
		}
	}
	if diffs := t.diffs(ev); len(r.content) > 0 && len(diffs) > 0 {
		r.content = append(diffs, r.content...) // because the client replaces the shown content
	} else if len(diffs) > 0 {
		r.content = diffs
	}
	return r
}

// diffs returns the diffs of a result, or else those of the call.
func (t *toolCall) diffs(ev *event.ToolComplete) []acp.ToolCallContent {
	notDiff := func(c acp.ToolCallContent) bool { return c.Type != acp.ToolCallContentIsDiff }
	if list := slices.DeleteFunc(givenContent(ev.Content), notDiff); len(list) > 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(t.givenContent), notDiff)
}

func isEdit(name string) bool {
	return name == "Edit" || name == "Write" || name == "MultiEdit" || name == "fileChange"
}

// resultBlocks returns the blocks of a result, which may be a single text.
func resultBlocks(content event.JSON) []event.Content {
	if content == "" {
		return nil
	}
	if content[0] == '"' {
		return []event.Content{event.TextContent(content.Text())}
	}
	var blocks []event.Content
	for _, e := range content.Elements() {
		blocks = append(blocks, event.ContentOf(e))
	}
	return blocks
}

func joinText(blocks []event.Content) string {
	var texts []string
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// rawResult returns the raw result. It is unchanged unless it contains text for the model.
func rawResult(content event.JSON, text, clean string) json.RawMessage {
	if text != clean || content == "" {
		return rawText(clean)
	}
	return json.RawMessage(content)
}

// quoted formats a tool's plain output as a code block.
func quoted(t *toolCall, text string, failed bool) string {
	switch {
	case failed:
		return fence("", text)
	case t.name == "Bash":
		return fence("console", text)
	case t.name == "Read":
		return fence("", text)
	}
	return text
}

// fence returns a text as a code block with a fence that does not occur in it.
func fence(language, text string) string {
	marks := "```"
	for strings.Contains(text, marks) {
		marks += "`"
	}
	return marks + language + "\n" + strings.TrimRight(text, "\n") + "\n" + marks
}

// noOutput is the text for the model if a command has no output.
const noOutput = "(Bash completed with no output)"

// forModel is the beginning of the CLI's text for its model about a call that was stopped or
// refused.
const forModel = "The user doesn't want to "

// cleanResult removes the parts of a result that the CLI adds for the model.
func cleanResult(t *toolCall, text string, ev *event.ToolComplete) string {
	text = cutTag(cutTag(text, "system-reminder"), "tools-used-before-summary")
	if inner, ok := between(text, "<tool_use_error>", "</tool_use_error>"); ok && strings.HasPrefix(strings.TrimSpace(text), "<tool_use_error>") {
		text = strings.TrimPrefix(inner, "Error: ")
	}
	switch {
	case strings.HasPrefix(text, forModel) || strings.HasSuffix(text, aborted) || text == "[Request interrupted by user for tool use]":
		return "Stopped."
	case t.name == "Bash" && text == noOutput:
		return ""
	case t.name == "Agent" || t.name == "Task":
		return cleanAgent(text, ev)
	case t.name == "Read":
		return trimLastLine(text)
	case t.name == "EnterPlanMode" && !ev.IsError:
		if first, _, ok := strings.Cut(text, "\n"); ok {
			return first
		}
	}
	return text
}

// cutTag removes elements with this name from a text.
func cutTag(text, tag string) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "<"+tag+">")
		if !ok {
			break
		}
		_, after, closed := strings.Cut(rest, "</"+tag+">")
		if !closed {
			break
		}
		out.WriteString(strings.TrimRight(before, "\n"))
		text = after
	}
	if out.Len() == 0 {
		return text
	}
	out.WriteString(text)
	return strings.TrimRight(out.String(), "\n")
}

// cleanAgent returns the report of a subagent from the structured result, which lacks the frame
// that the CLI adds for its model.
func cleanAgent(text string, ev *event.ToolComplete) string {
	status, _ := ev.ToolUseResult.Member("status")
	if status.Text() == "async_launched" {
		return ""
	}
	content, _ := ev.ToolUseResult.Member("content")
	if report := strings.TrimSpace(cutTag(joinText(resultBlocks(content)), "tools-used-before-summary")); report != "" && !strings.Contains(report, "[Subagent hand-back]") {
		return report
	}
	if _, rest, ok := strings.Cut(text, "[Subagent hand-back]"); ok {
		if _, report, ok := strings.Cut(rest, "\n"); ok {
			report, _, _ = strings.Cut(report, "\nagentId:")
			report = cutTag(report, "usage")
			return strings.TrimSpace(report)
		}
	}
	return text
}

// trimLastLine removes the number of an empty last line of a file.
func trimLastLine(text string) string {
	i := strings.LastIndexByte(text, '\n')
	if i < 0 {
		return text
	}
	last := strings.TrimSpace(text[i+1:])
	if last != "" && strings.Trim(last, "0123456789→") == "" && strings.HasSuffix(text, "\t") {
		return text[:i]
	}
	return text
}
