package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/budget"
)

func (f *facts) empty() bool {
	data, err := json.Marshal(f)
	return err == nil && string(data) == "{}"
}

// record is one durable event of a session in the log: the message for viewers, and the facts that
// only the server needs. Facts never leave the server.
type record struct {
	Time  string          `json:"t"`
	Msg   json.RawMessage `json:"m"`
	Facts *facts          `json:"f,omitempty"`

	line []byte // the record up to Facts, of which Msg is a part; nil if Msg has another place
	// For a message that is too large for one buffer: its middle and its end. Msg is then absent, and line contains the
	// start.
	middle event.JSON
	end    []byte
	brief  []byte // the message with a placeholder for the middle
}

// isLarge reports whether the message is stored in pieces.
func (r record) isLarge() bool { return r.middle != "" }

// pieces returns the encoded record in pieces.
func (r record) pieces() ([][]byte, error) {
	if !r.isLarge() {
		data, err := r.encode()
		return [][]byte{data}, err
	}
	facts, err := r.facts()
	end := append(append(slices.Clip(r.end), facts...), '}')
	return [][]byte{r.line, unsafe.Slice(unsafe.StringData(string(r.middle)), len(r.middle)), end}, err // the log does not write to it
}

// size returns the length of the message.
func (r record) size(head string) int {
	if !r.isLarge() {
		return len(r.Msg)
	}
	return len(r.line) - len(head) + len(r.middle) + len(r.end)
}

// recordHead returns the start of records with a time, up to their message.
func recordHead(time string) string {
	return string(append(jsonwire.AppendString([]byte(`{"t":`), time), `,"m":`...))
}

// newRecord returns the record of a line that starts with a head. Its message shares the memory of the line.
func newRecord(time, head string, line []byte) record {
	return record{Time: time, Msg: json.RawMessage(line[len(head):len(line):len(line)]), line: line}
}

// facts is the server's state of a session. A record contains only the facts that it changes;
// core.apply folds them.
type facts struct {
	Opened     *Opened     `json:"opened,omitempty"`
	AgentID    string      `json:"agent_id,omitempty"`
	State      State       `json:"state,omitempty"`
	Inputs     []input     `json:"inputs,omitempty"`  // added or changed; without content if it has not changed or the message has it
	Removed    []string    `json:"removed,omitempty"` // inputs that are gone
	Order      []string    `json:"order,omitempty"`   // of the queue, after a reordering
	Asked      *asking     `json:"asked,omitempty"`
	Given      *keptAnswer `json:"given,omitempty"`    // a person's answer
	Host       *uint32     `json:"host,omitempty"`     // the number of the agent at its host; 0 without an agent
	HostIn     string      `json:"host_in,omitempty"`  // in a cluster: the key of the host of the agent with this number
	Box        *api.Box    `json:"box,omitempty"`      // of the agent with this number
	Line       uint64      `json:"line,omitempty"`     // the last line of the agent that this record or an earlier one includes
	Resolved   string      `json:"resolved,omitempty"` // a request that is closed
	Key        *accepted   `json:"key,omitempty"`
	Title      string      `json:"title,omitempty"`
	TitleBy    string      `json:"title_by,omitempty"`
	Model      *string     `json:"model,omitempty"`
	Mode       string      `json:"mode,omitempty"`
	Thinking   *thinking   `json:"thinking,omitempty"`
	Effort     *string     `json:"effort,omitempty"`
	Archived   *bool       `json:"archived,omitempty"`
	InTerminal *bool       `json:"away,omitempty"` // another process may have written to the agent's session
	Pid        int         `json:"pid,omitempty"`
	Limited    *string     `json:"limited,omitempty"` // the time until which a rate limit applies, if any

	Memory *memory   `json:"memory,omitempty"`
	Kept   *fileSize `json:"kept,omitempty"` // the size of the agent's file

	Owner *ownedBy `json:"owner,omitempty"` // the server that writes the log from this record on

	Dearest *budget.Amount `json:"dearest,omitempty"` // the highest usage of a turn

	Lost        []string  `json:"lost,omitempty"` // losses of the log that a notice reports
	Mark        *mark     `json:"mark,omitempty"`
	Comments    []comment `json:"comments,omitempty"`    // added or changed
	Uncommented []string  `json:"uncommented,omitempty"` // ids of removed comments
	Taken       *[]taken  `json:"taken,omitempty"`       // all reverts that can be undone
}

