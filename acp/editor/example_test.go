package editor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent/agenttest"
	"github.com/seed7221b0f9/parley/agent/event"
)

// Serve the sessions of a provider to a client. Here the client writes one request, reads the
// response and closes its end.
func ExampleServe() {
	in, client := io.Pipe()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- editor.Serve(context.Background(), in, w, editor.Options{Provider: &agenttest.Provider{}, Name: "example", Version: "1"})
		w.Close()
	}()
	fmt.Fprintln(client, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var answer struct {
			Result struct{ ProtocolVersion int }
		}
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			fmt.Println(err)
		}
		fmt.Println("version", answer.Result.ProtocolVersion)
		client.Close()
	}
	fmt.Println(lines.Err(), <-done)
	// Output:
	// version 1
	// <nil> <nil>
}

// Convert events to session updates.
func ExampleMapper() {
	m := &editor.Mapper{Dir: "/src"}
	for _, ev := range []event.Event{
		&event.ToolStart{ToolUseID: "1", Name: "Read"},
		&event.ToolInputComplete{ToolUseID: "1", Input: `{"file_path":"/src/a.txt"}`},
	} {
		for _, u := range m.Event(ev) {
			switch v := u.Value.(type) {
			case *acp.ToolCall:
				fmt.Println(u.SessionUpdate.SessionUpdate, v.Title)
			case *acp.ToolCallUpdate:
				title, _ := v.Title.Get()
				fmt.Println(u.SessionUpdate.SessionUpdate, title)
			}
		}
	}
	// Output:
	// tool_call Read File
	// tool_call_update Read a.txt
}
