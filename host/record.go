package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// Kind is the kind of a [Record].
type Kind byte

// The kinds of records.
const (
	// Output is a line that the agent wrote, with its line feed. The last one may have none.
	Output Kind = 1 + iota
	// Input is a line to the agent, unchanged. It is stored in the sequence before the agent can
	// read it.
	Input
	// InputLost marks a line to the agent that did not reach it completely, because its input was closed or it has
	// ended. ID is that of the earlier Input.
	InputLost
	// InputClosed is the end of the agent's input, requested by an owner.
	InputClosed
	// OutputEnd is the end of the agent's output.
	OutputEnd
	// Exited is the end of the agent, the last record; Data is the [Exit] in JSON.
	Exited
)

// String returns the name of the kind.
func (k Kind) String() string {
	switch k {
	case Output:
		return "output"
	case Input:
		return "input"
	case InputLost:
		return "input lost"
	case InputClosed:
		return "input closed"
	case OutputEnd:
		return "output end"
	case Exited:
		return "exited"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// Record is one entry of the sequence of an agent.
type Record struct {
	// Number counts the records of the agent from 1, in the order of their completion.
	Number uint64
	// Time is the time at which the host stored the record, with microseconds.
	Time time.Time
	Kind Kind
	// ID is the owner's name for a line to the agent.
	ID string
	// Data is the line, or the Exit in JSON. It is read-only.
	Data []byte
}

// Exit is the end of an agent.
type Exit struct {
	spawn.ExitStatus
	// Time is the time at which the host detected the end.
	Time time.Time
	// Stderr is the end of the agent's stderr, at most 32 KiB.
	Stderr string
	// Error is the reason why the status is unknown, or "".
	Error string
	// Foreign is set if a SIGKILL ended the agent that the host did not send, OutOfMemory if the system's OOM killer was
	// active meanwhile, Orphaned if the host ended the agent because it had no owner.
	Foreign, OutOfMemory, Orphaned bool
	// CPU is the processor time of the agent and of the descendants that were waited for, MaxMemory the largest resident
	// memory of one of these processes in bytes. 0 means unknown.
	CPU       time.Duration
	MaxMemory int64
}

// part is a frame of a record: the whole record, or a fragment with more set. A fragment of output has no number: the
// line gets one when it is complete, and another record may be completed before.
type part struct {
	Record
	more bool
	size int // of the frame
}

// appendPart appends the frame of a part.
func appendPart(b []byte, agent uint32, p part) []byte {
	begin := len(b)
	b = beginFrame(b, frameData)
	b = binary.BigEndian.AppendUint32(b, agent)
	b = binary.BigEndian.AppendUint64(b, p.Number)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Time.UnixMicro()))
	flags := byte(0)
	if p.more {
		flags = flagMore
	}
	b = append(append(b, byte(p.Kind), flags, byte(len(p.ID))), p.ID...)
	return endFrame(append(b, p.Data...), begin)
}

// parsePart decodes the payload of a data frame. Data refers to the payload.
func parsePart(payload []byte) (agent uint32, p part, err error) {
	c := cursor{b: payload}
	p.size = headSize + len(payload)
	agent = c.u32()
	p.Number = c.u64()
	p.Time = time.UnixMicro(int64(c.u64()))
	p.Kind = Kind(c.u8())
	p.more = c.u8()&flagMore != 0
	p.ID = c.text()
	p.Data = c.b
	if c.bad || (p.Number == 0) != (p.more && p.Kind == Output) {
		return 0, part{}, errors.New("invalid record")
	}
	return agent, p, nil
}

// appendLines appends the frames of output in fragments. number is the last number and open whether a line is open,
// before and after the output.
func appendLines(b []byte, agent uint32, now time.Time, output []byte, number *uint64, open *bool) []byte {
	for len(output) > 0 {
		p := part{Record: Record{Kind: Output, Time: now}}
		n := bytes.IndexByte(output, '\n') + 1
		if p.more = n == 0 || n > fragment; p.more {
			n = min(len(output), fragment)
		} else {
			*number++
			p.Number = *number
		}
		p.Data = output[:n]
		output = output[n:]
		*open = p.more
		b = appendPart(b, agent, p)
	}
	return b
}

// appendRecord appends the frames of a whole record.
func appendRecord(b []byte, agent uint32, r Record) []byte {
	for len(r.Data) > fragment {
		head := part{Record: r, more: true}
		head.Data = r.Data[:fragment]
		b = appendPart(b, agent, head)
		r.Data = r.Data[fragment:]
	}
	return appendPart(b, agent, part{Record: r})
}

// assembler joins records from their parts: fragments of a line of the agent and of a line to it may interleave.
type assembler struct{ open map[Kind][]byte }

func (a *assembler) add(p part) (Record, bool) {
	before := a.open[p.Kind]
	if !p.more && before == nil {
		return p.Record, true
	}
	if a.open == nil {
		a.open = map[Kind][]byte{}
	}
	all := append(before, p.Data...)
	if p.more {
		a.open[p.Kind] = all
		return Record{}, false
	}
	delete(a.open, p.Kind)
	p.Data = all
	return p.Record, true
}
