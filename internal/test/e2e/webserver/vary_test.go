package webserver

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/seed7221b0f9/parley/acp/acptest"
)

// variation adds unknown data to recorded lines: for each kind in a line, a preceding line with an
// unknown kind in its place; texts in unknown tags; and unknown members in every object.
type variation struct {
	on    bool
	seen  map[string]bool
	count int
}

// kinds are the members with values from a fixed set.
var kinds = []string{"type", "subtype", "kind", "status", "method", "sessionUpdate", "name", "tool_name", "server", "tool", "stop_reason", "stopReason",
	"terminal_reason", "code", "severity", "mode", "permissionMode", "role", "error", "task_type", "itemType", "phase", "decision", "codexErrorInfo", "priority", "category"}

// strange are unknown kinds, in the forms that protocols use. They are used in turn.
var strange = []string{"quantum_leap/v2_thing", "quantumLeapV2", "QUANTUM_LEAP_V2", "mcp__quantum_leap__do/thing", "<quantum_leap>",
	`{"quantum_leap":{"v":2}}`, "quantum_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}

const marker = "future_field"

// texts are the members that contain sentences and results. An agent may wrap these in tags for the
// model.
var texts = []string{"message", "reason", "detail", "details", "output", "stdout", "stderr", "aggregatedOutput", "content", "text", "result"}

// tagged returns a text in unknown tags.
func tagged(text string) string {
	return "<quantum_notes>\n" + text + "\n</quantum_notes>\n<quantum_id>0123456789abcdef0123</quantum_id>"
}

// lines returns a line, after the lines that are added before it.
func (v *variation) lines(text string) []string {
	var whole any
	if !v.on || decode(text, &whole) != nil {
		return []string{text}
	}
	if v.seen == nil {
		v.seen = map[string]bool{}
	}
	var list []string
	walk(whole, "", func(path string, o map[string]any, key string) {
		if slices.Contains(strings.Split(path, "."), "input") || slices.Contains(strings.Split(path, "."), "rawInput") {
			return // the output of a model
		}
		value, ok := o[key].(string)
		id, next := path+"."+key+"="+value, strange[v.count%len(strange)]
		if slices.Contains(texts, key) {
			id, next = path+"."+key, tagged(value)
		}
		if !ok || v.seen[id] || !slices.Contains(kinds, key) && !slices.Contains(texts, key) {
			return
		}
		v.seen[id] = true
		v.count++
		o[key] = next
		list = append(list, encode(whole))
		o[key] = value
	})
	var objects []map[string]any
	walk(whole, "", func(_ string, o map[string]any, _ string) {
		if !slices.ContainsFunc(objects, func(x map[string]any) bool { return same(x, o) }) {
			objects = append(objects, o)
		}
	})
	for _, o := range objects {
		o[marker] = map[string]any{"new_member": []any{nil, "a_b/c_d"}}
	}
	return append(list, encode(whole))
}

// acp adds lines to those of a recorded agent: only updates, which need no response.
func (v *variation) acp(lines []acptest.Line) (list []acptest.Line) {
	number := 2_000_000
	for _, l := range lines {
		if l.Client || l.Raw != "" || l.Method != "session/update" {
			list = append(list, l)
			continue
		}
		all := v.lines(l.Text)
		for i, text := range all {
			next := l
			next.Message = acptest.Message{}
			if json.Unmarshal([]byte(text), &next.Message) != nil {
				continue
			}
			if next.Text = text; i < len(all)-1 {
				number++
				next.Number = number
			}
			list = append(list, next)
		}
	}
	return list
}

func same(a, b map[string]any) bool {
	const probe = "\x00"
	a[probe] = true
	defer delete(a, probe)
	_, ok := b[probe]
	return ok
}

// walk visits every member of every object, in the same order in each run.
func walk(v any, path string, visit func(path string, o map[string]any, key string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			visit(path, v, key)
			walk(v[key], path+"."+key, visit)
		}
	case []any:
		for _, one := range v {
			walk(one, path, visit)
		}
	}
}

func decode(text string, v any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return string(data)
}
