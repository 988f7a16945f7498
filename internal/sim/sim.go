// Package sim is an agent without a model: a program that speaks the CLI's side of the
// protocol and demonstrates an agent to users without a CLI. It needs no network, is free, and
// uses only a temporary directory that it removes when it ends, or, where it can ask, new files in
// the directory in which it was started.
package sim

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/fakecli"
)

const (
	// Name is the registered name of the program.
	Name = "sim"
	// Model is the model name that the agent reports.
	Model = "simulated"
	// PaceVariable is the environment variable with the milliseconds between two pieces of
	// text; 0 means no delay.
	PaceVariable = "PARLEY_SIM_PACE"
	// ProjectVariable is the environment variable that lets tours change files of the user's directory, after permission; it is 1.
	ProjectVariable = "PARLEY_SIM_PROJECT"
)

const defaultPace = 25 * time.Millisecond

// Disclosure is a one-line notice that this agent is simulated.
const Disclosure = "This is Parley's built-in simulated agent: no model is asked and nothing is charged."

// Mark precedes an answer in output without other notices.
const Mark = "[simulated agent: no model was asked]"

// agent is one session.
type agent struct {
	cli     *fakecli.CLI
	pace    time.Duration
	own     string // a directory that it removes when it ends
	dir     string // the directory of its tools: the user's, or its own
	partial bool

	mu      sync.Mutex
	changed sync.Cond
	queue   []*message.User
	ended   bool // no more prompts
	busy    bool // a turn is running, or the state was reported as running
	stop    context.CancelFunc
	model   string
	mode    message.PermissionMode
	asked   bool              // permission was granted once
	files   map[string]string // the paths of the files of tours, by name

	turns   int64
	answers int
	total   message.ModelUsage
}

// Program runs the agent and returns its exit code.
func Program(cli *fakecli.CLI) int {
	dir, err := os.MkdirTemp("", "parley-sim-")
	if err != nil {
		cli.Stderr("the simulated agent has no directory to work in: %v\n", err)
		return 1
	}
	defer os.RemoveAll(dir)
	a := &agent{cli: cli, pace: defaultPace, own: dir, dir: dir, model: Model, mode: message.ModeDefault, files: map[string]string{}}
	a.changed.L = &a.mu
	if ms, err := strconv.Atoi(cli.Env(PaceVariable)); err == nil && ms >= 0 {
		a.pace = time.Duration(ms) * time.Millisecond
	}
	_, a.partial = cli.Flag("include-partial-messages")
	if mode, ok := cli.Flag("permission-mode"); ok {
		a.mode = message.PermissionMode(mode)
	}
	a.settle()
	cli.CWD, cli.Model = a.dir, Model
	cli.Info = a.info()
	a.control()
	cli.OnPrompt(a.take)
	if _, err := cli.Handshake(); err != nil {
		return 0 // no prompt can arrive
	}
	var work sync.WaitGroup
	work.Go(a.end)
	defer work.Wait()
	for {
		p := a.next()
		if p == nil {
			return 0
		}
		a.turn(p)
	}
}

// settle selects the directory of the tools: the user's if that is wanted and a user can be asked before it is changed.
func (a *agent) settle() {
	if prompts, _ := a.cli.Flag("permission-prompt-tool"); a.cli.Env(ProjectVariable) == "1" && a.cli.Dir != "" && prompts == "stdio" {
		a.dir = a.cli.Dir
	}
}

func (a *agent) info() claude.ServerInfo {
	info := a.cli.Info
	info.Commands = nil
	for _, c := range commands {
		info.Commands = append(info.Commands, message.SlashCommand{Name: c.name, Description: c.about, Builtin: true})
	}
	info.Models = []claude.ModelInfo{{Value: "default", ResolvedModel: Model, DisplayName: "Simulated", Description: "No model: canned tours"}}
	info.Agents = []claude.AgentInfo{}
	info.Account = claude.AccountInfo{TokenSource: "none", APIKeySource: "none"}
	info.CurrentPermissionMode = a.mode
	return info
}