// thinking holds the budget, so that a default can be distinguished from no change.
type thinking struct {
	Tokens *int64 `json:"tokens"`
}

// Opened holds the parameters of a session.
type Opened struct {
	Provider string            `json:"provider"`
	Dir      string            `json:"dir"`
	Params   api.ConnectParams `json:"params"`
	By       string            `json:"by,omitempty"`    // the token that created it
	Token    string            `json:"token,omitempty"` // who pays; see principal.account
	Tenant   string            `json:"tenant,omitempty"`
	Parents  []string          `json:"parents,omitempty"` // the sessions whose agents started it, the outermost first
	// Unchosen is set if the permission mode in Params is a default that no one has chosen.
	Unchosen bool `json:"mode_unchosen,omitempty"`
	// Secret is set if the secrets file contains a part of Params.
	Secret bool `json:"secret,omitempty"`
}

// accepted is the response to a request with an idempotency key.
type accepted struct {
	Key    string `json:"key"`
	TurnID string `json:"turn_id,omitempty"`
	Seq    uint64 `json:"seq,omitempty"` // 0 means the record that contains it
	By     string `json:"by,omitempty"`
	Value  string `json:"value,omitempty"` // further result: a commit, a comment
}

// encode returns the record in the form of the log. It shares the memory of line, which may be
// large.
func (r record) encode() ([]byte, error) {
	facts, err := r.facts()
	if err != nil {
		return nil, err
	}
	b := r.line
	if b == nil {
		head := recordHead(r.Time)
		b = append(append(make([]byte, 0, len(head)+len(r.Msg)+len(facts)+8), head...), r.Msg...)
	}
	return append(append(b, facts...), '}'), nil
}

// facts returns the member with the facts, which is absent in most records and in all deltas.
func (r record) facts() ([]byte, error) {
	if r.Facts == nil {
		return nil, nil
	}
	facts, err := json.Marshal(r.Facts)
	if err != nil {
		return nil, fmt.Errorf("server: encoding a record: %w", err)
	}
	return append([]byte(`,"f":`), facts...), nil
}

// decodeRecord decodes a record of the log. Its message shares the memory of data.
func decodeRecord(data []byte) (record, error) {
	var r struct {
		Time  string  `json:"t"`
		Msg   inPlace `json:"m"`
		Facts *facts  `json:"f"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("server: a record of the log: %w", err)
	}
	return record{Time: r.Time, Msg: json.RawMessage(r.Msg), Facts: r.Facts}, nil
}

// inPlace is a JSON value that shares the memory of the text from which it was decoded.
type inPlace []byte

// UnmarshalJSON stores data without copying it.
func (s *inPlace) UnmarshalJSON(data []byte) error {
	*s = data[:len(data):len(data)]
	return nil
}

// Timestamp formats a time for records and envelopes.
func Timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// appendEnvelope appends the message of a record for viewers: an [api.Envelope], written manually
// because it is needed for every message, and msg is already JSON.
func appendEnvelope(b []byte, session, epoch string, seq, sub uint64, ts string, msg json.RawMessage) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, seq, 10)
	if sub != 0 {
		b = append(b, `,"sub":`...)
		b = strconv.AppendUint(b, sub, 10)
	}
	b = jsonwire.AppendString(append(b, `,"epoch":`...), epoch)
	b = jsonwire.AppendString(append(b, `,"session_id":`...), session)
	b = jsonwire.AppendString(append(b, `,"ts":`...), ts)
	b = append(b, `,"msg":`...)
	b = append(b, msg...)
	return append(b, '}')
}
