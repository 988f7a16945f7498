package fakecli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
)

// Program implements a fake CLI and returns its exit code. It runs in a separate process,
// started by [Options], or inside this one, with [InProcess].
type Program func(cli *CLI) int

// programVariable is the environment variable with the name of the program to run.
const programVariable = "CLAUDETEST_PROGRAM"

// registered holds the programs that processes of this executable can run.
var registered struct {
	sync.Mutex
	called bool
	all    map[string]Program
}

// RunProgram registers programs for [Options]. In a process that was started for one of
// them it runs that program and exits. A main function, or a custom TestMain, must call
// it first.
func RunProgram(programs map[string]Program) {
	registered.Lock()
	registered.called = true
	registered.all = maps.Clone(programs)
	registered.Unlock()
	name, fake := os.LookupEnv(programVariable)
	if !fake {
		return
	}
	// Children of the program are not fake CLIs.
	os.Unsetenv(programVariable)
	if name == holdProgram {
		hold()
	}
	program := programs[name]
	if program == nil {
		fmt.Fprintf(os.Stderr, "claudetest: unknown program %q\n", name)
		os.Exit(2)
	}
	if slices.Equal(os.Args[1:], []string{"--version"}) {
		fmt.Println(FakeVersion + " (Claude Code)")
		os.Exit(0)
	}
	cli := newCLI(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	os.Exit(program(cli))
}

// Options returns options that start this executable again as the CLI, running the named
// program: a real process with real pipes, signals and exit codes. The process does not
// inherit the caller's environment; the program reads variables added to Env with
// [CLI.Env].
//
// It panics if [RunProgram] has not been called or does not know the program, because the
// process would run the tests again.
func Options(name string) *claude.Options {
	registered.Lock()
	defer registered.Unlock()
	if !registered.called {
		panic("claudetest: FakeCLI before Main or RunProgram, which belong into TestMain or main")
	}
	if registered.all[name] == nil {
		names := slices.Sorted(maps.Keys(registered.all))
		panic(fmt.Sprintf("claudetest: no program %q; there are %s", name, strings.Join(names, ", ")))
	}
	path, err := os.Executable()
	if err != nil {
		panic(fmt.Sprintf("claudetest: %v", err))
	}
	return &claude.Options{CLIPath: path, Env: programEnv(name), CleanEnv: true}
}

func programEnv(name string) map[string]string {
	env := map[string]string{
		programVariable: name,
		// A program with the race detector otherwise sleeps a second at its exit.
		"GORACE": "atexit_sleep_ms=0",
	}
	// Windows starts no program without it.
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env["SYSTEMROOT"] = root
	}
	return env
}
