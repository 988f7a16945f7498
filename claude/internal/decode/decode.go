// Package decode decodes the lines of the CLI and counts them.
package decode

import (
	"sync/atomic"

	"github.com/seed7221b0f9/parley/claude/message"
)

var count atomic.Int64

// Line decodes a line.
func Line(text string) message.Message {
	count.Add(1)
	return message.DecodeLine(text)
}

// Count returns how many lines this process has decoded. Tests compare it with the number of lines.
func Count() int64 { return count.Load() }
