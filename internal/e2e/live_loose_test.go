package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/claudetest"
)

var uuids = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)

// promptMembers are members that messages have only in turns of prompts with a
// name.
var promptMembers = []string{
	"user_message_uuid", "user_message_uuids", "request_sent_wall_ms", "first_request_input_tokens", "first_request_cache_read_input_tokens",
	"owed_rows",
}

// withoutPromptIDs leaves out what there is only because a Client names its
// prompts: the lives of prompts that the caller did not name, and their ids.
func withoutPromptIDs(messages []any, given []string) []any {
	var out []any
	for _, m := range messages {
		v, ok := m.(map[string]any)
		if !ok {
			out = append(out, m)
			continue
		}
		if id, _ := v["command_uuid"].(string); v["type"] == "command_lifecycle" && !slices.Contains(given, id) {
			continue
		}
		v = maps.Clone(v)
		for _, k := range promptMembers {
			delete(v, k)
		}
		out = append(out, v)
	}
	return out
}

// looseness is a way in which a run may differ from the recording.
type looseness struct {
	name    string
	applies func(l *live, want []any) bool // looks at the recording, never at its name
	change  func(want, got []any) (w, g []any)
	why     string
}

// loose are the ways.
var loose = []looseness{
	{
		name:    "parallel tools and concurrent agents come in any order",
		applies: concurrent,
		change:  func(want, got []any) ([]any, []any) { return sorted(want), sorted(got) },
		why:     "they run at the same time",
	},
	{
		name:    "answers to concurrent requests come in any order",
		applies: func(l *live, _ []any) bool { return l.rec.Caller == nil && requestsAtOnce(l.rec.Processes["."]) },
		change:  func(want, got []any) ([]any, []any) { return sorted(want), sorted(got) },
		why:     "the CLI works on them at the same time",
	},
	{
		name:    "after a SIGKILL a prefix",
		applies: func(l *live, _ []any) bool { return slices.ContainsFunc(l.rec.Processes["."].Timeline, kills) },
		change: func(want, got []any) ([]any, []any) {
			n := min(len(want), len(got))
			return want[:n], got[:n]
		},
		why: "what the CLI had written when it died is a matter of luck",
	},
	{
		name:    "mirrored entries by their set",
		applies: func(_ *live, want []any) bool { return slices.ContainsFunc(want, isMirror) },
		change:  func(want, got []any) ([]any, []any) { return mirrorSet(want), mirrorSet(got) },
		why:     "how the CLI divides its transcript into frames, and when, differs from run to run",
	},
	{
		name:    "a cut connection may lose what was written to it",
		applies: func(l *live, _ []any) bool { return l.cutsConnections },
		change:  func(want, got []any) ([]any, []any) { return withoutCut(want), withoutCut(got) },
		why:     "whether the CLI reads the events before the reset is a race between the two ends",
	},
	{
		name:    "what a turn that is broken off has used",
		applies: func(_ *live, want []any) bool { return slices.ContainsFunc(want, brokenOff) },
		change: func(want, got []any) ([]any, []any) {
			return withoutUsage(want, brokenOff), withoutUsage(got, brokenOff)
		},
		why: "the CLI may write the result before it has counted the last answer of the API",
	},
	{
		name: "the words of an answer that an SDK gives by itself",
		applies: func(l *live, _ []any) bool {
			return l.rec.Caller != nil && slices.ContainsFunc(l.rec.Caller.Calls, answersItself)
		},
		change: func(want, got []any) ([]any, []any) { return withoutErrorTexts(want), withoutErrorTexts(got) },
		why:    "arguments that do not fit and answers of no kind are refused in the words of each SDK",
	},
	{
		name:    "a hint for another entrypoint",
		applies: func(_ *live, want []any) bool { return slices.ContainsFunc(want, modelNotFound) },
		change:  func(want, got []any) ([]any, []any) { return want, withoutHint(got) },
		why:     "of CLAUDE_CODE_ENTRYPOINT=sdk-cli, which this SDK sets, the CLI thinks that somebody types commands",
	},
}

// looser compares two sequences with diff, and, where they differ, once more with
// each looseness that applies and with all of them.
func (l *live) looser(want, got []any, diff func(want, got []any) string, what string) {
	l.t.Helper()
	first := diff(want, got)
	if first == "" {
		return
	}
	allWant, allGot, names := want, got, []string{}
	for _, r := range loose {
		if !r.applies(l, want) {
			continue
		}
		if w, g := r.change(want, got); diff(w, g) == "" {
			l.tally.add(func() { l.tally.loose = append(l.tally.loose, l.rec.Name+": "+r.name+": "+r.why) })
			return
		}
		allWant, allGot = r.change(allWant, allGot)
		names = append(names, r.name)
	}
	if len(names) > 1 && diff(allWant, allGot) == "" {
		l.tally.add(func() { l.tally.loose = append(l.tally.loose, l.rec.Name+": "+strings.Join(names, "; ")) })
		return
	}
	l.t.Errorf("%s (-recorded +live):\n%s", what, first)
}

// kills reports whether the CLI is killed in this moment.
func kills(ev claudetest.TimelineEvent) bool {
	return ev.Ev == "tee_sigkill" || ev.Ev == "signal" && ev.Sig == "killed"
}

// isMirror reports whether a line mirrors a transcript.
func isMirror(m any) bool {
	v, ok := m.(map[string]any)
	return ok && v["type"] == "transcript_mirror"
}

