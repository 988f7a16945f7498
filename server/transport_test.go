package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// wire is a JSON-RPC connection of a test.
type wire struct {
	t    *testing.T
	conn *websocket.Conn
	n    int
}

func (h *harness) dial(token string) *wire {
	h.Helper()
	conn, _, err := websocket.Dial(h.ctx(), h.url+"/v1/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		h.Fatal(err)
	}
	conn.SetReadLimit(64 << 20)
	h.Cleanup(func() { _ = conn.CloseNow() })
	return &wire{t: h.T, conn: conn}
}

type wireMessage struct {
	ID     json.RawMessage  `json:"id"`
	Method string           `json:"method"`
	Params json.RawMessage  `json:"params"`
	Result json.RawMessage  `json:"result"`
	Error  *api.ErrorObject `json:"error"`
}

func (w *wire) read() wireMessage {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_, data, err := w.conn.Read(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	var m wireMessage
	if err := json.Unmarshal(data, &m); err != nil {
		w.t.Fatalf("%v: %s", err, data)
	}
	return m
}

func (w *wire) send(text string) {
	w.t.Helper()
	if err := w.conn.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
		w.t.Fatal(err)
	}
}

// call calls a method and returns its response; earlier messages are dropped.
func (w *wire) call(method string, params any) (json.RawMessage, *api.ErrorObject) {
	w.t.Helper()
	w.n++
	data, err := json.Marshal(params)
	if err != nil {
		w.t.Fatal(err)
	}
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, w.n, method, data))
	for {
		if m := w.read(); string(m.ID) == fmt.Sprint(w.n) {
			return m.Result, m.Error
		}
	}
}

// post calls a method over HTTP.
func (h *harness) post(method string, params any) (json.RawMessage, *api.ErrorObject) {
	h.Helper()
	data, err := json.Marshal(params)
	if err != nil {
		h.Fatal(err)
	}
	req, err := http.NewRequestWithContext(h.ctx(), http.MethodPost, h.url+"/v1/"+method, bytes.NewReader(data))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+h.token)
	status, _, body := h.do(req)
	if status == http.StatusOK {
		return body, nil
	}
	var e errorBody
	if err := json.Unmarshal(body, &e); err != nil {
		h.Fatalf("%s: status %d, %s", method, status, body)
	}
	return nil, &e.Error
}

// scene is a session in a state in which every method has an effect.
type scene struct {
	session, task, request, question, queued, prompt, agentID, token string
}

func (h *harness) scene() scene {
	h.Helper()
	var s scene
	s.session = h.connect()
	w := h.watch(s.session)
	s.prompt = h.query(s.session, "task").TurnID
	w.results(1)
	s.task = h.history(s.session).Tasks[0].ID
	h.query(s.session, "tool Bash")
	w.state(session.RequiresAction)
	s.request = h.history(s.session).Prompts[0].RequestID()
	s.queued = h.query(s.session, "say queued").TurnID
	s.agentID = h.info(s.session).AgentID
	other := h.connect()
	h.query(other, "ask")
	wo := h.watch(other)
	wo.state(session.RequiresAction)
	s.question = h.history(other).Prompts[0].RequestID() + " " + other
	var tk api.TokensCreateResult
	h.call("tokens.create", api.TokensCreateParams{Role: "viewer"}, &tk)
	s.token = tk.ID
	return s
}

