package server

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/mcpserver"
)

// stdioServers serve a client over lines, as parley acp and parley mcp do. Each key is a server;
// the value is a line that it must answer.
var stdioServers = map[string]struct {
	first, unknown string
	serve          func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error
}{
	"ACP": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`, "nothing", func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
		return editor.Serve(ctx, r, w, editor.Options{Provider: &agenttest.Provider{}, Name: "test", Version: "1"})
	}},
	"MCP": {`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "nothing",
		func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) error {
			return mcpserver.New(&client.Client{}, "1").Run(ctx, mcpserver.Stdio(r, w))
		}},
}

// TestBadInput_stdio sends invalid lines to the programs on standard input. The answer is an error with the id of the request if it is known,
// memory is limited, and the next line is read.
func TestBadInput_stdio(t *testing.T) {
	short.SkipQuick(t, "sends large lines")
	for name, s := range stdioServers {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			in, toServer := io.Pipe()
			fromServer, out := io.Pipe()
			done := make(chan error, 1)
			go func() { done <- s.serve(ctx, in, out) }()
			context.AfterFunc(ctx, func() { fromServer.Close(); toServer.Close() })
			answers := bufio.NewReader(fromServer)
			// call writes a line and returns the answer.
			call := func(line io.Reader) (a struct {
				ID    json.RawMessage
				Error *struct {
					Code    int
					Message string
				}
			}) {
				go func() { _, _ = io.Copy(toServer, io.MultiReader(line, strings.NewReader("\n"))) }() // the answer shows whether it arrived
				text, err := answers.ReadBytes('\n')
				if err == nil {
					err = json.Unmarshal(text, &a)
				}
				if err != nil {
					t.Fatalf("%v: %s", err, text)
				}
				return a
			}
			if a := call(strings.NewReader(s.first)); a.Error != nil {
				t.Fatalf("the first line: %+v", a.Error)
			}
			large := &flood{}
			large.left.Store(100 << 20)
			for _, tt := range []struct {
				kind string
				line io.Reader
				id   string
				code int
			}{
				{"no JSON", strings.NewReader(`{"a":`), "null", -32700},
				{"no message", strings.NewReader(`{"jsonrpc":"2.0","a":1}`), "null", -32600}, {"a number", strings.NewReader("7"), "null", -32600}, {"an empty batch", strings.NewReader("[]"), "null", -32600},
				{"unknown", strings.NewReader(`{"jsonrpc":"2.0","id":5,"method":"` + s.unknown + `"}`), "5", -32601},
				{"large", io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":"six","method":"ping","params":{"x":"`), large), `"six"`, -32600},
				{"unknown again", strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"` + s.unknown + `"}`), "7", -32601},
			} {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				a := call(tt.line)
				runtime.ReadMemStats(&after)
				if string(a.ID) != tt.id || a.Error == nil || a.Error.Code != tt.code || a.Error.Message == "" {
					t.Errorf("%s: the answer to %s is %+v, want %d", tt.kind, a.ID, a.Error, tt.code)
				}
				if n := after.TotalAlloc - before.TotalAlloc; n > 160<<20 { // a buffer of twice the limit, and the smaller ones before it
					t.Errorf("%s: %d bytes were allocated", tt.kind, n)
				}
			}
			toServer.Close()
			if err := <-done; err != nil && ctx.Err() != nil {
				t.Errorf("the end of the input: %v", err)
			}
		})
	}
}
