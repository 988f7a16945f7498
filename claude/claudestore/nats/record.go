package nats

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	natsgo "github.com/nats-io/nats.go"
)

const (
	// partSize is the size of a message in bytes. NATS accepts 1 MiB by default.
	partSize      = 512 << 10
	headerPart    = "Part"    // such as 0/2
	headerSummary = "Summary" // of the session after the record, in base64; in the last part
)

// part is a part of a record.
type part []byte

// encode returns a record: for each entry its length and the text that the CLI has written.
func encode(entries []json.RawMessage) (data []byte) {
	for _, e := range entries {
		data = append(binary.AppendUvarint(data, uint64(len(e))), e...)
	}
	return data
}

func decode(data []byte) (entries []json.RawMessage, err error) {
	for len(data) > 0 {
		n, size := binary.Uvarint(data)
		if size <= 0 || n > uint64(len(data)-size) {
			return nil, errors.New("a record is damaged")
		}
		data = data[size:]
		entries, data = append(entries, json.RawMessage(data[:n:n])), data[n:]
	}
	return entries, nil
}

func split(data []byte) (parts []part) {
	for len(data) > partSize {
		parts, data = append(parts, data[:partSize]), data[partSize:]
	}
	return append(parts, data)
}

func (p part) message(subject string, i, n int) *natsgo.Msg {
	msg := natsgo.NewMsg(subject)
	msg.Data = p
	msg.Header.Set(headerPart, fmt.Sprintf("%d/%d", i, n))
	return msg
}

// assembly joins the parts of records. It drops a record whose last part is missing, because the
// writer stopped before it was complete.
type assembly struct {
	data    []byte
	next, n int
}

// add adds a part, and returns the record if it is complete.
func (a *assembly) add(m message) (data []byte, done bool) {
	var i, n int
	if _, err := fmt.Sscanf(m.header.Get(headerPart), "%d/%d", &i, &n); err != nil || i >= n {
		return nil, false
	}
	if i == 0 {
		*a = assembly{n: n}
	}
	if i != a.next || n != a.n {
		*a = assembly{}
		return nil, false
	}
	a.data, a.next = append(a.data, m.data...), a.next+1
	return a.data, a.next == n
}
