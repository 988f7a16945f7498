package editor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// elicits reports whether the client supports forms, or links.
func (s *server) elicits(mode string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.client.Elicitation.Or(acp.ElicitationCapabilities{})
	if mode == "url" {
		return e.URL.IsSet()
	}
	return e.Form.IsSet()
}

// question asks the client, for the model or for an MCP server.
func (s *session) question(ctx context.Context, live agent.Session, ev *event.QuestionRequest) {
	var a agent.Answer
	switch {
	case ev.Kind == event.QuestionElicitation:
		a = s.elicitation(ctx, ev)
	case s.srv.elicits("form"):
		a = s.form(ctx, ev)
	default:
		a = s.fallback(ctx, ev)
	}
	if ctx.Err() == nil {
		s.answer(ctx, live, ev.RequestID, a)
	}
}

// elicit sends a form or a link to the client.
func (s *session) elicit(ctx context.Context, r *acp.CreateElicitationRequest) (action string, content json.RawMessage) {
	raw, err := s.srv.conn.Call(ctx, acp.MethodElicitationCreate, r)
	var answer struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	if err != nil {
		if ctx.Err() == nil {
			s.srv.opts.Logger.Warn("acp: a question was not answered", "err", err)
		}
		return "cancel", nil
	}
	return answer.Action, answer.Content
}

// elicitation passes a request of an MCP server to the client. It declines if the client does not
// support the request.
func (s *session) elicitation(ctx context.Context, ev *event.QuestionRequest) agent.Answer {
	mode := "form"
	if ev.Mode == "url" {
		mode = "url"
	}
	if !s.srv.elicits(mode) {
		return &agent.ElicitationAnswer{Action: "decline"}
	}
	r := &acp.CreateElicitationRequest{Mode: mode, Message: ev.Message}
	if mode == "url" {
		id, _ := ev.Data.Member("elicitation_id")
		r.Value = &acp.ElicitationURLMode{URL: ev.URL, ElicitationID: acp.ElicitationID(id.Text()), SessionID: acp.Some(acp.SessionID(s.id))}
	} else {
		var schema acp.ElicitationSchema
		if err := json.Unmarshal([]byte(ev.Schema), &schema); err != nil {
			s.srv.opts.Logger.Warn("acp: the form of an MCP server cannot be shown", "server", ev.MCPServerName, "err", err)
			return &agent.ElicitationAnswer{Action: "cancel"}
		}
		r.Value = &acp.ElicitationFormMode{RequestedSchema: schema, SessionID: acp.Some(acp.SessionID(s.id))}
	}
	action, content := s.elicit(ctx, r)
	return &agent.ElicitationAnswer{Action: action, Content: content}
}

// form asks all questions of the model in one form.
func (s *session) form(ctx context.Context, ev *event.QuestionRequest) agent.Answer {
	schema, err := questionSchema(ev.Questions)
	if err != nil {
		return &agent.QuestionAnswer{Declined: true}
	}
	mode := &acp.ElicitationFormMode{RequestedSchema: *schema, SessionID: acp.Some(acp.SessionID(s.id))}
	mode.ToolCallID = acp.NonZero(acp.ToolCallID(ev.ToolUseID))
	message := "Please answer the following questions."
	if len(ev.Questions) == 1 {
		message = ev.Questions[0].Question
	}
	action, content := s.elicit(ctx, &acp.CreateElicitationRequest{Mode: "form", Message: message, Value: mode})
	if action != "accept" {
		return &agent.QuestionAnswer{Declined: true}
	}
	answers, notes := formAnswers(ev.Questions, content)
	return &agent.QuestionAnswer{Answers: answers, Notes: notes}
}

