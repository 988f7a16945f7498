package e2e_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/hook"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

var (
	touchFile = claudetest.Use("Bash", map[string]string{"command": "touch f1", "description": "run it"})
	question  = map[string]any{"questions": []any{
		map[string]any{"question": "Which colour?", "header": "Colour", "multiSelect": true, "options": []any{
			map[string]string{"label": "Red", "description": "r"}, map[string]string{"label": "Blue", "description": "b"}}},
		map[string]any{"question": "Why?", "header": "Reason", "multiSelect": false, "options": []any{
			map[string]string{"label": "Taste", "description": "t"}, map[string]string{"label": "Habit", "description": "h"}}},
	}}
)

// exists reports whether a file is in the working directory.
func (w *world) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

// asking makes the world's CLI ask for permission and records the requests.
func (w *world) asking(answer func(ctx context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error)) func() []*claude.PermissionRequest {
	var mu sync.Mutex
	var asked []*claude.PermissionRequest
	w.opts.CanUseTool = func(ctx context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		mu.Lock()
		asked = append(asked, p)
		mu.Unlock()
		return answer(ctx, p)
	}
	return func() []*claude.PermissionRequest {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asked)
	}
}

func always(r claude.PermissionResult, err error) func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) {
	return func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) { return r, err }
}

// toolResults returns the texts of all results of tools.
func (t talk) toolResults() string {
	var b strings.Builder
	for _, m := range of[*message.User](t.messages) {
		b.Write(m.Raw())
	}
	return b.String()
}

func TestPermissionDecides(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		answer func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error)
		file   string // that exists afterwards
		says   string // part of the text for the model
	}{
		{"allow", always(&claude.Allow{}, nil), "f1", `"is_error":false`},
		{"allow another input", always(&claude.Allow{UpdatedInput: `{"command":"touch f2","description":"run it"}`}, nil), "f2", `"is_error":false`},
		{"deny", always(&claude.Deny{Message: "not today"}, nil), "", "not today"},
		{"deny without a word", always(&claude.Deny{}, nil), "", "Permission to use this tool was denied."},
		{"error", always(nil, errors.New("callback boom")), "", "callback boom"},
		{"nil", always(nil, nil), "", "gave no answer"},
		{"nil allow", always((*claude.Allow)(nil), nil), "", "gave no answer"},
		{"null input", always(&claude.Allow{UpdatedInput: "null"}, nil), "", "is not a JSON object"},
		{"panic", func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) { panic("boom") }, "", "panicked: boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, touchFile, claudetest.Say("done"), claudetest.Say("alive"))
			asked := w.asking(tt.answer)
			c := w.connect()
			talk := collect(c.Query(t.Context(), "go"))
			if r := talk.one(t); r.IsError || len(asked()) != 1 {
				t.Fatalf("%+v, asked %d times", r, len(asked()))
			}
			p := asked()[0]
			if p.ToolName != "Bash" || p.ToolUseID == "" || p.RequestID == "" || p.Description != "run it" || len(p.Suggestions) == 0 || p.BlockedPath != filepath.Join(w.dir, "f1") {
				t.Errorf("%s; want p.ToolName == \"Bash\" and p.ToolUseID != \"\" and p.RequestID != \"\" and p.Description == \"run it\" and len(p.Suggestions) != 0 and p.BlockedPath == filepath.Join(w.dir, \"f1\")", p.Raw())
			}
			if in, err := tool.Decode(p); err != nil || in.(*tool.BashInput).Command != "touch f1" {
				t.Errorf("%v, %v; want err == nil and in.(*tool.BashInput).Command == \"touch f1\"", in, err)
			}
			for _, f := range []string{"f1", "f2"} {
				if w.exists(f) != (f == tt.file) {
					t.Errorf("%s exists: %t", f, w.exists(f))
				}
			}
			if got := talk.toolResults(); !strings.Contains(got, tt.says) {
				t.Errorf("no %q in %s", tt.says, got)
			}
			if r := collect(c.Query(t.Context(), "again")).one(t); r.Result != "alive" {
				t.Errorf("%+v; want r.Result == \"alive\"", r)
			}
		})
	}
}

// A refusal that interrupts ends the turn.
func TestPermissionInterrupts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, touchFile, claudetest.Say("next"))
	w.asking(always(&claude.Deny{Message: "stop", Interrupt: true}, nil))
	c := w.connect()
	if r := collect(c.Query(t.Context(), "go")).one(t); !r.IsError || r.TerminalReason != "aborted_tools" || w.exists("f1") {
		t.Errorf("%+v; want r.IsError and r.TerminalReason == \"aborted_tools\" and not w.exists(\"f1\")", r)
	}
	if r := collect(c.Query(t.Context(), "go on")).one(t); r.Result != "next" {
		t.Errorf("%+v; want r.Result == \"next\"", r)
	}
}

