package codexevent_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/internal/test/golden"
)

// Kinds of lines that are in no recording: every part of a prompt, every delta before and after the start of its item and for a wrong item, and every activity of
// a subagent.
func TestGolden_lines(t *testing.T) {
	line := func(method, params string) string {
		return `{"method":"` + method + `","params":{"threadId":"t","turnId":"u",` + params + `}}`
	}
	item := func(state, text string) string { return line("item/"+state, `"item":`+text) }
	inputs := []string{
		`{"type":"text","text":"a"}`, `{"type":"image","url":"https://x"}`, `{"type":"localImage","path":"/i"}`, `{"type":"audio","url":"https://y"}`, `{"type":"localAudio","path":"/a"}`,
		`{"type":"skill","name":"s","path":"/s"}`, `{"type":"mention","name":"m","path":"/m"}`, `{"type":"smell","of":"x"}`,
	}
	deltas := []string{
		line("item/agentMessage/delta", `"itemId":"I","delta":"d"`), line("item/plan/delta", `"itemId":"I","delta":"d"`), line("item/reasoning/summaryTextDelta", `"itemId":"I","delta":"d","summaryIndex":0`),
		line("item/reasoning/summaryPartAdded", `"itemId":"I","summaryIndex":1`), line("item/reasoning/textDelta", `"itemId":"I","delta":"d","contentIndex":0`), line("item/commandExecution/outputDelta", `"itemId":"I","delta":"d"`),
		line("item/commandExecution/terminalInteraction", `"itemId":"I","processId":"p","stdin":"x"`), line("item/fileChange/outputDelta", `"itemId":"I","delta":"d"`),
		line("item/fileChange/patchUpdated", `"itemId":"I","changes":[{"path":"/a","kind":{"type":"add"},"diff":"x"}]`), line("item/mcpToolCall/progress", `"itemId":"I","message":"m"`),
	}
	items := map[string]string{
		"message": `{"type":"agentMessage","id":"I","text":"whole"}`, "plan": `{"type":"plan","id":"I","text":"whole"}`, "reasoning": `{"type":"reasoning","id":"I","summary":["s"],"content":["c"]}`,
		"command": `{"type":"commandExecution","id":"I","command":"ls","cwd":"/","status":"completed","exitCode":0,"aggregatedOutput":"o","commandActions":[]}`,
		"patch":   `{"type":"fileChange","id":"I","status":"completed","changes":[{"path":"/a","kind":{"type":"add"},"diff":"x"}]}`,
		"tool":    `{"type":"mcpToolCall","id":"I","server":"s","tool":"t","status":"completed","arguments":{}}`,
	}
	parts := golden.Parts{}
	c := &codexevent.Converter{ThreadID: "t"}
	parts["prompt"] = messagesOf(t, feed(t, c, item("completed", `{"type":"userMessage","id":"p","clientId":"own","content":[`+strings.Join(inputs, ",")+`]}`), item("completed", `{"type":"userMessage","id":"q","content":[]}`)))
	parts["deltas of nothing"] = messagesOf(t, feed(t, &codexevent.Converter{ThreadID: "t"}, deltas...))
	for name, text := range items {
		lines := append([]string{item("started", text)}, deltas...)
		lines = append(append(lines, item("completed", text)), deltas...) // late ones have no effect
		parts["deltas of a "+name] = messagesOf(t, feed(t, &codexevent.Converter{ThreadID: "t"}, lines...))
	}
	var activities []string
	for _, kind := range []string{"started", "interacted", "completed", "interrupted", "new"} {
		activities = append(activities, item("completed", `{"type":"subAgentActivity","id":"`+kind+`","kind":"`+kind+`","agentThreadId":"child","agentPath":"/a"}`))
	}
	parts["subagent"] = messagesOf(t, feed(t, &codexevent.Converter{ThreadID: "t"}, activities...))
	parts.Check(t, "testdata/lines.txt", *update)
}
