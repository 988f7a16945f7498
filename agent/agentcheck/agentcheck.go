// Package agentcheck checks with any installed agent whether a provider follows the rules of package agent. Tests call
// it through package agenttest.
package agentcheck

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
)

// Subject is a provider under test, with the prompts that trigger the behaviour that each check
// needs. A check with an empty prompt is skipped, and the report names it.
type Subject struct {
	Provider agent.Provider
	Options  agent.Options
	Prompts  Prompts
	// Capabilities lists exactly the capabilities that the provider and its sessions must have; nil
	// allows any.
	Capabilities []string
	// Kill ends the process of a session like a crash; nil skips the checks that need it.
	Kill func(agent.Session)
	// Timeout limits each wait; 0 means 30 seconds.
	Timeout time.Duration
}

// Prompts holds the inputs that trigger each kind of behaviour.
type Prompts struct {
	Say      string // the agent answers with a text, in several deltas if it streams
	Tool     string // it asks for permission to use a tool
	Plan     string // it proposes a plan
	Question string // it asks the person a question
	Elicit   string // an MCP server asks the person
	Wait     string // it works until it is interrupted
	Die      string // its process ends
	Task     string // it starts a task in the background
}

// T receives the reports of a check. *testing.T implements it. Fatal, Fatalf and Skip end the goroutine.
type T interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
	Cleanup(f func())
}

// Check is a single check of the suite.
type Check struct {
	Name   string
	prompt func(Prompts) string
	check  func(*run)
}

// Checks returns all checks, in the order in which they are run.
func Checks() []Check {
	say := func(p Prompts) string { return p.Say }
	tool := func(p Prompts) string { return p.Tool }
	wait := func(p Prompts) string { return p.Wait }
	return []Check{
		{"say", say, checkSay}, {"partial", say, checkPartial}, {"twice", say, checkTwice},
		{"allow", tool, checkAllow}, {"deny", tool, checkDeny}, {"wrong_answer", tool, checkWrongAnswer}, {"withdraw", tool, checkWithdraw},
		{"plan", func(p Prompts) string { return p.Plan }, checkPlan},
		{"question", func(p Prompts) string { return p.Question }, checkQuestion},
		{"elicit", func(p Prompts) string { return p.Elicit }, checkElicit},
		{"interrupt", wait, checkInterrupt},
		{"die", func(p Prompts) string { return p.Die }, checkDie},
		{"task", func(p Prompts) string { return p.Task }, checkTask},
		{"close", wait, checkClose}, {"leave", tool, checkLeave}, {"crash", tool, checkCrash}, {"resume", say, checkResume}, {"capabilities", say, checkCapabilities},
	}
}

// Run runs the check.
func (c Check) Run(t T, subject Subject) {
	t.Helper()
	c.run(context.Background(), t, subject)
}

func (c Check) run(ctx context.Context, t T, subject Subject) {
	t.Helper()
	prompt := c.prompt(subject.Prompts)
	if prompt == "" {
		t.Skip("the subject has no prompt for", c.Name)
	}
	if subject.Timeout == 0 {
		subject.Timeout = 30 * time.Second
	}
	r := &run{T: t, Subject: subject, base: ctx, prompt: prompt}
	r.Options.Partial = r.Options.Partial || c.Name != "say"
	c.check(r)
}

// The values of [Result.Status].
const (
	Passed  = "ok"
	Failed  = "failed"
	Skipped = "skipped"
)

// Result is the outcome of a check.
type Result struct {
	Name   string
	Status string // Passed, Failed or Skipped
	Text   string // the observation, or the reason why it was skipped
}

// Result runs the check outside of a test. If ctx is cancelled, the check fails. It returns when
// everything that the check started has ended.
func (c Check) Result(ctx context.Context, subject Subject) Result {
	t := &recorder{result: Result{Name: c.Name, Status: Passed}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer t.clean()
		c.run(ctx, t, subject)
	}()
	<-done
	t.result.Text = strings.Join(t.lines, "; ")
	return t.result
}

// recorder is a T that stores the reports.
type recorder struct {
	mu       sync.Mutex
	result   Result
	lines    []string
	cleanups []func()
}

func (t *recorder) note(status, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, strings.TrimSpace(text))
	if t.result.Status != Failed {
		t.result.Status = status
	}
}

// clean runs the deferred functions in reverse order. It runs the others even if one of them ends the goroutine.
func (t *recorder) clean() {
	for len(t.cleanups) > 0 {
		last := len(t.cleanups) - 1
		f := t.cleanups[last]
		t.cleanups = t.cleanups[:last]
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.note(Failed, fmt.Sprint("a panic: ", v))
				}
			}()
			f()
		}()
	}
	if v := recover(); v != nil {
		t.note(Failed, fmt.Sprint("a panic: ", v))
	}
}

func (t *recorder) Helper()                           {}
func (t *recorder) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *recorder) Error(args ...any)                 { t.note(Failed, fmt.Sprintln(args...)) }
func (t *recorder) Errorf(format string, args ...any) { t.note(Failed, fmt.Sprintf(format, args...)) }

func (t *recorder) Fatal(args ...any) {
	t.note(Failed, fmt.Sprintln(args...))
	runtime.Goexit()
}

func (t *recorder) Fatalf(format string, args ...any) {
	t.note(Failed, fmt.Sprintf(format, args...))
	runtime.Goexit()
}

func (t *recorder) Skip(args ...any) {
	t.note(Skipped, fmt.Sprintln(args...))
	runtime.Goexit()
}
