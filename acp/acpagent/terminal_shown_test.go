package acpagent_test

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp/acptest"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// TestTerminals_shown checks that a person sees each output of a call's terminals once, while it runs and at its end, even if
// the agent has released them.
func TestTerminals_shown(t *testing.T) {
	short.Skip(t, "commands")
	call := func(id, kind, status, terminals string) acptest.Step {
		return acptest.Raw(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"` + kind + `","toolCallId":"` + id + `","title":"run","status":"` + status + `","content":[` + terminals + `]}}}`)
	}
	terminal := func(id string) string { return `{"type":"terminal","terminalId":"` + id + `"}` }
	number := 0
	asks := func(method string, params map[string]any) []acptest.Step {
		number++
		params["sessionId"] = "s"
		return []acptest.Step{acptest.Call(number, method, params), acptest.Answered(number)}
	}
	var steps []acptest.Step
	add := func(more ...acptest.Step) { steps = append(steps, more...) }
	shell := func(command string) map[string]any {
		return map[string]any{"command": "sh", "args": []string{"-c", command}}
	}
	add(asks("terminal/create", shell("echo first; echo of two >&2"))...)
	add(call("one", "tool_call", "in_progress", terminal("terminal-1")))
	add(asks("terminal/wait_for_exit", map[string]any{"terminalId": "terminal-1"})...)
	add(call("one", "tool_call_update", "in_progress", terminal("terminal-1")))
	add(asks("terminal/create", shell("echo second"))...)
	add(asks("terminal/wait_for_exit", map[string]any{"terminalId": "terminal-2"})...)
	add(call("one", "tool_call_update", "in_progress", terminal("terminal-2")+","+terminal("none")))
	add(asks("terminal/create", shell("echo hidden"))...) // in no call
	add(asks("terminal/wait_for_exit", map[string]any{"terminalId": "terminal-3"})...)
	add(asks("terminal/release", map[string]any{"terminalId": "terminal-1"})...)
	add(asks("terminal/release", map[string]any{"terminalId": "terminal-2"})...)
	add(call("one", "tool_call_update", "completed", ""))
	add(asks("terminal/create", shell("echo released"))...)
	add(asks("terminal/wait_for_exit", map[string]any{"terminalId": "terminal-4"})...)
	add(call("two", "tool_call", "pending", terminal("terminal-4")))
	add(asks("terminal/create", shell("echo late"))...)
	add(call("two", "tool_call_update", "in_progress", terminal("terminal-5")))
	add(asks("terminal/wait_for_exit", map[string]any{"terminalId": "terminal-5"})...)
	add(asks("terminal/release", map[string]any{"terminalId": "terminal-5"})...)
	add(call("two", "tool_call_update", "failed", ""))
	add(acptest.Reply(map[string]string{"stopReason": "end_turn"}))
	a := &acptest.Agent{Exchanges: []acptest.Exchange{hello(""), acptest.On("session/new", session("")), acptest.On("session/prompt", steps...)}}
	s := opened(t, a, agent.Options{Partial: true})
	if err := s.Send(t.Context(), agent.Input{UUID: "u", Text: "go"}); err != nil {
		t.Fatal(err)
	}
	progress, results := "", map[string]string{}
	until(t, s, func(ev event.Event) bool {
		switch ev := ev.(type) {
		case *event.ToolProgress:
			progress += ev.Output
		case *event.ToolComplete:
			results[ev.ToolUseID] = ev.Content.Text()
		case *event.ResultMessage:
			return true
		}
		return false
	})
	for id, want := range map[string][]string{"one": {"first\n", "of two\n", "second\n"}, "two": {"released\n", "late\n"}} {
		for _, text := range want {
			if strings.Count(results[id], text) != 1 {
				t.Errorf("the result of %s is %q, want %q once", id, results[id], text)
			}
		}
	}
	for _, text := range []string{"first\n", "second\n"} {
		if strings.Count(progress, text) != 1 {
			t.Errorf("while the calls run %q is shown, want %q once", progress, text)
		}
	}
	if all := progress + results["one"] + results["two"]; strings.Contains(all, "hidden") {
		t.Errorf("the output of a terminal in no call is shown: %q", all)
	}
}
