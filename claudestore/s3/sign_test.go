package s3

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The examples of Amazon's documentation of signatures for S3.
func TestSign(t *testing.T) {
	who := Credentials{AccessKey: "AKIAIOSFODNN7EXAMPLE", SecretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	for _, tt := range []struct {
		method, path string
		query        url.Values
		header       http.Header
		body, want   string
	}{
		{"GET", "/test.txt", nil, http.Header{"Range": {"bytes=0-9"}}, "",
			"f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"},
		{"GET", "/", url.Values{"max-keys": {"2"}, "prefix": {"J"}}, nil, "",
			"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
		{"PUT", "/test$file.text", nil, http.Header{"Date": {"Fri, 24 May 2013 00:00:00 GMT"}, "X-Amz-Storage-Class": {"REDUCED_REDUNDANCY"}},
			"Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"},
	} {
		u := &url.URL{Scheme: "https", Host: "examplebucket.s3.amazonaws.com", Path: tt.path, RawPath: escape(tt.path, "/"), RawQuery: query(tt.query)}
		req, err := http.NewRequest(tt.method, u.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range tt.header {
			req.Header[k] = v
		}
		who.sign(req, []byte(tt.body), "us-east-1", time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
		if _, got, _ := strings.Cut(req.Header.Get("Authorization"), "Signature="); got != tt.want {
			t.Errorf("%s %s: signature %s, want %s", tt.method, tt.path, got, tt.want)
		}
	}
}
