package webserver

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// small returns the scene with a name that demonstrates one feature, or nil.
func (t *scene) small(name, rest string) func() error {
	switch name {
	case "blocked":
		return func() error { return t.blocked(rest) }
	case "recorded":
		return func() error { return t.show(strings.Fields(rest)) }
	case "ponder":
		return t.ponder
	case "twice":
		return t.twice
	}
	return nil
}

// titles maps realistic prompts to scenes, for screenshots.
var titles = map[string]string{
	"Bound the upload retries":               "story",
	"Run the whole suite until I stop you":   "hold",
	"Move the docs to one theme":             "permission",
	"Use the plain theme in site.yaml":       "edit",
	"Why is the nightly build slow?":         "question",
	"Split the nightly build, plan it first": "plan",
	"Give the retries two limits":            "rework",
	"Write the backoff down too":             "more",
}

// play plays the scene that a prompt names. Contexts may precede the text.
func (t *scene) play(prompt string) error {
	if name := titles[prompt]; name != "" {
		prompt = name
	}
	if i := strings.LastIndex(prompt, "\n\n"); strings.HasPrefix(prompt, "> **") && i >= 0 {
		prompt = prompt[i+2:]
	}
	word, rest, _ := strings.Cut(prompt, " ")
	n, _ := strconv.Atoi(rest)
	t.pace = time.Millisecond
	if word == "tool" { // the suggestion on the page for a new session
		word = rest
	}
	switch word {
	case "story":
		return t.story()
	case "permission", "Bash":
		return t.permission()
	case "careful":
		return t.careful()
	case "edit", "Edit":
		return t.edit(rest == "all")
	case "write":
		if rest == "" {
			n = 388
		}
		return t.write(n)
	case "mcp":
		return t.mcp()
	case "question", "ask":
		return t.question()
	case "plan":
		return t.plan()
	case "elicit":
		return t.elicit()
	case "hostile":
		t.pace = 0
		return t.answer("", text(hostile))
	case "huge":
		t.pace = 0
		return t.answer("", text(hugeTable()+"\n\n"+strings.Repeat("word ", 64<<10/5)+"\n\n```go\n"+strings.Repeat("x := 1\n", 64<<10/7)+"```\n"))
	case "flood":
		return t.flood(n)
	case "bulk":
		return t.bulk(n)
	case "hold":
		if err := t.answer("", text("I work until I am stopped.")); err != nil {
			return err
		}
		return t.wait(time.Hour)
	case "replay":
		return t.replay(rest)
	}
	for _, f := range []func() error{t.working(word, prompt), t.small(word, rest), t.looks(word)} {
		if f != nil {
			return f()
		}
	}
	return t.answer("", text(prompt))
}

func bashResult(out string) map[string]any {
	return obj{"stdout": out, "stderr": "", "interrupted": false, "isImage": false}
}

const retryPatch = `[{"oldStart":41,"oldLines":5,"newStart":41,"newLines":7,"lines":[" func (u *Uploader) retryPart(ctx context.Context, p Part) error {","-\tfor {","+\tvar first error","+\tdeadline := u.clock.Now().Add(u.policy.Total)","+\tfor n := 0; n < u.policy.Attempts; n++ {"," \t\terr := u.putPart(ctx, p)"," \t\tif err == nil {"]}]`

