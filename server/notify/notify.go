// Package notify makes the calls that tell someone of an event: a signed POST to an address,
// or a command that gets the event on its standard input.
//
// # Addresses
//
// A call never goes to this machine, to private, link-local and shared networks or to the
// metadata service of a cloud, unless a network was allowed. The check is of the address that
// is connected to, after the name was resolved, so that no name can lead there. An answer that
// redirects is a failure. No proxy of the environment is used.
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

// Timeout is how long one call of a webhook may take, from connecting to the end of the answer.
const Timeout = 15 * time.Second

// ErrAddress is returned when a call would go to an address that is not allowed, whatever
// name it was called by.
var ErrAddress = errors.New("notify: the address is not allowed")

// Client makes calls to webhooks, to allowed addresses only. Its methods may be called from any
// goroutine.
type Client struct {
	allowed []netip.Prefix
	http    *http.Client
}

// New returns a client that may also call addresses in the networks allowed, and trusts the
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

// refused are networks that are not for others, beside those that netip knows.
var refused = func() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range []string{"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10"} {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}()

// check refuses an address, after names were resolved, that is not public or allowed.
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

// CheckURL returns an error if calls cannot go to an address, as far as that is known without
// resolving its name.
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

// Post sends an event to an address, signed at a time. The status is 0 where there was no
// answer; an error is everything but a status of 2xx.
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

// Send makes a call whose request is complete. The status is 0 where there was no answer; an
// error is everything but a status of 2xx.
func (c *Client) Send(req *http.Request) (status int, err error) {
	req.Header.Set("User-Agent", "parley")
	resp, err := c.http.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // the address can hold a secret
		}
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // what the receiver says does not matter
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp.StatusCode, nil
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return resp.StatusCode, fmt.Errorf("notify: the receiver redirects, which is refused (status %d)", resp.StatusCode)
	}
	return resp.StatusCode, fmt.Errorf("notify: the receiver answers with status %d", resp.StatusCode)
}
