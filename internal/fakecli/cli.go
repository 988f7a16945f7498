// Package fakecli simulates the Claude Code CLI: a Go program that speaks the CLI's protocol, in
// a process of this executable or in memory. The simulated agent and package claudetest use it.
package fakecli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/internal/ndjson"
	"github.com/seed7221b0f9/parley/internal/random"
)

// FakeVersion is the version that a fake CLI reports: that of the CLI that it imitates.
const FakeVersion = "2.1.325"

// CLI is a program's side of the protocol: standard input, output and error of the simulated
// CLI. It reads no input before a method needs it. From the first call of Handshake, Prompt or
// StartRequest it reads all input in the background: [CLI.OnControl] handlers answer control
// requests, responses go to the waiting callers, and prompts are queued.
//
// All methods are safe for concurrent use.
type CLI struct {
	// Builder builds the messages of this session. Its session id comes from the arguments, or
	// is a new one.
	*Builder
	// Info is the answer of Handshake. It may be changed before.
	Info claude.ServerInfo
	// Dir is the working directory that a program in this process was started with; it may be empty.
	Dir string

	args []string
	env  []string
	in   *ndjson.Reader
	err  io.Writer

	writing sync.Mutex // held during one write to out
	out     io.Writer

	pumped     sync.WaitGroup
	initialize chan ControlRequest
	ended      chan struct{} // closed at the end of the input
	interrupts chan struct{}

	mu       sync.Mutex
	changed  sync.Cond // signals new prompts or the end of the input
	pumping  bool
	prompts  []*message.User // not yet taken
	onPrompt func(*message.User)
	current  *message.User // the prompt taken last
	endErr   error         // io.EOF, or the fault in the input
	pending  map[string]*Pending
	handlers map[string]ControlHandler
	requests int
	model    string
	mode     message.PermissionMode
	running  bool // the last reported state
}

func newCLI(args, env []string, in io.Reader, out, stderr io.Writer) *CLI {
	c := &CLI{
		Builder: NewBuilder(), Info: fakeInfo(), args: args, env: env,
		in: ndjson.NewReader(in, 0), out: out, err: stderr,
		initialize: make(chan ControlRequest, 1), ended: make(chan struct{}), interrupts: make(chan struct{}, 1),
		pending: map[string]*Pending{}, handlers: map[string]ControlHandler{},
	}
	c.changed.L = &c.mu
	c.SessionID = c.session()
	c.model, c.mode = c.Model, c.Info.CurrentPermissionMode
	if model, ok := c.Flag("model"); ok {
		c.model = model
	}
	if mode, ok := c.Flag("permission-mode"); ok {
		c.mode = message.PermissionMode(mode)
	}
	return c
}

// session returns the session id of the arguments, or a new one.
func (c *CLI) session() string {
	for _, flag := range []string{"session-id", "resume"} {
		if id, ok := c.Flag(flag); ok && id != "" {
			return id
		}
	}
	return random.UUID()
}

// wait waits until reading has ended.
func (c *CLI) wait() { c.pumped.Wait() }

// Args returns the arguments that the CLI was started with, without the name of the program.
func (c *CLI) Args() []string { return slices.Clone(c.args) }

// Flag returns the value of the flag --name in the arguments, in the form --name=value or --name
// value, and whether the flag is set.
func (c *CLI) Flag(name string) (value string, ok bool) {
	for i, arg := range c.args {
		rest, is := strings.CutPrefix(arg, "--"+name)
		switch {
		case !is:
		case strings.HasPrefix(rest, "="):
			return rest[1:], true
		case rest == "" && i+1 < len(c.args) && !strings.HasPrefix(c.args[i+1], "--"):
			return c.args[i+1], true
		case rest == "":
			return "", true
		}
	}
	return "", false
}

