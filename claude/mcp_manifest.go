package claude

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// captureTime limits the capture of all manifests together.
const captureTime = 250 * time.Millisecond

// mcpManifest holds the answers to the CLI's first requests to a server of this process.
// With it the first turn needs no handshake with the server.
type mcpManifest struct {
	InitializeResult json.RawMessage `json:"initializeResult"`
	ToolsListResult  json.RawMessage `json:"toolsListResult,omitempty"`
}

// mcpServerConfig is the configuration of a server for the CLI, without its name.
type mcpServerConfig struct {
	Timeout int             `json:"timeout,omitempty"`
	Tools   []MCPToolPolicy `json:"tools,omitempty"`
}

// serve starts the servers of the options and adds them to initialize.
func (h *mcpHost) serve(ctx context.Context, request []byte) ([]byte, error) {
	fields := struct {
		Servers   []string                   `json:"sdkMcpServers"`
		Configs   map[string]mcpServerConfig `json:"sdkMcpServerConfigs,omitempty"`
		Manifests map[string]mcpManifest     `json:"sdkMcpServerManifests,omitempty"`
	}{Configs: map[string]mcpServerConfig{}}
	links := h.set(h.launch.MCPServers)
	for _, name := range slices.Sorted(maps.Keys(links)) {
		l := links[name]
		fields.Servers = append(fields.Servers, name)
		if l.def.Timeout != 0 || len(l.def.Tools) > 0 {
			fields.Configs[l.name] = mcpServerConfig{l.def.Timeout, l.def.Tools}
		}
	}
	if !h.launch.switchedOn("CLAUDE_AGENT_SDK_DISABLE_MCP_MANIFESTS") {
		fields.Manifests = captureManifests(ctx, links)
	}
	more, err := jsonwire.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return slices.Concat(request[:len(request)-1], []byte(","), more[1:]), nil
}

// switchedOn reports whether a variable of the session's environment has a true value.
func (l *launch) switchedOn(name string) bool {
	env := l.environ()
	i := variable(env, name)
	if i < 0 {
		return false
	}
	return !slices.Contains([]string{"", "0", "false", "no", "off"}, env[i][len(name)+1:])
}

// captureManifests queries all servers concurrently. It omits a server that fails or does
// not answer in time; the CLI then asks it.
func captureManifests(ctx context.Context, links map[string]*mcpLink) map[string]mcpManifest {
	ctx, cancel := context.WithTimeout(ctx, captureTime)
	defer cancel()
	manifests := map[string]mcpManifest{}
	var mu sync.Mutex
	var capturing sync.WaitGroup
	for _, l := range links {
		capturing.Go(func() {
			if m, ok := l.capture(ctx); ok {
				mu.Lock()
				defer mu.Unlock()
				manifests[l.name] = m
			}
		})
	}
	capturing.Wait()
	for _, l := range links {
		// Omit a list that changed before it was sent.
		if m, ok := manifests[l.name]; ok && l.hasChanged() {
			m.ToolsListResult = nil
			manifests[l.name] = m
		}
	}
	return manifests
}

func (l *mcpLink) hasChanged() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// capture initializes the server as the CLI would.
func (l *mcpLink) capture(ctx context.Context) (m mcpManifest, ok bool) {
	params, err := jsonwire.Marshal(cliInfo)
	if err != nil {
		return m, false
	}
	m.InitializeResult, ok = l.ask(ctx, "initialize", params)
	if !ok {
		return m, false
	}
	if l.put(&jsonrpc.Request{Method: "notifications/initialized"}) != nil {
		return m, false
	}
	var server struct {
		Capabilities struct {
			Tools *struct{} `json:"tools"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(m.InitializeResult, &server); err != nil {
		return m, false
	}
	if server.Capabilities.Tools == nil {
		return m, true
	}
	tools, ok := l.ask(ctx, "tools/list", nil)
	if !ok {
		return m, false
	}
	var page struct {
		NextCursor string `json:"nextCursor"`
	}
	if err := json.Unmarshal(tools, &page); err != nil {
		return m, false
	}
	if page.NextCursor == "" { // otherwise the CLI has to request all pages
		m.ToolsListResult = tools
	}
	return m, true
}

func (l *mcpLink) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, bool) {
	id, err := jsonrpc.MakeID("sdk-manifest-capture:" + method)
	if err != nil {
		return nil, false
	}
	resp, err := l.call(ctx, &jsonrpc.Request{ID: id, Method: method, Params: params}, false)
	if err != nil || resp.Error != nil {
		return nil, false
	}
	return resp.Result, true
}