// After accepting the suggestions the CLI does not ask again.
func TestPermissionSuggestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, touchFile, touchFile, claudetest.Say("done"))
	asked := w.asking(func(_ context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		return &claude.Allow{UpdatedPermissions: p.Suggestions, Classification: claude.ClassifiedPermanent}, nil
	})
	collect(claude.Query(t.Context(), "go", w.opts)).one(t)
	if len(asked()) != 1 || !strings.Contains(w.read(".claude/settings.local.json"), "touch f1") {
		t.Errorf("asked %d times", len(asked()))
	}
}

// The CLI accepts each kind of update for each destination.
func TestPermissionUpdates(t *testing.T) {
	t.Parallel()
	rules := []message.PermissionRule{{ToolName: "WebSearch"}, {ToolName: "Bash", RuleContent: "ls:*"}}
	for _, to := range []message.PermissionDestination{message.DestinationUserSettings, message.DestinationProjectSettings, message.DestinationLocalSettings, message.DestinationSession, message.DestinationCLIArg} {
		t.Run(string(to), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, touchFile, claudetest.Say("done"))
			w.asking(always(&claude.Allow{UpdatedPermissions: []message.PermissionUpdate{
				{Type: message.UpdateAddRules, Rules: rules, Behavior: message.BehaviorAsk, Destination: to},
				{Type: message.UpdateReplaceRules, Rules: rules[:1], Behavior: message.BehaviorDeny, Destination: to},
				{Type: message.UpdateRemoveRules, Rules: rules[:1], Behavior: message.BehaviorAllow, Destination: to},
				{Type: message.UpdateAddRules, Behavior: message.BehaviorAllow, Destination: to},
				{Type: message.UpdateAddDirectories, Directories: []string{w.dir}, Destination: to},
				{Type: message.UpdateRemoveDirectories, Destination: to},
				{Type: message.UpdateSetMode, Mode: message.ModeAcceptEdits, Destination: to},
			}}, nil))
			if talk := collect(claude.Query(t.Context(), "go", w.opts)); !w.exists("f1") {
				t.Errorf("%s; want w.exists(\"f1\")", talk.toolResults())
			}
		})
	}
}

// A request can be answered later, once.
func TestPermissionAnswerLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, touchFile, claudetest.Say("done"))
	asked := make(chan string, 1)
	w.asking(func(_ context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		asked <- p.RequestID
		return nil, claude.ErrAnswerLater
	})
	c := w.connect()
	turn := ok[*claude.Turn](t)(c.Send(t.Context(), claude.Text("go")))
	id := <-asked
	if err := c.AnswerPermission(t.Context(), id, &claude.Allow{}); err != nil {
		t.Fatal(err)
	}
	if err := c.AnswerPermission(t.Context(), id, &claude.Deny{}); !errors.Is(err, claude.ErrNotOpen) {
		t.Error(err)
	}
	if _, err := turn.Wait(t.Context()); err != nil || !w.exists("f1") {
		t.Error(err)
	}
}

// An interrupt cancels the callback's context and the request.
func TestPermissionPendingInterrupt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, touchFile, claudetest.Say("next"))
	asked, ended := make(chan string, 1), make(chan error, 1)
	w.asking(func(ctx context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		asked <- p.RequestID
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return &claude.Allow{}, nil
	})
	c := w.connect()
	turn := ok[*claude.Turn](t)(c.Send(t.Context(), claude.Text("go")))
	id := <-asked
	ok[*claude.InterruptReceipt](t)(c.Interrupt(t.Context()))
	if err := <-ended; err == nil {
		t.Error("no cause")
	}
	_, _ = turn.Wait(t.Context()) // fails, as it was interrupted
	if err := c.AnswerPermission(t.Context(), id, &claude.Allow{}); !errors.Is(err, claude.ErrNotOpen) || w.exists("f1") {
		t.Error(err)
	}
	if r := collect(c.Query(t.Context(), "go on")).one(t); r.Result != "next" {
		t.Errorf("%+v; want r.Result == \"next\"", r)
	}
}

