package codex_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

// node is a part of a JSON Schema.
type node struct {
	Ref        string           `json:"$ref"`
	Type       any              `json:"type"`
	Properties map[string]*node `json:"properties"`
	Items      json.RawMessage  `json:"items"`
	Enum       []any            `json:"enum"`
	OneOf      []*node          `json:"oneOf"`
	AnyOf      []*node          `json:"anyOf"`
	AllOf      []*node          `json:"allOf"`
	Required   []string         `json:"required"`
	Additional *node            `json:"additionalProperties"`

	Definitions map[string]*node `json:"definitions"`
}

// UnmarshalJSON also accepts true, the schema of any value.
func (n *node) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return nil
	}
	type plain node
	return json.Unmarshal(text, (*plain)(n))
}

// schema is the schema of a pinned program.
type schema struct {
	defs  map[string]*node
	words map[any]bool // words of its enumerations, after names was called
}

// generate generates the schema with a pinned program.
func generate(t *testing.T, version string) *schema {
	t.Helper()
	home, out := t.TempDir(), t.TempDir()
	cmd := exec.Command(codexcli.Require(t, version), "app-server", "generate-json-schema", "--experimental", "--out", out)
	cmd.Env = []string{"HOME=" + home, "CODEX_HOME=" + home, "PATH=" + os.Getenv("PATH")}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := &schema{defs: map[string]*node{}}
	for _, name := range []string{"codex_app_server_protocol.schemas.json", "codex_app_server_protocol.v2.schemas.json"} {
		b, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		var file node
		if err := json.Unmarshal(b, &file); err != nil {
			t.Fatal(err)
		}
		for k, v := range file.Definitions {
			s.defs[k] = v
		}
	}
	return s
}

// properties returns the members of an object, through references and unions.
func (s *schema) properties(n *node) map[string]*node {
	out := map[string]*node{}
	if n == nil {
		return out
	}
	if n.Ref != "" {
		return s.properties(s.defs[n.Ref[strings.LastIndex(n.Ref, "/")+1:]])
	}
	for k, v := range n.Properties {
		out[k] = v
	}
	for _, part := range slices.Concat(n.OneOf, n.AnyOf, n.AllOf) {
		for k, v := range s.properties(part) {
			out[k] = v
		}
	}
	return out
}

// variant returns the alternative of a union whose member has this value.
func (s *schema) variant(union, member, value string) *node {
	if s.defs[union] == nil {
		return nil
	}
	for _, v := range s.defs[union].OneOf {
		if p := s.properties(v)[member]; p != nil && slices.Contains(p.Enum, any(value)) {
			return v
		}
	}
	return nil
}

// fields returns the names of a struct's fields on the wire.
func fields(t reflect.Type) (list []string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			list = append(list, name)
		}
	}
	return list
}

// missing returns the fields of a struct that a part of the schema lacks.
func (s *schema) missing(v any, n *node, except ...string) (list []string) {
	known := s.properties(n)
	for _, name := range fields(reflect.TypeOf(v)) {
		if known[name] == nil && !slices.Contains(except, name) {
			list = append(list, name)
		}
	}
	return list
}

// TestSchema generates the schemas of the pinned programs and fails if the newer one lacks a name
// that this project uses: items, notifications, requests, their members, the called methods and
// their params. A file lists the names that the older one lacks, and that list must be correct.
// make lint runs it.
func TestSchema(t *testing.T) {
	s := generate(t, codexcli.Newer)
	for _, d := range s.drift() {
		t.Error(d)
	}
	for union, got := range map[string]int{"ThreadItem": len(item.Kinds()), "ServerRequest": len(item.RequestMethods())} {
		if want := len(s.defs[union].OneOf); got != want {
			t.Errorf("%d of %d of the union %s are known", got, want, union)
		}
	}
	t.Run(codexcli.Older, func(t *testing.T) {
		name := filepath.Join("testdata", "schema-"+codexcli.Older+".txt")
		got := strings.Join(generate(t, codexcli.Older).drift(), "\n") + "\n"
		if os.Getenv("PARLEY_UPDATE") != "" {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("what %s lacks is not what %s says (PARLEY_UPDATE=1 writes it again):\n%s", codexcli.Older, name, diff)
		}
	})
}

// TestSchema_notices checks that any drift of the names is noticed.
func TestSchema_notices(t *testing.T) {
	s := generate(t, codexcli.Newer)
	for what, change := range map[string]struct {
		undo func() func()
		want string
	}{
		"an item":            {func() func() { return without(s.defs["ThreadItem"], s, "type", "plan") }, "item plan"},
		"a notification":     {func() func() { return without(s.defs["ServerNotification"], s, "method", "turn/plan/updated") }, "turn/plan/updated"},
		"a request":          {func() func() { return without(s.defs["ServerRequest"], s, "method", "item/tool/call") }, "item/tool/call"},
		"a method":           {func() func() { return without(s.defs["ClientRequest"], s, "method", "turn/steer") }, "turn/steer"},
		"a type":             {func() func() { return forget(s.defs, "TurnPlanStep") }, "TurnPlanStep"},
		"a member of a type": {func() func() { return forget(s.defs["TurnPlanStep"].Properties, "step") }, "TurnPlanStep"},
		"a param":            {func() func() { return forget(s.defs["TurnInterruptParams"].Properties, "turnId") }, "turn/interrupt"},
	} {
		undo := change.undo()
		drift := strings.Join(s.drift(), "\n")
		if !strings.Contains(drift, change.want) {
			t.Errorf("%s: the drift is %q", what, drift)
		}
		undo()
	}
	if drift := s.drift(); len(drift) > 0 {
		t.Errorf("after all: %q", drift)
	}
}

