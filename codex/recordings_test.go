package codex_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/codexrec"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

// TestRecordings compares every value that the server wrote with two sources: the schema of the
// program that wrote it, if that is installed, and the rest of the recording, which repeats each
// value. It cannot notice a changed flag, a time that is off by less than two seconds, or a change
// in the members of onceMembers: a recording has no second source for them.
func TestRecordings(t *testing.T) {
	schemas, elsewhere := installedSchemas(t), serverTexts(t)
	for _, r := range codexrec.All(t) {
		t.Run(r.Title(), func(t *testing.T) {
			lines := r.Lines(t)
			version := serverVersion(lines)
			if schemas[version] == nil {
				t.Logf("the schema of codex %q is not compared: it is not installed", version)
			}
			c := &recorded{schema: schemas[version], seen: map[string]int{}, elsewhere: elsewhere}
			c.count(t, r, lines)
			c.check(lines)
			for _, why := range c.bad {
				t.Error(why)
			}
		})
	}
}

// TestRecordings_notices changes one value of a server at a time.
func TestRecordings_notices(t *testing.T) {
	r := codexrec.Named(t, "approval_accept")
	lines := r.Lines(t)
	s := installedSchemas(t)[serverVersion(lines)]
	if s == nil {
		t.Skip("this test needs codex, run scripts/install-codex")
	}
	elsewhere := serverTexts(t)
	for _, change := range [][2]string{
		{`"msg_`, `"mSg_`}, {`"turn/started"`, `"turn/starteb"`}, {`"updatedAt":`, `"updadedAt":`}, {`"status":{"type":"idle"}`, `"status":{"type":"idly"}`},
		{`"gpt-5.5"`, `"gpt-5.6"`}, {`"totalTokens":`, `"totalTokens":1`}, {`"emittedAtMs":17`, `"emittedAtMs":18`}, {`"/home/dev/project"`, `"/home/dev/projekt"`},
		{`bubblewrap on PATH`, `bubblewrap in PATH`}, {`"platformOs":"linux"`, `"platformOs":"linus"`}, {`"threadId":"01`, `"threadId":"02`},
	} {
		changed, done := slices.Clone(lines), false
		for i, l := range lines {
			if text := strings.Replace(string(l.Msg), change[0], change[1], 1); !l.Client && !done && text != string(l.Msg) {
				changed[i].Msg, done = []byte(text), true
			}
		}
		c := &recorded{schema: s, seen: map[string]int{}, elsewhere: elsewhere}
		c.count(t, r, changed)
		c.check(changed)
		if !done || len(c.bad) == 0 {
			t.Errorf("%q goes unnoticed", change)
		}
	}
}

// installedSchemas returns the schemas of the installed programs, by version.
func installedSchemas(t *testing.T) map[string]*schema {
	t.Helper()
	schemas := map[string]*schema{}
	for _, version := range []string{codexcli.Newer, codexcli.Older} {
		if path, err := codexcli.Path(version); err == nil {
			if _, err := os.Stat(path); err == nil && !testing.Short() {
				schemas[version] = generate(t, version)
			}
		}
	}
	return schemas
}

// serverTexts returns the texts in the recordings of the corpus and of the project, with the names
// of the recordings.
func serverTexts(t *testing.T) map[string]map[string]bool {
	t.Helper()
	elsewhere := map[string]map[string]bool{}
	for _, r := range slices.Concat(codexrec.All(t), codexrec.Own(t)) {
		lines, _ := r.Read() // the subtest reports the error
		for _, l := range lines {
			each("", "", decoded(l.Msg), func(_, _ string, v any) {
				text, ok := v.(string)
				if ok && elsewhere[text] == nil {
					elsewhere[text] = map[string]bool{}
				}
				if ok {
					elsewhere[text][r.Name] = true
				}
			})
		}
	}
	return elsewhere
}

var agentVersion = regexp.MustCompile(`[^"/]*/(\d+\.\d+\.\d+) \(`)

// serverVersion returns the version in the response to initialize.
func serverVersion(lines []codexrec.Line) string {
	for _, l := range lines {
		if m := agentVersion.FindSubmatch(l.Msg); m != nil && !l.Client {
			return string(m[1])
		}
	}
	return ""
}

// recorded is the state of the comparison of one recording.
type recorded struct {
	schema    *schema
	seen      map[string]int // values and their number of occurrences
	all       strings.Builder
	elsewhere map[string]map[string]bool
	bad       []string
}

func (c *recorded) errorf(format string, args ...any) {
	c.bad = append(c.bad, fmt.Sprintf(format, args...))
}

