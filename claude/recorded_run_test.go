package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/deadline"
)

// errAborted is the cause of the context that an abort step ends.
var errAborted = errors.New("recording: aborted by the caller")

// errNeverHappened is the outcome of a step with a moment that never came.
var errNeverHappened = errors.New("recording: the moment of this step never came")

// callAPI is the function of package claude that a recorded call is made with.
type callAPI string

// The functions.
const (
	viaQuery       callAPI = "Query"
	viaQueryStream callAPI = "QueryStream"
	viaConnect     callAPI = "Connect"
	viaPrewarm     callAPI = "Prewarm"
)

// Via returns the function to make the call with: [claude.Connect] if the caller needs a
// handle, for control requests or to close; else [claude.Prewarm] if it started the CLI
// ahead, [claude.Query] for a prompt of one string and [claude.QueryStream] for a stream
// of them.
func (c *recordedCall) Via() callAPI {
	switch {
	case c.Has("control", "close", "add_tool"):
		return viaConnect
	case c.API == "startup":
		return viaPrewarm
	case c.Prompt != nil:
		return viaQuery
	}
	return viaQueryStream
}

// callRun is the outcome of a repeated call.
type callRun struct {
	Via      callAPI
	Messages []message.Message
	// Err is the error that the call ended with, or nil.
	Err error
	// Calls are the outcomes of control steps in the order of the steps.
	Calls []callOutcome
	// NotDone are the indexes of steps with a moment that never came.
	NotDone []int
	// Left is set when the caller left its loop before the end.
	Left bool
}

// callOutcome is the outcome of a control step.
type callOutcome struct {
	Step   recordedStep
	Result json.RawMessage // nil if the answer had no body
	Err    error
}

// Run repeats the call with opts and executes its steps at their moments. answers are the
// callbacks in opts, or nil. It returns when the stream has ended and every step was
// executed or can no longer be.
func (c *recordedCall) Run(ctx context.Context, opts *claude.Options, answers *callAnswers) *callRun {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := newCallRunner(c, ctx, cancel)
	r.answers = answers
	answers.tell(func(n int) { r.fire(func(w recordedWhen) bool { return w.Event == "callback" && max(w.Nth, 1) == n }) })
	r.fire(func(w recordedWhen) bool { return w.Event == "before_start" })
	r.wait("before_start")
	switch r.run.Via {
	case viaConnect:
		r.connect(opts)
	case viaPrewarm:
		r.prewarm(opts)
	case viaQuery:
		r.start(nil)
		r.consume(claude.Query(ctx, *c.Prompt, opts))
	case viaQueryStream:
		r.consume(claude.QueryStream(ctx, r.produce, opts))
		r.start(nil) // if produce was never called
	}
	close(r.over)
	r.steps.Wait()
	if r.client != nil {
		r.client.Close()
	}
	return r.finish()
}

// callRunner is one run of a call.
type callRunner struct {
	call   *recordedCall
	run    *callRun
	ctx    context.Context
	cancel context.CancelCauseFunc

	moments []*stepMoment // one a step
	steps   sync.WaitGroup
	over    chan struct{} // the stream has ended
	started sync.Once
	noMore  chan struct{} // the input has ended
	endOnce sync.Once
	task    chan struct{} // the CLI has started a task
	tasked  sync.Once

	answers    *callAnswers
	client     *claude.Client
	connectErr error
	send       func(message.UserInput) error

	mu       sync.Mutex
	seen     []int // messages counted for each step
	outcomes map[int]callOutcome
	left     bool
}

// stepMoment tells when a step may run, and when the next one may.
type stepMoment struct {
	come  chan struct{} // closed when its event has happened
	once  sync.Once
	begun chan struct{} // closed when steps of the same moment may follow
	done  chan struct{}
	did   bool // set before done is closed
}