// story plays a long turn that needs no person.
func (t *scene) story() error {
	read, grep, bash, edit, todo, task := t.next("toolu"), t.next("toolu"), t.next("toolu"), t.next("toolu"), t.next("toolu"), t.next("toolu")
	todos := []obj{{"content": "Find every caller of retryPart", "status": "completed", "activeForm": "Finding callers"}, {"content": "Bound attempts and total time", "status": "in_progress", "activeForm": "Bounding attempts and total time"}, {"content": "Test with a store that answers 503", "status": "pending", "activeForm": "Testing"}}
	if err := t.answer("", thinking("retryPart loops until its own request succeeds, so one bad store holds every worker. A ceiling on attempts is not enough."),
		text("The loop in `retryPart` has **no ceiling**: each part retries until its own request succeeds. I look at who depends on that first."),
		tool(grep, "Grep", obj{"pattern": `retryPart\(`, "path": t.dir + "/upload"}), tool(read, "Read", obj{"file_path": t.dir + "/upload/retry.go"})); err != nil {
		return err
	}
	t.result("", grep, "upload/retry.go:41\nupload/upload.go:88", obj{"mode": "content", "numFiles": 2, "numLines": 7, "filenames": []string{}, "content": ""}, false)
	t.result("", read, "     1\tpackage upload\n", obj{"type": "text", "file": obj{"filePath": t.dir + "/upload/retry.go", "content": "package upload\n", "numLines": 88, "startLine": 1, "totalLines": 88}}, false)
	if err := t.answer("", tool(todo, "TodoWrite", obj{"todos": todos}), tool(task, "Task", obj{"subagent_type": "Explore", "description": "Find callers that rely on endless retries", "prompt": "Look for callers."})); err != nil {
		return err
	}
	t.result("", todo, "Todos have been modified successfully", obj{"oldTodos": []obj{}, "newTodos": todos}, false)
	inner := t.next("toolu")
	if err := t.answer(task, tool(inner, "Grep", obj{"pattern": "retryPart|WithRetry"})); err != nil {
		return err
	}
	t.result(task, inner, "12 matches", obj{"mode": "content", "numFiles": 3, "numLines": 12}, false)
	if err := t.answer(task, text("Two callers: `Uploader.Put` passes its context and stops with it; `mirror.copy` does not.")); err != nil {
		return err
	}
	t.result("", task, []obj{{"type": "text", "text": "Two callers."}}, obj{"status": "completed", "totalToolUseCount": 1, "totalDurationMs": 21000, "totalTokens": 9400, "content": []obj{{"type": "text", "text": "Two callers."}}}, false)
	if err := t.answer("", tool(edit, "Edit", obj{"file_path": t.dir + "/upload/retry.go", "old_string": "\tfor {\n", "new_string": "\tvar first error\n\tfor n := 0; n < 6; n++ {\n"}),
		tool(bash, "Bash", obj{"command": "go test ./upload -run Retry -race", "description": "Retry tests with the race detector"})); err != nil {
		return err
	}
	t.result("", edit, "The file has been updated.", obj{"filePath": t.dir + "/upload/retry.go", "oldString": "", "newString": "", "originalFile": "", "structuredPatch": rawJSON(retryPatch), "userModified": false, "replaceAll": false}, false)
	t.result("", bash, "Exit code 1\n--- FAIL: TestRetryStopsAtTotal (0.01s)\n    retry_test.go:58: waited 2m4s, want at most 2m0s\nFAIL", "Error: Exit code 1", true)
	return t.answer("", text("The policy now has two limits, and whichever comes first ends the part:\n\n- **Attempts**: 6, with full jitter between them.\n- **Total time**: 2 minutes, the store's own `Retry-After` included.\n\n```go\ntype Policy struct {\n\tAttempts int\n\tTotal    time.Duration\n}\n```\n\n| limit | default |\n|---|---:|\n| attempts | 6 |\n| total | 2 min |\n\nOne test still fails; see https://example.com/retry."))
}

func (t *scene) permission() error {
	id := t.next("toolu")
	input := obj{"command": "cd docs && rm -rf .cache/theme && npm run build -- --theme plain", "description": "Clear the old theme's cache and build the pages again"}
	if err := t.answer("", text("The site carries three themes; only `plain` is used. I clear the cache and build with that one."), tool(id, "Bash", input)); err != nil {
		return err
	}
	allowed, why, err := t.permit(id, "Bash", input,
		obj{"type": "addRules", "rules": []obj{{"toolName": "Bash", "ruleContent": "npm run build:*"}, {"toolName": "Bash", "ruleContent": "rm -rf .cache/theme"}}, "behavior": "allow", "destination": "localSettings"},
		obj{"type": "setMode", "mode": "acceptEdits", "destination": "session"})
	if err != nil {
		return err
	}
	if !allowed {
		t.result("", id, "The person said no: "+why, nil, true)
		return t.answer("", text("I leave it. Reason: "+why))
	}
	t.result("", id, "built 12 pages", bashResult("built 12 pages"), false)
	return t.answer("", text("Built."))
}

// blocked asks to read a file that the CLI considers outside of its directories.
func (t *scene) blocked(path string) error {
	if !strings.HasPrefix(path, "/") {
		path = t.dir + "/" + path
	}
	id, input := t.next("toolu"), obj{"file_path": path}
	if err := t.answer("", tool(id, "Read", input)); err != nil {
		return err
	}
	a, err := t.ask(obj{"subtype": "can_use_tool", "tool_name": "Read", "input": input, "tool_use_id": id, "blocked_path": path})
	if err != nil {
		return err
	}
	t.result("", id, member(a, "behavior"), nil, false)
	return t.answer("", text("Asked to read."))
}

