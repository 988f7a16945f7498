package codexevent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
)

// brief describes the events that begin and end the parts of a conversation, one line each. It omits the others.
func brief(events []event.Event) (list []string) {
	add := func(parts ...any) { list = append(list, strings.TrimSpace(fmt.Sprintln(parts...))) }
	for _, ev := range events {
		switch ev := ev.(type) {
		case *event.TurnStart:
			add("turn", ev.TurnID, "by", ev.By, ev.PromptID)
		case *event.ResultMessage:
			add("result", ev.Subtype, ev.Result, strings.Join(ev.Errors, " "))
		case *event.UserMessage:
			add("user", ev.UUID, ev.Blocks[0].Text, ev.IsPrompt)
		case *event.AssistantMessage:
			for _, b := range ev.Blocks {
				add("answer", ev.MessageID, b.Index, b.Block.Type+b.Block.Text, ev.ParentToolUseID)
			}
		case *event.MessageStart:
			add("message", ev.MessageID, ev.Model)
		case *event.MessageComplete:
			add("message over", ev.MessageID, ev.Incomplete)
		case *event.CompactBoundary:
			add("compacted", ev.Trigger)
		case *event.SystemInit:
			add("init", ev.Model)
		case *event.SessionState:
			add("state", ev.State)
		case *event.SessionInfo:
			add("info")
		case *event.TurnDiff:
			add("diff")
		case *event.Usage:
			add("usage")
		case *event.Truncate:
			add("truncate", ev.TurnID)
		case *event.PermissionRequest:
			add("asks", strings.TrimPrefix(ev.RequestID, "codex-"), ev.ToolUseID, ev.ToolName)
		case *event.PermissionResolved:
			add("answered", strings.TrimPrefix(ev.RequestID, "codex-"), ev.Behavior, ev.Scope, ev.Message)
		case *event.QuestionResolved:
			add("answered", strings.TrimPrefix(ev.RequestID, "codex-"), ev.Action)
		case *event.TaskStarted:
			add("task", ev.TaskID)
		case *event.TaskNotification:
			add("task over", ev.TaskID, ev.Status)
		case *event.ToolComplete:
			add("tool over", ev.ToolUseID, ev.IsError, ev.Truncated)
		case *event.Hook:
			add("hook", ev.State, ev.Outcome, ev.Decision)
		}
	}
	return list
}

// The lines of one turn of the thread t.
func turnLine(method, thread, id, status string) string {
	return fmt.Sprintf(`{"method":"turn/%s","params":{"threadId":%q,"turn":{"id":%q,"status":%q}}}`, method, thread, id, status)
}

func itemLine(method, thread, turn, item string) string {
	return fmt.Sprintf(`{"method":"item/%s","params":{"threadId":%q,"turnId":%q,"item":%s}}`, method, thread, turn, item)
}

