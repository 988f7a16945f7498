package host

import (
	"errors"
	"os"
	"syscall"
)

// maxInput limits a line to an agent, in bytes.
const maxInput = 256 << 20

// input is a line to an agent.
type input struct {
	InputInfo
	at int64 // its position in the spool
}

// write adds a line to the agent, once for each id. The line is in the sequence when it returns, unless NotKept is set.
func (a *agent) write(id string, line []byte) (InputInfo, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.inputs[id]; known != nil {
		return known.InputInfo, nil
	}
	if a.closed || a.closing {
		return InputInfo{}, ErrInputClosed
	}
	in := &input{at: a.spool.end}
	number, err := a.tryKeep(Record{Kind: Input, ID: id, Data: line})
	if err != nil {
		return InputInfo{ID: id, State: InputDropped, NotKept: err.Error()}, nil
	}
	in.InputInfo = InputInfo{ID: id, Number: number, State: InputQueued}
	a.inputs[id] = in
	a.queue = append(a.queue, in)
	a.startWriting()
	return in.InputInfo, nil
}

// closeInput ends the agent's input after the queued lines.
func (a *agent) closeInput() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.closing {
		return nil
	}
	_, err := a.tryKeep(Record{Kind: InputClosed})
	a.closing, a.unrecorded = true, err != nil
	a.startWriting()
	return nil
}

// startWriting starts the goroutine that writes to the agent, unless it is running. The caller holds mu.
func (a *agent) startWriting() {
	if !a.writing {
		a.writing = true
		go a.writeQueue()
	}
}

// writeQueue writes the queued lines and returns after the last. Only this goroutine waits for an agent that does not
// read.
func (a *agent) writeQueue() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 {
		in := a.queue[0]
		line, err := a.readInput(in)
		if isSystem(err) { // such as too many open files
			a.await(err)
			continue
		}
		if err == nil {
			a.mu.Unlock()
			_, err = a.process.Stdin().Write(line)
			a.mu.Lock()
		}
		if len(a.queue) == 0 || a.queue[0] != in {
			break // the agent has ended
		}
		if err != nil {
			a.closed = true
			a.dropQueue()
			break
		}
		a.queue = a.queue[1:]
		a.settle(in, InputWritten)
	}
	for a.unrecorded && !a.dropped && a.exit == nil { // no record may follow the exit
		_, err := a.tryKeep(Record{Kind: InputClosed})
		if a.unrecorded = err != nil; a.unrecorded {
			a.await(err)
		}
	}
	a.writing = false
	if a.closing || a.closed {
		a.closed = true
		a.process.Stdin().Close()
	}
}

// isSystem reports whether an error comes from the system, so that the same call may succeed later.
func isSystem(err error) bool {
	_, ok := errors.AsType[syscall.Errno](err)
	return ok
}

// settle sets the state of a line, and notifies the owner. The caller holds mu.
func (a *agent) settle(in *input, state InputState) {
	in.State = state
	if in.Number <= a.info.Checkpoint {
		a.cover(a.info.Checkpoint) // a checkpoint could not cover the queued line
	}
	if c := a.to.conn; c != nil {
		info := in.InputInfo
		c.notify(notice{Agent: a.number, Input: &info})
	}
}

// dropQueue drops the queued lines, because the agent will not read them. The caller holds mu.
func (a *agent) dropQueue() {
	queue := a.queue
	a.queue = nil
	if len(queue) > 0 {
		a.dropping = true
	}
	for _, in := range queue {
		a.keep(Record{Kind: InputLost, ID: in.ID})
		a.settle(in, InputDropped)
	}
	if len(queue) > 0 {
		a.dropping = false
		a.room.Broadcast()
	}
}

// readInput reads a line to the agent from the spool. The caller holds mu.
func (a *agent) readInput(in *input) ([]byte, error) {
	b := getBuffer()
	defer putBuffer(b)
	var all assembler
	for at := in.at; ; {
		n, err := a.spool.read(at, b[:cap(b)])
		if err != nil {
			return nil, err
		}
		at += int64(n)
		for frames := b[:n]; len(frames) > 0; {
			size, _ := frameSize(frames)
			_, p, err := parsePart(frames[headSize:size])
			if err != nil {
				return nil, err
			}
			if r, whole := all.add(p); whole {
				return append([]byte(nil), r.Data...), nil
			}
			frames = frames[size:]
		}
		if n == 0 {
			return nil, os.ErrInvalid
		}
	}
}

// inputInfo returns the information about a line.
func (a *agent) inputInfo(id string) InputInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in := a.inputs[id]; in != nil {
		return in.InputInfo
	}
	return InputInfo{ID: id, State: InputUnknown}
}

// forgetInputs removes the lines that the checkpoint covers. The caller holds mu.
func (a *agent) forgetInputs() {
	for id, in := range a.inputs {
		if in.Number <= a.info.Checkpoint && in.State != InputQueued {
			delete(a.inputs, id)
		}
	}
}
