package claude

import (
	"slices"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// pendingRequest is a request that was asked before this process was there.
type pendingRequest struct {
	RequestID string       `json:"request_id"`
	Request   message.JSON `json:"request"`
}

// dispatchPending takes the requests that the answer to initialize says are
// still open as if they were asked now. Those that are being answered are passed
// over. It runs on the reader, so it looks before it decodes.
func (s *session) dispatchPending(e control.Ended) {
	if !e.Mentions(`"pending_`) {
		return
	}
	answer, err := e.Outcome()
	if err != nil {
		return
	}
	var pending struct {
		Permissions  []pendingRequest `json:"pending_permission_requests"`
		Dialogs      []pendingRequest `json:"pending_user_dialog_requests"`
		Elicitations []pendingRequest `json:"pending_elicitation_requests"`
	}
	_ = jsonwire.Unmarshal(answer.Envelope, &pending) // the answer was JSON
	for _, p := range slices.Concat(pending.Permissions, pending.Dialogs, pending.Elicitations) {
		if p.RequestID != "" && p.Request != "" {
			s.mux.Dispatch(control.Request{ID: p.RequestID, Subtype: jsonwire.NewDecoder(string(p.Request)).Peek("subtype"), Body: string(p.Request)})
		}
	}
}

// has reports whether the CLI has listed a capability at the start of a turn.
func (s *session) has(capability string) (yes bool) {
	s.update(func(st *sessionState) { yes = st.init != nil && slices.Contains(st.init.Capabilities, capability) })
	return yes
}