// TestConverter_states checks the events of lines whose meaning depends on what preceded them: requests of the client that the
// server has answered, refused or lost, turns that were read, items that change, and requests of the agent.
func TestConverter_states(t *testing.T) {
	const (
		resume  = `> {"id":7,"method":"thread/resume","params":{"threadId":"t"}}`
		prompt  = `> {"id":7,"method":"turn/start","params":{"threadId":"t","clientUserMessageId":"p","input":[]}}`
		again   = `> {"id":8,"method":"turn/start","params":{"threadId":"t","clientUserMessageId":"p","input":[]}}`
		answer  = `{"id":7,"result":{"turn":{"id":"u","status":"inProgress"}}}`
		answer8 = `{"id":8,"result":{"turn":{"id":"v","status":"inProgress"}}}`
		refused = `{"id":7,"error":{"code":-32600,"message":"no"}}`
		compact = `> {"id":7,"method":"thread/compact/start","params":{"threadId":"t","clientUserMessageId":"p"}}`
		text    = `{"type":"agentMessage","id":"m","text":"words"}`
		ask     = `{"id":5,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","turnId":"u","itemId":"c","command":"ls"}}`
		askPast = `{"id":6,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","turnId":"old","itemId":"d","command":"ls"}}`
	)
	review := func(target string) string {
		return `> {"id":7,"method":"review/start","params":{"threadId":"t","clientUserMessageId":"p","target":` + target + `}}`
	}
	read := func(turns string) string {
		return `{"id":7,"result":{"model":"m1","thread":{"id":"t","turns":[` + turns + `]}}}`
	}
	begun, begunV := turnLine("started", "t", "u", "inProgress"), turnLine("started", "t", "v", "inProgress")
	done := turnLine("completed", "t", "u", "completed")
	mcp := func(method, status string) string {
		return itemLine(method, "t", "u", `{"type":"mcpToolCall","id":"c","server":"s","tool":"go","status":"`+status+`","arguments":{}}`)
	}
	const elicit = `{"id":5,"method":"mcpServer/elicitation/request","params":{"threadId":"t","turnId":"u","serverName":"s","message":"May it?","_meta":{"codex_approval_kind":"mcp_tool_call"}}}`
	tests := map[string]struct {
		lines []string
		want  []string
	}{
		"a review is the prompt of its turn, once": {[]string{review(`{"type":"uncommittedChanges"}`), answer, begun, begun},
			[]string{"turn u by user p", "user p /review true", "turn u by user p"}},
		"a review with instructions":    {[]string{review(`{"type":"custom","instructions":"look"}`), answer, begun}, []string{"turn u by user p", "user p /review look true"}},
		"a review of a branch":          {[]string{review(`{"type":"baseBranch","branch":"main"}`), answer, begun}, []string{"turn u by user p", "user p /review-branch main true"}},
		"a review of a commit":          {[]string{review(`{"type":"commit","sha":"abc"}`), answer, begun}, []string{"turn u by user p", "user p /review-commit abc true"}},
		"the start of a review differs": {[]string{review(`{"type":"uncommittedChanges"}`), answer, begunV, turnLine("started", "t", "w", "inProgress")}, []string{"turn u by user p", "user p /review true", "turn w by agent"}},
		"a refused review":              {[]string{review(`{"type":"uncommittedChanges"}`), refused, again, answer8, begunV}, []string{"turn v by user p"}},
		"a compaction":                  {[]string{compact, begun, begunV}, []string{"turn u by user p", "user p /compact true", "turn v by agent"}},
		"a refused compaction":          {[]string{compact, refused, begun}, []string{"turn u by agent"}},
		"a compaction, then one of the server": {[]string{compact, begun, itemLine("completed", "t", "u", `{"type":"contextCompaction","id":"x"}`), itemLine("completed", "t", "u", `{"type":"contextCompaction","id":"y"}`)},
			[]string{"turn u by user p", "user p /compact true", "compacted manual", "compacted auto"}},
		"an answered prompt":                {[]string{prompt, answer, begun, done, begunV}, []string{"turn u by user p", "result success", "turn v by agent"}},
		"a prompt that the server has lost": {[]string{prompt, `> {"id":1,"method":"initialize","params":{}}`, begunV}, []string{"turn v by agent"}},
		"a turn has its own answer":         {[]string{begun, itemLine("completed", "t", "u", text), done, begunV, turnLine("completed", "t", "v", "completed")}, []string{"turn u by agent", "answer m 0 textwords", "result success words", "turn v by agent", "result success"}},
		"turns that were read":              {[]string{resume, read(`{"id":"u","status":"completed","items":[` + text + `]},{"id":"v","status":"completed","items":[]}`)}, []string{"init m1", "turn u by user", "answer m 0 textwords", "result success words", "turn v by user", "result success"}},
		"a turn that was read and runs":     {[]string{resume, read(`{"id":"u","status":"inProgress","items":[` + text + `]}`)}, []string{"init m1", "turn u by user", "answer m 0 textwords"}},
		"a followed turn that was lost":     {[]string{begun, resume, read(`{"id":"u","status":"interrupted","items":[` + text + `]}`)}, []string{"turn u by agent", "init m1", "result interrupted"}},
		"a followed turn that has ended":    {[]string{begun, done, resume, read(`{"id":"u","status":"completed","items":[` + text + `]}`)}, []string{"turn u by agent", "result success", "init m1"}},
		"another thread is opened":          {[]string{resume, `{"id":7,"result":{"model":"m2","thread":{"id":"o","turns":[{"id":"x","status":"completed"}]}}}`}, nil},
		"reasoning keeps its streamed order": {[]string{begun, itemLine("started", "t", "u", `{"type":"reasoning","id":"r"}`), `{"method":"item/reasoning/textDelta","params":{"threadId":"t","turnId":"u","itemId":"r","contentIndex":0,"delta":"raw"}}`, itemLine("completed", "t", "u", `{"type":"reasoning","id":"r","summary":["short"],"content":["raw"]}`)},
			[]string{"turn u by agent", "message r", "message over r false", "answer r 0 thinkingraw", "answer r 1 thinkingshort"}},
		"an item becomes another one": {[]string{begun, itemLine("started", "t", "u", `{"type":"reasoning","id":"m"}`), itemLine("completed", "t", "u", text)},
			[]string{"turn u by agent", "message m", "message over m true", "answer m 0 textwords"}},
		"an item that starts twice": {[]string{begun, itemLine("started", "t", "u", text), itemLine("started", "t", "u", text), itemLine("completed", "t", "u", text)},
			[]string{"turn u by agent", "message m", "message over m true", "message m", "message over m false", "answer m 0 textwords"}},
		"a request without a turn":                {[]string{begun, itemLine("started", "t", "u", `{"type":"commandExecution","id":"c","command":"ls"}`), `{"id":5,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","itemId":"c","command":"ls"}}`}, []string{"turn u by agent", "message c", "message over c false", "asks 5 c commandExecution"}},
		"a turn cancels its own requests":         {[]string{askPast, begun, ask, done}, []string{"asks 6 d commandExecution", "turn u by agent", "asks 5 c commandExecution", "answered 5 cancelled", "result success"}},
		"a request with a used id":                {[]string{ask, ask}, []string{"asks 5 c commandExecution", "answered 5 expired", "asks 5 c commandExecution"}},
		"an error is a refusal with its text":     {[]string{ask, `> {"id":5,"error":{"code":1,"message":"not now"}}`}, []string{"asks 5 c commandExecution", "answered 5 deny  not now"}},
		"permissions for the session":             {[]string{ask, `> {"id":5,"result":{"permissions":{"network":{"enabled":true}},"scope":"session"}}`}, []string{"asks 5 c commandExecution", "answered 5 allow session"}},
		"no permission at all":                    {[]string{ask, `> {"id":5,"result":{"permissions":{"network":null},"scope":"session"}}`}, []string{"asks 5 c commandExecution", "answered 5 deny"}},
		"a tool of a server that always may":      {[]string{ask, `> {"id":5,"result":{"action":"accept","_meta":{"persist":"always"}}}`}, []string{"asks 5 c commandExecution", "answered 5 allow always"}},
		"an older answer for the session":         {[]string{ask, `> {"id":5,"result":{"decision":"approved_for_session"}}`}, []string{"asks 5 c commandExecution", "answered 5 allow session"}},
		"the call of a server that asks":          {[]string{mcp("started", "inProgress"), elicit}, []string{"message c", "message over c false", "asks 5 c mcp__s__go"}},
		"a server that asks after its call ended": {[]string{mcp("started", "inProgress"), mcp("completed", "completed"), elicit}, []string{"message c", "message over c false", "answer c 0 tool_use", "tool over c false false", "asks 5  mcp__s"}},
		"a revert is taken back once":             {[]string{`> {"id":7,"method":"thread/revert","params":{"threadId":"t","beforeTurnId":"u"}}`, `{"method":"thread/reverted","params":{"threadId":"t"}}`, `{"method":"thread/reverted","params":{"threadId":"t"}}`}, []string{"truncate u"}},
		"a revert of another thread":              {[]string{`> {"id":7,"method":"thread/revert","params":{"threadId":"o","beforeTurnId":"u"}}`, `{"method":"thread/reverted","params":{"threadId":"t"}}`}, nil},
		"a compaction of another thread":          {[]string{strings.Replace(compact, `"t"`, `"o"`, 1), begun}, []string{"turn u by agent"}},
		"an error belongs to its turn":            {[]string{begun, `{"method":"error","params":{"threadId":"t","turnId":"u","willRetry":false,"error":{"message":"early"}}}`, done, begunV, turnLine("completed", "t", "v", "failed")}, []string{"turn u by agent", "result success", "turn v by agent", "result error_during_execution"}},
		"a retry voids a plan":                    {[]string{itemLine("started", "t", "u", `{"type":"plan","id":"m"}`), `{"method":"error","params":{"threadId":"t","turnId":"u","willRetry":true,"error":{"message":"1/2"}}}`}, []string{"message m", "message over m true"}},
		"an id of an earlier turn":                {[]string{itemLine("completed", "t", "old", `{"type":"commandExecution","id":"c","command":"ls","status":"completed","aggregatedOutput":""}`), ask}, []string{"answer c 0 tool_use", "tool over c false false", "asks 5 c@u commandExecution"}},
		"requests expire in their order": {[]string{ask, `> {"id":5,"result":{"decision":"accept"}}`, askPast, ask, `> {"id":1,"method":"initialize","params":{}}`},
			[]string{"asks 5 c commandExecution", "answered 5 allow once", "asks 6 d commandExecution", "asks 5 c commandExecution", "answered 6 expired", "answered 5 expired"}},
		"a subagent's turn has an equal id": {[]string{itemLine("completed", "t", "u", `{"type":"subAgentActivity","id":"a","kind":"started","agentThreadId":"s"}`), strings.Replace(ask, `"threadId":"t"`, `"threadId":"s"`, 1), done}, []string{"task s", "asks 5 c commandExecution", "result success"}},
		"a command whose output is not whole": {[]string{itemLine("started", "t", "u", `{"type":"commandExecution","id":"f","command":"ls"}`), `{"method":"item/commandExecution/outputDelta","params":{"threadId":"t","turnId":"u","itemId":"f","delta":"a"}}`, itemLine("completed", "t", "u", `{"type":"commandExecution","id":"f","command":"ls","status":"completed"}`)},
			[]string{"message f", "message over f false", "answer f 0 tool_use", "tool over f false true"}},
		"the model changes":           {[]string{`{"method":"thread/settings/updated","params":{"threadId":"t","threadSettings":{"model":"m3","cwd":"/"}}}`, itemLine("started", "t", "u", text)}, []string{"info", "message m m3"}},
		"a patch that was declined":   {[]string{itemLine("completed", "t", "u", `{"type":"fileChange","id":"f","status":"declined","changes":[]}`)}, []string{"answer f 0 tool_use", "tool over f true false"}},
		"a tool that reports failure": {[]string{itemLine("completed", "t", "u", `{"type":"dynamicToolCall","id":"f","tool":"x","status":"completed","success":false}`)}, []string{"answer f 0 tool_use", "tool over f true false"}},
		"a command that never ran":    {[]string{itemLine("completed", "t", "u", `{"type":"commandExecution","id":"f","command":"ls","status":"declined"}`)}, []string{"answer f 0 tool_use", "tool over f true false"}},
		"a hook that blocks":          {[]string{`{"method":"hook/completed","params":{"threadId":"t","run":{"id":"h","status":"blocked","eventName":"e"}}}`}, []string{"hook finished success block"}},
		"a hook that stops":           {[]string{`{"method":"hook/completed","params":{"threadId":"t","run":{"id":"h","status":"stopped","eventName":"e"}}}`}, []string{"hook finished success stop"}},
		"a subagent of the newer kind": {[]string{itemLine("completed", "t", "u", `{"type":"subAgentActivity","id":"a","kind":"started","agentThreadId":"s"}`), itemLine("completed", "t", "u", `{"type":"subAgentActivity","id":"b","kind":"started","agentThreadId":"s"}`),
			itemLine("completed", "s", "x", text), itemLine("completed", "t", "u", `{"type":"subAgentActivity","id":"d","kind":"interrupted","agentThreadId":"s"}`)}, []string{"task s", "answer m 0 textwords a", "task over s stopped"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := &codexevent.Converter{ThreadID: "t"}
			if got := brief(feed(t, c, tt.lines...)); !slices.Equal(got, tt.want) {
				t.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestConverter_subagentLines checks that no line of a subagent changes the conversation that started it: not its turn, its answer,
// its usage, its error, or its settings.
func TestConverter_subagentLines(t *testing.T) {
	lines := map[string]string{
		"a turn":       turnLine("started", "s", "x", "inProgress"),
		"its end":      turnLine("completed", "s", "x", "completed"),
		"an answer":    itemLine("completed", "s", "x", `{"type":"agentMessage","id":"n","text":"other words"}`),
		"tokens":       `{"method":"thread/tokenUsage/updated","params":{"threadId":"s","turnId":"x","tokenUsage":{"total":{"totalTokens":70,"inputTokens":60,"outputTokens":10},"last":{}}}}`,
		"a diff":       `{"method":"turn/diff/updated","params":{"threadId":"s","turnId":"x","diff":""}}`,
		"an error":     `{"method":"error","params":{"threadId":"s","turnId":"x","willRetry":false,"error":{"message":"of the subagent"}}}`,
		"a status":     `{"method":"thread/status/changed","params":{"threadId":"s","status":{"type":"systemError"}}}`,
		"its closing":  `{"method":"thread/closed","params":{"threadId":"s"}}`,
		"a name":       `{"method":"thread/name/updated","params":{"threadId":"s","threadName":"other"}}`,
		"its deletion": `{"method":"thread/deleted","params":{"threadId":"s"}}`,
		"its start":    `{"method":"thread/started","params":{"threadId":"s","thread":{"id":"s","parentThreadId":"t","model":"other"}}}`,
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			c := &codexevent.Converter{ThreadID: "t"}
			feed(t, c, turnLine("started", "t", "u", "inProgress"),
				`{"method":"thread/tokenUsage/updated","params":{"threadId":"t","turnId":"u","tokenUsage":{"total":{"totalTokens":9,"inputTokens":8,"outputTokens":1},"last":{}}}}`,
				itemLine("completed", "t", "u", `{"type":"agentMessage","id":"m","text":"words"}`),
				itemLine("completed", "t", "u", `{"type":"collabAgentToolCall","id":"call","tool":"spawnAgent","status":"completed","senderThreadId":"t","receiverThreadIds":["s"]}`))
			for _, said := range brief(feed(t, c, line)) {
				if !strings.HasPrefix(said, "answer n") {
					t.Errorf("the line reports %q", said)
				}
			}
			events := feed(t, c, turnLine("completed", "t", "u", "failed"))
			r, ok := events[len(events)-1].(*event.ResultMessage)
			if !ok || r.Result != "words" || len(r.Errors) > 0 || !strings.Contains(string(r.Usage), `"output_tokens":1`) {
				t.Errorf("the turn ends with %+v; want its answer, its usage and no error", events[len(events)-1])
			}
			if c.ThreadID != "t" {
				t.Errorf("the followed thread is %q, want t", c.ThreadID)
			}
		})
	}
}

// TestConverter_skipHistory checks that SkipHistory omits the turns of a resumed thread, and no others.
func TestConverter_skipHistory(t *testing.T) {
	c := &codexevent.Converter{SkipHistory: true}
	got := brief(feed(t, c, `> {"id":7,"method":"thread/resume","params":{"threadId":"t"}}`, turnLine("started", "t", "v", "inProgress"),
		`{"id":7,"result":{"model":"m1","thread":{"id":"t","turns":[{"id":"u","status":"completed"}]}}}`, turnLine("completed", "t", "v", "completed")))
	if want := []string{"init m1", "turn v by agent", "result success"}; !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
}

// TestConverter_hostChoices checks that a host can be allowed or denied from now on, as the server proposes.
func TestConverter_hostChoices(t *testing.T) {
	events := feed(t, &codexevent.Converter{ThreadID: "t"}, `{"id":5,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","turnId":"u","itemId":"c","command":"curl h",
		"proposedNetworkPolicyAmendments":[{"host":"h","action":"allow"},{"host":"h","action":"deny"}]}}`)
	var got []string
	for _, c := range events[0].(*event.PermissionRequest).Choices {
		if strings.HasPrefix(c.ID, "applyNetworkPolicyAmendment") {
			got = append(got, c.Behavior+" "+c.Scope+" "+c.Label)
		}
	}
	if want := []string{"allow always Allow h from now on", "deny always Deny h from now on"}; !slices.Equal(got, want) {
		t.Errorf("the choices are %q, want %q", got, want)
	}
}
