package codexevent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/codex/codexevent"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

func ExampleConverter() {
	c := &codexevent.Converter{ThreadID: "t"}
	for _, line := range []string{
		`{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress"}}}`,
		`{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"agentMessage","id":"m","text":""}}}`,
		`{"method":"item/agentMessage/delta","params":{"threadId":"t","turnId":"u","itemId":"m","delta":"Hello"}}`,
		`{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"interrupted"}}}`,
	} {
		l, err := item.DecodeServer([]byte(line))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, ev := range c.Server(l) {
			fmt.Printf("%T\n", ev)
		}
	}
	// Output:
	// *event.TurnStart
	// *event.MessageStart
	// *event.TextStart
	// *event.TextDelta
	// *event.BlockStop
	// *event.MessageComplete
	// *event.ResultMessage
}

// feed passes lines to a converter: "> " marks a line of the client.
func feed(t *testing.T, c *codexevent.Converter, lines ...string) (events []event.Event) {
	t.Helper()
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, "> "); ok {
			l, err := item.DecodeClient([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, c.Client(l)...)
			continue
		}
		l, err := item.DecodeServer([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, c.Server(l)...)
	}
	return events
}

func fold(events []event.Event) *event.Conversation {
	conv := &event.Conversation{}
	for _, ev := range events {
		conv.Apply(ev)
	}
	conv.Settle()
	return conv
}

func texts(conv *event.Conversation) (list []string) {
	for _, th := range conv.Threads {
		for _, i := range th.Items {
			if i.Message != nil {
				for _, b := range i.Message.Blocks {
					if b.Type == "text" {
						list = append(list, b.Text.String())
					}
				}
			}
		}
	}
	return list
}

// TestTurnStart checks that a turn names its prompt, whether the server first reports the turn or answers the call.
func TestTurnStart(t *testing.T) {
	const (
		call     = `> {"id":7,"method":"turn/start","params":{"threadId":"t","clientUserMessageId":"p","input":[]}}`
		second   = `> {"id":8,"method":"turn/start","params":{"threadId":"t","clientUserMessageId":"q","input":[]}}`
		other    = `> {"id":8,"method":"turn/start","params":{"threadId":"o","clientUserMessageId":"q","input":[]}}`
		response = `{"id":7,"result":{"turn":{"id":"u","status":"inProgress"}}}`
		started  = `{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress"}}}`
	)
	for name, tt := range map[string]struct {
		lines      []string
		by, prompt string
	}{
		"the response first":   {[]string{call, response, started}, event.ByUser, "p"},
		"the turn first":       {[]string{call, started, response}, event.ByUser, "p"},
		"one of two":           {[]string{call, second, started}, event.ByUser, ""},
		"one of two, answered": {[]string{call, second, response, started}, event.ByUser, "p"},
		"of another thread":    {[]string{other, started}, event.ByAgent, ""},
		"of nobody":            {[]string{started}, event.ByAgent, ""},
	} {
		var got []string
		for _, ev := range feed(t, &codexevent.Converter{ThreadID: "t"}, tt.lines...) {
			if start, ok := ev.(*event.TurnStart); ok {
				got = append(got, start.TurnID, start.By, start.PromptID)
			}
		}
		if want := []string{"u", tt.by, tt.prompt}; !slices.Equal(got, want) {
			t.Errorf("%s: the turn starts with %q, want %q", name, got, want)
		}
	}
}

// TestRevert checks that a revert removes the reverted turns from the fold, and only these.
func TestRevert(t *testing.T) {
	lines := codexrec.Named(t, "revert").Lines(t)
	r := convert(t, lines, roots(t, lines)[0])
	got := texts(r.conv)
	i := slices.IndexFunc(r.events, func(ev event.Event) bool { _, ok := ev.(*event.Truncate); return ok })
	if i < 0 {
		t.Fatal("nothing is taken back")
	}
	before := texts(fold(r.events[:i]))
	if len(before) != 4 || len(got) != 4 || !slices.Equal(before[:2], got[:2]) || slices.Contains(got, before[3]) {
		t.Errorf("before %q, after %q", before, got)
	}
	// A revert of another client cannot be followed; the converter emits a notice.
	c := &codexevent.Converter{ThreadID: "t"}
	if n, ok := feed(t, c, `{"method":"thread/reverted","params":{"threadId":"t"}}`)[0].(*event.Notice); !ok || n.Severity != event.NoticeWarning {
		t.Errorf("%+v; want ok and n.Severity == event.NoticeWarning", n)
	}
}

