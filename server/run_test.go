package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// runEvent holds the members of an event of either protocol that the tests use.
type runEvent struct {
	Type, Delta, ToolCallID, ApprovalID, Message, FinishReason, Name, ErrorText string
	Value, Data                                                                 any
	Outcome                                                                     struct {
		Type       string
		Interrupts []struct{ ID, Reason string }
	}
}

// runStream is the response to a run.
type runStream struct {
	h      *harness
	resp   *http.Response
	lines  *bufio.Scanner
	events []runEvent
	done   bool   // [DONE] was received
	id     string // position of the stream: id of the last event that has one
}

// startRun sends a request and returns its response of any status.
func (h *harness) startRun(token, method, path string, body any) *runStream {
	h.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		h.Fatal(err)
	}
	req, err := http.NewRequestWithContext(h.ctx(), method, h.url+path, bytes.NewReader(data))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = resp.Body.Close() })
	s := &runStream{h: h, resp: resp, lines: bufio.NewScanner(resp.Body)}
	s.lines.Buffer(nil, 16<<20)
	return s
}

// next returns the next event, false at the end.
func (s *runStream) next() (runEvent, bool) {
	s.h.Helper()
	for s.lines.Scan() {
		if id, ok := strings.CutPrefix(s.lines.Text(), "id: "); ok {
			s.id = id
		}
		data, ok := strings.CutPrefix(s.lines.Text(), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			s.done = true
			continue
		}
		var ev runEvent
		if err := json.Unmarshal([]byte(data), &ev); err != nil {
			s.h.Fatalf("%s: %v", data, err)
		}
		s.events = append(s.events, ev)
		return ev, true
	}
	return runEvent{}, false
}

// all reads the rest and returns the concatenated text.
func (s *runStream) all() string {
	s.h.Helper()
	if s.resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(s.resp.Body)
		s.h.Fatalf("status %d: %s", s.resp.StatusCode, data)
	}
	for ok := true; ok; {
		_, ok = s.next()
	}
	return s.text()
}

func (s *runStream) text() string {
	text := ""
	for _, ev := range s.events {
		if ev.Type == "TEXT_MESSAGE_CONTENT" || ev.Type == "text-delta" {
			text += ev.Delta
		}
	}
	return text
}

// last returns the last event, which ends a run.
func (s *runStream) last() runEvent {
	s.h.Helper()
	if len(s.events) == 0 {
		s.h.Fatal("the stream has no events")
	}
	return s.events[len(s.events)-1]
}

type object2 = map[string]any

func aguiPrompt(thread, id, text string) object2 {
	return object2{"threadId": thread, "runId": "run-" + id, "messages": []object2{{"id": id, "role": "user", "content": text}}}
}

func aisdkPrompt(thread, id, text string) object2 {
	return object2{"id": thread, "trigger": "submit-message", "messages": []object2{{"id": id, "role": "user", "parts": []object2{{"type": "text", "text": text}}}}}
}

func (h *harness) agui(body any) *runStream {
	h.Helper()
	return h.startRun(h.token, http.MethodPost, "/v1/agui", body)
}

func (h *harness) aisdk(body any) *runStream {
	h.Helper()
	return h.startRun(h.token, http.MethodPost, "/v1/aisdk", body)
}

// interrupt returns the id of the request with which a run ended.
func (s *runStream) interrupt() string {
	s.h.Helper()
	for _, ev := range s.events {
		if ev.Type == "tool-approval-request" {
			return ev.ApprovalID
		}
		if len(ev.Outcome.Interrupts) == 1 {
			return ev.Outcome.Interrupts[0].ID
		}
	}
	s.h.Fatalf("the run has not asked: %+v", s.events)
	return ""
}

// threadSession returns the session of a thread of the owner.
func (h *harness) threadSession(protocol, thread string) string {
	h.Helper()
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	if len(list.Sessions) == 0 {
		h.Fatalf("thread %s of %s has no session", thread, protocol)
	}
	return list.Sessions[0].SessionID
}

