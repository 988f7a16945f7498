package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/claude/tool"
)

const (
	bashAsk     = `{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch f","n":1.50},"tool_use_id":"toolu_1"}`
	questionAsk = `{"subtype":"can_use_tool","tool_name":"AskUserQuestion","requires_user_interaction":true,"tool_use_id":"toolu_1","input":{"future":1,"questions":[` +
		`{"question":"Which?","header":"H","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}],"multiSelect":true},` +
		`{"question":"Why?","header":"W","options":[{"label":"C","description":"c"},{"label":"D","description":"d"}],"multiSelect":false}]}}`
	questionInput = `"future":1,"questions":[` +
		`{"question":"Which?","header":"H","options":[{"label":"A","description":"a"},{"label":"B","description":"b"}],"multiSelect":true},` +
		`{"question":"Why?","header":"W","options":[{"label":"C","description":"c"},{"label":"D","description":"d"}],"multiSelect":false}]`
	planAsk   = `{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"old","planFilePath":"/p.md"},"tool_use_id":"toolu_1"}`
	formAsk   = `{"subtype":"elicitation","mcp_server_name":"ext","message":"Name?","mode":"form","requested_schema":{"type":"object"},"property_order":["name"]}`
	urlAsk    = `{"subtype":"elicitation","mcp_server_name":"ext","message":"Log in","mode":"url","url":"https://example.com","elicitation_id":"e1"}`
	dialogAsk = `{"subtype":"request_user_dialog","dialog_kind":"known","payload":{"a":1},"tool_use_id":"toolu_2"}`
)

// request returns a request of the CLI.
func request(id, body string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":%s}`, id, body)
}

func allowing(r claude.PermissionResult, err error) *claude.Options {
	return &claude.Options{CanUseTool: func(context.Context, *claude.PermissionRequest) (claude.PermissionResult, error) { return r, err }}
}

func questioned(a *claude.QuestionAnswer) *claude.Options {
	return &claude.Options{OnQuestion: func(context.Context, *claude.QuestionRequest) (*claude.QuestionAnswer, error) { return a, nil }}
}

func planned(d *claude.PlanDecision) *claude.Options {
	return &claude.Options{OnPlan: func(context.Context, *claude.PlanRequest) (*claude.PlanDecision, error) { return d, nil }}
}

func elicited(r *claude.ElicitationResult) *claude.Options {
	return &claude.Options{OnElicitation: func(context.Context, *claude.ElicitationRequest) (*claude.ElicitationResult, error) { return r, nil }}
}

func dialogued(r *claude.UserDialogResult) *claude.Options {
	return &claude.Options{SupportedDialogKinds: []string{"known"},
		OnUserDialog: func(context.Context, *claude.UserDialogRequest) (*claude.UserDialogResult, error) { return r, nil }}
}

// choices answers both questions of questionAsk.
func choices() *claude.QuestionAnswer {
	a := &claude.QuestionAnswer{Annotations: map[string]tool.QuestionAnnotation{"Why?": {Notes: "n"}}}
	a.Choose("Which?", "A", "B")
	a.Choose("Why?", "because")
	return a
}

func skipping() *claude.QuestionAnswer {
	a := &claude.QuestionAnswer{}
	a.Choose("Which?", "A")
	a.Skip("Why?")
	return a
}

var errBoom = errors.New("callback boom")

