package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says which bucket a store is in, and who opens it.
type Config struct {
	// Endpoint is the server: https://s3.eu-central-1.amazonaws.com, or that of
	// any other that speaks S3 with conditional writes. Buckets are named in the
	// path.
	Endpoint string
	Region   string // "" is us-east-1
	Bucket   string // is there already
	Prefix   string // of all names of the store, without a slash at its end
	Credentials
	// Renew, when set, gives the credentials for each request instead.
	Renew func(ctx context.Context) (Credentials, error)
	// Client sends the requests; nil is [http.DefaultClient].
	Client *http.Client
}

// Error is an answer of the server that is not the one that was hoped for.
type Error struct {
	Status  int    // of HTTP
	Code    string // as S3 has them: NoSuchBucket, AccessDenied, …
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("claudestore/s3: %d %s: %s", e.Status, e.Code, e.Message)
}

var (
	errTaken   = errors.New("claudestore/s3: the name is taken")
	errMissing = errors.New("claudestore/s3: no such object")
)

// bucket speaks S3.
type bucket struct {
	cfg  Config
	base *url.URL
}

func newBucket(cfg Config) (*bucket, error) {
	base, err := url.Parse(cfg.Endpoint)
	if err != nil {
		return nil, err
	}
	if base.Host == "" || cfg.Bucket == "" {
		return nil, errors.New("claudestore/s3: Endpoint, a URL, and Bucket must be set")
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	if cfg.Client == nil {
		cfg.Client = http.DefaultClient
	}
	return &bucket{cfg: cfg, base: base}, nil
}

// retries are the waits before a request is sent again that the server could
// not answer.
var retries = []time.Duration{100 * time.Millisecond, 400 * time.Millisecond}

// do sends a request and returns the body of the answer. doubt reports whether
// one of the attempts may have been carried out without an answer.
func (b *bucket) do(ctx context.Context, method, name string, q url.Values, header http.Header, body []byte) (out []byte, doubt bool, err error) {
	for i := 0; ; i++ {
		var status int
		out, status, err = b.once(ctx, method, name, q, header, body)
		failed := status == 0 || status >= 500 || status == http.StatusTooManyRequests
		if !failed || i == len(retries) || ctx.Err() != nil {
			return out, doubt || failed, err
		}
		doubt = true
		select {
		case <-ctx.Done():
			return nil, true, context.Cause(ctx)
		case <-time.After(retries[i]):
		}
	}
}

func (b *bucket) once(ctx context.Context, method, name string, q url.Values, header http.Header, body []byte) (out []byte, status int, err error) {
	u := *b.base
	u.Path = strings.TrimSuffix(u.Path, "/") + "/" + b.cfg.Bucket
	if name != "" {
		u.Path += "/" + name
	}
	u.RawPath, u.RawQuery = escape(u.Path, "/"), query(q)
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	who := b.cfg.Credentials
	if b.cfg.Renew != nil {
		if who, err = b.cfg.Renew(ctx); err != nil {
			return nil, 0, err
		}
	}
	who.sign(req, body, b.cfg.Region, time.Now())
	res, err := b.cfg.Client.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer res.Body.Close()
	out, err = io.ReadAll(res.Body)
	if err != nil {
		return nil, 0, err
	}
	return out, res.StatusCode, answerError(res.StatusCode, out)
}

func answerError(status int, body []byte) error {
	switch {
	case status < 300:
		return nil
	case status == http.StatusPreconditionFailed || status == http.StatusConflict:
		return errTaken
	}
	e := &Error{Status: status}
	_ = xml.Unmarshal(body, e) // an answer of a proxy is none of S3
	if status == http.StatusNotFound && e.Code != "NoSuchBucket" {
		return errMissing
	}
	return e
}

// create writes an object, and fails with errTaken where the name has one.
func (b *bucket) create(ctx context.Context, name string, body []byte) (doubt bool, err error) {
	_, doubt, err = b.do(ctx, http.MethodPut, name, nil, http.Header{"If-None-Match": {"*"}, "Content-Type": {"application/x-ndjson"}}, body)
	return doubt, err
}

// read returns an object, or errMissing.
func (b *bucket) read(ctx context.Context, name string) ([]byte, error) {
	body, _, err := b.do(ctx, http.MethodGet, name, nil, nil, nil)
	return body, err
}

func (b *bucket) remove(ctx context.Context, name string) error {
	_, _, err := b.do(ctx, http.MethodDelete, name, nil, nil, nil)
	if errors.Is(err, errMissing) {
		return nil
	}
	return err
}

// object is one of a listing.
type object struct {
	Key          string
	LastModified time.Time
	Size         int64
}

// list returns all objects whose names begin with prefix, by name.
func (b *bucket) list(ctx context.Context, prefix string) ([]object, error) {
	var all []object
	q := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	for {
		body, _, err := b.do(ctx, http.MethodGet, "", q, nil, nil)
		if err != nil {
			return nil, err
		}
		var page struct {
			Contents              []object
			IsTruncated           bool
			NextContinuationToken string
		}
		if err := xml.Unmarshal(body, &page); err != nil {
			return nil, fmt.Errorf("claudestore/s3: a listing: %w", err)
		}
		all = append(all, page.Contents...)
		if !page.IsTruncated || page.NextContinuationToken == "" {
			return all, nil
		}
		q.Set("continuation-token", page.NextContinuationToken)
	}
}