// mirrorSet puts the kinds of all mirrored entries into one line at the end.
func mirrorSet(messages []any) []any {
	var out, entries []any
	for _, m := range messages {
		if !isMirror(m) {
			out = append(out, m)
			continue
		}
		list, _ := m.(map[string]any)["entries"].([]any)
		for _, e := range list {
			if kind := entryKind(e); kind != "" {
				entries = append(entries, kind)
			}
		}
	}
	return append(out, sorted(entries)...)
}

// entryKind is what an entry of a transcript is, "" for those whose number
// differs from run to run.
func entryKind(entry any) string {
	e, _ := entry.(map[string]any)
	typ, _ := e["type"].(string)
	if typ == "last-prompt" || typ == "atis-latch" {
		return ""
	}
	if a, ok := e["attachment"].(map[string]any); ok {
		typ += " " + fmt.Sprint(a["type"])
	}
	if m, ok := e["message"].(map[string]any); ok {
		blocks, _ := m["content"].([]any)
		for _, b := range blocks {
			if block, ok := b.(map[string]any); ok {
				typ += " " + fmt.Sprint(block["type"])
			}
		}
	}
	return typ
}

// requestsAtOnce reports whether requests were written without waiting for the
// answer to the one before.
func requestsAtOnce(p *claudetest.RecordedProcess) bool {
	pending := 0
	for _, ev := range p.Timeline {
		switch {
		case ev.Dir == "in" && ev.Type == "control_request":
			pending++
		case ev.Dir == "out" && ev.Type == "control_response":
			pending--
		}
		if pending > 1 {
			return true
		}
	}
	return false
}

// withoutCut leaves out the events of messages that were never completed, and
// the counts that they are part of.
func withoutCut(messages []any) []any {
	whole := map[any]bool{}
	for _, m := range messages {
		v, _ := m.(map[string]any)
		if msg, ok := v["message"].(map[string]any); ok && v["type"] == "assistant" {
			whole[msg["id"]] = true
		}
	}
	messages = slices.DeleteFunc(slices.Clone(messages), func(m any) bool {
		v, ok := m.(map[string]any)
		return ok && v["type"] == "stream_event" && !whole[v["api_message_id"]]
	})
	return withoutUsage(messages, isResult)
}

func isResult(m any) bool {
	v, ok := m.(map[string]any)
	return ok && v["type"] == "result"
}

// brokenOff reports whether a message is the result of a turn that did not come
// to its end.
func brokenOff(m any) bool {
	return isResult(m) && m.(map[string]any)["subtype"] != "success"
}

// withoutUsage leaves out the counts of some messages.
func withoutUsage(messages []any, some func(any) bool) []any {
	var out []any
	for _, m := range messages {
		if some(m) {
			v := maps.Clone(m.(map[string]any))
			for _, k := range []string{"usage", "modelUsage", "model_usage_since_last_result"} {
				delete(v, k)
			}
			m = v
		}
		out = append(out, m)
	}
	return out
}

func modelNotFound(m any) bool {
	v, ok := m.(map[string]any)
	return ok && v["error"] == "model_not_found"
}

const modelHint = " Run --model to pick a different model."

func withoutHint(messages []any) []any {
	text, err := json.Marshal(messages)
	if err != nil {
		return messages // it was JSON
	}
	return claudetest.JSONValue([]byte(strings.ReplaceAll(string(text), modelHint, ""))).([]any)
}

// concurrent reports whether things happened at the same time: agents, tasks in
// the background, or several tools of one message.
func concurrent(_ *live, messages []any) bool {
	tools := map[any]int{}
	for _, m := range messages {
		v, ok := m.(map[string]any)
		if !ok {
			continue
		}
		if v["parent_tool_use_id"] != nil || v["task_id"] != nil {
			return true
		}
		msg, _ := v["message"].(map[string]any)
		blocks, _ := msg["content"].([]any)
		for _, b := range blocks {
			if block, ok := b.(map[string]any); ok && block["type"] == "tool_use" {
				if tools[msg["id"]]++; tools[msg["id"]] > 1 {
					return true
				}
			}
		}
	}
	return false
}

// sorted forgets the order.
func sorted(messages []any) []any {
	out := slices.Clone(messages)
	key := func(v any) string {
		text, _ := json.Marshal(v) // it was JSON
		return string(text)
	}
	slices.SortStableFunc(out, func(a, b any) int {
		if ka, kb := key(a), key(b); ka < kb {
			return -1
		} else if ka > kb {
			return 1
		}
		return 0
	})
	return out
}

// answersItself reports whether an SDK answered in place of a callback: because
// that was not called, or gave no answer that there is.
func answersItself(call claudetest.Call) bool {
	return slices.ContainsFunc(call.Answers, func(a claudetest.Answer) bool {
		var v struct {
			Behavior string `json:"behavior"`
		}
		_ = json.Unmarshal(a.Return, &v) // nothing is no answer either
		return a.NotCalled != nil || a.Subtype == "can_use_tool" && v.Behavior != "allow" && v.Behavior != "deny"
	})
}

// withoutErrorTexts leaves out what tools that failed say.
func withoutErrorTexts(messages []any) []any {
	var out []any
	for _, m := range messages {
		v, _ := m.(map[string]any)
		msg, _ := v["message"].(map[string]any)
		blocks, _ := msg["content"].([]any)
		failed := slices.ContainsFunc(blocks, func(b any) bool {
			block, ok := b.(map[string]any)
			return ok && block["type"] == "tool_result" && block["is_error"] == true
		})
		if failed {
			v = maps.Clone(v)
			delete(v, "message")
			delete(v, "tool_use_result")
			m = v
		}
		out = append(out, m)
	}
	return out
}
