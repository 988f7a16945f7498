package codex

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/mcptool"
)

// ThreadOptions configures a thread when it is opened. The zero value uses the configuration of
// the server.
type ThreadOptions struct {
	// CWD is the working directory of the agent.
	CWD string
	// Model and ModelProvider choose the model.
	Model, ModelProvider string
	// ApprovalPolicy determines when the agent asks for approval: "untrusted", "on-request" or "never".
	ApprovalPolicy string
	// ApprovalsReviewer determines who decides: "user", "auto_review" or "guardian_subagent".
	ApprovalsReviewer string
	// Sandbox is "read-only", "workspace-write" or "danger-full-access".
	Sandbox string
	// BaseInstructions replaces the system prompt, DeveloperInstructions adds to it.
	BaseInstructions, DeveloperInstructions string
	// Config overrides values of config.toml for the thread.
	Config map[string]any
	// Ephemeral keeps the thread in memory only; it cannot be resumed.
	Ephemeral bool
	// Personality and ServiceTier are passed to the server unchanged.
	Personality, ServiceTier string
	// Tools are functions of this process that the agent and its subagents can call. They need
	// Options.Experimental and belong to the thread as long as it is loaded; a resumed thread
	// needs them again. The context of a call ends with the turn and after
	// Options.CallbackTimeout. [mcptool.CallInfo] returns the call.
	Tools []mcptool.Tool
	// Extra has further members of the request, under the server's names. They override the fields
	// of this struct.
	Extra map[string]any
}

// Thread is one conversation in a server. Its methods may be called from any goroutine.
type Thread struct {
	client *Client
	id     string
	info   ThreadInfo
	tools  map[string]mcptool.Tool
}

// ThreadInfo is the server's response when the thread was started, resumed or forked.
// ApprovalPolicy is a JSON string or an object.
type ThreadInfo struct {
	Thread          item.Thread `json:"thread"`
	Model           string      `json:"model"`
	ModelProvider   string      `json:"modelProvider"`
	CWD             string      `json:"cwd"`
	ApprovalPolicy  item.JSON   `json:"approvalPolicy"`
	Sandbox         item.JSON   `json:"sandbox"`
	ReasoningEffort string      `json:"reasoningEffort"`
	ServiceTier     string      `json:"serviceTier"`
}

// with adds members to the params of a request: first the non-zero members of set, then those of
// extra.
func with(params, set, extra map[string]any) map[string]any {
	for name, value := range set {
		if !reflect.ValueOf(value).IsZero() {
			params[name] = value
		}
	}
	maps.Copy(params, extra)
	return params
}

// params returns the params of a request for a thread.
func (o *ThreadOptions) params(first map[string]any) map[string]any {
	if o == nil {
		return first
	}
	return with(first, map[string]any{
		"cwd": o.CWD, "model": o.Model, "modelProvider": o.ModelProvider, "approvalPolicy": o.ApprovalPolicy,
		"approvalsReviewer": o.ApprovalsReviewer, "sandbox": o.Sandbox, "baseInstructions": o.BaseInstructions,
		"developerInstructions": o.DeveloperInstructions, "personality": o.Personality, "serviceTier": o.ServiceTier,
		"config": o.Config, "ephemeral": o.Ephemeral, "dynamicTools": toolSpecs(o.Tools),
	}, o.Extra)
}

