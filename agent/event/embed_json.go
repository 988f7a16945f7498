package event

// The events in a [Conversation] have the JSON of their message.

func (e *AssistantMessage) MarshalJSON() ([]byte, error) { return marshalEvent(e) }
func (e *CompactBoundary) MarshalJSON() ([]byte, error)  { return marshalEvent(e) }
func (e *Error) MarshalJSON() ([]byte, error)            { return marshalEvent(e) }
func (e *Hook) MarshalJSON() ([]byte, error)             { return marshalEvent(e) }
func (e *Notice) MarshalJSON() ([]byte, error)           { return marshalEvent(e) }
func (e *Plan) MarshalJSON() ([]byte, error)             { return marshalEvent(e) }
func (e *RateLimit) MarshalJSON() ([]byte, error)        { return marshalEvent(e) }
func (e *ResultMessage) MarshalJSON() ([]byte, error)    { return marshalEvent(e) }
func (e *Retry) MarshalJSON() ([]byte, error)            { return marshalEvent(e) }
func (e *SystemInit) MarshalJSON() ([]byte, error)       { return marshalEvent(e) }
func (e *TaskNotification) MarshalJSON() ([]byte, error) { return marshalEvent(e) }
func (e *TaskProgress) MarshalJSON() ([]byte, error)     { return marshalEvent(e) }
func (e *TaskStarted) MarshalJSON() ([]byte, error)      { return marshalEvent(e) }
func (e *TaskUpdated) MarshalJSON() ([]byte, error)      { return marshalEvent(e) }
func (e *TurnStart) MarshalJSON() ([]byte, error)        { return marshalEvent(e) }
func (e *Unknown) MarshalJSON() ([]byte, error)          { return marshalEvent(e) }
func (e *Usage) MarshalJSON() ([]byte, error)            { return marshalEvent(e) }
func (e *UserMessage) MarshalJSON() ([]byte, error)      { return marshalEvent(e) }

func (e *AssistantMessage) UnmarshalJSON(data []byte) error { return unmarshalEvent(data, e) }
func (e *CompactBoundary) UnmarshalJSON(data []byte) error  { return unmarshalEvent(data, e) }
func (e *Error) UnmarshalJSON(data []byte) error            { return unmarshalEvent(data, e) }
func (e *Hook) UnmarshalJSON(data []byte) error             { return unmarshalEvent(data, e) }
func (e *Notice) UnmarshalJSON(data []byte) error           { return unmarshalEvent(data, e) }
func (e *Plan) UnmarshalJSON(data []byte) error             { return unmarshalEvent(data, e) }
func (e *RateLimit) UnmarshalJSON(data []byte) error        { return unmarshalEvent(data, e) }
func (e *ResultMessage) UnmarshalJSON(data []byte) error    { return unmarshalEvent(data, e) }
func (e *Retry) UnmarshalJSON(data []byte) error            { return unmarshalEvent(data, e) }
func (e *SystemInit) UnmarshalJSON(data []byte) error       { return unmarshalEvent(data, e) }
func (e *TaskNotification) UnmarshalJSON(data []byte) error { return unmarshalEvent(data, e) }
func (e *TaskProgress) UnmarshalJSON(data []byte) error     { return unmarshalEvent(data, e) }
func (e *TaskStarted) UnmarshalJSON(data []byte) error      { return unmarshalEvent(data, e) }
func (e *TaskUpdated) UnmarshalJSON(data []byte) error      { return unmarshalEvent(data, e) }
func (e *TurnStart) UnmarshalJSON(data []byte) error        { return unmarshalEvent(data, e) }
func (e *Unknown) UnmarshalJSON(data []byte) error          { return unmarshalEvent(data, e) }
func (e *Usage) UnmarshalJSON(data []byte) error            { return unmarshalEvent(data, e) }
func (e *UserMessage) UnmarshalJSON(data []byte) error      { return unmarshalEvent(data, e) }
