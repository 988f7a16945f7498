package claude_test

import (
	"os"

	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// cliMute neither reads nor writes, and does not exit.
func cliMute(cli *claudetest.CLI) int {
	cli.IgnoreTerm()
	cli.Hang()
	return 0
}

// cliStarts never becomes ready, and ignores the end of its input.
func cliStarts(cli *claudetest.CLI) int {
	cli.Stderr("starting\n")
	cli.Hang()
	return 0
}

// cliDeaf answers initialize and then stops reading.
func cliDeaf(cli *claudetest.CLI) int {
	line, err := cli.ReadLine()
	if err != nil {
		panic(err)
	}
	cli.Respond(parse(string(line)).RequestID, cli.Info, nil)
	cli.Hang()
	return 0
}

// cliNoTurn takes a prompt and ignores it.
func cliNoTurn(cli *claudetest.CLI) int {
	if _, err := cli.Handshake(); err != nil {
		panic(err)
	}
	if _, err := cli.Prompt(); err != nil {
		panic(err)
	}
	cli.Hang()
	return 0
}

// cliHalfTurn stops writing in the middle of a turn.
func cliHalfTurn(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.Emit(cli.AssistantText("half"))
	cli.Hang()
	return 0
}

// cliShut closes its output and does not exit, with a result or without.
func cliShut(cli *claudetest.CLI) int {
	cliOpen(cli)
	if cli.Env("RESULT") != "" {
		cli.EndTurn(cli.Result("done"))
	}
	os.Stdout.Close()
	cli.Hang()
	return 0
}

// cliStays writes its result and does not exit at the end of its input.
func cliStays(cli *claudetest.CLI) int {
	if cli.Env("IGNORE_TERM") != "" {
		cli.IgnoreTerm()
	}
	cliOpen(cli)
	cli.EndTurn(cli.Result("done"))
	cli.Hang()
	return 0
}

// cliTasksForEver writes its result and leaves a task that does not end.
func cliTasksForEver(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.Emit(`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"a","task_type":"local_bash","description":"x"}]}`)
	cli.EndTurn(cli.Result("done"))
	cli.Hang()
	return 0
}

// cliToolForEver is busy in a turn, ignores interrupts and SIGTERM.
func cliToolForEver(cli *claudetest.CLI) int {
	cli.IgnoreTerm()
	cli.OnControl("interrupt", func(claudetest.ControlRequest) (any, error) { return nil, claudetest.ErrNoAnswer })
	cliOpen(cli)
	cli.Emit(cli.AssistantText("at work"))
	cli.Hang()
	return 0
}

// cliObeys works until it is interrupted and exits at the end of its input. Without an
// interrupt it continues after the end of its input, like the real CLI.
func cliObeys(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.Emit(cli.AssistantText("at work"))
	<-cli.Interrupts()
	cli.EndInterrupted()
	<-cli.InputEnd()
	return 0
}

// cliTornWell exits with code 0 in the middle of its result.
func cliTornWell(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.Emit(cli.AssistantText("half"))
	cli.EmitRaw([]byte(`{"type":"result","subtype":"succ`))
	return 0
}
