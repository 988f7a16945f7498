package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/host/join"
	"github.com/seed7221b0f9/parley/internal/sparing"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
	"github.com/seed7221b0f9/parley/web"
	"go.opentelemetry.io/otel/propagation"
)

// securityHeaders are sent with every response. The page has no inline script or style, so that
// text of an agent that reaches it by mistake cannot become code.
var securityHeaders = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
		"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
}

// workerPolicy is the policy of the service worker: it keeps files of the page and answers requests.
const workerPolicy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"

// Handler returns the server's HTTP handler: the methods, the streams, the description of both, and
// the page. Serve also limits connections.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", s.readyz)
	mux.Handle("POST /v1/login", s.filtered(s.login))
	mux.Handle("POST /v1/pair", s.filtered(s.pair))
	mux.Handle("POST /v1/logout", s.filtered(s.authenticated(s.logout)))
	mux.Handle("POST /v1/{method}", s.filtered(s.authenticated(s.serveCall)))
	mux.Handle("GET /v1/ws", s.filtered(s.authenticated(s.websocket)))
	for _, rt := range routes() {
		mux.Handle(rt.pattern, s.filtered(s.authenticated(s.routed(rt))))
	}
	mux.Handle("GET /v1/openapi.json", s.filtered(openAPI))
	mux.Handle("/v1/", s.filtered(func(http.ResponseWriter, *http.Request) error {
		return &httpError{http.StatusNotFound, &session.Failure{Reason: methodNotFound, Message: "unknown address; methods are called with POST /v1/<method>"}}
	}))
	if s.opts.Docs != nil {
		mux.Handle("/docs/", s.filtered(func(w http.ResponseWriter, r *http.Request) error {
			s.opts.Docs.ServeHTTP(w, r)
			return nil
		}))
	}
	page := web.Handler()
	mux.Handle("/", s.filtered(func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return &httpError{http.StatusMethodNotAllowed, &session.Failure{Reason: api.InvalidParams, Message: "the page is read with GET"}}
		}
		if r.URL.Path == "/"+web.Worker {
			w.Header().Set("Content-Security-Policy", workerPolicy)
		}
		page.ServeHTTP(w, r)
		return nil
	}))
	return s.bounded(mux)
}

// filtered checks the origin of a request before it calls f, and writes f's error.
func (s *Server) filtered(f func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range securityHeaders {
			w.Header().Set(name, value)
		}
		err := s.filter.admit(r)
		if err == nil {
			err = f(w, r)
		}
		if err != nil && !isCancelled(err) {
			writeError(w, err)
		}
	})
}

// readyz reports whether the server can accept work: it is not draining, and its store can write.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, string(session.FailureOf(err).Reason)+"\n")
		return
	}
	text := "ok\n"
	if n := s.damaged(); n > 0 {
		text += fmt.Sprintf("%d logs have lost events: damaged files; parley doctor lists them\n", n)
	}
	if files, _ := DamagedFiles(s.opts.Dir); len(files) > 0 {
		text += fmt.Sprintf("%d files of the server were damaged and put aside; parley doctor lists them\n", len(files))
	}
	_, _ = io.WriteString(w, text)
}

// damaged returns the number of logs of the store with lost events.
func (s *Server) damaged() int {
	logs := map[string]bool{}
	for _, d := range s.store.Damage() {
		logs[d.Session] = true
	}
	return len(logs)
}

// statuses are the HTTP statuses of reasons; others are 400.
var statuses = map[api.Reason]int{
	api.AuthFailed: http.StatusForbidden, api.NotConnected: http.StatusConflict, api.SessionExpired: http.StatusNotFound,
	api.Conflict: http.StatusConflict, api.NotOwner: http.StatusConflict, api.Draining: http.StatusServiceUnavailable,
	api.LimitReached: http.StatusTooManyRequests, api.TooSlow: http.StatusGatewayTimeout, api.Resync: http.StatusGone,
	api.Unsupported: http.StatusNotImplemented, api.CLINotFound: http.StatusServiceUnavailable, methodNotFound: http.StatusNotFound,
	session.InternalError: http.StatusInternalServerError, api.BudgetExceeded: http.StatusPaymentRequired,
}

