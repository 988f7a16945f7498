package server

import (
	"encoding/json"
	"net/http"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/sparing"
	"github.com/seed7221b0f9/parley/server/agui"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/parts"
	"github.com/seed7221b0f9/parley/server/session"
)

// runAGUI serves a run of AG-UI.
func (s *Server) runAGUI(w http.ResponseWriter, r *http.Request, c *caller, m *method) error {
	spared := sparing.Hold(int(min(r.ContentLength, s.limit(c, m))))
	defer spared()
	data, err := s.body(w, r, s.limit(c, m))
	if err != nil {
		return err
	}
	q, err := decodeAGUI(data)
	if err != nil {
		return err
	}
	q.accepted = spared
	return s.answer(w, r, c, q)
}

// aguiInput holds the members of a RunAgentInput that the server reads. The session has the earlier
// messages, and the agent its own tools.
type aguiInput struct {
	ThreadID string `json:"threadId"`
	RunID    string `json:"runId"`
	Messages []struct {
		ID      string `json:"id"`
		Role    string `json:"role"`
		Content shared `json:"content"` // it may be large
	} `json:"messages"`
	Context []struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	} `json:"context"`
	Resume []struct {
		InterruptID string          `json:"interruptId"`
		Status      string          `json:"status"`
		Payload     json.RawMessage `json:"payload"`
	} `json:"resume"`
	ForwardedProps struct {
		After   string            `json:"after"`   // position of a resumed stream
		Session api.ConnectParams `json:"session"` // for a new session
	} `json:"forwardedProps"`
}

// decodeAGUI decodes the request of a run: answers, or the last message of the user.
func decodeAGUI(data []byte) (*run, error) {
	var in aguiInput
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, session.Invalid("the body is not a RunAgentInput: %v", err)
	}
	q := &run{protocol: "agui", thread: in.ThreadID, connect: in.ForwardedProps.Session, encoder: agui.NewEncoder(in.ThreadID, in.RunID)}
	var err error
	if q.after, err = parseAfter(in.ForwardedProps.After); err != nil {
		return nil, err
	}
	for _, e := range in.Resume {
		a := runAnswer{id: e.InterruptID}
		if e.Status == "resolved" {
			a.read(e.Payload)
		}
		q.answers = append(q.answers, a)
	}
	if n := len(in.Messages); len(in.Resume) == 0 && n > 0 && in.Messages[n-1].Role == "user" {
		q.prompt = &runPrompt{id: in.Messages[n-1].ID}
		for _, c := range in.Context {
			q.prompt.content = append(q.prompt.content, textBlock(c.Description+":\n"+c.Value))
		}
		content := in.Messages[n-1].Content
		if text := aguiText(content); text != "" && len(in.Context) == 0 {
			q.prompt.setText(text)
			return q, nil
		}
		blocks, err := aguiContent(content)
		if err != nil {
			return nil, err
		}
		q.prompt.digest = digest(blocks) // without the context, which may differ when the message is sent again
		q.prompt.content = append(q.prompt.content, blocks...)
	}
	if q.prompt == nil && q.answers == nil && q.after == nil {
		return nil, session.Invalid("the run has neither a last message of the user nor answers")
	}
	return q, nil
}

// aguiText returns the content of a message with a single text, and "" for other content.
func aguiText(content []byte) event.JSON {
	var text literal
	if len(content) > len(`""`) && text.UnmarshalJSON(content) == nil {
		return event.JSON(text)
	}
	return oneText(content)
}

// aguiContent returns the content of a message as blocks.
func aguiContent(content []byte) ([]event.JSON, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []event.JSON{textBlock(text)}, nil
	}
	var list []struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		Source struct {
			Type     string `json:"type"`
			Value    string `json:"value"`
			MimeType string `json:"mimeType"`
		} `json:"source"`
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, session.Invalid("the content of the message is neither a string nor a list of parts")
	}
	var blocks []event.JSON
	for _, p := range list {
		switch {
		case p.Type == "text":
			blocks = append(blocks, textBlock(p.Text))
		case p.Source.Type == "data":
			b, err := fileBlock(p.Source.MimeType, p.Source.Value)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, b)
		default:
			return nil, session.Invalid("a part of type %.50q without data in the message is not supported", p.Type)
		}
	}
	return blocks, nil
}

// parseAfter parses the position of a resumed stream. It returns nil for a new stream.
func parseAfter(text string) (*parts.Place, error) {
	if text == "" {
		return nil, nil
	}
	p, err := parts.ParsePlace(text)
	if err != nil {
		return nil, session.Invalid("after is not a place in a stream")
	}
	return &p, nil
}
