package claude

import "context"

// RenameSession sets the title of the session. The error is a *[ControlError] if the title is
// empty or sessionID is not the CLI's current session; "" means the current session.
func (c *Client) RenameSession(ctx context.Context, title, sessionID string) error {
	fields := struct {
		Title     string `json:"title"`
		Source    string `json:"source"`
		SessionID string `json:"session_id,omitempty"`
	}{title, "host", sessionID}
	return c.Control(ctx, "rename_session", fields, nil)
}

// GenerateSessionTitle asks a small model for a title for the description and sets it. It returns
// "" if the model did not answer with a title.
func (c *Client) GenerateSessionTitle(ctx context.Context, description string) (string, error) {
	return c.sessionTitle(ctx, description, true)
}

// SuggestSessionTitle is like [Client.GenerateSessionTitle], but it only returns the title and
// does not set it.
func (c *Client) SuggestSessionTitle(ctx context.Context, description string) (string, error) {
	return c.sessionTitle(ctx, description, false)
}

func (c *Client) sessionTitle(ctx context.Context, description string, persist bool) (string, error) {
	fields := map[string]any{"description": description, "persist": persist}
	return askMember[string](ctx, c, "generate_session_title", "title", fields)
}

// SideExchange is an earlier side question with its answer, passed along so that the model can
// refer to it.
type SideExchange struct {
	Question string `json:"question"`
	Response string `json:"response"`
}

// SideAnswer is the answer to a side question. Response is empty if the model did not answer.
// Synthetic is set if the CLI wrote the text.
type SideAnswer struct {
	Response  string `json:"response"`  // "" if the model did not answer
	Synthetic bool   `json:"synthetic"` // from the CLI, not from the model
	// RefusalFallback is set if the model refused and another one answered.
	RefusalFallback *SideFallback `json:"refusal_fallback,omitempty"`

	answer
}

// SideFallback is set when the model refused a side question and another model answered it, and
// names both models.
type SideFallback struct {
	OriginalModel string `json:"original_model"`
	FallbackModel string `json:"fallback_model"`
	Content       string `json:"content"`
}

// AskSideQuestion asks the model a question about the conversation that does not become part of
// it. It also works during a turn. history holds earlier side questions, which the model does
// not know otherwise; it may be nil.
func (c *Client) AskSideQuestion(ctx context.Context, question string, history []SideExchange) (*SideAnswer, error) {
	fields := struct {
		Question string         `json:"question"`
		History  []SideExchange `json:"history,omitempty"`
	}{question, history}
	return ask[SideAnswer](ctx, c, "side_question", fields)
}

// ConversationExport is the conversation as plain text, with the file name that the CLI
// proposes for saving it.
type ConversationExport struct {
	Text            string `json:"text"`
	DefaultFilename string `json:"default_filename"`

	answer
}

// ExportConversation returns the conversation so far as readable plain text. Use package
// transcript for the data.
func (c *Client) ExportConversation(ctx context.Context) (*ConversationExport, error) {
	return ask[ConversationExport](ctx, c, "export_conversation", nil)
}

// SessionPlan is the plan that was made in plan mode, in Markdown, with the file it is in. Exists
// is false before the first plan.
type SessionPlan struct {
	Exists  bool   `json:"exists"`
	Content string `json:"content,omitempty"`
	Path    string `json:"path,omitempty"`

	answer
}

// FetchPlan returns the plan of plan mode. Without a plan the error is nil and Exists is false.
func (c *Client) FetchPlan(ctx context.Context) (*SessionPlan, error) {
	return ask[SessionPlan](ctx, c, "get_plan", nil)
}

// StatusSection is a titled group of rows in the status that the CLI displays. Its texts may
// change with each version.
type StatusSection struct {
	Title string      `json:"title"`
	Rows  []StatusRow `json:"rows"`
}

// StatusRow is one line of a [StatusSection]: a label and its value, both as text for display.
type StatusRow struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// FetchStatus returns the CLI's status of the session and its environment, as sections of
// labelled rows for display.
func (c *Client) FetchStatus(ctx context.Context) ([]StatusSection, error) {
	return askMember[[]StatusSection](ctx, c, "get_status", "sections", nil)
}

// SetHasSubscribers tells the CLI whether a user watches the session; nil means unknown, which
// counts as true.
func (c *Client) SetHasSubscribers(ctx context.Context, has *bool) error {
	return c.Control(ctx, "set_has_subscribers", map[string]*bool{"has_subscribers": has}, nil)
}

// PausePromptSuggestions stops the suggestions of [Options.PromptSuggestions] until
// [Client.ResumePromptSuggestions] is called. It does not affect the session otherwise.
func (c *Client) PausePromptSuggestions(ctx context.Context) error {
	return c.pauseSuggestions(ctx, true)
}

// ResumePromptSuggestions makes the CLI suggest prompts again after
// [Client.PausePromptSuggestions]. The suggestions arrive as messages.
func (c *Client) ResumePromptSuggestions(ctx context.Context) error {
	return c.pauseSuggestions(ctx, false)
}

func (c *Client) pauseSuggestions(ctx context.Context, paused bool) error {
	return c.Control(ctx, "set_prompt_suggestions_paused", map[string]bool{"paused": paused}, nil)
}

// MessageRating is a user's opinion of one message: positive or negative, about a tool use or a
// text, or retracted.
type MessageRating struct {
	MessageUUID string `json:"messageUuid"`
	Sentiment   string `json:"sentiment"` // positive, negative
	Surface     string `json:"surface"`   // tool_use, assistant_text
	Cleared     bool   `json:"cleared"`   // the rating was retracted
}

// RateMessage reports a rating to the CLI's maker, if the user's settings allow
// that. It does not change the conversation.
func (c *Client) RateMessage(ctx context.Context, rating MessageRating) error {
	return c.Control(ctx, "message_rated", rating, nil)
}

// EndSession makes the CLI exit normally although its input is open; [Client.Wait] waits for
// that. The client must still be closed.
func (c *Client) EndSession(ctx context.Context) error {
	return c.Control(ctx, "end_session", nil, nil)
}
