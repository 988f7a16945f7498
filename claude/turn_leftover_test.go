package claude_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// assistantLine returns an assistant line of a subagent, or one that names its prompt.
func assistantLine(text, parent, uuid string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%q}]},"parent_tool_use_id":%s,"user_message_uuid":%q,%s}`,
		text, parent, uuid, session)
}

func TestLeftoverOfTurnNotInNext(t *testing.T) {
	for _, strict := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cli := newCLI(t)
			opts := cli.options()
			opts.StrictLines = strict
			client := cli.connect(opts)
			defer client.Close()
			all := collect(client.Messages(t.Context()))
			a := send(t, client, "a")
			as := collect(a.Messages(t.Context()))
			cli.say(initLine(a.ID), agentCall("toolu_1", "null"), tasks("x"),
				taskLine("task_started", "x", `"tool_use_id":"toolu_1","description":"","task_type":"local_agent"`),
				assistantLine("sub 1", `"toolu_1"`, a.ID), bad("interrupted", a.ID), assistant("between"))
			as.want(t, "system/init", "assistant", "system/background_tasks_changed", "system/task_started", "assistant:sub 1", "result:interrupted")
			b := send(t, client, "b")
			bs := collect(b.Messages(t.Context()))
			cli.say(lifecycle(b.ID, "started"), initLine(b.ID),
				assistantLine("late", "null", a.ID),
				assistantLine("sub 2", `"toolu_1"`, a.ID),
				taskLine("task_progress", "x", `"description":""`),
				taskLine("task_started", "y", `"tool_use_id":"toolu_2","parent_task_id":"x","description":""`),
				assistantLine("sub sub", `"toolu_2"`, ""),
				assistantLine("mine", "null", b.ID),
				taskLine("task_notification", "x", `"tool_use_id":"toolu_1","status":"completed","output_file":"","summary":""`),
				taskLine("task_started", "x", `"tool_use_id":"toolu_3","description":"taken up again"`),
				assistantLine("sub 3", `"toolu_3"`, b.ID),
				good("B", b.ID))
			bs.want(t, "lifecycle:started", "system/init", "assistant:mine", "system/task_started", "assistant:sub 3", "result:B")
			bs.ended(t)
			all.want(t, "system/init assistant system/background_tasks_changed system/task_started "+
				"assistant:sub 1 result:interrupted assistant:between lifecycle:started system/init assistant:late assistant:sub 2 "+
				"system/task_progress system/task_started assistant:sub sub assistant:mine system/task_notification system/task_started "+
				"assistant:sub 3 result:B")
		})
	}
}

func TestTurnState(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a, b := send(t, client, "a"), send(t, client, "b")
		want := func(wantA, wantB message.CommandState) {
			t.Helper()
			synctest.Wait()
			if a.State() != wantA || b.State() != wantB {
				t.Fatalf("%s and %s, want %s and %s", a.State(), b.State(), wantA, wantB)
			}
		}
		want("", "")
		cli.say(lifecycle(a.ID, "queued"), lifecycle(a.ID, "started"), lifecycle(b.ID, "dreaming"))
		want(message.CommandStarted, "dreaming")
		cli.say(lifecycle(b.ID, "started")) // into the same turn
		want(message.CommandStarted, message.CommandStarted)
		cli.say(lifecycle(b.ID, "queued")) // put back by an interrupt
		cli.say(resultLine("stopped", `,"is_error":true,"terminal_reason":"aborted_tools"`, a.ID), lifecycle(a.ID, "cancelled"))
		want(message.CommandCancelled, message.CommandQueued)
		cli.say(turnLines(b.ID, "B")...)
		want(message.CommandCancelled, message.CommandCompleted)
		if r, err := b.Wait(t.Context()); err != nil || r.Result != "B" {
			t.Fatalf("r is %v, err is %v; want err == nil and r.Result == \"B\"", r, err)
		}
	})
}

func TestInterruptAllDropsQueuedTurns(t *testing.T) {
	withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a, b, c := send(t, client, "a"), send(t, client, "b"), send(t, client, "c")
		cli.answers(map[string]string{"interrupt": fmt.Sprintf(`{"still_queued":[%q],"cancelled":[%q],"put_back":[%q]}`, c.ID, b.ID, c.ID)})
		cli.say(lifecycle(a.ID, "started"), initLine(a.ID))
		synctest.Wait()
		receipt, err := client.InterruptAll(t.Context())
		if err != nil || receipt.Cancelled[0] != b.ID || receipt.StillQueued[0] != c.ID || receipt.PutBack[0] != c.ID {
			t.Fatalf("%+v, %v; want err == nil and receipt.Cancelled[0] == b.ID and receipt.StillQueued[0] == c.ID and receipt.PutBack[0] == c.ID", receipt, err)
		}
		if _, err := b.Wait(t.Context()); !errors.Is(err, claude.ErrCancelled) || b.State() != message.CommandCancelled {
			t.Errorf("%v, %s; want errors.Is(err, claude.ErrCancelled) and b.State() == message.CommandCancelled", err, b.State())
		}
		cli.say(bad("interrupted", a.ID))
		if r, err := a.Wait(t.Context()); !errors.As(err, new(*claude.ResultError)) || !r.IsError {
			t.Errorf("%v, %v; want errors.As(err, new(*claude.ResultError)) and r.IsError", r, err)
		}
		cli.say(turnLines(c.ID, "C")...)
		if r, err := c.Wait(t.Context()); err != nil || r.Result != "C" {
			t.Errorf("%v, %v; want err == nil and r.Result == \"C\"", r, err)
		}
	})
}

func TestTurnWithoutAResultEnds(t *testing.T) {
	for said, want := range map[string]error{"completed": claude.ErrNoResult, "cancelled": claude.ErrCancelled} {
		withClient(t, func(t *testing.T, cli *memCLI, client *claude.Client) {
			a := send(t, client, "a")
			s := collect(a.Messages(t.Context()))
			cli.say(state("running"), lifecycle(a.ID, "started"), lifecycle(a.ID, said))
			s.running(t)
			cli.say(state("idle"))
			if err := s.ended(t); !errors.Is(err, want) {
				t.Errorf("said is %v, err is %v; want errors.Is(err, want)", said, err)
			}
		})
	}
}