func TestCallbackAnswers(t *testing.T) {
	rule := message.PermissionRule{ToolName: "Bash", RuleContent: "touch:*"}
	for _, tt := range []struct {
		name string
		opts *claude.Options
		ask  string
		want string
	}{
		{"allow", allowing(&claude.Allow{}, nil), bashAsk, `{"behavior":"allow","updatedInput":{"command":"touch f","n":1.50},"toolUseID":"toolu_1"}`},
		{"allow more", allowing(&claude.Allow{UpdatedInput: `{"command":"ls"}`, Classification: claude.ClassifiedPermanent, UpdatedPermissions: []message.PermissionUpdate{
			{Type: message.UpdateAddRules, Rules: []message.PermissionRule{rule, {ToolName: "Read"}}, Behavior: message.BehaviorAllow, Destination: message.DestinationSession}}}, nil), bashAsk,
			`{"behavior":"allow","updatedInput":{"command":"ls"},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch:*"},{"toolName":"Read"}],"behavior":"allow","destination":"session"}],"decisionClassification":"user_permanent","toolUseID":"toolu_1"}`},
		{"deny", allowing(&claude.Deny{Message: "not today"}, nil), bashAsk, `{"behavior":"deny","message":"not today","toolUseID":"toolu_1"}`},
		{"deny all", allowing(&claude.Deny{Interrupt: true, Classification: claude.ClassifiedReject}, nil), bashAsk, `{"behavior":"deny","message":"Permission to use this tool was denied.","interrupt":true,"decisionClassification":"user_reject","toolUseID":"toolu_1"}`},
		{"nil", allowing(nil, nil), bashAsk, "error: claude: the permission callback gave no answer"},
		{"nil allow", allowing((*claude.Allow)(nil), nil), bashAsk, "error: claude: the permission callback gave no answer"},
		{"error", allowing(&claude.Allow{}, errBoom), bashAsk, "error: callback boom"},
		{"null input", allowing(&claude.Allow{UpdatedInput: "null"}, nil), bashAsk, "error: claude: Allow.UpdatedInput of Bash is not a JSON object"},
		{"bad update", allowing(&claude.Allow{UpdatedPermissions: []message.PermissionUpdate{{}}}, nil), bashAsk, "error: json: error calling MarshalJSON"},
		{"other answer", allowing(&claude.QuestionAnswer{}, nil), bashAsk, "error: claude: a QuestionAnswer is not an answer to a request for Bash"},
		{"no callback", &claude.Options{}, bashAsk, "error: canUseTool callback is not provided"},
		{"no callback for tools", questioned(nil), bashAsk, `{"behavior":"deny","message":"There is no user here who could permit Bash.","toolUseID":"toolu_1"}`},

		{"question", questioned(choices()), questionAsk, `{"behavior":"allow","updatedInput":{"annotations":{"Why?":{"notes":"n"}},"answers":{"Which?":"A, B","Why?":"because"},` + questionInput + `},"toolUseID":"toolu_1"}`},
		{"question of CanUseTool", allowing(choices(), nil), questionAsk, `{"behavior":"allow","updatedInput":{"annotations":{"Why?":{"notes":"n"}},"answers":{"Which?":"A, B","Why?":"because"},` + questionInput + `},"toolUseID":"toolu_1"}`},
		{"question skipped", questioned(skipping()), questionAsk, `{"behavior":"allow","updatedInput":{"answers":{"Which?":"A","Why?":"(the user skipped this question)"},` + questionInput + `},"toolUseID":"toolu_1"}`},
		{"question half answered", questioned(&claude.QuestionAnswer{Answers: map[string]string{"Which?": "A"}}), questionAsk, `error: claude: QuestionAnswer has no answer to "Why?"`},
		{"question declined", questioned(&claude.QuestionAnswer{Declined: true}), questionAsk, `{"behavior":"deny","message":"The user declined to answer.","toolUseID":"toolu_1"}`},
		{"question nil", questioned(nil), questionAsk, "error: claude: the permission callback gave no answer"},
		{"question allowed", allowing(&claude.Allow{}, nil), questionAsk, `{"behavior":"deny","message":"The user was not asked: the tool was allowed, but the question was not answered.","toolUseID":"toolu_1"}`},
		{"question allowed without answers", allowing(&claude.Allow{UpdatedInput: `{"questions":[],"answers":{}}`}, nil), questionAsk, `{"behavior":"deny","message":"The user was not asked: the tool was allowed, but the question was not answered.","toolUseID":"toolu_1"}`},
		{"question allowed with answers", allowing(&claude.Allow{UpdatedInput: `{"answers":{"Which?":"A"}}`}, nil), questionAsk, `{"behavior":"allow","updatedInput":{"answers":{"Which?":"A"}},"toolUseID":"toolu_1"}`},
		{"question answered by the model", allowing(&claude.Allow{UpdatedInput: `{"questions":[],"answers":{"Q":"A"}}`}, nil),
			`{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[],"answers":{"Q":"A"}}}`, `{"behavior":"deny","message":"The user was not asked: the tool was allowed, but the question was not answered."}`},

		{"plan", planned(&claude.PlanDecision{Approve: true}), planAsk, `{"behavior":"allow","updatedInput":{"plan":"old","planFilePath":"/p.md"},"toolUseID":"toolu_1"}`},
		{"plan edited", planned(&claude.PlanDecision{Approve: true, Plan: "new", Mode: message.ModeAcceptEdits}), planAsk,
			`{"behavior":"allow","updatedInput":{"plan":"new","planFilePath":"/p.md"},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}],"toolUseID":"toolu_1"}`},
		{"plan refused", planned(&claude.PlanDecision{Plan: "new"}), planAsk, `{"behavior":"deny","message":"The plan was not approved. Keep planning.","toolUseID":"toolu_1"}`},
		{"plan of CanUseTool", allowing(&claude.Deny{Message: "no"}, nil), planAsk, `{"behavior":"deny","message":"no","toolUseID":"toolu_1"}`},

		{"form", elicited(&claude.ElicitationResult{Action: message.ElicitationAccept, Content: map[string]any{"name": "Bo"}}), formAsk, `{"action":"accept","content":{"name":"Bo"}}`},
		{"empty form", elicited(&claude.ElicitationResult{Action: message.ElicitationAccept}), formAsk, `{"action":"accept","content":{}}`},
		{"null in a form", elicited(&claude.ElicitationResult{Action: message.ElicitationAccept, Content: map[string]any{"name": nil}}), formAsk, "error: claude: ElicitationResult.Content: name is null"},
		{"form declined", elicited(&claude.ElicitationResult{Action: message.ElicitationDecline, Content: map[string]any{"name": "Bo"}}), formAsk, `{"action":"decline"}`},
		{"form without action", elicited(&claude.ElicitationResult{}), formAsk, `error: claude: ElicitationResult.Action "" is not accept, decline or cancel`},
		{"form nil", elicited(nil), formAsk, "error: claude: OnElicitation gave no answer"},
		{"form nobody fills in", &claude.Options{}, formAsk, `{"action":"decline"}`},
		{"url", elicited(&claude.ElicitationResult{Action: message.ElicitationAccept}), urlAsk, `{"action":"accept"}`},

		{"dialog", dialogued(&claude.UserDialogResult{Result: `"yes"`}), dialogAsk, `{"behavior":"completed","result":"yes"}`},
		{"dialog cancelled", dialogued(&claude.UserDialogResult{Cancelled: true}), dialogAsk, `{"behavior":"cancelled"}`},
		{"dialog without a result", dialogued(&claude.UserDialogResult{}), dialogAsk, "error: claude: OnUserDialog gave no answer"},
		{"dialog of another kind", dialogued(&claude.UserDialogResult{Cancelled: true}), `{"subtype":"request_user_dialog","dialog_kind":"new","payload":{}}`, ""},
		{"dialog nobody shows", &claude.Options{}, dialogAsk, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withOptions(t, tt.opts, func(t *testing.T, cli *memCLI, _ *claude.Client) {
				cli.say(request("r1", tt.ask))
				got := cli.answered("r1")
				if got != tt.want && (!strings.HasPrefix(tt.want, "error: json") || !strings.HasPrefix(got, tt.want)) {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
			})
		})
	}
}