// params returns the parameters of methods in a scene. Other methods are called with zero
// parameters and the session.
func (s scene) params() map[string]any {
	ref := api.SessionRef{SessionID: s.session}
	hist := api.HistoryRef{Session: s.agentID}
	question, other, _ := strings.Cut(s.question, " ")
	return map[string]any{
		"hello": api.HelloParams{}, "session.connect": api.ConnectParams{}, "session.query": api.QueryParams{SessionID: s.session, Text: "say x"},
		"session.queryWithContent": json.RawMessage(`{"session_id":"` + s.session + `","content":[{"type":"text","text":"say y"}]}`),
		"session.attach":           ref, "session.detach": ref, "session.list": api.ListParams{}, "session.runInBackground": ref,
		"session.setModel": api.SetModelParams{SessionID: s.session, Model: "sim-2"}, "session.setPermissionMode": api.SetPermissionModeParams{SessionID: s.session, Mode: "plan"},
		"session.setMaxThinkingTokens": ref, "session.setEffort": api.SetEffortParams{SessionID: s.session, Effort: "high"}, "session.fork": api.ForkParams{SessionID: s.session},
		"session.rewind": api.RewindParams{SessionID: s.session, UserMessageID: s.prompt, DryRun: true}, "session.getHistory": ref,
		"session.rename": api.SessionRenameParams{SessionID: s.session, Title: "T"}, "session.archive": ref, "session.unarchive": ref,
		"session.continue": ref, "session.takeOver": ref, "session.handBack": ref, "session.isolation": ref, "queue.list": ref,
		"queue.edit":    api.QueueEditParams{SessionID: s.session, ID: s.queued, Content: `"say edited"`},
		"queue.reorder": api.QueueReorderParams{SessionID: s.session, IDs: []string{s.queued}}, "queue.release": ref,
		"queue.remove":       api.QueueItemParams{SessionID: s.session, ID: s.queued},
		"queue.sendNow":      api.QueueItemParams{SessionID: s.session, ID: "none"},
		"permission.list":    api.PermissionListParams{},
		"permission.respond": api.PermissionRespondParams{SessionID: s.session, RequestID: s.request, Behavior: "allow"},
		"question.respond":   api.QuestionRespondParams{SessionID: other, RequestID: question, Action: "decline"},
		"history.list":       api.HistoryListParams{}, "history.load": hist, "history.metadata": hist, "history.rename": api.HistoryRenameParams{Session: s.agentID, Title: "T"},
		"history.tag": api.HistoryTagParams{Session: s.agentID, Tag: "t"}, "history.delete": hist, "history.export": api.HistoryExportParams{Session: s.agentID, Format: "markdown"},
		"history.search": api.HistorySearchParams{Query: "task"}, "mcp.status": ref, "mcp.reconnect": api.MCPServerParams{SessionID: s.session, ServerName: "demo"},
		"mcp.toggle": api.MCPToggleParams{SessionID: s.session, ServerName: "demo"}, "mcp.tools": api.MCPToolsParams{SessionID: s.session}, "models.list": ref,
		"commands.list": ref, "agents.list": ref, "task.output": api.TaskOutputParams{SessionID: s.session, TaskID: s.task},
		"task.stop": api.TaskParams{SessionID: s.session, TaskID: s.task}, "files.search": api.FilesSearchParams{SessionID: s.session, Query: "a"},
		"files.read": api.FilesReadParams{SessionID: s.session, Path: "a.txt"}, "context.build": json.RawMessage(`{"text":"t","contexts":[]}`),
		"context.parse": api.ContextParseParams{Text: "t"}, "image.upload": api.ImageUploadParams{SessionID: s.session, MediaType: "image/png", Data: "aGk="},
		"usage.context": ref, "usage.session": ref, "usage.summary": api.UsageSummaryParams{}, "settings.get": api.Empty{}, "health": api.Empty{},
		"server.drain": api.DrainParams{}, "tokens.create": api.TokensCreateParams{Role: "viewer"}, "tokens.list": api.Empty{},
		"tokens.revoke": api.TokensRevokeParams{ID: s.token}, "share.create": api.ShareCreateParams{SessionID: s.session},
		"share.revoke": api.ShareRevokeParams{ID: "none"}, "audit.list": api.AuditListParams{}, "providers.list": api.Empty{},
		"budget.list": api.BudgetListParams{SessionID: s.session}, "budget.set": api.BudgetSetParams{Budget: api.Budget{Scope: "server", LimitUSD: new(1e6)}},
		"budget.remove": api.BudgetRef{ID: "none"}, "webhooks.list": api.Empty{}, "webhooks.test": api.WebhookRef{ID: "none"}, "webhooks.remove": api.WebhookRef{ID: "none"},
		"webhooks.set":     api.WebhooksSetParams{Webhook: api.Webhook{URL: "https://hooks.example/x", Events: []string{"failed"}}},
		"workspace.create": api.WorkspaceCreateParams{}, "workspace.list": api.Empty{}, "workspace.diff": ref, "workspace.revert": ref, "workspace.commit": ref,
		"workspace.restore": ref, "workspace.branch": ref, "workspace.merge": ref, "workspace.push": ref,
		"workspace.remove": ref, "review.list": ref, "review.comment": api.ReviewCommentParams{SessionID: s.session, From: 1, Text: "t"},
		"review.update": ref, "review.remove": ref, "review.send": ref,
		"preview.list": ref, "preview.open": api.PreviewOpenParams{SessionID: s.session, Port: 80}, "push.key": api.Empty{},
		"push.subscribe": api.PushSubscribeParams{Endpoint: "https://push.example/x"}, "push.unsubscribe": api.PushUnsubscribeParams{Endpoint: "https://push.example/x"},
		"push.get": api.PushUnsubscribeParams{Endpoint: "https://push.example/x"}, "push.answer": api.PushAnswerParams{Nonce: "none", Behavior: "deny"},
		"rules.list": api.SettingsOf{}, "rules.add": api.RuleParams{Rule: "Bash(ls)", Behavior: "allow", Scope: "local"}, "rules.remove": api.RuleParams{Rule: "Bash(ls)", Behavior: "allow", Scope: "local"},
		"mcp.configured": api.SettingsOf{}, "mcp.configure": api.MCPConfigureParams{Server: api.MCPConfig{Name: "x", Type: "stdio", Command: "x"}}, "mcp.unconfigure": api.MCPUnconfigureParams{Name: "x"},
		"pairing.create": api.PairingCreateParams{Role: "viewer", Name: "phone"}, "pairing.cancel": api.PairingRef{ID: "none"},
		"push.test":         api.PushUnsubscribeParams{Endpoint: "https://push.example/x"},
		"session.interrupt": ref, "session.disconnect": ref, "session.delete": api.SessionDeleteParams{SessionID: s.session},
	}
}

