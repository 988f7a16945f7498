package acpagent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/internal/agentkit"
)

var _ agent.Catalog = (*Session)(nil)

// Models returns the models that the agent has announced.
func (s *Session) Models(context.Context) (list []agent.Entry, err error) {
	now := s.setting(modelOf)
	if len(now.Values) == 0 {
		return nil, fmt.Errorf("%w: the agent has announced no models", agent.ErrUnsupported)
	}
	for _, c := range now.Values {
		description := c.Name
		if c.Description != "" {
			description += ": " + c.Description
		}
		list = append(list, agent.Entry{Name: c.Value, Description: description, Data: json.RawMessage(c.Data)})
	}
	return list, nil
}

// Commands returns the commands that the agent has announced so far.
func (s *Session) Commands(context.Context) (list []agent.Entry, err error) {
	s.kit.Do(func() {
		list = agentkit.Entries(s.commands, func(c *acp.AvailableCommand) (string, string) { return c.Name, c.Description })
	})
	return list, nil
}

// Agents returns [agent.ErrUnsupported]: the protocol has no list of subagents.
func (s *Session) Agents(context.Context) ([]agent.Entry, error) {
	return nil, fmt.Errorf("%w: the protocol has no list of subagents", agent.ErrUnsupported)
}
