package mcptool

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// NewToolServer returns a server of the MCP SDK that has the given tools. An SDK of this
// module serves it to its agent, for Claude as
//
//	claude.MCPServer{Server: mcptool.NewToolServer("calc", "1.0.0", add)}
//
// It may be used by many clients at once; each has a session of its own with it. Of two tools
// with one name the last counts, and [Check] reports it, as it does names that no model takes.
func NewToolServer(name, version string, tools ...Tool) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: version}, &mcp.ServerOptions{
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}},
	})
	for _, t := range tools {
		t.AddTo(server)
	}
	if err := CheckTools(tools); err != nil {
		key := weak.Make(server)
		mistakes.Store(key, err)
		runtime.AddCleanup(server, func(key weak.Pointer[mcp.Server]) { mistakes.Delete(key) }, key)
	}
	return server
}

// mistakes are the errors of servers whose tools cannot work. Their keys keep none alive.
var mistakes sync.Map

// Check says why the tools that [NewToolServer] was given cannot work: two of them have one name,
// or the API refuses a name. It is nil for any other server.
func Check(server *mcp.Server) error {
	if err, ok := mistakes.Load(weak.Make(server)); ok {
		return err.(error)
	}
	return nil
}

// maxName is the length of the longest name that the API takes.
const maxName = 128

// CheckTools says why tools cannot work together: two of them have one name, or a name is not
// one that a model takes. Names are compared as the API sees them, where a dot or a slash is an
// underscore.
func CheckTools(tools []Tool) error {
	seen := map[string]string{}
	for _, t := range tools {
		name := t.Name()
		if !validName.MatchString(name) {
			return fmt.Errorf("tool %q: a name has 1 to %d letters, digits, underscores, hyphens, dots and slashes", name, maxName)
		}
		key := strings.NewReplacer(".", "_", "/", "_").Replace(name)
		if other, twice := seen[key]; twice {
			return fmt.Errorf("tools %q and %q have one name", other, name)
		}
		seen[key] = name
	}
	return nil
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9_./-]{1,128}$`)

// guarded are the servers that have the guard. Their keys keep none alive.
var guarded sync.Map

// Guard adds to a server what an SDK of this module needs of it: a panic in a handler ends
// the call and not the process, and [CallInfo] works. It may be called many times.
func Guard(server *mcp.Server) {
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
