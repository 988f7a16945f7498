package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// terminalVariable makes this executable an agent that runs a command in a terminal of its client
// for each prompt.
const terminalVariable = "PARLEY_TEST_TERMINAL"

// terminalAgent is that agent. The command is the value of the variable.
func terminalAgent(command string) {
	in := bufio.NewScanner(os.Stdin)
	write := func(m map[string]any) {
		m["jsonrpc"] = "2.0"
		_ = json.NewEncoder(os.Stdout).Encode(m) // fails if the client has ended
	}
	ask := func(id, method string, params map[string]any) {
		params["sessionId"] = "s"
		write(map[string]any{"id": id, "method": method, "params": params})
	}
	var prompt json.RawMessage
	turn, offered, terminal := 0, "", map[string]any{}
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ ClientCapabilities struct{ Terminal bool } }
			Result map[string]any
			Error  json.RawMessage
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			os.Exit(1)
		}
		step := strings.Trim(strings.TrimRight(string(m.ID), `0123456789"`), `"`)
		id := func(step string) string { return fmt.Sprint(step, turn) }
		switch {
		case m.Method == "initialize":
			offered = fmt.Sprint(m.Params.ClientCapabilities.Terminal)
			write(map[string]any{"id": m.ID, "result": map[string]any{"protocolVersion": 1}})
		case m.Method == "session/new":
			write(map[string]any{"id": m.ID, "result": map[string]any{"sessionId": "s"}})
		case m.Method == "session/prompt":
			prompt, turn = m.ID, turn+1
			ask(id("create"), "terminal/create", map[string]any{"command": "sh", "args": []string{"-c", command}})
		case step == "create":
			terminal = map[string]any{"terminalId": m.Result["terminalId"]}
			ask(id("wait"), "terminal/wait_for_exit", terminal)
		case step == "wait":
			ask(id("output"), "terminal/output", terminal)
		case step == "output":
			text := fmt.Sprintf("offered %s, output %q, exit %v, error %s", offered, m.Result["output"], m.Result["exitStatus"], m.Error)
			write(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "s", "update": map[string]any{
				"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": text}}}})
			ask(id("release"), "terminal/release", terminal)
		case step == "release":
			write(map[string]any{"id": prompt, "result": map[string]any{"stopReason": "end_turn"}})
		}
	}
	os.Exit(0)
}
