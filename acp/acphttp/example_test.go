package acphttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/seed7221b0f9/parley/acp/acphttp"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent/agenttest"
)

// Serve an agent over HTTP and WebSocket. The caller authenticates the client and sets it as the
// owner.
func Example() {
	h := acphttp.New(acphttp.Options{})
	defer h.Close()
	agent := func(ctx context.Context, r io.Reader, w io.WriteCloser) error {
		return editor.Serve(ctx, r, w, editor.Options{Provider: &agenttest.Provider{}, Name: "example", Version: "1"})
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h.Serve(w, r, acphttp.Client{Owner: "alice", Agent: agent}); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	resp, err := http.Post(server.URL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode, resp.Header.Get(acphttp.HeaderConnection) != "")
	// Output:
	// 200 true
}
