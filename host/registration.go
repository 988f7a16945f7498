package host

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"time"
)

// Registration describes a machine that offers its host to a server.
type Registration struct {
	// Version is the highest version of the protocol that the host supports.
	Version int `json:"version"`
	// Name identifies the machine at the server.
	Name string `json:"name"`
	// System is the operating system and the architecture, as in linux/amd64.
	System string   `json:"system,omitempty"`
	Labels []string `json:"labels,omitempty"`
	// Agents are the allowed values of [Launch].Agent; Dirs are the directories below which agents
	// run.
	Agents []string `json:"agents"`
	Dirs   []string `json:"dirs"`
	// Slots is the number of agents that may run concurrently; 0 means the server's limit.
	Slots int `json:"slots,omitempty"`
	// MaxMode is the highest permission mode of an agent; Box is the box of all agents.
	MaxMode string `json:"max_mode,omitempty"`
	Box     string `json:"box,omitempty"`
}

// maxRegistration limits the frames before the hello.
const maxRegistration = 64 << 10

// frameRegister is the first frame of a machine, before the hello of the server: JSON, to the owner.
const frameRegister = 'r'

// Register offers a host to the server at the other end of a connection, and waits for its answer. [Relay] follows.
func Register(ctx context.Context, conn net.Conn, r Registration) error {
	defer deadline(ctx, conn)()
	frame, err := jsonFrame(frameRegister, r)
	if err != nil {
		return err
	}
	if _, err := conn.Write(frame); err != nil {
		return err
	}
	kind, payload, err := readFrame(conn)
	if err != nil {
		return err
	}
	var a answer
	if kind != frameAnswer {
		return fmt.Errorf("unexpected frame of type %q", kind)
	}
	if err := json.Unmarshal(payload, &a); err != nil {
		return err
	}
	return a.Failure.error()
}

// AcceptRegistration reads the registration of a machine. check decides whether it is accepted; its error is the machine's answer.
// [NewLink] follows.
func AcceptRegistration(ctx context.Context, conn net.Conn, check func(Registration) error) (r Registration, err error) {
	defer deadline(ctx, conn)()
	kind, payload, err := readFrame(conn)
	switch {
	case err != nil:
		return r, err
	case kind != frameRegister:
		return r, fmt.Errorf("unexpected frame of type %q", kind)
	}
	if err := json.Unmarshal(payload, &r); err != nil {
		return r, err
	}
	refused := check(r)
	frame, err := jsonFrame(frameAnswer, answer{Failure: failureOf(refused), Version: Version})
	if err == nil {
		_, err = conn.Write(frame)
	}
	if refused != nil {
		return r, refused
	}
	return r, err
}

// readFrame reads a frame and nothing after it, because another reader follows.
func readFrame(r io.Reader) (kind byte, payload []byte, err error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length < 1 || length > maxRegistration {
		return 0, nil, fmt.Errorf("invalid frame of %d bytes: the limit is %d", length, maxRegistration)
	}
	payload = make([]byte, length-1)
	_, err = io.ReadFull(r, payload)
	return head[4], payload, err
}

// deadline limits a handshake by ctx and helloTime. The returned function removes the limit.
func deadline(ctx context.Context, conn net.Conn) (end func()) {
	at := time.Now().Add(helloTime)
	if d, ok := ctx.Deadline(); ok && d.Before(at) {
		at = d
	}
	_ = conn.SetDeadline(at)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if stop() {
			_ = conn.SetDeadline(time.Time{})
		}
	}
}
