// Package takeover passes the port and the data directory of a running server to its successor.
//
// A server opens a [Door], a socket in its data directory. A successor calls [Ask] there. The server answers with its port, ends,
// and reports that it has left ([Successor.Confirm]); the successor waits for that ([Predecessor.Left]), opens the data directory,
// and confirms that it serves ([Predecessor.Serving]). Clients that connect in between wait, because the port stays open.
//
// A server that does not answer within 10 s is ended. A successor that does not confirm within 30 s is ended, and the server
// continues.
package takeover

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/seed7221b0f9/parley/internal/usersocket"
)

// The time limits of a handover. Tests change them.
var (
	askTime   = 10 * time.Second // for the answer of a server
	readyTime = 30 * time.Second // from the time a server has left until its successor serves
	endTime   = 10 * time.Second // for the end of a killed process
)

// protocol is the version of the messages.
const protocol = 1

// socketName is the name of the socket in a data directory.
const socketName = "serve.sock"

// maxLine limits the bytes of a message.
const maxLine = 4096

// message is a line of the dialogue. The successor sends Protocol with Format, and Serving at the end; the server sends Leave with the
// descriptor of its port, or Error, and Left.
type message struct {
	Protocol int           `json:"protocol,omitempty"`
	Format   int           `json:"format,omitempty"`  // of the logs that the successor writes
	Version  string        `json:"version,omitempty"` // of the successor, for people
	Leave    time.Duration `json:"leave_ns,omitempty"`
	Left     bool          `json:"left,omitempty"`
	Serving  bool          `json:"serving,omitempty"`
	Error    string        `json:"error,omitempty"`
}

// line returns the encoded message.
func (m message) line() []byte {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // all fields can be encoded
	}
	return append(text, '\n')
}

// parse decodes a line.
func parse(line []byte) (m message, err error) {
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("takeover: not a message: %.100q", line)
	}
	if m.Error != "" {
		return m, &RefusedError{m.Error}
	}
	return m, nil
}

// RefusedError is returned if the running server refuses to hand over. It contains the reason.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return "the running server does not hand over: " + e.Reason }

// check returns the reason why a server with this format refuses a request, or "".
func (m message) check(format int) string {
	switch {
	case m.Protocol != protocol:
		return fmt.Sprintf("it speaks version %d of the handover, the other one version %d", protocol, m.Protocol)
	case m.Format < format:
		return fmt.Sprintf("its logs have format %d, and the other one knows formats up to %d", format, m.Format)
	}
	return ""
}

// peer is the other process of a handover.
type peer struct {
	conn    *net.UnixConn
	in      *bufio.Reader
	process *os.Process // nil if it is unknown
}

func newPeer(conn *net.UnixConn) *peer {
	p := &peer{conn: conn, in: bufio.NewReaderSize(io.Reader(conn), maxLine)}
	if pid, err := usersocket.PeerPID(conn); err == nil && pid > 0 {
		p.process, _ = os.FindProcess(pid) // on Linux a handle of the process, which cannot refer to a later process with the same id
	}
	return p
}

// PID returns the id of the process, 0 if it is unknown.
func (p *peer) PID() int {
	if p.process == nil {
		return 0
	}
	return p.process.Pid
}

func (p *peer) write(m message) error {
	_, err := p.conn.Write(m.line())
	return err
}

// read returns the next message. It fails at deadline.
func (p *peer) read(deadline time.Time) (message, error) {
	if err := p.conn.SetReadDeadline(deadline); err != nil {
		return message{}, err
	}
	line, err := p.in.ReadSlice('\n')
	if err != nil {
		return message{}, err
	}
	return parse(line)
}

// endAfter ends a process that has not answered in time. A process that has closed its socket has
// ended or is ending.
func (p *peer) endAfter(failed error) error {
	if !errors.Is(failed, os.ErrDeadlineExceeded) {
		return nil
	}
	return p.end()
}

// end kills the process and waits for its end.
func (p *peer) end() error {
	if p.process == nil {
		return errors.New("takeover: the other server does not answer, and its process is unknown: end it yourself")
	}
	if err := p.process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("takeover: ending process %d: %w", p.process.Pid, err)
	}
	if !awaitEnd(p.process, endTime) {
		return fmt.Errorf("takeover: process %d does not end", p.process.Pid)
	}
	return nil
}

func (p *peer) close() error {
	if p.process != nil {
		_ = p.process.Release() // its parent waits for it
	}
	return p.conn.Close()
}
