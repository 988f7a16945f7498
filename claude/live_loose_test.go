package claude_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/internal/tape"
)

// promptMembers are members that messages have only in turns of prompts with a uuid.
var promptMembers = []string{
	"user_message_uuid", "user_message_uuids", "request_sent_wall_ms", "first_request_input_tokens", "first_request_cache_read_input_tokens",
	"owed_rows",
}

// withoutPromptIDs removes data that exists only because a Client sets prompt uuids: the lifecycle messages of
// prompts without a uuid of the caller, and their ids.
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

// looseness is an allowed difference between a run and the recording.
type looseness struct {
	name    string
	applies func(l *live, want []any) bool // examines the recording, never its name
	change  func(l *live, want, got []any) (w, g []any)
	why     string
}

// loose lists all allowed differences.
var loose = []looseness{
	{
		name:    "parallel tools and concurrent agents come in any order",
		applies: concurrent,
		change:  func(_ *live, want, got []any) ([]any, []any) { return sorted(want), sorted(got) },
		why:     "they run at the same time",
	},
	{
		name:    "answers to concurrent requests come in any order",
		applies: func(l *live, _ []any) bool { return l.rec.Caller == nil && requestsAtOnce(l.rec.Processes["."]) },
		change:  func(_ *live, want, got []any) ([]any, []any) { return answersApart(want), answersApart(got) },
		why:     "the CLI works on them at the same time",
	},
	{
		name:    "after a SIGKILL a prefix",
		applies: func(l *live, _ []any) bool { return slices.ContainsFunc(l.rec.Processes["."].Timeline, kills) },
		change: func(l *live, want, got []any) ([]any, []any) {
			n := max(min(len(want), len(got)), min(l.beforeKill(), len(want)))
			return want[:n], got[:min(n, len(got))]
		},
		why: "what the CLI wrote after the line at which it was killed is a matter of luck",
	},
	{
		name:    "mirrored entries by their set",
		applies: func(_ *live, want []any) bool { return slices.ContainsFunc(want, isMirror) },
		change:  func(_ *live, want, got []any) ([]any, []any) { return mirrorSet(want), mirrorSet(got) },
		why:     "how the CLI divides its transcript into frames, and when, differs from run to run",
	},
	{
		name:    "a cut connection may lose what was written to it",
		applies: func(l *live, _ []any) bool { return l.cutsConnections },
		change:  func(_ *live, want, got []any) ([]any, []any) { return withoutCut(want), withoutCut(got) },
		why:     "whether the CLI reads the events before the reset is a race between the two ends",
	},
	{
		name: "an end in a turn interrupts it",
		applies: func(l *live, _ []any) bool {
			return l.rec.Caller != nil && slices.ContainsFunc(l.rec.Caller.Calls, func(c recordedCall) bool { return slices.ContainsFunc(c.Steps, endsEarly) })
		},
		change: func(_ *live, want, got []any) ([]any, []any) { return want, got[:min(len(want), len(got))] },
		why:    "the official SDK ends the CLI by a signal; a CLI that is interrupted first says how its turn ended",
	},
	{
		name:    "what a turn that is broken off has used",
		applies: func(_ *live, want []any) bool { return slices.ContainsFunc(want, brokenOff) },
		change: func(_ *live, want, got []any) ([]any, []any) {
			return withoutUsage(want, brokenOff), withoutUsage(got, brokenOff)
		},
		why: "the CLI may write the result before it has counted the last answer of the API",
	},
	{
		name: "the words of an answer that an SDK gives by itself",
		applies: func(l *live, _ []any) bool {
			return l.rec.Caller != nil && slices.ContainsFunc(l.rec.Caller.Calls, answersItself)
		},
		change: func(_ *live, want, got []any) ([]any, []any) { return withoutErrorTexts(want), withoutErrorTexts(got) },
		why:    "arguments that do not fit and answers of no kind are refused in the words of each SDK",
	},
	{
		name:    "the model gets the results of parallel tools in any order",
		applies: func(_ *live, want []any) bool { return slices.ContainsFunc(want, hasResults) },
		change: func(_ *live, want, got []any) ([]any, []any) {
			return withoutResultOrder(want), withoutResultOrder(got)
		},
		why: "they come in the order in which the tools end; the mark of the cache is on the last",
	},
	{
		name:    "what the CLI says of a repository",
		applies: func(l *live, _ []any) bool { return l.fenced },
		change: func(_ *live, want, got []any) ([]any, []any) {
			return want, withoutAttribution(want, withoutNoDiff(got))
		},
		why: "the empty .git that keeps the project apart from the repository above is one to the CLI",
	},
	{
		name:    "a hint for another entrypoint",
		applies: func(_ *live, want []any) bool { return slices.ContainsFunc(want, modelNotFound) },
		change:  func(_ *live, want, got []any) ([]any, []any) { return want, withoutHint(got) },
		why:     "of CLAUDE_CODE_ENTRYPOINT=sdk-cli, which this SDK sets, the CLI thinks that somebody types commands",
	},
	{
		name:    "missing programs of the sandbox",
		applies: func(l *live, _ []any) bool { return l.rec.Name == "sandbox-unavailable" },
		change:  func(_ *live, want, got []any) ([]any, []any) { return withoutMissing(want), withoutMissing(got) },
		why:     "this machine has one of the programs that the recording's machine lacked",
	},
}

