package codex_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
	"github.com/seed7221b0f9/parley/mcptool"
)

func TestLive_resume(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		w.api.Reply(codextest.Say("Remember me."), codextest.Say("I do."))
		th := w.thread(nil)
		w.run(th, "First prompt")
		if err := w.client.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.client.Wait(t.Context()); !errors.Is(err, codex.ErrClosed) {
			t.Errorf("Wait after Close: %v", err)
		}
		w.connect()
		again, err := w.client.ResumeThread(t.Context(), th.ID(), nil)
		if err != nil {
			t.Fatal(err)
		}
		turns := again.Info().Thread.Turns
		if len(turns) != 1 || len(items[*item.AgentMessage](turns[0].Items)) != 1 {
			t.Errorf("turns %+v", turns)
		}
		w.run(again, "Second prompt")
		last := w.api.Requests()[1]
		if !strings.Contains(string(last.Body), "First prompt") {
			t.Error("the model does not see the first prompt")
		}
		if _, err := w.client.ResumeThread(t.Context(), "01a1de96-0000-79b3-b3ce-4f17e9138957", nil); !errors.Is(err, codex.ErrNoThread) {
			t.Errorf("a thread that does not exist: %v", err)
		}
		if err := w.client.Close(); err != nil {
			t.Fatal(err)
		}
		w.connect()
		files, err := filepath.Glob(filepath.Join(w.home.Codex, "sessions", "*", "*", "*", "*"+th.ID()+"*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("files %q, %v, want one", files, err)
		}
		for name, text := range map[string]string{"empty": "", "damaged": "\x00\xff\n"} {
			if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := w.client.ResumeThread(t.Context(), th.ID(), nil); !errors.Is(err, codex.ErrNoThread) {
				t.Errorf("a thread with a file that is %s: %v, want %v", name, err, codex.ErrNoThread)
			}
		}
	})
}

func TestLive_fork(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		w.api.Reply(codextest.Say("One."), codextest.Say("Two."), codextest.Say("Forked."), codextest.Say("Three."))
		th := w.thread(nil)
		first := w.run(th, "alpha-prompt")
		w.run(th, "beta-prompt")
		fork, err := th.Fork(t.Context(), first.TurnID, nil)
		if err != nil {
			t.Fatal(err)
		}
		if turns := fork.Info().Thread.Turns; fork.ID() == th.ID() || len(turns) != 1 {
			t.Errorf("%d turns in the fork %s", len(turns), fork.ID())
		}
		if r := w.run(fork, "other"); r.Text != "Forked." {
			t.Errorf("the fork says %q", r.Text)
		}
		if body := string(w.api.Requests()[2].Body); !strings.Contains(body, "alpha-prompt") || strings.Contains(body, "beta-prompt") {
			t.Error("the fork does not begin with the first turn alone")
		}
		if r := w.run(th, "third"); r.Text != "Three." {
			t.Errorf("the thread goes on with %q", r.Text)
		}
	})
}