// count counts each value in the messages and in the session files of a recording.
func (c *recorded) count(t *testing.T, r *codexrec.Recording, lines []codexrec.Line) {
	t.Helper()
	note := func(_, _ string, v any) {
		c.seen[fmt.Sprint(v)]++
		fmt.Fprintln(&c.all, v)
	}
	for _, l := range lines {
		each("", "", decoded(l.Msg), note)
	}
	dir, ok := r.Home(t)
	if !ok {
		return
	}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		for _, id := range uuidText.FindAllString(name, -1) {
			c.seen[id]++
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		for line := range strings.Lines(string(text)) {
			each("", "", decoded([]byte(line)), note)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var uuidText = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func decoded(text []byte) (v any) {
	_ = json.Unmarshal(text, &v) // protocol_errors has lines that are not JSON
	return v
}

// each calls f for every string and number in a value, with its path and the name of its member.
func each(path, name string, v any, f func(path, name string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			each(path+"/"+name, name, v[name], f)
		}
	case []any:
		for _, e := range v {
			each(path, name, e, f)
		}
	case string, float64:
		f(path, name, v)
	}
}

// check compares the lines of the server.
func (c *recorded) check(lines []codexrec.Line) {
	methods := map[string]string{} // of requests of the client, by id
	outputs := map[string]string{} // pieces of the output of a command, by item
	offset := math.NaN()           // offset between the clocks of the server and of the recorder
	for _, l := range lines {
		m, _ := decoded(l.Msg).(map[string]any)
		method, _ := m["method"].(string)
		id := fmt.Sprint(m["id"])
		if l.Client {
			methods[id] = method
			continue
		}
		if at, ok := m["emittedAtMs"].(float64); ok {
			if math.IsNaN(offset) {
				offset = at/1000 - l.T
			}
			if math.Abs(at/1000-l.T-offset) > 2 {
				c.errorf("line %d: emittedAtMs is not the time of the line", l.Seq)
			}
			delete(m, "emittedAtMs")
		}
		if c.schema != nil {
			if why := c.schema.line(m, method, methods[id]); why != "" {
				c.errorf("line %d: %s", l.Seq, why)
			}
		}
		params, _ := m["params"].(map[string]any)
		if method == "item/started" && !hasEnd(lines, params["turnId"]) {
			continue // an item of a turn that was cut off has no second source
		}
		each(method, "", m, func(path, name string, v any) {
			if !c.confirmed(fmt.Sprint(v)) && !slices.Contains(onceMembers, name) && !slices.Contains(onceMembers, path) && !c.schema.names(v) {
				c.errorf("line %d: nothing else in the recording has the value of %s: %.200v", l.Seq, path, v)
			}
		})
		c.checkOutput(l.Seq, m, method, outputs)
		usage, _ := params["tokenUsage"].(map[string]any)
		for _, name := range []string{"total", "last"} {
			if n, ok := usage[name].(map[string]any); ok && n["inputTokens"] != 0.0 && n["totalTokens"] != number(n["inputTokens"])+number(n["outputTokens"]) {
				c.errorf("line %d: the tokens do not add up: %v", l.Seq, n)
			}
		}
	}
}

// confirmed reports whether a value occurs a second time: in the recording, as a part of one of its
// texts, or in another recording.
func (c *recorded) confirmed(value string) bool {
	if m := rolloutPath.FindStringSubmatch(value); m != nil {
		return c.confirmed(m[1]) && c.confirmed(m[2])
	}
	return slices.Contains(rpcCodes, value) ||
		c.seen[value] > 1 || len(value) > 1 && len(c.elsewhere[value]) > 1 || len(value) > 8 && strings.Count(c.all.String(), value) > 1
}

// rpcCodes are the error codes of JSON-RPC.
var rpcCodes = strings.Fields("-32700 -32600 -32601 -32602 -32603")

func number(v any) float64 {
	n, _ := v.(float64)
	return n
}

// hasEnd reports whether a turn was completed in the recording.
func hasEnd(lines []codexrec.Line, turn any) bool {
	id := fmt.Appendf(nil, `"id":%q`, turn)
	return slices.ContainsFunc(lines, func(l codexrec.Line) bool {
		return bytes.Contains(l.Msg, []byte(`"turn/completed"`)) && bytes.Contains(l.Msg, []byte(`"status":"completed"`)) && bytes.Contains(l.Msg, id)
	})
}

// checkOutput compares the pieces of a command's output with the complete output, unless the server
// cut it.
func (c *recorded) checkOutput(line int, m map[string]any, method string, pieces map[string]string) {
	params, _ := m["params"].(map[string]any)
	switch method {
	case "item/commandExecution/outputDelta":
		delta, _ := params["delta"].(string)
		pieces[fmt.Sprint(params["itemId"])] += delta
	case "item/completed":
		i, _ := params["item"].(map[string]any)
		whole, ok := i["aggregatedOutput"].(string)
		if got := pieces[fmt.Sprint(i["id"])]; ok && len(got) == len(whole) && got != whole {
			c.errorf("line %d: the output is %.100q, its pieces are %.100q", line, whole, got)
		}
	}
}

// onceMembers are members, or paths of members, with values that may occur once in a recording:
// values that the server generates or measures, and free text.
var onceMembers = strings.Fields(`delta durationMs installationId revision processId version currentHash
	backwardsCursor nextCursor turnsBackwardsCursor itemsBackwardsCursor usedPercent modelContextWindow timeoutSec
	message additionalDetails header description reason enum text aggregatedOutput
	item/started/params/startedAtMs item/completed/params/completedAtMs item/fileChange/requestApproval/params/startedAtMs
	item/fileChange/patchUpdated/params/changes/diff item/fileChange/patchUpdated/params/changes/path
	item/started/params/item/command deprecationNotice/params/summary /result/data/hooks/command`)

// rolloutPath matches the path of a session file and captures CODEX_HOME and the thread's id.
var rolloutPath = regexp.MustCompile(`^(/.*/\.codex)/(?:sessions/\d{4}/\d\d/\d\d|archived_sessions)/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(` + uuidText.String() + `)[_0-9a-f-]*\.jsonl$`)

// names reports whether a value is a word of the schema.
func (s *schema) names(v any) bool {
	if s == nil {
		return true // without a schema no value that occurs once can be judged
	}
	if s.words == nil {
		s.words = map[any]bool{}
		var walk func(*node)
		walk = func(n *node) {
			if n == nil {
				return
			}
			for _, e := range n.Enum {
				if _, ok := e.(string); ok {
					s.words[e] = true
				}
			}
			for _, part := range slices.Concat(n.OneOf, n.AnyOf, n.AllOf, slices.Collect(maps.Values(n.Properties))) {
				walk(part)
			}
			var items node
			if len(n.Items) > 0 && json.Unmarshal(n.Items, &items) == nil {
				walk(&items)
			}
		}
		for _, n := range s.defs {
			walk(n)
		}
	}
	return s.words[v]
}

// line returns the reason why a message of the server does not match the schema, or "". asked is
// the method of the request that a response answers.
func (s *schema) line(m map[string]any, method, asked string) string {
	_, hasID := m["id"]
	switch {
	case method != "" && hasID:
		return s.fits(s.defs["ServerRequest"], m, method, true)
	case method != "":
		return s.fits(s.defs["ServerNotification"], m, method, true)
	case m["result"] == nil:
		if e, ok := m["error"].(map[string]any); ok {
			return s.fits(s.defs["JSONRPCErrorError"], e, "error", true)
		}
	}
	if names := slices.Sorted(maps.Keys(m)); !slices.Equal(names, []string{"id", "result"}) || asked == "" {
		return fmt.Sprintf("not a response to a request: %v", names)
	}
	n := s.variant("ClientRequest", "method", asked)
	if n == nil || n.Properties["params"] == nil {
		return ""
	}
	params := n.Properties["params"].Ref
	response := s.defs[strings.TrimSuffix(params[strings.LastIndex(params, "/")+1:], "Params")+"Response"]
	return s.fits(response, m["result"], "result of "+asked, true)
}

// fits returns the reason why a value does not fit a part of the schema, or "". A closed object has
// only the members of the schema, and the times of items.
func (s *schema) fits(n *node, v any, path string, closed bool) string {
	if n == nil {
		return ""
	}
	if n.Ref != "" {
		return s.fits(s.defs[n.Ref[strings.LastIndex(n.Ref, "/")+1:]], v, path, closed)
	}
	if !isType(n.Type, v) || len(n.Enum) > 0 && !slices.Contains(n.Enum, v) {
		return fmt.Sprintf("%s does not fit the schema: %.100v", path, v)
	}
	for _, union := range [][]*node{n.OneOf, n.AnyOf} {
		if len(union) > 0 && !slices.ContainsFunc(union, func(part *node) bool { return s.fits(part, v, path, false) == "" }) {
			return fmt.Sprintf("%s is of no kind that the schema has: %.200v", path, v)
		}
	}
	for _, part := range n.AllOf {
		if why := s.fits(part, v, path, false); why != "" {
			return why
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return s.fitsObject(n, v, path, closed)
	case []any:
		var items node
		if len(n.Items) > 0 && n.Items[0] == '{' && json.Unmarshal(n.Items, &items) == nil {
			for i, e := range v {
				if why := s.fits(&items, e, fmt.Sprint(path, "/", i), true); why != "" {
					return why
				}
			}
		}
	}
	return ""
}

func (s *schema) fitsObject(n *node, v map[string]any, path string, closed bool) string {
	for _, name := range n.Required {
		if _, ok := v[name]; !ok {
			return path + " has no " + name
		}
	}
	known := s.properties(n)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		switch part, ok := n.Properties[name]; {
		case ok:
			if why := s.fits(part, v[name], path+"/"+name, true); why != "" {
				return why
			}
		case n.Additional != nil:
			if why := s.fits(n.Additional, v[name], path+"/"+name, true); why != "" {
				return why
			}
		case closed && len(known) > 0 && known[name] == nil && name != "startedAtMs" && name != "completedAtMs":
			return path + " has the member " + name + ", which the schema does not have"
		}
	}
	return ""
}

// isType reports whether a value has a type of the schema: a name, a list of names, or any.
func isType(want, v any) bool {
	switch want := want.(type) {
	case []any:
		return slices.ContainsFunc(want, func(name any) bool { return isType(name, v) })
	case string:
		return typeOf(v) == want || want == "integer" && typeOf(v) == "number"
	}
	return true
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
