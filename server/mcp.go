package server

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/internal/sparing"
	"github.com/seed7221b0f9/parley/server/mcpserver"
	"github.com/seed7221b0f9/parley/server/session"
)

// mcpRoutes are the addresses of the Model Context Protocol. A client's tools are calls of methods, with
// their rights, limits and audit rows.
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
	if r.Method == http.MethodPost {
		defer sparing.Hold(int(min(r.ContentLength, s.limit(c, m))))()
		data, err := s.body(w, r, s.limit(c, m))
		if err != nil {
			return err
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	}
	held, letGo := s.hold(w, r, c)
	defer letGo()
	held, cancel := context.WithCancel(held)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	places := make(chan struct{}, maxCalls) // a request can be a batch of calls
	call := func(ctx context.Context, method string, params, result any) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(held, cancel)()
		if held.Err() != nil {
			return held.Err()
		}
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer func() { <-places }()
		if err := s.callAs(ctx, c, method, params, result); err != nil {
			return session.FailureOf(err) // internal details are logged, not sent
		}
		return nil
	}
	mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return mcpserver.New(call, s.opts.Version) }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: s.limit(c, m),
		DisableLocalhostProtection: true, // the filter has checked Host and Origin
	}).ServeHTTP(w, r.WithContext(held))
	return nil
}