// twice ends a turn, and then again without content, as the CLI does after a task.
func (t *scene) twice() error {
	err := t.answer("", text("Fine."))
	t.add(obj{"type": "result", "subtype": "success", "uuid": uuid(), "session_id": t.id, "is_error": false, "num_turns": 1, "duration_ms": 100, "duration_api_ms": 5, "result": "Fine."})
	t.last = ""
	return err
}

// ponder reports a task and the amount of thinking until it is stopped.
func (t *scene) ponder() error {
	t.add(obj{"type": "system", "subtype": "background_tasks_changed", "uuid": uuid(), "session_id": t.id, "tasks": []obj{{"task_id": "b1c2d3e4f", "task_type": "local_bash", "description": "Watch the tide gauge"}}})
	for _, n := range []int{100, 412} {
		t.add(obj{"type": "system", "subtype": "thinking_tokens", "uuid": uuid(), "session_id": t.id, "estimated_tokens": n, "estimated_tokens_delta": n})
	}
	return t.wait(time.Hour)
}

// careful asks for permission for a call that the agent advises against.
func (t *scene) careful() error {
	id := t.next("toolu")
	input := obj{"command": "git push --force", "description": "Push over what is there"}
	if err := t.answer("", tool(id, "Bash", input)); err != nil {
		return err
	}
	a, err := t.ask(obj{"subtype": "can_use_tool", "tool_name": "Bash", "input": input, "tool_use_id": id, "default_to_no": true})
	if err != nil {
		return err
	}
	t.result("", id, member(a, "behavior"), nil, true)
	return t.answer("", text("The answer was "+member(a, "behavior")+"."))
}

// edit asks to change a file, at every occurrence or at the only one.
func (t *scene) edit(all bool) error {
	id := t.next("toolu")
	input := obj{"file_path": t.dir + "/site.yaml", "old_string": "theme:\n  name: harbour-dark\n  code: true\nplugins: [theme-switch, search]\n", "new_string": "theme:\n  name: plain\n  accent: sea\n  code: true\nplugins: [search]\n", "replace_all": all}
	if err := t.answer("", tool(id, "Edit", input)); err != nil {
		return err
	}
	allowed, why, err := t.permit(id, "Edit", input, obj{"type": "setMode", "mode": "acceptEdits", "destination": "session"})
	if err != nil {
		return err
	}
	if !allowed {
		t.result("", id, "denied: "+why, nil, true)
		return t.answer("", text("Not changed."))
	}
	t.result("", id, "The file has been updated.", obj{"filePath": t.dir + "/site.yaml", "structuredPatch": rawJSON(`[{"oldStart":3,"oldLines":4,"newStart":3,"newLines":5,"lines":[" theme:","-  name: harbour-dark","+  name: plain","+  accent: sea","   code: true","-plugins: [theme-switch, search]","+plugins: [search]"]}]`)}, false)
	return t.answer("", text("Changed."))
}

// write asks to create a file of n lines.
func (t *scene) write(n int) error {
	id := t.next("toolu")
	input := obj{"file_path": t.dir + "/docs/long.md", "content": strings.Repeat("line\n", n)}
	if err := t.answer("", tool(id, "Write", input)); err != nil {
		return err
	}
	allowed, _, err := t.permit(id, "Write", input, obj{"type": "setMode", "mode": "acceptEdits", "destination": "session"})
	if err != nil {
		return err
	}
	t.result("", id, "Written.", nil, !allowed)
	return t.answer("", text("Asked to write."))
}

func (t *scene) mcp() error {
	id := t.next("toolu")
	input := obj{"title": "Nightly build over 15 minutes", "labels": []string{"ci"}, "days": 3}
	if err := t.answer("", tool(id, "mcp__tracker__create_issue", input)); err != nil {
		return err
	}
	allowed, _, err := t.permit(id, "mcp__tracker__create_issue", input)
	if err != nil {
		return err
	}
	t.result("", id, []obj{{"type": "text", "text": fmt.Sprint("created: ", allowed)}}, nil, !allowed)
	return t.answer("", text("Asked the tracker."))
}

