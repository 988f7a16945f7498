package codexevent

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// The names of the tools that have their own item types.
const (
	commandTool = "commandExecution"
	patchTool   = "fileChange"
)

// tool is an item as a tool call.
type tool struct {
	name, title, kind string
	input             event.JSON
}

func input(members map[string]any) event.JSON { return event.Encoded(members) }

func changesInput(changes []item.Change) event.JSON {
	if changes == nil {
		changes = []item.Change{}
	}
	return input(map[string]any{"changes": changes})
}

// toolOf returns an item as a tool call; false if it is another kind of item.
func toolOf(i item.Item) (tool, bool) {
	switch i := i.(type) {
	case *item.CommandExecution:
		return tool{commandTool, script(i.Command), "execute", input(map[string]any{"command": i.Command, "cwd": i.CWD, "commandActions": i.CommandActions})}, true
	case *item.FileChange:
		return tool{patchTool, "", "edit", changesInput(i.Changes)}, true
	case *item.MCPToolCall:
		return tool{"mcp__" + i.Server + "__" + i.Tool, "", "", event.NewJSON(string(i.Arguments))}, true
	case *item.DynamicToolCall:
		return tool{i.Tool, "", "", event.NewJSON(string(i.Arguments))}, true
	case *item.CollabAgentToolCall:
		return tool{"collabAgentToolCall", i.Tool, "", input(map[string]any{
			"tool": i.Tool, "prompt": i.Prompt, "model": i.Model, "receiverThreadIds": notNil(i.ReceiverThreadIDs),
		})}, true
	case *item.WebSearch:
		return tool{"webSearch", i.Query, "fetch", input(map[string]any{"query": i.Query, "action": i.Action})}, true
	case *item.ImageView:
		return tool{"imageView", i.Path, "read", input(map[string]any{"path": i.Path})}, true
	case *item.ImageGeneration:
		return tool{"imageGeneration", "", "", input(map[string]any{"revisedPrompt": i.RevisedPrompt})}, true
	case *item.Sleep:
		return tool{"sleep", "", "", input(map[string]any{"durationMs": i.DurationMs})}, true
	case *item.FunctionCallOutput:
		return tool{i.Name, "", "", "{}"}, true
	}
	return tool{}, false
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// startTool starts a call. Its input is complete from the start.
func (c *Converter) startTool(t *thread, o *openItem, call tool) {
	c.startMessage(t, o)
	h := c.messageHead(t, o)
	c.emit(&event.ToolStart{Header: h, ToolUseID: o.key, Name: call.name, BlockType: "tool_use", Title: call.title, Kind: call.kind})
	c.emit(&event.ToolInputComplete{Header: h, ToolUseID: o.key, Input: call.input})
	c.emit(&event.BlockStop{Header: h})
	c.emit(&event.MessageComplete{Header: h})
}

// confirm emits a call with its current input.
func (c *Converter) confirm(t *thread, o *openItem, call tool) {
	c.whole(t, o, "", event.IndexedBlock{Block: event.Content{
		Type: "tool_use", ToolUseID: o.key, Name: call.name, Title: call.title, Kind: call.kind, Input: call.input,
		Raw: event.Encoded(map[string]any{"type": "tool_use", "id": o.key, "name": call.name, "input": call.input}),
	}})
}

// endTool emits the final state of a call, and its result.
func (c *Converter) endTool(t *thread, o *openItem, i item.Item) {
	call, ok := toolOf(i)
	if !ok {
		return
	}
	c.confirm(t, o, call)
	done := &event.ToolComplete{Header: c.head(t), ToolUseID: o.key, ToolUseResult: event.NewJSON(string(item.ValueOf(i)))}
	done.UUID = o.key
	done.Content, done.IsError = result(i)
	if cmd, ok := i.(*item.CommandExecution); ok {
		var text string
		text, done.Truncated = item.Output(o.partial.Text(), cmd.AggregatedOutput)
		if cmd.AggregatedOutput == nil && o.partial.Text() == "" {
			done.Truncated = false // it never ran
		}
		done.Content = event.Quote(text)
	}
	c.emit(done)
	if agents, ok := i.(*item.CollabAgentToolCall); ok && (agents.Tool == "spawnAgent" || agents.Tool == "resumeAgent") {
		for _, id := range agents.ReceiverThreadIDs {
			c.link(id, o.key)
		}
	}
}

// result returns the output of a finished call, and whether it is an error.
func result(i item.Item) (content event.JSON, failed bool) {
	switch i := i.(type) {
	case *item.CommandExecution:
		return "", i.Status == item.StatusFailed || i.Status == item.StatusDeclined
	case *item.FileChange:
		return event.Quote(i.Status), i.Status == item.StatusFailed || i.Status == item.StatusDeclined
	case *item.MCPToolCall:
		return mcpResult(i)
	case *item.DynamicToolCall:
		blocks := []any{}
		for _, part := range i.ContentItems {
			if part.Type == "inputText" && part.Text != nil {
				blocks = append(blocks, map[string]any{"type": "text", "text": *part.Text})
			} else {
				blocks = append(blocks, part)
			}
		}
		return event.Encoded(blocks), i.Status == item.StatusFailed || i.Success != nil && !*i.Success
	case *item.CollabAgentToolCall:
		return event.Quote(i.Status), i.Status == item.StatusFailed
	case *item.WebSearch:
		if i.Results != nil {
			return event.Encoded(i.Results), false
		}
		return event.Quote(i.Query), false
	case *item.ImageGeneration:
		return event.Quote(i.Status), !i.Failure.IsNull()
	case *item.FunctionCallOutput:
		return event.NewJSON(string(i.Output)), false
	}
	return "", false
}

func mcpResult(i *item.MCPToolCall) (event.JSON, bool) {
	failed := i.Status == item.StatusFailed || i.Error != nil
	switch {
	case i.Error != nil:
		return event.Quote(i.Error.Message), true
	case i.Result != nil:
		return event.Encoded(notNil(i.Result.Content)), failed
	}
	return "", failed
}

// cutTool ends a call that the server left open. Its output so far is kept.
func (c *Converter) cutTool(t *thread, o *openItem, reason string) {
	h := c.head(t)
	h.UUID = o.key
	c.emit(&event.ToolComplete{
		Header: h, ToolUseID: o.key, Content: event.Quote(o.partial.Text()), IsError: true, Truncated: true,
		ToolUseResult: event.Encoded(map[string]any{"cut": reason}),
	})
}

// activity emits the activity of a subagent of the newer kind, and links its thread.
func (c *Converter) activity(t *thread, key string, i *item.SubAgentActivity) {
	h := c.head(t)
	data := event.NewJSON(string(item.ValueOf(i)))
	switch i.Kind {
	case "started":
		if c.threads[i.AgentThreadID] == nil {
			c.emit(&event.TaskStarted{Header: h, TaskID: i.AgentThreadID, TaskType: "subagent", Description: i.AgentPath, ToolUseID: key, Data: data})
		}
	case "completed", "interrupted":
		status := "completed"
		if i.Kind == "interrupted" {
			status = "stopped"
		}
		c.emit(&event.TaskNotification{Header: h, TaskID: i.AgentThreadID, Status: status, Summary: i.AgentPath, Data: data})
	default:
		c.emit(&event.TaskProgress{Header: h, TaskID: i.AgentThreadID, Description: i.AgentPath, Summary: i.Kind, Data: data})
	}
	c.link(i.AgentThreadID, key)
}

// diffFiles splits a git diff by file. The concatenated parts are the diff.
func diffFiles(diff string) []event.FileChange {
	const mark = "diff --git "
	files := []event.FileChange{}
	for rest := diff; rest != ""; {
		part := rest
		if i := strings.Index(rest[1:], "\n"+mark); i >= 0 {
			part = rest[:i+2]
		}
		rest = rest[len(part):]
		files = append(files, diffFile(part))
	}
	return files
}

// diffFile describes the diff of one file.
func diffFile(part string) event.FileChange {
	f := event.FileChange{Kind: event.ChangeUpdate, Diff: part, Hunks: []event.Hunk{}}
	from, to := "", ""
	for line := range strings.Lines(part) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "@@") {
			break
		}
		switch {
		case strings.HasPrefix(line, "new file mode"):
			f.Kind = event.ChangeAdd
		case strings.HasPrefix(line, "deleted file mode"):
			f.Kind = event.ChangeDelete
		case strings.HasPrefix(line, "rename from "):
			f.Kind, from = event.ChangeMove, line[len("rename from "):]
		case strings.HasPrefix(line, "rename to "):
			f.MovedTo = line[len("rename to "):]
		case strings.HasPrefix(line, "--- a/"):
			from = line[len("--- a/"):]
		case strings.HasPrefix(line, "+++ b/"):
			to = line[len("+++ b/"):]
		case strings.HasPrefix(line, "diff --git a/"):
			// The two names are equal unless the file moved, which the lines below report.
			names := line[len("diff --git a/"):]
			if half := (len(names) - len(" b/")) / 2; half > 0 && names[half:half+len(" b/")] == " b/" {
				from = names[:half]
			}
		}
	}
	f.Path = cmp.Or(from, to)
	if f.Path == "" {
		f.Path = fmt.Sprintf("%.60s", strings.SplitN(part, "\n", 2)[0])
	}
	return f
}