func TestRun_text(t *testing.T) {
	h := newHarness(t)
	a := h.agui(aguiPrompt("t1", "m1", "say hello from the agent"))
	if text := a.all(); text != "hello from the agent" {
		t.Errorf("AG-UI shows %q", text)
	}
	if first, last := a.events[0], a.last(); first.Type != "RUN_STARTED" || last.Type != "RUN_FINISHED" || last.Outcome.Type != "success" {
		t.Errorf("the run is from %+v to %+v", first, last)
	}
	b := h.aisdk(aisdkPrompt("t2", "m1", "think say this"))
	if text := b.all(); text != "say this" {
		t.Errorf("the AI SDK shows %q", text)
	}
	if last := b.last(); last.Type != "finish" || last.FinishReason != "stop" || !b.done || b.resp.Header.Get("X-Vercel-Ai-Ui-Message-Stream") != "v1" {
		t.Errorf("the stream ends with %+v, done %v, header %v", last, b.done, b.resp.Header)
	}
	// A second prompt of a thread goes to the same session; the session's id is accepted too.
	id := h.threadSession("aisdk", "t2")
	if text := h.aisdk(aisdkPrompt(id, "m2", "say again")).all(); text != "again" {
		t.Errorf("the second prompt shows %q", text)
	}
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	if len(list.Sessions) != 2 {
		t.Errorf("there are %d sessions, want 2", len(list.Sessions))
	}
	if failed := h.agui(aguiPrompt("t1", "m3", "fail")); failed.all() != "" || failed.last().Type != "RUN_ERROR" || failed.last().Message == "" {
		t.Errorf("a turn that fails ends with %+v", failed.last())
	}
}

// TestRun_again checks that a repeated prompt is executed once.
func TestRun_again(t *testing.T) {
	h := newHarness(t)
	for _, send := range []func(string) *runStream{
		func(id string) *runStream { return h.agui(aguiPrompt("t1", id, "say once")) },
		func(id string) *runStream { return h.aisdk(aisdkPrompt("t1", id, "say once")) },
	} {
		for range 2 {
			if text := send("m1").all(); text != "once" {
				t.Errorf("the prompt shows %q", text)
			}
		}
	}
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	for _, s := range list.Sessions {
		if n := h.history(s.SessionID).Totals.Turns; n != 1 {
			t.Errorf("session %s has %d turns, want 1", s.SessionID, n)
		}
	}
}

func TestRun_permission(t *testing.T) {
	h := newHarness(t)
	for _, approved := range []bool{true, false} {
		thread, want := fmt.Sprint("t", approved), "I was not allowed to."
		if approved {
			want = "I have used Bash."
		}
		a := h.agui(aguiPrompt(thread, "m1", "tool Bash"))
		a.all()
		if out := a.last().Outcome; out.Type != "interrupt" || out.Interrupts[0].Reason != "tool_call" {
			t.Fatalf("the run ends with %+v", a.last())
		}
		resume := object2{"threadId": thread, "runId": "r2", "messages": []object2{},
			"resume": []object2{{"interruptId": a.interrupt(), "status": "resolved", "payload": object2{"approved": approved}}}}
		for range 2 { // a repeated answer is executed once, and its stream starts at the request
			b := h.agui(resume)
			if text := b.all(); text != want || b.last().Outcome.Type != "success" {
				t.Errorf("after approved %v AG-UI shows %q and ends with %+v", approved, text, b.last())
			}
			checkResult(t, b)
		}
		c := h.aisdk(aisdkPrompt(thread, "m1", "tool Bash"))
		c.all()
		if c.last().FinishReason != "tool-calls" || !c.done {
			t.Fatalf("the stream ends with %+v", c.last())
		}
		d := h.aisdk(object2{"id": thread, "messages": []object2{{"id": "a", "role": "assistant", "parts": []object2{
			{"type": "dynamic-tool", "state": "approval-responded", "approval": object2{"id": c.interrupt(), "approved": approved}}}}}})
		if text := d.all(); text != want || d.last().FinishReason != "stop" {
			t.Errorf("after approved %v the AI SDK shows %q and ends with %+v", approved, text, d.last())
		}
		checkResult(t, d)
	}
}

