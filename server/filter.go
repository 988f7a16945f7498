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

// filter decides whether a request may come in before anything else looks at it.
type filter struct {
	hosts   []string // names and addresses without a port, or with one
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

// admit checks Host, then Origin, then that no secret is in the address.
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

// originAllowed compares with the server's own origin. The host was checked before, so that
// a page whose name was bound to this address cannot pass.
func (f *filter) originAllowed(origin string, r *http.Request) bool {
	origin = strings.ToLower(origin)
	if slices.Contains(f.origins, origin) {
		return true
	}
	host := strings.ToLower(r.Host)
	if r.TLS != nil {
		return origin == "https://"+host
	}
	// A proxy may speak TLS for the server, under a name that is allowed.
	return origin == "http://"+host || origin == "https://"+host && f.fromProxy(r)
}

func (f *filter) fromProxy(r *http.Request) bool { return f.proxy(r.RemoteAddr) }

// proxy reports whether an address with a port is that of a trusted proxy.
func (f *filter) proxy(remote string) bool {
	addr, err := netip.ParseAddrPort(remote)
	return err == nil && slices.ContainsFunc(f.proxies, func(p netip.Prefix) bool { return p.Contains(addr.Addr().Unmap()) })
}

// remote is the address of the client. What a header says counts from a trusted proxy
// alone, and then its last hop.
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

// wantJSON refuses a body that a foreign page could send without asking first.
func wantJSON(r *http.Request) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return &httpError{http.StatusUnsupportedMediaType, &session.Failure{Reason: api.InvalidParams, Message: "the content type must be application/json"}}
	}
	return nil
}

// httpError is a failure with a status of its own.
type httpError struct {
	status int
	*session.Failure
}

func (e *httpError) Unwrap() error { return e.Failure }

// port returns the port that a request came to.
func port(r *http.Request) string {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		if _, port, err := net.SplitHostPort(addr.String()); err == nil {
			return port
		}
	}
	return ""
}

// identify returns who a request is from: a bearer token, or the cookie of a page of the
// server's own.
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
	// A browser says where a request comes from. One that changes something or opens a
	// socket must come from a page of the server.
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

// holder returns who the cookie of a request is of. Cookies do not tell ports apart, and a page
// on a neighbouring name can set some for this one, so that there may be several of the name:
// those that are wrong do not count, and two that are good are refused.
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

// maxCookies is how many cookies of the server's name are looked at.
const maxCookies = 16
