// Package chat runs conversations with an agent in the terminal: one prompt with [Run], a
// conversation with [Talk]. It works with any [agent.Session].
package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// The values of Options.Output.
const (
	OutputText = "text"
	OutputJSON = "json"        // the result at the end
	OutputRaw  = "stream-json" // every message
)

// Agent is the agent of a conversation.
type Agent struct {
	// Open starts the session. It is called once, after the program has begun to handle signals. It
	// must set onLine in [agent.Options].
	Open func(ctx context.Context, onLine func(json.RawMessage)) (agent.Session, error)
	// Note is shown before the conversation; with Must also in a quiet run.
	Note string
	Must bool
	// Mark precedes answers that are written without other notices, and marks lines of JSON as
	// simulated.
	Mark string
	// Lines reports that the agent writes lines of JSON, which the JSON outputs pass on.
	Lines bool
	// Shared reports that the session continues without this program: leaving does not
	// interrupt it or answer its questions.
	Shared bool
	// Resume is the command line, without the id, that resumes the session; empty if the
	// session is not kept.
	Resume string
	// Missing is the advice for a user if the agent's program was not found.
	Missing string
}

// Options configures a conversation.
type Options struct {
	Console *term.Console
	Agent   Agent
	// Prompt returns the first prompt. It may be nil in Talk.
	Prompt     func(ctx context.Context, note func(string)) (string, error)
	Output     string        // of Run
	Timeout    time.Duration // of Run; 0 means no limit
	Quiet      bool          // write only the answer and errors
	Stream     *bool         // show text while it arrives; nil means only on a terminal
	Thinking   *bool         // show thinking; nil means only on a terminal
	Structured bool          // the answer is the structured output
}

func (o *Options) printer() *printer {
	p := newPrinter(o.Console, time.Now)
	p.quiet, p.mark, p.structured = o.Quiet, o.Agent.Mark, o.Structured
	p.stream, p.thinking = o.Console.Out.TTY, o.Console.Aside().TTY
	if o.Stream != nil {
		p.stream = *o.Stream
	}
	if o.Thinking != nil {
		p.thinking = *o.Thinking
	}
	return p
}

// refusal returns the events for an agent that reported a failed result instead of starting, and
// the line of that result.
func refusal(err error) (events []event.Event, line []byte) {
	failed, ok := errors.AsType[*message.ResultError](err)
	if !ok {
		return nil, nil
	}
	return new(claudeevent.Converter).Add(failed.Result), failed.Result.Raw()
}

// lastResult returns the last result of the main conversation in events.
func lastResult(events []event.Event) (last *event.ResultMessage) {
	for _, ev := range events {
		if r, ok := ev.(*event.ResultMessage); ok && r.ParentToolUseID == "" {
			last = r
		}
	}
	return last
}

// requestText describes a request for permission on one line.
func requestText(p *printer, r *event.PermissionRequest) string {
	p.con.Lock()
	defer p.con.Unlock()
	return term.OneLine(cmp.Or(r.ToolName, r.DisplayName) + " " + p.detail(r.Input))
}
