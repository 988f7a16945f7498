package claude_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/tape"
	"github.com/seed7221b0f9/parley/spawn"
)

// liveCall repeats one call of a recording with the real CLI.
type liveCall struct {
	*live
	call  *recordedCall
	n     int
	want  callRecords
	calls map[string][]sdkRecord
	proc  *tape.Process

	got  *callRun
	seen observer
}

func (c *liveCall) errorf(format string, args ...any) {
	c.t.Helper()
	c.t.Errorf("call %d: "+format, append([]any{c.n}, args...)...)
}

func (c *liveCall) run() {
	var methods []string
	if s := c.rec.Caller.Store; s != nil {
		methods = s.Methods
	}
	answers := newCallAnswers(c.call)
	answers.FailOpen = true // as in the recording; our behavior has separate tests
	opts, err := c.call.ClaudeOptions(callSetup{
		Environ: c.env, Store: c.store.With(methods...), Stderr: func(string) {}, Answers: answers,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	opts.Logger = slog.New(slog.DiscardHandler)
	if opts.CLIPath == "" {
		opts.CLIPath = c.cli
	}
	c.seen.killed = c.rec.Caller.Killed
	opts.Spawner = &c.seen
	ctx, cancel := context.WithTimeout(c.t.Context(), liveLimit)
	defer cancel()
	c.got = c.call.Run(ctx, opts, answers)
	if ctx.Err() != nil {
		c.errorf("not over after %v", liveLimit)
	}
	for _, what := range answers.Unexpected() {
		c.errorf("a callback that the recording does not have: %s", what)
	}
}

// observer starts the CLI, records how it exits, and can kill it.
type observer struct {
	killed *recordedKill

	mu     sync.Mutex
	status *spawn.ExitStatus
}

func (o *observer) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	p, err := claude.LocalSpawner.Spawn(ctx, cmd)
	if err != nil {
		return nil, err
	}
	if o.killed == nil {
		return &observed{Process: p, o: o}, nil
	}
	return &killing{observed: observed{Process: p, o: o}, on: o.killed.On}, nil
}

func (o *observer) exit() *spawn.ExitStatus {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.status
}

type observed struct {
	spawn.Process
	o *observer
}

func (p *observed) Wait() (spawn.ExitStatus, error) {
	status, err := p.Process.Wait()
	p.o.mu.Lock()
	p.o.status = &status
	p.o.mu.Unlock()
	return status, err
}

// killing is a process that is killed when it writes a certain line.
type killing struct {
	observed
	on string
}

func (p *killing) Stdout() io.ReadCloser {
	src := p.Process.Stdout()
	r, w := io.Pipe()
	go func() {
		in := bufio.NewReader(src)
		for {
			line, err := in.ReadString('\n')
			if strings.Contains(line, p.on) {
				if proc, err := os.FindProcess(p.PID()); err == nil {
					_ = proc.Signal(syscall.SIGKILL)
				}
			}
			if _, werr := io.WriteString(w, line); err != nil || werr != nil {
				w.CloseWithError(err)
				src.Close()
				return
			}
		}
	}()
	return r
}

func (c *liveCall) compare() {
	c.t.Helper()
	if c.seen.exit() == nil {
		if c.got.Err == nil {
			c.errorf("nothing was started, and there is no error")
		}
		return // the replay of the recording checks that
	}
	c.compareMessages()
	c.compareEnd()
	c.compareExit()
	c.compareCalls()
	c.compareStore()
	for _, i := range c.got.NotDone {
		c.errorf("step %d, %s, was not done", i+1, c.call.Steps[i].Do)
	}
}

// given returns the ids that the caller chose, except for those taken from the run.
func (l *live) given() []string {
	text, err := os.ReadFile(filepath.Join(l.rec.Dir, "caller.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // there was no SDK
	}
	if err != nil {
		l.t.Fatal(err)
	}
	var recorded recordedCaller
	if err := json.Unmarshal(text, &recorded); err != nil {
		l.t.Fatal(err)
	}
	taken := map[string]bool{}
	for i, call := range recorded.Calls {
		for option := range recorded.IDs.Of(recorded.Calls, i) {
			taken[strings.Trim(string(call.Options[option]), `"`)] = true
		}
	}
	return slices.DeleteFunc(uuidText.FindAllString(string(text), -1), func(id string) bool { return taken[id] })
}

func (c *liveCall) compareMessages() {
	c.t.Helper()
	given := c.given()
	var raw []json.RawMessage
	for _, m := range c.got.Messages {
		raw = append(raw, json.RawMessage(c.toRecorded(string(m.Raw()))))
	}
	if (c.got.Via == viaConnect || c.got.Via == viaPrewarm) && !answersInitialize(c.proc) && len(raw) == 0 {
		return // the refusal is the error of Connect
	}
	want, got := sequence(c.want.Messages, given), sequence(raw, given)
	if c.got.Via == viaConnect {
		want, got = withoutPromptIDs(want, given), withoutPromptIDs(got, given)
	}
	c.compareSequences("messages", want, got)
}

// compareSequences compares sequences as far as their order is fixed.
func (l *live) compareSequences(what string, want, got []any) {
	l.t.Helper()
	l.looser(want, got, func(want, got []any) string {
		if len(want) == len(got) {
			got = alignFiller(any(want), any(got)).([]any)
		}
		return cmp.Diff(want, got)
	}, what)
}

// sequence returns normalised lines.
func sequence(lines []json.RawMessage, keep []string) []any {
	n := &normalizer{Keep: keep}
	for _, line := range lines {
		n.Learn(line)
	}
	var out []any
	for _, line := range lines {
		out = append(out, n.Line(line))
	}
	return out
}

func (c *liveCall) compareEnd() {
	c.t.Helper()
	end := c.want.End
	switch {
	case c.got.Left || end == nil:
	case end.Kind == "end":
		if c.got.Err != nil {
			c.errorf("ended with %v, the official SDK without an error", c.got.Err)
		}
	case c.got.Err == nil:
		c.errorf("ended without an error, the official SDK with %s", end.Error.Message)
	case !sameClass(end.Error, c.got.Err):
		c.errorf("ended with %T %v, want class %q: %s", c.got.Err, c.got.Err, end.Error.ErrorClass, end.Error.Message)
	}
}

// sameClass compares the kind of an error, and the numbers in it.
func sameClass(want *sdkError, got error) bool {
	exit, exited := errors.AsType[*claude.ExitError](got)
	switch want.ErrorClass {
	case "error_result":
		_, ok := errors.AsType[*message.ResultError](got)
		return ok
	case "process_exited_nonzero":
		return exited && want.ExitCode != nil && exit.Code == *want.ExitCode
	case "process_killed_by_signal":
		return exited && exit.Signal == want.Signal
	case "aborted":
		return errors.Is(got, errAborted)
	case "control_request_failed":
		ce, ok := errors.AsType[*claude.ControlError](got)
		return ok && ce.Code == want.ErrorCode
	}
	return true
}

func (c *liveCall) compareExit() {
	c.t.Helper()
	got, want := c.seen.exit(), c.proc.Exit
	if want.Code == 143 && slices.ContainsFunc(c.call.Steps, endsEarly) && got.Code == 1 {
		return // it was interrupted first, exits by itself, and reports its turn in the exit code
	}
	if got.Code != want.Code || (got.Signal != "") != (want.Signal != nil) {
		c.errorf("exit %v, recorded %+v", got, want)
	}
}

func (c *liveCall) compareCalls() {
	c.t.Helper()
	given := c.given()
	for _, got := range c.got.Calls {
		label := got.Step.Label
		if len(c.calls[label]) == 0 {
			c.errorf("the recording has no outcome of %s", label)
			continue
		}
		want := c.calls[label][0]
		c.calls[label] = c.calls[label][1:]
		result := got.Result
		if got.Step.Accessor == "" {
			result = officialResult(got.Step.Request, result)
		}
		switch {
		case want.Error != nil && (got.Err == nil || !sameClass(want.Error, got.Err)):
			c.errorf("%s: %v, want %s", label, got.Err, want.Error.Message)
		case want.Error != nil:
		case got.Err != nil && string(want.Result) != "null":
			c.errorf("%s: %v", label, got.Err)
		case want.Result != nil && got.Err == nil:
			c.compareSequences(label, sequence([]json.RawMessage{want.Result}, given),
				sequence([]json.RawMessage{json.RawMessage(c.toRecorded(string(result)))}, given))
		}
	}
}

// compareStore compares the entries sent to the session store after the last call, since
// the recording has them for all calls together: entries of the conversation one by one
// and in order, others by their kinds.
func (c *liveCall) compareStore() {
	c.t.Helper()
	if c.rec.Caller.Store == nil || c.n != len(c.rec.Caller.Calls) {
		return
	}
	var want, got storeLog
	for _, r := range c.rec.SDK {
		want.failed = want.failed || r.Kind == "store_append_fail"
		for _, e := range r.Entries {
			want.add(e)
		}
	}
	for _, a := range c.store.Appends() {
		got.failed = got.failed || a.Failed
		for _, e := range a.Entries {
			if !a.Failed {
				got.add(jsonValue([]byte(c.toRecorded(string(e)))))
			}
		}
	}
	if diff := cmp.Diff(sorted(named(want.kinds)), sorted(named(got.kinds))); diff != "" {
		c.errorf("store (-recorded +live):\n%s", diff)
	}
	given := c.given()
	c.compareSequences("store", sequence(want.said, given), sequence(got.said, given))
	if want.failed != got.failed {
		c.errorf("the store failed on one side only")
	}
}

// storeLog records the entries that were sent to a session store.
type storeLog struct {
	kinds  []any
	said   []json.RawMessage // the entries of the conversation
	failed bool
}

func (s *storeLog) add(entry any) {
	s.kinds = append(s.kinds, entryKind(entry))
	e, _ := entry.(map[string]any)
	if e["type"] != "user" && e["type"] != "assistant" && e["type"] != "system" {
		return
	}
	e = maps.Clone(e)
	delete(e, "entrypoint") // the name of the SDK
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(err.Error()) // it was JSON
	}
	s.said = append(s.said, text)
}

// named removes the empty kinds.
func named(kinds []any) []any {
	return slices.DeleteFunc(kinds, func(k any) bool { return k == "" })
}
