package aisdk_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/aisdk"
	"github.com/seed7221b0f9/parley/server/parts"
)

// TestEncoder checks the parts of the stream for every kind of part, with all of its members, of the main thread and of a subagent.
func TestEncoder(t *testing.T) {
	cost := 1.5
	const tool, sub = `"dynamic":true,"providerExecuted":true,`, `"providerMetadata":{"parley":{"subagent":"p"}},`
	for _, step := range []struct {
		part parts.Part
		want string
	}{
		{parts.Part{Kind: parts.TextStart, ID: "t", Parent: "p"}, `{"id":"t",` + sub + `"type":"text-start"}`},
		{parts.Part{Kind: parts.TextDelta, ID: "t", Text: "a"}, `{"delta":"a","id":"t","type":"text-delta"}`},
		{parts.Part{Kind: parts.TextEnd, ID: "t"}, `{"id":"t","type":"text-end"}`},
		{parts.Part{Kind: parts.ThinkingStart, ID: "h", Parent: "p"}, `{"id":"h",` + sub + `"type":"reasoning-start"}`},
		{parts.Part{Kind: parts.ThinkingDelta, ID: "h", Text: "b"}, `{"delta":"b","id":"h","type":"reasoning-delta"}`},
		{parts.Part{Kind: parts.ThinkingEnd, ID: "h"}, `{"id":"h","type":"reasoning-end"}`},
		{parts.Part{Kind: parts.ToolStart, ID: "c", Name: "Bash", Title: "T"}, `{` + tool + `"title":"T","toolCallId":"c","toolName":"Bash","type":"tool-input-start"}`},
		{parts.Part{Kind: parts.ToolInput, ID: "c", Name: "Bash", Input: `{"x":1}`}, `{"dynamic":true,"input":{"x":1},"providerExecuted":true,"toolCallId":"c","toolName":"Bash","type":"tool-input-available"}`},
		{parts.Part{Kind: parts.ToolInput, ID: "c", Name: "Bash"}, `{"dynamic":true,"errorText":"the call was cut off","input":null,"providerExecuted":true,"toolCallId":"c","toolName":"Bash","type":"tool-input-error"}`},
		{parts.Part{Kind: parts.ToolResult, ID: "c", Text: "no", Content: `["out"]`}, `{"dynamic":true,"output":["out"],"providerExecuted":true,"toolCallId":"c","type":"tool-output-available"}`},
		{parts.Part{Kind: parts.ToolResult, ID: "c", Text: "no", Content: `["out"]`, IsError: true}, `{"dynamic":true,"errorText":"no","providerExecuted":true,"toolCallId":"c","type":"tool-output-error"}`},
		{parts.Part{Kind: parts.Error, Text: "oops"}, `{"data":{"message":"oops"},"type":"data-error"}`},
		{parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Stopped, Result: &event.ResultMessage{Usage: `{"u":1}`, TotalCostUSD: &cost}}},
			`{"messageMetadata":{"totalCostUSD":1.5,"usage":{"u":1}},"type":"message-metadata"} {"finishReason":"stop","type":"finish"}`},
		{parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Length}}, `{"finishReason":"length","type":"finish"}`},
		{parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Refused}}, `{"finishReason":"content-filter","type":"finish"}`},
		{parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Failed, Message: "why"}}, `{"errorText":"why","type":"error"} {"finishReason":"error","type":"finish"}`},
		{parts.Part{Kind: parts.Finish, End: &parts.End{Reason: parts.Cancelled}}, `{"type":"abort"}`},
	} {
		var got []string
		for _, data := range (aisdk.Encoder{}).Part(step.part) {
			got = append(got, string(data))
		}
		if text := strings.Join(got, " "); text != step.want {
			t.Errorf("%+v gives\n%s\nwant\n%s", step.part, text, step.want)
		}
	}
}