// want are the expected reasons of methods that fail in a scene.
var want = map[string]api.Reason{
	"session.archive": api.Conflict, "session.continue": api.Conflict, "session.handBack": api.Unsupported,
	"budget.remove": api.Conflict, "webhooks.test": api.Conflict, "webhooks.remove": api.Conflict,
	"queue.reorder": api.Conflict, "queue.sendNow": api.Conflict, "history.delete": api.Conflict, "server.drain": api.Unsupported, "share.revoke": api.Conflict,
	// The directory of the scene has no git; workspace_test.go has one.
	"workspace.create": api.Unsupported, "workspace.diff": api.Unsupported, "workspace.revert": api.Unsupported, "workspace.commit": api.Unsupported,
	"workspace.restore": api.Unsupported, "workspace.branch": api.Unsupported, "workspace.merge": api.Unsupported, "workspace.push": api.Unsupported,
	"workspace.remove": api.Unsupported, "review.comment": api.Unsupported, "review.send": api.Unsupported,
	"review.update": api.InvalidParams, "review.remove": api.InvalidParams,
	// This server has neither; preview_test.go and push_test.go test them.
	"preview.open": api.Unsupported, "push.subscribe": api.Unsupported, "push.test": api.Unsupported, "push.answer": api.Conflict,
	// The scripted agent keeps no settings; settings_test.go tests one that does.
	"rules.list": api.Unsupported, "rules.add": api.Unsupported, "rules.remove": api.Unsupported, "mcp.configured": api.Unsupported, "mcp.configure": api.Unsupported, "mcp.unconfigure": api.Unsupported,
}

// last are the methods that end objects which other methods need, in order.
var last = []string{"queue.remove", "permission.respond", "question.respond", "task.stop", "session.interrupt", "session.disconnect", "session.delete"}

// TestMethods calls every method over the WebSocket and over HTTP. The results have the members in
// testdata/results.txt: those that are always present, with their values if these are words.
func TestMethods(t *testing.T) {
	results := map[string][]string{}
	for _, transport := range []string{"websocket", "http"} {
		t.Run(transport, func(t *testing.T) {
			h := newHarness(t)
			writeFile(t, filepath.Join(h.dir, "work", "a.txt"), "one\ntwo\n")
			s := h.scene()
			params := s.params()
			w := h.dial(h.token)
			call := w.call
			if transport == "http" {
				call = h.post
			}
			check := func(m Method) {
				p, ok := params[m.Name]
				reason := want[m.Name]
				if !ok {
					p = json.RawMessage(fmt.Sprintf(`{"session_id":%q}`, s.session))
				}
				result, e := call(m.Name, p)
				if !ok && e != nil && e.Data.Reason != session.InternalError {
					return // the call reached the method, whose own test covers the parameters
				}
				if reason != "" {
					if e == nil || e.Data.Reason != reason {
						t.Errorf("%s: %s, %+v; want reason %s", m.Name, result, e, reason)
					}
					return
				}
				if e != nil {
					t.Errorf("%s: %+v", m.Name, e)
					return
				}
				if err := json.Unmarshal(result, reflect.New(m.Result).Interface()); err != nil {
					t.Errorf("%s: %v: %s", m.Name, err, result)
				}
				results[m.Name] = members(t, result, results[m.Name])
			}
			byName := map[string]Method{}
			for _, m := range Methods() {
				byName[m.Name] = m
			}
			for _, m := range Methods() {
				if !strings.Contains(" "+strings.Join(last, " ")+" ", " "+m.Name+" ") {
					check(m)
				}
			}
			for _, name := range last {
				check(byName[name])
			}
		})
	}
	checkResults(t, results)
}