// forget removes an entry from a map and returns a function that restores it.
func forget(m map[string]*node, key string) func() {
	old := m[key]
	delete(m, key)
	return func() { m[key] = old }
}

// without removes an alternative from a union and returns a function that restores it.
func without(union *node, s *schema, member, value string) func() {
	old := union.OneOf
	union.OneOf = slices.DeleteFunc(slices.Clone(old), func(n *node) bool {
		p := s.properties(n)[member]
		return p != nil && slices.Contains(p.Enum, any(value))
	})
	return func() { union.OneOf = old }
}

// named maps names in the schema to the types of this project.
var named = map[string]any{
	"Thread": item.Thread{}, "Turn": item.Turn{}, "TurnError": item.TurnError{}, "ThreadTokenUsage": item.TokenUsage{}, "TokenUsageBreakdown": item.TokenCount{},
	"ThreadGoal": item.Goal{}, "ThreadSettings": item.Settings{}, "TurnPlanStep": item.PlanStep{}, "HookRunSummary": item.HookRun{}, "HookOutputEntry": item.HookOutput{},
	"FileUpdateChange": item.Change{}, "CommandAction": item.CommandAction{}, "McpToolCallResult": item.MCPResult{}, "CollabAgentState": item.AgentState{},
	"WebSearchAction": item.SearchAction{}, "DynamicToolCallOutputContentItem": item.ToolContent{}, "ToolRequestUserInputQuestion": item.Question{},
	"NetworkPolicyAmendment": item.NetworkAmendment{}, "Model": codex.Model{}, "McpServerStatus": codex.MCPServer{}, "ThreadStartResponse": codex.ThreadInfo{},
	"ReviewTarget": codex.ReviewTarget{}, "InitializeResponse": codex.Info{},
}

// drift returns the names of this project that the schema lacks, sorted.
func (s *schema) drift() (list []string) {
	report := func(what string, missing []string) {
		if len(missing) > 0 {
			list = append(list, fmt.Sprintf("%s: the schema does not have %v", what, missing))
		}
	}
	for _, kind := range item.Kinds() {
		i, err := item.Decode(fmt.Appendf(nil, `{"type":%q}`, kind))
		n := s.variant("ThreadItem", "type", kind)
		if err != nil || n == nil {
			list = append(list, fmt.Sprintf("item %s is not in the schema", kind))
			continue
		}
		report("item "+kind, s.missing(i, n, "startedAtMs", "completedAtMs"))
	}
	for _, m := range item.Methods() {
		s.message("ServerNotification", m, `{"method":%q,"params":{}}`, report)
	}
	for _, m := range item.RequestMethods() {
		s.message("ServerRequest", m, `{"id":0,"method":%q,"params":{}}`, report)
	}
	for name, v := range named {
		if s.defs[name] == nil {
			list = append(list, name+" is not in the schema")
			continue
		}
		report(name, s.missing(v, s.defs[name]))
	}
	for method, params := range calls {
		n := s.variant("ClientRequest", "method", method)
		if n == nil {
			list = append(list, fmt.Sprintf("the method %s is not in the schema", method))
			continue
		}
		known := s.properties(s.properties(n)["params"])
		var missing []string
		for _, p := range strings.Fields(params) {
			if known[p] == nil {
				missing = append(missing, p)
			}
		}
		report("the params of "+method, missing)
	}
	slices.Sort(list)
	return list
}

// head lists members that all messages have here, although the schema lacks them for some.
var head = []string{"threadId", "turnId", "itemId", "startedAtMs"}

// message reports the missing members of a notification or a request.
func (s *schema) message(union, method, form string, report func(string, []string)) {
	n := s.variant(union, "method", method)
	l, err := item.DecodeServer(fmt.Appendf(nil, form, method))
	if n == nil || err != nil {
		report(method, []string{"it"})
		return
	}
	report(method, s.missing(l, s.properties(n)["params"], head...))
}

// calls are the methods that the SDK calls, with their params.
var calls = map[string]string{
	"initialize":              "clientInfo capabilities",
	"thread/start":            "cwd model modelProvider approvalPolicy approvalsReviewer sandbox baseInstructions developerInstructions personality serviceTier config ephemeral dynamicTools",
	"thread/resume":           "threadId cwd model modelProvider approvalPolicy approvalsReviewer sandbox baseInstructions developerInstructions personality serviceTier config",
	"thread/fork":             "threadId lastTurnId cwd model modelProvider approvalPolicy approvalsReviewer sandbox baseInstructions developerInstructions serviceTier config ephemeral",
	"thread/revert":           "threadId beforeTurnId",
	"thread/list":             "archived cwd searchTerm limit cursor",
	"thread/read":             "threadId includeTurns",
	"thread/archive":          "threadId",
	"thread/unarchive":        "threadId",
	"thread/delete":           "threadId",
	"thread/unsubscribe":      "threadId",
	"thread/name/set":         "threadId name",
	"thread/compact/start":    "threadId",
	"turn/start":              "threadId input clientUserMessageId model effort approvalPolicy cwd summary sandboxPolicy outputSchema",
	"turn/steer":              "threadId expectedTurnId input clientUserMessageId",
	"turn/interrupt":          "threadId turnId",
	"review/start":            "threadId target",
	"model/list":              "includeHidden cursor",
	"mcpServerStatus/list":    "cursor",
	"config/read":             "cwd",
	"config/value/write":      "keyPath value mergeStrategy",
	"config/mcpServer/reload": "",
}
