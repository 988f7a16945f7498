package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// filter decides whether a request is admitted before any other processing.
type filter struct {
	hosts   []string // names and addresses, with or without a port
	origins []string
	proxies []netip.Prefix
	cookie  string // the name of the cookie
}

func newFilter(opts Options) (*filter, error) {
	sum := sha256.Sum256([]byte(opts.Dir))
	f := &filter{hosts: []string{"localhost", "127.0.0.1", "::1"}, cookie: "parley_" + hex.EncodeToString(sum[:4])}
	for _, h := range opts.AllowedHosts {
		f.hosts = append(f.hosts, strings.ToLower(strings.Trim(h, "[]")))
	}
	for _, o := range opts.AllowedOrigins {
		u, err := url.Parse(o)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Path != "" {
			return nil, fmt.Errorf("server: allowed origin %q is not scheme://host", o)
		}
		f.origins = append(f.origins, strings.ToLower(o))
	}
	for _, p := range opts.TrustedProxies {
		prefix, err := netip.ParsePrefix(p)
		if err != nil {
			addr, err := netip.ParseAddr(p)
			if err != nil {
				return nil, fmt.Errorf("server: trusted proxy %q is neither an address nor a network", p)
			}
			prefix = netip.PrefixFrom(addr, addr.BitLen())
		}
		f.proxies = append(f.proxies, prefix)
	}
	return f, nil
}

// admit checks Host, then Origin, then that the address contains no secret.
func (f *filter) admit(r *http.Request) error {
	if !f.hostAllowed(r.Host) {
		return session.Fail(api.AuthFailed, "host %.100q is not allowed; see --allowed-host", r.Host)
	}
	if origins, ok := r.Header["Origin"]; ok {
		if len(origins) != 1 || !f.originAllowed(origins[0], r) {
			return session.Fail(api.AuthFailed, "origin %.100q is not allowed; see --allowed-origin", strings.Join(origins, ", "))
		}
	}
	for name := range r.URL.Query() {
		switch strings.ToLower(name) {
		case "token", "access_token", "auth", "authorization", "key", "api_key":
			return session.Invalid("a token in a query string ends up in logs; send it as Authorization: Bearer")
		}
	}
	return nil
}

func (f *filter) hostAllowed(host string) bool {
	host = strings.ToLower(host)
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	return host != "" && (slices.Contains(f.hosts, name) || slices.Contains(f.hosts, host))
}

// originAllowed compares with the server's origin. The host was checked before, so that a page with
// a name bound to this address cannot pass.
func (f *filter) originAllowed(origin string, r *http.Request) bool {
	origin = strings.ToLower(origin)
	if slices.Contains(f.origins, origin) {
		return true
	}
	host := strings.ToLower(r.Host)
	if r.TLS != nil {
		return origin == "https://"+host
	}
	// A proxy may terminate TLS for the server, under an allowed name.
	return origin == "http://"+host || origin == "https://"+host && f.fromProxy(r)
}

// encrypted reports whether the client uses TLS, with the server or with a trusted proxy in front of it.
func (f *filter) encrypted(r *http.Request) bool {
	return r.TLS != nil || f.fromProxy(r) && r.Header.Get("X-Forwarded-Proto") == "https"
}

func (f *filter) fromProxy(r *http.Request) bool { return f.proxy(r.RemoteAddr) }

// proxy reports whether an address with a port belongs to a trusted proxy.
func (f *filter) proxy(remote string) bool {
	addr, err := netip.ParseAddrPort(remote)
	return err == nil && slices.ContainsFunc(f.proxies, func(p netip.Prefix) bool { return p.Contains(addr.Addr().Unmap()) })
}

// remote returns the address of the client. Headers count only from a trusted proxy, and then only
// the last hop.
func (f *filter) remote(r *http.Request) string {
	if f.fromProxy(r) {
		hops := strings.Split(strings.Join(r.Header["X-Forwarded-For"], ","), ",")
		if addr, err := netip.ParseAddr(strings.TrimSpace(hops[len(hops)-1])); err == nil {
			return addr.String()
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

// wantJSON rejects a body that a foreign page could send without a preflight request.
func wantJSON(r *http.Request) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return &httpError{http.StatusUnsupportedMediaType, &session.Failure{Reason: api.InvalidParams, Message: "the content type must be application/json"}}
	}
	return nil
}

// httpError is an error with an HTTP status.
type httpError struct {
	status int
	*session.Failure
}

func (e *httpError) Unwrap() error { return e.Failure }

// port returns the local port of a request.
func port(r *http.Request) string {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if _, port, err := net.SplitHostPort(addr.String()); err == nil {
			return port
		}
	}
	return ""
}

// identify returns the principal of a request: from a bearer token, or from the cookie of one of
// the server's pages.
func (f *filter) identify(t *tokens, r *http.Request) (*principal, error) {
	if h, ok := r.Header["Authorization"]; ok {
		value, isBearer := strings.CutPrefix(strings.Join(h, ""), "Bearer ")
		if !isBearer {
			return nil, session.Fail(api.AuthFailed, "the authorization is not a bearer token")
		}
		p, err := t.check(strings.TrimSpace(value), port(r))
		if err == nil && p.cookie {
			return nil, errToken
		}
		return p, err
	}
	p, err := f.holder(t, r)
	if err != nil {
		return nil, err
	}
	// A browser reports the origin of a request. A request that changes state or opens a socket
	// must come from a page of the server.
	if r.Method != http.MethodGet || r.Header.Get("Upgrade") != "" {
		if _, ok := r.Header["Origin"]; !ok {
			return nil, session.Fail(api.AuthFailed, "a request with a cookie needs an Origin")
		}
	}
	_, named := r.Header["Origin"] // which was checked
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" && !named {
		return nil, session.Fail(api.AuthFailed, "a request from another site")
	}
	return p, nil
}

// holder returns the principal of a request's cookie. Cookies do not distinguish ports, and a page
// on a neighbouring name can set some for this one, so several may have the name: invalid ones are
// ignored, and two valid ones are rejected.
func (f *filter) holder(t *tokens, r *http.Request) (*principal, error) {
	var found *principal
	cookies := r.CookiesNamed(f.cookie)
	for _, c := range cookies[:min(len(cookies), maxCookies)] {
		p, err := t.check(c.Value, port(r))
		if err != nil || !p.cookie {
			continue
		}
		if found != nil && found.id != p.id {
			return nil, errToken
		}
		found = p
	}
	if found == nil {
		return nil, errToken
	}
	return found, nil
}

// maxCookies is the number of cookies with the server's name that are checked.
const maxCookies = 16