// withOptions runs a test with a client of a CLI that has these options.
func withOptions(t *testing.T, opts *claude.Options, f func(t *testing.T, cli *memCLI, client *claude.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		o := *opts
		o.Transport = cli
		if o.Logger == nil {
			o.Logger = slog.New(slog.DiscardHandler)
		}
		client := cli.connect(&o)
		defer client.Close()
		f(t, cli, client)
	})
}

// A CLI with support for it learns which questions were skipped.
func TestSkippedQuestionIsAnnotated(t *testing.T) {
	withOptions(t, questioned(skipping()), func(t *testing.T, cli *memCLI, _ *claude.Client) {
		cli.say(`{"type":"system","subtype":"init","session_id":"s","capabilities":["ask_user_question_unanswered_v1"]}`, request("r1", questionAsk))
		if got := cli.answered("r1"); !strings.Contains(got, `"annotations":{"Why?":{"unanswered":"skipped"}}`) {
			t.Errorf("got is %v; want strings.Contains(got, `\"annotations\":{\"Why?\":{\"unanswered\":\"skipped\"}}`)", got)
		}
	})
}

func TestRequestIsTyped(t *testing.T) {
	const body = `{"subtype":"can_use_tool","tool_name":"mcp__a__b","input":{"x":1},"mcp_server":{"name":"a","source":"sdk"},` +
		`"permission_suggestions":[{"type":"addDirectories","directories":["/d"],"destination":"session","new":1},{"type":"future","z":null}],` +
		`"blocked_path":"/b","decision_reason":"dr","decision_reason_type":"hook","title":"t","display_name":"dn","description":"de",` +
		`"tool_use_id":"tu","agent_id":"ag","matched_ask_rule":{"source":"userSettings","tool_name":"Bash","rule_content":"rm:*"},` +
		`"classifier_approvable":false,"suppress_always_allow_rule":true,"default_to_no":true,"requires_user_interaction":true,"server_policy_ask_only":true,"brand_new":2}`
	var got *claude.PermissionRequest
	opts := &claude.Options{CanUseTool: func(_ context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		got = p
		return &claude.Allow{UpdatedPermissions: p.Suggestions}, nil
	}}
	withOptions(t, opts, func(t *testing.T, cli *memCLI, _ *claude.Client) {
		cli.say(request("r1", body))
		want := `{"behavior":"allow","updatedInput":{"x":1},"updatedPermissions":[{"type":"addDirectories","directories":["/d"],"destination":"session","new":1},{"type":"future","z":null}],"toolUseID":"tu"}`
		if a := cli.answered("r1"); a != want {
			t.Errorf("got %s", a)
		}
		if got.Raw() != body || got.RequestID != "r1" || got.MCPServer.Source != "sdk" || got.BlockedPath != "/b" || got.DecisionReason != "dr" || got.DecisionReasonType != "hook" ||
			got.Title != "t" || got.DisplayName != "dn" || got.Description != "de" || got.AgentID != "ag" || got.MatchedAskRule.RuleContent != "rm:*" || *got.ClassifierApprovable ||
			!got.SuppressAlwaysAllowRule || !got.DefaultToNo || !got.RequiresUserInteraction || !got.ServerPolicyAskOnly || got.Suggestions[0].Directories[0] != "/d" {
			t.Errorf("%+v", got)
		}
		if in, err := tool.Decode(got); err != nil || in.(*tool.UnknownInput).Input != `{"x":1}` {
			t.Errorf("%v, %v; want err == nil and in.(*tool.UnknownInput).Input == `{\"x\":1}`", in, err)
		}
	})
}

