package codexagent

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/seed7221b0f9/parley/agent"
)

func TestMCPConfig(t *testing.T) {
	for _, tt := range []struct {
		servers, want string
		err           error
	}{
		{"", "null", nil},
		{`{"my tools":{"command":"a","args":["b"],"env":{"K":"v"}},"web":{"type":"http","url":"https://x","headers":{"A":"b"}},"plain":{"type":"stdio","command":"c"}}`,
			`{"mcp_servers.my_tools":{"args":["b"],"command":"a","env":{"K":"v"}},"mcp_servers.plain":{"args":[],"command":"c"},"mcp_servers.web":{"http_headers":{"A":"b"},"url":"https://x"}}`, nil},
		{`{"a":{"type":"sse","url":"https://x"}}`, "null", agent.ErrUnsupported},
		{`{"a b":{"command":"x"},"a.b":{"command":"y"}}`, "null", agent.ErrInvalid},
		{`[]`, "null", agent.ErrInvalid},
	} {
		config, err := mcpConfig(json.RawMessage(tt.servers))
		got, _ := json.Marshal(config)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %s, %v; want %s, %v", tt.servers, got, err, tt.want, tt.err)
		}
	}
}
