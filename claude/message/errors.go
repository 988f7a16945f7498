package message

import (
	"cmp"
	"fmt"
	"strings"
)

func (e *DecodeError) Error() string {
	line := e.Line
	if len(line) > 200 {
		line = strings.ToValidUTF8(line[:200], "") + "…"
	}
	return fmt.Sprintf("claude: decoding a line: %v: %q", e.Err, line)
}

// Unwrap returns the reason why the line could not be decoded, mostly a syntax error with its
// position in the line.
func (e *DecodeError) Unwrap() error { return e.Err }

func (e *ResultError) Error() string {
	text := cmp.Or(e.Result.Text(), string(e.Result.Subtype))
	return "claude: error result: " + text
}
