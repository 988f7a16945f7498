package session

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/server/api"
)

func (f *facts) empty() bool {
	data, err := json.Marshal(f)
	return err == nil && string(data) == "{}"
}

// record is one durable event of a session as the log holds it: the message that viewers
// get, and beside it what the server itself has to remember. Facts never leave the server.
type record struct {
	Time  string          `json:"t"`
	Msg   json.RawMessage `json:"m"`
	Facts *facts          `json:"f,omitempty"`
}

// facts is what the server remembers of a session. A record has those that changed with it;
// all of them together are folded by core.apply.
type facts struct {
	Opened     *Opened   `json:"opened,omitempty"`
	AgentID    string    `json:"agent_id,omitempty"`
	State      State     `json:"state,omitempty"`
	Inputs     []input   `json:"inputs,omitempty"`  // added or changed; without content if it has not changed or the message has it
	Removed    []string  `json:"removed,omitempty"` // inputs that are gone
	Order      []string  `json:"order,omitempty"`   // of the queue, after a reordering
	Asked      *asking   `json:"asked,omitempty"`
	Resolved   string    `json:"resolved,omitempty"` // a request that is closed
	Key        *accepted `json:"key,omitempty"`
	Title      string    `json:"title,omitempty"`
	TitleBy    string    `json:"title_by,omitempty"`
	Model      *string   `json:"model,omitempty"`
	Mode       string    `json:"mode,omitempty"`
	Thinking   *thinking `json:"thinking,omitempty"`
	Effort     *string   `json:"effort,omitempty"`
	Archived   *bool     `json:"archived,omitempty"`
	InTerminal *bool     `json:"away,omitempty"` // another process may have written to the agent's session
	Pid        int       `json:"pid,omitempty"`
	Limited    *string   `json:"limited,omitempty"` // until when a rate limit holds; empty is none

	Memory *memory `json:"memory,omitempty"`

	Lost        []string  `json:"lost,omitempty"` // what the log has lost and a notice tells
	Mark        *mark     `json:"mark,omitempty"`
	Comments    []comment `json:"comments,omitempty"`    // added or changed
	Uncommented []string  `json:"uncommented,omitempty"` // comments that are gone
}

// thinking holds the budget, so that a default can be distinguished from no change.
type thinking struct {
	Tokens *int64 `json:"tokens"`
}

// Opened is what a session was made with.
type Opened struct {
	Provider string            `json:"provider"`
	Dir      string            `json:"dir"`
	Params   api.ConnectParams `json:"params"`
	By       string            `json:"by,omitempty"`    // the token that made it
	Token    string            `json:"token,omitempty"` // who pays: see principal.account
	Tenant   string            `json:"tenant,omitempty"`
	// Unchosen is set if nobody chose the permission mode in Params.
	Unchosen bool `json:"mode_unchosen,omitempty"`
	// Secret is set if the file of secrets has a part of Params.
	Secret bool `json:"secret,omitempty"`
}

// accepted is the answer to a request that carried an idempotency key.
type accepted struct {
	Key    string `json:"key"`
	TurnID string `json:"turn_id,omitempty"`
	Seq    uint64 `json:"seq,omitempty"` // 0: the record that holds it
	By     string `json:"by,omitempty"`
	Value  string `json:"value,omitempty"` // what else was answered: a commit, a comment
}

// encode returns the record as the log holds it.
func (r record) encode() ([]byte, error) {
	var facts []byte // most records, and all deltas, have none
	if r.Facts != nil {
		var err error
		if facts, err = json.Marshal(r.Facts); err != nil {
			return nil, fmt.Errorf("server: encoding a record: %w", err)
		}
	}
	b := append(make([]byte, 0, len(r.Msg)+len(facts)+64), `{"t":`...)
	b = append(jsonwire.AppendString(b, r.Time), `,"m":`...)
	b = append(b, r.Msg...)
	if facts != nil {
		b = append(append(b, `,"f":`...), facts...)
	}
	return append(b, '}'), nil
}

func decodeRecord(data []byte) (record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("server: a record of the log: %w", err)
	}
	return r, nil
}

// Timestamp is a time as records and envelopes have it.
func Timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// appendEnvelope appends the message of a record as viewers get it: a [api.Envelope], written
// by hand because it is made for every message, and msg is JSON already.
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