// checkResult checks that a stream after an answer has the result of the call, and does not repeat the call.
func checkResult(t *testing.T, s *runStream) {
	t.Helper()
	results := 0
	for _, ev := range s.events {
		switch ev.Type {
		case "TOOL_CALL_START", "tool-input-start":
			t.Errorf("the call is shown again: %+v", ev)
		case "TOOL_CALL_RESULT", "tool-output-available", "tool-output-error":
			results++
		}
	}
	if results != 1 {
		t.Errorf("there are %d results, want 1: %+v", results, s.events)
	}
}

// TestRun_failsClosed checks that only an explicit approval approves, and that a question without answers is declined.
func TestRun_failsClosed(t *testing.T) {
	short.SkipQuick(t, "starts a turn for each answer")
	h := newHarness(t)
	payloads := []string{``, `null`, `{}`, `[]`, `true`, `"approved"`, `1`, `{"approved":null}`, `{"approved":"true"}`, `{"approved":1}`, `{"approved":[true]}`,
		`{"approved":{"approved":true}}`, `{"Approved":true}`, `{"APPROVED":true}`, `{"approve":true}`, `{"approved":false}`, `[{"approved":true}]`,
		`{"approved":true,"editedArgs":null}`, `{"approved":true,"editedArgs":"rm"}`, `{"approved":true,"editedArgs":{}}`, `{"answers":{"x":"y"}}`}
	type answer struct{ name, agui, aisdk string }
	var all []answer
	for _, p := range payloads {
		member := ""
		if p != "" {
			member = `,"payload":` + p
		}
		all = append(all, answer{"resolved " + p, `{"interruptId":ID,"status":"resolved"` + member + `}`, ""})
	}
	for _, status := range []string{`"cancelled"`, `"RESOLVED"`, `"approved"`, `null`, `""`} {
		all = append(all, answer{"status " + status, `{"interruptId":ID,"status":` + status + `,"payload":{"approved":true}}`, ""})
	}
	for _, members := range []string{``, `,"approved":null`, `,"approved":"true"`, `,"approved":1`, `,"Approved":true`, `,"approved":false`, `,"reason":"yes"`, `,"approved":{}`} {
		all = append(all, answer{"approval " + members, "", `{"type":"dynamic-tool","state":"approval-responded","approval":{"id":ID` + members + `}}`})
	}
	for _, prompt := range []string{"tool Bash", "ask"} {
		for i, a := range all {
			t.Run(prompt+" "+a.name, func(t *testing.T) {
				if prompt == "ask" && strings.Contains(a.name, `"answers"`) {
					t.Skip("these are answers")
				}
				h.T = t
				thread := fmt.Sprintf("%s-%d", prompt, i)
				h.refuses(thread, prompt, a.agui, a.aisdk)
			})
		}
	}
}

// TestRun_unanswered checks that approving a question without answers declines it.
func TestRun_unanswered(t *testing.T) {
	h := newHarness(t)
	for i, members := range []string{``, `,"answers":null`, `,"answers":{}`, `,"answers":[]`, `,"answers":"yes"`, `,"Answers":{"x":"y"}`} {
		t.Run("approved"+members, func(t *testing.T) {
			h.T = t
			h.refuses(fmt.Sprint("agui-", i), "ask", `{"interruptId":ID,"status":"resolved","payload":{"approved":true`+members+`}}`, "")
			h.refuses(fmt.Sprint("aisdk-", i), "ask", "", `{"type":"dynamic-tool","state":"approval-responded","approval":{"id":ID,"approved":true`+members+`}}`)
		})
	}
}

