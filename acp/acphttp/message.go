package acphttp

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// message holds the members of a JSON-RPC message that the transport needs.
type message struct {
	line    []byte // the message without line breaks
	version string
	id      string // as JSON, if any
	method  string // "" for an answer
	session string // params.sessionId
	hasID   bool
	named   bool // it has a member method
	scoped  bool // it has a member params.sessionId
}

// wireError is an error whose text is sent to the client, with the wording of the official server.
type wireError string

func (e wireError) Error() string { return string(e) }

// Reasons why a text is not a message.
const (
	errNotJSON wireError = "Invalid JSON"
	errBatch   wireError = "Invalid request: JSON-RPC batches are not supported"
	errValue   wireError = "Invalid JSON-RPC message"
)

// parse reads a message.
func parse(data []byte) (message, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, data); err != nil {
		return message{}, errNotJSON
	}
	m := message{line: line.Bytes()}
	switch m.line[0] {
	case '[':
		return m, errBatch
	case '{':
	default:
		return m, errValue
	}
	var parts struct {
		JSONRPC json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  json.RawMessage `json:"method"`
		Params  json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(m.line, &parts); err != nil {
		return m, errNotJSON
	}
	_ = json.Unmarshal(parts.JSONRPC, &m.version) // a value of another type counts as another version
	m.id, m.hasID, m.named = string(parts.ID), parts.ID != nil, parts.Method != nil
	_ = json.Unmarshal(parts.Method, &m.method)
	var params struct {
		SessionID *string `json:"sessionId"`
	}
	if json.Unmarshal(parts.Params, &params) == nil && params.SessionID != nil {
		m.session, m.scoped = *params.SessionID, true
	}
	return m, nil
}

func (m *message) isRequest() bool      { return m.named && m.hasID }
func (m *message) isNotification() bool { return m.named && !m.hasID }
func (m *message) isAnswer() bool       { return !m.named && m.hasID }

// isInitialize reports whether the official server treats the message as a request to initialize.
func (m *message) isInitialize() bool {
	return m.version == "2.0" && m.hasID && m.method == "initialize"
}

// nullID reports whether the id is null, to which no answer can refer.
func (m *message) nullID() bool { return m.id == "null" }

// sessionMethods are the methods that require the session header even without params.sessionId.
var sessionMethods = map[string]bool{
	"session/cancel": true, "session/close": true, "session/delete": true, "session/fork": true, "session/load": true, "session/prompt": true,
	"session/resume": true, "session/set_config_option": true, "session/set_mode": true, "session/set_model": true,
}

// maxID limits a session id and a request id, in bytes.
const maxID = 1024

// refusal is the response to a rejected request.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// errorMessage returns an error message that answers no request.
func errorMessage(id string, code int, text string, data json.RawMessage) []byte {
	type object struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	line, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   object          `json:"error"`
	}{"2.0", json.RawMessage(id), object{code, text, data}})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}`)
	}
	return line
}

// The codes of JSON-RPC that the transport uses.
const (
	codeParse      = -32700
	codeInvalid    = -32600
	codeInternal   = -32603
	codeOverloaded = -32001
)
