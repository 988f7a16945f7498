package claudeevent

import (
	"slices"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/message"
)

// liveSession is the state of the session, kept to detect changes.
type liveSession struct {
	begun              bool
	model, mode, cwd   string
	servers            []event.MCPServer
	contextWindowSizes map[string]int64 // by model
}

// pointer returns a pointer to a changed text, or nil for an empty one.
func pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (c *Converter) init(h event.Header, raw event.JSON, m *message.Init) {
	ev := &event.SystemInit{Header: h, CWD: m.CWD, Model: m.Model, PermissionMode: string(m.PermissionMode),
		APIKeySource: m.APIKeySource, Tools: m.Tools, SlashCommands: m.SlashCommands, Agents: m.Agents,
		Skills: m.Skills, OutputStyle: m.OutputStyle, CLIVersion: m.ClaudeCodeVersion, Data: raw}
	if m.MCPServers != nil {
		ev.MCPServers = []event.MCPServer{}
	}
	for _, s := range m.MCPServers {
		ev.MCPServers = append(ev.MCPServers, event.MCPServer{Name: s.Name, Status: s.Status})
	}
	c.emit(ev)
	info := &event.SessionInfo{Model: pointer(m.Model), PermissionMode: pointer(string(m.PermissionMode)), CWD: pointer(m.CWD), MCPServers: ev.MCPServers}
	c.changed(h, info)
	c.session.begun = true
}

// changed emits the members that differ from the state. The initial values of a session
// are not a change.
func (c *Converter) changed(h event.Header, info *event.SessionInfo) {
	s, ev := &c.session, &event.SessionInfo{Header: h}
	update := func(known *string, now *string) *string {
		if now == nil || *now == *known {
			return nil
		}
		*known = kept(*now)
		return now
	}
	ev.Model, ev.PermissionMode, ev.CWD = update(&s.model, info.Model), update(&s.mode, info.PermissionMode), update(&s.cwd, info.CWD)
	if info.MCPServers != nil && !slices.Equal(info.MCPServers, s.servers) {
		s.servers = nil
		for _, server := range info.MCPServers {
			s.servers = append(s.servers, event.MCPServer{Name: kept(server.Name), Status: kept(server.Status)})
		}
		ev.MCPServers = info.MCPServers
	}
	if s.begun && (ev.Model != nil || ev.PermissionMode != nil || ev.CWD != nil || ev.MCPServers != nil) {
		c.emit(ev)
	}
}

// windows records the sizes of the models' context windows.
func (s *liveSession) windows(modelUsage event.JSON) {
	var models map[string]struct {
		ContextWindow float64 `json:"contextWindow"`
	}
	if modelUsage == "" || modelUsage.Decode(&models) != nil {
		return
	}
	for model, usage := range models {
		if n := count(event.Encoded(usage), "contextWindow"); n > 0 {
			if s.contextWindowSizes == nil {
				s.contextWindowSizes = map[string]int64{}
			}
			s.contextWindowSizes[model] = n
		}
	}
}

// window returns the size of a model's context window, or nil if it is unknown.
func (s *liveSession) window(model string) *int64 {
	n, ok := s.contextWindowSizes[model]
	if !ok {
		return nil
	}
	return &n
}