// refuses sends a prompt, an answer, and checks that the answer was a refusal.
func (h *harness) refuses(thread, prompt, agui, aisdk string) {
	h.Helper()
	ask, body := h.agui, func(id string) string {
		return `{"threadId":` + quoted(thread) + `,"runId":"r","messages":[],"resume":[` + strings.ReplaceAll(agui, "ID", quoted(id)) + `]}`
	}
	first := aguiPrompt(thread, "m1", prompt)
	if aisdk != "" {
		ask, first = h.aisdk, aisdkPrompt(thread, "m1", prompt)
		body = func(id string) string {
			return `{"id":` + quoted(thread) + `,"messages":[{"id":"a","role":"assistant","parts":[` + strings.ReplaceAll(aisdk, "ID", quoted(id)) + `]}]}`
		}
	}
	a := ask(first)
	a.all()
	b := ask(json.RawMessage(body(a.interrupt())))
	b.all()
	id := h.newest()
	for _, p := range h.history(id).Threads {
		for _, item := range p.Items {
			if item.Message == nil {
				continue
			}
			for _, block := range item.Message.Blocks {
				if strings.Contains(block.Text.String(), "I have used") {
					h.Errorf("the call was allowed")
				}
			}
		}
	}
	for _, ev := range h.logged(id) {
		switch ev := ev.(type) {
		case *event.PermissionResolved:
			if ev.Behavior != event.ResolvedDeny {
				h.Errorf("the permission was resolved with %q, want deny", ev.Behavior)
			}
		case *event.QuestionResolved:
			if ev.Action != "decline" {
				h.Errorf("the question was resolved with %q, want decline", ev.Action)
			}
		}
	}
}

func quoted(s string) string { return string(event.Quote(s)) }

// newest returns the most recently changed session.
func (h *harness) newest() string { return h.threadSession("", "") }

// logged reads the durable events of a session.
func (h *harness) logged(id string) []event.Event {
	h.Helper()
	v, standing, end, err := h.server.sessions.WatchAfter(context.Background(), id, api.Cursor{})
	if err != nil {
		h.Fatal(err)
	}
	defer end()
	var d event.Decoder
	var all []event.Event
	for v.Cursor.Seq < standing.Head {
		items, err := v.Next(h.ctx())
		if err != nil {
			h.Fatal(err)
		}
		for _, it := range items {
			events, err := d.Decode(it.Message())
			if err != nil {
				h.Fatal(err)
			}
			all = append(all, events...)
		}
	}
	return all
}

// TestRun_edited checks that a message with a known id and another text is a new prompt.
func TestRun_edited(t *testing.T) {
	h := newHarness(t)
	for _, send := range []func(text string) *runStream{
		func(text string) *runStream { return h.agui(aguiPrompt("t1", "m1", text)) },
		func(text string) *runStream { return h.aisdk(aisdkPrompt("t1", "m1", text)) },
	} {
		for _, word := range []string{"one", "two"} {
			if text := send("say " + word).all(); text != word {
				t.Errorf("the prompt %q shows %q", "say "+word, text)
			}
		}
	}
}

// TestRun_declined checks that an explicit refusal declines a question, even if it contains
// answers.
func TestRun_declined(t *testing.T) {
	h := newHarness(t)
	a := h.agui(aguiPrompt("t", "m1", "ask"))
	a.all()
	h.agui(object2{"threadId": "t", "runId": "r", "resume": []object2{{"interruptId": a.interrupt(), "status": "resolved", "payload": object2{"approved": false, "answers": object2{"Which?": "A"}}}}}).all()
	c := h.aisdk(aisdkPrompt("t", "m1", "ask"))
	c.all()
	id := c.interrupt()
	h.aisdk(object2{"id": "t", "answers": object2{id: object2{"Which?": "A"}}, "messages": []object2{{"id": "a", "role": "assistant", "parts": []object2{
		{"type": "dynamic-tool", "state": "approval-responded", "approval": object2{"id": id, "approved": false}}}}}}).all()
	var actions []string
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	for _, s := range list.Sessions {
		for _, ev := range h.logged(s.SessionID) {
			if r, ok := ev.(*event.QuestionResolved); ok {
				actions = append(actions, r.Action)
			}
		}
	}
	if !slices.Equal(actions, []string{"decline", "decline"}) {
		t.Errorf("the questions were answered with %v, want decline twice", actions)
	}
}

