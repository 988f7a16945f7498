package keyproxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ServeHTTP forwards a request with the key instead of the session's token.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead && r.URL.Path == "/" {
		return // the agent checks whether the server is reachable
	}
	if r.Method == http.MethodConnect {
		p.serveTunnel(w, r)
		return
	}
	g, status, why := p.admit(r)
	if g == nil {
		p.opts.Logger.Warn("the key proxy refused a request", "path", r.URL.Path, "why", why)
		p.drain(w, r)
		refuse(w, status, why)
		return
	}
	defer func() { <-g.places }()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(g.ctx, cancel)()
	out := p.outgoing(ctx, w, r)
	resp, err := p.transport.RoundTrip(out)
	if err != nil {
		status, why := http.StatusBadGateway, "the API cannot be reached"
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			status, why = http.StatusRequestEntityTooLarge, "the request is too large"
		}
		p.opts.Logger.Warn("a request to the API failed", "session", g.session, "err", withoutURL(err))
		p.drain(w, r)
		refuse(w, status, why)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		p.opts.Logger.Warn("the API redirects, which is refused", "session", g.session)
		refuse(w, http.StatusBadGateway, "the API redirects")
		return
	}
	copyHeader(w.Header(), resp.Header)
	w.Header().Del("Set-Cookie")
	w.WriteHeader(resp.StatusCode)
	stream(w, resp.Body)
}

// drainTime limits how long the body of a rejected request is read.
const drainTime = 5 * time.Second

// drain discards the rest of a body, up to the limit of bodies: an agent that sends all of it before it reads would otherwise lose the
// response when the connection is reset.
func (p *Proxy) drain(w http.ResponseWriter, r *http.Request) {
	if http.NewResponseController(w).SetReadDeadline(time.Now().Add(drainTime)) == nil {
		_, _ = io.CopyN(io.Discard, r.Body, p.opts.MaxBody) // the response tells the agent what failed
	}
}

// admit returns the grant of a request and reserves a place, or returns the reason of the
// rejection.
func (p *Proxy) admit(r *http.Request) (g *grant, status int, why string) {
	switch {
	case r.Host != p.host:
		return nil, http.StatusForbidden, "the Host is not that of the proxy"
	case len(r.Header["Origin"]) > 0:
		return nil, http.StatusForbidden, "web pages have no place here"
	case !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, r.Method):
		return nil, http.StatusMethodNotAllowed, "the method is not one of GET, HEAD and POST"
	case r.URL.IsAbs() || !strings.HasPrefix(r.URL.Path, "/") || strings.Contains(r.URL.Path, ".."):
		return nil, http.StatusBadRequest, "the path is not one of the API"
	}
	token := r.Header.Get("X-Api-Key")
	if token == "" {
		token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	if g = p.find(token); g == nil {
		return nil, http.StatusUnauthorized, unknownToken
	}
	return g.take()
}

// unknownToken is the reason of a rejection.
const unknownToken = "the token is not one of a session that runs"

// take reserves a place of the session, or returns the reason of a rejection.
func (g *grant) take() (_ *grant, status int, why string) {
	select {
	case g.places <- struct{}{}:
		return g, 0, ""
	default:
		return nil, http.StatusTooManyRequests, "the session has too many requests at once"
	}
}

// outgoing returns the request for the API.
func (p *Proxy) outgoing(ctx context.Context, w http.ResponseWriter, r *http.Request) *http.Request {
	api := p.currentTarget()
	target := *api.url
	target.Path = strings.TrimSuffix(target.Path, "/") + r.URL.Path
	target.RawPath, target.RawQuery = "", r.URL.RawQuery
	out := (&http.Request{Method: r.Method, URL: &target, Host: target.Host, Header: http.Header{}, ContentLength: r.ContentLength}).WithContext(ctx)
	if r.ContentLength != 0 {
		out.Body = io.NopCloser(http.MaxBytesReader(w, r.Body, p.opts.MaxBody)) // open for drain
	}
	copyHeader(out.Header, r.Header)
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		out.Header.Del(name)
	}
	out.Header.Set("X-Api-Key", api.key)
	return out
}

// hopHeaders are headers of a connection, not of the message.
var hopHeaders = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// copyHeader copies the headers that are not about the connection.
func copyHeader(to, from http.Header) {
	drop := slices.Clone(hopHeaders)
	for _, line := range from["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			drop = append(drop, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	for name, values := range from {
		if !slices.Contains(drop, name) {
			to[name] = slices.Clone(values)
		}
	}
}

// stream forwards a body as it arrives.
func stream(w http.ResponseWriter, body io.Reader) {
	flush := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return
			}
			_ = flush.Flush() // the next write fails if it does
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler) // a truncated response must not look complete
		}
	}
}

// refuse responds with an error in the form of the API.
func refuse(w http.ResponseWriter, status int, why string) {
	kind := map[int]string{http.StatusUnauthorized: "authentication_error", http.StatusTooManyRequests: "rate_limit_error", http.StatusBadGateway: "api_error",
		http.StatusRequestEntityTooLarge: "request_too_large"}[status]
	if kind == "" {
		kind = "permission_error"
	}
	if status == http.StatusProxyAuthRequired {
		w.Header().Set("Proxy-Authenticate", "Basic realm=parley")
	}
	body, err := json.Marshal(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": "parley: " + why}})
	if err != nil {
		return // strings can be encoded
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a disconnected agent is not a fault
}

// withoutURL returns an error without the address, because its query can contain secrets.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
