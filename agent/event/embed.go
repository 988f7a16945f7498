package event

// keep returns a copy of an event in the form of its message, for a conversation: it shares no
// memory with the line of the event, and it does not hold the provider's message.
func keep[T any, E interface {
	*T
	Event
}](ev E) E {
	data, err := marshalEvent(ev)
	if err != nil { // a member that is not JSON, which no decoder returns
		c := *ev
		return &c
	}
	return decoded[T, E](data)
}

// decoded returns the event of a message of [marshalEvent].
func decoded[T any, E interface {
	*T
	Event
}](data []byte) E {
	c := E(new(T))
	_ = unmarshalEvent(data, c)
	return c
}

// maxMembers is the number of members of an event above which a later event adds no new ones.
const maxMembers = 256

// over merges the members of a later event into an event. Members that are null or an empty string
// have no effect. New names are dropped if the result would have more than maxMembers: otherwise an
// agent that uses a new name in each event makes the fold quadratic.
func over[T any, E interface {
	*T
	Event
}](old, ev E) E {
	if old == nil {
		return keep(ev)
	}
	a, err := marshalEvent(old)
	if err != nil {
		return keep(ev)
	}
	b, err := marshalEvent(ev)
	if err != nil {
		return old
	}
	members, _ := membersOf(a)
	later, _ := membersOf(b)
	added := 0
	for name, v := range later {
		if s := string(v); s == "null" || s == `""` {
			delete(later, name)
		} else if members[name] == nil {
			added++
		}
	}
	full := len(members)+added > maxMembers
	for name, v := range later {
		if !full || members[name] != nil {
			members[name] = v
		}
	}
	w := writer{dst: []byte{'{'}}
	for name, v := range members {
		w.key(name)
		w.dst = append(w.dst, v...)
	}
	return decoded[T, E](append(w.dst, '}'))
}

// marshalEvent returns the message of an event that is one message.
func marshalEvent(ev Event) ([]byte, error) {
	switch ev := ev.(type) {
	case *UserMessage:
		return appendWire(nil, userMessage(ev))
	case *AssistantMessage:
		return appendWire(nil, assistantMessage(ev))
	}
	return Marshal(ev)
}

// unmarshalEvent decodes the message of an event, without storing a copy of it in the member Data.
func unmarshalEvent(data []byte, ev Event) error {
	switch ev := ev.(type) {
	case *UserMessage:
		m := new(wireUser)
		if err := fill(data, m); err != nil {
			return err
		}
		all := userEvents(m)
		if u, ok := all[len(all)-1].(*UserMessage); ok {
			*ev = *u
		}
		return nil
	case *AssistantMessage:
		m := new(wireAssistant)
		if err := fill(data, m); err != nil {
			return err
		}
		*ev = *assistantEvent(m)
		return nil
	}
	if err := Unmarshal(data, ev); err != nil {
		return err
	}
	switch ev := ev.(type) {
	case *PermissionRequest:
		ev.Data = ""
	case *QuestionRequest:
		ev.Data = ""
	case *ResultMessage:
		ev.Data = ""
	}
	return nil
}

// NewPrompt returns the prompt of an event, and false for an event that is not a request to a person.
func NewPrompt(ev Event) (Prompt, bool) {
	switch ev := ev.(type) {
	case *PermissionRequest:
		return Prompt{Permission: keep(ev)}, true
	case *QuestionRequest:
		return Prompt{Question: keep(ev)}, true
	}
	return Prompt{}, false
}

// Event returns the event of the request, and nil for an empty prompt.
func (p *Prompt) Event() Event {
	switch {
	case p.Permission != nil:
		return p.Permission
	case p.Question != nil:
		return p.Question
	}
	return nil
}

// RequestID returns the id of the request for the answer.
func (p *Prompt) RequestID() string { return p.key().requestID }

// ToolUseID returns the tool call of the request, or "".
func (p *Prompt) ToolUseID() string {
	switch {
	case p.Permission != nil:
		return p.Permission.ToolUseID
	case p.Question != nil:
		return p.Question.ToolUseID
	}
	return ""
}

func (p *Prompt) key() promptKey {
	switch {
	case p.Permission != nil:
		return promptKey{false, p.Permission.RequestID}
	case p.Question != nil:
		return promptKey{true, p.Question.RequestID}
	}
	return promptKey{}
}

// MarshalJSON returns the message of the event.
func (p Prompt) MarshalJSON() ([]byte, error) {
	if ev := p.Event(); ev != nil {
		return marshalEvent(ev)
	}
	return []byte("null"), nil
}

// UnmarshalJSON decodes the message of one of the two events. Any other value results in an empty prompt.
func (p *Prompt) UnmarshalJSON(data []byte) error {
	*p = Prompt{}
	switch MessageType(data) {
	case "permission_request":
		p.Permission = new(PermissionRequest)
	case "question_request":
		p.Question = new(QuestionRequest)
	default:
		return nil
	}
	return unmarshalEvent(data, p.Event())
}