// TestRun_question checks that an object of answers answers a question.
func TestRun_question(t *testing.T) {
	h := newHarness(t)
	a := h.agui(aguiPrompt("t", "m1", "ask"))
	a.all()
	if a.last().Outcome.Interrupts[0].Reason != "input_required" {
		t.Fatalf("the run ends with %+v", a.last())
	}
	b := h.agui(object2{"threadId": "t", "runId": "r", "resume": []object2{{"interruptId": a.interrupt(), "status": "resolved", "payload": object2{"answers": object2{"Which?": "A"}}}}})
	b.all()
	if b.last().Outcome.Type != "success" {
		t.Errorf("the run ends with %+v", b.last())
	}
	c := h.aisdk(aisdkPrompt("t", "m1", "ask"))
	c.all()
	id := c.interrupt()
	d := h.aisdk(object2{"id": "t", "answers": object2{id: object2{"Which?": "A"}}, "messages": []object2{{"id": "a", "role": "assistant", "parts": []object2{
		{"type": "dynamic-tool", "state": "approval-responded", "approval": object2{"id": id, "approved": true}}}}}})
	d.all()
	accepted := 0
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	for _, s := range list.Sessions {
		for _, ev := range h.logged(s.SessionID) {
			if r, ok := ev.(*event.QuestionResolved); ok && r.Action == "accept" && r.By != "" {
				accepted++
			}
		}
	}
	if accepted != 2 {
		t.Errorf("%d questions were accepted, want 2", accepted)
	}
}

// TestRun_reconnect checks that a stream that is cut during a turn continues with exactly the
// missing parts, and that a cancelled turn ends its stream.
func TestRun_reconnect(t *testing.T) {
	h := newHarness(t)
	h.provider.Pause = 2 * time.Millisecond
	want := h.agui(aguiPrompt("whole", "m1", "count 200")).all()
	for _, protocol := range []string{"agui", "aisdk"} {
		t.Run(protocol, func(t *testing.T) {
			h.T = t
			send, body := h.agui, aguiPrompt("cut", "m1", "count 200")
			if protocol == "aisdk" {
				send, body = h.aisdk, aisdkPrompt("cut", "m1", "count 200")
			}
			a := send(body)
			for a.id == "" || len(a.text()) < 30 {
				if _, ok := a.next(); !ok {
					t.Fatal("the stream ended early")
				}
			}
			_ = a.resp.Body.Close()
			body["forwardedProps"], body["after"] = object2{"after": a.id}, a.id
			b := send(body)
			if got := a.text() + b.all(); got != want {
				t.Errorf("the two streams show %d bytes, want %d: %q", len(got), len(want), got)
			}
			if b.text() == want { // may have nothing left on a busy machine, because the first stream got everything
				t.Error("the second stream shows the whole text")
			}
		})
	}
}

