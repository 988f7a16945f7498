package keyproxy

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
)

// version is the version of the control messages.
const version = 2

// maxMessage is the size limit of a control message in bytes. A list of grants has 100 bytes per
// grant.
const maxMessage = 16 << 20

// maxGrants limits the tokens of a process.
const maxGrants = 100_000

// message is a line on the control socket of a proxy's process, in both directions. A client sends one and waits for the answer.
type message struct {
	// Open requests the state of the process, and sets the key, its upstream and the allowed hosts.
	// Without a key they stay unchanged.
	Open     bool     `json:"open,omitempty"`
	Key      string   `json:"key,omitempty"`
	Upstream string   `json:"upstream,omitempty"`
	Allow    []string `json:"allow,omitempty"`
	// Grant makes a token valid for a session; Revoke revokes tokens.
	Grant  *granted `json:"grant,omitempty"`
	Revoke []string `json:"revoke,omitempty"`

	// The response: Version, URL, Door and Grants answer Open; Error is set if a request failed.
	Version int       `json:"version,omitempty"`
	URL     string    `json:"url,omitempty"`
	Door    string    `json:"door,omitempty"`
	Grants  []granted `json:"grants,omitempty"`
	Error   string    `json:"error,omitempty"`
}

// granted is the id of a token with its session.
type granted struct {
	ID      string `json:"id"` // hexadecimal
	Session string `json:"session"`
}

func (id tokenID) String() string { return hex.EncodeToString(id[:]) }

// parseID is the inverse of String.
func parseID(text string) (id tokenID, err error) {
	b, err := hex.DecodeString(text)
	if err == nil && len(b) != len(id) {
		err = errors.New("invalid length")
	}
	if err != nil {
		return id, fmt.Errorf("keyproxy: the id of a token: %w", err)
	}
	return tokenID(b), nil
}

// line sends and receives messages over a connection.
type line struct {
	conn net.Conn
	in   *bufio.Scanner
}

func newLine(conn net.Conn) *line {
	l := &line{conn, bufio.NewScanner(conn)}
	l.in.Buffer(nil, maxMessage)
	return l
}

func (l *line) write(m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = l.conn.Write(append(text, '\n'))
	return err
}

func (l *line) read() (m message, err error) {
	if !l.in.Scan() {
		return m, errors.Join(io.ErrUnexpectedEOF, l.in.Err())
	}
	return m, json.Unmarshal(l.in.Bytes(), &m)
}