func TestLive_forkAndRevert(t *testing.T) {
	w := live(t, codexcli.Newer, nil)
	w.api.Reply(codextest.Say("One."), codextest.Say("Two."), codextest.Say("Fork."), codextest.Say("Reverted."))
	th := w.thread(nil)
	first := w.run(th, "prompt one")
	second := w.run(th, "prompt two")
	fork, err := th.Fork(t.Context(), first.TurnID, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fork.ID() == th.ID() || fork.Info().Thread.ForkedFromID != th.ID() {
		t.Errorf("fork %+v", fork.Info().Thread)
	}
	w.run(fork, "prompt fork")
	if body := string(w.api.Requests()[2].Body); !strings.Contains(body, "prompt one") || strings.Contains(body, "prompt two") {
		t.Error("the fork does not end after its turn")
	}
	left, err := th.Revert(t.Context(), second.TurnID)
	if err != nil || len(left.Turns) > 1 {
		t.Fatalf("%+v, %v; want err == nil and len(left.Turns) <= 1", left, err)
	}
	w.run(th, "prompt three")
	if body := string(w.api.Requests()[3].Body); !strings.Contains(body, "prompt one") || strings.Contains(body, "prompt two") {
		t.Error("the reverted turn is still there")
	}
}

func TestLive_revert_unsupported(t *testing.T) {
	w := live(t, codexcli.Older, nil)
	w.api.Reply(codextest.Say("One."))
	th := w.thread(nil)
	r := w.run(th, "prompt one")
	if _, err := th.Revert(t.Context(), r.TurnID); !errors.Is(err, codex.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestLive_compact(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		w.api.Reply(codextest.Say("First."), codextest.Say("SUMMARY of it."), codextest.Say("After."))
		th := w.thread(nil)
		w.run(th, "one")
		turn, err := th.Compact(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		r, err := turn.Wait(t.Context())
		if err != nil || len(items[*item.ContextCompaction](r.Items)) != 1 {
			t.Fatalf("%+v, %v; want err == nil and len(items[*item.ContextCompaction](r.Items)) == 1", r, err)
		}
		if r := w.run(th, "two"); r.Text != "After." {
			t.Errorf("text %q", r.Text)
		}
		if body := string(w.api.Requests()[2].Body); !strings.Contains(body, "SUMMARY of it.") {
			t.Error("the model does not see the summary")
		}
	})
}

func TestLive_review(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		w.api.Reply(codextest.Say(`{"findings":[],"overall_correctness":"patch is correct","overall_explanation":"Fine.","overall_confidence_score":0.8}`))
		th := w.thread(nil)
		turn, err := th.Review(t.Context(), codex.ReviewTarget{Type: "custom", Instructions: "Look at it"})
		if err != nil {
			t.Fatal(err)
		}
		b := balance{}
		for n, err := range turn.Notifications(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			b.see(n)
		}
		b.check(t)
		r, err := turn.Wait(t.Context())
		if err != nil || len(items[*item.EnteredReviewMode](r.Items)) != 1 || len(items[*item.ExitedReviewMode](r.Items)) != 1 {
			t.Errorf("%+v, %v; want err == nil and len(items[*item.EnteredReviewMode](r.Items)) == 1 and len(items[*item.ExitedReviewMode](r.Items)) == 1", r, err)
		}
		if th.Active() != nil {
			t.Error("a turn is still active")
		}
	})
}

// mcpConfig returns a configuration with the test program as an MCP server.
func mcpConfig(t *testing.T) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("[mcp_servers.probe]\ncommand = %q\nargs = [\"-test.run=^$\"]\nenv = { %s = \"1\", GORACE = \"atexit_sleep_ms=0\" }\n", self, serveVariable)
}

func TestLive_mcp(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := liveConfig(t, version, mcpConfig(t), func(w *world) { w.decide(codex.Accept) })
		w.api.Reply(codextest.Calls(codextest.Call("call_1", "mcp__probe", "echo", map[string]any{"text": "hi"})),
			codextest.Calls(codextest.Call("call_2", "mcp__probe", "write_note", map[string]any{"text": "it"})), codextest.Say("Done."))
		r := w.run(w.thread(nil), "use it")
		calls := items[*item.MCPToolCall](r.Items)
		if len(calls) != 2 || calls[0].Server != "probe" || calls[0].Tool != "echo" || !strings.Contains(string(calls[0].Result.Content[0]), "echo hi") ||
			!strings.Contains(string(calls[1].Result.Content[0]), "wrote it") {
			t.Fatalf("calls %+v", calls)
		}
		// The writing tool needs a permission, not an answer to a question.
		a := w.asked()
		if len(a) != 1 || a[0].Kind != codex.ApproveMCPTool || a[0].Server != "probe" || !strings.Contains(string(a[0].Arguments), `"it"`) {
			t.Errorf("approvals %+v", a)
		}
		servers, err := w.client.MCPServers(t.Context())
		if err != nil || len(servers) != 1 || servers[0].Name != "probe" || len(servers[0].Tools) != 3 {
			t.Errorf("servers %+v, %v", servers, err)
		}
		if err := w.client.ReloadMCPServers(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestLive_mcpDeclined(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := liveConfig(t, version, mcpConfig(t), func(w *world) {
			w.opts.Elicit = func(context.Context, *item.ElicitationRequest) (codex.Elicitation, error) {
				t.Error("an approval was shown as a question")
				return codex.Elicitation{Action: "accept"}, nil
			}
		})
		w.api.Reply(codextest.Calls(codextest.Call("call_1", "mcp__probe", "write_note", map[string]any{"text": "it"})), codextest.Say("Done."))
		r := w.run(w.thread(nil), "use it")
		calls := items[*item.MCPToolCall](r.Items)
		if len(calls) != 1 || calls[0].Status != item.StatusFailed || calls[0].Result != nil && strings.Contains(string(calls[0].Result.Content[0]), "wrote") {
			t.Errorf("calls %+v", calls)
		}
	})
}

