package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/internal/random"
)

// Run sends the agent one prompt, shows its work, and returns the exit code. An error is a usage
// error.
func Run(ctx context.Context, o Options) (int, error) {
	note := o.Console.Note
	if o.Quiet {
		note = func(string) {}
	}
	if o.Agent.Note != "" && (o.Agent.Must || !o.Quiet) {
		o.Console.Note(o.Agent.Note)
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, &timeoutError{o.Timeout})
		defer cancel()
	}
	sigs := term.WatchSignals(ctx, end, note)
	defer sigs.Stop()
	r := &runner{o: &o, out: o.output(), sigs: sigs, note: note}
	prompt, err := o.Prompt(ctx, note)
	if err == nil {
		err = r.run(ctx, prompt)
	}
	if usage, ok := errors.AsType[*term.UsageError](err); ok {
		return 0, usage
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	v := judge(err, r.last, sigs.WasInterrupted(), o.Agent.Missing)
	if o.Agent.Shared && v.code == term.ExitCLIDied { // no program of this machine died
		v.code = term.ExitFailed
	}
	if v.say != "" {
		o.Console.Complain(v.say)
	}
	return v.code, nil
}

// runner runs one prompt to its end.
type runner struct {
	o       *Options
	out     output
	sigs    *term.Signals
	note    func(string)
	session agent.Session
	prompt  *prompt
	prompts prompts
	begun   atomic.Bool // the prompt was sent; also read by the signal handler
	done    bool        // the prompt has ended
	lost    error       // the reason why it has no result
	state   string      // of a shared session
	last    *event.ResultMessage
}

// run runs the prompt and returns the error. It leaves no process running.
func (r *runner) run(ctx context.Context, text string) (err error) {
	r.session, err = r.o.Agent.Open(ctx, func(line json.RawMessage) { r.out.line(line) })
	if err != nil {
		events, line := refusal(err)
		if line != nil {
			r.out.line(line)
		}
		for _, ev := range events {
			r.out.event(ev)
		}
		if r.last = lastResult(events); r.last != nil {
			r.out.end()
		}
		return err
	}
	defer r.leave()
	r.prompt = &prompt{id: random.UUID(), text: text}
	r.prompts = prompts{begun: func(*prompt) { r.begun.Store(true) }, over: func(_ *prompt, err error) { r.done, r.lost = true, err }}
	// The agent may start working on the prompt before send returns.
	sent := make(chan bool, 1)
	r.sigs.Turn(func(ctx context.Context) error {
		if !<-sent {
			return nil
		}
		return r.stop(ctx)
	})
	defer r.sigs.Turn(nil)
	err = r.send(ctx)
	if sent <- err == nil; err != nil {
		return err
	}
	r.prompts.list = []*prompt{r.prompt}
	err = r.follow(ctx)
	if r.done || err != nil || r.last != nil {
		r.out.end()
	}
	return errors.Join(r.written(), err)
}

// send sends the prompt. If sending is aborted, a server may still have accepted the prompt, so
// only the time limit ends it: only an acknowledged prompt can be cancelled.
func (r *runner) send(ctx context.Context) error {
	if r.o.Agent.Shared {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), controlLimit)
		defer cancel()
	}
	err := r.session.Send(ctx, agent.Input{UUID: r.prompt.id, Text: r.prompt.text})
	r.done = err != nil && r.o.Agent.Shared // the running turn belongs to another client
	return err
}

// follow shows events until the agent has ended, or until the prompt has ended if the agent does
// not end by itself.
func (r *runner) follow(ctx context.Context) error {
	finishing := false
	for ev, err := range r.session.Events(ctx) {
		if err != nil {
			if finishing && ended(err) {
				return nil
			}
			return err
		}
		result, isResult := ev.(*event.ResultMessage)
		if !isResult {
			r.prompts.event(ev)
		}
		if r.o.Agent.Shared {
			if err := r.stopped(ev); err != nil {
				return err
			}
			if !r.begun.Load() && !r.done {
				continue // from earlier turns
			}
		}
		r.out.event(ev)
		if err := r.written(); err != nil {
			return err
		}
		if err := r.refuse(ctx, ev); err != nil {
			return err
		}
		if isResult && result.ParentToolUseID == "" {
			r.last = result
			r.prompts.event(ev)
		}
		if !r.done || finishing {
			continue
		}
		r.sigs.Turn(nil)
		if errors.Is(r.lost, errRemoved) && !r.sigs.WasInterrupted() {
			return r.lost
		}
		f, ok := r.session.(agent.Finisher)
		if !ok {
			return nil
		}
		finishing = true
		_ = f.Finish(ctx) // it fails only after the end
	}
	return nil
}

// errStopped is the error of a server session in which the prompt will not be answered.
var errStopped = errors.New("the prompt is not answered")

// stopped returns an error if the state of a server session means that it does not run the prompt.
func (r *runner) stopped(ev event.Event) error {
	switch ev := ev.(type) {
	case *event.SessionState:
		before := r.state
		if r.state = ev.State; before != "" && before != r.state && ev.State != "draining" && inactive(ev.State) {
			return fmt.Errorf("%w: the session is %s", errStopped, ev.State)
		}
	case *event.QueueChanged:
		for _, item := range ev.Items {
			if item.ID == r.prompt.id && item.Status != "" {
				return fmt.Errorf("%w: the session holds it back", errStopped)
			}
		}
	}
	return nil
}

// stop stops the turn of the prompt. In a shared session it cancels a queued prompt, because the
// running turn belongs to another client.
func (r *runner) stop(ctx context.Context) error {
	if c, ok := r.session.(agent.Canceler); ok && r.o.Agent.Shared && !r.begun.Load() {
		return c.Cancel(ctx, r.prompt.id)
	}
	_, err := r.session.Interrupt(ctx)
	return err
}

// leave ends the agent. It first interrupts a running turn, so that the agent saves its work.
func (r *runner) leave() {
	if !r.done && !r.sigs.WasInterrupted() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = r.stop(ctx) // Close does the rest
	}
	_ = r.session.Close() // the events ended with the same error
}

func (r *runner) written() error {
	if err := r.out.err(); err != nil {
		return term.OutputFailed(err)
	}
	return nil
}

// refuse answers questions of the agent, because there is no user.
func (r *runner) refuse(ctx context.Context, ev event.Event) error {
	var err error
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		p, ok := r.out.(*printer)
		if !ok {
			p = newPrinter(r.o.Console, time.Now)
		}
		text := requestText(p, ev)
		if ev.Description != "" {
			text += " (" + term.OneLine(ev.Description) + ")"
		}
		r.note("declined, because no user is asked: " + text + "; --permission-mode selects what may run")
		err = r.session.Answer(ctx, ev.RequestID, denial(ev, "there is no user to ask"))
	case *event.QuestionRequest:
		text := ev.Message
		if len(ev.Questions) > 0 {
			text = ev.Questions[0].Question
		}
		r.note("a question was declined, because no user is asked: " + term.OneLine(text))
		err = r.session.Answer(ctx, ev.RequestID, noAnswer(ev))
	}
	if errors.Is(err, agent.ErrNotOpen) {
		return nil // it was withdrawn
	}
	return err
}