// questionSchema returns a form for questions: a choice and a free text for each.
func questionSchema(questions []event.Question) (*acp.ElicitationSchema, error) {
	properties := map[string]any{}
	for i, q := range questions {
		var values []map[string]string
		for _, o := range q.Options {
			v := map[string]string{"const": o.Label, "title": o.Label}
			if o.Description != "" {
				v["description"] = o.Description
			}
			values = append(values, v)
		}
		p := map[string]any{"type": "string"}
		switch {
		case q.MultiSelect:
			p = map[string]any{"type": "array", "items": map[string]any{"anyOf": values}}
		case len(values) > 0:
			p["oneOf"] = values
		}
		p["title"] = q.Question
		if q.Header != "" {
			p["title"] = q.Header
			if len(questions) > 1 {
				p["description"] = q.Question
			}
		}
		name := fmt.Sprintf("question_%d", i)
		properties[name] = p
		hint := "Type your own answer, or add a note to the option you chose above (optional)."
		if q.MultiSelect {
			hint = "Type your own answer to add to your selection above (optional)."
		}
		properties[name+"_custom"] = map[string]any{"type": "string", "title": "Other", "description": hint}
	}
	text, err := jsonwire.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return nil, err
	}
	schema := new(acp.ElicitationSchema)
	return schema, json.Unmarshal(text, schema)
}

// formAnswers returns the answers and the notes by question. A free text is a note if the question
// allows one answer and an option is selected; otherwise it is an answer. Unanswered questions are
// omitted.
func formAnswers(questions []event.Question, content json.RawMessage) (raw json.RawMessage, notes map[string]string) {
	var values map[string]json.RawMessage
	if json.Unmarshal(content, &values) != nil {
		values = nil
	}
	answers := map[string]string{}
	for i, q := range questions {
		name := fmt.Sprintf("question_%d", i)
		var parts []string
		var many []string
		if json.Unmarshal(values[name], &many) == nil {
			parts = append(parts, many...)
		} else if one := text(values[name]); one != "" {
			parts = append(parts, one)
		}
		switch own := strings.TrimSpace(text(values[name+"_custom"])); {
		case own == "":
		case q.MultiSelect || len(parts) == 0:
			parts = append(parts, own)
		default:
			if notes == nil {
				notes = map[string]string{}
			}
			notes[questionKey(&q)] = own
		}
		if len(parts) > 0 {
			answers[questionKey(&q)] = strings.Join(parts, ", ")
		}
	}
	raw, err := jsonwire.Marshal(answers)
	if err != nil {
		return json.RawMessage("{}"), notes // texts can be encoded
	}
	return raw, notes
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// questionKey returns the key of an answer.
func questionKey(q *event.Question) string {
	if q.ID != "" {
		return q.ID
	}
	return q.Question
}

// fallback asks a client without forms. It sends each question with a single answer as a permission
// request whose options are the answers. It leaves other questions unanswered.
func (s *session) fallback(ctx context.Context, ev *event.QuestionRequest) agent.Answer {
	answers := map[string]string{}
	for i := range ev.Questions {
		q := &ev.Questions[i]
		if q.MultiSelect || len(q.Options) == 0 {
			continue
		}
		var list []choice
		for j, o := range q.Options {
			list = append(list, option(fmt.Sprintf("answer-%d", j), o.Label, acp.PermissionOptionKindAllowOnce, nil))
		}
		list = append(list, option(optionReject, "No answer", acp.PermissionOptionKindRejectOnce, nil))
		s.mu.Lock()
		tool, _ := s.mapper.Tool(ev.ToolUseID)
		s.mu.Unlock()
		tool.Title = acp.Some(q.Question)
		picked, _ := s.pick(ctx, &acp.RequestPermissionRequest{SessionID: acp.SessionID(s.id), ToolCall: tool, Options: options(list)}, list)
		if picked == nil || picked.option.OptionID == optionReject {
			return &agent.QuestionAnswer{Declined: true}
		}
		answers[questionKey(q)] = picked.option.Name
	}
	if len(answers) == 0 {
		return &agent.QuestionAnswer{Declined: true}
	}
	raw, err := jsonwire.Marshal(answers)
	if err != nil {
		return &agent.QuestionAnswer{Declined: true}
	}
	return &agent.QuestionAnswer{Answers: raw}
}