func TestLive_elicitation(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := liveConfig(t, version, mcpConfig(t), func(w *world) {
			w.opts.Elicit = func(_ context.Context, e *item.ElicitationRequest) (codex.Elicitation, error) {
				if e.ServerName != "probe" || e.Message != "Which colour?" {
					t.Errorf("asked %+v", e)
				}
				return codex.Elicitation{Action: "accept", Content: `{"colour":"blue"}`}, nil
			}
		})
		w.api.Reply(codextest.Calls(codextest.Call("call_1", "mcp__probe", "ask", map[string]any{})), codextest.Say("Done."))
		r := w.run(w.thread(nil), "use it")
		calls := items[*item.MCPToolCall](r.Items)
		if len(calls) != 1 || calls[0].Result == nil || !strings.Contains(string(calls[0].Result.Content[0]), "accept blue") {
			t.Errorf("calls %+v", calls)
		}
	})
}

func TestLive_dynamicTool(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) { w.opts.Experimental = true })
		w.api.Reply(codextest.Calls(codextest.Call("call_1", "", "lookup", map[string]any{"id": "A-1"})),
			codextest.Calls(codextest.Call("call_2", "", "lookup", map[string]any{"id": "A-2"})), codextest.Say("Done."))
		type ticket struct {
			ID string `json:"id"`
		}
		th := w.thread(&codex.ThreadOptions{Tools: []mcptool.Tool{
			mcptool.NewTool("lookup", "Looks a ticket up.", func(ctx context.Context, in ticket) (any, error) {
				if in.ID == "A-1" && mcptool.CallInfo(ctx).ToolUseID == "call_1" {
					return "open", nil
				}
				panic("no such ticket")
			}),
		}})
		r := w.run(th, "look")
		calls := items[*item.DynamicToolCall](r.Items)
		if len(calls) != 2 || !*calls[0].Success || *calls[0].ContentItems[0].Text != "open" || *calls[1].Success || !strings.Contains(*calls[1].ContentItems[0].Text, "no such ticket") {
			t.Errorf("calls %+v", calls)
		}
	})
}

func TestLive_dynamicTool_experimental(t *testing.T) {
	w := live(t, codexcli.Newer, nil)
	tool := mcptool.NewTool("x", "", func(context.Context, struct{}) (string, error) { return "", nil })
	if _, err := w.client.StartThread(t.Context(), &codex.ThreadOptions{Tools: []mcptool.Tool{tool}}); !errors.Is(err, codex.ErrExperimental) {
		t.Errorf("tools without the experimental API: %v", err)
	}
}

func TestLive_plan(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := liveConfig(t, version, "[tools.update_plan]\nenabled = true\n", nil)
		plan := func(a, b string) codextest.Reply {
			return codextest.Calls(codextest.Call("call_"+a, "", "update_plan", map[string]any{"explanation": "Steps", "plan": []any{
				map[string]any{"step": "look", "status": a}, map[string]any{"step": "fix", "status": b},
			}}))
		}
		w.api.Reply(plan("in_progress", "pending"), plan("completed", "in_progress"), codextest.Say("Done."))
		r := w.run(w.thread(nil), "plan it")
		if got := fmt.Sprint(r.Plan); got != "[{look completed} {fix inProgress}]" {
			t.Errorf("plan %s", got)
		}
	})
}

