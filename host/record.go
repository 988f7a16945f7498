package host

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// Kind tells what a [Record] is.
type Kind byte

// The kinds of records.
const (
	// Output is a line that the agent wrote, with its line feed. The last one may have none.
	Output Kind = 1 + iota
	// Input is a line to the agent, as the owner gave it. It is in the sequence before the agent can read it.
	Input
	// InputLost is a line to the agent that has not reached it, or not as a whole: its input was closed or it has
	// ended. ID is that of the Input, which comes before.
	InputLost
	// InputClosed is the end of the agent's input, asked for by an owner.
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
	// Number counts the records of the agent from 1, in the order in which they were complete.
	Number uint64
	// Time is when the host had the record, to the microsecond.
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
	// Time is when the host learned of it.
	Time time.Time
	// Stderr is the end of what the agent wrote to stderr, at most 32 KiB.
	Stderr string
	// Error is why the status is not known; empty when it is.
	Error string
	// Foreign is set when a SIGKILL ended the agent that the host has not sent, OutOfMemory when the system's OOM
	// killer was at work meanwhile, Orphaned when the host ended the agent because nobody owned it.
	Foreign, OutOfMemory, Orphaned bool
	// CPU is the processor time of the agent and of what it started and waited for, MaxMemory the largest
	// resident memory of one of these processes in bytes. 0 means not known.
	CPU       time.Duration
	MaxMemory int64
}

// part is a frame of a record: the whole, or a fragment with more set. A fragment of output has no number: the line gets
// one when it is complete, and another record may be complete before.
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

// parsePart reads the payload of a data frame. Data is a part of it.
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
		return 0, part{}, fmt.Errorf("a record that makes no sense")
	}
	return agent, p, nil
}

// appendLines appends the frames of output, fragment by fragment. number and open are the last number and whether a
// line is open before it, and after it.
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

// assembler puts records together from their parts: fragments of a line of the agent and of one to it may mix.
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
