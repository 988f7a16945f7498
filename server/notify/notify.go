// Package notify delivers events: by a signed POST to an address, or by a command that gets the
// event on its standard input.
//
// # Addresses
//
// A call never goes to this machine, to private, link-local and shared networks or to the metadata
// service of a cloud, unless a network was allowed. The resolved address of the connection is
// checked, so that no name can lead there. A response that redirects is a failure. Proxies from the
// environment are not used.
package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/webhook"
)

// Timeout is the time limit of one call of a webhook, from connecting to the end of the response.
const Timeout = 15 * time.Second

// ErrAddress is returned when a call would go to an address that is not allowed, by any name.
var ErrAddress = errors.New("notify: the address is not allowed")

// Client makes calls to webhooks, to allowed addresses only. Its methods may be called from any
// goroutine.
type Client struct {
	allowed []netip.Prefix
	http    *http.Client
}

// New returns a client that may also call addresses in the allowed networks, and trusts the
// certificates of roots; nil is those of the system.
func New(allowed []netip.Prefix, roots *x509.CertPool) *Client {
	c := &Client{allowed: slices.Clone(allowed)}
	dialer := &net.Dialer{Timeout: Timeout, ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error { return c.check(address) }}
	c.http = &http.Client{
		Timeout: Timeout,
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: Timeout, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// refused are non-public networks, in addition to those that netip knows.
var refused = func() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10"} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}()

// check rejects a resolved address that is neither public nor allowed.
func (c *Client) check(address string) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrAddress, address)
	}
	addr := ap.Addr().Unmap().WithZone("")
	if slices.ContainsFunc(c.allowed, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return nil
	}
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || slices.ContainsFunc(refused, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return fmt.Errorf("%w: %s", ErrAddress, addr)
	}
	return nil
}

// CheckURL returns an error if calls cannot go to an address, as far as this can be determined
// without resolving its name.
func (c *Client) CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(text) > 2048 {
		return errors.New("notify: the address is not http or https, or has a user or a fragment")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return c.check(netip.AddrPortFrom(addr, 443).String())
	}
	if name := strings.ToLower(u.Hostname()); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return c.check("127.0.0.1:443")
	}
	return nil
}

// Post sends an event to an address, signed at a time. The status is 0 without a response; any
// status but 2xx is an error.
func (c *Client) Post(ctx context.Context, address, secret string, ev webhook.Event, at time.Time) (status int, err error) {
	body, err := json.Marshal(ev)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Parley-Event-Id", ev.ID)
	req.Header.Set(webhook.SignatureHeader, webhook.Sign(secret, at, body))
	return c.Send(req)
}

// Send makes a call with a complete request. The status is 0 without a response; any status but 2xx
// is an error.
func (c *Client) Send(req *http.Request) (status int, err error) {
	req.Header.Set("User-Agent", "parley")
	resp, err := c.http.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // the address can contain a secret
		}
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // the content of the response does not matter
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp.StatusCode, nil
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return resp.StatusCode, fmt.Errorf("notify: the receiver redirects, which is refused (status %d)", resp.StatusCode)
	}
	return resp.StatusCode, fmt.Errorf("notify: the receiver answers with status %d", resp.StatusCode)
}