func TestLive_userInput(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) {
			w.opts.Experimental = true
			w.opts.Ask = func(_ context.Context, q *item.UserInputRequest) (map[string][]string, error) {
				return map[string][]string{q.Questions[0].ID: {q.Questions[0].Options[1].Label}}, nil
			}
		})
		w.api.Reply(codextest.Calls(codextest.Call("call_1", "", "request_user_input", map[string]any{"questions": []any{map[string]any{
			"id": "colour", "header": "Colour", "question": "Which colour?",
			"options": []any{map[string]any{"label": "Red", "description": "r"}, map[string]any{"label": "Blue", "description": "b"}},
		}}})), codextest.Say("Blue it is."))
		th := w.thread(nil)
		turn, err := th.Send(t.Context(), &codex.Prompt{Input: codex.Text("ask").Input, Extra: map[string]any{"collaborationMode": map[string]any{
			"mode": "plan", "settings": map[string]any{"model": codextest.Model, "reasoning_effort": "medium", "developer_instructions": nil},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := turn.Wait(t.Context()); err != nil || r.Text != "Blue it is." {
			t.Fatalf("%+v, %v; want err == nil and r.Text == \"Blue it is.\"", r, err)
		}
		if body := string(w.api.Requests()[1].Body); !strings.Contains(body, "Blue") {
			t.Error("the model does not see the answer")
		}
	})
}

func TestLive_permissions(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) {
			w.opts.Config = map[string]any{"features.request_permissions_tool": true}
			w.decide(codex.Accept)
		})
		w.api.Reply(codextest.Calls(codextest.Call("call_1", "", "request_permissions", map[string]any{"reason": "need it", "permissions": map[string]any{"network": map[string]any{"enabled": true}}})), codextest.Say("Done."))
		w.run(w.thread(nil), "ask")
		a := w.asked()
		if len(a) != 1 || a[0].Kind != codex.ApprovePermissions || !strings.Contains(string(a[0].Permissions), `"enabled":true`) {
			t.Fatalf("approvals %+v", a)
		}
		if body := string(w.api.Requests()[1].Body); !strings.Contains(body, "enabled") {
			t.Error("the model does not see what was granted")
		}
	})
}

// again returns a message that the model repeats for every request: a parent sends one more request if
// its child ends after the parent's last message.
func again(text string) codextest.Reply {
	r := codextest.Say(text)
	r.Repeat = true
	return r
}

func TestLive_subagent(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		w.api.Reply(codextest.Calls(codextest.SearchTools("call_s", "spawn agent")),
			codextest.Calls(codextest.Call("call_1", "multi_agent_v1", "spawn_agent", map[string]any{"message": "CHILD-TASK please", "agent_type": "default"})),
			codextest.Calls(codextest.Call("call_w", "multi_agent_v1", "wait_agent", map[string]any{"targets": []string{}, "timeout_ms": 10000})), again("Done."))
		w.api.ReplyToSubagents(again("Child is done."))
		th := w.thread(nil)
		children := map[string]int{}
		var order []string
		for n, err := range th.Query(t.Context(), "delegate") {
			if err != nil {
				t.Fatal(err)
			}
			if id := item.ThreadOf(n); id != "" && id != th.ID() {
				children[id]++
				order = append(order, item.Method(n))
				if o, ok := w.client.Origin(id); !ok || o.ThreadID != th.ID() || o.ItemID != "call_1" {
					t.Errorf("origin %+v %v", o, ok)
				}
			}
		}
		if len(children) != 1 {
			t.Fatalf("children %v", children)
		}
		if first := order[0]; first != "thread/status/changed" && first != "turn/started" && first != "thread/started" {
			t.Errorf("the child's first notification is %s of %v", first, order)
		}
	})
}

