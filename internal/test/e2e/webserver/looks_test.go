package webserver

import "strings"

// looks returns the scene with a name that shows how one element is displayed, or nil.
func (t *scene) looks(name string) func() error {
	return map[string]func() error{"quote": t.quote, "delegate": t.delegate, "background": t.background, "empty": t.empty, "unapplied": t.unapplied, "wide": t.wide, "outside": t.outside}[name]
}

// quote answers with a quotation, and with paragraphs in different writing directions.
func (t *scene) quote() error {
	return t.answer("", text("The rule says:\n\n> A part is tried six times.\n>\n> Then it fails.\n\nThat is all.\n\nשלום, זה הסבר קצר.\n\nAnd on it goes.\n\n- one\n- עוד אחד"))
}

// delegate makes a subagent ask for permission, and ends when it has an answer.
func (t *scene) delegate() error {
	task, inner := t.next("toolu"), t.next("toolu")
	if err := t.answer("", tool(task, "Task", obj{"subagent_type": "Explore", "description": "Look for callers", "prompt": "Look for callers."})); err != nil {
		return err
	}
	input := obj{"command": "git grep retryPart"}
	if err := t.answer(task, text("I search for it."), tool(inner, "Bash", input)); err != nil {
		return err
	}
	if _, _, err := t.permit(inner, "Bash", input); err != nil {
		return err
	}
	t.result(task, inner, "upload/retry.go", bashResult("upload/retry.go"), false)
	if err := t.answer(task, text("There is one caller.")); err != nil {
		return err
	}
	t.result("", task, []obj{{"type": "text", "text": "One caller."}}, obj{"status": "completed", "totalToolUseCount": 1, "totalDurationMs": 2100, "totalTokens": 940}, false)
	return t.answer("", text("It has one caller."))
}

// background leaves a command running; its task has no description.
func (t *scene) background() error {
	id := t.next("toolu")
	if err := t.answer("", tool(id, "Bash", obj{"command": "npm run docs -- --watch", "description": "Serve the docs", "run_in_background": true})); err != nil {
		return err
	}
	t.add(obj{"type": "system", "subtype": "task_started", "uuid": uuid(), "session_id": t.id, "task_id": "b7f3a2c1d", "tool_use_id": id, "task_type": "local_bash", "is_backgrounded": true})
	t.result("", id, "Command running in background with ID: b7f3a2c1d", obj{"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": "b7f3a2c1d"}, false)
	return t.answer("", text("It runs."))
}

// empty creates a file without content, after a request.
func (t *scene) empty() error {
	id, input := t.next("toolu"), obj{"file_path": t.dir + "/docs/empty.md", "content": ""}
	if err := t.answer("", tool(id, "Write", input)); err != nil {
		return err
	}
	allowed, _, err := t.permit(id, "Write", input)
	if err != nil || !allowed {
		return err
	}
	if err := t.change("docs/empty.md", func(string) string { return "" }); err != nil {
		return err
	}
	t.result("", id, "File created successfully.", obj{"type": "create", "filePath": t.dir + "/docs/empty.md", "content": "", "structuredPatch": []obj{}}, false)
	return t.answer("", text("It is there."))
}

// unapplied makes a change that does not match its file, and runs a missing command.
func (t *scene) unapplied() error {
	edit, bash := t.next("toolu"), t.next("toolu")
	if err := t.answer("", tool(edit, "Edit", obj{"file_path": t.dir + "/README.md", "old_string": "no such text", "new_string": "x"}), tool(bash, "Bash", obj{"command": "gofmt -l ."})); err != nil {
		return err
	}
	t.result("", edit, "<tool_use_error>String to replace not found in file.\nString: no such text</tool_use_error>", "Error: String to replace not found in file.", true)
	t.result("", bash, "Exit code 127\n/bin/bash: line 1: gofmt: command not found", "Error: Exit code 127", true)
	return t.answer("", text("I leave it."))
}

// outside changes a file of the project and writes one outside of it.
func (t *scene) outside() error {
	in, out := t.next("toolu"), t.next("toolu")
	if err := t.answer("", tool(in, "Edit", obj{"file_path": t.dir + "/upload/retry.go", "old_string": "\tfor {\n", "new_string": "\tfor n := 0; n < 6; n++ {\n"}),
		tool(out, "Write", obj{"file_path": "/var/notes/outside.md", "content": "Six times.\n"})); err != nil {
		return err
	}
	t.result("", in, "The file has been updated.", obj{"filePath": t.dir + "/upload/retry.go", "structuredPatch": rawJSON(retryPatch)}, false)
	t.result("", out, "File created successfully.", obj{"type": "create", "filePath": "/var/notes/outside.md", "content": "Six times.\n", "structuredPatch": []obj{}}, false)
	return t.answer("", text("Both are written."))
}

// wide asks for a change with a long line.
func (t *scene) wide() error {
	id := t.next("toolu")
	input := obj{"file_path": t.dir + "/wide.go", "content": "package wide\n\nvar all = []string{" + strings.Repeat(`"a berth", `, 60) + "}\n"}
	if err := t.answer("", tool(id, "Write", input)); err != nil {
		return err
	}
	if _, _, err := t.permit(id, "Write", input); err != nil {
		return err
	}
	t.result("", id, "denied", nil, true)
	return t.answer("", text("Not written."))
}
