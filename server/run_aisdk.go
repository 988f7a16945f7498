package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/sparing"
	"github.com/seed7221b0f9/parley/server/aisdk"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/parts"
	"github.com/seed7221b0f9/parley/server/session"
)

// runAISDK serves a request of the AI SDK's chat transport.
func (s *Server) runAISDK(w http.ResponseWriter, r *http.Request, c *caller, m *method) error {
	spared := sparing.Hold(int(min(r.ContentLength, s.limit(c, m))))
	defer spared()
	data, err := s.body(w, r, s.limit(c, m))
	if err != nil {
		return err
	}
	q, err := decodeAISDK(data)
	if err != nil {
		return err
	}
	q.accepted = spared
	w.Header().Set(aisdk.Header, aisdk.HeaderValue)
	return s.answer(w, r, c, q)
}

// resumeAISDK serves the rest of a running turn, from the position in the query or from the start
// of the turn.
func (s *Server) resumeAISDK(w http.ResponseWriter, r *http.Request, c *caller, _ *method) error {
	after, err := parseAfter(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	release, err := s.connection(r)
	if err != nil {
		return err
	}
	defer release()
	id, err := s.runSession(r.Context(), c, &run{protocol: "aisdk", thread: r.PathValue("id")})
	if err != nil {
		return err
	}
	standing, err := s.sessions.Standing(withCaller(r.Context(), c), id)
	if err != nil {
		return err
	}
	w.Header().Set(aisdk.Header, aisdk.HeaderValue)
	t := &turnView{session: id, encoder: aisdk.Encoder{}, trailer: aisdk.Done}
	switch {
	case after != nil:
		t.at = *after
	case !standing.Busy:
		w.WriteHeader(http.StatusNoContent)
		return nil
	case standing.From > 0:
		t.at, t.turn, t.message = parts.Place{Seq: standing.From}, standing.Turn, standing.Turn
	default: // the start of the turn is unknown
		t.at, t.message = parts.Place{Seq: standing.Head}, standing.Turn
	}
	return s.streamTurn(w, r, c, t)
}

// aisdkInput holds the members of a request of the chat transport that the server reads. The session
// has the earlier messages.
type aisdkInput struct {
	ID       string `json:"id"`
	Trigger  string `json:"trigger"`
	Messages []struct {
		ID    string      `json:"id"`
		Role  string      `json:"role"`
		Parts []aisdkPart `json:"parts"`
	} `json:"messages"`
	After   string                     `json:"after"`
	Session api.ConnectParams          `json:"session"` // for a new session
	Answers map[string]json.RawMessage `json:"answers"` // to questions, by the ids of their approvals
}

type aisdkPart struct {
	Type      string          `json:"type"`
	Text      literal         `json:"text"` // it may be large
	MediaType string          `json:"mediaType"`
	URL       string          `json:"url"`
	State     string          `json:"state"`
	Approval  json.RawMessage `json:"approval"`
}

// decodeAISDK decodes a request. Its last message is the user's or contains answers.
func decodeAISDK(data []byte) (*run, error) {
	var in aisdkInput
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, session.Invalid("the body is not a request of the chat transport: %v", err)
	}
	if in.Trigger == "regenerate-message" {
		return nil, session.Fail(api.Unsupported, "an answer of an agent cannot be made again: what it did is done; send a new message")
	}
	if len(in.Messages) == 0 {
		return nil, session.Invalid("the request has no messages")
	}
	q := &run{protocol: "aisdk", thread: in.ID, connect: in.Session, encoder: aisdk.Encoder{}, trailer: aisdk.Done}
	var err error
	if q.after, err = parseAfter(in.After); err != nil {
		return nil, err
	}
	last := in.Messages[len(in.Messages)-1]
	if last.Role == "user" {
		q.prompt = &runPrompt{id: last.ID}
		if text := aisdkText(last.Parts); text != "" {
			q.prompt.setText(text)
			return q, nil
		}
		q.prompt.content, err = aisdkContent(last.Parts)
		q.prompt.digest = digest(q.prompt.content)
		return q, err
	}
	for _, p := range last.Parts {
		if p.State != "approval-responded" {
			continue
		}
		var named struct {
			ID string `json:"id"`
		}
		_ = json.Unmarshal(p.Approval, &named) // an approval without an id is rejected below
		a := runAnswer{id: named.ID}
		a.read(p.Approval)
		a.answers, a.input = "", ""
		if a.approved {
			a.answers = filledObject(in.Answers[named.ID])
		}
		q.answers = append(q.answers, a)
	}
	if q.answers == nil && q.after == nil {
		return nil, session.Invalid("the last message is not one of the user and has no answers")
	}
	return q, nil
}

// aisdkText returns the text of a message with a single text, and "" for other messages.
func aisdkText(all []aisdkPart) event.JSON {
	content := slices.DeleteFunc(slices.Clone(all), func(p aisdkPart) bool { return p.Type != "text" && p.Type != "file" })
	if len(content) != 1 || content[0].Type != "text" || content[0].Text == `""` {
		return ""
	}
	return event.JSON(content[0].Text)
}

// aisdkContent returns the parts of a message as blocks.
func aisdkContent(all []aisdkPart) ([]event.JSON, error) {
	var blocks []event.JSON
	for _, p := range all {
		switch p.Type {
		case "text":
			blocks = append(blocks, textHead+cmp.Or(event.JSON(p.Text), `""`)+textTail)
		case "file":
			head, data, ok := strings.Cut(p.URL, ";base64,")
			if !ok || !strings.HasPrefix(head, "data:") {
				return nil, session.Invalid("a file of a message has to be a data: address with base64")
			}
			b, err := fileBlock(p.MediaType, data)
			if err != nil {
				return nil, err
			}
			blocks = append(blocks, b)
		}
	}
	return blocks, nil
}