// TestLive_subagentV2 uses the second kind of subagents: the parent names the child before it starts.
func TestLive_subagentV2(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) { w.opts.Config = map[string]any{"features.multi_agent_v2": true} })
		w.api.Reply(codextest.Calls(codextest.Call("call_1", "collaboration", "spawn_agent", map[string]any{"message": "CHILD-TASK please", "task_name": "child"})),
			codextest.Calls(codextest.Call("call_w", "collaboration", "wait_agent", map[string]any{"timeout_ms": 10000})), again("Done."))
		w.api.ReplyToSubagents(again("Child is done."))
		th := w.thread(nil)
		named, said := "", ""
		b := balance{}
		for n, err := range th.Query(t.Context(), "delegate") {
			if err != nil {
				t.Fatal(err)
			}
			if version == codexcli.Newer { // the older version completes the activity without its start
				b.see(n)
			}
			id := item.ThreadOf(n)
			if done, ok := n.(*item.ItemCompleted); ok {
				if a, ok := done.Item.(*item.SubAgentActivity); ok && a.Kind == "started" {
					named = a.AgentThreadID
				}
				if m, ok := done.Item.(*item.AgentMessage); ok && id != th.ID() {
					said += m.Text
				}
			}
			if id == "" || id == th.ID() {
				continue
			}
			if o, ok := w.client.Origin(id); !ok || o.ThreadID != th.ID() || o.ItemID != "call_1" {
				t.Errorf("the origin of %s is %+v, %v", id, o, ok)
			}
		}
		b.check(t)
		if named == "" || said != "Child is done." {
			t.Errorf("the child %q said %q", named, said)
		}
	})
}

// TestLive_killAndResume kills the server during a turn: the turn ends with the exit, the approval
// never allows, and the thread can be resumed with its complete items.
func TestLive_killAndResume(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		asked := make(chan struct{})
		w := live(t, version, func(w *world) {
			w.opts.Approve = func(ctx context.Context, _ *codex.Approval) (codex.Decision, error) {
				close(asked)
				<-ctx.Done()
				return codex.Accept, nil
			}
		})
		w.api.Reply(codextest.Say("Kept."), codextest.Calls(codextest.EscalatedCommand("call_1", "touch ran", "May I?")), codextest.Say("Back."))
		th := w.thread(nil)
		w.run(th, "one")
		turn, err := th.Send(t.Context(), codex.Text("two"))
		if err != nil {
			t.Fatal(err)
		}
		queued, err := th.Send(t.Context(), codex.Text("three"))
		if err != nil {
			t.Fatal(err)
		}
		<-asked
		p, err := os.FindProcess(w.client.PID())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		b := balance{}
		var last error
		for n, err := range turn.Notifications(t.Context()) {
			if err != nil {
				last = err
				continue
			}
			b.see(n)
		}
		b.check(t)
		if e, ok := errors.AsType[*codex.ExitError](last); !ok || e.Signal != "SIGKILL" {
			t.Errorf("the turn ended with %v", last)
		}
		if _, err := queued.Wait(t.Context()); err == nil {
			t.Error("the queued prompt ended well")
		}
		if _, err := th.Send(t.Context(), codex.Text("four")); err == nil {
			t.Error("a dead server took a prompt")
		}
		if w.read("ran") != "" {
			t.Error("the command ran")
		}
		w.connect()
		again, err := w.client.ResumeThread(t.Context(), th.ID(), nil)
		if err != nil {
			t.Fatal(err)
		}
		turns := again.Info().Thread.Turns
		if len(turns) != 2 || turns[0].Status != item.StatusCompleted || turns[1].Status != item.StatusInterrupted {
			t.Errorf("turns %+v", turns)
		}
		if r := w.run(again, "go on"); r.Text != "Back." {
			t.Errorf("text %q", r.Text)
		}
	})
}

// TestLive_background checks that a listener of the thread sees a command that outlives its turn.
func TestLive_background(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) { w.decide(codex.Accept) })
		w.api.Reply(codextest.Calls(codextest.Call("call_1", "", "exec_command", map[string]any{
			"cmd": "echo first; while [ ! -e go ]; do sleep 0.05; done; echo last", "yield_time_ms": 300, "sandbox_permissions": "require_escalated", "justification": "May I?",
		})), codextest.Say("It runs."))
		th := w.thread(nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		all := th.Notifications(ctx)
		r := w.run(th, "start it")
		if n := len(items[*item.CommandExecution](r.Items)); n != 0 {
			t.Errorf("%d commands have ended with the turn", n)
		}
		w.write("go", "")
		var done *item.CommandExecution
		over := false
		for n, err := range all {
			if err != nil {
				t.Fatal(err)
			}
			switch n := n.(type) {
			case *item.TurnCompleted:
				over = true
			case *item.ItemCompleted:
				if c, ok := n.Item.(*item.CommandExecution); ok {
					done = c
				}
			}
			if done != nil {
				break
			}
		}
		if !over || done == nil || !strings.Contains(*done.AggregatedOutput, "last") {
			t.Errorf("over %v, command %+v", over, done)
		}
	})
}

