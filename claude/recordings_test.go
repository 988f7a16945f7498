package claude_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/spawn"
)

// recordedHome is the home directory in the recordings.
const recordedHome = "/home" + "/dev"

// TestRecordings plays every recorded CLI to this SDK, repeats the actions of the
// official SDK's caller, and compares the results with the recording: messages, end,
// arguments, environment, input, and the outcomes of control requests. Rules list the
// allowed differences.
func TestRecordings(t *testing.T) {
	hermeticProcess(t)
	rules := newRuleBook()
	names := scenarios(t)
	for i := 0; i < len(names); i += short.Every(3) {
		name := names[i]
		t.Run(name, func(t *testing.T) {
			rec, err := readRecording(filepath.Join(corpus(t), name), nil)
			if err != nil {
				t.Fatal(err)
			}
			decodeAll(t, name)
			if err := checkOutput(rec); err != nil {
				t.Error(err)
			}
			if rec.Caller != nil {
				replay(t, rec, rules)
			}
		})
	}
	rules.checkUsed(t)
}

// hermeticProcess sets the environment of this process to that of the recordings, except
// for the variables that locate them.
func hermeticProcess(t *testing.T) {
	tmp := os.TempDir()
	for _, kv := range os.Environ() {
		k, _, _ := strings.Cut(kv, "=")
		if k == "PARLEY_WIRE_CORPUS" {
			continue
		}
		t.Setenv(k, "") // restores it after the test
		os.Unsetenv(k)
	}
	for k, v := range map[string]string{
		"HOME": recordedHome, "CLAUDE_CONFIG_DIR": recordedHome + "/.claude", "PATH": "/usr/bin:/bin", "TMPDIR": tmp,
		"TZ": "UTC", "LANG": "C.UTF-8", "ANTHROPIC_API_KEY": "sk-ant-fake-key", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
	} {
		t.Setenv(k, v)
	}
}

// decodeAll decodes every line of the CLI's output.
func decodeAll(t *testing.T, name string) {
	t.Helper()
	for _, line := range stdoutLines(t, name) {
		if _, err := message.Decode([]byte(line)); err != nil && strings.HasPrefix(line, "{") {
			t.Error(err)
		}
	}
}

// replay repeats the calls of a recording, one after the other.
func replay(t *testing.T, rec *recording, rules *ruleBook) {
	store := newMemoryStore(rec.Caller.Store)
	records, calls := rec.Records(), rec.CallOutcomes()
	for i := range rec.Caller.Calls {
		call := &rec.Caller.Calls[i]
		c := &comparison{t: t, rec: rec, call: call, n: i + 1, want: records[i], calls: calls, rules: rules, store: store}
		c.run()
	}
	compareStore(t, rec, store)
	compareAfter(t, rec, calls, rules)
}

// comparison is one repeated call, compared with the recording.
type comparison struct {
	t     *testing.T
	rec   *recording
	call  *recordedCall
	n     int
	want  callRecords
	calls map[string][]sdkRecord
	rules *ruleBook
	store *memoryStore

	proc    *tape.Process // nil: no process was started
	player  *tape.Player
	opts    *claude.Options
	answers *callAnswers
	got     *callRun
	stderr  []string
}

func (c *comparison) errorf(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("call %d: "+format, append([]any{c.n}, args...)...)
}

// allowed reports whether a rule allows this difference.
func (c *comparison) allowed(rule string) bool { return c.rules.allowed(rule, c) }

func (c *comparison) run() {
	var methods []string
	if c.rec.Caller.Store != nil {
		methods = c.rec.Caller.Store.Methods
	}
	c.answers = newCallAnswers(c.call)
	opts, err := c.call.ClaudeOptions(callSetup{
		Store:   c.store.With(methods...),
		Stderr:  func(line string) { c.stderr = append(c.stderr, line) },
		Answers: c.answers,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	c.opts = opts
	if c.call.Spawn == nil {
		c.runUnspawned()
		return
	}
	c.proc = c.rec.Processes[*c.call.Spawn]
	synctest.Test(c.t, func(t *testing.T) {
		c.player = tape.NewPlayer(c.proc, c.call.Hints())
		c.opts.Spawner = c.player
		// In the bubble this fires as soon as all goroutines are blocked.
		ctx, cancel := context.WithTimeoutCause(t.Context(), 24*time.Hour, errStuck)
		defer cancel()
		c.got = c.call.Run(ctx, c.opts, c.answers)
	})
	c.compare()
}

var errStuck = errors.New("nothing moves any more")

// runUnspawned makes a call that starts no process: because its options are invalid, or
// because there is no program.
func (c *comparison) runUnspawned() {
	class := ""
	if c.want.End != nil && c.want.End.Error != nil {
		class = c.want.End.Error.ErrorClass
	}
	if class == "" {
		c.opts.Spawner = spawn.Func(func(context.Context, spawn.Command) (spawn.Process, error) {
			c.errorf("something was started")
			return nil, errors.New("nothing is to be started")
		})
	} else if c.opts.CLIPath == "" {
		c.opts.CLIPath = anyProgram(c.t)
	}
	if strings.HasPrefix(c.opts.Dir, recordedHome) {
		c.opts.Dir = c.t.TempDir()
	}
	c.opts.CLIPath = c.laidOut(c.opts.CLIPath)
	c.got = c.call.Run(c.t.Context(), c.opts, c.answers)
	c.compareMessages()
	c.compareEnd()
}

// anyProgram returns the path of an existing program.
func anyProgram(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// laidOut returns the path of a file of the recording. It creates a missing one without
// execute permission.
func (c *comparison) laidOut(path string) string {
	rel, ok := strings.CutPrefix(path, recordedHome+"/")
	if !ok {
		return path
	}
	path = filepath.Join(c.rec.Dir, "files", filepath.FromSlash(rel))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path = filepath.Join(c.t.TempDir(), filepath.Base(rel))
	if err := os.WriteFile(path, []byte("not a program\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

func (c *comparison) compare() {
	if c.player.Command() == nil {
		switch {
		case c.allowed("nothing started: aborted before"):
			c.compareEnd()
		case c.got.Err != nil && c.allowed("nothing started: Continue with Resume"):
			return // the CLI's result has the same text as the error
		case c.got.Err == nil || !c.allowed("nothing started: refused session id"):
			c.errorf("nothing was started: %v", c.got.Err)
		}
		c.compareMessages()
		return
	}
	c.compareMessages()
	c.compareEnd()
	c.compareArgs()
	c.compareEnv()
	c.compareInput()
	c.compareCalls()
	for _, i := range c.got.NotDone {
		if c.call.Steps[i].Do != "control" { // control steps have an outcome
			c.errorf("step %d, %s, was not done", i+1, c.call.Steps[i].Do)
		}
	}
	for _, what := range c.answers.Unexpected() {
		c.errorf("a callback that the recording does not have: %s", what)
	}
	if _, ok := c.call.Options["stderr"]; ok {
		c.compareStderr()
	}
}

// compareStderr compares the text passed to the callback; its calls need not be lines.
func (c *comparison) compareStderr() {
	var want []string
	for line := range strings.Lines(c.proc.Stderr) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			want = append(want, line)
		}
	}
	if !slices.Equal(want, c.stderr) {
		c.errorf("stderr: got %q, want %q", c.stderr, want)
	}
}
