package main

import (
	"strings"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// output shows a run. Its methods are called from one goroutine.
type output interface {
	// message shows one message.
	message(m message.Message)
	// end shows what comes last.
	end()
	// err is why standard output cannot be written to, nil while it can.
	err() error
}

// wireLine is a message as the CLI wrote it. That of the simulated agent says so in
// a member of its own.
func wireLine(m message.Message, simulated bool) []byte {
	raw := string(m.Raw())
	if rest, ok := strings.CutPrefix(raw, "{"); ok && simulated {
		raw = `{"simulated":true,` + rest
	}
	return []byte(raw + "\n")
}

// resultOutput writes the last result as the CLI wrote it, and nothing else.
type resultOutput struct {
	to        *term.Pen
	simulated bool
	last      *message.Result
}

func (o *resultOutput) message(m message.Message) {
	if r, ok := m.(*message.Result); ok {
		o.last = r
	}
}

func (o *resultOutput) end() {
	if o.last != nil {
		o.to.JSON(wireLine(o.last, o.simulated))
	}
}

func (o *resultOutput) err() error { return o.to.Err }

// rawOutput writes every message as the CLI wrote it.
type rawOutput struct {
	to        *term.Pen
	simulated bool
}

func (o *rawOutput) message(m message.Message) { o.to.JSON(wireLine(m, o.simulated)) }

func (o *rawOutput) end() {}

func (o *rawOutput) err() error { return o.to.Err }
