package rollout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex/item"
)

// written returns a directory with a rollout of these lines.
func written(t *testing.T, lines ...string) *Dir {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+hostileThread+".jsonl"), []byte(metaLine+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(filepath.Dir(dir))
}

// TestLegacy checks the item of every event of the mode legacy.
func TestLegacy(t *testing.T) {
	for _, tt := range []struct{ event, want string }{
		{`"type":"user_message","message":"hi","images":["u"],"local_images":["/p"]`, `*item.UserMessage item-0-0 text=hi image=u local=/p`},
		{`"type":"agent_message","message":"yes","phase":"final"`, `*item.AgentMessage item-0-0 yes final`},
		{`"type":"agent_reasoning","text":"so"`, `*item.Reasoning item-0-0 [so] []`},
		{`"type":"agent_reasoning_raw_content","text":"raw"`, `*item.Reasoning item-0-0 [] [raw]`},
		{`"type":"patch_apply_end","turn_id":"t","call_id":"c","status":"completed","changes":{"/f":{"type":"add","content":"x"}}`, `*item.FileChange c completed 1`},
		{`"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s","tool":"t","arguments":{"a":1}},"result":{"Ok":{"content":[]}},"duration":{"secs":1,"nanos":2000000}`, `*item.MCPToolCall c s t {"a":1} completed 1002 `},
		{`"type":"mcp_tool_call_end","call_id":"c","invocation":{"server":"s","tool":"t"},"result":{"Err":"no"}`, `*item.MCPToolCall c s t  failed 0 no`},
		{`"type":"context_compacted"`, `*item.ContextCompaction item-0-0`},
		{`"type":"entered_review_mode","turn_id":"t","item_id":"i","user_facing_hint":"look"`, `*item.EnteredReviewMode i look`},
		{`"type":"exited_review_mode","turn_id":"t","item_id":"i","review_output":{"overall_explanation":"fine"}`, `*item.ExitedReviewMode i fine`},
	} {
		d := written(t, `{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}`,
			`{"timestamp":"2026-01-01T00:00:01Z","type":"event_msg","payload":{`+tt.event+`}}`)
		c, err := d.Read(t.Context(), hostileThread)
		if err != nil || len(c.Turns) != 1 || len(c.Turns[0].Items) != 1 {
			t.Errorf("%s: %v, %+v, want one item", tt.event, err, c)
			continue
		}
		if got := describeLegacy(t, c.Turns[0].Items[0]); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.event, got, tt.want)
		}
	}
}

func describeLegacy(t *testing.T, i item.Item) string {
	t.Helper()
	s := fmt.Sprintf("%T %s", i, i.Head().ID)
	switch i := i.(type) {
	case *item.UserMessage:
		for _, in := range i.Content {
			switch in := in.(type) {
			case *item.Text:
				s += " text=" + in.Text
			case *item.Image:
				s += " image=" + in.URL
			case *item.LocalImage:
				s += " local=" + in.Path
			}
		}
	case *item.AgentMessage:
		s += " " + i.Text + " " + i.Phase
	case *item.Reasoning:
		s += fmt.Sprintf(" %v %v", i.Summary, i.Content)
	case *item.FileChange:
		s += fmt.Sprintf(" %s %d", i.Status, len(i.Changes))
	case *item.MCPToolCall:
		ms, why := int64(0), ""
		if i.DurationMs != nil {
			ms = *i.DurationMs
		}
		if i.Error != nil {
			why = i.Error.Message
		}
		s += fmt.Sprintf(" %s %s %s %s %d %s", i.Server, i.Tool, i.Arguments, i.Status, ms, why)
	case *item.EnteredReviewMode:
		s += " " + i.Review
	case *item.ExitedReviewMode:
		s += " " + i.Review
	}
	return s
}

// TestContains checks that a text is found wherever the pieces of a file end, whatever its case.
func TestContains(t *testing.T) {
	const needle = "needle"
	for _, at := range []int{0, 1, 100, scanBuffer - 1, scanBuffer, scanBuffer + 1, scanBuffer + len(needle) - 3, scanBuffer + len(needle) - 1, scanBuffer + len(needle), 2*scanBuffer + 3, 3 * scanBuffer} {
		for _, text := range []string{"needle", "NeeDLE", "needl", "need", ""} {
			name := filepath.Join(t.TempDir(), "f.jsonl")
			if err := os.WriteFile(name, []byte(strings.Repeat("x", at)+text+"x"), 0o600); err != nil {
				t.Fatal(err)
			}
			want := strings.EqualFold(text, needle)
			if got, err := contains(t.Context(), name, []byte(needle)); err != nil || got != want {
				t.Errorf("%q at %d is found: %v, %v, want %v", text, at, got, err, want)
			}
		}
	}
	if got, err := contains(t.Context(), "missing", nil); !got || err != nil {
		t.Errorf("no text is found: %v, %v, want it in every file", got, err)
	}
	if got, err := contains(t.Context(), filepath.Join(t.TempDir(), "missing"), []byte(needle)); got || err == nil {
		t.Errorf("in a missing file: %v, %v, want an error", got, err)
	}
}