// take handles a prompt when it arrives: a busy agent queues it and reports that.
func (a *agent) take(p *message.User) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue = append(a.queue, p)
	if !a.busy {
		a.busy = true
		a.tell(message.StateRunning)
	}
	a.lifecycle(p.UUID, message.CommandQueued)
	a.changed.Broadcast()
}

// end waits for the end of the input.
func (a *agent) end() {
	<-a.cli.InputEnd()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.changed.Broadcast()
}

// next waits for a prompt. It returns nil at the end of the input.
func (a *agent) next() *message.User {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) == 0 {
		if a.ended {
			return nil
		}
		a.changed.Wait()
	}
	p := a.queue[0]
	a.queue = a.queue[1:]
	return p
}

func (a *agent) tell(s message.SessionState) {
	if a.cli.Env("CLAUDE_CODE_SDK_READS_SESSION_STATE") == "1" {
		a.cli.Emit(a.cli.State(s))
	}
}

func (a *agent) lifecycle(uuid string, s message.CommandState) {
	if uuid != "" {
		a.cli.Emit(a.cli.Lifecycle(uuid, s))
	}
}

// control answers the control requests.
func (a *agent) control() {
	a.cli.OnControl("interrupt", func(fakecli.ControlRequest) (any, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.stop != nil {
			a.stop()
		}
		queued := []string{}
		for _, p := range a.queue {
			queued = append(queued, p.UUID)
		}
		return map[string]any{"still_queued": queued}, nil
	})
	a.cli.OnControl("cancel_async_message", a.cancel)
	a.cli.OnControl("set_model", func(req fakecli.ControlRequest) (any, error) {
		var fields struct{ Model string }
		_ = req.Request.Decode(&fields)
		a.mu.Lock()
		defer a.mu.Unlock()
		// The name always shows that this agent is simulated.
		if a.model = Model; fields.Model != "" && fields.Model != "default" && fields.Model != Model {
			a.model = Model + "-" + fields.Model
		}
		return map[string]any{"model": a.model}, nil
	})
	a.cli.OnControl("set_permission_mode", func(req fakecli.ControlRequest) (any, error) {
		var fields struct{ Mode message.PermissionMode }
		_ = req.Request.Decode(&fields)
		if !slices.Contains(modes, fields.Mode) {
			return nil, errors.New("unknown permission mode " + strconv.Quote(string(fields.Mode)))
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.mode = fields.Mode
		return map[string]any{"mode": a.mode}, nil
	})
	a.cli.OnControl("get_context_usage", func(fakecli.ControlRequest) (any, error) { return a.context(), nil })
}

var modes = []message.PermissionMode{"default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"}

// cancel removes a queued prompt.
func (a *agent) cancel(req fakecli.ControlRequest) (any, error) {
	var fields struct {
		UUID string `json:"message_uuid"`
	}
	_ = req.Request.Decode(&fields)
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.queue, func(p *message.User) bool { return p.UUID != "" && p.UUID == fields.UUID })
	if i < 0 {
		return map[string]any{"cancelled": false}, nil
	}
	a.queue = slices.Delete(a.queue, i, i+1)
	a.lifecycle(fields.UUID, message.CommandCancelled)
	return map[string]any{"cancelled": true}, nil
}

const window = 200_000 // the claimed size of the context window in tokens

// context returns the content of the context window in the CLI's form.
func (a *agent) context() map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	used := a.total.InputTokens + a.total.OutputTokens
	return map[string]any{
		"categories": []map[string]any{
			{"id": "messages", "name": "Messages", "tokens": used, "color": "inactive", "kind": "used"},
			{"id": "free_space", "name": "Free space", "tokens": window - used, "color": "promptBorder", "kind": "free"},
		},
		"totalTokens": used, "maxTokens": window, "rawMaxTokens": window, "percentage": used * 100 / window,
		"model": a.model, "gridRows": []any{}, "memoryFiles": []any{}, "mcpTools": []any{}, "agents": []any{},
	}
}
