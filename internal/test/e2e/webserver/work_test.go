package webserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// working returns the file scene that a prompt names, or nil.
func (t *scene) working(word, prompt string) func() error {
	if strings.Contains(prompt, "review comments on your changes") {
		return t.address
	}
	return map[string]func() error{"rework": t.rework, "reworking": t.reworking, "more": t.more, "trouble": t.trouble, "limited": t.limited, "/compact": t.compact}[word]
}

// pays adds to the cost of the session.
func (t *scene) pays(dollars float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cost += dollars
}

// change applies a function to a file in the directory of the session.
func (t *scene) change(name string, f func(string) string) error {
	path := filepath.Join(t.dir, filepath.FromSlash(name))
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(f(string(old))), 0o600)
}

// bash emits a finished command.
func (t *scene) bash(say, command, out string) error {
	id := t.next("toolu")
	if err := t.answer("", text(say), tool(id, "Bash", obj{"command": command, "description": "Change the files"})); err != nil {
		return err
	}
	t.result("", id, out, bashResult(out), false)
	return nil
}

// rework changes files like a command, for which no tool reports a diff.
func (t *scene) rework() error {
	t.pays(0.18)
	if err := t.change("upload/retry.go", rework.Replace); err != nil {
		return err
	}
	if err := t.change("docs/limits.md", func(string) string { return "# Limits\n\n- attempts: 6\n- total: 2 minutes\n" }); err != nil {
		return err
	}
	if err := t.bash("I give the retries two limits.", "go run ./tools/limits && gofmt -l upload", ""); err != nil {
		return err
	}
	return t.answer("", text("The policy has **two limits** now, and `docs/limits.md` says them."))
}

// reworking is like rework, in a turn that continues until it is stopped.
func (t *scene) reworking() error {
	if err := t.rework(); err != nil {
		return err
	}
	return t.wait(time.Hour)
}

// more plays a second turn, which changes one file.
func (t *scene) more() error {
	t.pays(0.06)
	err := t.change("docs/limits.md", func(s string) string { return s + "- backoff: full jitter\n" })
	if err != nil {
		return err
	}
	return t.answer("", text("The backoff is written down too."))
}

// address applies the comments of a review: it changes the number of attempts.
func (t *scene) address() error {
	err := t.change("upload/retry.go", func(s string) string { return strings.Replace(s, "Attempts: 6,", "Attempts: 5,", 1) })
	if err != nil {
		return err
	}
	return t.answer("", text("I worked through the review."))
}

// trouble emits a request that the API refuses twice, a rate limit warning, and an event
// of an unknown kind.
func (t *scene) trouble() error {
	for n := range 2 {
		t.add(obj{"type": "system", "subtype": "api_retry", "uuid": uuid(), "session_id": t.id, "attempt": n + 1, "max_retries": 10, "retry_delay_ms": 500, "error_status": 529, "error": "overloaded"})
	}
	t.add(obj{"type": "weather_report", "uuid": uuid(), "session_id": t.id, "sky": "clear"})
	if err := t.answer("", text("It went through in the end.")); err != nil {
		return err
	}
	return t.answer("", text("And here is the rest."))
}

// limited plays a turn that ends at a rate limit, which resets in an hour and a half.
func (t *scene) limited() error {
	t.add(obj{"type": "rate_limit_event", "uuid": uuid(), "session_id": t.id,
		"rate_limit_info": obj{"status": "rejected", "resetsAt": time.Now().Add(90 * time.Minute).Unix(), "rateLimitType": "five_hour"}})
	return errors.New("limited")
}

// compact emits the CLI's messages of a compaction.
func (t *scene) compact() error {
	t.add(obj{"type": "system", "subtype": "compact_boundary", "uuid": uuid(), "session_id": t.id, "compact_metadata": obj{"trigger": "manual", "pre_tokens": 82_900}})
	return nil
}
