package editor

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// A client with _meta.terminal_output draws a terminal for a command that the agent runs itself. It is an extension of
// the reference adapter: terminal_info begins the terminal, terminal_output adds to it and terminal_exit ends it.

// terminalMeta is a member of _meta with the id of a terminal and pairs of names and values.
func terminalMeta(id string, pairs ...any) json.RawMessage {
	members := map[string]any{"terminal_id": id}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := jsonwire.Marshal(members)
	if err != nil {
		return json.RawMessage("{}") // texts and numbers
	}
	return raw
}

func terminalContent(id string) []acp.ToolCallContent {
	return []acp.ToolCallContent{{Type: acp.ToolCallContentIsTerminal, Value: &acp.Terminal{TerminalID: acp.TerminalID(id)}}}
}

// exit adds the output of a command and the end of its terminal to an update.
func (t *toolCall) exit(u *acp.ToolCallUpdate, output string, failed bool) {
	code, rest := 0, output
	if failed {
		code = 1
		if line, after, _ := strings.Cut(output, "\n"); strings.HasPrefix(line, exitCode) {
			if n, err := strconv.Atoi(strings.TrimPrefix(line, exitCode)); err == nil {
				code, rest = n, after
			}
		}
	}
	if rest != "" {
		u.Meta["terminal_output"] = terminalMeta(t.id, "data", strings.TrimRight(rest, "\n")+"\n")
	}
	u.Meta["terminal_exit"] = terminalMeta(t.id, "exit_code", code, "signal", nil)
}

// exitCode begins the result of a command that failed, before its number.
const exitCode = "Exit code "
