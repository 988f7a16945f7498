package claude_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// normalizer makes lines of two runs of the CLI comparable: it replaces values that
// differ from run to run by fixed ones: ids, times, ports, durations, costs, counts that
// depend on the length of paths, and random names.
//
// The zero value is usable. It learns the ids of a run from its lines, so each run needs
// its own normalizer.
type normalizer struct {
	// Keep are ids that are the same in every run, because the caller gave them.
	Keep []string

	ids  map[string]string
	seen map[string]string // texts already normalised with these ids
}

// idMembers maps members that hold ids without a recognizable form to their replacement.
var idMembers = map[string]string{
	"task_id": "TASK", "taskId": "TASK", "agent_id": "TASK", "agentId": "TASK", "hook_id": "HOOK", "backgroundTaskId": "TASK",
	"run_id": "RUN", "runId": "RUN",
}

// zeroMembers are members with numbers that differ from run to run.
var zeroMembers = []string{
	"end_time", "pid", "startTime", "total_duration", "tokens", "attachmentTokens", "totalTokens", "total_tokens", "estimated_tokens",
	"pre_tokens", "post_tokens", "percentage", "squareFullness", "timestamp", "lastModified", "createdAt", "fileSize", "messages_tokens",
	"totalAPIDuration", "totalAPIDurationWithoutRetries", "totalToolDuration", "totalDuration", "durationSeconds", "duration", "elapsed_time_seconds",
}

// dropMembers are members that only repeat other values, such as charts.
var dropMembers = []string{"gridRows", "durationMs"}

