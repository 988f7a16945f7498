package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/host"
	"github.com/seed7221b0f9/parley/internal/test/bwraptest"
	"github.com/seed7221b0f9/parley/internal/test/hosts"
	"github.com/seed7221b0f9/parley/server/keyproxy"
	"github.com/seed7221b0f9/parley/spawn/box"
)

// TestMain runs the tests, or the command if a test started it.
func TestMain(m *testing.M) {
	box.Enter()
	host.Enter() // this executable can be the host of a server under test
	keyproxy.Enter()
	if command := os.Getenv(terminalVariable); command != "" {
		terminalAgent(command)
	}
	programs[keptProgram] = keptCLI(openDiary())
	claudetest.RunProgram(programs) // this executable can also be the simulated agent
	bwraptest.Visible()
	testscript.Main(tidyTests{m}, map[string]func(){"parley": main, "asker": serveAsker})
}

// serveAsker is an MCP server on standard input and output with a tool that asks the user for a
// colour.
func serveAsker() {
	s := mcp.NewServer(&mcp.Implementation{Name: "probe", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which colour?", RequestedSchema: map[string]any{
				"type": "object", "required": []string{"colour"}, "properties": map[string]any{"colour": map[string]any{"type": "string", "enum": []string{"Red", "Blue"}}},
			}})
			if err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(res.Action, " ", res.Content["colour"])}}}, nil, nil
		})
	if s.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		os.Exit(1)
	}
}

// tidyTests are the tests after which no goroutine or child may be left.
type tidyTests struct{ m *testing.M }

// Run runs the tests, and then checks for leftovers.
func (t tidyTests) Run() int {
	code := t.m.Run()
	if code != 0 {
		return code
	}
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if left := childProcesses(); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "children left:", left)
		return 1
	}
	if err := hosts.Left(host.Name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// childProcesses returns the ids of this process's children, including zombies, if the system
// reports them.
func childProcesses() []string {
	var pids []string
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		b, _ := os.ReadFile(task)
		pids = append(pids, strings.Fields(string(b))...)
	}
	return pids
}
