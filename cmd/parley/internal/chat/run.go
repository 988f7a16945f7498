package chat

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// Run gives the agent one prompt, shows what it does, and returns the exit code. An error is one
// of usage.
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
	prompts prompts
	done    bool // the prompt has ended
	last    *event.ResultMessage
}

// run returns the error that the run ended with. It leaves no process behind.
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
	id := newInputID()
	r.prompts = prompts{begun: func(*prompt) {}, over: func(*prompt, error) { r.done = true }}
	if err := r.session.Send(ctx, agent.Input{UUID: id, Text: text}); err != nil {
		return err
	}
	r.prompts.list = []*prompt{{id: id, text: text}}
	r.sigs.Turn(func(ctx context.Context) error {
		_, err := r.session.Interrupt(ctx)
		return err
	})
	defer r.sigs.Turn(nil)
	err = r.follow(ctx)
	if r.done || err != nil || r.last != nil {
		r.out.end()
	}
	return errors.Join(r.written(), err)
}

// follow shows events until the agent has ended, or the prompt has if the agent does not end by
// itself.
func (r *runner) follow(ctx context.Context) error {
	finishing := false
	for ev, err := range r.session.Events(ctx) {
		if err != nil {
			if finishing && ended(err) {
				return nil
			}
			return err
		}
		r.out.event(ev)
		if err := r.written(); err != nil {
			return err
		}
		if err := r.refuse(ctx, ev); err != nil {
			return err
		}
		if result, ok := ev.(*event.ResultMessage); ok && result.ParentToolUseID == "" {
			r.last = result
		}
		r.prompts.event(ev)
		if !r.done || finishing {
			continue
		}
		r.sigs.Turn(nil)
		f, ok := r.session.(agent.Finisher)
		if !ok {
			return nil
		}
		finishing = true
		_ = f.Finish(ctx) // it fails only after the end
	}
	return nil
}

// leave ends the agent. A turn that runs is interrupted first: the agent then keeps what it has
// done.
func (r *runner) leave() {
	if !r.done && !r.o.Agent.Shared && !r.sigs.WasInterrupted() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = r.session.Interrupt(ctx) // Close does the rest
	}
	_ = r.session.Close() // the events have ended with the same
}

func (r *runner) written() error {
	if err := r.out.err(); err != nil {
		return term.OutputFailed(err)
	}
	return nil
}

// refuse answers what the agent asks: there is no user who could.
func (r *runner) refuse(ctx context.Context, ev event.Event) error {
	var err error
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		p, ok := r.out.(*printer)
		if !ok {
			p = newPrinter(r.o.Console, time.Now)
		}
		r.note("declined, because no user is asked: " + requestText(p, ev) + "; --permission-mode says what may run")
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
