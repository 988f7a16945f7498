package rpc

import "encoding/json"

// Envelope is how a message travels, on every transport. Seq counts durable messages
// from 1 without a gap; a delta has the Seq of the durable message that it follows and
// a Sub that counts from 1. Epoch changes when the log is made anew. The three are a
// cursor.
type Envelope struct {
	Seq       uint64          `json:"seq"`
	Sub       uint64          `json:"sub,omitempty"` // 0 for a durable message
	Epoch     string          `json:"epoch"`
	SessionID string          `json:"session_id"`
	TS        string          `json:"ts"` // RFC 3339
	Msg       json.RawMessage `json:"msg"`
}

// Cursor is a place in the log of a session: what follows (Seq, Sub) is still to come.
// One inside of deltas that are gone goes on at Seq+1, whose whole message replaces them.
type Cursor struct {
	Epoch string `json:"epoch"`
	Seq   uint64 `json:"seq"`
	Sub   uint64 `json:"sub,omitempty"`
}

// Reason is the reason for which a request failed, in a word that programs can compare. The set
// is open.
type Reason string

// The reasons that are known. Newer servers may send others, so a switch over them needs a
// default.
const (
	NotConnected   Reason = "not_connected"
	SessionExpired Reason = "session_expired"
	AuthFailed     Reason = "auth_failed"
	CLINotFound    Reason = "cli_not_found"
	NodeNotFound   Reason = "node_not_found"
	InvalidParams  Reason = "invalid_params"
	Conflict       Reason = "conflict"
	TooSlow        Reason = "too_slow"
	Resync         Reason = "resync"
	NotOwner       Reason = "not_owner"
	Draining       Reason = "draining"
	LimitReached   Reason = "limit_reached"
	Unsupported    Reason = "unsupported"
	BudgetExceeded Reason = "budget_exceeded"
)

// ErrorObject is the error of a JSON-RPC answer: a number, a message for people, and the
// [Reason].
type ErrorObject struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    ErrorData `json:"data"`
}

// ErrorData carries the reason of an error in a word that programs can compare, beside the
// message for people.
type ErrorData struct {
	Reason Reason `json:"reason"`
	// Hunks are those that are now where the one was that a request has named.
	Hunks []WorkspaceHunk `json:"hunks,omitempty"`
}

// Empty is the parameters of a method that takes none, or the result of one that returns
// nothing.
type Empty struct{}

// SessionRef names a session by its id. It is the parameters of all methods that need nothing
// else.
type SessionRef struct {
	SessionID string `json:"session_id"`
}

// Accepted is the answer to an input: it is in the log, as the message with this
// number.
type Accepted struct {
	TurnID string `json:"turn_id,omitempty"`
	Seq    uint64 `json:"seq"`
}

// Idempotency makes a request one that can be sent again: with the same key it is
// done once.
type Idempotency struct {
	Key string `json:"idempotency_key,omitempty"`
}

// HelloParams begin a connection: who the client is, what it can do, and the sessions that it
// goes on with.
type HelloParams struct {
	Client       ClientInfo     `json:"client"`
	Capabilities []string       `json:"capabilities,omitempty"`
	Resume       []ResumeCursor `json:"resume,omitempty"`
}

// ClientInfo is the name and the version of a client, as it gives them when the connection
// begins.
type ClientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// ResumeCursor is the place in a session from which a client wants to go on, which it got from
// an earlier connection.
type ResumeCursor struct {
	SessionID string `json:"session_id"`
	Cursor    Cursor `json:"cursor"`
}

// HelloResult is the server's answer to hello: its name and version, and what it can do.
type HelloResult struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Capabilities []string `json:"capabilities"`
	Simulated    bool     `json:"simulated,omitempty"` // the default agent is a simulated one
	Role         string   `json:"role"`                // viewer, operator, admin
}
