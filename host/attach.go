package host

import "fmt"

// attach sends the records from a number onward to a connection, after the answer to the request.
func (a *agent) attach(c *conn, q request) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	from := q.From
	switch {
	case a.to.conn != nil:
		return fmt.Errorf("agent %d is attached", a.number)
	case from == 0:
		from = a.info.Checkpoint + 1
	case from <= a.info.Checkpoint:
		return fmt.Errorf("%w: record %d was requested, the first one is %d", ErrGone, from, a.info.Checkpoint+1)
	case from > a.info.Last+1:
		return fmt.Errorf("record %d does not exist, the last one is %d", from, a.info.Last)
	}
	at, err := a.find(from)
	if err != nil {
		return err
	}
	_, state, err := readState(a.dir)
	if err != nil {
		return err
	}
	a.dropTail()
	a.to = attachment{conn: c, at: at, from: from, skip: true, credit: q.Window}
	d := a.describe()
	c.answer(answer{ID: q.ID, Agent: &d, State: state})
	a.wake()
	return nil
}

func (a *agent) detach() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to = attachment{}
	a.dropTail()
}

// find returns the position of the first frame of the records from a number onward. The caller holds mu.
func (a *agent) find(from uint64) (int64, error) {
	b := getBuffer()
	defer putBuffer(b)
	at, line := a.spool.begin(), int64(-1) // the start of an incomplete line
	for _, s := range a.spool.segments {
		if s.last < from && !s.open {
			at = s.begin // it may be skipped, unless it is the last one
		}
	}
	for at < a.spool.end {
		n, err := a.spool.read(at, b[:cap(b)])
		if err != nil {
			return 0, err
		}
		for frames := b[:n]; len(frames) > 0; {
			size, _ := frameSize(frames)
			_, p, err := parsePart(frames[headSize:size])
			switch {
			case err != nil:
				return 0, err
			case p.Number == 0 && line < 0:
				line = at
			case p.Number >= from:
				return before(line, at), nil
			case p.Number > 0 && p.Kind == Output:
				line = -1
			}
			at += int64(size)
			frames = frames[size:]
		}
	}
	return before(line, at), nil
}

// before returns the position of an open line, or at if no line is open.
func before(line, at int64) int64 {
	if line >= 0 {
		return line
	}
	return at
}

// take returns the next frames for a connection, and whether more may be sent. The caller must return the
// buffer.
func (a *agent) take(c *conn) (b []byte, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.to.conn != c {
		return nil, false
	}
	if len(a.to.stderr) > 0 {
		b = appendStderr(getBuffer()[:0], a.number, a.to.stderr)
		a.to.stderr = nil
		return b, true
	}
	if a.exit != nil && !a.to.exited {
		a.to.exited = true
		c.notify(notice{Agent: a.number, Exit: a.exit})
	}
	if a.to.credit <= 0 || a.to.at >= a.spool.end {
		return nil, false
	}
	if a.tail != nil && a.tailAt == a.to.at && !a.to.skip {
		b, a.tail = a.tail, nil
		a.to.at = a.spool.end
	} else {
		b = a.takeFile()
	}
	a.to.credit -= int64(len(b))
	return b, a.to.credit > 0 && a.to.at < a.spool.end
}

// takeFile reads the next frames from the spool. The caller holds mu.
func (a *agent) takeFile() []byte {
	b := getBuffer()
	b = b[:cap(b)]
	n, err := a.spool.read(a.to.at, b)
	if err != nil {
		a.h.log.Error("the spool cannot be read", "agent", a.number, "err", err)
		a.to.conn.abort()
		return b[:0]
	}
	a.to.at += int64(n)
	if a.to.at >= a.tailAt {
		a.dropTail()
	}
	b = b[:n]
	if a.to.skip {
		return a.skip(b)
	}
	return b
}

// skip removes the records before the first wanted one from frames. Such records were completed while the line
// of the first wanted record, or an earlier one, was still open.
func (a *agent) skip(b []byte) []byte {
	kept := b[:0]
	for len(b) > 0 {
		size, _ := frameSize(b)
		_, p, err := parsePart(b[headSize:size])
		if p.Number >= a.to.from {
			a.to.skip = false
		}
		if err != nil || p.Number == 0 || p.Number >= a.to.from {
			kept = append(kept, b[:size]...)
		}
		b = b[size:]
	}
	return kept
}
