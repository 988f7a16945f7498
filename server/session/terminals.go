package session

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// Terminals are the calls about sessions that another process has or had open.
type Terminals struct{ *Sessions }

// Lives returns the sessions of a provider that other processes have open. The result is cached for
// a moment, so that lists are cheap.
func (s Terminals) Lives(ctx context.Context, p agent.Provider) map[string]agent.Live {
	lister, ok := p.(agent.LiveLister)
	if !ok {
		return nil
	}
	found, err := s.lives.of(ctx, p, lister)
	if err != nil {
		s.logger.Warn("cannot find the sessions that are open in terminals", "provider", p.Name(), "err", err)
	}
	return found
}

// lives caches the sessions that other processes have open.
type lives struct {
	mu    sync.Mutex
	found map[agent.Provider]found
}

type found struct {
	at       time.Time
	sessions map[string]agent.Live // by the agent's id
}

func (l *lives) of(ctx context.Context, p agent.Provider, lister agent.LiveLister) (map[string]agent.Live, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.found[p].at) >= liveInterval {
		sessions, err := lister.LiveSessions(ctx)
		if err != nil {
			return nil, err
		}
		l.found[p] = found{now, sessions}
	}
	return l.found[p].sessions, nil
}

// Following follows a session that another process has open: the server starts no agent for it.
func (s Terminals) Following(ctx context.Context, id string, live *agent.Live) (api.ConnectResult, error) {
	result := api.ConnectResult{SessionID: id, Status: "following"}
	err := s.with(ctx, id, func(a *actor) error {
		a.occur(onEnd)
		a.terminal.found(live)
		result.Provider, result.Model, result.CWD = a.core.Provider, a.core.Model, a.core.Opened.Dir
		result.Capabilities = CapabilitiesOf(a.provider, nil, a.mayBypass())
		return nil
	})
	return result, err
}

// TakeOver moves a session from a terminal to the server, when it is free.
func (s Terminals) TakeOver(ctx context.Context, p api.SessionRef) (api.ConnectResult, error) {
	a, release, err := s.use(ctx, p.SessionID)
	if err != nil {
		return api.ConnectResult{}, err
	}
	defer release()
	if finder, ok := a.provider.(agent.LiveFinder); ok {
		live, err := finder.Live(ctx, a.agentID(ctx))
		if err != nil {
			return api.ConnectResult{}, err
		}
		if live != nil {
			return api.ConnectResult{}, openElsewhere(live)
		}
		if err := a.call(ctx, func() error { a.terminal.found(nil); return nil }); err != nil {
			return api.ConnectResult{}, err
		}
	}
	return s.Connected(ctx, p.SessionID)
}

// HandBack ends the agent and returns the command with which a person continues in a terminal.
func (s Terminals) HandBack(ctx context.Context, p api.SessionRef) (api.HandBackResult, error) {
	a, release, err := s.use(ctx, p.SessionID)
	if err != nil {
		return api.HandBackResult{}, err
	}
	defer release()
	finder, ok := a.provider.(agent.LiveFinder)
	if !ok {
		return api.HandBackResult{}, Fail(api.Unsupported, "sessions of this agent cannot be continued in a terminal")
	}
	id := a.agentID(ctx)
	if id == "" {
		return api.HandBackResult{}, Conflict("the agent has not begun a session yet")
	}
	if err := a.end(ctx); err != nil {
		return api.HandBackResult{}, err
	}
	result := api.HandBackResult{Command: shellLine(finder.ResumeCommand(id))}
	err = a.call(ctx, func() error {
		result.CWD = a.core.Opened.Dir
		return a.commit(draft{event: &event.Notice{Header: a.core.header(""), Severity: event.NoticeInfo, Code: "handed_back",
			Text: "The session was handed back to the terminal."}, facts: &facts{InTerminal: new(true)}})
	})
	return result, err
}

// shellLine quotes a command for a POSIX shell.
func shellLine(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		plain := arg != "" && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@") == ""
		if quoted[i] = arg; !plain {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
