package claudeevent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
)

// Notices are never items of the conversation.
func TestNotice_isNotAnItem(t *testing.T) {
	var c claudeevent.Converter
	var conv event.Conversation
	lines := []string{
		`{"type":"system","subtype":"informational","content":"a","level":"warning","tag":"x","tool_use_id":"t1"}`,
		`{"type":"system","subtype":"notification","key":"k","text":"b","priority":"low"}`,
		`{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"t2","message":"c"}`,
		`{"type":"system","subtype":"model_fallback","original_model":"m1","fallback_model":"m2","content":"d"}`,
		`{"type":"system","subtype":"session_writes_lost","error_code":"ENOSPC","lost":["transcript"]}`,
		`{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":1500.5,"error_status":529,"error":"overloaded"}`,
		`{"type":"system","subtype":"session_title_changed","title":"T"}`,
		`{"type":"system","subtype":"hook_started","hook_id":"h","hook_name":"n","hook_event":"PreToolUse"}`,
		`{"type":"system","subtype":"hook_response","hook_id":"h","hook_event":"PreToolUse","output":"o","stdout":"{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"why\"}}","exit_code":0,"outcome":"success"}`,
	}
	for _, ev := range feed(t, &c, lines...) {
		conv.Apply(ev)
	}
	if n := len(conv.Thread("").Items); n != 0 {
		t.Errorf("the conversation has %d items", n)
	}
	var got []string
	for _, n := range conv.Notices {
		got = append(got, strings.Join([]string{n.Notice.Severity, n.Notice.Text, n.Notice.Code, n.Notice.ToolUseID}, "|"))
	}
	want := []string{"warning|a|x|t1", "info|b|k|", "warning|c|permission_denied|t2", "warning|d|model_fallback|", "error|the disk is full (ENOSPC): lost transcript|session_writes_lost|"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	if r := conv.Retry; r == nil || r.Attempt != 2 || *r.MaxAttempts != 10 || *r.DelayMS != 1500 || *r.Status != 529 || r.Reason != "overloaded" {
		t.Errorf("the retry is %+v", r)
	}
	if conv.Title != "T" {
		t.Errorf("the title is %q", conv.Title)
	}
	if h := conv.Hooks; len(h) != 1 || h[0].Hook.State != "finished" || h[0].Hook.Decision != "deny" || h[0].Hook.Message != "why" || h[0].Output.String() != "o" || *h[0].Hook.ExitCode != 0 {
		t.Errorf("the hooks are %+v", h)
	}
	// An answer ends the retry.
	for _, ev := range feed(t, &c, `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"x"}]}}`) {
		conv.Apply(ev)
	}
	if conv.Retry != nil {
		t.Error("the retry is still there after an answer")
	}
}

// Hooks that run in the SDK's process are shown from the request to the answer.
func TestHook_callback(t *testing.T) {
	for response, want := range map[string]string{
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"r"}}`: "finished success ask r",
		`{"decision":"block","reason":"r"}`:                                     "finished success block r",
		`{"continue":false,"stopReason":"r"}`:                                   "finished success stop r",
		`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"r"}}}`: "finished success deny r",
		`{}`: "finished success  ",
		``:   "finished cancelled  ",
	} {
		var c claudeevent.Converter
		events := append([]event.Event{}, c.Ask("r1", `{"subtype":"hook_callback","callback_id":"hook_0","tool_use_id":"t","input":{"hook_event_name":"PreToolUse"}}`)...)
		events = append(events, c.Answer("r1", ui2claude(response), "")...)
		hooks := onlyOf[*event.Hook](events)
		if len(hooks) != 2 || hooks[0].State != event.HookStarted || hooks[0].Event != "PreToolUse" || hooks[0].HookID != hooks[1].HookID {
			t.Fatalf("%+v; want len(hooks) == 2 and hooks[0].State == event.HookStarted and hooks[0].Event == \"PreToolUse\" and hooks[0].HookID == hooks[1].HookID", hooks)
		}
		h := hooks[1]
		if got := fmt.Sprintf("%s %s %s %s", h.State, h.Outcome, h.Decision, h.Message); got != want {
			t.Errorf("%s gives %q, want %q", response, got, want)
		}
	}
}

// A permission request has the whole bundle of suggestions and marks those that are
// rules.
func TestSuggestions(t *testing.T) {
	var request *event.PermissionRequest
	for _, ev := range onlyOf[*event.PermissionRequest](recordedEvents(t, "wire/can-suggestions")) {
		request = ev
		break
	}
	if request == nil {
		t.Fatal("nothing is asked")
	}
	var got []string
	for _, s := range request.Suggestions {
		got = append(got, fmt.Sprintf("%s %v %s", s.Kind, s.IsRule(), s.Label))
		if update, _ := s.Update.Member("type"); update.Text() == "" {
			t.Errorf("%s: the update is %s", s.Kind, s.Update)
		}
	}
	want := []string{
		"rules true Always allow Bash(touch f1 *) in this project, for you",
		"directories false Allow access to /home/dev/project for this session",
		"mode false Switch to the permission mode acceptEdits for this session",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("suggestions (-want +got):\n%s", diff)
	}
	var c claudeevent.Converter
	odd := onlyOf[*event.PermissionRequest](c.Ask("r", `{"subtype":"can_use_tool","tool_name":"X","permission_suggestions":[{"type":"newKind","x":1},7]}`))[0]
	if len(odd.Suggestions) != 2 || odd.Suggestions[0].Kind != "newKind" || odd.Suggestions[0].IsRule() || odd.Suggestions[1].Update != "7" {
		t.Errorf("unknown suggestions are %+v", odd.Suggestions)
	}
	once := onlyOf[*event.PermissionRequest](c.Ask("s", `{"subtype":"can_use_tool","tool_name":"X","suppress_always_allow_rule":true,
		"default_to_no":true,"permission_suggestions":[{"type":"addRules","behavior":"allow","rules":[{"toolName":"X"}],"destination":"session"}]}`))[0]
	if once.DefaultToNo == odd.DefaultToNo || odd.DefaultToNo {
		t.Errorf("what is advised against is %v and %v", once.DefaultToNo, odd.DefaultToNo)
	}
	if len(once.Suggestions) != 0 || once.Data == "" {
		t.Errorf("a request that no rule may come of has the suggestions %+v", once.Suggestions)
	}
}

// An answer has a scope.
func TestAnswer_scope(t *testing.T) {
	for response, want := range map[string]string{
		`{"behavior":"allow"}`: "allow ",
		`{"behavior":"allow","updatedPermissions":[{"type":"addRules","destination":"session"}]}`:       "allow session",
		`{"behavior":"allow","updatedPermissions":[{"type":"addRules","destination":"localSettings"}]}`: "allow always",
		``: "cancelled ",
	} {
		var c claudeevent.Converter
		c.Ask("r", `{"subtype":"can_use_tool","tool_name":"Bash"}`)
		resolved := onlyOf[*event.PermissionResolved](c.Answer("r", ui2claude(response), "ann"))
		if got := resolved[0].Behavior + " " + resolved[0].Scope; len(resolved) != 1 || got != want {
			t.Errorf("%s gives %q, want %q", response, got, want)
		}
	}
}

// SessionInfo reports changes, not the initial values of a session.
func TestSessionInfo(t *testing.T) {
	var c claudeevent.Converter
	if n := len(onlyOf[*event.SessionInfo](feed(t, &c, initLine))); n != 0 {
		t.Errorf("the beginning is %d changes", n)
	}
	changed := strings.NewReplacer(`"model":"m"`, `"model":"n"`, `"mcp_servers":[]`, `"mcp_servers":[{"name":"x","status":"connected"}]`).Replace(initLine)
	infos := onlyOf[*event.SessionInfo](feed(t, &c, changed, changed))
	if len(infos) != 1 || *infos[0].Model != "n" || infos[0].CWD != nil || infos[0].PermissionMode != nil || len(infos[0].MCPServers) != 1 {
		t.Errorf("%+v; want len(infos) == 1 and *infos[0].Model == \"n\" and infos[0].CWD == nil and infos[0].PermissionMode == nil and len(infos[0].MCPServers) == 1", infos)
	}
	infos = onlyOf[*event.SessionInfo](feed(t, &c, `{"type":"system","subtype":"status","status":null,"permissionMode":"plan"}`))
	if len(infos) != 1 || *infos[0].PermissionMode != "plan" || infos[0].Model != nil {
		t.Errorf("%+v; want len(infos) == 1 and *infos[0].PermissionMode == \"plan\" and infos[0].Model == nil", infos)
	}
}
