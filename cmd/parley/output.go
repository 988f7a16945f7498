package main

import (
	"io"

	"github.com/seed7221b0f9/parley/claude"
)

// output shows a run. Its methods are called from one goroutine.
type output interface {
	// message shows one message.
	message(m claude.Message)
	// end shows what comes last.
	end()
	// err is why standard output cannot be written to, nil while it can.
	err() error
}

// resultOutput writes the last result as the CLI wrote it, and nothing else.
type resultOutput struct {
	w       io.Writer
	last    *claude.ResultMessage
	failure error
}

func (o *resultOutput) message(m claude.Message) {
	if r, ok := m.(*claude.ResultMessage); ok {
		o.last = r
	}
}

func (o *resultOutput) end() {
	if o.last != nil {
		_, o.failure = o.w.Write(append(o.last.Raw(), '\n'))
	}
}

func (o *resultOutput) err() error { return o.failure }

// rawOutput writes every message as the CLI wrote it.
type rawOutput struct {
	w       io.Writer
	failure error
}

func (o *rawOutput) message(m claude.Message) {
	if o.failure == nil {
		_, o.failure = o.w.Write(append(m.Raw(), '\n'))
	}
}

func (o *rawOutput) end() {}

func (o *rawOutput) err() error { return o.failure }