// missingPrograms matches the list of programs that a sandbox lacks.
var missingPrograms = regexp.MustCompile(`dependencies are missing: [^·]*·`)

// withoutMissing returns results without the names of missing programs.
func withoutMissing(all []any) (out []any) {
	for _, m := range all {
		if r, ok := m.(map[string]any); ok {
			if texts, ok := r["errors"].([]any); ok {
				r = maps.Clone(r)
				r["errors"] = slices.Clone(texts)
				for i, text := range texts {
					if s, ok := text.(string); ok {
						r["errors"].([]any)[i] = missingPrograms.ReplaceAllString(s, "dependencies are missing ·")
					}
				}
				m = r
			}
		}
		out = append(out, m)
	}
	return out
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
		if w, g := r.change(l, want, got); diff(w, g) == "" {
			l.tally.add(func() { l.tally.loose = append(l.tally.loose, l.rec.Name+": "+r.name+": "+r.why) })
			return
		}
		allWant, allGot = r.change(l, allWant, allGot)
		names = append(names, r.name)
	}
	if len(names) > 1 && diff(allWant, allGot) == "" {
		l.tally.add(func() { l.tally.loose = append(l.tally.loose, l.rec.Name+": "+strings.Join(names, "; ")) })
		return
	}
	l.t.Errorf("%s (-recorded +live):\n%s", what, first)
}

// kills reports whether the CLI is killed at this event.
func kills(ev tape.Event) bool {
	return ev.Ev == "tee_sigkill" || ev.Ev == "signal" && ev.Sig == "killed"
}

// answersApart moves the answers to control requests to the end, in a fixed order. All other messages keep their
// order.
func answersApart(messages []any) []any {
	var rest, answers []any
	for _, m := range messages {
		if v, ok := m.(map[string]any); ok && v["type"] == "control_response" {
			answers = append(answers, m)
		} else {
			rest = append(rest, m)
		}
	}
	return append(rest, sorted(answers)...)
}