// TestSubagent checks that a subagent's events follow the call that started it, in order and below it.
func TestSubagent(t *testing.T) {
	lines := codexrec.Named(t, "subagent").Lines(t)
	r := convert(t, lines, roots(t, lines)[0])
	call, child := -1, -1
	for i, ev := range r.events {
		if done, ok := ev.(*event.ToolComplete); ok && done.ToolUseID == "call_1" {
			call = i
		}
		if ev.Head().ParentToolUseID == "call_1" && child < 0 {
			child = i
		}
	}
	if call < 0 || child < call {
		t.Errorf("the call ends at %d, its subagent begins at %d", call, child)
	}
	if th := r.conv.Thread("call_1"); th == nil || len(th.Items) < 2 {
		t.Errorf("the subagent's thread is %+v", th)
	}
}

// TestSubagent_held checks that events of a subagent are kept until its parent is known.
func TestSubagent_held(t *testing.T) {
	c := &codexevent.Converter{ThreadID: "t"}
	child := func(method, params string) string {
		return `{"method":"` + method + `","params":{"threadId":"child","turnId":"c",` + params + `}}`
	}
	before := feed(t, c,
		child("item/started", `"item":{"type":"agentMessage","id":"m"}`),
		child("item/agentMessage/delta", `"itemId":"m","delta":"early"`),
		child("item/completed", `"item":{"type":"agentMessage","id":"m","text":"early words"}`))
	if len(before) > 0 {
		t.Errorf("%d events before the link", len(before))
	}
	events := feed(t, c, `{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"collabAgentToolCall","id":"call","tool":"spawnAgent","status":"completed","senderThreadId":"t","receiverThreadIds":["child"]}}}`)
	conv := fold(events)
	if th := conv.Thread("call"); th == nil || len(th.Items) != 1 || th.Items[0].Message.Blocks[0].Text.String() != "early words" {
		t.Errorf("the subagent's thread: %+v", th)
	}
	checkPairs(t, events)
}

// TestUsage checks that the usage of a turn excludes earlier turns, also in a fork, which starts with tokens.
func TestUsage(t *testing.T) {
	c := &codexevent.Converter{ThreadID: "t"}
	usage := func(turn string, total, last int) string {
		return fmt.Sprintf(`{"method":"thread/tokenUsage/updated","params":{"threadId":"t","turnId":%q,"tokenUsage":{"total":{"totalTokens":%d,"inputTokens":%d,"cachedInputTokens":10,"outputTokens":5,"reasoningOutputTokens":0},"last":{"totalTokens":%d,"inputTokens":1,"cachedInputTokens":0,"outputTokens":0,"reasoningOutputTokens":0},"modelContextWindow":1000}}}`, turn, total, total-5, last)
	}
	events := feed(t, c, usage("old", 1000, 1000),
		`{"method":"turn/started","params":{"threadId":"t","turn":{"id":"u","status":"inProgress"}}}`, usage("u", 1100, 1100), usage("u", 1250, 150),
		`{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed"}}}`)
	var got []int64
	for _, ev := range events {
		if u, ok := ev.(*event.Usage); ok {
			got = append(got, *u.InputTokens, *u.ContextTokens)
		}
	}
	if s := fmt.Sprint(got); s != "[0 1000 100 1100 250 150]" {
		t.Errorf("usage %s", s)
	}
	if r := events[len(events)-1].(*event.ResultMessage); !strings.Contains(string(r.Usage), `"input_tokens":250`) || r.TotalCostUSD != nil {
		t.Errorf("%+v; want strings.Contains(string(r.Usage), `\"input_tokens\":250`) and r.TotalCostUSD == nil", r)
	}
}