func TestRun_cancel(t *testing.T) {
	h := newHarness(t)
	for protocol, s := range map[string]*runStream{"agui": h.agui(aguiPrompt("t", "m1", "wait")), "aisdk": h.aisdk(aisdkPrompt("t", "m1", "wait"))} {
		for s.id == "" {
			if _, ok := s.next(); !ok {
				t.Fatalf("%s: the stream ended: %+v", protocol, s.events)
			}
		}
	}
	a, b := h.agui(aguiPrompt("t", "m1", "wait")), h.aisdk(aisdkPrompt("t", "m1", "wait"))
	var list api.ListResult
	h.call("session.list", api.ListParams{}, &list)
	for _, s := range list.Sessions {
		h.watch(s.SessionID).state(session.Running)
		h.call("session.interrupt", api.SessionRef{SessionID: s.SessionID}, nil)
	}
	a.all()
	b.all()
	if a.last().Outcome.Type != "cancelled" || b.last().Type != "abort" || !b.done {
		t.Errorf("the streams end with %+v and %+v", a.last(), b.last())
	}
}

// TestRun_resumeAISDK checks that the AI SDK can resume a running turn without a position, and gets
// an empty response if no turn runs.
func TestRun_resumeAISDK(t *testing.T) {
	h := newHarness(t)
	a := h.aisdk(aisdkPrompt("t", "m1", "tool Bash"))
	a.all()
	b := h.startRun(h.token, http.MethodGet, "/v1/aisdk/t/stream", nil)
	b.all()
	if b.interrupt() != a.interrupt() {
		t.Errorf("the resumed stream asks %q, want %q", b.interrupt(), a.interrupt())
	}
	h.call("session.interrupt", api.SessionRef{SessionID: h.newest()}, nil)
	h.watch(h.newest()).results(1)
	if c := h.startRun(h.token, http.MethodGet, "/v1/aisdk/t/stream", nil); c.resp.StatusCode != http.StatusNoContent {
		t.Errorf("status %d without a turn, want 204", c.resp.StatusCode)
	}
	d := h.startRun(h.token, http.MethodGet, "/v1/aisdk/t/stream?after="+strings.Split(a.interrupt(), "/")[0], nil)
	d.all()
	if d.last().Type != "abort" {
		t.Errorf("the rest of the turn ends with %+v", d.last())
	}
}

// TestRun_refused checks rejected requests and their responses.
func TestRun_refused(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.MaxBody = 1 << 20 })
	var viewer api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "viewer"}, &viewer)
	good := aguiPrompt("t", "m1", "say x")
	for _, tt := range []struct {
		name, token, path, body, origin string
		status                          int
	}{
		{"wrong token", "nonsense", "/v1/agui", "", "", 401},
		{"viewer", viewer.Token, "/v1/agui", "", "", 403},
		{"viewer", viewer.Token, "/v1/aisdk", "", "", 403},
		{"foreign origin", h.token, "/v1/agui", "", "https://evil.example", 403},
		{"no JSON", h.token, "/v1/agui", "{", "", 400},
		{"no JSON", h.token, "/v1/aisdk", `{"messages":1}`, "", 400},
		{"no messages", h.token, "/v1/aisdk", `{"id":"t","messages":[]}`, "", 400},
		{"no thread", h.token, "/v1/agui", `{"messages":[{"id":"m","role":"user","content":"say x"}]}`, "", 400},
		{"no prompt", h.token, "/v1/agui", `{"threadId":"t","messages":[]}`, "", 400},
		{"empty prompt", h.token, "/v1/aisdk", `{"id":"t","messages":[{"role":"user","parts":[]}]}`, "", 400},
		{"regenerate", h.token, "/v1/aisdk", `{"id":"t","trigger":"regenerate-message","messages":[{"role":"user","parts":[]}]}`, "", 501},
		{"bad place", h.token, "/v1/agui", `{"threadId":"t","forwardedProps":{"after":"x"}}`, "", 400},
		{"bad interrupt", h.token, "/v1/agui", `{"threadId":"t","resume":[{"interruptId":"x","status":"resolved","payload":{"approved":true}}]}`, "", 404},
		{"unknown session", h.token, "/v1/agui", `{"threadId":"` + session.Prefix + `0000","messages":[{"id":"m","role":"user","content":"say x"}]}`, "", 404},
		{"foreign directory", h.token, "/v1/agui", `{"threadId":"d","forwardedProps":{"session":{"cwd":"/"}},"messages":[{"id":"m","role":"user","content":"say x"}]}`, "", 403},
		{"large", h.token, "/v1/aisdk", strings.Repeat("x", 2<<20), "", 413},
	} {
		body := tt.body
		if body == "" {
			data, err := json.Marshal(good)
			if err != nil {
				t.Fatal(err)
			}
			body = string(data)
		}
		req, err := http.NewRequestWithContext(h.ctx(), http.MethodPost, h.url+tt.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+tt.token)
		if tt.origin != "" {
			req.Header.Set("Origin", tt.origin)
		}
		status, _, data := h.do(req)
		var e errorBody
		if status != tt.status || json.Unmarshal(data, &e) != nil || e.Error.Message == "" {
			t.Errorf("%s %s: status %d, want %d, with an error: %s", tt.path, tt.name, status, tt.status, data)
		}
	}
	if text := h.agui(good).all(); text != "x" {
		t.Errorf("the server shows %q afterwards", text)
	}
}