// openThread makes a request that opens a thread, and registers the thread before any message after
// the response is processed.
func (c *Client) openThread(ctx context.Context, method string, params map[string]any, opts *ThreadOptions) (*Thread, error) {
	t := &Thread{client: c}
	if opts != nil {
		if err := t.takeTools(opts.Tools); err != nil {
			return nil, err
		}
	}
	err := c.callThen(ctx, method, params, &t.info, func(err error) {
		if err == nil {
			c.opened(t)
		}
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// opened registers a thread and delivers the messages that were held for it.
func (c *Client) opened(t *Thread) {
	var out []delivery
	c.update(func(r *routes) {
		out = r.adopt(t)
		close(r.opened)
		r.opened = make(chan struct{})
	})
	c.deliver(out)
}

// adopt registers a thread of the caller.
func (r *routes) adopt(t *Thread) []delivery {
	t.id = t.info.Thread.ID
	s := r.threads[t.id]
	if s == nil {
		s = newThreadState(t.id)
		r.threads[t.id] = s
	}
	s.origin = nil
	s.handle = t
	s.track.status, s.track.name = t.info.Thread.Status, t.info.Thread.Name
	for _, turn := range t.info.Thread.Turns {
		if turn.Status == item.StatusInProgress { // joined during a turn
			core := newTurnCore(t.id, turn.ID)
			s.turns[turn.ID], s.active = core, core
		}
	}
	return r.release(s)
}

// StartThread starts a new conversation with these options. The context bounds the request, not
// the life of the thread.
func (c *Client) StartThread(ctx context.Context, opts *ThreadOptions) (*Thread, error) {
	return c.openThread(ctx, "thread/start", opts.params(map[string]any{}), opts)
}

// ResumeThread loads a stored conversation. [Thread.Info] has its turns, unless opts.Extra excludes
// them. The error is [ErrNoThread] if the thread does not exist, and [ErrBusy] if another process
// is writing to it.
func (c *Client) ResumeThread(ctx context.Context, id string, opts *ThreadOptions) (*Thread, error) {
	return c.openThread(ctx, "thread/resume", opts.params(map[string]any{"threadId": id}), opts)
}

// ForkThread starts a new conversation that begins with the turns of another one: all of them, or
// those up to and including lastTurnID.
func (c *Client) ForkThread(ctx context.Context, id, lastTurnID string, opts *ThreadOptions) (*Thread, error) {
	p := with(map[string]any{"threadId": id}, map[string]any{"lastTurnId": lastTurnID}, nil)
	return c.openThread(ctx, "thread/fork", opts.params(p), opts)
}

// ID returns the thread's id, with which this or another process can resume it.
func (t *Thread) ID() string { return t.id }

// Info returns the server's response when the thread was opened. It does not change afterwards.
func (t *Thread) Info() ThreadInfo { return t.info }

// Usage returns the tokens that the thread has used so far, according to the last notification.
func (t *Thread) Usage() (u item.TokenUsage) {
	t.client.update(func(r *routes) { u = r.threads[t.id].track.usage })
	return u
}

// Status returns the current status of the thread, according to the last notification.
func (t *Thread) Status() (s item.Status) {
	t.client.update(func(r *routes) { s = r.threads[t.id].track.status })
	return s
}

// Origin returns the item that started a subagent, by the id of the subagent's thread. It returns
// false for a thread that is not a subagent, or that has an unknown parent.
func (c *Client) Origin(threadID string) (o Origin, ok bool) {
	c.update(func(r *routes) {
		if t := r.threads[threadID]; t != nil && t.origin != nil {
			o, ok = *t.origin, true
		}
	})
	return o, ok
}

// Notifications yields every notification of the thread and its subagents from this call on,
// including turns that the server starts and notifications without a turn. It starts with earlier
// unread notifications, at most the last 1,000. The iterator can be used once; several iterators
// may run at once.
func (t *Thread) Notifications(ctx context.Context) iter.Seq2[item.Notification, error] {
	c := t.client
	box := newMailbox(c.opts.MaxBuffered)
	box.attach()
	lost := 0
	c.update(func(r *routes) {
		s := r.threads[t.id]
		for _, n := range s.backlog {
			box.push(n, c.stop)
		}
		s.backlog, lost, s.lost = nil, s.lost, 0
		if r.ended {
			box.end(r.endErr)
			return
		}
		s.subs = append(s.subs, box)
	})
	if lost > 0 {
		c.opts.Logger.Warn("codex: notifications were not read in time", "thread", t.id, "lost", lost)
	}
	return c.read(ctx, box, func(r *routes) { unsubscribe(&r.threads[t.id].subs, box) })
}

// Prompt is the input of a turn, with settings that apply from this turn on.
type Prompt struct {
	// Input are the parts of the prompt.
	Input []item.Input
	// ClientID is returned as the ClientID of the prompt's [item.UserMessage].
	ClientID string
	// Model, Effort, ApprovalPolicy, SandboxPolicy, CWD and Summary apply to this turn and later
	// ones; empty values have no effect. SandboxPolicy is the server's object.
	Model, Effort, ApprovalPolicy, CWD, Summary string
	SandboxPolicy                               item.JSON
	// OutputSchema is a JSON Schema for the last message.
	OutputSchema item.JSON
	// Review and Compact start a review or a compaction in place of an answer to Input. Of the other
	// fields only ClientID applies to them.
	Review  *ReviewTarget
	Compact bool
	// Extra has further members of the request, under the server's names.
	Extra map[string]any
}

// Text returns a prompt with a single text. Use [Prompt] directly for images.
func Text(s string) *Prompt { return &Prompt{Input: []item.Input{&item.Text{Text: s}}} }

func (p *Prompt) params(threadID string) map[string]any {
	return with(map[string]any{"threadId": threadID, "input": p.Input}, map[string]any{
		"clientUserMessageId": p.ClientID, "model": p.Model, "effort": p.Effort, "approvalPolicy": p.ApprovalPolicy,
		"cwd": p.CWD, "summary": p.Summary, "sandboxPolicy": p.SandboxPolicy, "outputSchema": p.OutputSchema,
	}, p.Extra)
}

// Send sends a prompt. If the thread is idle, Send returns when the server has accepted the prompt.
// During a turn, including one that the server started, the prompt waits in a queue and Send
// returns at once; [Turn.Started] reports its acceptance. Prompts are sent in order.
func (t *Thread) Send(ctx context.Context, p *Prompt) (*Turn, error) {
	if err := t.client.settled(ctx); err != nil {
		return nil, err
	}
	turn := t.newTurn(p)
	now := false
	var err error
	t.client.update(func(r *routes) {
		s := r.threads[t.id]
		switch {
		case r.ended:
			err = r.endErr
		case s.active != nil || s.sending || len(s.waiting) > 0:
			s.waiting = append(s.waiting, turn)
		default:
			s.sending, now = true, true
		}
	})
	if err != nil {
		return nil, err
	}
	if now {
		if err := t.start(ctx, turn); err != nil {
			return nil, err
		}
	}
	return turn, nil
}

// start sends a prompt; the caller has set sending.
func (t *Thread) start(ctx context.Context, turn *Turn) error {
	switch p := turn.prompt; {
	case p.Review != nil:
		return t.review(ctx, turn, *p.Review)
	case p.Compact:
		return t.compact(ctx, turn)
	}
	return t.begin(ctx, "turn/start", turn.prompt.params(t.id), turn)
}

// turnAnswer is the response to a request that starts a turn.
type turnAnswer struct {
	Turn item.Turn `json:"turn"`
}

// begin makes a request that starts a turn.
func (t *Thread) begin(ctx context.Context, method string, params any, turn *Turn) error {
	var answer turnAnswer
	err := t.client.callThen(ctx, method, params, &answer, func(err error) {
		t.client.update(func(r *routes) { r.threads[t.id].begun(turn, answer.Turn.ID, err) })
	})
	if err != nil {
		turn.fail(err)
		t.pump()
	}
	return err
}

// begun handles the response to a request that starts a turn.
func (s *threadState) begun(turn *Turn, id string, err error) {
	s.sending = false
	if err != nil || id == "" {
		return
	}
	core := s.turns[id]
	steered := core != nil && core.own // added to a running turn [turn_while_busy]
	if core == nil {
		core = newTurnCore(s.id, id)
		core.awaited = true
		s.turns[id] = core
		s.active = core
	}
	core.own = true
	turn.join(core, steered)
}

// pump sends the next queued prompt if the thread is idle.
func (t *Thread) pump() {
	var next *Turn
	t.client.update(func(r *routes) {
		s := r.threads[t.id]
		if r.ended || s.active != nil || s.sending || len(s.waiting) == 0 {
			return
		}
		next = s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.sending = true
		t.client.work.Go(func() {
			// The context of Send has ended; the call has a separate timeout.
			_ = t.start(context.Background(), next)
		})
	})
}

// Query sends a prompt and yields the notifications of its turn, of which *[item.TurnCompleted] is
// the last. If the turn failed or was interrupted, the error of [Turn.Wait] follows as the last
// element. Leaving the loop early and the end of ctx interrupt the turn.
func (t *Thread) Query(ctx context.Context, prompt string) iter.Seq2[item.Notification, error] {
	return func(yield func(item.Notification, error) bool) {
		turn, err := t.Send(ctx, Text(prompt))
		if err != nil {
			yield(nil, err)
			return
		}
		over := false
		for n, err := range turn.Notifications(ctx) {
			if done, ok := n.(*item.TurnCompleted); ok && done.ThreadID == t.id {
				over = true
			}
			if !yield(n, err) || err != nil {
				t.abandon(ctx, turn, over)
				return
			}
		}
		if result, err := turn.Wait(ctx); err != nil && result != nil {
			yield(nil, err)
		}
	}
}

// interruptTime bounds the interrupt of an abandoned turn.
const interruptTime = 10 * time.Second

// abandon interrupts a turn after its reader has left.
func (t *Thread) abandon(ctx context.Context, turn *Turn, over bool) {
	if over {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), interruptTime)
	defer cancel()
	if err := turn.Interrupt(ctx); err != nil {
		t.client.opts.Logger.Debug("codex: interrupting an abandoned turn", "err", err)
	}
}

// Run sends a prompt, waits for the end of its turn and returns what [Turn.Wait] returns. The end of
// ctx interrupts the turn.
func (t *Thread) Run(ctx context.Context, prompt string) (*Result, error) {
	turn, err := t.Send(ctx, Text(prompt))
	if err != nil {
		return nil, err
	}
	result, err := turn.Wait(ctx)
	if result == nil && ctx.Err() != nil {
		t.abandon(ctx, turn, false)
	}
	return result, err
}

// Active returns the running turn, including one that the server started, or nil. Earlier
// notifications may be missing from its [Turn.Notifications].
func (t *Thread) Active() (turn *Turn) {
	t.client.update(func(r *routes) {
		if core := r.threads[t.id].active; core != nil {
			turn = t.newTurn(nil)
			turn.join(core, false)
		}
	})
	return turn
}

// activeCore returns the running turn, or nil.
func (t *Thread) activeCore() (core *turnCore) {
	t.client.update(func(r *routes) { core = r.threads[t.id].active })
	return core
}

// Interrupt stops the running turn; queued prompts are sent after it. It returns when the server has
// accepted the interrupt, and returns [ErrNoTurn] if no turn is running.
func (t *Thread) Interrupt(ctx context.Context) error {
	if err := t.client.settled(ctx); err != nil {
		return err
	}
	core := t.activeCore()
	if core == nil {
		return ErrNoTurn
	}
	return t.interrupt(ctx, core)
}

// Steer adds a prompt to the running turn. It uses only Input, ClientID and Extra of the prompt. It
// returns [ErrNoTurn] if no turn is running or the turn has ended meanwhile.
func (t *Thread) Steer(ctx context.Context, p *Prompt) error {
	if err := t.client.settled(ctx); err != nil {
		return err
	}
	core := t.activeCore()
	if core == nil {
		return ErrNoTurn
	}
	m := map[string]any{"threadId": t.id, "expectedTurnId": core.id, "input": p.Input}
	m = with(m, map[string]any{"clientUserMessageId": p.ClientID}, p.Extra)
	return t.during(ctx, core, "turn/steer", m)
}

// Revert removes a turn and those after it from the conversation. It does not change files. Older
// servers, such as version 0.144, do not support it: the error is then [ErrUnsupported].
func (t *Thread) Revert(ctx context.Context, beforeTurnID string) (*item.Thread, error) {
	var out struct {
		Thread item.Thread `json:"thread"`
	}
	err := t.client.Call(ctx, "thread/revert", map[string]string{"threadId": t.id, "beforeTurnId": beforeTurnID}, &out)
	return &out.Thread, err
}

// Fork starts a new conversation with the turns of this one, up to a turn; see [Client.ForkThread].
func (t *Thread) Fork(ctx context.Context, lastTurnID string, opts *ThreadOptions) (*Thread, error) {
	return t.client.ForkThread(ctx, t.id, lastTurnID, opts)
}

// SetName sets the name of the thread in lists of threads.
func (t *Thread) SetName(ctx context.Context, name string) error {
	return t.client.Call(ctx, "thread/name/set", map[string]string{"threadId": t.id, "name": name}, nil)
}

// Unsubscribe ends the notifications of the thread. The server unloads the thread when no other
// client uses it; it can be resumed later.
func (t *Thread) Unsubscribe(ctx context.Context) error {
	return t.client.Call(ctx, "thread/unsubscribe", map[string]string{"threadId": t.id}, nil)
}
