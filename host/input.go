package host

import "os"

// maxInput bounds a line to an agent.
const maxInput = 256 << 20

// input is a line to an agent.
type input struct {
	InputInfo
	at int64 // its place in the spool
}

// write takes a line to the agent, once for each id. The line is in the sequence when it returns.
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
		return InputInfo{}, err
	}
	in.InputInfo = InputInfo{ID: id, Number: number, State: InputQueued}
	a.inputs[id] = in
	a.queue = append(a.queue, in)
	a.startWriting()
	return in.InputInfo, nil
}

// closeInput ends the agent's input after the lines that wait.
func (a *agent) closeInput() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.closing {
		return nil
	}
	if _, err := a.tryKeep(Record{Kind: InputClosed}); err != nil {
		return err
	}
	a.closing = true
	a.startWriting()
	return nil
}

// startWriting starts what writes to the agent, if it does not run. mu is held.
func (a *agent) startWriting() {
	if !a.writing {
		a.writing = true
		go a.writeQueue()
	}
}

// writeQueue writes the lines that wait and ends with the last of them. Only it waits for an agent that does not read.
func (a *agent) writeQueue() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.queue) > 0 {
		in := a.queue[0]
		line, err := a.readInput(in)
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
	a.writing = false
	if a.closing || a.closed {
		a.closed = true
		a.process.Stdin().Close()
	}
}

// settle sets what became of a line, and tells the owner. mu is held.
func (a *agent) settle(in *input, state InputState) {
	in.State = state
	if in.Number <= a.info.Checkpoint {
		a.cover(a.info.Checkpoint) // which had to leave it
	}
	if c := a.to.conn; c != nil {
		info := in.InputInfo
		c.notify(notice{Agent: a.number, Input: &info})
	}
}

// dropQueue gives up the lines that wait: the agent will not read them. mu is held.
func (a *agent) dropQueue() {
	queue := a.queue
	a.queue = nil
	for _, in := range queue {
		a.keep(Record{Kind: InputLost, ID: in.ID})
		a.settle(in, InputDropped)
	}
}

// readInput reads a line to the agent from the spool. mu is held.
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

// inputInfo returns what is known of a line.
func (a *agent) inputInfo(id string) InputInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in := a.inputs[id]; in != nil {
		return in.InputInfo
	}
	return InputInfo{ID: id, State: InputUnknown}
}

// forgetInputs forgets the lines that the checkpoint covers. mu is held.
func (a *agent) forgetInputs() {
	for id, in := range a.inputs {
		if in.Number <= a.info.Checkpoint && in.State != InputQueued {
			delete(a.inputs, id)
		}
	}
}