func newCallRunner(c *recordedCall, ctx context.Context, cancel context.CancelCauseFunc) *callRunner {
	r := &callRunner{call: c, run: &callRun{Via: c.Via()}, ctx: ctx, cancel: cancel, over: make(chan struct{}),
		task: make(chan struct{}), noMore: make(chan struct{}), seen: make([]int, len(c.Steps)), outcomes: map[int]callOutcome{}}
	for range c.Steps {
		r.moments = append(r.moments, &stepMoment{come: make(chan struct{}), begun: make(chan struct{}), done: make(chan struct{})})
	}
	for i := range c.Steps {
		r.steps.Go(func() { r.step(i) })
	}
	return r
}

// fire starts the steps that wait for a matching event.
func (r *callRunner) fire(meant func(recordedWhen) bool) {
	for i, s := range r.call.Steps {
		if meant(s.When) {
			m := r.moments[i]
			m.once.Do(func() { close(m.come) })
		}
	}
}

// wait waits for the steps of an event.
func (r *callRunner) wait(event string) {
	for i, s := range r.call.Steps {
		if s.When.Event == event {
			<-r.moments[i].done
		}
	}
}

// start is called with the handle that the call has returned.
func (r *callRunner) start(send func(message.UserInput) error) {
	r.started.Do(func() {
		r.send = send
		r.fire(func(w recordedWhen) bool { return w.Event == "start" })
	})
}

// step executes one step at its moment.
func (r *callRunner) step(i int) {
	m, s := r.moments[i], r.call.Steps[i]
	defer func() {
		select {
		case <-m.begun:
		default:
			close(m.begun)
		}
		close(m.done)
	}()
	if !r.come(i) || !deadline.Pause(r.ctx, s.When.DelayMS) || !r.awaitTask(s) {
		if s.Do == "control" {
			r.outcome(i, nil, errNeverHappened)
		}
		return
	}
	if j := r.sameBefore(i); j >= 0 {
		<-r.moments[j].begun
	}
	if s.Do == "control" {
		close(m.begun)
	}
	r.do(i)
	m.did = true
}

// awaitTask waits for a task before a step that moves running tasks to the background after a pause: on a busy machine the
// CLI starts it later than in the recording.
func (r *callRunner) awaitTask(s recordedStep) bool {
	if s.When.DelayMS == 0 || requestSubtype(s.Request) != "background_tasks" {
		return true
	}
	select {
	case <-r.task:
		return true
	case <-r.over:
		return false
	}
}

// come waits for the moment of a step. It returns false if the moment can no longer come.
func (r *callRunner) come(i int) bool {
	if r.call.Steps[i].When.Event == "step_done" {
		if i == 0 {
			return true
		}
		<-r.moments[i-1].done
		return r.moments[i-1].did
	}
	select {
	case <-r.moments[i].come:
		return true
	case <-r.over:
	}
	select { // both may have happened
	case <-r.moments[i].come:
		return true
	default:
		return false
	}
}

// sameBefore returns the step before i with the same moment, or -1: such steps are
// executed in order.
func (r *callRunner) sameBefore(i int) int {
	for j := i - 1; j >= 0; j-- {
		if r.call.Steps[j].When == r.call.Steps[i].When && r.call.Steps[i].When.Event != "step_done" {
			return j
		}
	}
	return -1
}

func (r *callRunner) do(i int) {
	s := r.call.Steps[i]
	switch s.Do {
	case "send":
		if r.send != nil {
			// The end of the stream reports errors of this.
			_ = r.send(message.UserInput{Raw: s.Message})
		}
	case "end_input":
		r.endInput()
	case "control":
		result, err := r.control(s)
		r.outcome(i, result, err)
	case "add_tool":
		r.outcome(i, nil, r.answers.addTool(s))
	case "close":
		if r.client != nil {
			r.client.Close()
		}
	case "abort":
		r.cancel(errAborted)
	case "stop_reading":
		r.mu.Lock()
		r.left = true
		r.mu.Unlock()
	}
}

func (r *callRunner) endInput() {
	r.endOnce.Do(func() {
		close(r.noMore)
		if r.client != nil {
			_ = r.client.CloseInput()
		}
	})
}

func (r *callRunner) outcome(i int, result json.RawMessage, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcomes[i] = callOutcome{Step: r.call.Steps[i], Result: result, Err: err}
}

