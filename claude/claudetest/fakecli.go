package claudetest

import (
	"os"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/fakecli"
	"github.com/seed7221b0f9/parley/spawn"
)

// FakeVersion is the version that a fake CLI reports. It is the version of the imitated CLI.
const FakeVersion = fakecli.FakeVersion

// CLI is a program's side of the protocol: standard input, output and error of the simulated
// CLI. Handshake answers initialize, Prompt takes the next prompt, Turn, Stream and Emit write
// messages, OnControl and Request exchange control requests, and EmitHuge, EmitSplit, Burst,
// Kill, Hang and Grandchild play faults. It reads no input before a method needs it. All
// methods are safe for concurrent use.
type CLI = fakecli.CLI

// Builder builds the messages of one session as the CLI writes them, with consistent ids. The
// ids depend only on SessionID and the order of the calls, so that the same calls give the same
// messages. [message.Encode] returns the line. Its methods, such as AssistantText,
// UserToolResult, StreamText, Init and Result, are safe for concurrent use.
type Builder = fakecli.Builder

// NewBuilder returns a builder of messages for a session with a fixed id, so that its output is
// always the same.
func NewBuilder() *Builder { return fakecli.NewBuilder() }

// ControlRequest is a control request that the fake CLI received, with its id, its subtype and
// its whole content.
type ControlRequest = fakecli.ControlRequest

// ControlHandler answers a control request. The answer, anything that encoding/json encodes,
// becomes the response; nil gives a response without a body. An error gives an error response,
// with an error_code if it is a *[claude.ControlError]; [ErrNoAnswer] sends no response.
type ControlHandler = fakecli.ControlHandler

// A [ControlHandler] returns ErrNoAnswer if the program answers with CLI.Respond itself, later,
// twice or never.
var ErrNoAnswer = fakecli.ErrNoAnswer

// Unsupported returns the error with which the CLI refuses a control request that it does not
// know.
func Unsupported(subtype string) error { return fakecli.Unsupported(subtype) }

// Pending is a control request of the fake CLI that waits for its response.
type Pending = fakecli.Pending

// Program implements a fake CLI and returns its exit code. It runs in a separate process,
// started by [FakeCLI], or inside this one, with [InProcess].
type Program = fakecli.Program

// Main is the body of a TestMain: it runs the tests of a package or, in a process that
// [FakeCLI] started, the named program, and exits. The tests are a *testing.M.
func Main(tests interface{ Run() int }, programs map[string]Program) {
	RunProgram(programs)
	os.Exit(tests.Run())
}

// RunProgram registers programs for [FakeCLI]. In a process that was started for one of them it
// runs that program and exits. A main function, or a custom TestMain, must call it first.
func RunProgram(programs map[string]Program) { fakecli.RunProgram(programs) }

// FakeCLI returns options that start this executable again as the CLI, running the named
// program: a real process with real pipes, signals and exit codes. The process does not inherit
// the caller's environment; the program reads variables added to Env with CLI.Env.
//
// It panics if [Main] or [RunProgram] has not been called or does not know the program, because
// the process would run the tests again.
func FakeCLI(name string) *claude.Options { return fakecli.Options(name) }

// InProcess returns a [spawn.Spawner] that runs the program inside this process with in-memory
// pipes: &claude.Options{Spawner: InProcess(program)}. Use it for tests in a testing/synctest
// bubble and for many sessions at once; signals, descriptors and the faults that need them
// require [FakeCLI].
//
// Terminate and Kill close the program's input and output. The process ends when the program
// returns, so a program that uses neither continues.
func InProcess(program Program) spawn.Spawner { return fakecli.InProcess(program) }

// Faults of real CLIs, as building blocks for programs. A program's return value is the exit
// code: 1 and 3 for errors, 143 for the CLI's own handling of SIGTERM. CLI.Kill and
// CLI.IgnoreTerm simulate faults with signals.

// SlowStart returns a program that waits for d and then runs next, like a CLI on a slow
// machine.
func SlowStart(d time.Duration, next Program) Program {
	return func(cli *CLI) int {
		time.Sleep(d)
		return next(cli)
	}
}

// NoHandshake is a program that reads its input and never answers. It exits with code 0 at the
// end of its input.
func NoHandshake(cli *CLI) int {
	for {
		if _, err := cli.ReadLine(); err != nil {
			return 0
		}
	}
}

// DieAtOnce returns a program that writes a line to standard error and exits with the code,
// without reading its input.
func DieAtOnce(code int, why string) Program {
	return func(cli *CLI) int {
		cli.Stderr("%s\n", why)
		return code
	}
}

// NumberedText returns the text of the n-th message of CLI.EmitNumbered, counted from 0, for
// comparison.
func NumberedText(n int) string { return fakecli.NumberedText(n) }

// Junk returns lines that are not messages and have been seen on the standard output of CLIs.
// No line is blank.
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
