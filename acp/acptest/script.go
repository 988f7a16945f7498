package acptest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Exchange is the scripted reaction of an agent to a request.
type Exchange struct {
	Method string
	// Match selects the exchange by parameters of the request. Among the unused exchanges of a method the first match is
	// played, or the first exchange if none matches.
	Match map[string]string
	Steps []Step
}

// Answered reports whether the exchange contains an answer.
func (x *Exchange) Answered() bool {
	return slices.ContainsFunc(x.Steps, func(s Step) bool { return s.reply != "" })
}

// AnsweredWith returns the exchange up to its answer, and an answer with other members.
func (x *Exchange) AnsweredWith(members string) Exchange {
	y := *x
	at := slices.IndexFunc(x.Steps, func(s Step) bool { return s.reply != "" })
	y.Steps = append(slices.Clone(x.Steps[:max(at, 0)]), Step{reply: members})
	return y
}

// On returns the exchange for a request.
func On(method string, steps ...Step) Exchange { return Exchange{Method: method, Steps: steps} }

// Step is one action of an agent. Functions of this package return steps.
type Step struct {
	line   string // a line to write
	number int    // number of the line in the recording; 0 without a recording
	reply  string // the members of an answer, without its id
	answer string // id of the agent's request whose answer to wait for
	note   string // method of the notification to wait for
	exit   bool
}

// Raw writes a line unchanged; it may be invalid.
func Raw(line string) Step { return Step{line: line} }

// Notify sends a notification.
func Notify(method string, params any) Step {
	return Step{line: fmt.Sprintf(`{"jsonrpc":"2.0","method":%s,"params":%s}`, encoded(method), encoded(params))}
}

// Update sends an update of a session.
func Update(sessionID string, update any) Step {
	return Notify("session/update", map[string]any{"sessionId": sessionID, "update": update})
}

// Say sends a piece of the agent's text.
func Say(sessionID, text string) Step {
	return Update(sessionID, map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": text}})
}

// Call sends a request to the client. [Answered] waits for its answer.
func Call(id int, method string, params any) Step {
	return Step{line: fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s,"params":%s}`, id, encoded(method), encoded(params))}
}

// Answered waits until the client has answered the request with this id.
func Answered(id int) Step { return Step{answer: encoded(id)} }

// Noted waits until the client has sent a notification, such as session/cancel, since the start of
// the exchange.
func Noted(method string) Step { return Step{note: method} }

// Reply answers the request.
func Reply(result any) Step { return Step{reply: `"result":` + encoded(result)} }

// Fail answers the request with an error.
func Fail(code int, message string) Step {
	return Step{reply: `"error":` + encoded(map[string]any{"code": code, "message": message})}
}

// Exit ends the agent.
func Exit() Step { return Step{exit: true} }

// encoded returns a value as JSON. It panics if the value cannot be encoded, which is a mistake in
// a test.
func encoded(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("acptest: %v", err))
	}
	return string(text)
}
