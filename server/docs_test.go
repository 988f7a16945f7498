package server

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestDocs checks that the documentation is served without a token, but only to allowed hosts, and
// only if it is in the options.
func TestDocs(t *testing.T) {
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "docs of "+r.URL.Path) })
	for _, test := range []struct {
		name   string
		docs   http.Handler
		host   string
		status int
		want   string
	}{
		{"served", pages, "", http.StatusOK, "docs of /docs/guide/x.html"},
		{"foreign host", pages, "evil.example", http.StatusForbidden, ""},
		{"none", nil, "", http.StatusNotFound, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHarness(t, func(o *Options) { o.Docs = test.docs })
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/docs/guide/x.html", nil)
			if err != nil {
				t.Fatal(err)
			}
			if test.host != "" {
				req.Host = test.host
			}
			status, _, body := h.do(req)
			var hello api.HelloResult
			h.call("hello", api.HelloParams{}, &hello)
			if slices.Contains(hello.Capabilities, "docs") != (test.docs != nil) {
				t.Errorf("hello reports the capabilities %q", hello.Capabilities)
			}
			if status != test.status || test.want != "" && string(body) != test.want || test.docs == nil && strings.Contains(string(body), "docs of") {
				t.Errorf("status %d, body %.80q; want %d and %q", status, body, test.status, test.want)
			}
		})
	}
}
