package server

import (
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestWholeCommand checks that a notice offers to allow a command only if it shows the complete
// command and nothing else would be allowed.
func TestWholeCommand(t *testing.T) {
	good := event.PermissionRequest{Kind: event.PermissionTool, ToolName: "Bash", Input: `{"command":"go test ./...","description":"Runs the tests","timeout":1000}`}
	if got, ok := wholeCommand(&good); !ok || got != "go test ./..." {
		t.Errorf("a short command: %q, %v", got, ok)
	}
	input := func(text string) func(*event.PermissionRequest) {
		return func(p *event.PermissionRequest) { p.Input = event.JSON(text) }
	}
	for name, change := range map[string]func(*event.PermissionRequest){
		"another tool":           func(p *event.PermissionRequest) { p.ToolName = "mcp__x__run" },
		"advised against":        func(p *event.PermissionRequest) { p.DefaultToNo = true },
		"a path":                 func(p *event.PermissionRequest) { p.BlockedPath = "/etc" },
		"content":                func(p *event.PermissionRequest) { p.Content = `[]` },
		"locations":              func(p *event.PermissionRequest) { p.Locations = `[]` },
		"a profile":              func(p *event.PermissionRequest) { p.Profile = `{}` },
		"more in the request":    func(p *event.PermissionRequest) { p.Request = `{}` },
		"no input":               input(``),
		"no object":              input(`[]`),
		"no command":             input(`{}`),
		"an empty command":       input(`{"command":""}`),
		"a list":                 input(`{"command":["rm","x"]}`),
		"an unknown member":      input(`{"command":"ls","dangerouslyDisableSandbox":true}`),
		"two lines":              input(`{"command":"ls\nrm -rf x"}`),
		"a tab":                  input(`{"command":"ls\trm"}`),
		"text that turns":        input(`{"command":"ls \u202egpj"}`),
		"an invisible space":     input(`{"command":"ls\u200bx"}`),
		"an escape":              input(`{"command":"ls \u001b[8m; rm x"}`),
		"a space at the end":     input(`{"command":"ls "}`),
		"a space at the start":   input(`{"command":" ls"}`),
		"one character too long": input(`{"command":"` + strings.Repeat("x", maxNoticeCommand+1) + `"}`),
	} {
		p := good
		change(&p)
		if got, ok := wholeCommand(&p); ok {
			t.Errorf("%s: %q is offered", name, got)
		}
	}
	good.Input = event.JSON(`{"command":"` + strings.Repeat("界", maxNoticeCommand) + `"}`)
	if _, ok := wholeCommand(&good); !ok {
		t.Error("a command that just fits is not offered")
	}
}

// ask makes an agent ask for permission, and returns the push message about it.
func (p *pushService) ask(h *harness, id, prompt string) pushMessage {
	h.Helper()
	h.query(id, prompt)
	got := p.try(h.T)
	return got[len(got)-1]
}

// TestPush_answer checks that a notice answers with the nonce of its message, once, with the token
// of the subscription, and allows only if the device may do so and the message contains the whole
// command.
func TestPush_answer(t *testing.T) {
	clock := newFakeClock()
	p := newPushService(t, clock)
	h := pushHarness(t, p)
	sub := p.browser(t, "/own")
	h.call("push.subscribe", sub, nil)
	id := h.connect()
	w := h.watch(id)
	deny := p.ask(h, id, "tool Bash")
	if deny.Nonce == "" || deny.Command != "" {
		t.Fatalf("a device that may not allow gets %+v", deny)
	}
	h.refused(api.InvalidParams, "push.answer", api.PushAnswerParams{Nonce: deny.Nonce, Behavior: "allow"})
	h.refused(api.Conflict, "push.answer", api.PushAnswerParams{Nonce: deny.Nonce, Behavior: "deny"}) // the nonce has ended
	h.answer(id, "deny")
	w.results(1)
	p.try(t)
	deny = p.ask(h, id, "tool Bash")
	var r api.RespondResult
	h.call("push.answer", api.PushAnswerParams{Nonce: deny.Nonce, Behavior: "deny"}, &r)
	if !r.Accepted {
		t.Errorf("the denial: %+v", r)
	}
	w.results(2)
	p.try(t)

	sub.Allow, sub.Events = true, []string{"needs_answer"}
	h.call("push.subscribe", sub, nil)
	var state api.PushState
	h.call("push.get", api.PushUnsubscribeParams{Endpoint: sub.Endpoint}, &state)
	if !state.Subscribed || !state.Allow || len(state.Events) != 1 {
		t.Errorf("the subscription is %+v", state)
	}
	allow := p.ask(h, id, "tool Bash")
	if allow.Command != "echo done" {
		t.Fatalf("the message is %+v", allow)
	}
	var other api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "operator"}, &other)
	err := h.client(other.Token).Call(h.ctx(), "push.answer", api.PushAnswerParams{Nonce: allow.Nonce, Behavior: "allow"}, nil)
	if client.Reason(err) != api.Conflict {
		t.Errorf("the nonce of another token: %v", err)
	}
	h.refused(api.Conflict, "push.answer", api.PushAnswerParams{Nonce: allow.Nonce, Behavior: "allow"}) // the first attempt has used the nonce
	h.answer(id, "deny")
	w.results(3)
	allow = p.ask(h, id, "tool Bash")
	h.call("push.answer", api.PushAnswerParams{Nonce: allow.Nonce, Behavior: "allow"}, &r)
	w.results(4)
	w.awaitAnswer("I have used Bash.")
	if other := p.ask(h, id, "tool Write"); other.Command != "" || other.Nonce == "" {
		t.Errorf("another tool: %+v", other)
	}
	h.answer(id, "deny")
	w.results(5)
	if question := p.ask(h, id, "ask"); question.Nonce != "" {
		t.Errorf("a question: %+v", question)
	}
	if strings.Contains(h.logs.String(), allow.Nonce) {
		t.Error("the log has a nonce")
	}
}

