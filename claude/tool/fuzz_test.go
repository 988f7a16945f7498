package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

// FuzzDecode decodes inputs and results of any tool. JSON is never lost: a value that fits no type of this package
// becomes an unknown value with its text.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{tool.Bash, tool.Edit, tool.AskUserQuestion, "mcp__a__b", "New"} {
		for _, text := range []string{
			`{"command":"ls","timeout":5}`, `{"file_path":"/a","old_string":"b","new_string":"c","replace_all":true}`,
			`{"questions":[{"question":"q","options":[{"label":"a"}]}]}`, `"an error"`, `[{"type":"text","text":"t"}]`, `null`, `7`, `{`,
			`{"stdout":"a","stderr":"","interrupted":false}`, `{"structuredPatch":[{"oldStart":1,"lines":["-a","+b"]}]}`,
		} {
			f.Add(name, text, false)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string, isError bool) {
		valid := json.Valid([]byte(text))
		in, err := tool.DecodeInput(name, message.JSON(text))
		if u, unknown := in.(*tool.UnknownInput); unknown && string(u.Input) != text {
			t.Fatalf("an unknown input has %q, not %q", u.Input, text)
		}
		if err == nil && in == nil && valid {
			t.Fatalf("the input %q of %s is nothing", text, name)
		}
		out, err := tool.DecodeResult(name, message.JSON(text), isError)
		if u, unknown := out.(*tool.UnknownResult); unknown && string(u.JSON) != text {
			t.Fatalf("an unknown result has %q, not %q", u.JSON, text)
		}
		if err == nil && out == nil && valid {
			t.Fatalf("the result %q of %s is nothing", text, name)
		}
	})
}
