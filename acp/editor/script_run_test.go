package editor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// Runner runs scripts against an agent.
type Runner struct {
	Command []string // the agent's program and its arguments
	Dir     string   // homes and projects are created in it, one subdirectory per run
	Servers string   // the folder of the MCP servers that scripts name
	Sleep   float64  // factor for the durations of the scripts' sleeps
	Env     []string // added to the environment
}

// stepWait is the timeout of each wait in a run.
const stepWait = 90 * time.Second

// Run is a run of a script.
type Run struct {
	runner *Runner
	script recordedScript
	api    *claudetest.FakeAPI
	home   string
	cwd    string
	dir    string
	env    []string

	mu       sync.Mutex
	changed  chan struct{}
	timeline []recordedLine
	mark     int
	saved    map[string]bool // files that the client has written, which are no longer unsaved
	nextID   int
	pending  map[int]chan json.RawMessage
	vars     map[string]json.RawMessage
	asked    int
	elicited int
	held     []heldAnswer

	cmd    *exec.Cmd
	stdin  io.WriteCloser
	exited chan struct{}
	stderr strings.Builder
	answer sync.WaitGroup
}

// heldAnswer is a request of the agent whose answer is held until the script cancels.
type heldAnswer struct {
	id     json.RawMessage
	method string
}

// Result holds the outcome of a run.
type Result struct {
	Timeline []recordedLine
	Requests []claudetest.APIRequest
	Stderr   string
	Dir      string // paths in the timeline begin with it
}

// Run runs a script. The timeline contains the paths of this run.
func (r *Runner) Run(ctx context.Context, name string, script recordedScript) (*Result, error) {
	run, err := r.Prepare(name, script)
	if err != nil {
		return nil, err
	}
	defer run.api.Close()
	err = run.run(ctx)
	return &Result{Timeline: run.timeline, Requests: run.api.Requests(), Stderr: run.stderr.String(), Dir: run.dir}, err
}

// Prepare creates the directories and the API of a run without starting it. A caller that does not
// run it must close it.
func (r *Runner) Prepare(name string, script recordedScript) (*Run, error) {
	dir := filepath.Join(r.Dir, name)
	var apiScript claudetest.Script
	cwd, home := filepath.Join(dir, "project"), filepath.Join(dir, "home")
	if len(script.API) > 0 {
		text := strings.NewReplacer("${cwd}", cwd, "${home}", home, "${dir}", dir).Replace(string(script.API))
		if err := json.Unmarshal([]byte(text), &apiScript); err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
	}
	api, err := claudetest.NewFakeAPI(apiScript)
	if err != nil {
		return nil, err
	}
	env, err := claudetest.HermeticEnv(dir, api.URL())
	if err == nil {
		err = claudetest.IsolateProject(cwd)
	}
	for k, v := range script.Env {
		env = append(env, k+"="+v)
	}
	run := &Run{
		runner: r, script: script, api: api, home: home, cwd: cwd, dir: dir, env: append(env, r.Env...),
		changed: make(chan struct{}), saved: map[string]bool{}, pending: map[int]chan json.RawMessage{}, vars: map[string]json.RawMessage{},
	}
	if err == nil {
		err = run.write(script.Files)
	}
	if err != nil {
		return nil, errors.Join(err, api.Close())
	}
	return run, nil
}

// Command returns a command in the directory and the environment of a run.
func (r *Run) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = r.cwd, r.env
	return cmd
}

// Dir returns the directory of a run, and its working directory.
func (r *Run) Dir() (dir, cwd string) { return r.dir, r.cwd }

// Close ends the API of a run that was not started.
func (r *Run) Close() error { return r.api.Close() }

