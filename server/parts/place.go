package parts

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrPlace is returned for a text that is not a [Place].
var ErrPlace = errors.New("parts: not a position in a stream")

// The limits of the text of a place, which a client sends.
const (
	maxPlace = 32 << 10
	maxMarks = 1000
)

// Place is the position of a stream: after the durable message Seq of the session's log, with the
// shown part of incomplete blocks. Its text is sent to the client and returned by it.
type Place struct {
	Epoch string
	Seq   uint64
	marks []mark
}

// mark is the shown part of one block or tool call.
type mark struct {
	kind  byte // one of the marks below
	id    string
	shown int // for markOpen: bytes of text
}

const (
	markOpen   = 'o' // a block with a part of its text
	markEnded  = 'e' // a block that has ended; its complete message follows
	markCalled = 'c' // a tool call with its input, without its result
)

// String returns the place as text for [ParsePlace]. It needs no escapes in an address, and has no
// slash.
func (p Place) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d", p.Epoch, p.Seq)
	for _, m := range p.marks {
		b.WriteString("," + string(m.kind) + base64.RawURLEncoding.EncodeToString([]byte(m.id)))
		if m.kind == markOpen {
			fmt.Fprintf(&b, "~%d", m.shown)
		}
	}
	return b.String()
}

// ParsePlace parses the text of a place. Any other text is an [ErrPlace].
func ParsePlace(text string) (Place, error) {
	fields := strings.Split(text, ",")
	if len(text) > maxPlace || len(fields) > maxMarks {
		return Place{}, ErrPlace
	}
	i := strings.LastIndexByte(fields[0], ':')
	if i <= 0 {
		return Place{}, ErrPlace
	}
	p := Place{Epoch: fields[0][:i]}
	var err error
	if p.Seq, err = strconv.ParseUint(fields[0][i+1:], 10, 64); err != nil {
		return Place{}, ErrPlace
	}
	for _, f := range fields[1:] {
		m, ok := parseMark(f)
		if !ok {
			return Place{}, ErrPlace
		}
		p.marks = append(p.marks, m)
	}
	return p, nil
}

func parseMark(text string) (mark, bool) {
	if text == "" {
		return mark{}, false
	}
	m := mark{kind: text[0]}
	id, shown, counted := strings.Cut(text[1:], "~")
	switch m.kind {
	case markOpen:
		n, err := strconv.Atoi(shown)
		if m.shown = n; err != nil || n < 0 {
			return m, false
		}
	case markEnded, markCalled:
		if counted {
			return m, false
		}
	default:
		return m, false
	}
	decoded, err := base64.RawURLEncoding.DecodeString(id)
	m.id = string(decoded)
	return m, err == nil && m.id != ""
}
