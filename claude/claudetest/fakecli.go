package claudetest

import (
	"os"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/fakecli"
	"github.com/seed7221b0f9/parley/spawn"
)

// FakeVersion is the version that a fake CLI reports, which is that of a real CLI it behaves
// like.
const FakeVersion = fakecli.FakeVersion

// CLI is a program's own side of the protocol: standard input, output and error of the CLI
// that it plays. Handshake answers initialize, Prompt takes the next prompt, Turn, Stream and
// Emit write messages, OnControl and Request exchange control requests, and EmitHuge,
// EmitSplit, Burst, Kill, Hang and Grandchild play faults. Until something is asked of the
// input, nothing is read. All methods may be called from any goroutine.
type CLI = fakecli.CLI

// Builder builds the messages of one session as the CLI writes them, with ids that fit
// together. The ids follow from SessionID and the order of the calls, so that the same calls
// give the same messages. [message.Encode] gives the line. Its methods, of which AssistantText,
// UserToolResult, StreamText, Init and Result are examples, may be called from any goroutine.
type Builder = fakecli.Builder

// NewBuilder returns a builder of messages for a session with a fixed id, so that its output is
// always the same.
func NewBuilder() *Builder { return fakecli.NewBuilder() }

// ControlRequest is a control request that the fake CLI received, with its id, its subtype and
// its whole content.
type ControlRequest = fakecli.ControlRequest

// ControlHandler answers a control request. The answer, anything that encoding/json encodes,
// becomes the response; nil is a response without a body. An error is an error response, with
// an error_code where it is a *[claude.ControlError]; [ErrNoAnswer] is none at all.
type ControlHandler = fakecli.ControlHandler

// ErrNoAnswer is returned by a [ControlHandler] when CLI.Respond is to answer, later, twice or
// never.
var ErrNoAnswer = fakecli.ErrNoAnswer

// Unsupported is the error with which the CLI refuses a control request that it does not know.
func Unsupported(subtype string) error { return fakecli.Unsupported(subtype) }

// Pending is a control request that the fake CLI itself has sent and for whose response it
// waits.
type Pending = fakecli.Pending

// Program is a fake CLI: what it does from its start to its exit code. It runs in a process of
// its own, started by [FakeCLI], or inside this one, by [InProcess].
type Program = fakecli.Program

// Main is the body of a TestMain: it runs the tests of a package or, in a
// process that [FakeCLI] has started, the program it was started for, and exits.
// The tests are a *testing.M.
func Main(tests interface{ Run() int }, programs map[string]Program) {
	RunProgram(programs)
	os.Exit(tests.Run())
}

// RunProgram makes programs known to [FakeCLI]. In a process that was started for one of them
// it runs that program and exits, and does not return. A main function, or a TestMain with
// duties of its own, calls it before anything else.
func RunProgram(programs map[string]Program) { fakecli.RunProgram(programs) }

// FakeCLI are options with which the CLI is this executable once more, running the named
// program: a real process with real pipes, signals and exit codes. The environment holds
// nothing of the caller's; variables that are added to Env reach the program, as CLI.Env.
//
// It panics when [Main] or [RunProgram] has not been called or does not know the program: the
// process would be a second run of the tests.
func FakeCLI(name string) *claude.Options { return fakecli.Options(name) }

// InProcess is a [spawn.Spawner] that runs the program inside this process, on pipes in memory:
// as options &claude.Options{Spawner: InProcess(program)}. It is for tests in a
// testing/synctest bubble and for many sessions at once; signals, descriptors and the faults
// that need them are [FakeCLI]'s.
//
// Terminate and Kill end the program's input and output; a program that does not look at either
// goes on until it returns, and its process has not ended before.
func InProcess(program Program) spawn.Spawner { return fakecli.InProcess(program) }

// The faults of CLIs in the field, for programs to put together. What ends with
// an exit code is the program's return: 1 and 3 for errors, 143 for the CLI's own
// answer to SIGTERM. What needs signals is in CLI.Kill and CLI.IgnoreTerm.

// SlowStart returns a program that does nothing for a while and then runs next, like a CLI on a
// slow machine.
func SlowStart(d time.Duration, next Program) Program {
	return func(cli *CLI) int {
		time.Sleep(d)
		return next(cli)
	}
}

// NoHandshake is a program that reads everything and answers nothing. It exits
// with code 0 at the end of its input.
func NoHandshake(cli *CLI) int {
	for {
		if _, err := cli.ReadLine(); err != nil {
			return 0
		}
	}
}

// DieAtOnce is a program that writes a line to standard error and exits with the
// code, before it reads anything.
func DieAtOnce(code int, why string) Program {
	return func(cli *CLI) int {
		cli.Stderr("%s\n", why)
		return code
	}
}

// NumberedText returns the text of the n-th message of CLI.EmitNumbered, counted from 0, for
// comparison.
func NumberedText(n int) string { return fakecli.NumberedText(n) }

// Junk are lines that are not messages and have been seen on the standard output of CLIs. None
// of them is blank.
func Junk() []string {
	return []string{
		"npm warn config production Use `--omit=dev` instead.",
		"[SandboxDebug] [Sandbox Linux] Seccomp filtering not available",
		`{"type":"assistant","message":{"id":"msg_`,
		`["an","array"]`,
		"\x1b[2K\x1b[1G\xff\xfe",
		"null",
	}
}
