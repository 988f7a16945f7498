package claude

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// NewToolServer makes a server of tools for [Options.MCPServers] and
// [Client.SetMCPServers]. It may be used by many clients at once; each has a
// session of its own with it. Any other server of the MCP SDK is used as
//
//	claude.MCPServer{Server: server}
func NewToolServer(name, version string, tools ...Tool) MCPServer {
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	for _, t := range tools {
		t.AddTo(server)
	}
	return MCPServer{Server: server}
}

// guarded are the servers that have the guard. Their keys keep none alive.
var guarded sync.Map

// guard sees to it that a panic in a server's handler ends the call and not the
// process, for which the MCP SDK has no provision, and that [CallInfo] works.
func guard(server *mcp.Server) {
	key := weak.Make(server)
	if _, twice := guarded.LoadOrStore(key, true); twice {
		return
	}
	server.AddReceivingMiddleware(guardMethods)
	runtime.AddCleanup(server, func(key weak.Pointer[mcp.Server]) { guarded.Delete(key) }, key)
}

func guardMethods(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		call, isCall := req.(*mcp.CallToolRequest)
		if isCall && call.Params != nil {
			ctx = withCall(ctx, call)
		}
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			reportPanic(ctx, v)
			if isCall {
				result, err = toolPanic(CallInfo(ctx).Name, v), nil
			} else {
				result, err = nil, fmt.Errorf("the handler of %s panicked: %v", method, v)
			}
		}()
		return next(ctx, method, req)
	}
}

// externalServers are the servers that the CLI starts or connects to.
func (o *Options) externalServers() map[string]MCPServer {
	if !o.hasToolServers() {
		return o.MCPServers
	}
	external := maps.Clone(o.MCPServers)
	maps.DeleteFunc(external, func(_ string, s MCPServer) bool { return s.Server != nil })
	return external
}

// checkServers refuses a server that is two things at once, and one that claims
// to be in this process but is not there.
func checkServers(servers map[string]MCPServer) error {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		elsewhere := s.Command != "" || s.URL != "" || len(s.Args) > 0 || len(s.Env) > 0 || len(s.Headers) > 0
		switch {
		case s.Server != nil && (elsewhere || s.Type != "" && s.Type != "sdk"):
			return fmt.Errorf("claude: MCP server %q: a server of this process has no command, no URL and no type", name)
		case s.Server == nil && s.Type == "sdk":
			return fmt.Errorf("claude: MCP server %q: the type sdk needs a Server", name)
		}
	}
	return nil
}
