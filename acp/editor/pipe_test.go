package editor_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/agenttest"
)

// missing is a provider without a program.
type missing struct{ *agenttest.Provider }

func (missing) Open(context.Context, agent.Options) (agent.Session, error) {
	return nil, errors.New("the program is missing")
}

// output collects what the editor's side gets.
type output struct{ strings.Builder }

func (*output) Close() error { return nil }

// TestServe_pipe checks that requests are answered in a pipe: a client may send them without waiting for the answer to initialize, and
// close its end at once.
func TestServe_pipe(t *testing.T) {
	dir, err := json.Marshal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // the requests are handled at the same time
		var out output
		in := strings.NewReader("\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":` + string(dir) + `,"mcpServers":[]}}` + "\n")
		if err := editor.Serve(t.Context(), io.NopCloser(in), &out, editor.Options{Provider: missing{&agenttest.Provider{}}}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"id":1,"result":`, "the program is missing"} {
			if !strings.Contains(out.String(), want) {
				t.Fatalf("the answers are\n%s\nwithout %s", out.String(), want)
			}
		}
	}
}