func (r *Run) write(files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(r.cwd, name)
		if rest, ok := strings.CutPrefix(name, "home:"); ok {
			path = filepath.Join(r.home, rest)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

func (r *Run) run(ctx context.Context) error {
	if err := r.start(); err != nil {
		return err
	}
	var failed error
	for i, step := range r.script.Steps {
		if failed = r.step(ctx, &step); failed != nil {
			failed = fmt.Errorf("step %d (%s %s %s): %w", i, step.Do, step.Method, step.As, failed)
			break
		}
	}
	settle := 700
	if r.script.SettleMS != nil {
		settle = *r.script.SettleMS
	}
	r.pause(ctx, settle)
	return errors.Join(failed, r.stop(ctx))
}

// pause waits for some time.
func (r *Run) pause(ctx context.Context, ms int) {
	timer := time.NewTimer(time.Duration(float64(ms)*r.runner.Sleep) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.exited:
	case <-ctx.Done():
	}
}

// start starts the agent.
func (r *Run) start() error {
	cmd := exec.Command(r.runner.Command[0], r.runner.Command[1:]...)
	cmd.Dir, cmd.Env = r.cwd, r.env
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = &r.stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	r.cmd, r.stdin, r.exited, r.nextID = cmd, stdin, make(chan struct{}), 0
	go r.read(stdout, r.exited)
	return nil
}

// read reads the agent's lines until it has ended.
func (r *Run) read(out io.Reader, exited chan struct{}) {
	defer close(exited)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.received(line)
		}
		if err != nil {
			break
		}
	}
	_ = r.cmd.Wait() // stop checks the exit
	r.add("exit", mustJSON(map[string]any{"code": r.cmd.ProcessState.ExitCode()}))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.pending {
		close(c)
	}
	r.pending = map[int]chan json.RawMessage{}
}

// stop closes the agent's input and waits for its end.
func (r *Run) stop(ctx context.Context) error {
	children := descendants(r.cmd.Process.Pid)
	r.stdin.Close()
	timer := time.NewTimer(stepWait)
	defer timer.Stop()
	select {
	case <-r.exited:
		r.answer.Wait()
		return awaitExits(ctx, children)
	case <-ctx.Done():
	case <-timer.C:
	}
	_ = r.cmd.Process.Kill() // it has not ended by itself
	<-r.exited
	r.answer.Wait()
	return errors.New("the agent did not end when its input was closed")
}

func mustJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of plain values can be encoded
	}
	return text
}

// add adds a line to the timeline.
func (r *Run) add(dir string, msg json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timeline = append(r.timeline, recordedLine{Dir: dir, Msg: msg})
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Run) send(msg any) error {
	text, err := json.Marshal(msg)
	if err != nil {
		return err
	}
	return r.sendLine(text)
}

func (r *Run) sendLine(text []byte) error {
	msg := json.RawMessage(text)
	if !json.Valid(text) {
		msg = mustJSON(map[string]string{"raw": string(text)})
	}
	r.add("client", msg)
	_, err := r.stdin.Write(append(append([]byte(nil), text...), '\n'))
	return err
}

var variable = regexp.MustCompile(`\$\{([^}]+)\}`)

// value returns the value of a script variable as JSON.
func (r *Run) value(name string) (json.RawMessage, error) {
	node, _ := exec.LookPath("node")
	own := map[string]string{"cwd": r.cwd, "home": r.home, "dir": r.dir, "api": r.api.URL(), "servers": r.runner.Servers, "node": node}
	if v, ok := own[name]; ok {
		return mustJSON(v), nil
	}
	parts := strings.Split(name, ".")
	r.mu.Lock()
	v := r.vars[parts[0]]
	r.mu.Unlock()
	for _, p := range parts[1:] {
		var o map[string]json.RawMessage
		if err := json.Unmarshal(v, &o); err != nil || o[p] == nil {
			return nil, fmt.Errorf("there is no %s", name)
		}
		v = o[p]
	}
	if v == nil {
		return nil, fmt.Errorf("there is no %s", name)
	}
	return v, nil
}

// fill replaces variables in a value.
func (r *Run) fill(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return r.fillText(v)
	case []any:
		for i := range v {
			e, err := r.fill(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = e
		}
	case map[string]any:
		for k := range maps.Clone(v) {
			e, err := r.fill(v[k])
			if err != nil {
				return nil, err
			}
			v[k] = e
		}
	}
	return v, nil
}

func (r *Run) fillText(s string) (any, error) {
	if m := variable.FindStringSubmatch(s); m != nil && m[0] == s {
		raw, err := r.value(m[1])
		if err != nil {
			return nil, err
		}
		var v any
		err = json.Unmarshal(raw, &v)
		return v, err
	}
	var failed error
	text := variable.ReplaceAllStringFunc(s, func(m string) string {
		raw, err := r.value(m[2 : len(m)-1])
		var str string
		if err != nil || json.Unmarshal(raw, &str) != nil {
			failed = errors.Join(failed, err)
			return string(raw)
		}
		return str
	})
	return text, failed
}
