package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// Config configures the bucket of a store, the prefix of its names, and the credentials.
type Config struct {
	Bucket string // name of an existing bucket
	Prefix string // of all names of the store, without a slash at its end
	// AWS has the credentials, the region and the retry policy. nil means the AWS SDK's
	// default chain: the environment, ~/.aws, the machine's role.
	AWS *aws.Config
	// Region, if set, overrides the one in AWS. The default is us-east-1.
	Region string
	// Endpoint is the URL of an S3 server other than Amazon's, which must support
	// conditional writes; the path names the bucket. "" means Amazon's endpoint of the
	// region.
	Endpoint string
	// Client sends the requests; nil means the client of AWS, or the SDK's default.
	Client *http.Client
}

// Error is an unexpected response of the server.
type Error struct {
	Status  int    // of HTTP
	Code    string // the S3 code: NoSuchBucket, AccessDenied, …
	Message string
	Err     error // the SDK's
}

func (e *Error) Error() string {
	return fmt.Sprintf("claudestore/s3: %d %s: %s", e.Status, e.Code, e.Message)
}

// Unwrap returns the error of the AWS SDK, so that [errors.As] finds its types.
func (e *Error) Unwrap() error { return e.Err }

var (
	errTaken   = errors.New("claudestore/s3: the name is taken")
	errMissing = errors.New("claudestore/s3: no such object")
)

// bucket sends requests to an S3 bucket.
type bucket struct {
	cfg    Config
	client *s3.Client
}

func newBucket(ctx context.Context, cfg Config) (*bucket, error) {
	if cfg.Bucket == "" {
		return nil, errors.New("claudestore/s3: Bucket must be set")
	}
	if u, err := url.Parse(cfg.Endpoint); err != nil || cfg.Endpoint != "" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("claudestore/s3: Endpoint %q is not an http or https URL", cfg.Endpoint)
	}
	var with aws.Config
	if cfg.AWS != nil {
		with = cfg.AWS.Copy()
	} else {
		var err error
		if with, err = config.LoadDefaultConfig(ctx); err != nil {
			return nil, fmt.Errorf("claudestore/s3: %w", err)
		}
	}
	return &bucket{cfg: cfg, client: s3.NewFromConfig(with, func(o *s3.Options) { cfg.apply(o) })}, nil
}

// apply sets the SDK's options from the config.
func (c *Config) apply(o *s3.Options) {
	switch {
	case c.Region != "":
		o.Region = c.Region
	case o.Region == "":
		o.Region = "us-east-1"
	}
	if c.Endpoint != "" {
		o.BaseEndpoint, o.UsePathStyle = aws.String(c.Endpoint), true
	}
	if c.Client != nil {
		o.HTTPClient = c.Client
	}
	// Some servers do not support the newer checksums; the signature covers the content of a
	// request anyway.
	o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
	o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
}

// answerError translates an error of the SDK.
func answerError(err error) error {
	if err == nil {
		return nil
	}
	answer, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok || answer.Response == nil {
		return fmt.Errorf("claudestore/s3: %w", err)
	}
	e := &Error{Status: answer.HTTPStatusCode(), Err: err}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		e.Code, e.Message = api.ErrorCode(), api.ErrorMessage()
	}
	switch {
	case e.Status == http.StatusPreconditionFailed || e.Status == http.StatusConflict:
		return errTaken
	case e.Status == http.StatusNotFound && e.Code != "NoSuchBucket":
		return errMissing
	}
	return e
}

// attempts counts the attempts of a request.
func attempts(n *int) func(*s3.Options) {
	return s3.WithAPIOptions(func(stack *middleware.Stack) error {
		count := middleware.FinalizeMiddlewareFunc("parley: count attempts",
			func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
				*n++
				return next.HandleFinalize(ctx, in)
			})
		return stack.Finalize.Insert(count, "Retry", middleware.After)
	})
}

// create writes a new object. It fails with errTaken if the name exists. doubt reports
// whether an attempt without an answer may have succeeded.
func (b *bucket) create(ctx context.Context, name string, body []byte) (doubt bool, err error) {
	sent := 0
	_, err = b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.cfg.Bucket, Key: &name, Body: bytes.NewReader(body), IfNoneMatch: aws.String("*"), ContentType: aws.String("application/x-ndjson"),
	}, attempts(&sent))
	return sent > 1, answerError(err)
}

// readAttempts limits the attempts to read an object if its content breaks off.
const readAttempts = 3

// read returns an object, or errMissing.
func (b *bucket) read(ctx context.Context, name string) (body []byte, err error) {
	for range readAttempts {
		var out *s3.GetObjectOutput
		if out, err = b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.cfg.Bucket, Key: &name}); err != nil {
			return nil, answerError(err)
		}
		body, err = io.ReadAll(out.Body)
		if err = errors.Join(err, out.Body.Close()); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("claudestore/s3: %w", err)
	}
	return body, nil
}

func (b *bucket) remove(ctx context.Context, name string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.cfg.Bucket, Key: &name})
	if err = answerError(err); errors.Is(err, errMissing) {
		return nil
	}
	return err
}

// object is an entry of a listing.
type object struct {
	Key          string
	LastModified time.Time
	Size         int64
}

// list returns all objects with a prefix, sorted by name.
func (b *bucket) list(ctx context.Context, prefix string) ([]object, error) {
	var all []object
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.cfg.Bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, answerError(err)
		}
		for _, o := range page.Contents {
			all = append(all, object{aws.ToString(o.Key), aws.ToTime(o.LastModified), aws.ToInt64(o.Size)})
		}
	}
	return all, nil
}