// errorBody is an error in a response.
type errorBody struct {
	Error api.ErrorObject `json:"error"`
}

func writeError(w http.ResponseWriter, err error) {
	status, ok := statuses[session.FailureOf(err).Reason]
	if !ok {
		status = http.StatusBadRequest
	}
	var he *httpError
	if errors.As(err, &he) {
		status = he.status
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="parley"`)
	}
	writeJSON(w, status, errorBody{errorObject(err)})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"error":{"code":-32603,"message":"the answer cannot be encoded","data":{"reason":"internal"}}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	data = append(data, '\n')
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data) // a disconnected client is not a fault
}

// writeResult writes the result of a call, which may be large.
func (s *Server) writeResult(w http.ResponseWriter, r *http.Request, v any) error {
	e, leave, err := s.encode(r.Context(), v, plain)
	if err != nil {
		return err
	}
	defer leave()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	e.tail = append(e.tail[:len(e.tail):len(e.tail)], '\n')
	_ = e.write(w) // a disconnected client is not a fault
	return nil
}

// identify returns the caller of a request; an unknown one gets 401.
func (s *Server) identify(r *http.Request) (*caller, error) {
	p, err := s.filter.identify(s.tokens, r)
	if err != nil {
		return nil, s.refused(r, err)
	}
	p.remote = s.filter.remote(r)
	if p.role == roleHost && r.URL.Path != join.Path {
		return nil, &httpError{http.StatusForbidden, &session.Failure{Reason: api.AuthFailed, Message: "a token of a machine can only join"}}
	}
	return &caller{principal: p}, nil
}

// authenticated serves requests of callers with a token. The context of a request limits the data visible to the caller and ends with
// the token. At that moment reading of the body stops, a client that does not read its response is disconnected, and a request
// without a response is refused.
func (s *Server) authenticated(f func(http.ResponseWriter, *http.Request, *caller) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		c, err := s.identify(r)
		if err != nil {
			return err
		}
		held, release := s.hold(w, r, c)
		defer release()
		err = f(w, r.WithContext(withCaller(held, c)), c)
		if err != nil && context.Cause(held) == errToken {
			if out, ok := w.(*response); ok {
				out.End(closeTimeout)
			}
			return &httpError{http.StatusUnauthorized, session.FailureOf(errToken)} // does not count as a wrong token
		}
		return err
	}
}

// refused returns the response to a request of an unknown caller. It is logged once a minute per
// address, which has a limited number of tries.
func (s *Server) refused(r *http.Request, err error) error {
	remote := s.filter.remote(r)
	first, more := s.tries.bad(remote)
	if first {
		s.logger.Warn("a request was refused", "remote", remote, "path", r.URL.Path, "why", err.Error())
	}
	if !more {
		return &httpError{http.StatusTooManyRequests, &session.Failure{Reason: api.LimitReached, Message: "too many wrong tokens came from this address; try again in a minute"}}
	}
	return &httpError{http.StatusUnauthorized, session.FailureOf(err)}
}

// bodyTimeout is the time limit for a client to send a body.
const bodyTimeout = time.Minute

// smallBody is the limit in bytes of a body from an unknown or read-only caller.
const smallBody = 64 << 10

// body reads the body of a request, of at most max bytes.
func (s *Server) body(w http.ResponseWriter, r *http.Request, max int64) ([]byte, error) {
	if err := wantJSON(r); err != nil {
		return nil, err
	}
	tooLong := &httpError{http.StatusRequestEntityTooLarge, &session.Failure{Reason: api.LimitReached, Message: fmt.Sprintf("the body has more than %d bytes", max)}}
	if r.ContentLength > max {
		return nil, tooLong
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout)) // writers of tests do not support it
	stop := context.AfterFunc(r.Context(), func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) })
	data, err := readAll(http.MaxBytesReader(w, r.Body, max), r.ContentLength)
	waits := stop()
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, tooLong
	}
	if err != nil {
		return nil, &httpError{http.StatusRequestTimeout, &session.Failure{Reason: api.TooSlow, Message: "the body did not come"}}
	}
	if waits {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	}
	return data, nil
}

// readAll reads a body with a claimed length, -1 if unknown. It allocates the memory for a large
// one only when data arrives.
func readAll(body io.Reader, length int64) ([]byte, error) {
	if length <= smallBody {
		return io.ReadAll(body)
	}
	begin := make([]byte, smallBody)
	if _, err := io.ReadFull(body, begin); err != nil {
		return nil, err
	}
	data := make([]byte, length)
	_, err := io.ReadFull(body, data[copy(data, begin):])
	return data, err
}

// serveCall serves a call of a method over HTTP.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, c *caller) error {
	most := int64(smallBody) // for a rejected call, for its audit row
	m, refused := s.method(c, r.PathValue("method"))
	if refused == nil {
		most = s.limit(c, m)
	}
	defer sparing.Hold(int(min(r.ContentLength, most)))()
	params, err := s.body(w, r, most)
	if err != nil && refused == nil {
		return err
	}
	result, err := s.call(s.tracer.From(r.Context(), propagation.HeaderCarrier(r.Header)), c, r.PathValue("method"), params)
	if err != nil {
		return err
	}
	return s.writeResult(w, r, result)
}

// login exchanges a token, which reached the page in the fragment of its address, for a cookie that
// scripts cannot read.
func (s *Server) login(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, smallBody)
	if err != nil {
		return err
	}
	var p struct {
		Token string `json:"token"`
	}
	if json.Unmarshal(data, &p) != nil {
		return session.Invalid("the body is not {\"token\":…}")
	}
	value, age, err := s.tokens.exchange(p.Token, port(r))
	if errors.Is(err, errToken) {
		return s.refused(r, err)
	}
	if err != nil {
		return err
	}
	s.setCookie(w, r, value, int(age/time.Second))
	writeJSON(w, http.StatusOK, api.Empty{})
	return nil
}

func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: s.filter.cookie, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: s.opts.SecureCookies || s.filter.encrypted(r),
	})
}

// logout deletes the cookie of a page.
func (s *Server) logout(w http.ResponseWriter, r *http.Request, c *caller) error {
	if c.cookie {
		if err := s.tokens.revoke(c.id); err != nil {
			return err
		}
	}
	s.setCookie(w, r, "", -1)
	writeJSON(w, http.StatusOK, api.Empty{})
	return nil
}

// connection reserves a place for an open stream; they are limited per address.
func (s *Server) connection(r *http.Request) (release func(), err error) {
	leave, ok := s.streams.enter(s.filter.remote(r))
	if !ok {
		return nil, &httpError{http.StatusTooManyRequests, &session.Failure{Reason: api.LimitReached, Message: "there are too many connections from this address"}}
	}
	select {
	case s.conns <- struct{}{}:
		return func() { <-s.conns; leave() }, nil
	default:
		leave()
		return nil, &httpError{http.StatusServiceUnavailable, &session.Failure{Reason: api.LimitReached, Message: "there are too many connections"}}
	}
}

// parseCursor parses a cursor of the form epoch:seq.sub.
func parseCursor(text string) (*api.Cursor, error) {
	if text == "" {
		return nil, nil
	}
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return nil, session.Invalid("a cursor is epoch:seq.sub")
	}
	seq, sub, _ := strings.Cut(text[i+1:], ".")
	c := &api.Cursor{Epoch: text[:i]}
	var err1, err2 error
	c.Seq, err1 = parseNumber(seq)
	if sub != "" {
		c.Sub, err2 = parseNumber(sub)
	}
	if err1 != nil || err2 != nil {
		return nil, session.Invalid("a cursor is epoch:seq.sub")
	}
	return c, nil
}
