package claudeagent

import (
	"context"
	"errors"
	"iter"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/transcript"
)

// Live returns the process outside this provider that has the session open, or nil.
func (p *Provider) Live(_ context.Context, sessionID string) (*agent.Live, error) {
	live, ok := p.dir().Live(sessionID)
	if !ok || p.owns(live.PID) {
		return nil, nil
	}
	return &agent.Live{PID: live.PID, Since: live.Since, Entry: "cli"}, nil
}

// LiveSessions returns the sessions that are open in processes that this provider has not
// started, by their ids.
func (p *Provider) LiveSessions(context.Context) (map[string]agent.Live, error) {
	all := map[string]agent.Live{}
	for id, live := range p.dir().LiveSessions() {
		if !p.owns(live.PID) {
			all[id] = agent.Live{PID: live.PID, Since: live.Since, Entry: "cli"}
		}
	}
	return all, nil
}

// Follow yields the events of a session from its start, and new ones while another process writes
// it, until ctx ends. They do not include messages of subagents, which History has.
func (p *Provider) Follow(ctx context.Context, sessionID string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		s, err := p.dir().Session(sessionID)
		if err != nil {
			yield(nil, translate(err))
			return
		}
		c := claudeevent.Converter{Provider: p.Name()}
		prompt := ""
		for e, err := range s.Follow(ctx, nil) {
			if _, bad := errors.AsType[*transcript.LineError](err); bad {
				continue // History reports unreadable lines
			}
			if err != nil {
				if ctx.Err() == nil {
					yield(nil, err)
				}
				return
			}
			events := c.Entry(message.JSON(e.Raw()), "")
			prompt = markPrompts(events, prompt)
			for _, ev := range events {
				if !yield(ev, nil) {
					return
				}
			}
		}
	}
}

func (p *Provider) owns(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.running {
		if s.PID() == pid {
			return true
		}
	}
	return false
}

// ResumeCommand returns the command line with which a person continues the session in a
// terminal.
func (p *Provider) ResumeCommand(sessionID string) []string {
	return []string{"claude", "--resume", sessionID}
}
