package preview

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
)

// newReverse returns the proxy to the servers of sessions. Each request has a separate connection,
// so that each is checked.
func (p *Proxy) newReverse() *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:        p.rewrite,
		ModifyResponse: p.answer,
		ErrorHandler:   p.failed,
		FlushInterval:  -1, // flush streams at once
		ErrorLog:       slog.NewLogLogger(p.opts.Logger.Handler(), slog.LevelDebug),
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				v, ok := ctx.Value(viewKey{}).(*view)
				if !ok {
					return nil, errors.New("preview: a request without a view")
				}
				return p.opts.Dial(ctx, v.session, v.port)
			},
			DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: p.opts.Timeout, MaxResponseHeaderBytes: maxHeader,
		},
	}
}

// jar returns the cookies of a view.
func (p *Proxy) jar(v *view) jar {
	if p.opts.Origins.named {
		return jar{}
	}
	return jar{"preview_" + v.id + "_"}
}

// address returns the previewed server's own address.
func (v *view) address() string { return "localhost:" + strconv.Itoa(v.port) }

// secretHeaders are about the client or for Parley, and not sent to the server.
var secretHeaders = []string{"Proxy-Authorization", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "X-Forwarded-For", "X-Forwarded-Host",
	"X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded-User", "X-Forwarded-Email", "Forwarded", "Via"}

// rewrite creates the request for the server.
func (p *Proxy) rewrite(pr *httputil.ProxyRequest) {
	v := pr.In.Context().Value(viewKey{}).(*view)
	own := p.opts.Origins.scheme + "://" + v.host
	out := pr.Out
	out.URL.Scheme, out.URL.Host, out.Host = "http", v.address(), v.address()
	for _, name := range secretHeaders {
		out.Header.Del(name)
	}
	if isSecret(out.Header.Get("Authorization")) {
		out.Header.Del("Authorization")
	}
	cookies := p.jar(v).toServer(pr.In.Header["Cookie"])
	out.Header.Del("Cookie")
	if cookies != "" {
		out.Header.Set("Cookie", cookies)
	}
	if out.Header.Get("Origin") != "" { // it was checked to be this preview's
		out.Header.Set("Origin", "http://"+v.address())
	}
	if rest, ok := strings.CutPrefix(out.Header.Get("Referer"), own+"/"); ok {
		out.Header.Set("Referer", "http://"+v.address()+"/"+rest)
	} else {
		out.Header.Del("Referer")
	}
}

// isSecret reports whether an authorization is a token of Parley, or a password that a browser
// sends automatically to a proxy in front of Parley. Other authorizations belong to the previewed
// page.
func isSecret(value string) bool {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(value), " ")
	return strings.EqualFold(scheme, "Basic") || strings.HasPrefix(strings.TrimSpace(rest), "pt_")
}

// answer creates the response for the browser.
func (p *Proxy) answer(resp *http.Response) error {
	v := resp.Request.Context().Value(viewKey{}).(*view)
	cookies := resp.Header["Set-Cookie"]
	resp.Header.Del("Set-Cookie")
	for _, line := range cookies {
		if text, ok := p.jar(v).toBrowser(line); ok {
			resp.Header.Add("Set-Cookie", text)
		}
	}
	if location := resp.Header.Get("Location"); location != "" {
		resp.Header.Set("Location", v.within(location))
	}
	harden(resp.Header)
	return nil
}

// within returns the target of a redirect. A redirect to the previewed server stays in the preview.
func (v *view) within(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "" || u.Port() != strconv.Itoa(v.port) {
		return location
	}
	switch u.Hostname() {
	case "localhost", "127.0.0.1", "::1", "0.0.0.0":
		u.Scheme, u.Host, u.User = "", "", nil
		if u.Path == "" {
			u.Path = "/"
		}
		u.Path = "/" + strings.TrimLeft(u.Path, "/") // not the name of a host
		u.RawPath = ""
		return u.String()
	}
	return location
}

// failed responds if the server did not.
func (p *Proxy) failed(w http.ResponseWriter, r *http.Request, err error) {
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		p.refuse(w, r, http.StatusRequestEntityTooLarge, "The request is too large.")
		return
	}
	p.opts.Logger.Info("a previewed server did not answer", "err", err)
	p.refuse(w, r, http.StatusBadGateway, "The server of the session does not answer on this port. If it was started again, reload this page.")
}
