package claude

import (
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
)

// runEndLines are the messages of the table below.
var runEndLines = map[string]string{
	"running":    `{"type":"system","subtype":"session_state_changed","state":"running"}`,
	"idle":       `{"type":"system","subtype":"session_state_changed","state":"idle"}`,
	"action":     `{"type":"system","subtype":"session_state_changed","state":"requires_action"}`,
	"init":       `{"type":"system","subtype":"init"}`,
	"result":     `{"type":"result","subtype":"success","is_error":false}`,
	"queued":     `{"type":"result","subtype":"success","is_error":false,"queued_turn_count":2}`,
	"tasks":      `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"a"},{"task_id":"b"}]}`,
	"ambient":    `{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"a","ambient":true}]}`,
	"notasks":    `{"type":"system","subtype":"background_tasks_changed","tasks":[]}`,
	"agent":      `{"type":"system","subtype":"task_started","task_id":"a","task_type":"local_agent"}`,
	"workflow":   `{"type":"system","subtype":"task_started","task_id":"b","task_type":"local_workflow"}`,
	"bash":       `{"type":"system","subtype":"task_started","task_id":"c","task_type":"local_bash"}`,
	"completed":  `{"type":"system","subtype":"task_updated","task_id":"a","patch":{"status":"completed"}}`,
	"killed":     `{"type":"system","subtype":"task_updated","task_id":"b","patch":{"status":"killed"}}`,
	"background": `{"type":"system","subtype":"task_updated","task_id":"a","patch":{"is_backgrounded":true}}`,
	"cancelled":  `{"type":"command_lifecycle","command_uuid":"u","state":"cancelled"}`,
	"started":    `{"type":"command_lifecycle","command_uuid":"u","state":"started"}`,
	"notified":   `{"type":"system","subtype":"task_notification","task_id":"a","status":"completed"}`,
}

func TestRunEnd(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps string // "send" is a prompt, "eof" the end of prompts; "!" marks where it must become due, and not before
		hold  bool
	}{
		{"stream", "send eof !", false},
		{"stream in a turn", "send running init eof !", false},
		{"no prompts", "eof !", true},
		{"result and idle", "send eof running init result idle !", true},
		{"idle before the result", "send eof running init idle result !", true},
		{"no states", "send eof init result !", true},
		{"result before the end of the prompts", "send running result idle eof !", true},
		{"queued turns", "send eof running queued idle result !", true},
		{"a prompt behind a result", "send result send eof result !", true},
		{"tasks", "send eof running tasks result idle notasks idle !", true},
		{"task that the CLI takes up", "send eof running tasks result idle notasks running init result idle !", true},
		{"task that ends in a turn", "send eof running tasks notasks result idle !", true},
		{"prompt that was cancelled", "send running result send cancelled eof idle !", true},
		{"only prompt was cancelled", "send eof cancelled !", true},
		{"queued prompt cancelled in a turn", "send send eof running init cancelled result idle !", true},
		// A prompt that was taken into a turn has a result, which may be late.
		{"prompt cancelled after it began", "send send eof started cancelled running result send idle result !", true},
		{"only prompt cancelled after it began", "send eof started cancelled running init result idle !", true},
		{"prompt cancelled twice", "send send eof cancelled result !", true},
		{"ambient tasks", "send eof running ambient result idle !", true},
		{"question", "send eof running result action running idle !", true},
		{"agent of an older CLI", "send eof agent result background completed !", true},
		{"agents of an older CLI", "send eof agent workflow result notified killed !", true},
		{"bash of an older CLI", "send eof bash result !", true},
		{"the whole set outdoes starts", "send eof running notasks agent result idle !", true},
		{"task that ended before the result", "send eof agent notified result !", true},
	} {
		r := runEnd{hold: tt.hold}
		for i, step := range strings.Fields(tt.steps) {
			switch step {
			case "send":
				r.prompt()
			case "eof":
				r.noMore = true
			case "!":
			default:
				m, err := message.Decode([]byte(runEndLines[step]))
				if err != nil {
					t.Fatalf("step is %v, err is %v; want err == nil", step, err)
				}
				r.see(m)
			}
			// It becomes due at the step before the mark, not sooner.
			next := strings.Fields(tt.steps)[min(i+1, len(strings.Fields(tt.steps))-1)]
			if got, want := r.due(), next == "!"; got != want {
				t.Errorf("%s: at step %d, %s, due is %v", tt.name, i, step, got)
			}
		}
	}
}

func TestRunEndWaiting(t *testing.T) {
	for steps, want := range map[string]bool{
		"":                                   false,
		"running init":                       false,
		"running init result":                true,
		"running tasks init result":          true,
		"running tasks init result idle":     true,
		"running init result action":         false,
		"running init result action running": true,
		"running init result init":           false,
		"running init result init result":    true,
		"running init queued":                false,
	} {
		r := runEnd{hold: true, noMore: true}
		r.prompt()
		for _, step := range strings.Fields(steps) {
			m, err := message.Decode([]byte(runEndLines[step]))
			if err != nil {
				t.Fatal(err)
			}
			r.see(m)
		}
		if got := r.waiting(); got != want {
			t.Errorf("%q: %v; want got == want", steps, got)
		}
	}
}
