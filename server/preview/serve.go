package preview

import (
	"context"
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// entry is the path prefix of an address with a code.
const entry = "/.parley/preview/"

// cookieName returns the name of the cookie of a view. With TLS its prefix prevents other hosts
// from setting it.
func (p *Proxy) cookieName(v *view) string {
	if p.opts.Origins.scheme == "https" {
		return "__Host-parley_preview_" + v.id
	}
	return "parley_preview_" + v.id
}

// ServeHTTP serves a request to a preview.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v, ok := p.begin(r)
	if !ok {
		p.refuse(w, r, http.StatusMisdirectedRequest, "There is no preview here. Open it again from Parley.")
		return
	}
	defer p.running.Done()
	if why := p.foreign(v, r); why != "" {
		p.refuse(w, r, http.StatusForbidden, why)
		return
	}
	if text, ok := strings.CutPrefix(r.URL.Path, entry); ok {
		p.enter(v, text, w, r)
		return
	}
	if r.ContentLength > p.opts.MaxBody {
		p.refuse(w, r, http.StatusRequestEntityTooLarge, "The request is too large.")
		return
	}
	x := p.visitor(v, r)
	if x == nil {
		p.refuse(w, r, http.StatusForbidden, "This preview is not open, or has ended. Open it again from Parley.")
		return
	}
	select {
	case v.places <- struct{}{}:
		defer func() { <-v.places }()
	default:
		p.refuse(w, r, http.StatusServiceUnavailable, "This preview has too many requests at once.")
		return
	}
	ctx, cancel := context.WithDeadline(r.Context(), time.Now().Add(x.expires.Sub(p.opts.Now())))
	defer cancel()
	defer context.AfterFunc(x.ctx, cancel)()
	defer cutWith(ctx, w)()
	r = r.WithContext(context.WithValue(ctx, viewKey{}, v))
	r.Body = http.MaxBytesReader(w, r.Body, p.opts.MaxBody)
	p.proxy.ServeHTTP(w, r)
}

// ender is a writer that can limit the time of a response, the current write included.
type ender interface{ End(within time.Duration) }

// cutWith stops reading the request and writing the response when ctx ends. Otherwise the transport
// would wait for the rest of a body, and a write for the client. Calling the returned function
// cancels this.
func cutWith(ctx context.Context, w http.ResponseWriter) (end func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // writers of tests support neither
		if e, ok := w.(ender); ok {
			e.End(0)
		}
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

// viewKey is the key of the view in the context of a request.
type viewKey struct{}

// begin returns the view of a request. If it returns true, the caller calls running.Done.
func (p *Proxy) begin(r *http.Request) (*view, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.byHost[strings.ToLower(r.Host)]
	if v == nil || p.closed {
		return nil, false
	}
	p.running.Add(1)
	return v, true
}

// foreign returns the reason why a request must be rejected, according to the origin that its browser reports.
func (p *Proxy) foreign(v *view, r *http.Request) string {
	own := p.opts.Origins.scheme + "://" + v.host
	origins, named := r.Header["Origin"]
	if named && (len(origins) != 1 || origins[0] != own) {
		return "This request comes from another page."
	}
	if !named && r.Header.Get("Upgrade") != "" {
		return "A socket must name its origin."
	}
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default: // a navigation of a person from another page, shown as a separate page
		if !read || r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
			return "This request comes from another page."
		}
	}
	return ""
}

// enter exchanges a code for a cookie.
func (p *Proxy) enter(v *view, text string, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		p.refuse(w, r, http.StatusMethodNotAllowed, "A preview is opened with GET.")
		return
	}
	value, age, ok := p.redeem(v, text)
	if !ok && p.visitor(v, r) == nil {
		p.refuse(w, r, http.StatusForbidden, "This address was used already, or is too old. Open the preview again from Parley.")
		return
	}
	if ok {
		http.SetCookie(w, &http.Cookie{
			Name: p.cookieName(v), Value: value, Path: "/", MaxAge: int(age / time.Second), HttpOnly: true,
			// Lax: the navigation from Parley's page is cross-site.
			SameSite: http.SameSiteLaxMode, Secure: p.opts.Origins.scheme == "https",
		})
	}
	harden(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// redeem consumes a code and returns the value of the cookie for it.
func (p *Proxy) redeem(v *view, text string) (value string, age time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	hash := sha256.Sum256([]byte(text))
	c, found := p.codes[hash]
	if !found || c.host != v.host || p.byHost[v.host] != v || p.closed {
		return "", 0, false
	}
	delete(p.codes, hash)
	if !p.opts.Now().Before(c.expires) || !p.opts.Allowed(c.holder, v.session) || len(v.visits) >= maxVisits {
		return "", 0, false
	}
	value, key := secret()
	x := &visit{holder: c.holder, expires: p.opts.Now().Add(p.opts.Age)}
	x.ctx, x.cancel = context.WithCancel(context.Background())
	v.visits[key] = x
	return value, p.opts.Age, true
}

// visitor returns the visit of a request's cookie, or nil. A neighbouring page can add cookies of
// the same name, so each is checked.
func (p *Proxy) visitor(v *view, r *http.Request) *visit {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range r.CookiesNamed(p.cookieName(v)) {
		x := v.visits[sha256.Sum256([]byte(c.Value))]
		if x != nil && p.byHost[v.host] == v && p.opts.Now().Before(x.expires) && p.opts.Allowed(x.holder, v.session) {
			return x
		}
	}
	return nil
}

// refuse writes the reason in plain text.
func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	p.opts.Logger.Debug("a preview refused a request", "host", r.Host, "method", r.Method, "status", status)
	harden(w.Header())
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	why += "\n"
	w.Header().Set("Content-Length", strconv.Itoa(len(why)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte(why)) // a disconnected client is not a fault
}

// dropped are headers that would apply to other origins of the same host, or for longer than the
// preview.
var dropped = []string{"Strict-Transport-Security", "Clear-Site-Data", "Alt-Svc", "Report-To", "Reporting-Endpoints", "Nel", "Public-Key-Pins",
	"Expect-Ct", "X-Frame-Options", "Cross-Origin-Resource-Policy", "Set-Login", "Accept-Ch", "Critical-Ch"}

// harden keeps other pages from framing, reading or keeping the preview.
func harden(h http.Header) {
	for _, name := range dropped {
		h.Del(name)
	}
	// All policies of the server apply in addition.
	h["Content-Security-Policy"] = append(slices.Clip(h["Content-Security-Policy"]), "frame-ancestors 'self'")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if h.Get("Cross-Origin-Opener-Policy") == "" {
		h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
	}
	if h.Get("Referrer-Policy") == "" {
		h.Set("Referrer-Policy", "same-origin")
	}
}
