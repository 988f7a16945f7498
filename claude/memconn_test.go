package claude_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
)

// memCLI is an in-memory CLI that is also its Transport and its only Conn. The test
// controls its output, its end, and its reaction to input.
type memCLI struct {
	t *testing.T

	// onLine handles a line that was written to the CLI; nil answers initialize and
	// interrupt.
	onLine func(line string)
	// onEOF handles the end of the input; nil makes the CLI exit with success.
	onEOF func()
	// onClose runs when the connection is closed.
	onClose func()
	// exit is the result of Read after the last line once the CLI was closed.
	exit error

	mu       sync.Mutex
	changed  sync.Cond
	out      []string // not yet read
	end      error    // the result of Read after the lines; nil while the CLI runs
	in       []string
	reads    int
	connects int
	closes   int
	eof      bool
	writing  chan struct{} // Write waits for it unless nil
}

func newCLI(t *testing.T) *memCLI {
	c := &memCLI{t: t, exit: io.EOF}
	c.changed.L = &c.mu
	return c
}

// options returns options that connect to the CLI.
func (c *memCLI) options() *claude.Options {
	return &claude.Options{Transport: c, Logger: slog.New(slog.DiscardHandler)}
}

// Connect returns the connection, once.
func (c *memCLI) Connect(context.Context) (claude.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connects++
	return c, nil
}

func (c *memCLI) Read(context.Context) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.out) == 0 {
		if c.end != nil {
			return nil, c.end
		}
		c.changed.Wait()
	}
	line := c.out[0]
	c.out = c.out[1:]
	c.reads++
	return json.RawMessage(line), nil
}

func (c *memCLI) Write(ctx context.Context, line json.RawMessage) error {
	c.mu.Lock()
	writing := c.writing
	c.mu.Unlock()
	if writing != nil {
		select {
		case <-writing:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	if c.end != nil || c.eof {
		c.mu.Unlock()
		return fmt.Errorf("write: %w", syscall.EPIPE)
	}
	c.in = append(c.in, string(line))
	c.mu.Unlock()
	if c.onLine != nil {
		c.onLine(string(line))
	} else {
		c.answerInitialize(string(line))
		if l := parse(string(line)); l.Request.Subtype == "interrupt" {
			c.say(answer(l.RequestID, `{}`))
		}
	}
	return nil
}

func (c *memCLI) CloseWrite() error {
	c.mu.Lock()
	first := !c.eof
	c.eof = true
	c.mu.Unlock()
	switch {
	case !first:
	case c.onEOF != nil:
		c.onEOF()
	default:
		c.die(io.EOF)
	}
	return nil
}

func (c *memCLI) Close() error {
	if c.onClose != nil {
		c.onClose()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closes++
	c.eof = true
	if c.end == nil {
		c.end = c.exit
	}
	if c.writing != nil {
		close(c.writing)
		c.writing = nil
	}
	c.changed.Broadcast()
	return nil
}

// say makes the CLI write lines.
func (c *memCLI) say(lines ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = append(c.out, lines...)
	c.changed.Broadcast()
}

// die ends the CLI after its queued output.
func (c *memCLI) die(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		c.end = err
	}
	c.changed.Broadcast()
}

// stuck makes Write block until the CLI is closed.
func (c *memCLI) stuck() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = make(chan struct{})
}

// lives is an onEOF that keeps the CLI running.
func lives() {}

// read waits until all goroutines are blocked and returns the lines that the CLI has
// read.
func (c *memCLI) read() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.in)
}

// inputClosed waits until all goroutines are blocked and reports whether the input has
// ended.
func (c *memCLI) inputClosed() bool {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.eof
}

func (c *memCLI) counts() (reads, connects, closes int) {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reads, c.connects, c.closes
}

// wireLine holds the members of an input line that the tests check.
type wireLine struct {
	Type      string `json:"type"`
	RequestID string `json:"request_id"`
	UUID      string `json:"uuid"`
	Request   struct {
		Subtype     string `json:"subtype"`
		MessageUUID string `json:"message_uuid"`
	} `json:"request"`
}

func parse(line string) (l wireLine) {
	if err := json.Unmarshal([]byte(line), &l); err != nil {
		panic(err)
	}
	return l
}

// kinds returns the kinds of the lines that the CLI has read: "user", "initialize",
// "control_cancel_request" …
func (c *memCLI) kinds() (kinds []string) {
	for _, line := range c.read() {
		l := parse(line)
		if l.Type == "control_request" {
			l.Type = l.Request.Subtype
		}
		kinds = append(kinds, l.Type)
	}
	return kinds
}

func (c *memCLI) answerInitialize(line string) bool {
	l := parse(line)
	if l.Request.Subtype != "initialize" {
		return false
	}
	c.say(answer(l.RequestID, `{"commands":[{"name":"old","description":"","argumentHint":""}],"claude_code_version":"2.1.325","pid":7}`))
	return true
}

// answers makes the CLI answer control requests with these bodies, by subtype.
func (c *memCLI) answers(bodies map[string]string) {
	c.onLine = func(line string) {
		if c.answerInitialize(line) {
			return
		}
		l := parse(line)
		if body, ok := bodies[l.Request.Subtype]; ok {
			c.say(answer(l.RequestID, body))
		}
	}
}

// connect connects a client to the CLI; the test's end closes it.
func (c *memCLI) connect(opts *claude.Options) *claude.Client {
	c.t.Helper()
	client, err := claude.Connect(c.t.Context(), opts)
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}

// withClient runs a test with a client of a CLI, in a bubble.
func withClient(t *testing.T, f func(t *testing.T, cli *memCLI, client *claude.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		client := cli.connect(cli.options())
		defer client.Close()
		f(t, cli, client)
	})
}

