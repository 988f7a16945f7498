package server

import "net/http"

// route is an address with the access of a method: the required role, the scope, the tenancy and
// the limit of the body.
type route struct {
	*method
	pattern string
	serve   func(s *Server, w http.ResponseWriter, r *http.Request, c *caller, m *method) error
}

// routed serves a route for callers that may call it.
func (s *Server) routed(rt route) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		c, err := s.identify(r)
		if err == nil {
			err = s.tokens.current(c.principal)
		}
		if err == nil {
			err = rt.permits(c.principal)
		}
		if err != nil {
			return err
		}
		return rt.serve(s, w, r, c, rt.method)
	}
}
