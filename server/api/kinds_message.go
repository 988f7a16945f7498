package api

// messageTypes is the decode table of messages.
var messageTypes = map[string]func() Message{
	"user":                func() Message { return new(UserMessage) },
	"assistant":           func() Message { return new(AssistantMessage) },
	"result":              func() Message { return new(ResultMessage) },
	"stream_event":        func() Message { return new(StreamEvent) },
	"error":               func() Message { return new(ErrorMessage) },
	"system_init":         func() Message { return new(SystemInit) },
	"status_system":       func() Message { return new(StatusSystem) },
	"compact_boundary":    func() Message { return new(CompactBoundary) },
	"tool_progress":       func() Message { return new(ToolProgress) },
	"task_started":        func() Message { return new(TaskStarted) },
	"task_progress":       func() Message { return new(TaskProgress) },
	"task_updated":        func() Message { return new(TaskUpdated) },
	"task_notification":   func() Message { return new(TaskNotification) },
	"rate_limit":          func() Message { return new(RateLimit) },
	"permission_request":  func() Message { return new(PermissionRequest) },
	"permission_resolved": func() Message { return new(PermissionResolved) },
	"question_request":    func() Message { return new(QuestionRequest) },
	"question_resolved":   func() Message { return new(QuestionResolved) },
	"queue_changed":       func() Message { return new(QueueChanged) },
	"session_state":       func() Message { return new(SessionState) },
	"turn_start":          func() Message { return new(TurnStart) },
	"plan":                func() Message { return new(Plan) },
	"turn_diff":           func() Message { return new(TurnDiff) },
	"usage":               func() Message { return new(Usage) },
	"notice":              func() Message { return new(Notice) },
	"retry":               func() Message { return new(Retry) },
	"hook":                func() Message { return new(Hook) },
	"session_info":        func() Message { return new(SessionInfo) },
	"truncate":            func() Message { return new(Truncate) },
	"unknown":             func() Message { return new(UnknownMessage) },
}

// Type returns "user", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*UserMessage) Type() string { return "user" }

func (*UserMessage) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (u *UserMessage) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// Type returns "assistant", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*AssistantMessage) Type() string { return "assistant" }

func (*AssistantMessage) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (a *AssistantMessage) MarshalJSON() ([]byte, error) { return marshal(a, a.Extra) }

// Type returns "result", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ResultMessage) Type() string { return "result" }

func (*ResultMessage) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (r *ResultMessage) MarshalJSON() ([]byte, error) { return marshal(r, r.Extra) }

// Type returns "stream_event", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*StreamEvent) Type() string { return "stream_event" }

func (*StreamEvent) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (s *StreamEvent) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type returns "error", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ErrorMessage) Type() string { return "error" }

func (*ErrorMessage) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (e *ErrorMessage) MarshalJSON() ([]byte, error) { return marshal(e, e.Extra) }

// Type returns "system_init", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*SystemInit) Type() string { return "system_init" }

func (*SystemInit) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (s *SystemInit) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type returns "status_system", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*StatusSystem) Type() string { return "status_system" }

func (*StatusSystem) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (s *StatusSystem) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type returns "compact_boundary", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*CompactBoundary) Type() string { return "compact_boundary" }

func (*CompactBoundary) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (c *CompactBoundary) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type returns "tool_progress", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*ToolProgress) Type() string { return "tool_progress" }

func (*ToolProgress) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (t *ToolProgress) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "task_started", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*TaskStarted) Type() string { return "task_started" }

func (*TaskStarted) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (t *TaskStarted) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "task_progress", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*TaskProgress) Type() string { return "task_progress" }

func (*TaskProgress) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (t *TaskProgress) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "task_updated", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*TaskUpdated) Type() string { return "task_updated" }

func (*TaskUpdated) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (t *TaskUpdated) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "task_notification", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*TaskNotification) Type() string { return "task_notification" }

func (*TaskNotification) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (t *TaskNotification) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "rate_limit", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*RateLimit) Type() string { return "rate_limit" }

func (*RateLimit) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (r *RateLimit) MarshalJSON() ([]byte, error) { return marshal(r, r.Extra) }

// Type returns "permission_request", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*PermissionRequest) Type() string { return "permission_request" }

func (*PermissionRequest) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (p *PermissionRequest) MarshalJSON() ([]byte, error) { return marshal(p, p.Extra) }

// Type returns "permission_resolved", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*PermissionResolved) Type() string { return "permission_resolved" }

func (*PermissionResolved) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (p *PermissionResolved) MarshalJSON() ([]byte, error) { return marshal(p, p.Extra) }

// Type returns "question_request", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*QuestionRequest) Type() string { return "question_request" }

func (*QuestionRequest) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (q *QuestionRequest) MarshalJSON() ([]byte, error) { return marshal(q, q.Extra) }

// Type returns "question_resolved", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*QuestionResolved) Type() string { return "question_resolved" }

func (*QuestionResolved) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (q *QuestionResolved) MarshalJSON() ([]byte, error) { return marshal(q, q.Extra) }

// Type returns "queue_changed", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*QueueChanged) Type() string { return "queue_changed" }

func (*QueueChanged) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (q *QueueChanged) MarshalJSON() ([]byte, error) { return marshal(q, q.Extra) }

// Type returns "session_state", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*SessionState) Type() string { return "session_state" }

func (*SessionState) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (s *SessionState) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type returns "unknown", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*UnknownMessage) Type() string { return "unknown" }

func (*UnknownMessage) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (u *UnknownMessage) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// Type returns "turn_start", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*TurnStart) Type() string { return "turn_start" }

func (*TurnStart) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (t *TurnStart) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "plan", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*Plan) Type() string { return "plan" }

func (*Plan) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (p *Plan) MarshalJSON() ([]byte, error) { return marshal(p, p.Extra) }

// Type returns "turn_diff", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*TurnDiff) Type() string { return "turn_diff" }

func (*TurnDiff) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (t *TurnDiff) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type returns "usage", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*Usage) Type() string { return "usage" }

func (*Usage) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (u *Usage) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// Type returns "notice", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*Notice) Type() string { return "notice" }

func (*Notice) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (n *Notice) MarshalJSON() ([]byte, error) { return marshal(n, n.Extra) }

// Type returns "retry", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*Retry) Type() string { return "retry" }

func (*Retry) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (r *Retry) MarshalJSON() ([]byte, error) { return marshal(r, r.Extra) }

// Type returns "hook", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*Hook) Type() string { return "hook" }

func (*Hook) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (h *Hook) MarshalJSON() ([]byte, error) { return marshal(h, h.Extra) }

// Type returns "session_info", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*SessionInfo) Type() string { return "session_info" }

func (*SessionInfo) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (s *SessionInfo) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type returns "truncate", the name of this type on the wire, which MarshalJSON writes as its first member.
func (*Truncate) Type() string { return "truncate" }

func (*Truncate) message() {}

// MarshalJSON writes the message as a JSON object: its type, its fields, and then the members of Extra.
func (t *Truncate) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }
