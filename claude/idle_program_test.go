package claude_test

import (
	"errors"
	"testing"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
)

// cliLate writes the rest of its first turn, which was interrupted, during the second
// turn.
func cliLate(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.Emit(cli.AssistantText("begun"))
	<-cli.Interrupts()
	cli.Emit(cli.AssistantText("before the end"))
	cli.EndInterrupted()
	cli.Emit(cli.AssistantText("behind the end"))
	prompt, err := cli.Prompt()
	if err != nil {
		return 1
	}
	cli.Turn("answer to " + prompt.Text())
	return 0
}

func TestInterruptedTurnLeavesNoProcess(t *testing.T) {
	client, err := claude.Connect(t.Context(), claudetest.FakeCLI("late"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for m, err := range client.Query(t.Context(), "one") {
		if err != nil {
			t.Fatal(err)
		}
		if label(m) == "assistant:begun" {
			break // which interrupts
		}
	}
	var got []string
	for m, err := range client.Query(t.Context(), "two") {
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := m.(*message.Assistant); ok {
			got = append(got, a.Text())
		}
	}
	if len(got) != 1 || got[0] != "answer to two" {
		t.Errorf("%q; want len(got) == 1 and got[0] == \"answer to two\"", got)
	}
	if err := client.WaitIdle(t.Context()); err != nil && !errors.Is(err, claude.ErrClosed) {
		t.Error(err)
	}
}

// cliWorker leaves a task in the background, which reports in a turn that the
// CLI begins by itself.
func cliWorker(cli *claudetest.CLI) int {
	cli.OnControl("go_on", func(claudetest.ControlRequest) (any, error) {
		cli.Emit(&message.TaskNotification{TaskID: "b1", Status: message.TaskCompleted, Summary: "all passed"},
			&message.BackgroundTasksChanged{Tasks: []message.BackgroundTask{}})
		cli.Emit(cli.State(message.StateRunning), cli.Init(), cli.AssistantText("They passed."))
		r := cli.Result("They passed.")
		r.Origin = &message.Origin{Kind: "task-notification"}
		cli.Emit(r, cli.State(message.StateIdle))
		return nil, nil
	})
	cliOpen(cli)
	task := &message.TaskStarted{TaskID: "b1", TaskType: "local_bash", Description: "make test", IsBackgrounded: true}
	running := &message.BackgroundTasksChanged{Tasks: []message.BackgroundTask{{TaskID: "b1", TaskType: "local_bash", Description: "make test"}}}
	cli.Emit(running, task, cli.AssistantText("It runs."))
	cli.EndTurn(cli.Result("It runs."))
	<-cli.InputEnd()
	return 0
}