// A question reaches its callback, regardless of allow rules and of the mode, except that the CLI denies it in the mode dontAsk. An
// Allow is not an answer.
func TestQuestionIsNeverAnsweredForTheUser(t *testing.T) {
	t.Parallel()
	modes := map[string]func(o *claude.Options){
		"allowed": func(o *claude.Options) { o.AllowedTools = []string{"AskUserQuestion"} },
		"star":    func(o *claude.Options) { o.AllowedTools = []string{"*"} },
	}
	for _, mode := range []message.PermissionMode{message.ModeDefault, message.ModeAcceptEdits, message.ModeBypassPermissions, message.ModePlan, message.ModeDontAsk, message.ModeAuto} {
		modes[string(mode)] = func(o *claude.Options) {
			o.PermissionMode = mode
			o.AllowDangerouslySkipPermissions = mode == message.ModeBypassPermissions
			o.Env["IS_SANDBOX"] = "1" // the tests may run as root
		}
	}
	for name, set := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, claudetest.Use("AskUserQuestion", question), claudetest.Say("done"))
			asked := w.asking(always(&claude.Allow{}, nil))
			set(w.opts)
			talk := collect(claude.Query(t.Context(), "go", w.opts))
			if name == string(message.ModeDontAsk) {
				if len(asked()) != 0 || !strings.Contains(talk.toolResults(), "has been denied") {
					t.Errorf("asked %d times, want none and a denial: %s", len(asked()), talk.toolResults())
				}
				return
			}
			if len(asked()) != 1 || !asked()[0].RequiresUserInteraction || !strings.Contains(talk.toolResults(), "The user was not asked") {
				t.Errorf("asked %d times: %s", len(asked()), talk.toolResults())
			}

			w = newWorld(t, claudetest.Use("AskUserQuestion", question), claudetest.Say("done"))
			w.opts.OnQuestion = answerQuestions
			set(w.opts)
			talk = collect(claude.Query(t.Context(), "go", w.opts))
			results := of[*message.User](talk.messages)
			if len(results) != 1 {
				t.Fatalf("%v; want len(results) == 1", talk.kinds())
			}
			got, err := tool.DecodeResultOf(results[0], tool.AskUserQuestion)
			r, isAnswer := got.(*tool.AskUserQuestionResult)
			if err != nil || !isAnswer || r.Answers["Which colour?"] != "Red, Blue" || r.Annotations["Why?"].Unanswered != "skipped" {
				t.Errorf("%v: %s; want err == nil and isAnswer and r.Answers[\"Which colour?\"] == \"Red, Blue\" and r.Annotations[\"Why?\"].Unanswered == \"skipped\"", err, talk.toolResults())
			}
		})
	}
}

// answerQuestions takes all options of the first question and skips the second.
func answerQuestions(_ context.Context, q *claude.QuestionRequest) (*claude.QuestionAnswer, error) {
	var a claude.QuestionAnswer
	var labels []string
	for _, o := range q.Questions[0].Options {
		labels = append(labels, o.Label)
	}
	a.Choose(q.Questions[0].Question, labels...)
	a.Skip(q.Questions[1].Question)
	return &a, nil
}

func TestQuestionDeclined(t *testing.T) {
	t.Parallel()
	w := newWorld(t, claudetest.Use("AskUserQuestion", question), claudetest.Say("done"))
	w.opts.OnQuestion = func(context.Context, *claude.QuestionRequest) (*claude.QuestionAnswer, error) {
		return &claude.QuestionAnswer{Declined: true}, nil
	}
	if talk := collect(claude.Query(t.Context(), "go", w.opts)); !strings.Contains(talk.toolResults(), "The user declined to answer.") {
		t.Errorf("talk.toolResults() is %v; want strings.Contains(talk.toolResults(), \"The user declined to answer.\")", talk.toolResults())
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		decision claude.PlanDecision
		mode     message.PermissionMode // that the CLI changes to
		says     string
	}{
		{"approved", claude.PlanDecision{Approve: true}, message.ModeDefault, "approved"},
		{"edited", claude.PlanDecision{Approve: true, Plan: "another plan", Mode: message.ModeAcceptEdits}, message.ModeAcceptEdits, "another plan"},
		{"refused", claude.PlanDecision{Message: "think again"}, "", "think again"},
		{"refused without a word", claude.PlanDecision{}, "", "The plan was not approved."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, claudetest.Use("ExitPlanMode", map[string]any{}), claudetest.Say("done"))
			w.opts.PermissionMode = message.ModePlan
			w.opts.OnPlan = func(context.Context, *claude.PlanRequest) (*claude.PlanDecision, error) { return &tt.decision, nil }
			talk := collect(claude.Query(t.Context(), "go", w.opts))
			if !strings.Contains(talk.toolResults(), tt.says) {
				t.Errorf("%s; want strings.Contains(talk.toolResults(), tt.says)", talk.toolResults())
			}
			var mode message.PermissionMode
			for _, s := range of[*message.Status](talk.messages) {
				mode = s.PermissionMode
			}
			if mode != tt.mode {
				t.Errorf("mode %q", mode)
			}
		})
	}
}