// TestRun_neverReads checks that a client that never reads is disconnected, and that the turn ends without it.
func TestRun_neverReads(t *testing.T) {
	short.SkipQuick(t, "sends many megabytes")
	h := newHarness(t, func(o *Options) { o.WriteTimeout = 200 * time.Millisecond })
	body, err := json.Marshal(aisdkPrompt("t", "m1", "count 200000"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /v1/aisdk HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", h.token, len(body), body)
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the response has started
		t.Fatal(err)
	}
	eventually(t, "the stream is given up", func() bool { return len(h.server.conns) == 0 })
	h.watch(h.newest()).results(1)
}

// TestRevoked_runs checks that the streams of runs and a call of a tool end with the token or the link, and that the turn continues.
func TestRevoked_runs(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.DrainTimeout = 10 * time.Millisecond }) // the turns do not end
	tk, value, err := h.server.tokens.create(token{Role: "operator"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	watched := h.connect()
	w := h.watch(watched)
	h.query(watched, "wait")
	w.state(session.Running)
	w.stop()
	var link api.ShareCreateResult
	h.call("share.create", api.ShareCreateParams{SessionID: watched}, &link)
	c, err := h.mcp(value)
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]<-chan error{
		"session_wait": ended(func(ctx context.Context) error {
			r, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "session_wait", Arguments: object2{"session_id": watched, "seconds": 600}})
			if err == nil && !r.IsError {
				return fmt.Errorf("the call returns %+v", r)
			}
			return nil
		}),
	}
	for name, s := range map[string]*runStream{
		"agui": h.startRun(value, http.MethodPost, "/v1/agui", aguiPrompt("t", "m1", "wait")), "aisdk": h.startRun(value, http.MethodPost, "/v1/aisdk", aisdkPrompt("t", "m1", "wait")),
		"aisdk.stream": h.startRun(value, http.MethodGet, "/v1/aisdk/"+watched+"/stream", nil), "link": h.startRun(link.Token, http.MethodGet, "/v1/aisdk/"+watched+"/stream", nil),
	} {
		if s.resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d", name, s.resp.StatusCode)
		}
		ends[name] = ended(func(context.Context) error {
			_, err := io.Copy(io.Discard, s.resp.Body)
			return err
		})
	}
	eventually(t, "the call of the tool", func() bool { return len(h.server.conns) >= len(ends) })
	h.call("tokens.revoke", api.TokensRevokeParams{ID: tk.ID}, nil)
	h.call("share.revoke", api.ShareRevokeParams{ID: link.ID}, nil)
	for name, done := range ends {
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(wait / 4): // the turns do not end
			t.Errorf("%s has not ended", name)
		}
	}
	if st := h.info(watched).State; st != string(session.Running) {
		t.Errorf("the session is %s, want running", st)
	}
}
