// Package otlp sends spans to an OpenTelemetry collector with OTLP over HTTP with JSON.
//
// It is configured by the standard variables OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT,
// _COMPRESSION, _CERTIFICATE and _PROTOCOL, each also with TRACES before the last word, which
// takes precedence. A collector accepts JSON at the same address as the binary form; the
// official exporter would link gRPC into the command.
package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/seed7221b0f9/parley/internal/textfile"
)

// The defaults of the specification.
const (
	DefaultEndpoint = "http://localhost:4318"
	DefaultTimeout  = 10 * time.Second
)

// Exporter sends spans to a collector. Its methods are safe for concurrent use.
type Exporter struct {
	url     string
	header  http.Header
	timeout time.Duration
	gzip    bool
	client  *http.Client
}

var _ sdktrace.SpanExporter = (*Exporter)(nil)

// New returns an exporter configured by environment variables.
func New(getenv func(string) string) (*Exporter, error) {
	setting := func(name string) string {
		if v := getenv("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
			return v
		}
		return getenv("OTEL_EXPORTER_OTLP_" + name)
	}
	if p := setting("PROTOCOL"); p != "" && p != "http/json" {
		return nil, fmt.Errorf("otlp: the protocol %q is not supported; set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL to http/json", p)
	}
	e := &Exporter{timeout: DefaultTimeout, header: http.Header{"Content-Type": {"application/json"}}}
	var err error
	if e.url, err = endpoint(getenv); err != nil {
		return nil, err
	}
	if v := setting("TIMEOUT"); v != "" {
		ms, err := strconv.Atoi(v)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("otlp: the timeout %q is not a number of milliseconds", v)
		}
		e.timeout = time.Duration(ms) * time.Millisecond
	}
	switch v := setting("COMPRESSION"); v {
	case "", "none":
	case "gzip":
		e.gzip = true
		e.header.Set("Content-Encoding", "gzip")
	default:
		return nil, fmt.Errorf("otlp: the compression %q is neither gzip nor none", v)
	}
	if err := e.addHeaders(setting("HEADERS")); err != nil {
		return nil, err
	}
	e.client, err = newClient(setting("CERTIFICATE"))
	return e, err
}

// endpoint returns the address for spans. The variable for all signals is a base address, the
// one for traces is the complete address.
func endpoint(getenv func(string) string) (string, error) {
	text := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if text == "" {
		if text = getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); text == "" {
			text = DefaultEndpoint
		}
		text = strings.TrimSuffix(text, "/") + "/v1/traces"
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", errors.New("otlp: the endpoint is not an http or https address")
	}
	return text, nil
}

// addHeaders reads key=value pairs, with URL-escaped values. They may be secret, so errors do
// not quote them.
func (e *Exporter) addHeaders(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || name == "" || err != nil {
			return errors.New("otlp: the headers are not of the form name=value,name=value")
		}
		e.header.Set(name, value)
	}
	return nil
}

// newClient returns a client that does not follow redirects, with the certificate authorities
// of a file, if given.
func newClient(certificate string) (*http.Client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 2, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second}
	if certificate != "" {
		pem, err := textfile.Read(certificate)
		if err != nil {
			return nil, fmt.Errorf("otlp: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("otlp: %s has no certificate", certificate)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// Shutdown closes idle connections. The SDK calls it after the last spans.
func (e *Exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// ExportSpans sends spans. It retries after a pause if the collector is overloaded or
// unreachable, until the time limit or ctx ends.
func (e *Exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	body, err := json.Marshal(request(spans))
	if err != nil {
		return fmt.Errorf("otlp: %w", err)
	}
	if e.gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := w.Write(body)
		if err = errors.Join(err, w.Close()); err != nil {
			return fmt.Errorf("otlp: %w", err)
		}
		body = b.Bytes()
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	for pause := 250 * time.Millisecond; ; pause *= 2 {
		again, err := e.send(ctx, body)
		if err == nil || !again {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// send makes one attempt, and reports whether it may be retried.
func (e *Exporter) send(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("otlp: %w", err)
	}
	req.Header = e.header.Clone()
	resp, err := e.client.Do(req)
	if err != nil {
		return true, fmt.Errorf("otlp: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("otlp: the collector answered with status %d", resp.StatusCode)
}