func TestElicitation(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs(filepath.FromSlash("../../../testdata/wire-servers/stdio-mcp.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	node := nodePath(t)
	for _, tt := range []struct {
		name string
		opt  func(ctx context.Context, e *claude.ElicitationRequest) (*claude.ElicitationResult, error)
		says string
	}{
		{"accept", func(_ context.Context, e *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
			if e.MCPServerName != "ext" || e.Mode != message.ElicitationForm || !slices.Equal(e.PropertyOrder, []string{"name"}) {
				return nil, errors.New(string(e.Raw()))
			}
			return &claude.ElicitationResult{Action: message.ElicitationAccept, Content: map[string]any{"name": "Bo"}}, nil
		}, `Bo`},
		{"decline", func(context.Context, *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
			return &claude.ElicitationResult{Action: message.ElicitationDecline}, nil
		}, `decline`},
		{"cancel", func(context.Context, *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
			return &claude.ElicitationResult{Action: message.ElicitationCancel}, nil
		}, `cancel`},
		{"nobody", nil, `decline`},
		{"panic", func(context.Context, *claude.ElicitationRequest) (*claude.ElicitationResult, error) { panic("boom") }, `cancel`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, claudetest.Use("mcp__ext__ask", map[string]any{}), claudetest.Say("done"))
			w.opts.MCPServers = map[string]claude.MCPServer{"ext": {Command: node, Args: []string{script}}}
			w.opts.AllowedTools = []string{"mcp__ext__ask"}
			w.opts.OnElicitation = tt.opt
			if talk := collect(claude.Query(t.Context(), "go", w.opts)); !strings.Contains(talk.toolResults(), tt.says) {
				t.Errorf("no %s in %s", tt.says, talk.toolResults())
			}
		})
	}
}

// A server can send the user to a page.
func TestElicitationURL(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.FromSlash("../../../testdata/wire-servers/stdio-mcp.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	node := nodePath(t)
	w := newWorld(t, claudetest.Use("mcp__ext__ask", map[string]any{}), claudetest.Say("done"))
	form, rest, _ := strings.Cut(string(script), "params: { message:")
	_, rest, _ = strings.Cut(rest, "required: ['name'] } }")
	path := w.write("url-mcp.cjs", form+"params: { message: 'Log in', mode: 'url', url: 'https://example.com/in', elicitationId: 'e1' }"+rest)
	w.opts.MCPServers = map[string]claude.MCPServer{"ext": {Command: node, Args: []string{path}}}
	w.opts.AllowedTools = []string{"mcp__ext__ask"}
	asked := make(chan *claude.ElicitationRequest, 1)
	w.opts.OnElicitation = func(_ context.Context, e *claude.ElicitationRequest) (*claude.ElicitationResult, error) {
		asked <- e
		return &claude.ElicitationResult{Action: message.ElicitationAccept}, nil
	}
	talk := collect(claude.Query(t.Context(), "go", w.opts))
	if len(asked) != 1 {
		t.Fatalf("talk.toolResults() is %v; want len(asked) == 1", talk.toolResults())
	}
	if e := <-asked; e.Mode != message.ElicitationURL || e.URL != "https://example.com/in" || e.ElicitationID != "e1" || e.Message != "Log in" {
		t.Errorf("%s; want e.Mode == message.ElicitationURL and e.URL == \"https://example.com/in\" and e.ElicitationID == \"e1\" and e.Message == \"Log in\"", e.Raw())
	}
	if !strings.Contains(talk.toolResults(), `accept`) {
		t.Errorf("talk.toolResults() is %v; want strings.Contains(talk.toolResults(), `accept`)", talk.toolResults())
	}
}

// The deny of a PermissionRequest hook overrides an immediate allow, even if the hook is
// slow, and its message reaches the model.
func TestHookDenies(t *testing.T) {
	t.Parallel()
	for _, slow := range []time.Duration{0, 700 * time.Millisecond} {
		w := newWorld(t, touchFile, claudetest.Say("done"))
		w.asking(always(&claude.Allow{}, nil))
		w.opts.Hooks = &hook.Hooks{PermissionRequest: hook.On("Bash", func(ctx context.Context, _ *hook.PermissionRequestInput) (*hook.PermissionRequestOutput, error) {
			select {
			case <-time.After(slow):
			case <-ctx.Done():
			}
			return &hook.PermissionRequestOutput{Decision: &hook.PermissionRequestDecision{Behavior: hook.DecisionDeny, Message: "the hook says no"}}, nil
		})}
		got := collect(claude.Query(t.Context(), "touch it", w.opts))
		if got.err != nil || w.exists("f1") || !strings.Contains(got.toolResults(), "the hook says no") {
			t.Errorf("after %v: the file is there: %v, results %s, %v", slow, w.exists("f1"), got.toolResults(), got.err)
		}
	}
}
