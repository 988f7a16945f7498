package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

type requestsIn struct {
	SessionID string `json:"session_id,omitempty" jsonschema:"the default is all sessions"`
}

// requests returns the result of permission.list.
func requests(ctx context.Context, srv Service, in requestsIn) (any, error) {
	var r json.RawMessage
	err := srv.Call(ctx, "permission.list", api.PermissionListParams{SessionID: in.SessionID}, &r)
	return r, err
}

type answerIn struct {
	SessionID string            `json:"session_id"`
	RequestID string            `json:"request_id"`
	Allow     bool              `json:"allow" jsonschema:"allow the call, approve the plan, or answer the question"`
	Reason    string            `json:"reason,omitempty" jsonschema:"why a call is denied, for the agent"`
	Answers   map[string]string `json:"answers,omitempty" jsonschema:"to a question: the answers by question; without any it is declined"`
}

type answerOut struct {
	Accepted bool `json:"accepted" jsonschema:"this answer counted"`
}

// answer answers an open request by the method for its kind.
func answer(ctx context.Context, srv Service, in answerIn) (answerOut, error) {
	var open api.PermissionListResult
	if err := srv.Call(ctx, "permission.list", api.PermissionListParams{SessionID: in.SessionID}, &open); err != nil {
		return answerOut{}, err
	}
	for _, p := range open.Prompts {
		if p.Prompt.RequestID() != in.RequestID {
			continue
		}
		var r api.RespondResult
		var err error
		if p.Prompt.Question != nil {
			err = srv.Call(ctx, "question.respond", questionAnswer(in), &r)
		} else {
			behavior := event.ResolvedDeny
			if in.Allow {
				behavior = event.ResolvedAllow
			}
			err = srv.Call(ctx, "permission.respond", api.PermissionRespondParams{SessionID: in.SessionID, RequestID: in.RequestID, Behavior: behavior, Reason: in.Reason}, &r)
		}
		return answerOut{r.Accepted}, err
	}
	if in.RequestID == "" {
		return answerOut{}, errors.New("request_id is empty")
	}
	return answerOut{}, fmt.Errorf("request %q is not open: it was answered, withdrawn or has expired", in.RequestID)
}

func questionAnswer(in answerIn) api.QuestionRespondParams {
	p := api.QuestionRespondParams{SessionID: in.SessionID, RequestID: in.RequestID, Action: "decline"}
	if in.Allow && len(in.Answers) > 0 {
		p.Action, p.Answers = "accept", event.Encoded(in.Answers)
	}
	return p
}
