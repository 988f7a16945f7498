package serveragent

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

var (
	_ agent.Catalog     = (*Session)(nil)
	_ agent.ModelSetter = (*Session)(nil)
)

// catalogTimeout limits the time for a list, which a caller may need to open a session.
const catalogTimeout = 10 * time.Second

// Models returns the models of the session's agent. It fails while the agent does not run.
func (s *Session) Models(ctx context.Context) ([]agent.Entry, error) {
	return s.names(ctx, "models.list")
}

// Commands returns the slash commands of the session's agent. It fails while the agent does not run.
func (s *Session) Commands(ctx context.Context) ([]agent.Entry, error) {
	return s.names(ctx, "commands.list")
}

// Agents returns the subagents of the session's agent. It fails while the agent does not run.
func (s *Session) Agents(ctx context.Context) ([]agent.Entry, error) {
	return s.names(ctx, "agents.list")
}

func (s *Session) names(ctx context.Context, method string) ([]agent.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, catalogTimeout)
	defer cancel()
	var r api.NamesResult
	if err := s.p.call(ctx, method, api.SessionRef{SessionID: s.id}, &r); err != nil {
		return nil, err
	}
	var list []agent.Entry
	for _, item := range r.Items {
		list = append(list, entryOf(item))
	}
	return list, nil
}

// entryOf returns an entry of a list, which the server has in the agent's form: the name is its value or its id if it
// has one.
func entryOf(item event.JSON) agent.Entry {
	text := func(name string) string {
		member, _ := item.Member(name)
		return member.Text()
	}
	return agent.Entry{Name: cmp.Or(text("value"), text("id"), text("name")), Description: text("description"), Data: json.RawMessage(item)}
}

// SetModel changes the model of the session at the server, for all its clients.
func (s *Session) SetModel(ctx context.Context, model string) (string, error) {
	if err := s.kit.Alive(); err != nil {
		return "", err
	}
	var r api.SetModelResult
	err := s.p.call(ctx, "session.setModel", api.SetModelParams{SessionID: s.id, Model: model}, &r)
	return r.Model, err
}