var (
	uuidText     = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	replacements = []struct {
		re   *regexp.Regexp
		with string
	}{
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?`), "TIME"},
		{regexp.MustCompile(`\b(127\.0\.0\.1|localhost|\[::1\]):\d+`), "$1:PORT"},
		{regexp.MustCompile(`cc-socks/\d+\.sock`), "cc-socks/N.sock"},
		{regexp.MustCompile(`plans/[\w-]+\.md`), "plans/NAME.md"},
		{regexp.MustCompile(`tool-results/[\w.-]+`), "tool-results/NAME"},
		{regexp.MustCompile(`tasks/[\w-]+\.output`), "tasks/TASK.output"},
		{regexp.MustCompile(`[\w./-]*claude-resume-[A-Za-z0-9-]+`), "RESUME-DIR"},
		{regexp.MustCompile(`\b2\.\d+\.\d+\b`), "VERSION"},
		{regexp.MustCompile(`~?\b[\d,.]+k? tokens`), "N tokens"},
		{regexp.MustCompile(`_ms: \d+`), "_ms: N"},
		{regexp.MustCompile(`\b\d+(\.\d+)?(ms| ms|s)\b`), "N$2"},
	}
	measured = regexp.MustCompile(`(?i)(_ms|Ms|MS|cost\w*|USD|duration\w*)$`)
)

// filler replaces long texts of the CLI in recordings.
const filler = "redacted"

// Learn records the ids in a line.
func (n *normalizer) Learn(line []byte) {
	if n.ids == nil {
		n.ids = map[string]string{}
	}
	n.seen = nil
	n.learn(jsonValue(line))
}

func (n *normalizer) learn(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n.learn(e)
		}
	case map[string]any:
		for k, e := range v {
			if id, ok := e.(string); ok && len(id) > 4 && idMembers[k] != "" && !slices.Contains(n.Keep, id) {
				n.ids[id] = idMembers[k]
			}
			n.learn(e)
		}
	}
}

// Line returns the normalised value of a line.
func (n *normalizer) Line(line []byte) any { return n.value("", jsonValue(line)) }

// jsonValue returns the value of a line of JSON, or the line itself if it is not JSON.
func jsonValue(line []byte) any {
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		return "no JSON: " + string(line)
	}
	return v
}

func (n *normalizer) value(name string, v any) any {
	switch v := v.(type) {
	case string:
		if name == "timestamp" {
			return "TIME"
		}
		return n.Text(v)
	case float64:
		if measured.MatchString(name) || slices.Contains(zeroMembers, name) {
			return 0.0
		}
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = n.value(name, e)
		}
		return list
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if !slices.Contains(dropMembers, k) {
				out[n.Text(k)] = n.value(k, e)
			}
		}
		return out
	}
	return v
}

// Text normalises a text and caches the result, because most texts occur many times.
func (n *normalizer) Text(s string) string {
	if done, ok := n.seen[s]; ok {
		return done
	}
	if n.seen == nil {
		n.seen = map[string]string{}
	}
	done := n.text(s)
	n.seen[s] = done
	return done
}

func (n *normalizer) text(s string) string {
	for _, id := range slices.SortedFunc(maps.Keys(n.ids), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		s = strings.ReplaceAll(s, id, n.ids[id])
	}
	s = uuidText.ReplaceAllStringFunc(s, func(id string) string {
		if slices.Contains(n.Keep, id) {
			return id
		}
		return "UUID"
	})
	for _, r := range replacements {
		s = r.re.ReplaceAllString(s, r.with)
	}
	return s
}

// alignFiller returns got with filler in all places where want has it, because the
// recording omits these texts.
func alignFiller(want, got any) any {
	switch w := want.(type) {
	case string:
		if _, ok := got.(string); ok && strings.Contains(w, filler) {
			return w
		}
	case []any:
		g, ok := got.([]any)
		if !ok {
			return got
		}
		out := slices.Clone(g)
		for i := range min(len(w), len(g)) {
			out[i] = alignFiller(w[i], g[i])
		}
		return out
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return got
		}
		out := maps.Clone(g)
		for k, e := range w {
			if x, ok := g[k]; ok {
				out[k] = alignFiller(e, x)
			}
		}
		return out
	}
	return got
}

func TestNormalizer(t *testing.T) {
	n := normalizer{Keep: []string{"44444444-4444-4444-8444-444444444444"}}
	line := `{"type":"x","task_id":"bqrrveevx","uuid":"9f0ad07a-51b1-4e60-a2d5-0a4a3a2d0b0a","given":"44444444-4444-4444-8444-444444444444",
		"text":"task bqrrveevx wrote tasks/bqrrveevx.output at 2026-11-15T02:08:23.061Z to 127.0.0.1:4711, used ~2487 tokens in 12ms",
		"duration_ms":17,"total_cost_usd":0.5,"num_turns":2,"timestamp":"then","list":[{"end_time":5}],"durationMs":3,
		"plan":"plans/brave-fox.md","socket":"tmp/cc-socks/85.sock","version":"2.1.325"}`
	want := `{"type":"x","task_id":"TASK","uuid":"UUID","given":"44444444-4444-4444-8444-444444444444",
		"text":"task TASK wrote tasks/TASK.output at TIME to 127.0.0.1:PORT, used N tokens in Nms",
		"duration_ms":0,"total_cost_usd":0,"num_turns":2,"timestamp":"TIME","list":[{"end_time":0}],
		"plan":"plans/NAME.md","socket":"tmp/cc-socks/N.sock","version":"VERSION"}`
	n.Learn([]byte(line))
	if got := n.Line([]byte(line)); !reflect.DeepEqual(got, jsonValue([]byte(want))) {
		text, _ := json.MarshalIndent(got, "", " ")
		t.Errorf("got %s", text)
	}
	if got := n.Text("task cnewlearnt"); got != "task cnewlearnt" {
		t.Errorf("an id that is not known yet: %s", got)
	}
	n.Learn([]byte(`{"task_id":"cnewlearnt"}`))
	if got := n.Text("task cnewlearnt"); got != "task TASK" {
		t.Errorf("an id that was learnt since: %s", got)
	}
	if got := n.Line([]byte("not JSON of 12:00")); got != "no JSON: not JSON of 12:00" {
		t.Errorf("got %v", got)
	}
}

func TestAlignFiller(t *testing.T) {
	want := jsonValue([]byte(`{"a":["redacted text of the same","x"],"b":{"c":"redacted."},"d":1}`))
	for got, same := range map[string]bool{
		`{"a":["anything","x"],"b":{"c":"else"},"d":1}`: true,
		`{"a":["anything","y"],"b":{"c":"else"},"d":1}`: false,
		`{"a":["anything"],"b":{"c":"else"},"d":1}`:     false,
		`{"a":[1,"x"],"b":{"c":"else"},"d":1}`:          false,
		`{"a":["anything","x"],"d":1}`:                  false,
	} {
		if aligned := alignFiller(want, jsonValue([]byte(got))); reflect.DeepEqual(aligned, want) != same {
			t.Errorf("%s: %v; want reflect.DeepEqual(aligned, want) == same", got, aligned)
		}
	}
}