// produce sends the input of QueryStream.
func (r *callRunner) produce(ctx context.Context, send func(message.UserInput) error) error {
	r.start(send)
	select {
	case <-r.noMore:
	case <-ctx.Done():
	}
	return nil
}

// prewarm makes the call with a prewarmed CLI.
func (r *callRunner) prewarm(opts *claude.Options) {
	warm, err := claude.Prewarm(r.ctx, opts)
	if err != nil {
		r.run.Err, r.connectErr = err, err
		r.start(nil)
		return
	}
	defer warm.Close()
	if r.call.Prompt != nil {
		r.start(nil)
		r.consume(warm.Query(r.ctx, *r.call.Prompt))
		return
	}
	r.consume(warm.QueryStream(r.ctx, r.produce))
	r.start(nil) // if produce was never called
}

// handle starts the CLI, prewarmed if the caller did so.
func (r *callRunner) handle(opts *claude.Options) (*claude.Client, error) {
	if r.call.API != "startup" {
		return claude.Connect(r.ctx, opts)
	}
	warm, err := claude.Prewarm(r.ctx, opts)
	if err != nil {
		return nil, err
	}
	return warm.Connect(r.ctx)
}

// connect makes the call with a Client.
func (r *callRunner) connect(opts *claude.Options) {
	client, err := r.handle(opts)
	if err != nil {
		r.run.Err, r.connectErr = err, err
		r.start(nil)
		return
	}
	r.client = client
	messages := client.Messages(r.ctx)
	send := func(in message.UserInput) error {
		_, err := client.Send(r.ctx, in)
		return err
	}
	if r.call.Prompt != nil {
		_ = send(claude.Text(*r.call.Prompt))
	}
	r.start(send)
	r.consume(messages)
	if r.ctx.Err() != nil || r.run.Left {
		client.Close()
	}
}

// consume runs the caller's loop.
func (r *callRunner) consume(messages iter.Seq2[message.Message, error]) {
	for m, err := range messages {
		if err != nil {
			r.run.Err = err
			return
		}
		r.mu.Lock()
		r.run.Messages = append(r.run.Messages, m)
		r.mu.Unlock()
		if _, ok := m.(*message.Result); ok && r.call.Prompt != nil && r.run.Via == viaConnect {
			r.endInput() // a prompt of one string ends with its result
		}
		if r.message(m) {
			r.run.Left = true
			return
		}
	}
}

// message fires the events of a message. It returns true if the consumer should stop.
func (r *callRunner) message(m message.Message) (leave bool) {
	typ, event := messageTypes(m)
	if _, ok := m.(*message.TaskStarted); ok {
		r.tasked.Do(func() { close(r.task) })
	}
	for i, s := range r.call.Steps {
		w := s.When
		if w.Event != "message" || w.Type != typ && w.Type != message.Kind(m) || w.EventType != "" && w.EventType != event {
			continue
		}
		if r.seen[i]++; r.seen[i] != max(w.Nth, 1) {
			continue
		}
		r.moments[i].once.Do(func() { close(r.moments[i].come) })
		if s.Do == "stop_reading" && w.DelayMS == 0 {
			leave = true
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return leave || r.left
}

// messageTypes returns the type of a message and that of the event in it.
func messageTypes(m message.Message) (typ, event string) {
	var head struct {
		Type  string `json:"type"`
		Event struct {
			Type string `json:"type"`
		} `json:"event"`
	}
	_ = json.Unmarshal(m.Raw(), &head) // a line that is not JSON has no type
	return head.Type, head.Event.Type
}

func (r *callRunner) finish() *callRun {
	for i, s := range r.call.Steps {
		if !r.moments[i].did {
			r.run.NotDone = append(r.run.NotDone, i)
		}
		if o, ok := r.outcomes[i]; ok && s.Do == "control" {
			r.run.Calls = append(r.run.Calls, o)
		}
	}
	return r.run
}

// gathered returns a copy of the messages so far.
func (r *callRunner) gathered() []message.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.run.Messages)
}
