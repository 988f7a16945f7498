package editor

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// A client with _meta.terminal_output draws a terminal for a command that the agent itself runs. It
// is an extension of the reference adapter: terminal_info begins the terminal, terminal_output adds
// output and terminal_exit ends it.

// terminalMeta returns a member of _meta with the id of a terminal, and pairs of names and values.
func terminalMeta(id string, pairs ...any) json.RawMessage {
	members := map[string]any{"terminal_id": id}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i].(string)] = pairs[i+1]
	}
	raw, err := jsonwire.Marshal(members)
	if err != nil {
		return json.RawMessage("{}") // texts and numbers can be encoded
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
	if rest = t.output.rest(rest); rest != "" {
		u.Meta["terminal_output"] = terminalMeta(t.id, "data", strings.TrimRight(rest, "\n")+"\n")
	}
	u.Meta["terminal_exit"] = terminalMeta(t.id, "exit_code", code, "signal", nil)
}

// exitCode is the text before the exit code in the result of a failed command.
const exitCode = "Exit code "

// output is the output of a running command so far.
type output struct {
	text  string
	shown int // number of bytes that the client was shown
}

const (
	maxOutput  = 256 << 10 // maximum that is shown before the command ends
	smooth     = 2 << 10   // up to this size every piece is shown
	outputStep = 1 << 10   // afterwards the output is shown in steps of this size
	maxTail    = 4 << 10   // size of the shown end of the output, for clients without terminals
)

// add adds a piece and reports whether to show the output.
func (o *output) add(piece string) bool {
	if piece == "" || len(o.text)+len(piece) > maxOutput {
		return false
	}
	o.text += piece
	return len(o.text) <= smooth || len(o.text)-o.shown >= outputStep
}

// rest returns the part of the complete output that was not shown.
func (o *output) rest(whole string) string {
	shown := o.text[:o.shown]
	if whole == "" {
		return o.text[o.shown:]
	}
	if more, ok := strings.CutPrefix(whole, shown); ok {
		return more
	}
	if shown = strings.TrimRight(shown, "\n"); strings.HasSuffix(shown, strings.TrimRight(whole, "\n")) {
		return "" // the result is trimmed, or is only the end of the output
	}
	more, ok := strings.CutPrefix(whole, shown)
	if !ok {
		return whole
	}
	return more
}

// tail returns the last lines of the output.
func (o *output) tail() string {
	if len(o.text) <= maxTail {
		return o.text
	}
	end := o.text[len(o.text)-maxTail:]
	if _, lines, ok := strings.Cut(end, "\n"); ok && lines != "" {
		end = lines
	}
	return "…\n" + strings.ToValidUTF8(end, "")
}

// printed shows new output of a running command: in its terminal, or as the content of the call
// until the result replaces it.
func (m *Mapper) printed(t *toolCall, piece string) {
	if t.done || !t.output.add(piece) {
		return
	}
	u := t.update()
	if t.terminal {
		u.Meta["terminal_output"] = terminalMeta(t.id, "data", t.output.text[t.output.shown:])
	} else {
		u.Content = acp.Some(append(slices.Clone(t.shown.content), textContent(fence("console", t.output.tail()))))
	}
	t.output.shown = len(t.output.text)
	m.send(t, u)
}
