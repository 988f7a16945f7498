package export

import (
	"encoding/json"
	"io"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/transcript"
)

// wireDocument is a session in JSON. Messages have the official SDK's form.
type wireDocument struct {
	SessionID string                `json:"sessionId"`
	Session   json.RawMessage       `json:"session,omitempty"`
	Messages  []*transcript.Message `json:"messages"`
	Subagents []wireAgent           `json:"subagents,omitempty"`
}

type wireAgent struct {
	AgentID  string                `json:"agentId"`
	Meta     claude.JSON           `json:"meta,omitempty"`
	Messages []*transcript.Message `json:"messages"`
}

// writeJSON writes all messages whole: what is left out for people is not left out
// for programs, except secrets.
func (d *document) writeJSON(w io.Writer) error {
	doc := wireDocument{SessionID: d.ID, Session: d.Info, Messages: d.messages}
	if doc.Messages == nil {
		doc.Messages = []*transcript.Message{}
	}
	for _, a := range d.agents {
		doc.Subagents = append(doc.Subagents, wireAgent{a.ID, a.Meta, a.messages})
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	_, err = w.Write(append(d.cleanJSON(text), '\n'))
	return err
}
