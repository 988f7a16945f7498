package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// eventOutput shows a conversation that comes as events. Its methods are called from one
// goroutine.
type eventOutput interface {
	event(ev event.Event)
	end()
	err() error
}

// runCodex runs the command with Codex and returns the exit code. An error is one of usage.
func (f *runFlags) runCodex(ctx context.Context, con *term.Console, args []string) (int, error) {
	if err := f.checkCodex(); err != nil {
		return 0, err
	}
	note := con.Note
	if f.quiet {
		note = func(string) {}
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.timeout, &timeoutError{f.timeout})
		defer cancel()
	}
	sigs := term.WatchSignals(ctx, end, note)
	defer sigs.Stop()
	r := &codexRun{out: f.eventOutput(con), sigs: sigs, note: note}
	prompt, err := f.prompt(ctx, con, args, note)
	var s agent.Session
	if err == nil {
		s, err = f.openCodex(ctx, con)
	}
	if err == nil {
		err = r.run(ctx, s, prompt)
	}
	if usage, ok := errors.AsType[*term.UsageError](err); ok {
		return 0, usage
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	v := codexVerdict(err, r.last, sigs.WasInterrupted())
	if v.say != "" {
		con.Complain(v.say)
	}
	return v.code, nil
}

// eventOutput is the output that the flags ask for.
func (f *runFlags) eventOutput(con *term.Console) eventOutput {
	switch f.output {
	case outputJSON:
		return &eventLines{to: con.Out, conv: event.NewEncoder("", 0), last: true}
	case outputRaw:
		return &eventLines{to: con.Out, conv: event.NewEncoder("", 0)}
	}
	return newEventPrinter(f.newOutput(con, "").(*printer))
}

// codexRun runs one prompt to its end.
type codexRun struct {
	out  eventOutput
	sigs *term.Signals
	note func(string)
	last *event.ResultMessage
}

// run returns what the run ended with. Nothing of it is left when it returns.
func (r *codexRun) run(ctx context.Context, s agent.Session, prompt string) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Send(ctx, agent.Input{UUID: newInputID(), Text: prompt}); err != nil {
		return err
	}
	r.sigs.Turn(func(ctx context.Context) error {
		_, err := s.Interrupt(ctx)
		return err
	})
	defer r.sigs.Turn(nil)
	for ev, err := range s.Events(ctx) {
		if err != nil {
			r.out.end()
			return err
		}
		r.out.event(ev)
		if err := r.out.err(); err != nil {
			return term.OutputFailed(err)
		}
		if err := r.refuse(ctx, s, ev); err != nil {
			return err
		}
		if result, ok := ev.(*event.ResultMessage); ok && result.ParentToolUseID == "" {
			r.last = result
			break
		}
	}
	r.out.end()
	if err := r.out.err(); err != nil {
		return term.OutputFailed(err)
	}
	return nil
}

// refuse answers what the agent asks: there is no user who could.
func (r *codexRun) refuse(ctx context.Context, s agent.Session, ev event.Event) error {
	var err error
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		r.note("declined, because no user is asked: " + requestText(ev) + "; --permission-mode says what may run")
		err = s.Answer(ctx, ev.RequestID, &agent.PermissionAnswer{Message: "there is no user to ask"})
	case *event.QuestionRequest:
		r.note("a question was declined, because no user is asked: " + term.OneLine(questionLine(ev)))
		if ev.Kind == event.QuestionElicitation {
			err = s.Answer(ctx, ev.RequestID, &agent.ElicitationAnswer{Action: "decline"})
		} else {
			err = s.Answer(ctx, ev.RequestID, &agent.QuestionAnswer{Declined: true})
		}
	}
	if errors.Is(err, agent.ErrNotOpen) {
		return nil // it was taken back
	}
	return err
}

func questionLine(q *event.QuestionRequest) string {
	if len(q.Questions) > 0 {
		return q.Questions[0].Question
	}
	return q.Message
}

// newInputID is a random id for a prompt, a UUID of version 4.
func newInputID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// eventLines writes events as the messages of package rpc, one a line, or the last result
// alone.
type eventLines struct {
	to   *term.Pen
	conv *event.Encoder
	last bool
	line []byte
}

func (o *eventLines) event(ev event.Event) {
	result, isResult := ev.(*event.ResultMessage)
	if o.last && (!isResult || result.ParentToolUseID != "") {
		return
	}
	lines, err := o.conv.AppendLines(nil, ev)
	if err != nil {
		return // AppendLines fails only where an event cannot be JSON, and none of Codex's is
	}
	if o.line = lines; !o.last {
		o.to.JSON(lines)
	}
}

func (o *eventLines) end() {
	if o.last && o.line != nil {
		o.to.JSON(o.line)
	}
}

func (o *eventLines) err() error { return o.to.Err }