// plainWord matches values that are the same in every run: no ids, times and paths.
var plainWord = regexp.MustCompile(`^[A-Za-z_ ,:()-]{1,60}$`)

// members returns the non-empty members of a result as paths. If other is not nil, it returns only
// members that other contains too.
func members(t *testing.T, result json.RawMessage, other []string) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(result, &v); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, one := range v {
				if name = path + "." + name; !strings.ContainsAny(name, "0123456789/ ") {
					walk(name, one)
				}
			}
		case []any:
			for _, one := range v {
				walk(path, one)
			}
		case string:
			if plainWord.MatchString(v) {
				found[path+"="+strings.ReplaceAll(v, " ", "_")] = true
			} else if v != "" {
				found[path] = true
			}
		case bool:
			found[fmt.Sprint(path, "=", v)] = true
		case float64:
			if v != 0 {
				found[path] = true
			}
		}
	}
	walk("", v)
	list := slices.Sorted(maps.Keys(found))
	if other != nil {
		list = slices.DeleteFunc(list, func(one string) bool { return !slices.Contains(other, one) })
	}
	return list
}

// checkResults compares with testdata/results.txt. With -update it also stores the members of this
// run.
func checkResults(t *testing.T, results map[string][]string) {
	t.Helper()
	const path = "testdata/results.txt"
	text, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		want := strings.Fields(line)
		got := append(results[want[0]], want[0])
		for _, one := range want[1:] {
			if !*update && !slices.Contains(got, one) {
				t.Errorf("the result of %s has no %s; it has %q", want[0], one, results[want[0]])
			}
		}
		kept = append(kept, strings.Join(slices.DeleteFunc(want, func(one string) bool { return !slices.Contains(got, one) }), " "))
	}
	if !*update {
		return
	}
	if len(kept) == 0 {
		for name, list := range results {
			kept = append(kept, strings.Join(append([]string{name}, list...), " "))
		}
		slices.Sort(kept)
	}
	if err := os.WriteFile(path, []byte(strings.Join(kept, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestEvents_transports follows one session over WebSocket, server-sent events and polls; all
// return the same messages, and each continues where it was cut.
func TestEvents_transports(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	for i := range 3 {
		h.query(id, fmt.Sprintf("say turn %d", i))
		w.results(i + 1)
	}
	w.until("the title", func(c *uiConversation) bool { return c.Title != "" })
	var hist api.GetHistoryResult
	h.call("session.getHistory", api.SessionRef{SessionID: id}, &hist)
	start := api.Cursor{Epoch: hist.Cursor.Epoch}
	viaSocket := h.viaSocket(id, start, hist.Cursor.Seq)
	viaSSE := h.viaSSE(id, start, hist.Cursor.Seq)
	viaPoll := h.viaPoll(id, start, hist.Cursor.Seq)
	if len(viaSocket) < int(hist.Cursor.Seq) || len(viaSSE) != len(viaSocket) || len(viaPoll) != len(viaSocket) {
		t.Fatalf("%d messages over the socket, %d by server-sent events and %d by polls, want as many of each, and %d or more", len(viaSocket), len(viaSSE), len(viaPoll), hist.Cursor.Seq)
	}
	for i := range viaSocket {
		if viaSSE[i] != viaSocket[i] || viaPoll[i] != viaSocket[i] {
			t.Errorf("message %d differs:\n%s\n%s\n%s", i+1, viaSocket[i], viaSSE[i], viaPoll[i])
		}
	}
}

// TestSocket_order detaches and attaches a session without waiting for the responses in between, as
// a page does that switches between two views of a session.
func TestSocket_order(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.dial(h.token)
	if _, e := w.call("session.attach", api.AttachParams{SessionID: id}); e != nil {
		t.Fatal(e)
	}
	for i := range 100 {
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"left","method":"session.detach","params":{"session_id":%q}}`, id))
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"back","method":"session.attach","params":{"session_id":%q}}`, id))
		for answers := 0; answers < 2; {
			if m := w.read(); m.ID != nil {
				answers++
			}
		}
		if n := h.info(id).Viewers; n != 1 {
			t.Fatalf("after %d returns the session has %d viewers on this socket, want 1", i+1, n)
		}
	}
}

