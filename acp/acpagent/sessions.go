package acpagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/acpevent"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
)

const (
	// maxPages limits the number of pages of sessions that are read.
	maxPages = 100
	// maxReplay limits the events of a replayed session.
	maxReplay = 1 << 20
)

// Description is an agent's description of itself.
type Description struct {
	Name, Title, Version string
	Logins               []LoginMethod
	Capabilities         acp.AgentCapabilities
}

// Describe starts the agent, requests its description, and ends it.
func (p *Provider) Describe(ctx context.Context, opts agent.Options) (d Description, err error) {
	err = p.visit(ctx, opts, func(s *Session) error {
		info := s.hello.AgentInfo.Or(acp.Implementation{})
		d = Description{info.Name, info.Title.Or(info.Name), info.Version, s.loginMethods(nil), s.hello.AgentCapabilities.Or(acp.AgentCapabilities{})}
		return nil
	})
	return d, err
}

// Sessions returns the agent's sessions of a directory, or of all directories if the options have
// no directory. If the agent cannot list sessions, the error is [agent.ErrUnsupported].
func (p *Provider) Sessions(ctx context.Context, opts agent.Options) (list []agent.HistoryInfo, err error) {
	err = p.visit(ctx, opts, func(s *Session) error {
		if !s.sessionCapabilities().List.IsSet() {
			return fmt.Errorf("%w: the agent cannot list sessions", agent.ErrUnsupported)
		}
		request := &acp.ListSessionsRequest{CWD: acp.NonZero(opts.Dir)}
		for range maxPages {
			var page acp.ListSessionsResponse
			if err := s.call(ctx, acp.MethodSessionList, request, &page); err != nil {
				return err
			}
			for _, one := range page.Sessions {
				changed, _ := time.Parse(time.RFC3339, one.UpdatedAt.Or("")) // the zero time if it is unknown
				list = append(list, agent.HistoryInfo{ID: string(one.SessionID), Summary: one.Title.Or(""), Dir: one.CWD, Modified: changed, Archived: one.Archived.Or(false)})
			}
			if request.Cursor = page.NextCursor; page.NextCursor.Or("") == "" {
				break
			}
		}
		return nil
	})
	return list, err
}

// Replay returns the events of a session that the agent keeps. Calls that the agent did not complete are shown as ended. For an
// agent that cannot load sessions the error is [agent.ErrUnsupported].
func (p *Provider) Replay(ctx context.Context, id string, opts agent.Options) (events []event.Event, err error) {
	servers, err := clientServers(opts.MCPServers)
	if err != nil {
		return nil, err
	}
	err = p.visit(ctx, opts, func(s *Session) error {
		if !s.hello.AgentCapabilities.Or(acp.AgentCapabilities{}).LoadSession.Or(false) {
			return fmt.Errorf("%w: the agent cannot load sessions", agent.ErrUnsupported)
		}
		s.kit.Do(func() {
			s.replay = &replay{conv: acpevent.Converter{Provider: p.Name(), SessionID: id, Replay: true}}
		})
		var answer continued
		err := s.call(ctx, acp.MethodSessionLoad, &acp.LoadSessionRequest{SessionID: acp.SessionID(id), CWD: s.dir, MCPServers: servers}, &answer)
		if err != nil {
			return err
		}
		s.kit.Do(func() {
			events = append(s.replay.events, s.replay.conv.Stop()...)
			s.replay = nil // later events are not part of the history
		})
		return nil
	})
	return events, err
}

// replay collects the events of a session that is loaded.
type replay struct {
	conv   acpevent.Converter
	events []event.Event
}

func (r *replay) take(u *acp.SessionUpdate) {
	if len(r.events) < maxReplay {
		r.events = append(r.events, r.conv.Update(u)...)
	}
}

// Delete requests the agent to delete a session. It returns [agent.ErrUnsupported] if the agent cannot.
func (p *Provider) Delete(ctx context.Context, id string, opts agent.Options) error {
	return p.visit(ctx, opts, func(s *Session) error {
		if !s.sessionCapabilities().Delete.IsSet() {
			return fmt.Errorf("%w: the agent cannot delete sessions", agent.ErrUnsupported)
		}
		return s.call(ctx, acp.MethodSessionDelete, map[string]string{"sessionId": id}, new(json.RawMessage))
	})
}

// visit starts the agent for an action that needs no session.
func (p *Provider) visit(ctx context.Context, opts agent.Options, do func(*Session) error) error {
	s, err := p.connect(ctx, opts)
	if err != nil {
		return err
	}
	err = do(s)
	return errors.Join(err, s.Close())
}

// sessionCapabilities holds the session methods that the agent supports.
func (s *Session) sessionCapabilities() acp.SessionCapabilities {
	return s.hello.AgentCapabilities.Or(acp.AgentCapabilities{}).SessionCapabilities.Or(acp.SessionCapabilities{})
}
