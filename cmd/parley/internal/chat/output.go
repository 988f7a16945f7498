package chat

import (
	"bytes"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// output shows the progress and the result of a run.
type output interface {
	event(ev event.Event)
	// line handles a raw line of the agent, before its events.
	line(text []byte)
	// end shows the result at the end of the run.
	end()
	// err returns the error of writing to standard output.
	err() error
}

func (o *Options) output() output {
	if o.Output != OutputJSON && o.Output != OutputRaw {
		return o.printer()
	}
	j := &jsonOutput{con: o.Console, last: o.Output == OutputJSON, simulated: o.Agent.Mark != ""}
	if !o.Agent.Lines {
		j.conv = event.NewEncoder("", 0)
	}
	return j
}

// jsonOutput writes lines of JSON, or only the last result: the lines of the agent, or else the
// server's messages for its events.
type jsonOutput struct {
	con       *term.Console
	conv      *event.Encoder // nil if the agent writes lines itself
	last      bool
	simulated bool
	result    []byte
}

func (o *jsonOutput) line(text []byte) {
	if o.conv == nil && !o.last {
		o.write(append(bytes.Clone(text), '\n'))
	}
}

func (o *jsonOutput) event(ev event.Event) {
	result, ok := ev.(*event.ResultMessage)
	switch {
	case o.last && (!ok || result.ParentToolUseID != ""):
	case o.conv == nil:
		if ok {
			o.result = []byte(result.Data + "\n")
		}
	default:
		lines, err := o.conv.AppendLines(nil, ev)
		if err != nil {
			return // an event that cannot be encoded, which no agent emits
		}
		if o.result = lines; !o.last {
			o.write(lines)
		}
	}
}

func (o *jsonOutput) write(line []byte) {
	o.con.Lock()
	defer o.con.Unlock()
	if rest, ok := bytes.CutPrefix(line, []byte("{")); ok && o.simulated {
		line = append([]byte(`{"simulated":true,`), rest...)
	}
	o.con.Out.JSON(line)
}

func (o *jsonOutput) end() {
	if o.last && o.result != nil {
		o.write(o.result)
	}
}

func (o *jsonOutput) err() error {
	o.con.Lock()
	defer o.con.Unlock()
	return o.con.Out.Err
}