// viaSocket reads two messages per connection and continues after them.
func (h *harness) viaSocket(id string, from api.Cursor, end uint64) []string {
	h.Helper()
	var all []string
	for at := from; at.Seq < end; at = placeOf(h.T, all[len(all)-1]) {
		h.mostOf(all, end)
		w := h.dial(h.token)
		w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"session.attach","params":{"session_id":%q,"after":{"epoch":%q,"seq":%d,"sub":%d}}}`, id, at.Epoch, at.Seq, at.Sub))
		if m := w.read(); string(m.ID) != "1" || m.Error != nil {
			h.Fatalf("the first message is %+v, not the answer to attach", m)
		}
		for n := 0; n < 2; {
			if m := w.read(); m.Method == "event" {
				all = append(all, string(m.Params))
				if n++; placeOf(h.T, string(m.Params)).Seq == end {
					break
				}
			}
		}
		_ = w.conn.CloseNow() // nothing is sent
	}
	return all
}

// mostOf ends the test if there are far more messages than a session has up to a place, because some come again and again.
func (h *harness) mostOf(all []string, end uint64) {
	h.Helper()
	if most := 10 * int(end); len(all) > most {
		h.Fatalf("there are %d messages up to %d, want at most %d", len(all), end, most)
	}
}

// placeOf returns the place after an event.
func placeOf(t *testing.T, text string) (at api.Cursor) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		t.Fatal(err)
	}
	return at
}

// viaSSE reads two messages per connection and continues with Last-Event-ID.
func (h *harness) viaSSE(id string, from api.Cursor, end uint64) []string {
	h.Helper()
	var all []string
	lastID := fmt.Sprintf("%s:%d.0", from.Epoch, from.Seq)
	for len(all) == 0 || placeOf(h.T, all[len(all)-1]).Seq < end {
		h.mostOf(all, end)
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/v1/sessions/"+id+"/events", nil)
		req.Header.Set("Authorization", "Bearer "+h.token)
		req.Header.Set("Last-Event-ID", lastID)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			h.Fatal(err)
		}
		if resp.Header.Get("X-Accel-Buffering") != "no" || resp.Header.Get("Content-Type") != "text/event-stream" {
			h.Fatalf("the headers are %v", resp.Header)
		}
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		name, n, at := "", 0, ""
		for n < 2 && lines.Scan() {
			switch field, value, _ := strings.Cut(lines.Text(), ": "); field {
			case "event":
				name = value
			case "id":
				at = value
			case "data":
				if name == "" {
					all = append(all, value)
					lastID = at
					n++
				}
			case "":
				name = ""
			}
			if len(all) > 0 && placeOf(h.T, all[len(all)-1]).Seq == end {
				break
			}
		}
		if err := lines.Err(); err != nil {
			h.Fatalf("reading the stream after %d of %d events: %v", len(all), end, err)
		}
		cancel()
		resp.Body.Close()
	}
	return all
}

// viaPoll takes two messages of each response and continues after them.
func (h *harness) viaPoll(id string, from api.Cursor, end uint64) []string {
	h.Helper()
	var all []string
	for at := from; at.Seq < end; at = placeOf(h.T, all[len(all)-1]) {
		h.mostOf(all, end)
		req, _ := http.NewRequestWithContext(h.ctx(), http.MethodGet, fmt.Sprintf("%s/v1/sessions/%s/events?wait=5&after=%s:%d.%d", h.url, id, at.Epoch, at.Seq, at.Sub), nil)
		req.Header.Set("Authorization", "Bearer "+h.token)
		_, _, body := h.do(req)
		var r struct {
			Cursor api.Cursor        `json:"cursor"`
			State  string            `json:"state"`
			Events []json.RawMessage `json:"events"`
		}
		if err := json.Unmarshal(body, &r); err != nil || len(r.Events) == 0 || r.State == "" {
			h.Fatalf("the poll gave %s (%v)", body, err)
		}
		if last := placeOf(h.T, string(r.Events[len(r.Events)-1])); r.Cursor != last {
			h.Errorf("the poll after %+v has the cursor %+v, want %+v", at, r.Cursor, last)
		}
		for _, e := range r.Events[:min(2, len(r.Events))] {
			all = append(all, string(e))
		}
	}
	return all
}

func TestPoll_waits(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	var hist api.GetHistoryResult
	h.call("session.getHistory", api.SessionRef{SessionID: id}, &hist)
	req, _ := http.NewRequestWithContext(h.ctx(), http.MethodGet,
		fmt.Sprintf("%s/v1/sessions/%s/events?wait=0.05&after=%s:%d.0", h.url, id, hist.Cursor.Epoch, hist.Cursor.Seq), nil)
	req.Header.Set("Authorization", "Bearer "+h.token)
	if status, _, body := h.do(req); status != http.StatusOK || !strings.Contains(string(body), `"events":[]`) {
		t.Errorf("a poll without news gave %d %s", status, body)
	}
}

func TestSSE_heartbeatAndResync(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.Heartbeat = 20 * time.Millisecond })
	id := h.connect()
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/v1/sessions/"+id+"/events?after=wrong:5.0", nil)
	req.Header.Set("Authorization", "Bearer "+h.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	var seen strings.Builder
	for lines.Scan() && !strings.HasPrefix(lines.Text(), ": heartbeat") {
		seen.WriteString(lines.Text() + "\n")
	}
	if err := lines.Err(); err != nil {
		t.Errorf("reading the stream up to a heartbeat: %v", err)
	}
	if !strings.Contains(seen.String(), `"resync":true`) || !strings.Contains(seen.String(), `"snapshot":{`) {
		t.Errorf("a wrong epoch gave %s", seen.String())
	}
}

func TestOpenAPI(t *testing.T) {
	h := newHarness(t)
	req, _ := http.NewRequestWithContext(h.ctx(), http.MethodGet, h.url+"/v1/openapi.json", nil)
	_, _, body := h.do(req)
	var doc struct {
		OpenAPI    string                                `json:"openapi"`
		Paths      map[string]map[string]json.RawMessage `json:"paths"`
		Components struct {
			Schemas map[string]*jsonschema.Schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("the version is %q", doc.OpenAPI)
	}
	for _, m := range Methods() {
		if doc.Paths["/v1/"+m.Name]["post"] == nil {
			t.Errorf("%s is missing", m.Name)
		}
	}
	// Every reference has a target, and every schema is valid.
	for _, part := range strings.Split(string(body), `"$ref":"`)[1:] {
		target, _, _ := strings.Cut(part, `"`)
		name, ok := strings.CutPrefix(target, "#/components/schemas/")
		if ok && doc.Components.Schemas[name] == nil || !ok && target != "#/components/responses/Error" {
			t.Errorf("the reference %s leads nowhere", target)
		}
	}
	if strings.Contains(string(body), "$defs") {
		t.Error("the document refers to $defs")
	}
}

