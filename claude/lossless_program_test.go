package claude_test

import (
	"strconv"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// losslessPrograms are the CLIs of the lossless tests.
var losslessPrograms = map[string]claudetest.Program{
	"flood":           cliFlood,
	"dies":            cliDies,
	"failed-result":   cliFailedResult,
	"torn":            cliTorn,
	"huge":            cliHuge,
	"unknown-tenth":   cliUnknownTenth,
	"dead-on-arrival": claudetest.DieAtOnce(9, "cannot start: no such setting"),
	"dead-in-shake":   cliDeadInShake,
	"dead-half-shake": cliDeadHalfShake,
	"killed":          cliKilled,
	"grandchild":      cliGrandchild,
	"hello":           cliHello,
	"two-way":         cliTwoWay,
	"burst":           cliBurst,
	"stubborn":        cliStubborn,
	"control-echo":    cliControlEcho,
	"late":            cliLate,
	"worker":          cliWorker,
	"mute":            cliMute,
	"starts":          cliStarts,
	"deaf":            cliDeaf,
	"no-turn":         cliNoTurn,
	"half-turn":       cliHalfTurn,
	"shut":            cliShut,
	"stays":           cliStays,
	"tasks-for-ever":  cliTasksForEver,
	"tool-for-ever":   cliToolForEver,
	"obeys":           cliObeys,
	"torn-well":       cliTornWell,
	"session-owner":   sessionOwner,
}

// cliCount returns the number of messages that the test requests.
func cliCount(cli *claudetest.CLI) int {
	n, err := strconv.Atoi(cli.Env("COUNT"))
	if err != nil {
		panic(err)
	}
	return n
}

// cliOpen answers initialize, takes a prompt and begins its turn.
func cliOpen(cli *claudetest.CLI) {
	if _, err := cli.Handshake(); err != nil {
		panic(err)
	}
	if _, err := cli.Prompt(); err != nil {
		panic(err)
	}
	cli.BeginTurn()
}

// cliFlood writes all messages at once and exits.
func cliFlood(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.EmitNumbered(0, cliCount(cli))
	cli.EndTurn(cli.Result("done"))
	return 0
}

// cliDies exits in the middle of a turn, with the exit code that the test requests.
func cliDies(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.EmitNumbered(0, cliCount(cli))
	for i := range 200 {
		cli.Stderr("stack frame %d\n", i)
	}
	cli.Stderr("fatal: out of luck\n")
	code, err := strconv.Atoi(cli.Env("CODE"))
	if err != nil {
		panic(err)
	}
	return code
}

// cliFailedResult writes an error result and exits with the matching code.
func cliFailedResult(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.EmitNumbered(0, cliCount(cli))
	cli.EndTurn(cli.ResultAPIError(500, "API Error: 500"))
	return 1
}

// cliTorn dies in the middle of a line.
func cliTorn(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.EmitNumbered(0, cliCount(cli))
	cli.EmitRaw([]byte(`{"type":"assistant","message":{"id":"msg_`))
	cli.Stderr("fatal: torn\n")
	return 3
}

func cliKilled(cli *claudetest.CLI) int {
	cliOpen(cli)
	cli.EmitNumbered(0, cliCount(cli))
	cli.Stderr("last words\n")
	cli.Kill()
	return 0
}

const hugeSize = 100 << 20

func cliHuge(cli *claudetest.CLI) int {
	cliOpen(cli)
	n := cliCount(cli)
	cli.EmitNumbered(0, n/2)
	cli.EmitHuge(hugeSize)
	cli.EmitNumbered(n/2, n)
	cli.EndTurn(cli.Result("done"))
	return 0
}

// cliUnknownTenth puts a message of an unknown type at every tenth place, and junk at every
// twenty-fifth.
func cliUnknownTenth(cli *claudetest.CLI) int {
	cliOpen(cli)
	junk := claudetest.Junk()
	for i := range cliCount(cli) {
		switch {
		case i%10 == 9:
			cli.Emit(cli.Unknown("type_of_2031", map[string]any{"n": i}))
		case i%25 == 24:
			cli.Emit(junk[i/25%len(junk)])
		default:
			cli.EmitSplit(cli.AssistantText(claudetest.NumberedText(i)+" – ünïcödé 🎉"), 7)
		}
	}
	cli.EndTurn(cli.Result("done"))
	return 0
}

func cliDeadInShake(cli *claudetest.CLI) int {
	if _, err := cli.AwaitInitialize(); err != nil {
		panic(err)
	}
	cli.Stderr("cannot start: no such session\n")
	return 9
}

// cliDeadHalfShake dies in the middle of its answer to initialize.
func cliDeadHalfShake(cli *claudetest.CLI) int {
	if _, err := cli.AwaitInitialize(); err != nil {
		panic(err)
	}
	cli.EmitRaw([]byte(`{"type":"control_response","response":{"subtype":"succ`))
	cli.Stderr("cannot start: half an answer\n")
	return 9
}

// cliGrandchild leaves a process that holds its standard streams.
func cliGrandchild(cli *claudetest.CLI) int {
	cliOpen(cli)
	pid, err := cli.Grandchild(cli.Env("DETACHED") != "")
	if err != nil {
		panic(err)
	}
	cli.Stderr("grandchild %d\n", pid)
	cli.EmitNumbered(0, cliCount(cli))
	cli.EndTurn(cli.Result("done"))
	return 0
}

func cliHello(cli *claudetest.CLI) int {
	if _, err := cli.Handshake(); err != nil {
		return 1
	}
	for {
		m, err := cli.Prompt()
		if err != nil {
			return 0
		}
		cli.Turn("you said " + m.Text())
	}
}

// cliTwoWay sends and answers requests while it writes. It reports on stderr when all its
// requests were answered.
func cliTwoWay(cli *claudetest.CLI) int {
	cli.AnswerReversed("set_model", 5, true, func(claudetest.ControlRequest) (any, error) { return map[string]any{"model": "m"}, nil })
	cliOpen(cli)
	n := cliCount(cli)
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() {
			_, err := cli.Request("subtype_of_2031", map[string]any{"text": strings.Repeat("é", 1000)})
			if _, refused := err.(*claude.ControlError); !refused {
				cli.Stderr("asking: %v\n", err)
			}
		})
	}
	cli.EmitNumbered(0, n)
	asking.Wait()
	cli.Stderr("all answered\n")
	if _, err := cli.Prompt(); err != nil { // the test's permission to continue
		panic(err)
	}
	cli.EmitNumbered(n, n+10)
	cli.EndTurn(cli.Result("done"))
	return 0
}

// cliBurst fills the pipe before it reads.
func cliBurst(cli *claudetest.CLI) int {
	cli.BeginTurn()
	n := cli.Burst(512 << 10)
	if _, err := cli.Handshake(); err != nil {
		panic(err)
	}
	m, err := cli.Prompt()
	if err != nil {
		panic(err)
	}
	cli.EndTurn(cli.Result(strconv.Itoa(n) + " messages, " + strconv.Itoa(len(m.Text())) + " bytes"))
	return 0
}

// cliStubborn ignores the end of its input and SIGTERM.
func cliStubborn(cli *claudetest.CLI) int {
	cli.IgnoreTerm()
	cliOpen(cli)
	cli.EmitNumbered(0, cliCount(cli))
	cli.EndTurn(cli.Result("done"))
	cli.Hang()
	return 0
}
