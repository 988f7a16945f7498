package claude_test

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

func statusLine(status string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"status","status":%q,%s}`, status, session)
}

const retryLine = `{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":500,"error_status":529,"error":"overloaded",` + session + `}`

const deltaLine = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}},` + session + `,"parent_tool_use_id":null}`

func TestViewPhases(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		phase := func(want claude.Phase, event string) {
			t.Helper()
			synctest.Wait()
			if v := client.View(); v.Phase != want || v.LastEvent != event || event != "" && !v.LastEventAt.Equal(time.Now()) {
				t.Fatalf("%+v, want %s behind %s", v, want, event)
			}
		}
		phase(claude.PhaseIdle, "")
		turn := send(t, client, "a")
		phase(claude.PhaseWaiting, "")
		for _, step := range []struct {
			line, event string
			phase       claude.Phase
		}{
			{state("running"), "system/session_state_changed", claude.PhaseWaiting},
			{initLine(turn.ID), "system/init", claude.PhaseWaiting},
			{statusLine("requesting"), "system/status", claude.PhaseWaiting},
			{retryLine, "system/api_retry", claude.PhaseRetrying},
			{statusLine("requesting"), "system/status", claude.PhaseWaiting},
			{deltaLine, "stream_event", claude.PhaseStreaming},
			{lifecycle("other", "queued"), "command_lifecycle", claude.PhaseStreaming},
			{bashCall, "assistant", claude.PhaseTool},
			{bashResult, "user", claude.PhaseWaiting},
			{statusLine("compacting"), "system/status", claude.PhaseCompacting},
			{statusLine(""), "system/status", claude.PhaseWaiting},
			{assistant("done"), "assistant", claude.PhaseStreaming},
			{tasks("x"), "system/background_tasks_changed", claude.PhaseStreaming},
			{good("A", turn.ID), "result", claude.PhaseBackground},
			{tasks(), "system/background_tasks_changed", claude.PhaseWaiting},
			{state("idle"), "system/session_state_changed", claude.PhaseIdle},
		} {
			within(t, time.Second)
			cli.say(step.line)
			phase(step.phase, step.event)
		}
		v := client.View()
		if v.Retry == nil || v.Retry.Attempt != 2 || v.RetryAt.IsZero() || v.PID != 7 || v.SessionID != client.SessionID() {
			t.Errorf("%+v; want v.Retry != nil and v.Retry.Attempt == 2 and not v.RetryAt.IsZero() and v.PID == 7 and v.SessionID == client.SessionID()", v)
		}
		cli.die(io.EOF)
		synctest.Wait()
		if v := client.View(); v.Phase != claude.PhaseEnded {
			t.Errorf("%+v; want v.Phase == claude.PhaseEnded", v)
		}
	})
}

func TestViewShowsOpenRequests(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		begun := time.Now()
		a := send(t, client, "a")
		send(t, client, "b")
		cli.say(initLine(a.ID), bashCall, tasks("x"))
		synctest.Wait()
		within(t, time.Second)
		cli.stuck()
		cli.say(questionLine("r1", "elicitation"))
		synctest.Wait()
		v := client.View()
		if v.Queued != 1 || v.LiveTasks != 1 || len(v.Tools) != 1 || v.Tools[0].Name != "Bash" || v.Tools[0].ToolUseID != "toolu_1" || !v.Tools[0].Since.Equal(begun) {
			t.Errorf("%+v; want v.Queued == 1 and v.LiveTasks == 1 and len(v.Tools) == 1 and v.Tools[0].Name == \"Bash\" and v.Tools[0].ToolUseID == \"toolu_1\" and v.Tools[0].Since.Equal(begun)", v)
		}
		cli.unstuck()
		cli.say(bad("interrupted", a.ID)) // without a tool result
		synctest.Wait()
		if v := client.View(); len(v.Tools) != 0 || v.Queued != 1 {
			t.Errorf("%+v; want len(v.Tools) == 0 and v.Queued == 1", v)
		}
	})
}
