package codexevent

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/item"
)

// Provider is the name of the provider in the events of this package, and in the sessions of a
// server.
const Provider = "codex"

// Converter converts the lines of one thread and its subagents to events, in order. The zero value
// is ready to use. It is not safe for concurrent use.
type Converter struct {
	// ThreadID is the thread to follow; empty means the first thread that the client starts,
	// resumes or forks, or that the server names. It must be set before the first call.
	ThreadID string
	// SkipHistory omits the existing turns of a resumed thread. It must be set before the first
	// call.
	SkipHistory bool

	model    string
	inited   bool
	threads  map[string]*thread // the followed one and its subagents
	held     map[string][]item.Line
	calls    map[item.JSON]*item.Call // requests of the client without a response
	asks     map[item.JSON]*ask       // requests of the server without an answer
	order    []item.JSON              // keys of asks in order
	ids      map[string]string        // thread, turn and item of each id
	seen     map[string]bool          // turns with events; true after their end
	mine     map[string]string        // turns that the client started, with their prompts
	review   string                   // id of a requested review that has not started
	compact  bool                     // a compaction was requested
	compacts string                   // the prompt of a requested compaction that has not started
	commands map[string]string        // texts of prompts that do not use turn/start, until their turns start
	revert   string                   // the turn before which the client reverts
	usage    item.TokenUsage
	base     item.TokenCount // the thread's tokens at the start of the turn
	servers  []event.MCPServer
	turnID   string
	answer   string // the last message of the turn
	failure  *item.TurnError
	out      []event.Event
}

// thread is the followed thread or a subagent.
type thread struct {
	id     string
	parent string // the tool use that started the subagent
	open   openItems
	mcp    map[string]*openItem // the last call of each MCP server
}

const (
	maxHeld    = 10_000 // lines of a thread that may be a subagent
	maxThreads = 1000   // such threads
)

// Server returns the events of a line from the server. The slice is valid until the next call of a
// method; the events remain valid.
func (c *Converter) Server(l item.Line) []event.Event {
	c.begin()
	switch l := l.(type) {
	case item.Notification:
		c.route(item.ThreadOf(l), l)
	case item.Request:
		c.route(l.Head().ThreadID, l)
	case *item.Response:
		c.response(l)
	}
	return c.out
}

// Client returns the events of a line from the client: a prompt, or the answer to a request of the
// agent.
func (c *Converter) Client(l item.Line) []event.Event {
	c.begin()
	switch l := l.(type) {
	case *item.Call:
		c.call(l)
	case *item.Response:
		c.answered(l)
	}
	return c.out
}

func (c *Converter) begin() {
	c.out = nil
	if c.threads == nil {
		c.threads, c.held = map[string]*thread{}, map[string][]item.Line{}
		c.calls, c.asks = map[item.JSON]*item.Call{}, map[item.JSON]*ask{}
		c.ids, c.mine, c.seen, c.commands = map[string]string{}, map[string]string{}, map[string]bool{}, map[string]string{}
	}
	if c.ThreadID != "" {
		c.root()
	}
}

// root returns the followed thread.
func (c *Converter) root() *thread {
	t := c.threads[c.ThreadID]
	if t == nil {
		t = &thread{id: c.ThreadID}
		c.threads[c.ThreadID] = t
	}
	return t
}

func (c *Converter) emit(ev event.Event) { c.out = append(c.out, ev) }

// head returns the header of an event of a thread.
func (c *Converter) head(t *thread) event.Header {
	return event.Header{Provider: Provider, SessionID: c.ThreadID, ParentToolUseID: t.parent}
}

// route finds the thread of a line. A line without a thread belongs to the followed one.
func (c *Converter) route(id string, l item.Line) {
	if started, ok := l.(*item.ThreadStarted); ok && c.ThreadID == "" && started.Thread.ParentThreadID == "" {
		c.ThreadID = id
	}
	if id == "" {
		c.line(c.rootOrNone(), l)
		return
	}
	if t := c.threads[id]; t != nil || id == c.ThreadID {
		if t == nil {
			t = c.root()
		}
		c.line(t, l)
		return
	}
	// Another thread, or a subagent with an unknown parent.
	if _, ok := c.held[id]; (ok || len(c.held) < maxThreads) && len(c.held[id]) < maxHeld {
		c.held[id] = append(c.held[id], l)
	}
}

func (c *Converter) rootOrNone() *thread {
	if c.ThreadID == "" {
		return &thread{}
	}
	return c.root()
}

// link makes a thread a subagent and emits the events of the held lines.
func (c *Converter) link(id, toolUseID string) {
	if id == "" || id == c.ThreadID || c.threads[id] != nil {
		return
	}
	t := &thread{id: id, parent: toolUseID}
	c.threads[id] = t
	held := c.held[id]
	delete(c.held, id)
	for _, l := range held {
		c.line(t, l)
	}
}

// line emits the events of a line of a known thread.
func (c *Converter) line(t *thread, l item.Line) {
	switch l := l.(type) {
	case item.Request:
		c.request(t, l)
	case item.Notification:
		c.notification(t, l)
	}
}

// call records data that responses and notifications do not repeat.
func (c *Converter) call(l *item.Call) {
	if l.Method == "initialize" {
		c.ended() // another server: everything of the previous one has ended
	}
	if l.ID != "" {
		c.calls[l.ID] = l
	}
	var p struct {
		ThreadID     string `json:"threadId"`
		BeforeTurnID string `json:"beforeTurnId"`
	}
	_ = item.DecodeValue(l.Params, &p)
	if p.ThreadID != c.ThreadID || c.ThreadID == "" {
		return
	}
	switch l.Method {
	case "review/start":
		c.command(l)
	case "thread/compact/start":
		c.compact, c.compacts = true, startOf(l).ClientID
		c.command(l)
	case "thread/revert":
		c.revert = p.BeforeTurnID
	}
}

