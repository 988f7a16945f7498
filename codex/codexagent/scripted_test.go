package codexagent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codexagent"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/jsonrpc"
	"github.com/seed7221b0f9/parley/internal/test/golden"
)

// scripted returns a provider with a scripted server.
func scripted(t *testing.T, s *codextest.Server) *codexagent.Provider {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &codexagent.Provider{Options: codex.Options{Path: self, Spawner: s, Home: t.TempDir(), Experimental: true, CloseGrace: 10 * time.Second, Logger: slog.New(slog.DiscardHandler)}}
}

// collected holds the events of a session until it ends.
type collected struct {
	mu   sync.Mutex
	list []event.Event
	more chan struct{}
}

func collect(s agent.Session) *collected {
	c := &collected{more: make(chan struct{})}
	go func() {
		for ev, err := range s.Events(context.Background()) {
			if err != nil {
				break
			}
			c.mu.Lock()
			c.list = append(c.list, ev)
			close(c.more)
			c.more = make(chan struct{})
			c.mu.Unlock()
		}
	}()
	return c
}

// until waits for an event that satisfies ok.
func (c *collected) until(t *testing.T, what string, ok func(event.Event) bool) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for seen := 0; ; {
		c.mu.Lock()
		list, more := c.list[seen:], c.more
		c.mu.Unlock()
		for _, ev := range list {
			if ok(ev) {
				return
			}
		}
		seen += len(list)
		select {
		case <-more:
		case <-deadline:
			t.Fatalf("no %s within 10 s, of %d events", what, seen)
		}
	}
}

// requests holds requests of the server, for the ids of a thread and a turn.
var requests = map[string][2]string{
	"command":     {"item/commandExecution/requestApproval", `"itemId":"i","command":"ls","cwd":"/d","reason":"why","proposedExecpolicyAmendment":["ls"],"availableDecisions":["accept","decline"]`},
	"patch":       {"item/fileChange/requestApproval", `"itemId":"i","reason":"why"`},
	"permissions": {"item/permissions/requestApproval", `"itemId":"i","cwd":"/d","reason":"why","permissions":{"network":true}`},
	"tool":        {"mcpServer/elicitation/request", `"serverName":"m","mode":"form","message":"May it?","requestedSchema":{"type":"object","properties":{}},"_meta":{"codex_approval_kind":"mcp_tool_call","tool_params":{"a":1},"persist":["session","always"]}`},
	"form":        {"mcpServer/elicitation/request", `"serverName":"m","mode":"form","message":"Name?","requestedSchema":{"type":"object","properties":{"n":{"type":"string"}}}`},
	"question":    {"item/tool/requestUserInput", `"itemId":"i","isBlocking":true,"questions":[{"id":"q","header":"H","question":"Which?","options":[{"label":"A","description":"a"}]},{"id":"r","header":"R","question":"Why?"},{"id":"s","header":"S","question":"Who?"}]`},
	"old patch":   {"applyPatchApproval", `"conversationId":"c","callId":"k","fileChanges":{},"reason":"why"`},
	"old command": {"execCommandApproval", `"conversationId":"c","callId":"k","command":["ls"],"cwd":"/d","parsedCmd":[],"reason":"why"`},
	"attestation": {"attestation/generate", `"x":1`},
}

// answers holds the valid and invalid answers of a person to each kind of request.
func answers() map[string]agent.Answer {
	permission := func(p agent.PermissionAnswer) agent.Answer { return &p }
	return map[string]agent.Answer{
		"allow": permission(agent.PermissionAnswer{Allow: true}), "deny": permission(agent.PermissionAnswer{Message: "no"}), "stop": permission(agent.PermissionAnswer{Interrupt: true}),
		"allow for the session": permission(agent.PermissionAnswer{Allow: true, Scope: event.ScopeSession}), "allow always": permission(agent.PermissionAnswer{Allow: true, Scope: event.ScopeAlways}),
		"choose session": permission(agent.PermissionAnswer{Allow: true, Choice: "acceptForSession"}), "choose amendment": permission(agent.PermissionAnswer{Allow: true, Choice: "acceptWithExecpolicyAmendment"}),
		"choose always": permission(agent.PermissionAnswer{Allow: true, Choice: "always"}), "choose another": permission(agent.PermissionAnswer{Allow: true, Choice: "accept", Scope: event.ScopeSession}),
		"change":  permission(agent.PermissionAnswer{Allow: true, UpdatedInput: json.RawMessage(`{}`)}),
		"accept":  &agent.ElicitationAnswer{Action: "accept", Content: json.RawMessage(`{"n":"x"}`)},
		"decline": &agent.ElicitationAnswer{Action: "decline"},
		"text":    &agent.QuestionAnswer{Answers: json.RawMessage(`{"q":"A","Why?":["b","c"],"s":7}`)}, "declined": &agent.QuestionAnswer{Declined: true}, "no answers": &agent.QuestionAnswer{Answers: json.RawMessage(`[]`)},
	}
}

