package claude

import (
	"slices"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// pendingRequest is a request that the CLI sent before this process connected.
type pendingRequest struct {
	RequestID string       `json:"request_id"`
	Request   message.JSON `json:"request"`
}

// dispatchPending handles the open requests in the answer to initialize like new ones,
// except for those that are already being answered. It runs on the reader, so it searches
// the text before it decodes it.
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
	_ = jsonwire.Unmarshal(answer.Envelope, &pending) // cannot fail: the answer was JSON
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
