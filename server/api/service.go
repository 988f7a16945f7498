package api

import "encoding/json"

// Envelope carries a message on every transport. Seq counts the durable messages of a session from
// 1 without a gap; a delta has the Seq of the durable message that it follows and a Sub that counts
// from 1. Epoch changes when the log is created again. The three make up a [Cursor].
type Envelope struct {
	Seq       uint64          `json:"seq"`
	Sub       uint64          `json:"sub,omitempty"` // 0 for a durable message
	Epoch     string          `json:"epoch"`
	SessionID string          `json:"session_id"`
	TS        string          `json:"ts"` // RFC 3339
	Msg       json.RawMessage `json:"msg"`
}

// Cursor is a position in the log of a session, after the message with this Seq and Sub. If the
// deltas at the position were dropped, messages continue at Seq+1, with the complete message that
// replaces them.
type Cursor struct {
	Epoch string `json:"epoch"`
	Seq   uint64 `json:"seq"`
	Sub   uint64 `json:"sub,omitempty"`
}

// Reason is the reason why a request failed, as a word that programs can compare. The set is open:
// newer servers may send words without a constant here.
type Reason string

// The known reasons. Newer servers may send others, so a switch over them needs a default.
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

// ErrorObject is the error of a JSON-RPC response: a number, a message for people, and the
// [Reason].
type ErrorObject struct {
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Data    ErrorData `json:"data"`
}

// ErrorData has the reason of an error as a word that programs can compare, in addition to the
// message for people.
type ErrorData struct {
	Reason Reason `json:"reason"`
	// Hunks are set if a request named a hunk that has changed: the current ones at its position.
	Hunks []WorkspaceHunk `json:"hunks,omitempty"`
}

// Empty is the parameters of a method without parameters, or the result of a method without a
// result.
type Empty struct{}

// SessionRef names a session by its id. It is the parameters of all methods that need only the
// session.
type SessionRef struct {
	SessionID string `json:"session_id"`
}

// Accepted is the response to an input that is stored in the log as the message with the number
// Seq. It survives a crash of the server.
type Accepted struct {
	TurnID string `json:"turn_id,omitempty"`
	Seq    uint64 `json:"seq"`
	Held   bool   `json:"held,omitempty"` // it waits behind held inputs until a person releases them
}

// Idempotency makes a request safe to repeat. The server executes requests with the same key only
// once.
type Idempotency struct {
	Key string `json:"idempotency_key,omitempty"`
}

// HelloParams starts a connection: the client, its capabilities, and the sessions to resume.
type HelloParams struct {
	Client       ClientInfo     `json:"client"`
	Capabilities []string       `json:"capabilities,omitempty"`
	Resume       []ResumeCursor `json:"resume,omitempty"`
}

// ClientInfo is the name and the version of a client.
type ClientInfo struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// ResumeCursor is the position in a session from which a client resumes, from an earlier
// connection.
type ResumeCursor struct {
	SessionID string `json:"session_id"`
	Cursor    Cursor `json:"cursor"`
}

// HelloResult is the server's response to hello: its name, version and capabilities.
type HelloResult struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Capabilities []string `json:"capabilities"`
	Simulated    bool     `json:"simulated,omitempty"` // the default agent is a simulated one
	Role         string   `json:"role"`                // viewer, operator, admin
}