// beforeKill returns the number of messages before the CLI was killed, or of lines for a recording without an SDK.
func (l *live) beforeKill() (n int) {
	for _, ev := range l.rec.Processes["."].Timeline {
		if kills(ev) {
			return n
		}
		control := strings.HasPrefix(ev.Type, "control_") || ev.Type == "transcript_mirror" || ev.Type == "keep_alive"
		if ev.Dir == "out" && ev.Ev == "line" && (l.rec.Caller == nil || !control) {
			n++
		}
	}
	return n
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

// entryKind returns the kind of a transcript entry, or "" for kinds whose number differs from run to run.
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
func requestsAtOnce(p *tape.Process) bool {
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

// withoutCut removes the events of incomplete messages, and the counts that include them.
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

// brokenOff reports whether a message is the result of an aborted turn.
func brokenOff(m any) bool {
	return isResult(m) && m.(map[string]any)["subtype"] != "success"
}

// withoutUsage removes the counts of some messages.
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

// withoutNoDiff removes the diffs of commands that report no difference.
func withoutNoDiff(messages []any) []any {
	var out []any
	for _, m := range messages {
		v, _ := m.(map[string]any)
		result, _ := v["tool_use_result"].(map[string]any)
		if diff, ok := result["bashEditDiff"].(map[string]any); ok && diff["unavailable"] == true {
			v, result = maps.Clone(v), maps.Clone(result)
			delete(result, "bashEditDiff")
			v["tool_use_result"] = result
			m = v
		}
		out = append(out, m)
	}
	return out
}

// lastBlocks returns the blocks of the last message of a request.
func lastBlocks(request any) []any { return blocksOf(request, "last_message") }

// blocksOf returns the content of a message of a request.
func blocksOf(request any, name string) []any {
	v, _ := request.(map[string]any)
	m, _ := v[name].(map[string]any)
	blocks, _ := m["content"].([]any)
	return blocks
}

// hasResults reports whether a request contains several tool results.
func hasResults(request any) bool {
	n := 0
	for _, b := range lastBlocks(request) {
		if block, ok := b.(map[string]any); ok && block["type"] == "tool_result" {
			n++
		}
	}
	return n > 1
}

// withoutResultOrder sorts the tool results of a request.
func withoutResultOrder(requests []any) []any {
	var out []any
	for _, r := range requests {
		if hasResults(r) {
			var blocks []any
			for _, b := range lastBlocks(r) {
				if block, ok := b.(map[string]any); ok {
					block = maps.Clone(block)
					delete(block, "cache_control")
					b = block
				}
				blocks = append(blocks, b)
			}
			v := maps.Clone(r.(map[string]any))
			delete(v, "last_user_message")
			v["last_message"] = map[string]any{"role": "user", "content": sorted(blocks)}
			r = v
		}
		out = append(out, r)
	}
	return out
}

// withoutAttribution removes the instructions about commits if a request has more of them than the recording, where
// such a text may be redacted.
func withoutAttribution(want, requests []any) []any {
	var out []any
	for i, r := range requests {
		v, ok := r.(map[string]any)
		if !ok {
			out = append(out, r)
			continue
		}
		v = maps.Clone(v)
		for _, name := range []string{"last_message", "last_user_message"} {
			m, _ := v[name].(map[string]any)
			blocks, ok := m["content"].([]any)
			if !ok || i < len(want) && len(blocks) <= len(blocksOf(want[i], name)) {
				continue
			}
			m = maps.Clone(m)
			m["content"] = slices.DeleteFunc(slices.Clone(blocks), func(b any) bool {
				block, _ := b.(map[string]any)
				text, _ := block["text"].(string)
				return strings.HasPrefix(text, "<system-reminder>\nAttribution for git commits")
			})
			v[name] = m
		}
		out = append(out, v)
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
	return jsonValue([]byte(strings.ReplaceAll(string(text), modelHint, ""))).([]any)
}

// concurrent reports whether a recording has concurrent work: agents, background tasks, or several tools of one
// message.
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

// sorted sorts messages, whose order differs from run to run.
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

// answersItself reports whether an SDK answered instead of its callback, because the callback was
// not called or returned an invalid answer.
func answersItself(call recordedCall) bool {
	return slices.ContainsFunc(call.Answers, func(a recordedAnswer) bool {
		var v struct {
			Behavior string `json:"behavior"`
		}
		_ = json.Unmarshal(a.Return, &v) // an absent answer is invalid too
		return a.NotCalled != nil || a.Subtype == "can_use_tool" && v.Behavior != "allow" && v.Behavior != "deny"
	})
}

// withoutErrorTexts removes the texts of failed tools.
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
