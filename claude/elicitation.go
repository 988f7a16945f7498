package claude

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/claude/internal/control"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// ElicitationRequest is a request of an MCP server to the user: a form to fill in, or a
// page to visit. The server wrote its texts, so escape them for display. It is read-only.
type ElicitationRequest struct {
	MCPServerName string                  `json:"mcp_server_name"`
	Message       string                  `json:"message"`
	Mode          message.ElicitationMode `json:"mode"` // "" means a form
	// URL is the page, ElicitationID the server's id of the visit.
	URL           string `json:"url"`
	ElicitationID string `json:"elicitation_id"`
	// RequestedSchema is the form as a JSON schema, PropertyOrder its fields in
	// the server's order.
	RequestedSchema message.JSON `json:"requested_schema"`
	PropertyOrder   []string     `json:"property_order"`
	// Title, DisplayName and Description are texts of the server for its request.
	Title       string `json:"title"`
	DisplayName string `json:"display_name"`
	Description string `json:"description"`
	// RequestID is the argument for [Client.AnswerElicitation].
	RequestID string `json:"-"`

	raw message.JSON
}

// Raw returns the request as the CLI sent it, including members that have no field in this
// type.
func (e *ElicitationRequest) Raw() message.JSON { return e.raw }

// ElicitationResult answers an [ElicitationRequest]. Content holds the fields of an
// accepted form: strings, numbers, bools and lists of strings. It is not sent in other
// cases.
type ElicitationResult struct {
	Action  message.ElicitationAction
	Content map[string]any
}

// elicitation answers elicitation requests.
func (r *responder) elicitation(ctx context.Context, req control.Request) ([]byte, error) {
	if r.launch.OnElicitation == nil {
		return []byte(`{"action":"decline"}`), nil
	}
	e := new(ElicitationRequest)
	_ = jsonwire.Unmarshal(req.Body, e) // cannot fail; members of other types stay in Raw
	e.RequestID, e.raw = req.ID, message.JSON(req.Body)
	return answerNowOrLater(ctx, r, req, e.encode, func() (*ElicitationResult, error) { return r.launch.OnElicitation(ctx, e) })
}

// encode returns the answer of r in the CLI's form.
func (e *ElicitationRequest) encode(r *ElicitationResult) ([]byte, error) {
	if r == nil {
		return nil, errors.New("claude: OnElicitation gave no answer")
	}
	wire := struct {
		Action  message.ElicitationAction `json:"action"`
		Content map[string]any            `json:"content,omitzero"`
	}{Action: r.Action}
	switch r.Action {
	case message.ElicitationAccept:
		if e.Mode == message.ElicitationURL {
			break // the page has the content
		}
		if wire.Content = r.Content; wire.Content == nil {
			wire.Content = map[string]any{}
		}
	case message.ElicitationDecline, message.ElicitationCancel:
	default:
		return nil, fmt.Errorf("claude: ElicitationResult.Action %q is not accept, decline or cancel", r.Action)
	}
	text, err := jsonwire.Marshal(wire)
	if err != nil {
		return nil, err
	}
	return text, noNulls(text)
}

// noNulls returns an error for content with a null, which no field of a form can be.
func noNulls(answer []byte) error {
	var a struct {
		Content map[string]message.JSON `json:"content"`
	}
	if err := message.JSON(answer).Decode(&a); err != nil {
		return err
	}
	for field, value := range a.Content {
		if value == "null" || value == "" {
			return fmt.Errorf("claude: ElicitationResult.Content: %s is null", field)
		}
	}
	return nil
}
