package event

// Resolution is the outcome of a request.
type Resolution struct {
	Behavior string // ResolvedAllow, ResolvedDeny, …; for a question also accept, decline, cancel
	Scope    string // for a permission
	Message  string // for a permission
	Answers  JSON   // for a question
	By       string // who answered
}

// ResolvedID returns the id of the request that an event ends, or "".
func ResolvedID(ev Event) string {
	switch ev := ev.(type) {
	case *PermissionResolved:
		return ev.RequestID
	case *QuestionResolved:
		return ev.RequestID
	}
	return ""
}

// Resolve returns the event that ends a request: a *[QuestionResolved] for a question, else a
// *[PermissionResolved].
func Resolve(h Header, question bool, requestID, toolUseID string, r Resolution) Event {
	if !question {
		return &PermissionResolved{Header: h, RequestID: requestID, ToolUseID: toolUseID, Behavior: r.Behavior, Scope: r.Scope, Message: r.Message, By: r.By}
	}
	action := r.Behavior
	switch action {
	case ResolvedAllow:
		action = "accept"
	case ResolvedDeny:
		action = "decline"
	case ResolvedCancelled:
		action = "cancel"
	}
	return &QuestionResolved{Header: h, RequestID: requestID, ToolUseID: toolUseID, Action: action, Answers: r.Answers, By: r.By}
}
