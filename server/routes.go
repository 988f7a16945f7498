package server

import (
	"net/http"
	"slices"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// route is an HTTP address with an access like that of a method: the required role, the scope, the
// tenancy, the audit rows and the limit of the body. {id} in its pattern is a session.
type route struct {
	*method
	pattern string
	serve   func(s *Server, w http.ResponseWriter, r *http.Request, c *caller, m *method) error
}

// routes returns all addresses that need a token, except those of the methods and of the socket.
func routes() []route {
	return slices.Concat([]route{
		{&method{name: "metrics", role: roleViewer, scope: unlinked, tenancy: ofServer, audit: unaudited, body: maxBody}, "GET /metrics", (*Server).metricsPage},
		{&method{name: "backup", role: roleAdmin, scope: unlinked, tenancy: ofServer, audit: audited, body: maxBody}, "GET /v1/backup", (*Server).backup},
		{&method{name: "session.attach", role: roleViewer, scope: linked, tenancy: ofTenant, audit: unaudited, body: maxBody}, "GET /v1/sessions/{id}/events", (*Server).events},
	}, runRoutes(), mcpRoutes(), acpRoutes(), machineRoutes())
}

// routed serves a route to callers that may use it.
func (s *Server) routed(rt route) func(http.ResponseWriter, *http.Request, *caller) error {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		err := s.mayRoute(rt, c, r.PathValue("id"))
		if rt.audit == audited {
			if missing := s.auditRow(c, rt.name, nil, err); err == nil {
				err = missing
			}
		}
		if err != nil {
			return err
		}
		return rt.serve(s, w, r, c, rt.method)
	}
}

// mayRoute returns an error if a caller may not use a route now. It compares the session of a link
// before any lookup, so that the holder does not learn which other sessions exist.
func (s *Server) mayRoute(rt route, c *caller, id string) error {
	if err := s.tokens.current(c.principal); err != nil {
		return err
	}
	if err := rt.permits(c.principal); err != nil {
		return err
	}
	if c.session != "" && c.session != id {
		return session.Fail(api.AuthFailed, "the link is to another session")
	}
	return nil
}
