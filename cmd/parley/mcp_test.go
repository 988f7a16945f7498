package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestMCP_stdio drives parley mcp with the official client: the token comes from a file, and the process
// ends with its input.
func TestMCP_stdio(t *testing.T) {
	t.Setenv("PARLEY_SIM_PACE", "0")
	dir := t.TempDir()
	c, _ := serveForTest(t, serveFlagsFor(t, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--dir", dir, "--log-level", "error", "--agent", "sim"))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var made api.TokensCreateResult
	if err := c.Call(ctx, "tokens.create", api.TokensCreateParams{Role: "operator"}, &made); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(made.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("parley", "mcp", "--data", filepath.Join(dir, "data"), "--token-file", file)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PARLEY_TOKEN=wrong"}
	var errs strings.Builder
	cmd.Stderr = &errs
	s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "session_list", Arguments: map[string]any{}})
	if err != nil || r.IsError || len(r.Content) != 1 || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, "sessions") {
		t.Errorf("session_list: %+v, %v", r, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closing: %v; %s", err, errs.String())
	}
	for _, args := range [][]string{{"mcp"}, {"mcp", "--data", filepath.Join(dir, "data"), "--token-file", filepath.Join(dir, "none")}} {
		out, err := exec.Command("parley", args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "token") {
			t.Errorf("parley %s: %v, %s", strings.Join(args, " "), err, out)
		}
	}
}