// A suggestion can be changed before it is returned, and keeps unknown members.
func TestChangedSuggestion(t *testing.T) {
	var u message.PermissionUpdate
	if err := json.Unmarshal([]byte(`{"type":"setMode","mode":"plan","destination":"session","new":{"a":1}}`), &u); err != nil {
		t.Fatal(err)
	}
	u.Destination = message.DestinationLocalSettings
	got, err := json.Marshal(u)
	if err != nil || string(got) != `{"destination":"localSettings","mode":"plan","new":{"a":1},"type":"setMode"}` {
		t.Errorf("%s, %v; want err == nil and string(got) == `{\"destination\":\"localSettings\",\"mode\":\"plan\",\"new\":{\"a\":1},\"type\":\"setMode\"}`", got, err)
	}
	if r := (message.PermissionRule{ToolName: "Bash", RuleContent: "ls"}).String(); r != "Bash(ls)" {
		t.Errorf("r is %v; want r == \"Bash(ls)\"", r)
	}
}

func TestPanicLeavesTheClientAlive(t *testing.T) {
	opts := &claude.Options{CanUseTool: func(_ context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		if p.RequestID == "r1" {
			panic("boom")
		}
		return &claude.Allow{}, nil
	}}
	withOptions(t, opts, func(t *testing.T, cli *memCLI, _ *claude.Client) {
		cli.say(request("r1", bashAsk), request("r2", bashAsk))
		if got := cli.answered("r1"); got != "error: the handler of can_use_tool panicked: boom" {
			t.Errorf("got is %v; want got == \"error: the handler of can_use_tool panicked: boom\"", got)
		}
		if got := cli.answered("r2"); !strings.Contains(got, "allow") {
			t.Errorf("got is %v; want strings.Contains(got, \"allow\")", got)
		}
	})
}

// A slow callback does not block other requests.
func TestSlowCallbackBlocksNothing(t *testing.T) {
	opts := elicited(&claude.ElicitationResult{Action: message.ElicitationCancel})
	opts.CanUseTool = func(_ context.Context, p *claude.PermissionRequest) (claude.PermissionResult, error) {
		if p.RequestID == "slow" {
			<-time.After(30 * time.Second) // virtual
		}
		return &claude.Allow{}, nil
	}
	withOptions(t, opts, func(t *testing.T, cli *memCLI, client *claude.Client) {
		begun := time.Now()
		cli.onLine = func(line string) {
			if l := parse(line); l.Request.Subtype == "interrupt" {
				cli.say(answer(l.RequestID, `{"still_queued":[]}`))
			}
		}
		messages := collect(client.Messages(t.Context()))
		cli.say(request("slow", bashAsk), request("quick", bashAsk), request("form", formAsk), `{"type":"system","subtype":"x"}`)
		if cli.answered("quick") == "" || cli.answered("form") == "" || cli.answered("slow") != "" {
			t.Errorf("answers %q", cli.read())
		}
		messages.want(t, "system/x")
		if _, err := client.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
		if d := time.Since(begun); d != 0 {
			t.Errorf("took %v", d)
		}
		<-time.After(30 * time.Second)
		if cli.answered("slow") == "" {
			t.Error("the slow one was not answered")
		}
	})
}

