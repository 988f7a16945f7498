package claudeevent

import (
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// liveTool is a call with a result that can change files or the plan.
type liveTool struct {
	name   string
	parent string
	input  event.JSON
}

// called records a call whose result emits further events.
func (c *Converter) called(parent string, content *event.Content) {
	if content.Type != "tool_use" || content.ToolUseID == "" || toolResults[content.Name] == nil {
		return
	}
	if c.tools == nil {
		c.tools = map[string]liveTool{}
	}
	c.tools[kept(content.ToolUseID)] = liveTool{kept(content.Name), kept(parent), event.JSON(kept(string(content.Input)))}
}

// returned emits the changes in the result of a call.
func (c *Converter) returned(r *event.ToolComplete) {
	t, ok := c.tools[r.ToolUseID]
	if !ok {
		return
	}
	delete(c.tools, r.ToolUseID)
	if !r.IsError {
		toolResults[t.name](c, t, r)
	}
}

// toolResults holds the tools with results that change files or the plan.
var toolResults map[string]func(*Converter, liveTool, *event.ToolComplete)

func init() { // the table refers to itself
	toolResults = map[string]func(*Converter, liveTool, *event.ToolComplete){
		tool.Edit: (*Converter).edited, "MultiEdit": (*Converter).edited, tool.Write: (*Converter).edited,
		tool.NotebookEdit: (*Converter).notebook, tool.TodoWrite: (*Converter).todos,
		tool.TaskCreate: (*Converter).taskTool, tool.TaskUpdate: (*Converter).taskTool,
		tool.TaskList: (*Converter).taskTool, tool.TaskGet: (*Converter).taskTool,
	}
}

// diff emits the change of a file.
func (c *Converter) diff(r *event.ToolComplete, f event.FileChange) {
	if f.Path == "" {
		return
	}
	f.ToolUseID = r.ToolUseID
	if f.Hunks == nil {
		f.Hunks = []event.Hunk{}
	}
	h := event.Header{ParentToolUseID: r.ParentToolUseID, SessionID: r.SessionID, UUID: r.UUID}
	c.emit(&event.TurnDiff{Header: h, TurnID: c.turn.id, ToolUseID: r.ToolUseID, Files: []event.FileChange{f}})
}

// edited handles the result of Edit and Write.
func (c *Converter) edited(_ liveTool, r *event.ToolComplete) {
	var result tool.WriteResult // Edit has the same members except the type
	if r.ToolUseResult.Decode(&result) != nil {
		return
	}
	f := event.FileChange{Path: result.FilePath, Kind: event.ChangeUpdate}
	for _, p := range result.StructuredPatch {
		f.Hunks = append(f.Hunks, event.Hunk{OldStart: p.OldStart, OldLines: p.OldLines, NewStart: p.NewStart, NewLines: p.NewLines, Lines: notNil(p.Lines)})
	}
	if result.Type == "create" {
		f.Kind = event.ChangeAdd
		if len(f.Hunks) == 0 {
			f.Hunks = lineDiff("", result.Content)
		}
	}
	c.diff(r, f)
}

// notebook handles the result of NotebookEdit, which has the whole file before and after.
func (c *Converter) notebook(_ liveTool, r *event.ToolComplete) {
	var result tool.NotebookEditResult
	if r.ToolUseResult.Decode(&result) != nil || result.Error != "" {
		return
	}
	c.diff(r, event.FileChange{Path: result.NotebookPath, Kind: event.ChangeUpdate, Hunks: lineDiff(result.OriginalFile, result.UpdatedFile)})
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// contextLines is the number of unchanged lines around a change.
const contextLines = 3

// lineDiff returns the difference of two texts as one hunk: all lines between the first
// and the last that differ. It returns nil for equal texts.
func lineDiff(old, updated string) []event.Hunk {
	a, b := linesOf(old), linesOf(updated)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	if head == len(a) && head == len(b) {
		return nil
	}
	begin, after := max(head-contextLines, 0), min(tail, contextLines)
	h := event.Hunk{
		OldStart: int64(begin + 1), OldLines: int64(len(a) - tail + after - begin),
		NewStart: int64(begin + 1), NewLines: int64(len(b) - tail + after - begin),
	}
	if h.OldLines == 0 {
		h.OldStart = 0
	}
	if h.NewLines == 0 {
		h.NewStart = 0
	}
	h.Lines = slices.Concat(marked(" ", a[begin:head]), marked("-", a[head:len(a)-tail]), marked("+", b[head:len(b)-tail]), marked(" ", b[len(b)-tail:len(b)-tail+after]))
	return []event.Hunk{h}
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func marked(mark string, lines []string) []string {
	all := make([]string, 0, len(lines))
	for _, line := range lines {
		all = append(all, mark+line)
	}
	return all
}