// response handles the server's response to a call.
func (c *Converter) response(r *item.Response) {
	call := c.calls[r.ID]
	delete(c.calls, r.ID)
	if call == nil {
		return
	}
	if r.Error != nil {
		c.refused(call)
		return
	}
	switch call.Method {
	case "thread/start", "thread/resume", "thread/fork":
		c.opened(r)
	case "turn/start", "review/start":
		c.started(call, r)
	}
}

// opened handles the response that opens a thread.
func (c *Converter) opened(r *item.Response) {
	var info struct {
		Thread         item.Thread `json:"thread"`
		Model          string      `json:"model"`
		CWD            string      `json:"cwd"`
		ApprovalPolicy item.JSON   `json:"approvalPolicy"`
		Sandbox        item.JSON   `json:"sandbox"`
	}
	if item.DecodeValue(r.Result, &info) != nil || info.Thread.ID == "" {
		return
	}
	c.ThreadID = cmp.Or(c.ThreadID, info.Thread.ID)
	if info.Thread.ID != c.ThreadID {
		return
	}
	c.inited, c.model = true, info.Model
	t := c.root()
	c.emit(&event.SystemInit{
		Header: c.head(t), CWD: info.CWD, Model: info.Model, PermissionMode: word(info.ApprovalPolicy), Sandbox: sandbox(info.Sandbox),
		CLIVersion: info.Thread.CLIVersion, Data: event.NewJSON(string(r.Result)),
	})
	for i := range info.Thread.Turns {
		if c.SkipHistory {
			break
		}
		c.history(t, &info.Thread.Turns[i])
	}
	held := c.held[c.ThreadID]
	delete(c.held, c.ThreadID)
	for _, l := range held {
		c.line(t, l)
	}
}

// word returns a policy as one word: the string, or the name of its only member.
func word(j item.JSON) string {
	var s string
	if j.IsNull() || j.Decode(&s) == nil {
		return s
	}
	var m map[string]any
	_ = j.Decode(&m)
	for k := range m {
		return k
	}
	return ""
}

// sandbox returns the type of a sandbox policy.
func sandbox(j item.JSON) string {
	var p struct {
		Type string `json:"type"`
	}
	if j.IsNull() || item.DecodeValue(j, &p) != nil {
		return ""
	}
	return p.Type
}

// turnParams are parameters of a call that starts a turn.
type turnParams struct {
	ThreadID string `json:"threadId"`
	ClientID string `json:"clientUserMessageId"`
}

func startOf(call *item.Call) (p turnParams) {
	_ = item.DecodeValue(call.Params, &p) // invalid ones name no thread
	return p
}

// started records a turn that the client has started.
func (c *Converter) started(call *item.Call, r *item.Response) {
	p := startOf(call)
	var answer struct {
		Turn item.Turn `json:"turn"`
	}
	if item.DecodeValue(r.Result, &answer) != nil || p.ThreadID != c.ThreadID {
		return
	}
	c.mine[answer.Turn.ID] = p.ClientID
	if call.Method == "review/start" {
		c.review = answer.Turn.ID
	}
}

// Turns returns the events of turns that were read from a thread, as if they had just happened.
func (c *Converter) Turns(threadID string, turns []item.Turn) []event.Event {
	c.ThreadID = cmp.Or(c.ThreadID, threadID)
	c.begin()
	for i := range turns {
		c.history(c.root(), &turns[i])
	}
	return c.out
}

// history emits the events of a turn that was read, unless it was followed before. A followed turn
// that never ended, because its server exited, gets its end.
func (c *Converter) history(t *thread, turn *item.Turn) {
	ended, followed := c.seen[turn.ID]
	c.seen[turn.ID] = turn.Status != item.StatusInProgress
	if followed {
		if !ended && c.seen[turn.ID] {
			c.result(t, turn, "")
		}
		return
	}
	c.emit(&event.TurnStart{Header: c.head(t), TurnID: turn.ID, By: event.ByUser})
	c.answer = ""
	for _, i := range turn.Items {
		if i != nil {
			c.completed(t, &item.ItemCompleted{Note: item.Note{ThreadID: t.id, TurnID: turn.ID}, Item: i})
		}
	}
	if turn.Status != item.StatusInProgress {
		c.result(t, turn, "")
	}
}

// End returns the events at the end of the connection: it closes open items, expires requests
// without an answer, and ends with err if it is not nil.
func (c *Converter) End(err error) []event.Event {
	c.begin()
	c.ended()
	if err != nil {
		c.emit(&event.Error{Header: c.head(c.rootOrNone()), Message: err.Error()})
	}
	return c.out
}

// ended closes everything that a server has left open.
func (c *Converter) ended() {
	for _, id := range slices.Clone(c.order) {
		c.expire(id, event.ResolvedExpired)
	}
	for _, id := range slices.Sorted(maps.Keys(c.threads)) {
		t := c.threads[id]
		for _, turnID := range slices.Sorted(maps.Keys(t.open.turns)) {
			c.cutTurn(t, turnID, item.CutEnd, func(item.Item) bool { return true })
		}
	}
	clear(c.calls)
}