func TestSocket_badRequests(t *testing.T) {
	h := newHarness(t)
	w := h.dial(h.token)
	for _, bad := range []string{`{`, `[]`, `{"method":"health"}`, `{"jsonrpc":"2.0","id":1}`, `"x"`} {
		w.send(bad)
		if m := w.read(); m.Error == nil || m.Error.Code != -32600 {
			t.Errorf("%s was answered with %+v", bad, m)
		}
	}
	if _, e := w.call("health", api.Empty{}); e != nil {
		t.Errorf("after bad requests: %+v", e)
	}
	if _, e := w.call("no.such", api.Empty{}); e == nil || e.Code != -32601 {
		t.Errorf("a method that does not exist: %+v", e)
	}
}

// TestSocket_subscriptions checks that a session that has ended does not count as a followed one.
func TestSocket_subscriptions(t *testing.T) {
	h := newHarness(t)
	w := h.dial(h.token)
	for i := range maxSubscriptions + 1 {
		id := h.connect()
		if _, e := w.call("session.attach", api.AttachParams{SessionID: id}); e != nil {
			t.Fatalf("after %d deleted sessions one cannot be followed: %+v", i, e)
		}
		h.call("session.delete", api.SessionDeleteParams{SessionID: id}, nil)
		for w.read().Method != "detached" {
		}
	}
}
