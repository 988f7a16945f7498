package rpc

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

// Type is user.
func (*UserMessage) Type() string { return "user" }

func (*UserMessage) message() {}

// MarshalJSON writes the message.
func (u *UserMessage) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// Type is assistant.
func (*AssistantMessage) Type() string { return "assistant" }

func (*AssistantMessage) message() {}

// MarshalJSON writes the message.
func (a *AssistantMessage) MarshalJSON() ([]byte, error) { return marshal(a, a.Extra) }

// Type is result.
func (*ResultMessage) Type() string { return "result" }

func (*ResultMessage) message() {}

// MarshalJSON writes the message.
func (r *ResultMessage) MarshalJSON() ([]byte, error) { return marshal(r, r.Extra) }

// Type is stream_event.
func (*StreamEvent) Type() string { return "stream_event" }

func (*StreamEvent) message() {}

// MarshalJSON writes the message.
func (s *StreamEvent) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type is error.
func (*ErrorMessage) Type() string { return "error" }

func (*ErrorMessage) message() {}

// MarshalJSON writes the message.
func (e *ErrorMessage) MarshalJSON() ([]byte, error) { return marshal(e, e.Extra) }

// Type is system_init.
func (*SystemInit) Type() string { return "system_init" }

func (*SystemInit) message() {}

// MarshalJSON writes the message.
func (s *SystemInit) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type is status_system.
func (*StatusSystem) Type() string { return "status_system" }

func (*StatusSystem) message() {}

// MarshalJSON writes the message.
func (s *StatusSystem) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type is compact_boundary.
func (*CompactBoundary) Type() string { return "compact_boundary" }

func (*CompactBoundary) message() {}

// MarshalJSON writes the message.
func (c *CompactBoundary) MarshalJSON() ([]byte, error) { return marshal(c, c.Extra) }

// Type is tool_progress.
func (*ToolProgress) Type() string { return "tool_progress" }

func (*ToolProgress) message() {}

// MarshalJSON writes the message.
func (t *ToolProgress) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is task_started.
func (*TaskStarted) Type() string { return "task_started" }

func (*TaskStarted) message() {}

// MarshalJSON writes the message.
func (t *TaskStarted) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is task_progress.
func (*TaskProgress) Type() string { return "task_progress" }

func (*TaskProgress) message() {}

// MarshalJSON writes the message.
func (t *TaskProgress) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is task_updated.
func (*TaskUpdated) Type() string { return "task_updated" }

func (*TaskUpdated) message() {}

// MarshalJSON writes the message.
func (t *TaskUpdated) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is task_notification.
func (*TaskNotification) Type() string { return "task_notification" }

func (*TaskNotification) message() {}

// MarshalJSON writes the message.
func (t *TaskNotification) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is rate_limit.
func (*RateLimit) Type() string { return "rate_limit" }

func (*RateLimit) message() {}

// MarshalJSON writes the message.
func (r *RateLimit) MarshalJSON() ([]byte, error) { return marshal(r, r.Extra) }

// Type is permission_request.
func (*PermissionRequest) Type() string { return "permission_request" }

func (*PermissionRequest) message() {}

// MarshalJSON writes the message.
func (p *PermissionRequest) MarshalJSON() ([]byte, error) { return marshal(p, p.Extra) }

// Type is permission_resolved.
func (*PermissionResolved) Type() string { return "permission_resolved" }

func (*PermissionResolved) message() {}

// MarshalJSON writes the message.
func (p *PermissionResolved) MarshalJSON() ([]byte, error) { return marshal(p, p.Extra) }

// Type is question_request.
func (*QuestionRequest) Type() string { return "question_request" }

func (*QuestionRequest) message() {}

// MarshalJSON writes the message.
func (q *QuestionRequest) MarshalJSON() ([]byte, error) { return marshal(q, q.Extra) }

// Type is question_resolved.
func (*QuestionResolved) Type() string { return "question_resolved" }

func (*QuestionResolved) message() {}

// MarshalJSON writes the message.
func (q *QuestionResolved) MarshalJSON() ([]byte, error) { return marshal(q, q.Extra) }

// Type is queue_changed.
func (*QueueChanged) Type() string { return "queue_changed" }

func (*QueueChanged) message() {}

// MarshalJSON writes the message.
func (q *QueueChanged) MarshalJSON() ([]byte, error) { return marshal(q, q.Extra) }

// Type is session_state.
func (*SessionState) Type() string { return "session_state" }

func (*SessionState) message() {}

// MarshalJSON writes the message.
func (s *SessionState) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type is unknown.
func (*UnknownMessage) Type() string { return "unknown" }

func (*UnknownMessage) message() {}

// MarshalJSON writes the message.
func (u *UnknownMessage) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// Type is turn_start.
func (*TurnStart) Type() string { return "turn_start" }

func (*TurnStart) message() {}

// MarshalJSON writes the message.
func (t *TurnStart) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is plan.
func (*Plan) Type() string { return "plan" }

func (*Plan) message() {}

// MarshalJSON writes the message.
func (p *Plan) MarshalJSON() ([]byte, error) { return marshal(p, p.Extra) }

// Type is turn_diff.
func (*TurnDiff) Type() string { return "turn_diff" }

func (*TurnDiff) message() {}

// MarshalJSON writes the message.
func (t *TurnDiff) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }

// Type is usage.
func (*Usage) Type() string { return "usage" }

func (*Usage) message() {}

// MarshalJSON writes the message.
func (u *Usage) MarshalJSON() ([]byte, error) { return marshal(u, u.Extra) }

// Type is notice.
func (*Notice) Type() string { return "notice" }

func (*Notice) message() {}

// MarshalJSON writes the message.
func (n *Notice) MarshalJSON() ([]byte, error) { return marshal(n, n.Extra) }

// Type is retry.
func (*Retry) Type() string { return "retry" }

func (*Retry) message() {}

// MarshalJSON writes the message.
func (r *Retry) MarshalJSON() ([]byte, error) { return marshal(r, r.Extra) }

// Type is hook.
func (*Hook) Type() string { return "hook" }

func (*Hook) message() {}

// MarshalJSON writes the message.
func (h *Hook) MarshalJSON() ([]byte, error) { return marshal(h, h.Extra) }

// Type is session_info.
func (*SessionInfo) Type() string { return "session_info" }

func (*SessionInfo) message() {}

// MarshalJSON writes the message.
func (s *SessionInfo) MarshalJSON() ([]byte, error) { return marshal(s, s.Extra) }

// Type is truncate.
func (*Truncate) Type() string { return "truncate" }

func (*Truncate) message() {}

// MarshalJSON writes the message.
func (t *Truncate) MarshalJSON() ([]byte, error) { return marshal(t, t.Extra) }
