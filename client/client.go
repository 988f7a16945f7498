// Package client is a client of the Parley server.
//
// [Client.Call] calls a method of the service. [Client.Follow] yields the messages of a session
// from any position on. It reconnects automatically, without a gap or a repetition of messages.
// [View] folds them into the conversation that a screen shows.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/api"
)

// The defaults of [Options]: the first and the longest pause between attempts, and the silence
// timeout.
const (
	DefaultRetry    = 500 * time.Millisecond
	DefaultMaxRetry = 10 * time.Second
	DefaultSilence  = 60 * time.Second
	maxAnswer       = 256 << 20
)

// Options configures a client of a server. URL and Token are required, the other fields have defaults.
type Options struct {
	// URL is the server's address, such as http://127.0.0.1:7717. A fragment #token=… is used as
	// the token, so that the address that a server prints can be used unchanged.
	URL string
	// Token is sent with every request as a bearer token, never in an address.
	Token string
	// HTTPClient makes the requests; nil is a client without a timeout.
	HTTPClient *http.Client
	// Retry is the pause before the first attempt to reconnect. It doubles with each attempt up
	// to MaxRetry. Zero means the default.
	Retry, MaxRetry time.Duration
	// Silence is the timeout for establishing a connection. After that time without a message the
	// client also sends a ping, and closes the connection if the response takes as long again. 0
	// means the default.
	Silence time.Duration
	// Capabilities are the client's optional features, such as output_delta.
	Capabilities []string
}

// Client accesses one server. It is safe for concurrent use and needs no Close.
type Client struct {
	opts Options
	base *url.URL
}

// New returns a client for the server in the options. It connects with the first call.
func New(opts Options) (*Client, error) {
	u, err := url.Parse(opts.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("client: %q is not an address of a server, such as http://127.0.0.1:7717", strings.SplitN(opts.URL, "#", 2)[0])
	}
	if value, ok := strings.CutPrefix(u.Fragment, "token="); ok && opts.Token == "" {
		opts.Token = value
	}
	u.Fragment, u.RawQuery, u.Path = "", "", strings.TrimSuffix(u.Path, "/")
	if opts.HTTPClient == nil {
		opts.HTTPClient = &http.Client{}
	}
	for _, d := range []struct {
		p *time.Duration
		v time.Duration
	}{{&opts.Retry, DefaultRetry}, {&opts.MaxRetry, DefaultMaxRetry}, {&opts.Silence, DefaultSilence}} {
		if *d.p == 0 {
			*d.p = d.v
		}
	}
	return &Client{opts: opts, base: u}, nil
}

// Error is returned when the server rejects a request. [Reason] returns the reason, a word that
// programs can compare.
type Error struct {
	Status int // of the HTTP response; 0 on a WebSocket
	api.ErrorObject
}

func (e *Error) Error() string { return "client: " + e.Message }

// Reason returns the reason why the server rejected a request. It is empty for an error that did
// not come from the server, such as a broken connection.
func Reason(err error) api.Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Data.Reason
	}
	return ""
}

// Key returns a new random idempotency key. The server executes a call with a key only once, even
// if it is sent several times.
func Key() string { return random.Hex(16) }

// Call calls a method and decodes its result into the value that result points to, or drops it if
// result is nil. It retries a call that could not be delivered, or that a draining server rejected,
// until ctx ends; then Call returns the last error. A call that may have been delivered is retried
// only if its parameters have an idempotency key; otherwise Call returns its error. A rejection by
// the server is an *[Error]. Results are limited to 256 MiB.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("client: %s: %w", method, err)
	}
	var keyed api.Idempotency
	_ = json.Unmarshal(body, &keyed) // without a key the call is not retried
	for wait := c.opts.Retry; ; wait = min(2*wait, c.opts.MaxRetry) {
		err := c.post(ctx, method, body, result)
		if err == nil || !again(err, keyed.Key != "") {
			return err
		}
		if sleep(ctx, wait) != nil {
			return err
		}
	}
}

// again reports whether a failed call may be retried.
func again(err error, keyed bool) bool {
	var e *Error
	if errors.As(err, &e) {
		return e.Data.Reason == api.Draining // rejected, not executed
	}
	var unreadable *answerError
	if errors.As(err, &unreadable) {
		return false
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED) {
		return true
	}
	return keyed && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) post(ctx context.Context, method string, body []byte, result any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base.String()+"/v1/"+url.PathEscape(method), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("client: %s: %w", method, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	resp, err := c.opts.HTTPClient.Do(req)
	if err != nil {
		return fmt.Errorf("client: %s: %w", method, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("client: %s: %w", method, err)
	}
	if resp.StatusCode != http.StatusOK {
		return refusal(resp.StatusCode, data)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(data, result); err != nil {
		return &answerError{method, err}
	}
	return nil
}

// answerError is a response that cannot be read. A retry would return the same.
type answerError struct {
	method string
	err    error
}

func (e *answerError) Error() string {
	return fmt.Sprintf("client: the answer to %s: %v", e.method, e.err)
}

func (e *answerError) Unwrap() error { return e.err }

// refusal returns the error of a response that is not a result. Without an error of the server it has no reason.
func refusal(status int, data []byte) error {
	var body struct {
		Error api.ErrorObject `json:"error"`
	}
	if json.Unmarshal(data, &body) != nil || body.Error.Message == "" {
		body.Error.Message = fmt.Sprintf("the server answered with status %d", status)
	}
	return &Error{Status: status, ErrorObject: body.Error}
}

// URL returns the address of the server, without a token and without a slash at its end.
func (c *Client) URL() string { return c.base.String() }

// maxMetrics is the size limit of the metrics in bytes.
const maxMetrics = 16 << 20

// Metrics returns the metrics of the server in the Prometheus text format. A token for a shared
// session does not allow this.
func (c *Client) Metrics(ctx context.Context) (string, error) {
	var b strings.Builder
	err := c.get(ctx, "/metrics", &b, maxMetrics)
	return b.String(), err
}

// Backup writes a backup of the server's logs to w. The token needs the role admin. If Backup
// returns an error, the written data is incomplete.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	return c.get(ctx, "/v1/backup", w, math.MaxInt64)
}

// get writes the content of a path to w, up to a number of bytes.
func (c *Client) get(ctx context.Context, path string, w io.Writer, most int64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+path, nil)
	if err != nil {
		return fmt.Errorf("client: %s: %w", path, err)
	}
	req.Header.Set("Authorization", "Bearer "+c.opts.Token)
	resp, err := c.opts.HTTPClient.Do(req)
	if err != nil {
		return fmt.Errorf("client: %s: %w", path, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // the status is sufficient
		return refusal(resp.StatusCode, data)
	}
	if _, err := io.Copy(w, io.LimitReader(resp.Body, most)); err != nil {
		return fmt.Errorf("client: %s: %w", path, err)
	}
	return nil
}