func (t *scene) question() error {
	id := t.next("toolu")
	input := obj{"questions": []obj{
		{"question": "Which checks should run at night only?", "header": "Checks", "multiSelect": true, "options": []obj{
			{"label": "Race detector", "description": "Takes 11 of the 19 minutes", "preview": "```diff\n test:\n-  go test -race ./...\n+  go test ./...\n```"}, {"label": "Soak", "description": "Takes 5 minutes"}, {"label": "Fuzz targets", "description": "Takes 90 s"}}},
		{"question": "Where should the limits live?", "header": "Place", "multiSelect": false, "options": []obj{{"label": "docs/limits.md", "description": "One file"}, {"label": "In the code", "description": "Beside what they limit"}}}}}
	if err := t.answer("", tool(id, "AskUserQuestion", input)); err != nil {
		return err
	}
	a, err := t.ask(obj{"subtype": "can_use_tool", "tool_name": "AskUserQuestion", "input": input, "tool_use_id": id})
	if err != nil {
		return err
	}
	t.result("", id, string(a), nil, member(a, "behavior") != "allow")
	return t.answer("", text("You said: "+string(a)))
}

func (t *scene) plan() error {
	id := t.next("toolu")
	input := obj{"plan": "## Split the nightly build\n\n1. Move the race detector to a `nightly` target.\n2. Run the fuzz targets for 20 s each.\n3. Fail the nightly job after 15 minutes.\n"}
	if err := t.answer("", tool(id, "ExitPlanMode", input)); err != nil {
		return err
	}
	a, err := t.ask(obj{"subtype": "can_use_tool", "tool_name": "ExitPlanMode", "input": input, "tool_use_id": id})
	if err != nil {
		return err
	}
	t.result("", id, string(a), nil, member(a, "behavior") != "allow")
	return t.answer("", text("The plan: "+member(a, "behavior")+" "+member(a, "message")+" "+member(a, "mode")))
}

func (t *scene) elicit() error {
	a, err := t.ask(obj{"subtype": "elicitation", "mcp_server_name": "tracker", "message": "A few details for the issue", "mode": "form", "requested_schema": obj{"type": "object", "required": []string{"title", "days"}, "properties": obj{
		"title": obj{"type": "string", "title": "Title"}, "severity": obj{"type": "string", "title": "Severity", "enum": []string{"low", "medium", "high"}}, "days": obj{"type": "integer", "title": "Days until due", "maximum": 90}, "notify": obj{"type": "boolean", "title": "Tell the people on call"}}}})
	if err != nil {
		return err
	}
	return t.answer("", text("The form: "+string(a)))
}

// flood streams n deltas at a hundred a second: paragraphs, code and lists in turn.
func (t *scene) flood(n int) error {
	t.pace = 10 * time.Millisecond
	before := map[int]string{40: "\n\n```go\n", 80: "\n```\n\n- "}
	var b strings.Builder
	for i := range n {
		at := i % 120
		switch {
		case before[at] != "":
			b.WriteString(before[at])
		case i > 0 && at == 0:
			b.WriteString("\n\n")
		case at > 40 && at < 80 && at%8 == 0:
			b.WriteString("\n")
		case at > 80 && at%10 == 0:
			b.WriteString("\n- ")
		}
		fmt.Fprintf(&b, "word%d ", i)
	}
	return t.answer("", text(b.String()))
}

// bulk emits n messages at once.
func (t *scene) bulk(n int) error {
	t.pace = 0
	for i := range n {
		b := text(fmt.Sprintf("Message %d of many, with a `code span` and a list:\n\n- one\n- two", i+1))
		b.pieces = nil
		if err := t.answer("", b); err != nil {
			return err
		}
	}
	return nil
}

const hostile = "<script>window.hacked=1</script> <img src=x onerror=\"window.hacked=1\">\n\n" +
	"[a](javascript:window.hacked=1) [b](jav&#x61;script:window.hacked=1) [c](data:text/html,<script>1</script>) [d](https://good.example/x) [bank.example](https://evil.example/)\n\n" +
	"![p](https://tracker.example/p.png) <https://auto.example/> <javascript:alert(1)>\n\n" +
	"bidi: \u202eabc\u202c end \u2066x\u2069\n\n<iframe src=\"https://evil.example\"></iframe>\n\n| a | b |\n|---|---|\n| <b onclick=alert(1)>x</b> | [y](vbscript:x) |\n"

func hugeTable() string {
	var b strings.Builder
	b.WriteString("| a | b | c |\n|---|---|---|\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "| %d | cell | <i>x</i> |\n", i)
	}
	return b.String()
}