func TestRequests(t *testing.T) {
	ask := `{"id":0,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","turnId":"u","itemId":"c","command":"ls"}}`
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"accept", []string{`> {"id":0,"result":{"decision":"accept"}}`}, "allow once"},
		{"session", []string{`> {"id":0,"result":{"decision":"acceptForSession"}}`}, "allow session"},
		{"amend", []string{`> {"id":0,"result":{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}}}}`}, "allow always"},
		{"host denied", []string{`> {"id":0,"result":{"decision":{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"host":"h","action":"deny"}}}}}`}, "deny "},
		{"decline", []string{`> {"id":0,"result":{"decision":"decline"}}`}, "deny "},
		{"brand new", []string{`> {"id":0,"result":{"decision":"maybe"}}`}, "deny "},
		{"error", []string{`> {"id":0,"error":{"code":1,"message":"no"}}`}, "deny "},
		{"answered, then resolved", []string{`> {"id":0,"result":{"decision":"accept"}}`, `{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":0}}`}, "allow once"},
		{"another client", []string{`{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":0}}`}, "unknown "},
		{"the turn ends", []string{`{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"interrupted"}}}`, `{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":0}}`}, "cancelled "},
		{"late answer", []string{`{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"interrupted"}}}`, `> {"id":0,"result":{"decision":"accept"}}`}, "cancelled "},
		{"the server ends", nil, "expired "},
	}
	for _, tt := range tests {
		c := &codexevent.Converter{ThreadID: "t"}
		events := feed(t, c, append([]string{ask}, tt.lines...)...)
		events = append(events, c.End(errors.New("gone"))...)
		var got []string
		for _, ev := range events {
			if r, ok := ev.(*event.PermissionResolved); ok {
				got = append(got, r.Behavior+" "+r.Scope)
			}
		}
		if len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestSecret checks that no event has the answer to a secret question.
func TestSecret(t *testing.T) {
	c := &codexevent.Converter{ThreadID: "t"}
	events := feed(t, c,
		`{"id":3,"method":"item/tool/requestUserInput","params":{"threadId":"t","turnId":"u","itemId":"i","isBlocking":true,"questions":[{"id":"pw","header":"h","question":"Password?","isSecret":true},{"id":"c","header":"h","question":"Colour?"}]}}`,
		`> {"id":3,"result":{"answers":{"pw":{"answers":["hunter2"]},"c":{"answers":["blue"]}}}}`)
	r, ok := events[len(events)-1].(*event.QuestionResolved)
	if !ok || r.Action != "accept" || strings.Contains(string(r.Answers), "hunter2") || !strings.Contains(string(r.Answers), "blue") {
		t.Errorf("%+v; want ok and r.Action == \"accept\" and not strings.Contains(string(r.Answers), \"hunter2\") and strings.Contains(string(r.Answers), \"blue\")", r)
	}
}

// TestUnknown checks that unknown messages are kept, and that those of other threads are ignored.
func TestUnknown(t *testing.T) {
	c := &codexevent.Converter{ThreadID: "t"}
	events := feed(t, c,
		`{"method":"thread/dreamt","params":{"threadId":"t","x":1}}`,
		`{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"hologram","id":"h"}}}`,
		`{"method":"item/completed","params":{"threadId":"t","turnId":"u","item":{"type":"hologram","id":"h"}}}`,
		`{"id":1,"method":"item/telepathy","params":{"threadId":"t"}}`,
		`{"method":"thread/dreamt","params":{"threadId":"other"}}`)
	var got []string
	for _, ev := range events {
		got = append(got, ev.(*event.Unknown).OriginalType)
	}
	if s := strings.Join(got, " "); s != "thread/dreamt item/hologram item/telepathy" {
		t.Errorf("s is %v; want s == \"thread/dreamt item/hologram item/telepathy\"", s)
	}
}

// TestCutOutput checks that the longer of two outputs is kept and marked when the server has cut its output.
func TestCutOutput(t *testing.T) {
	c := &codexevent.Converter{ThreadID: "t"}
	long := strings.Repeat("0123456789abcde\n", 90_000) // 1.4 MB
	cut := long[:1<<19] + "\n... 391424 bytes omitted ...\n" + long[len(long)-1<<19:]
	at := func(method string, params map[string]any) string {
		params["threadId"], params["turnId"] = "t", "u"
		return string(item.ValueOf(map[string]any{"method": method, "params": params}))
	}
	cmd := func(output any) map[string]any {
		return map[string]any{"item": map[string]any{"type": "commandExecution", "id": "c", "command": "x", "status": "completed", "aggregatedOutput": output}}
	}
	conv := fold(feed(t, c, at("item/started", cmd(nil)), at("item/commandExecution/outputDelta", map[string]any{"itemId": "c", "delta": long}), at("item/completed", cmd(cut))))
	tool := conv.Tool("c")
	if tool == nil || !tool.Truncated || tool.Result.Text() != long || tool.ToolType != "CODEX_COMMAND_EXECUTION" {
		t.Errorf("truncated %v, %d bytes, %s", tool.Truncated, len(tool.Result.Text()), tool.ToolType)
	}
	// A command that outlives its turn ends later.
	c = &codexevent.Converter{ThreadID: "t"}
	events := feed(t, c, at("item/started", cmd(nil)), `{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"u","status":"completed"}}}`)
	if s := fold(events).Tool("c").Status; s != event.ToolInProgress {
		t.Errorf("a background command is %s", s)
	}
	events = append(events, feed(t, c, at("item/completed", cmd("late")))...)
	if tool := fold(events).Tool("c"); tool.Status != event.ToolSuccess || tool.Result.Text() != "late" || tool.Truncated {
		t.Errorf("%+v; want tool.Status == event.ToolSuccess and tool.Result.Text() == \"late\" and not tool.Truncated", tool)
	}
}

func TestDiffFiles(t *testing.T) {
	diff := "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n--- a/no\n+diff --git a/no b/no\n" +
		"diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+x\n" +
		"diff --git a/old b/moved\nrename from old\nrename to moved\n"
	c := &codexevent.Converter{ThreadID: "t"}
	line := item.ValueOf(map[string]any{"method": "turn/diff/updated", "params": map[string]any{"threadId": "t", "turnId": "u", "diff": diff}})
	d := feed(t, c, string(line))[0].(*event.TurnDiff)
	var got, whole []string
	for _, f := range d.Files {
		got = append(got, f.Kind+" "+f.Path+" "+f.MovedTo)
		whole = append(whole, f.Diff)
	}
	if s := strings.Join(got, "|"); s != "update a.txt |add new.txt |move old moved" || strings.Join(whole, "") != diff {
		t.Errorf("%s; want s == \"update a.txt |add new.txt |move old moved\" and strings.Join(whole, \"\") == diff", s)
	}
}

// FuzzConverter checks that no input panics, and that each start has its stop.
func FuzzConverter(f *testing.F) {
	f.Add(`{"method":"item/started","params":{"threadId":"t","turnId":"u","item":{"type":"reasoning","id":"r"}}}`, `{"method":"item/reasoning/textDelta","params":{"threadId":"t","turnId":"u","itemId":"r","contentIndex":-5,"delta":"x"}}`)
	f.Add(`{"method":"turn/diff/updated","params":{"threadId":"t","diff":"\ndiff --git "}}`, `{"method":"turn/completed","params":{"threadId":"t"}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		c := &codexevent.Converter{ThreadID: "t"}
		var events []event.Event
		for _, line := range []string{a, b, a} {
			if l, err := item.DecodeServer([]byte(line)); err == nil {
				events = append(events, c.Server(l)...)
			}
			if l, err := item.DecodeClient([]byte(line)); err == nil {
				events = append(events, c.Client(l)...)
			}
		}
		events = append(events, c.End(nil)...)
		checkPairs(t, events)
		fold(events)
	})
}

// TestConverter_Explain checks that a refusal has the given reason, which is not on the wire.
func TestConverter_Explain(t *testing.T) {
	for _, r := range codexrec.All(t) {
		if !strings.HasSuffix(r.Title(), "approval_cancel") {
			continue
		}
		var c codexevent.Converter
		var got []string
		for _, l := range r.Lines(t) {
			var events []event.Event
			if d, err := item.DecodeClient(l.Msg); l.Client && err == nil {
				events = c.Client(d)
			} else if d, err := item.DecodeServer(l.Msg); !l.Client && err == nil {
				events = c.Server(d)
			}
			for _, ev := range events {
				switch ev := ev.(type) {
				case *event.PermissionRequest:
					c.Explain(ev.RequestID, "there is no user to ask")
				case *event.PermissionResolved:
					got = append(got, ev.Behavior+" "+ev.Message)
				}
			}
		}
		if len(got) == 0 || got[0] != "deny there is no user to ask" {
			t.Errorf("%s: %q; want len(got) != 0 and got[0] == \"deny there is no user to ask\"", r.Title(), got)
		}
	}
}