func TestLive_catalog(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		w.api.Reply(codextest.Say("Hi."))
		models, err := w.client.Models(t.Context(), true)
		if err != nil || len(models) == 0 || models[0].ID == "" {
			t.Errorf("models %+v, %v", models, err)
		}
		config, err := w.client.Config(t.Context(), "")
		if err != nil || !strings.Contains(string(config), codextest.Model) {
			t.Errorf("config %s, %v", config, err)
		}
		if err := w.client.WriteConfig(t.Context(), "model_verbosity", "low"); err != nil {
			t.Error(err)
		}
		th := w.thread(nil)
		w.run(th, "hello")
		if err := th.SetName(t.Context(), "My thread"); err != nil {
			t.Error(err)
		}
		list, err := collect(w.client.Threads(t.Context(), codex.ListOptions{PageSize: 1}))
		if err != nil || len(list) != 1 || list[0].ID != th.ID() || list[0].Name != "My thread" {
			t.Errorf("threads %+v, %v", list, err)
		}
		read, err := w.client.ReadThread(t.Context(), th.ID(), true)
		if err != nil || len(read.Turns) != 1 {
			t.Errorf("thread %+v, %v", read, err)
		}
		if err := w.client.Call(t.Context(), "no/such", nil, nil); !errors.Is(err, codex.ErrUnsupported) {
			t.Errorf("an unknown method: %v", err)
		}
		if err := w.client.Call(t.Context(), "thread/read", map[string]any{}, nil); !errors.Is(err, codex.ErrInvalid) {
			t.Errorf("a missing member: %v", err)
		}
		for _, f := range []func(context.Context, string) error{w.client.ArchiveThread, w.client.UnarchiveThread, w.client.DeleteThread} {
			if err := f(t.Context(), th.ID()); err != nil {
				t.Error(err)
			}
		}
	})
}

func collect[T any](seq func(func(T, error) bool)) (list []T, err error) {
	for v, e := range seq {
		if e != nil {
			return list, e
		}
		list = append(list, v)
	}
	return list, nil
}

// TestLive_closeMidTurn checks that Close leaves no process of the server, also during a turn with a running command.
func TestLive_closeMidTurn(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) { w.decide(codex.Accept) })
		mark := "600." + strings.ReplaceAll(version, ".", "") + fmt.Sprint(os.Getpid()) // two versions run concurrently
		w.api.Reply(codextest.Calls(codextest.EscalatedCommand("call_1", "sleep "+mark+" & while sleep 0.1; do echo begun; done", "May I?")))
		th := w.thread(nil)
		closing := false
		for n, err := range th.Query(t.Context(), "Sleep") {
			if err != nil {
				if !errors.Is(err, codex.ErrClosed) {
					t.Errorf("the turn ended with %v", err)
				}
				break
			}
			if d, ok := n.(*item.CommandOutputDelta); ok && strings.Contains(d.Delta, "begun") && !closing {
				if runtime.GOOS == "linux" && len(processes(t, mark)) == 0 {
					t.Error("the command does not run")
				}
				closing = true // output that comes later may be of a command that has ended
				go w.client.Close()
			}
		}
		if !closing {
			t.Error("the turn ended before the command wrote")
		}
		if err := w.client.Close(); err != nil {
			t.Error(err)
		}
		if left := processes(t, mark); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// processes returns the command lines that contain a text, on Linux.
func processes(t *testing.T, text string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || runtime.GOOS == "linux" && len(files) == 0 {
		t.Fatalf("no processes at all: %v", err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), text) {
			found = append(found, string(b))
		}
	}
	return found
}
