package codexagent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

// Adopt takes over the server of a thread that runs under a host. See [codex.Adopt].
func (p *Provider) Adopt(ctx context.Context, id string, opts agent.Options, a agent.Adoption) (agent.Session, error) {
	s := newSession(p, opts)
	s.mode, s.model = opts.Mode, opts.Model
	o := s.options()
	s.host(&o, a)
	client, err := codex.Adopt(ctx, &o, codex.Adoption{Process: a.Process, Last: a.Last})
	if err != nil {
		return nil, translate(err)
	}
	s.client = client
	if s.thread, err = client.Thread(ctx, id); err != nil {
		return nil, errors.Join(translate(err), a.Process.Kill(), client.Close())
	}
	s.run()
	return s, nil
}

// host converts the numbered lines to events.
func (s *Session) host(o *codex.Options, a agent.Adoption) {
	s.hosted = agentkit.NewHosted(a)
	o.Observe, o.OnLine = nil, s.observeLine
}

// observeLine converts a numbered line to events.
func (s *Session) observeLine(l codex.Line) {
	s.kit.AddLine(l.Number, l.Past, func() []event.Event {
		switch {
		case l.Value == nil:
			return nil
		case !l.Input:
			events := s.conv.Server(l.Value)
			s.turn.server(l.Value, s.conv.ThreadID)
			return events
		}
		if call, ok := l.Value.(*item.Call); ok {
			s.turn.called(call)
			if l.Past {
				s.restorePrompt(call)
			}
		}
		return s.conv.Client(l.Value)
	})
	s.hosted.Took(l.Number, l.Size)
}

// restorePrompt records a prompt of an earlier process.
func (s *Session) restorePrompt(call *item.Call) {
	var p struct {
		ClientID      string `json:"clientUserMessageId"`
		Collaboration struct {
			Mode string `json:"mode"`
		} `json:"collaborationMode"`
	}
	if item.DecodeValue(call.Params, &p) != nil {
		return
	}
	if p.Collaboration.Mode != "" {
		s.planned = p.Collaboration.Mode == modePlan
	}
	if p.ClientID != "" {
		if s.written == nil {
			s.written = map[string]bool{}
		}
		s.written[p.ClientID] = true
	}
}

// sentBefore reports whether an earlier process has written a prompt.
func (s *Session) sentBefore(ctx context.Context, uuid string) (sent bool, err error) {
	if s.hosted == nil {
		return false, nil
	}
	if err := s.hosted.Wait(ctx); err != nil {
		return false, err
	}
	s.kit.Do(func() { sent = uuid != "" && s.written[uuid] })
	return sent, nil
}

// Batches yields the events, grouped by the line of the server that caused them.
func (s *Session) Batches(ctx context.Context) iter.Seq2[agent.Batch, error] {
	return s.kit.Batches(ctx)
}

// OrphanInput returns the request that interrupts the running turn.
func (s *Session) OrphanInput() []byte {
	turn := ""
	s.kit.Do(func() { turn = s.turn.id })
	if turn == "" {
		return nil
	}
	line, err := json.Marshal(map[string]any{"id": "parley-orphan", "method": "turn/interrupt", "params": map[string]string{"threadId": s.ID(), "turnId": turn}})
	if err != nil {
		return nil // strings can be encoded
	}
	return append(line, '\n')
}

// Kept returns the total length in bytes of the server's lines, or 0 without a host.
func (s *Session) Kept() int64 {
	if s.hosted == nil {
		return 0
	}
	return s.hosted.Kept()
}
