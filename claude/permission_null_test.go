package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// fill sets a random subset of the fields of the struct that v points to, with usual,
// empty and odd values.
func fill(r *rand.Rand, v reflect.Value) {
	if r.IntN(3) == 0 {
		return // unset
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, k := range []string{"Which?", "", "x"}[:r.IntN(4)] {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(r, e)
			v.SetMapIndex(reflect.ValueOf(k), e)
		}
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Interface:
		if odd := []any{nil, "x", 1, true, []string{"a"}, []string(nil)}[r.IntN(6)]; odd != nil {
			v.Set(reflect.ValueOf(odd))
		}
	case reflect.String:
		v.SetString(text(r, v.Interface()))
	default:
		panic(v.Kind())
	}
}

// text returns a value for a string of the type of v.
func text(r *rand.Rand, v any) string {
	texts := []string{"", "x", "\x00\xff"}
	switch v.(type) {
	case message.JSON:
		texts = []string{"", "null", "{}", `{"command":"ls"}`, `{"answers":{"Which?":"A"}}`, `{"answers":null}`, "[]", "{", ` null `, `"x"`, `{} {}`}
	case message.PermissionUpdateType:
		texts = []string{"", "addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories", "future"}
	case message.ElicitationAction:
		texts = []string{"", "accept", "decline", "cancel", "future"}
	}
	return texts[r.IntN(len(texts))]
}

// TestAnswersHaveNoNull builds answers with unset and odd fields: the encoded answer has
// all members that the CLI requires and no null, or there is an error. The recordings
// raw-can-* show how the CLI treats such mistakes.
func TestAnswersHaveNoNull(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	asks := permissionAsks()
	sent := map[string]int{}
	n := short.Count(3_000, 15_000, 15_000)
	for range n {
		p := asks[r.IntN(len(asks))]
		for _, result := range []PermissionResult{&Allow{}, &Deny{}, &QuestionAnswer{}, &PlanDecision{}} {
			fill(r, reflect.ValueOf(result).Elem())
			if line, err := p.encode(result); err == nil {
				sent[fmt.Sprintf("%T %s", result, wholePermission(t, p, line))]++
			}
		}
		form, result := &ElicitationRequest{Mode: []message.ElicitationMode{"", "form", "url"}[r.IntN(3)]}, new(ElicitationResult)
		fill(r, reflect.ValueOf(result).Elem())
		if line, err := form.encode(result); err == nil {
			sent["elicitation "+wholeElicitation(t, line)]++
		}
		dialog := new(UserDialogResult)
		fill(r, reflect.ValueOf(dialog).Elem())
		if line, err := encodeDialog(dialog); err == nil {
			sent["dialog "+wholeDialog(t, line)]++
		}
		if t.Failed() {
			return
		}
	}
	for _, want := range []string{"*claude.Allow allow", "*claude.Allow deny", "*claude.Deny deny", "*claude.QuestionAnswer allow", "*claude.QuestionAnswer deny", "*claude.PlanDecision allow",
		"*claude.PlanDecision deny", "elicitation accept", "elicitation decline", "elicitation cancel", "dialog completed", "dialog cancelled"} {
		if sent[want] < n/150 {
			t.Errorf("%s was sent %d times, which proves little", want, sent[want])
		}
	}
}

// permissionAsks returns requests to answer, including odd ones.
func permissionAsks() (asks []*PermissionRequest) {
	for _, tool := range []string{"Bash", "AskUserQuestion", "ExitPlanMode"} {
		for _, input := range []message.JSON{"", "null", "{}", `{"plan":"p","questions":[{"question":"Which?"}]}`} {
			asks = append(asks, &PermissionRequest{ToolName: tool, Input: input, ToolUseID: "t"}, &PermissionRequest{ToolName: tool, Input: input, tellsUnanswered: true})
		}
	}
	return asks
}

// members returns the members of an answer; it fails the test if one is null.
func members(t *testing.T, line []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(line, &m); err != nil || m == nil {
		t.Fatalf("%s: %v; want err == nil and m != nil", line, err)
	}
	if at := nullBeside(m); at != "" {
		t.Errorf("null at %s in %s", at, line)
	}
	return m
}

// nullBeside returns the path of a null, or "", ignoring the caller's own values.
func nullBeside(answer map[string]any) string {
	own := maps.Clone(answer)
	delete(own, "updatedInput")
	delete(own, "result")
	return nullIn(own)
}

func wholePermission(t *testing.T, p *PermissionRequest, line []byte) string {
	t.Helper()
	m := members(t, line)
	bad := func(what string) { t.Errorf("%s: %s", what, line) }
	switch m["behavior"] {
	case "allow":
		if _, ok := m["updatedInput"].(map[string]any); !ok && (m["updatedInput"] != nil || isObject(p.Input)) {
			bad("no input")
		}
	case "deny":
		if text, _ := m["message"].(string); text == "" {
			bad("no message")
		}
	default:
		bad("no behavior")
	}
	if id, there := m["toolUseID"]; there != (p.ToolUseID != "") || there && id != p.ToolUseID {
		bad("tool use id")
	}
	for k, v := range m {
		if v == "" || v == false {
			bad(k + " is empty")
		}
	}
	if updates, ok := m["updatedPermissions"].([]any); ok {
		for _, u := range updates {
			wholeUpdate(t, u.(map[string]any))
		}
	}
	return m["behavior"].(string)
}

func wholeUpdate(t *testing.T, u map[string]any) {
	t.Helper()
	required := map[string][]string{"setMode": {"mode"}, "addDirectories": {"directories"}, "removeDirectories": {"directories"},
		"addRules": {"rules", "behavior"}, "replaceRules": {"rules", "behavior"}, "removeRules": {"rules", "behavior"}}[u["type"].(string)]
	if required == nil || len(u) != len(required)+2 || u["destination"] == "" {
		t.Errorf("update %v", u)
	}
	for _, k := range required {
		if u[k] == nil || u[k] == "" {
			t.Errorf("no %s in %v", k, u)
		}
	}
	for _, rule := range asList(u["rules"]) {
		r := rule.(map[string]any)
		if content, there := r["ruleContent"]; r["toolName"] == "" || there && content == "" {
			t.Errorf("rule %v", r)
		}
	}
}

func asList(v any) []any { list, _ := v.([]any); return list }

func wholeElicitation(t *testing.T, line []byte) string {
	t.Helper()
	m := members(t, line)
	if content, there := m["content"]; there && (content == nil || m["action"] != "accept") {
		t.Errorf("content: %s", line)
	}
	return m["action"].(string)
}

func wholeDialog(t *testing.T, line []byte) string {
	t.Helper()
	m := members(t, line)
	if result, there := m["result"]; there != (m["behavior"] == "completed") || there && result == nil {
		t.Errorf("result: %s", line)
	}
	return m["behavior"].(string)
}
