package hook

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// Output holds the members that the outputs of all events share. Unset fields are not sent: the
// zero Output has no effect.
//
// The CLI discards an answer with a null in it as a whole, and would run a tool that the answer
// refused. So only this package encodes outputs, and it never writes null.
type Output struct {
	// Continue ends the turn if it is false, with StopReason. It does not keep a tool from
	// running.
	Continue       *bool
	SuppressOutput bool
	StopReason     string
	// Decision is for events without a specific decision in their output. Reason explains it.
	Decision Decision
	Reason   string
	// SystemMessage is shown to the user.
	SystemMessage string
	// TerminalSequence is written to the CLI's terminal, if it is a notification or a title.
	TerminalSequence string
	// Async makes the CLI continue without an answer; AsyncTimeout limits the work in the
	// background. An output with Async must have no other fields set.
	Async        bool
	AsyncTimeout time.Duration
}

// Decision is the general decision in a hook's output, for events without a specific decision.
type Decision string

// The decisions that the CLI accepts; it discards an answer with any other. DecisionApprove is a
// legacy form of [DecisionAllow].
const (
	DecisionApprove Decision = "approve"
	DecisionBlock   Decision = "block"
)

// OtherOutput is the output for an event that this package has no type for. Specific is the object
// of its hookSpecificOutput; Encode adds the name of the event and omits null members.
type OtherOutput struct {
	Output
	Specific message.JSON
}

func (o *Output) common() *Output { return o }

// syncOutput is the wire form of Output.
type syncOutput struct {
	Continue           *bool        `json:"continue,omitempty"`
	SuppressOutput     bool         `json:"suppressOutput,omitempty"`
	StopReason         string       `json:"stopReason,omitempty"`
	Decision           Decision     `json:"decision,omitempty"`
	SystemMessage      string       `json:"systemMessage,omitempty"`
	TerminalSequence   string       `json:"terminalSequence,omitempty"`
	Reason             string       `json:"reason,omitempty"`
	HookSpecificOutput message.JSON `json:"hookSpecificOutput,omitempty"`
}

// asyncOutput is the output of a hook that continues in the background.
type asyncOutput struct {
	Async        bool   `json:"async"`
	AsyncTimeout *int64 `json:"asyncTimeout,omitempty"` // milliseconds
}

var errAsyncDecides = errors.New("claude: the output of a hook is Async and has other members as well")

// Encode returns the output of a hook as the JSON that the CLI reads, with the name of the event
// where the CLI needs it. It fails for an output with Async that has other fields set, and for
// values that cannot be encoded.
func Encode(event Event, out AnyOutput) ([]byte, error) {
	specific, err := encodeSpecific(event, out)
	if err != nil {
		return nil, err
	}
	c := out.common()
	if c.Async {
		if specific != "" || *c != (Output{Async: true, AsyncTimeout: c.AsyncTimeout}) {
			return nil, errAsyncDecides
		}
		async := asyncOutput{Async: true}
		if c.AsyncTimeout > 0 {
			async.AsyncTimeout = new(c.AsyncTimeout.Milliseconds())
		}
		return jsonwire.Marshal(async)
	}
	return jsonwire.Marshal(syncOutput{Continue: c.Continue, SuppressOutput: c.SuppressOutput, StopReason: c.StopReason, Decision: c.Decision,
		SystemMessage: c.SystemMessage, TerminalSequence: c.TerminalSequence, Reason: c.Reason, HookSpecificOutput: specific})
}

// encodeSpecific returns the hookSpecificOutput, or "" if it would be empty. The CLI discards one
// that does not name its event.
func encodeSpecific(event Event, out any) (message.JSON, error) {
	var text []byte
	var err error
	if other, ok := out.(*OtherOutput); ok {
		text, err = jsonwire.Marshal(&other.Specific)
	} else {
		text, err = jsonwire.Marshal(out)
	}
	if err != nil {
		return "", err
	}
	members, err := membersWithout(text, "hookEventName")
	if err != nil || len(members) == 0 {
		return "", err
	}
	head, err := jsonwire.Marshal(event)
	return message.JSON(`{"hookEventName":` + string(head) + "," + string(members) + "}"), err
}

// membersWithout returns the members of an object except null members and the one named skip. It
// returns no members for null.
func membersWithout(object []byte, skip string) ([]byte, error) {
	d := jsonwire.NewDecoder(string(object))
	switch d.Kind() {
	case 'n':
		return nil, nil
	case '{':
	default:
		return nil, fmt.Errorf("claude: %.100q is not a JSON object", object)
	}
	var kept bytes.Buffer
	for m := d.Members(); m.Next(); {
		key, text := m.Key, d.Text()
		if text == "null" || key == skip {
			continue
		}
		if kept.Len() > 0 {
			kept.WriteByte(',')
		}
		name, err := jsonwire.Marshal(key)
		if err != nil {
			return nil, err
		}
		kept.Write(name)
		kept.WriteByte(':')
		kept.WriteString(text)
	}
	return kept.Bytes(), d.Err()
}

// objectOnly returns an error unless v encodes to a JSON object, the only form that the CLI
// accepts.
func objectOnly(field string, v any) error {
	if v == nil {
		return nil
	}
	text, err := jsonwire.Marshal(v)
	if err != nil {
		return fmt.Errorf("claude: %s: %w", field, err)
	}
	if k := text[0]; k != '{' && string(text) != "null" {
		return fmt.Errorf("claude: %s is not a JSON object but %.100q", field, text)
	}
	return nil
}

// oneOf returns an error for a decision that the CLI does not know, because the CLI would discard
// the whole answer.
func oneOf[T ~string](field string, v T, known ...T) error {
	if v == "" || slices.Contains(known, v) {
		return nil
	}
	return fmt.Errorf("claude: %s is %q, want one of %v", field, v, reflect.ValueOf(known))
}

// refuser is the output of an event that can be refused.
type refuser interface {
	refuse(reason string) AnyOutput
}

// Refusal returns the answer with which a hook refuses the action of its event, for a hook that
// cannot be called. The answer has no effect for an event that cannot be refused.
func Refusal(event Event, why string) []byte {
	if f, ok := reflect.TypeFor[Hooks]().FieldByName(string(event)); ok && f.Type.Kind() == reflect.Slice {
		if text, err := reflect.Zero(f.Type.Elem()).Interface().(anyMatcher).refusal(event, why); err == nil {
			return text
		}
	}
	return []byte("{}")
}

func (m Matcher[In, Out]) refusal(event Event, why string) ([]byte, error) {
	out := Refuse(any(new(Out)).(AnyOutput), why)
	if event == ConfigChange { // a failed hook does not refuse this event, but an output can
		out = &ConfigChangeOutput{Output: Output{Decision: DecisionBlock, Reason: why}}
	}
	if out == nil {
		return []byte("{}"), nil
	}
	return Encode(event, out)
}

// Refuse returns an output of the type of out that refuses the action of the event, with a reason.
// It is nil for events that a failed hook does not refuse; see [OnFailure].
func Refuse(out AnyOutput, reason string) AnyOutput {
	if r, ok := out.(refuser); ok {
		return r.refuse(reason)
	}
	return nil
}
