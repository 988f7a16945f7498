package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/sparing"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/mcpserver"
	"github.com/seed7221b0f9/parley/server/session"
)

// mcpRoutes are the addresses of the Model Context Protocol. Each tool call of a client becomes
// method calls, with their rights, limits and audit rows.
func mcpRoutes() []route {
	return []route{{&method{name: "mcp", role: roleViewer, scope: unlinked, tenancy: ofTenant, audit: unaudited, body: maxBody}, "/mcp", (*Server).mcp}}
}

// mcp serves one request of an MCP client. The server keeps no MCP session: each request has its
// token, and ends with its connection.
func (s *Server) mcp(w http.ResponseWriter, r *http.Request, c *caller, m *method) error {
	release, err := s.connection(r)
	if err != nil {
		return err
	}
	defer release()
	var prompt aside
	if r.Method == http.MethodPost {
		defer sparing.Hold(int(min(r.ContentLength, s.limit(c, m))))()
		data, err := s.body(w, r, s.limit(c, m))
		if err != nil {
			return err
		}
		data, prompt = setAside(data)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	}
	held, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	tools := mcpserver.New(&mcpService{local{s, c}, held, make(chan struct{}, maxCalls), prompt}, s.opts.Version)
	mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: s.limit(c, m),
		DisableLocalhostProtection: true, // the filter has checked Host and Origin
	}).ServeHTTP(w, r.WithContext(held))
	return nil
}

// mcpService serves the tools of one request. The request ends when held does.
type mcpService struct {
	local
	held   context.Context
	places chan struct{} // limits the concurrent calls, because a request can be a batch
	prompt aside
}

// Call calls a method.
func (m *mcpService) Call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := m.within(ctx)
	defer cancel()
	if m.held.Err() != nil {
		return m.held.Err()
	}
	select {
	case m.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-m.places }()
	data, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if err := m.srv.callWith(ctx, m.who, method, m.prompt.insert(data), result); err != nil {
		return session.FailureOf(err) // internal details are logged, not sent
	}
	return nil
}

// Follow yields the messages of a session.
func (m *mcpService) Follow(ctx context.Context, id string, after *api.Cursor) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		ctx, cancel := m.within(ctx)
		defer cancel()
		m.local.Follow(ctx, id, after)(yield)
	}
}

// within returns a context that also ends with the request.
func (m *mcpService) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(m.held, cancel)
	return ctx, func() { stop(); cancel() }
}
