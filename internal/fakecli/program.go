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

// Program is a fake CLI: what it does from its start to its exit code. It runs
// in a process of its own, started by [Options], or inside this one, by
// [InProcess].
type Program func(cli *CLI) int

// programVariable names the program that a process is started for.
const programVariable = "CLAUDETEST_PROGRAM"

// registered are the programs that processes of this executable can be.
var registered struct {
	sync.Mutex
	called bool
	all    map[string]Program
}

// RunProgram makes programs known to [Options]. In a process that was started
// for one of them it runs that program and exits, and does not return. A main
// function, or a TestMain with duties of its own, calls it before anything else.
func RunProgram(programs map[string]Program) {
	registered.Lock()
	registered.called = true
	registered.all = maps.Clone(programs)
	registered.Unlock()
	name, fake := os.LookupEnv(programVariable)
	if !fake {
		return
	}
	// What the program starts is not a fake.
	os.Unsetenv(programVariable)
	if name == holdProgram {
		hold()
	}
	program := programs[name]
	if program == nil {
		fmt.Fprintf(os.Stderr, "claudetest: there is no program %q\n", name)
		os.Exit(2)
	}
	if slices.Equal(os.Args[1:], []string{"--version"}) {
		fmt.Println(FakeVersion + " (Claude Code)")
		os.Exit(0)
	}
	cli := newCLI(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	os.Exit(program(cli))
}

// Options are options with which the CLI is this executable once more, running
// the named program: a real process with real pipes, signals and exit codes. The
// environment holds nothing of the caller's; variables that are added to Env
// reach the program, as [CLI.Env].
//
// It panics when [RunProgram] has not been called or does not know the
// program: the process would be a second run of the tests.
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
