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

// NewToolServer returns a server of the MCP SDK with the given tools. Package claude takes it as
//
//	claude.MCPServer{Server: mcptool.NewToolServer("calc", "1.0.0", add)}
//
// Many clients may use it concurrently; each has a separate session. Of two tools with the same
// name only the last exists. [Check] reports this, and names that the API rejects.
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

// mistakes maps servers to the errors of their tools. The keys are weak references.
var mistakes sync.Map

// Check returns an error if the tools of a server from [NewToolServer] cannot work, because two of
// them have the same name or the API rejects a name. It returns nil for any other server.
func Check(server *mcp.Server) error {
	if err, ok := mistakes.Load(weak.Make(server)); ok {
		return err.(error)
	}
	return nil
}

// maxName is the length limit of the API for names.
const maxName = 128

// CheckTools returns an error if tools cannot work together, because two of them have the same name
// or the API rejects a name. Names are compared as the API sees them, with dots and slashes as
// underscores. A name has at most 128 characters.
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

// guarded is the set of servers with the guard. The keys are weak references.
var guarded sync.Map

// Guard prepares a server for use by package claude: a panic in a handler ends only the call and
// not the process, and [CallInfo] works in its tools. It may be called several times.
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
