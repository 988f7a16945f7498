package claude

import "context"

// RenameSession gives the session a title. The rename is refused with a
// *[ControlError] if sessionID is not the session that the CLI is in by now, or
// if the title is empty; with the id "" it goes to whichever it is in.
func (c *Client) RenameSession(ctx context.Context, title, sessionID string) error {
	fields := struct {
		Title     string `json:"title"`
		Source    string `json:"source"`
		SessionID string `json:"session_id,omitempty"`
	}{title, "host", sessionID}
	return c.Control(ctx, "rename_session", fields, nil)
}

// GenerateSessionTitle asks a small model for a title for what is described and
// gives it to the session. The title is "" if the model gave none.
func (c *Client) GenerateSessionTitle(ctx context.Context, description string) (string, error) {
	return c.sessionTitle(ctx, description, true)
}

// SuggestSessionTitle is [Client.GenerateSessionTitle] without giving the title to
// the session.
func (c *Client) SuggestSessionTitle(ctx context.Context, description string) (string, error) {
	return c.sessionTitle(ctx, description, false)
}

func (c *Client) sessionTitle(ctx context.Context, description string, persist bool) (string, error) {
	fields := map[string]any{"description": description, "persist": persist}
	return askMember[string](ctx, c, "generate_session_title", "title", fields)
}

// SideExchange is a side question that was answered.
type SideExchange struct {
	Question string `json:"question"`
	Response string `json:"response"`
}

// SideAnswer is the answer to a side question.
type SideAnswer struct {
	Response  string `json:"response"`  // "" if there was none
	Synthetic bool   `json:"synthetic"` // from the CLI, not from the model
	// RefusalFallback is there if the model refused and another one answered.
	RefusalFallback *SideFallback `json:"refusal_fallback,omitempty"`

	answer
}

// SideFallback is how another model came to answer.
type SideFallback struct {
	OriginalModel string `json:"original_model"`
	FallbackModel string `json:"fallback_model"`
	Content       string `json:"content"`
}

// AskSideQuestion asks the model something about the conversation that does not
// become a part of it, also while a turn runs. The history are earlier side
// questions, which it would not know otherwise; it may be nil.
func (c *Client) AskSideQuestion(ctx context.Context, question string, history []SideExchange) (*SideAnswer, error) {
	fields := struct {
		Question string         `json:"question"`
		History  []SideExchange `json:"history,omitempty"`
	}{question, history}
	return ask[SideAnswer](ctx, c, "side_question", fields)
}

// ConversationExport is the conversation as a text.
type ConversationExport struct {
	Text            string `json:"text"`
	DefaultFilename string `json:"default_filename"`

	answer
}

// ExportConversation returns the conversation as a text for people.
func (c *Client) ExportConversation(ctx context.Context) (*ConversationExport, error) {
	return ask[ConversationExport](ctx, c, "export_conversation", nil)
}

// SessionPlan is the plan of the session.
type SessionPlan struct {
	Exists  bool   `json:"exists"`
	Content string `json:"content,omitempty"`
	Path    string `json:"path,omitempty"`

	answer
}

// FetchPlan returns the plan that was made in plan mode, if there is one.
func (c *Client) FetchPlan(ctx context.Context) (*SessionPlan, error) {
	return ask[SessionPlan](ctx, c, "get_plan", nil)
}

// StatusSection is a part of the status.
type StatusSection struct {
	Title string      `json:"title"`
	Rows  []StatusRow `json:"rows"`
}

// StatusRow is a line of the status.
type StatusRow struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// FetchStatus returns what the CLI says of the session and its surroundings, for
// people.
func (c *Client) FetchStatus(ctx context.Context) ([]StatusSection, error) {
	return askMember[[]StatusSection](ctx, c, "get_status", "sections", nil)
}

// SetHasSubscribers tells the CLI whether somebody watches the session; nil says
// that it is not known, which counts as true.
func (c *Client) SetHasSubscribers(ctx context.Context, has *bool) error {
	return c.Control(ctx, "set_has_subscribers", map[string]*bool{"has_subscribers": has}, nil)
}

// PausePromptSuggestions stops the suggestions of [Options.PromptSuggestions] until
// [Client.ResumePromptSuggestions].
func (c *Client) PausePromptSuggestions(ctx context.Context) error {
	return c.pauseSuggestions(ctx, true)
}

// ResumePromptSuggestions makes the CLI suggest prompts again.
func (c *Client) ResumePromptSuggestions(ctx context.Context) error {
	return c.pauseSuggestions(ctx, false)
}

func (c *Client) pauseSuggestions(ctx context.Context, paused bool) error {
	return c.Control(ctx, "set_prompt_suggestions_paused", map[string]bool{"paused": paused}, nil)
}

// MessageRating is what a user thinks of a message.
type MessageRating struct {
	MessageUUID string `json:"messageUuid"`
	Sentiment   string `json:"sentiment"` // positive, negative
	Surface     string `json:"surface"`   // tool_use, assistant_text
	Cleared     bool   `json:"cleared"`   // the rating was taken back
}

// RateMessage reports a rating to the CLI's maker, if the user's settings allow
// that. It does not change the conversation.
func (c *Client) RateMessage(ctx context.Context, rating MessageRating) error {
	return c.Control(ctx, "message_rated", rating, nil)
}

// EndSession makes the CLI end well, though its input stays open; [Client.Wait]
// waits for that. The client must be closed all the same.
func (c *Client) EndSession(ctx context.Context) error {
	return c.Control(ctx, "end_session", nil, nil)
}