// Env returns the value of a variable of the CLI's environment, or "".
func (c *CLI) Env(name string) string {
	for _, kv := range slices.Backward(c.env) {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

var errPumping = errors.New("claudetest: the input is being read in the background; see CLI")

// ReadLine returns the next line of the input unchanged, or io.EOF after the last. It is for
// programs that do not use Handshake, Prompt or StartRequest, after which it returns an error.
// It is not safe for concurrent use.
func (c *CLI) ReadLine() (json.RawMessage, error) {
	c.mu.Lock()
	pumping := c.pumping
	c.mu.Unlock()
	if pumping {
		return nil, errPumping
	}
	line, err := c.in.Next()
	return json.RawMessage(line.Text), err
}

// Handshake waits for initialize, answers it with Info and returns the request. It returns
// io.EOF if the input ends before it.
func (c *CLI) Handshake() (ControlRequest, error) {
	req, err := c.AwaitInitialize()
	if err != nil {
		return req, err
	}
	c.Respond(req.ID, c.Info, nil)
	return req, nil
}

// AwaitInitialize waits for the initialize request and returns it, like Handshake, but does not
// answer it.
func (c *CLI) AwaitInitialize() (ControlRequest, error) {
	c.pump()
	select {
	case req := <-c.initialize:
		return req, nil
	case <-c.ended:
	}
	select {
	case req := <-c.initialize:
		return req, nil
	default:
		return ControlRequest{}, c.inputError()
	}
}

// Prompt waits for the next prompt and takes it. It returns io.EOF after the end of the input.
// Queued prompts are returned in order.
func (c *CLI) Prompt() (*message.User, error) {
	c.pump()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.prompts) == 0 {
		if c.endErr != nil {
			return nil, c.endErr
		}
		c.changed.Wait()
	}
	c.current = c.prompts[0]
	c.prompts = c.prompts[1:]
	return c.current, nil
}

// OnPrompt passes every prompt to handle, in place of [CLI.Prompt]. A control request that
// follows a prompt is handled when handle has returned.
func (c *CLI) OnPrompt(handle func(*message.User)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onPrompt = handle
}

// Queued returns the prompts that the program has not taken yet, in order.
func (c *CLI) Queued() []*message.User {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.prompts)
}

// InputEnd returns a channel that is closed when the input of the CLI has ended.
func (c *CLI) InputEnd() <-chan struct{} {
	c.pump()
	return c.ended
}

func (c *CLI) inputError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.endErr
}

// pump starts to read the input.
func (c *CLI) pump() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pumping {
		return
	}
	c.pumping = true
	c.pumped.Go(func() {
		for {
			line, err := c.in.Next()
			if err == nil {
				err = c.take(line.Text)
			}
			if err != nil {
				c.endInput(err)
				return
			}
		}
	})
}

// take dispatches one line. Like the real CLI, it fails for a line that is not a message.
func (c *CLI) take(line string) error {
	m, err := message.Decode([]byte(line))
	if err != nil {
		return fmt.Errorf("claudetest: the fake CLI received a line that is not a message: %w", err)
	}
	switch m := m.(type) {
	case *message.User:
		c.prompted(m)
	case *message.ControlRequest:
		c.control(m)
	case *message.ControlResponse:
		c.answered(m)
	}
	return nil
}

// prompted passes a prompt to the function of OnPrompt, or queues it for Prompt.
func (c *CLI) prompted(m *message.User) {
	c.mu.Lock()
	handle := c.onPrompt
	if handle == nil {
		c.prompts = append(c.prompts, m)
		c.changed.Broadcast()
	} else {
		c.current = m
	}
	c.mu.Unlock()
	if handle != nil {
		handle(m)
	}
}

func (c *CLI) endInput(err error) {
	if errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endErr = err
	for _, p := range c.pending {
		p.end(nil, io.ErrUnexpectedEOF)
	}
	c.pending = map[string]*Pending{}
	close(c.ended)
	c.changed.Broadcast()
}

// mustEncode returns compact JSON without escapes for <, > and &, like the CLI.
func mustEncode(v any) json.RawMessage {
	data, err := jsonwire.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("claudetest: %v", err))
	}
	return data
}