// send sends a prompt.
func send(t *testing.T, c *claude.Client, text string) *claude.Turn {
	t.Helper()
	turn, err := c.Send(t.Context(), claude.Text(text))
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

// stream collects the elements of an iterator in the background.
type stream struct {
	mu   sync.Mutex
	got  []string
	err  error
	done bool
}

// collect ranges over seq in the background.
func collect(seq iter.Seq2[message.Message, error]) *stream {
	s := &stream{}
	go func() {
		for m, err := range seq {
			s.mu.Lock()
			if err != nil {
				s.err = err
			} else {
				s.got = append(s.got, label(m))
			}
			s.mu.Unlock()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done = true
	}()
	return s
}

// want waits until all goroutines are blocked and checks the received messages.
func (s *stream) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, w := strings.Join(s.got, " "), strings.Join(want, " "); g != w {
		t.Fatalf("got  %s\nwant %s (error %v)", g, w, s.err)
	}
}

// ended checks that the iterator has ended and returns its error.
func (s *stream) ended(t *testing.T) error {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.done {
		t.Fatalf("the iterator has not ended; it gave %v", s.got)
	}
	return s.err
}

// running checks that the iterator has not ended.
func (s *stream) running(t *testing.T) {
	t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done {
		t.Fatalf("the iterator has ended with %v; it gave %v", s.err, s.got)
	}
}

// label names a message by its kind and its text.
func label(m message.Message) string {
	switch m := m.(type) {
	case *message.Result:
		return "result:" + m.Text()
	case *message.Assistant:
		for _, b := range m.Message.Content {
			if b, ok := b.(*message.Text); ok {
				return "assistant:" + b.Text
			}
		}
	case *message.CommandLifecycle:
		return "lifecycle:" + string(m.State)
	}
	return message.Kind(m)
}

const session = `"session_id":"335709b6-5234-418b-a7fc-c538f4dec9a8"`

func answer(id, body string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, id, body)
}

func refusal(id, rest string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"error","request_id":%q,%s}}`, id, rest)
}

func state(s string) string {
	return fmt.Sprintf(`{"type":"system","subtype":"session_state_changed","state":%q,"sdk_host_only":true,%s}`, s, session)
}

// uuids returns the members that name the prompts of a turn.
func uuids(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	list, err := json.Marshal(ids)
	if err != nil {
		panic(err)
	}
	return `,"user_message_uuids":` + string(list)
}

func initLine(ids ...string) string {
	return `{"type":"system","subtype":"init","cwd":"/home/dev/project","tools":["Bash"],"model":"claude-opus-5-5",` + session + uuids(ids) + `}`
}

func assistant(text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_0001","type":"message","role":"assistant","model":"claude-opus-5-5",`+
		`"content":[{"type":"text","text":%q}],"stop_reason":null},"parent_tool_use_id":null,%s}`, text, session)
}

func resultLine(text, rest string, ids ...string) string {
	first := ""
	if len(ids) > 0 {
		first = fmt.Sprintf(`,"user_message_uuid":%q`, ids[0])
	}
	return fmt.Sprintf(`{"duration_api_ms":487,"num_turns":1,"result":%q,"type":"result","subtype":"success",%s%s%s%s}`,
		text, session, first, uuids(ids), rest)
}

func good(text string, ids ...string) string { return resultLine(text, `,"is_error":false`, ids...) }

func bad(text string, ids ...string) string { return resultLine(text, `,"is_error":true`, ids...) }

// ownResult returns the result of a turn that the CLI began by itself.
func ownResult(text string) string {
	return resultLine(text, `,"is_error":false,"origin":{"kind":"task-notification","producer":"session-task","runId":"0mwh72ot2-75aac250"}`)
}

func lifecycle(uuid, state string) string {
	return fmt.Sprintf(`{"type":"command_lifecycle","command_uuid":%q,"state":%q,%s}`, uuid, state, session)
}

func tasks(ids ...string) string {
	list := []string{}
	for _, id := range ids {
		list = append(list, fmt.Sprintf(`{"task_id":%q,"task_type":"local_bash","description":"run it"}`, id))
	}
	return fmt.Sprintf(`{"type":"system","subtype":"background_tasks_changed","tasks":[%s],%s}`, strings.Join(list, ","), session)
}

// turnLines returns the lines of a turn for one prompt, in the form of current CLIs.
func turnLines(uuid, text string) []string {
	return []string{lifecycle(uuid, "started"), initLine(uuid), assistant(text), good(text, uuid), lifecycle(uuid, "completed")}
}

// givenAnswer is the answer that the CLI received for a request: the body, or an error.
type givenAnswer struct {
	body json.RawMessage
	err  string
}

// given returns the answers that the CLI has read, by request.
func (c *memCLI) given() map[string]givenAnswer {
	c.t.Helper()
	answers := map[string]givenAnswer{}
	for _, line := range c.read() {
		var l struct {
			Type     string
			Response struct {
				Subtype, Error string
				RequestID      string `json:"request_id"`
				Response       json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			c.t.Fatal(err)
		}
		if l.Type != "control_response" {
			continue
		}
		if _, twice := answers[l.Response.RequestID]; twice {
			c.t.Errorf("%s was answered twice", l.Response.RequestID)
		}
		answers[l.Response.RequestID] = givenAnswer{l.Response.Response, l.Response.Error}
	}
	return answers
}

// answered returns the answer to a request: the response, or "error: " and the message, or "" if it
// is missing.
func (c *memCLI) answered(id string) string {
	c.t.Helper()
	a := c.given()[id]
	if a.err != "" {
		return "error: " + a.err
	}
	return string(a.body)
}