// TestPush_answer_revoked checks that a notice cannot answer after its browser's token was revoked: neither by a call, nor over an open socket, nor
// with another token. The request stays open, and the browser gets no more notices.
func TestPush_answer_revoked(t *testing.T) {
	p := newPushService(t, newFakeClock())
	h := pushHarness(t, p)
	make := func() (tk api.TokensCreateResult) {
		h.call("tokens.create", api.TokensCreateParams{Role: "operator"}, &tk)
		return tk
	}
	tk, other := make(), make()
	sub := p.browser(t, "/revoked")
	sub.Allow = true
	if err := h.client(tk.Token).Call(h.ctx(), "push.subscribe", sub, nil); err != nil {
		t.Fatal(err)
	}
	id := h.connect()
	w := h.watch(id)
	m := p.ask(h, id, "tool Bash")
	if m.Nonce == "" || m.Command != "echo done" {
		t.Fatalf("the message is %+v", m)
	}
	socket := h.dial(tk.Token)
	h.call("tokens.revoke", api.TokensRevokeParams{ID: tk.ID}, nil)
	answer := api.PushAnswerParams{Nonce: m.Nonce, Behavior: "allow"}
	for token, want := range map[string]api.Reason{tk.Token: api.AuthFailed, other.Token: api.Conflict} {
		if err := h.client(token).Call(h.ctx(), "push.answer", answer, nil); client.Reason(err) != want {
			t.Errorf("an answer from a notice of a revoked token: %v, want %s", err, want)
		}
	}
	_ = socket.conn.Write(h.ctx(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"push.answer","params":{"nonce":"`+m.Nonce+`","behavior":"allow"}}`))
	if _, data, err := socket.conn.Read(h.ctx()); err == nil {
		t.Errorf("a socket of a revoked token answers %s", data)
	}
	if open := h.history(id).Prompts; len(open) != 1 {
		t.Errorf("%d requests are open, want the one of the notice", len(open))
	}
	h.answer(id, "deny")
	w.results(1)
	h.query(id, "tool Bash")
	eventually(t, "the subscription ends with its token", func() bool { return h.subscriptions() == 0 })
}

// TestPush_answer_viewer checks that a viewer gets no offer to answer, and cannot request one.
func TestPush_answer_viewer(t *testing.T) {
	clock := newFakeClock()
	p := newPushService(t, clock)
	h := pushHarness(t, p)
	var tk api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "viewer"}, &tk)
	viewer := h.client(tk.Token)
	sub := p.browser(t, "/viewer")
	sub.Allow = true
	if err := viewer.Call(h.ctx(), "push.subscribe", sub, nil); client.Reason(err) != api.AuthFailed {
		t.Errorf("a viewer subscribes to allow: %v", err)
	}
	sub.Allow = false
	if err := viewer.Call(h.ctx(), "push.subscribe", sub, nil); err != nil {
		t.Fatal(err)
	}
	if m := p.ask(h, h.connect(), "tool Bash"); m.Nonce != "" || m.Kind != "needs_answer" {
		t.Errorf("a viewer gets %+v", m)
	}
	err := viewer.Call(h.ctx(), "push.answer", api.PushAnswerParams{Nonce: "x", Behavior: "deny"}, nil)
	if client.Reason(err) != api.AuthFailed {
		t.Errorf("a viewer answers: %v", err)
	}
}

// TestPush_changed checks that a notice allows only the command that it has shown, because the request may have changed.
func TestPush_changed(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	h.query(id, "tool Bash") // echo done
	w.state(session.RequiresAction)
	n := notice{Session: id, Request: h.history(id).Prompts[0].RequestID(), Account: ownerAccount, Allow: true}
	for name, change := range map[string]func(*notice){
		"another command": func(n *notice) { n.Command = "echo d" }, "no command": func(n *notice) { n.Command = "" },
		"another request": func(n *notice) { n.Command, n.Request = "echo done", "none" },
	} {
		was := n
		change(&was)
		nonce, _, _ := h.server.notices.begin(was, pushTTL)
		err := h.client(h.token).Call(h.ctx(), "push.answer", api.PushAnswerParams{Nonce: nonce, Behavior: "allow"}, nil)
		if got := client.Reason(err); got != api.Conflict {
			t.Errorf("%s: the reason is %q (%v), want %q", name, got, err, api.Conflict)
		}
	}
	n.Command = "echo done"
	nonce, _, _ := h.server.notices.begin(n, pushTTL)
	h.call("push.answer", api.PushAnswerParams{Nonce: nonce, Behavior: "allow"}, nil)
	w.awaitAnswer("I have used Bash.")
}

// answer answers the open request of a session.
func (h *harness) answer(id, behavior string) {
	h.Helper()
	var open api.PermissionListResult
	h.call("permission.list", api.PermissionListParams{SessionID: id}, &open)
	if len(open.Prompts) != 1 {
		h.Fatalf("%d requests are open", len(open.Prompts))
	}
	h.call("permission.respond", api.PermissionRespondParams{SessionID: id, RequestID: open.Prompts[0].Prompt.RequestID(), Behavior: behavior}, nil)
}