// Every request of the server with every answer of a person: the response to the server, sent once, and the events.
func TestAnswers_golden(t *testing.T) {
	parts := golden.Parts{}
	for request, r := range requests {
		var out strings.Builder
		all := answers()
		for _, name := range slices.Sorted(maps.Keys(all)) {
			a := all[name]
			if got := answered(t, r, a); got != "" {
				out.WriteString(name + ": " + got)
			}
			if !strings.Contains(r[0], "/request") {
				break
			}
		}
		parts[request] = out.String()
	}
	parts.Check(t, "testdata/answers.txt", *updateGolden)
}

// answered makes a server ask, answers, and returns the response to the server and the end of the request. It returns nothing for an answer that
// does not fit.
func answered(t *testing.T, request [2]string, a agent.Answer) string {
	t.Helper()
	told := make(chan string, 1)
	server := &codextest.Server{Turn: func(turn *codextest.ServerTurn) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		params := fmt.Sprintf(`{"threadId":%q,"turnId":%q,%s}`, turn.ThreadID, turn.TurnID, request[1])
		raw, err := turn.Ask(ctx, request[0], json.RawMessage(params))
		told <- fmt.Sprintf("%s %v", raw, err)
	}}
	s, err := scripted(t, server).Open(t.Context(), agent.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := collect(s)
	if err := s.Send(t.Context(), agent.Input{UUID: "u", Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(request[0], "/request") { // no person is asked
		return <-told + "\n"
	}
	id := ""
	c.until(t, "request", func(ev event.Event) bool {
		if p, ok := event.NewPrompt(ev); ok {
			id = p.RequestID()
		}
		return id != ""
	})
	if err := s.Answer(t.Context(), id, a); err != nil {
		return ""
	}
	if err := s.Answer(t.Context(), id, a); err == nil {
		t.Errorf("%s: a second answer is taken", request[0])
	}
	result := <-told
	resolved := ""
	c.until(t, "end of the request", func(ev event.Event) bool {
		if event.ResolvedID(ev) != id {
			return false
		}
		switch ev := ev.(type) {
		case *event.PermissionResolved:
			resolved = ev.Behavior + " " + ev.Scope + " " + ev.Message
		case *event.QuestionResolved:
			resolved = ev.Action + " " + string(ev.Answers)
		}
		return true
	})
	return result + " → " + resolved + "\n"
}

// TestPrompts_golden checks that settings of a session apply from the next prompt on, and that a
// prompt has every block of its input in the server's form.
func TestPrompts_golden(t *testing.T) {
	server := &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
		switch c.Method {
		case "model/list":
			return json.RawMessage(`{"data":[{"id":"m","model":"m1","displayName":"M","description":"d","hidden":false,"isDefault":true}]}`), nil, true
		case "mcpServerStatus/list":
			return json.RawMessage(`{"data":[{"name":"a","tools":{"z":{"description":"zd","inputSchema":{"type":"object"}},"y":{}}},{"name":"b","tools":{}}]}`), nil, true
		case "config/mcpServer/reload":
			return json.RawMessage(`{}`), nil, true
		}
		return nil, nil, false
	}}
	ctx := t.Context()
	opened, err := scripted(t, server).Open(ctx, agent.Options{Dir: "/", Model: "m0", Mode: "default", Effort: "low", SystemPrompt: "base", AppendSystemPrompt: "more"})
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*codexagent.Session)
	defer s.Close()
	c := collect(s)
	o := &callLog{t: t}
	sent := 0
	step := func(what string, err error) {
		o.line(what, nil, err)
		if err := s.Send(ctx, agent.Input{UUID: what, Text: what}); err != nil {
			t.Fatal(err)
		}
		sent++
		c.until(t, "result of "+what, counted(sent))
	}
	tokens := func(n int64) *int64 { return &n }
	step("as it began", nil)
	model, err := s.SetModel(ctx, "m2")
	o.line("model", model, err)
	step("another model", nil)
	model, err = s.SetModel(ctx, "")
	o.line("model", model, err)
	for _, mode := range []string{"acceptEdits", "plan", "default", "bypassPermissions", "wild"} {
		step("mode "+mode, s.SetMode(ctx, mode))
	}
	for _, effort := range append(s.Efforts(), "", "wild") {
		step("effort "+effort, s.SetEffort(ctx, effort))
	}
	for _, n := range []*int64{nil, tokens(0), tokens(1), tokens(4096), tokens(4097), tokens(16384), tokens(16385)} {
		text := "none"
		if n != nil {
			text = fmt.Sprint(*n)
		}
		step("thinking "+text, s.SetThinking(ctx, n))
	}
	for _, block := range []string{
		`{"type":"text","text":"a"}`, `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}`, `{"type":"image","source":{"type":"url","url":"https://x"}}`,
		`{"type":"document","source":{"type":"text","data":"d"}}`, `{"type":"document","source":{"type":"base64","data":"d"}}`, `{"type":"audio"}`,
	} {
		err := s.Send(ctx, agent.Input{UUID: block, Content: []json.RawMessage{json.RawMessage(block)}})
		o.line("send "+block, nil, err)
		if err == nil {
			sent++
		}
	}
	c.until(t, "results", counted(sent))
	catalog(o, s)
	if _, err := s.Interrupt(ctx); err != nil {
		t.Errorf("Interrupt without a turn: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after(o, s)
	for _, call := range server.Sessions()[0].Calls() {
		if call.Method == "turn/start" || call.Method == "thread/start" || strings.HasPrefix(call.Method, "config/") {
			o.line(call.Method, string(call.Params), nil)
		}
	}
	golden.Parts{"prompts": o.out.String()}.Check(t, "testdata/prompts.txt", *updateGolden)
}

// counted returns a function that returns true for the n-th result and later ones.
func counted(n int) func(event.Event) bool {
	return func(ev event.Event) bool {
		if _, ok := ev.(*event.ResultMessage); ok {
			n--
		}
		return n == 0
	}
}

// catalog writes the lists of a session.
func catalog(o *callLog, s *codexagent.Session) {
	ctx := o.t.Context()
	models, err := s.Models(ctx)
	o.line("models", models, err)
	status, err := s.MCPStatus(ctx)
	o.line("servers", status, err)
	for _, name := range []string{"", "a", "none"} {
		tools, err := s.MCPTools(ctx, name)
		o.line("tools of "+name, tools, err)
		o.line("reconnect "+name, nil, s.MCPReconnect(ctx, name))
		o.line("toggle "+name, nil, s.MCPToggle(ctx, name, true))
	}
	for _, list := range []func(context.Context) ([]agent.Entry, error){s.Commands, s.Agents} {
		entries, err := list(ctx)
		o.line("entries", entries, err)
	}
}

// after writes the results of calls after the end of a session.
func after(o *callLog, s *codexagent.Session) {
	ctx := o.t.Context()
	_, model := s.SetModel(ctx, "m")
	_, commands := s.Commands(ctx)
	_, agents := s.Agents(ctx)
	_, fork := s.Fork(ctx, "")
	_, interrupt := s.Interrupt(ctx)
	_, models := s.Models(ctx)
	_, servers := s.MCPStatus(ctx)
	for _, err := range []error{s.Send(ctx, agent.Input{UUID: "x", Text: "x"}), s.SetMode(ctx, "plan"), s.SetEffort(ctx, "low"), model, commands, agents, fork, interrupt, models, servers, s.MCPReconnect(ctx, "a"), s.Answer(ctx, "x", &agent.PermissionAnswer{})} {
		o.line("after the end", "nothing", err)
	}
}

// TestOpen_errors checks that the error of a failed open is one of package agent, and that no
// server process is left.
func TestOpen_errors(t *testing.T) {
	refuse := func(method string) *codextest.Server {
		return &codextest.Server{Handle: func(_ *codextest.Session, c *item.Call) (any, error, bool) {
			return nil, &jsonrpc.Error{Code: -32600, Message: "no rollout found for it"}, c.Method == method
		}}
	}
	ctx := t.Context()
	o := &callLog{t: t}
	for _, c := range []struct {
		name, method string
		opts         agent.Options
		resume       bool
	}{
		{"id", "", agent.Options{ID: "x"}, false}, {"mode", "", agent.Options{Mode: "wild"}, false}, {"bypass", "", agent.Options{Mode: "bypassPermissions"}, false}, {"allowed bypass", "", agent.Options{Mode: "bypassPermissions", AllowBypass: true}, false},
		{"policy", "", agent.Options{Mode: "never"}, false}, {"effort", "", agent.Options{Effort: "wild"}, false}, {"start", "thread/start", agent.Options{}, false}, {"handshake", "initialize", agent.Options{}, false},
		{"resume", "thread/resume", agent.Options{}, true}, {"resumed", "", agent.Options{}, true}, {"fork", "thread/fork", agent.Options{Fork: true}, true}, {"forked", "", agent.Options{Fork: true}, true}, {"fork of nothing", "", agent.Options{Fork: true, At: "m"}, true},
	} {
		server := refuse(c.method)
		p := scripted(t, server)
		open := func() (agent.Session, error) { return p.Open(ctx, c.opts) }
		if c.resume {
			open = func() (agent.Session, error) { return p.Resume(ctx, "old", c.opts) }
		}
		s, err := open()
		id := ""
		if err == nil {
			id = s.ID()
			if err := s.Close(); err != nil {
				t.Errorf("%s: Close: %v", c.name, err)
			}
		}
		o.line(c.name, id, err)
		if err := p.Close(); err != nil {
			t.Errorf("%s: a server is left: %v", c.name, err)
		}
	}
	golden.Parts{"open": o.out.String()}.Check(t, "testdata/open.txt", *updateGolden)
}
