package codexevent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/codexrec"
)

// oracle is the expected content of a conversation, computed by a walk over the JSON.
type oracle struct {
	texts     []string // messages of the agent, including cut ones
	prompts   []string
	reasoning []string
	tools     []string // name, input, output, failed
	decisions []string // tool use and behavior
	plan      string
	diff      string
	tokens    string
	notices   int
	results   []string
	reverted  bool
}

type object = map[string]any

// at walks down a path of members.
func at(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(object)
		v = m[p]
	}
	return v
}

func text(v any, path ...string) string {
	s, _ := at(v, path...).(string)
	return s
}

// walker reads a recording for one thread.
type walker struct {
	oracle
	thread   string
	children map[string]bool
	open     map[string]object // items that have not ended, by turn and id
	deltas   map[string]string
	asks     map[string]object
	turnsOf  map[string]bool
}

func newOracle(t *testing.T, lines []codexrec.Line, thread string) *oracle {
	t.Helper()
	w := &walker{thread: thread, children: map[string]bool{}, open: map[string]object{}, deltas: map[string]string{}, asks: map[string]object{}, turnsOf: map[string]bool{}}
	var msgs []object
	for _, l := range lines {
		var m object
		if json.Unmarshal(l.Msg, &m) == nil {
			m["client"] = l.Client
			msgs = append(msgs, m)
			ids := list(at(m, "params", "item", "receiverThreadIds"))
			if id := text(m, "params", "item", "agentThreadId"); id != "" {
				ids = append(ids, id)
			}
			for _, id := range ids {
				if from := text(m, "params", "threadId"); from == thread || w.children[from] {
					w.children[fmt.Sprint(id)] = true
				}
			}
		}
	}
	for _, m := range msgs {
		w.see(m)
	}
	for key := range w.open {
		w.cut(key)
	}
	for _, ask := range w.asks {
		w.over(ask, "expired")
	}
	return &w.oracle
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func (w *walker) ofThread(m object) bool {
	id := text(m, "params", "threadId")
	return id == w.thread || w.children[id]
}

func (w *walker) see(m object) {
	method, _ := m["method"].(string)
	id := fmt.Sprint(m["id"])
	switch {
	case m["client"] == true:
		if ask := w.asks[id]; ask != nil && method == "" {
			delete(w.asks, id)
			w.decide(ask, m)
		}
		if method == "thread/revert" && w.ofThread(m) {
			w.reverted = true
		}
	case method == "" && text(m, "result", "thread", "id") == w.thread && m["result"].(object)["model"] != nil:
		for _, turn := range list(at(m, "result", "thread", "turns")) {
			for _, i := range list(at(turn, "items")) {
				if w.turnsOf[text(turn, "id")] {
					continue // it was followed before
				}
				w.end(text(turn, "id"), i.(object))
			}
		}
	case strings.HasSuffix(method, "Warning") || method == "warning" || method == "deprecationNotice":
		if w.ofThread(m) || text(m, "params", "threadId") == "" {
			w.notices++
		}
	case !w.ofThread(m):
	case m["id"] != nil && method != "":
		if old := w.asks[id]; old != nil { // a request of an earlier server
			w.over(old, "expired")
		}
		w.asks[id] = m
	default:
		w.notification(method, m)
	}
}

func (w *walker) notification(method string, m object) {
	turn, root := text(m, "params", "turnId"), text(m, "params", "threadId") == w.thread
	key := turn + " " + text(m, "params", "itemId")
	w.turnsOf[turn] = true
	switch method {
	case "item/started":
		i := at(m, "params", "item").(object)
		w.open[turn+" "+text(i, "id")] = i
	case "item/completed":
		i := at(m, "params", "item").(object)
		delete(w.open, turn+" "+text(i, "id"))
		w.end(turn, i)
	case "item/agentMessage/delta", "item/plan/delta", "item/commandExecution/outputDelta":
		w.deltas[key] += text(m, "params", "delta")
	case "error":
		if at(m, "params", "willRetry") == true {
			for k, i := range w.open {
				if i["type"] == "agentMessage" || i["type"] == "reasoning" {
					delete(w.open, k) // void
				}
			}
		}
	case "turn/completed":
		for k := range w.open {
			if strings.HasPrefix(k, text(m, "params", "turn", "id")+" ") && !(w.open[k]["type"] == "commandExecution" && text(m, "params", "turn", "status") == "completed") {
				w.cut(k)
			}
		}
		for id, ask := range w.asks {
			if text(ask, "params", "turnId") == text(m, "params", "turn", "id") {
				delete(w.asks, id)
				w.over(ask, "cancelled")
			}
		}
		if root {
			w.results = append(w.results, text(m, "params", "turn", "status")+" "+text(m, "params", "turn", "error", "message"))
		}
	case "turn/plan/updated":
		w.plan = ""
		for _, s := range list(at(m, "params", "plan")) {
			w.plan += strings.ReplaceAll(text(s, "status"), "inProgress", "in_progress") + " " + text(s, "step") + "\n"
		}
	case "turn/diff/updated":
		if root {
			w.diff = text(m, "params", "diff")
		}
	case "thread/tokenUsage/updated":
		if root {
			w.tokens = fmt.Sprint(at(m, "params", "tokenUsage", "last", "totalTokens"), at(m, "params", "tokenUsage", "modelContextWindow"))
		}
	case "serverRequest/resolved":
		id := fmt.Sprint(at(m, "params", "requestId"))
		if ask := w.asks[id]; ask != nil {
			delete(w.asks, id)
			w.over(ask, "unknown")
		}
	}
}

// cut handles an item that never ends.
func (w *walker) cut(key string) {
	i := w.open[key]
	delete(w.open, key)
	switch i["type"] {
	case "userMessage":
		w.end("", i) // its start is complete
	case "agentMessage", "plan":
		w.texts = append(w.texts, w.deltas[key])
	case "commandExecution", "fileChange", "mcpToolCall", "dynamicToolCall", "collabAgentToolCall":
		w.tools = append(w.tools, fmt.Sprint(i["type"], " ", w.deltas[key], " true"))
	}
}

func (w *walker) end(turn string, i object) {
	switch i["type"] {
	case "userMessage":
		var parts []string
		for _, c := range list(i["content"]) {
			parts = append(parts, text(c, "text"))
		}
		w.prompts = append(w.prompts, strings.Join(parts, ""))
	case "hookPrompt":
		var parts []string
		for _, f := range list(i["fragments"]) {
			parts = append(parts, text(f, "text"))
		}
		w.prompts = append(w.prompts, strings.Join(parts, "\n"))
	case "agentMessage", "plan":
		w.texts = append(w.texts, text(i, "text"))
	case "reasoning":
		for _, s := range append(list(i["summary"]), list(i["content"])...) {
			w.reasoning = append(w.reasoning, s.(string))
		}
	case "commandExecution":
		failed := i["status"] == "failed" || i["status"] == "declined"
		out := text(i, "aggregatedOutput")
		if long := w.deltas[turn+" "+text(i, "id")]; strings.Contains(out, " bytes omitted ...") && len(long) > len(out) {
			out = long
		}
		w.tools = append(w.tools, fmt.Sprint(i["type"], " ", out, " ", failed))
	case "fileChange":
		failed := i["status"] == "failed" || i["status"] == "declined"
		w.tools = append(w.tools, fmt.Sprint(i["type"], " ", text(i, "status"), " ", failed))
	case "mcpToolCall":
		out := text(i, "error", "message")
		for _, c := range list(at(i, "result", "content")) {
			out += text(c, "text")
		}
		w.tools = append(w.tools, fmt.Sprint("mcpToolCall ", out, " ", i["status"] == "failed"))
	case "dynamicToolCall":
		out := ""
		for _, c := range list(i["contentItems"]) {
			out += text(c, "text")
		}
		w.tools = append(w.tools, fmt.Sprint("dynamicToolCall ", out, " ", i["success"] == false))
	case "collabAgentToolCall":
		w.tools = append(w.tools, fmt.Sprint("collabAgentToolCall ", text(i, "status"), " false"))
	}
}

// isPermission reports whether a request asks for a permission.
func isPermission(ask object) bool {
	switch ask["method"] {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/permissions/requestApproval":
		return true
	case "mcpServer/elicitation/request":
		return at(ask, "params", "_meta", "codex_approval_kind") != nil
	}
	return false
}

// over handles a request that ends without a response of the client.
func (w *walker) over(ask object, how string) {
	if isPermission(ask) {
		w.decisions = append(w.decisions, text(ask, "params", "itemId")+" "+how)
	}
}

// decide records the client's answer.
func (w *walker) decide(ask, answer object) {
	if !isPermission(ask) {
		return
	}
	behavior := "deny"
	d := at(answer, "result", "decision")
	_, amended := d.(object)
	if amended || d == "accept" || d == "acceptForSession" || text(answer, "result", "action") == "accept" || at(answer, "result", "permissions", "network") != nil {
		behavior = "allow"
	}
	w.decisions = append(w.decisions, text(ask, "params", "itemId")+" "+behavior)
}

// oracleOf collects the data of a walk from the folded conversation, for comparison.
func oracleOf(r *run) *oracle {
	o := &oracle{}
	r.conv.Settle()
	for _, th := range r.conv.Threads {
		if p := th.Plan; p != nil {
			for _, e := range p.Entries {
				o.plan += e.Status + " " + e.Content + "\n"
			}
		}
		for _, i := range th.Items {
			switch {
			case i.Result != nil:
				status := map[string]string{"success": "completed", "interrupted": "interrupted", "error_during_execution": "failed"}[i.Result.Subtype]
				o.results = append(o.results, status+" "+strings.Join(i.Result.Errors, ""))
			case i.Message != nil && i.Message.Role == "user":
				var parts []string
				for _, b := range i.Message.Blocks {
					parts = append(parts, b.Text.String())
				}
				o.prompts = append(o.prompts, strings.Join(parts, ""))
			case i.Message != nil:
				for _, b := range i.Message.Blocks {
					o.block(b)
				}
			}
		}
	}
	for _, turn := range r.conv.Turns {
		if len(turn.Changes) > 0 {
			o.diff = ""
			for _, f := range turn.Changes {
				o.diff += f.Diff
			}
		}
	}
	if u := r.conv.Usage; u != nil && u.ContextTokens != nil {
		window := any(nil)
		if u.ContextWindow != nil {
			window = *u.ContextWindow
		}
		o.tokens = fmt.Sprint(float64(*u.ContextTokens), window)
	}
	for _, ev := range r.events {
		switch ev := ev.(type) {
		case *event.PermissionResolved:
			id, _, _ := strings.Cut(ev.ToolUseID, "@")
			o.decisions = append(o.decisions, id+" "+ev.Behavior)
		case *event.Notice:
			if strings.HasSuffix(ev.Code, "arning") || ev.Code == "deprecationNotice" {
				o.notices++
			}
		}
	}
	return o
}

func (o *oracle) block(b *event.Block) {
	switch {
	case b.Tool != nil:
		name := b.Tool.Name
		switch {
		case strings.HasPrefix(name, "mcp__"):
			name = "mcpToolCall"
		case slices.Contains([]string{"webSearch", "imageView", "imageGeneration", "sleep"}, name):
			return
		case !slices.Contains([]string{"commandExecution", "fileChange", "collabAgentToolCall"}, name):
			name = "dynamicToolCall"
		}
		out := ""
		switch v := b.Tool.Result.Value().(type) {
		case string:
			out = v
		case []any:
			for _, part := range v {
				out += text(part, "text")
			}
		}
		o.tools = append(o.tools, fmt.Sprint(name, " ", out, " ", b.Tool.Status == event.ToolFailed))
		if b.Tool.Status == event.ToolInProgress {
			o.tools = append(o.tools, "in progress: "+b.Tool.ID)
		}
	case b.Type == "thinking":
		o.reasoning = append(o.reasoning, b.Text.String())
	case b.Type == "text":
		o.texts = append(o.texts, b.Text.String())
	}
}

// check compares a fold with the walk.
func (o *oracle) check(t *testing.T, r *run) {
	t.Helper()
	got := oracleOf(r)
	if o.reverted {
		return // reverted turns are checked by TestRevert
	}
	same := func(what string, want, got []string) {
		want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
		empty := func(s string) bool { return s == "" }
		want, got = slices.DeleteFunc(want, empty), slices.DeleteFunc(got, empty)
		if !slices.Equal(want, got) {
			t.Errorf("%s:\nwant %q\ngot  %q", what, want, got)
		}
	}
	same("texts", o.texts, got.texts)
	same("prompts", o.prompts, got.prompts)
	same("reasoning", o.reasoning, got.reasoning)
	same("tools", o.tools, got.tools)
	// The request of an MCP tool does not name its call; only the kind of answer is compared.
	sense := func(list []string) (out []string) {
		for _, s := range list {
			out = append(out, s[strings.LastIndex(s, " ")+1:])
		}
		return out
	}
	same("decisions", sense(o.decisions), sense(got.decisions))
	// Turns read from history have results too.
	for _, want := range o.results {
		i := slices.Index(got.results, want)
		if i < 0 {
			t.Errorf("no result %q in %q", want, got.results)
			continue
		}
		got.results = slices.Delete(got.results, i, i+1)
	}
	if o.plan != got.plan || o.diff != got.diff || o.notices != got.notices {
		t.Errorf("plan %q %q\ndiff %q %q\nnotices %d %d", o.plan, got.plan, o.diff, got.diff, o.notices, got.notices)
	}
	if o.tokens != "" && o.tokens != got.tokens {
		t.Errorf("tokens %s, want %s", got.tokens, o.tokens)
	}
	if r.conv.Totals.CostUSD != nil {
		t.Error("a cost that nothing said")
	}
}