// waiting returns a callback that waits for the end of its context.
func waiting(cause *error) *claude.Options {
	return &claude.Options{CanUseTool: func(ctx context.Context, _ *claude.PermissionRequest) (claude.PermissionResult, error) {
		<-ctx.Done()
		*cause = context.Cause(ctx)
		return nil, *cause
	}}
}

func TestCallbackEndsWithItsRequest(t *testing.T) {
	var cause error
	withOptions(t, waiting(&cause), func(t *testing.T, cli *memCLI, _ *claude.Client) {
		cli.say(request("r1", bashAsk), `{"type":"control_cancel_request","request_id":"r1"}`)
		if got := cli.answered("r1"); got != "" || cause == nil {
			t.Errorf("%s, %v; want got == \"\" and cause != nil", got, cause)
		}
	})
}

// Close cancels the callback before the CLI exits.
func TestCallbackEndsWithClose(t *testing.T) {
	var cause error
	withOptions(t, waiting(&cause), func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.onClose = func() { synctest.Wait() }
		cli.say(request("r1", bashAsk))
		synctest.Wait()
		client.Close()
		if got := cli.answered("r1"); got != "" || !errors.Is(cause, claude.ErrClosed) {
			t.Errorf("%s, %v; want got == \"\" and errors.Is(cause, claude.ErrClosed)", got, cause)
		}
	})
}

// Requests that were open before this process connected are passed to the callback, each
// once.
func TestPendingRequestsAreAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := elicited(&claude.ElicitationResult{Action: message.ElicitationDecline})
		calls := 0
		opts.CanUseTool = func(ctx context.Context, _ *claude.PermissionRequest) (claude.PermissionResult, error) {
			calls++
			<-time.After(time.Second) // virtual
			return &claude.Allow{}, nil
		}
		opts.OnUserDialog, opts.SupportedDialogKinds = dialogued(&claude.UserDialogResult{Cancelled: true}).OnUserDialog, []string{"known"}
		opts.Transport = cli
		cli.onLine = func(line string) {
			if l := parse(line); l.Request.Subtype == "initialize" {
				cli.say(request("r1", bashAsk), fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{},`+
					`"pending_permission_requests":[%s],"pending_user_dialog_requests":[%s],"pending_elicitation_requests":[%s,null,{}]}}`,
					l.RequestID, request("r1", bashAsk), request("r2", dialogAsk), request("r3", formAsk)))
			}
		}
		client := cli.connect(opts)
		defer client.Close()
		<-time.After(time.Minute)
		for _, id := range []string{"r1", "r2", "r3"} {
			if cli.answered(id) == "" {
				t.Errorf("%s was not answered", id)
			}
		}
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
	})
}

func TestShadowedCallbacksAreNamed(t *testing.T) {
	for _, tt := range []struct {
		set  func(o *claude.Options)
		want []string
	}{
		{func(o *claude.Options) {
			o.AllowedTools = []string{"Read", "Bash()", "Edit(*)", "Task", "Bash(ls:*)", "*", "AskUserQuestion", "mcp__a"}
		}, []string{"AllowedTools has Read", "tools=Bash", "AllowedTools has Edit(*)", "tools=Agent", "tools=mcp__a"}},
		{func(o *claude.Options) { o.AllSkills = true }, []string{"AllSkills"}},
		{func(o *claude.Options) { o.PermissionMode = message.ModeBypassPermissions }, []string{"bypassPermissions"}},
		{func(o *claude.Options) { o.PermissionMode = message.ModeDontAsk }, []string{"dontAsk"}},
		{func(o *claude.Options) { o.PermissionPrompts = "none" }, []string{"PermissionPrompts"}},
		{func(o *claude.Options) {
			o.AllowedTools, o.CanUseTool, o.OnPlan = []string{"Read"}, nil, planned(nil).OnPlan
		}, nil},
		{func(o *claude.Options) { o.AllowedTools, o.CanUseTool = []string{"Read"}, nil }, nil},
		{func(o *claude.Options) { o.AllowedTools = []string{"Bash(ls:*)"} }, nil},
	} {
		var log bytes.Buffer
		opts := allowing(&claude.Allow{}, nil)
		opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
		tt.set(opts)
		withOptions(t, opts, func(t *testing.T, _ *memCLI, client *claude.Client) { client.Close() })
		if n := strings.Count(log.String(), "never asked"); n != len(tt.want) {
			t.Errorf("%d warnings, want %q:\n%s", n, tt.want, &log)
		}
		for _, w := range tt.want {
			if !strings.Contains(log.String(), w) {
				t.Errorf("no %q in\n%s", w, &log)
			}
		}
	}
}
