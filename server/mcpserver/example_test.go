package mcpserver_test

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/mcpserver"
)

// This example lists the tools of the service. Listing calls no tool.
func ExampleNew() {
	ctx := context.Background()
	serving, calling := mcp.NewInMemoryTransports()
	s := mcpserver.New(&client.Client{}, "1.0")
	ss, err := s.Connect(ctx, serving, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ss.Close()
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil).Connect(ctx, calling, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cs.Close()
	tools, err := cs.ListTools(ctx, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range tools.Tools {
		fmt.Println(tool.Name)
	}
	// Output:
	// request_answer
	// request_list
	// session_diff
	// session_interrupt
	// session_list
	// session_read
	// session_send
	// session_start
	// session_wait
}
