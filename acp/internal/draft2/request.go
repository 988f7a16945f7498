// Package draft2 has the forms of requests and updates in the draft of version 2 of the Agent Client
// Protocol. It converts them from and to the types of version 1.
package draft2

import (
	"encoding/json"
	"errors"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
)

// NewSessionRequest is a request that opens a session, in version 2.
type NewSessionRequest struct {
	SessionID             string                         `json:"sessionId"`
	CWD                   string                         `json:"cwd"`
	MCPServers            []acp.MCPServer                `json:"mcpServers"`
	AdditionalDirectories []string                       `json:"additionalDirectories"`
	SystemPrompt          acp.Optional[acp.SystemPrompt] `json:"systemPrompt"`
	ReplayFrom            *struct{ Type string }         `json:"replayFrom"`
	Meta                  map[string]json.RawMessage     `json:"_meta"`
}

// Capabilities returns the capabilities of a client that asks for version 2.
func Capabilities(p *acp.InitializeRequest) (acp.ClientCapabilities, error) {
	var caps acp.ClientCapabilities
	if raw := p.Extra["capabilities"]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &caps); err != nil {
			if m, ok := errors.AsType[*acp.MemberError](err); ok {
				return caps, &acp.MemberError{Path: "capabilities." + m.Path, Err: m.Err}
			}
			return caps, &acp.MemberError{Path: "capabilities", Err: err}
		}
	}
	// Notices, compactions and booleans belong to the baseline of this version.
	caps.Session = acp.Some(acp.ClientSessionCapabilities{
		Notices: acp.Some(acp.NoticeCapabilities{}), Compaction: acp.Some(acp.CompactionCapabilities{}),
		ConfigOptions: acp.Some(acp.SessionConfigOptionsCapabilities{Boolean: acp.Some(acp.BooleanConfigOptionCapabilities{})}),
	})
	return caps, nil
}

// Initialized returns the answer to initialize. Version 2 has only the ways to log in that use a
// terminal.
func Initialized(info any, provider agent.Capabilities, methods []acp.AuthMethod) any {
	type none struct{}
	session := map[string]any{
		"prompt": map[string]any{"image": none{}, "embeddedContext": none{}}, "mcp": map[string]any{"stdio": none{}, "http": none{}},
		"additionalDirectories": none{}, "systemPrompt": map[string]any{"mode": map[string]any{"override": none{}}},
	}
	if provider.Resume {
		session["fork"] = none{}
	}
	if provider.History {
		session["delete"], session["title"] = none{}, none{}
	}
	auth := []any{}
	for _, m := range methods {
		if t, ok := m.Value.(*acp.AuthMethodTerminal); ok {
			auth = append(auth, map[string]any{"type": "terminal", "methodId": t.ID, "name": t.Name, "description": t.Description, "args": t.Args})
		}
	}
	return map[string]any{
		"protocolVersion": 2, "info": info, "authMethods": auth,
		"capabilities": map[string]any{"session": session, "_meta": map[string]any{"claudeCode": map[string]any{"promptQueueing": true}}},
	}
}
