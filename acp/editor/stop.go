package editor

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/seed7221b0f9/parley/acp"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/jsonwire"
)

// stopReason returns the stop reason of a turn, or its error. kind is the agent's name for the last
// error of the turn, or "".
func stopReason(r *event.ResultMessage, kind string) (acp.StopReason, *jsonrpc.Error) {
	switch {
	case r.TerminalReason == "aborted_streaming" || r.TerminalReason == "aborted_tools":
		return acp.StopReasonCancelled, nil
	case r.StopReason == "max_tokens" || kind == "max_output_tokens":
		return acp.StopReasonMaxTokens, nil
	case r.Subtype == "error_max_turns" || r.Subtype == "error_max_budget_usd":
		return acp.StopReasonMaxTurnRequests, nil
	case r.StopReason == "refusal":
		return acp.StopReasonRefusal, nil
	case !r.IsError:
		return acp.StopReasonEndTurn, nil
	case kind == "authentication_failed" || kind == "oauth_org_not_allowed" || needsLogin(r):
		return "", &jsonrpc.Error{Code: acp.CodeAuthRequired, Message: "Authentication required", Data: errorData(r, kind)}
	}
	text := r.Result
	if text == "" {
		text = strings.Join(r.Errors, "; ")
	}
	text = cmp.Or(text, "the turn failed: "+r.Subtype)
	return "", &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "Internal error: " + text, Data: errorData(r, kind)}
}

// needsLogin reports whether the text of an error requests a login. This is needed because a CLI
// reports an expired login with another kind, and other agents report it only in the text.
func needsLogin(r *event.ResultMessage) bool {
	text := cmp.Or(r.Result, strings.Join(r.Errors, "; "))
	return strings.Contains(text, "Run /login") || strings.Contains(text, "run /login") || strings.HasPrefix(text, agent.ErrAuth.Error())
}

func errorData(r *event.ResultMessage, kind string) json.RawMessage {
	data := map[string]any{}
	if kind != "" {
		data["errorKind"] = kind
	}
	if status := r.Data.Number("api_error_status"); status != 0 {
		data["status"] = status
	}
	if len(data) == 0 {
		return nil
	}
	text, err := jsonwire.Marshal(data)
	if err != nil {
		return nil // texts and numbers can be encoded
	}
	return text
}
