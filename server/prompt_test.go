package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/largealloc"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestPromptCopies checks how often the server copies a large prompt until the client has the
// response: at most the body and the parameters of the method call are copied.
func TestPromptCopies(t *testing.T) {
	short.SkipLong(t, "sends large prompts")
	if !largealloc.Exact {
		t.Skip("the race detector makes copies")
	}
	const size = 4 << 20
	plain, escaped := "model "+strings.Repeat("a", size), "model "+strings.Repeat("ab\\n", size/4) // the agent does not repeat it
	h := newHarness(t)
	for name, tt := range map[string]struct {
		path, body, text string
		want             int
		queued           bool // queued after a turn that is then interrupted
	}{
		"query":          {"/v1/session.query", `{"session_id":"ID","text":"TEXT"}`, plain, 1, false},
		"query, escaped": {"/v1/session.query", `{"session_id":"ID","text":"TEXT"}`, escaped, 3, false}, // the text for the agent, and for the event
		"content":        {"/v1/session.queryWithContent", `{"session_id":"ID","content":[{"type":"text","text":"TEXT"}]}`, plain, 1, false},
		"AG-UI":          {"/v1/agui", `{"threadId":"ID","runId":"r","messages":[{"id":"m","role":"user","content":"TEXT"}]}`, plain, 2, false},
		"AI SDK":         {"/v1/aisdk", `{"id":"ID","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"TEXT"}]}]}`, plain, 2, false},
		"MCP":            {"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"session_send","arguments":{"session_id":"ID","text":"TEXT"}}}`, plain, 2, false},
		"queued":         {"/v1/session.query", `{"session_id":"ID","text":"TEXT"}`, plain, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			h.T = t
			id := h.connect()
			if tt.queued {
				h.query(id, "wait")
			}
			h.copies(id, tt.path, strings.NewReplacer("ID", id, "TEXT", tt.text).Replace(tt.body), size, tt.want)
		})
	}
}

// copies sends a prompt and checks the number of allocations of at least half of a size.
func (h *harness) copies(id, path, body string, size, want int) {
	h.Helper()
	stacks := accepting(largealloc.Stacks(int64(size/2), func() {
		turns := h.summary(id).Turns
		r, err := http.NewRequestWithContext(h.ctx(), http.MethodPost, h.url+path, strings.NewReader(body))
		if err != nil {
			h.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+h.token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if status, _, answer := h.do(r); status != http.StatusOK {
			h.Fatalf("the prompt is answered with %d: %.300s", status, answer)
		}
		if h.summary(id).Queued > 0 {
			h.call("session.interrupt", api.SessionRef{SessionID: id}, nil)
		}
		eventually(h.T, "the end of the turn", func() bool {
			x := h.summary(id)
			return x.State == string(session.Idle) && x.Queued == 0 && x.Turns > turns
		})
	}))
	if len(stacks) > want {
		h.Errorf("a prompt of %d bytes takes %d allocations of its size, want at most %d:\n%s", len(body), len(stacks), want, strings.Join(stacks, "\n"))
	}
}

// TestRun_texts checks the prompt that the protocols send for a message: a single text is sent as text, other content as blocks. The
// digest of a message does not depend on that.
func TestRun_texts(t *testing.T) {
	long := strings.Repeat("x", 1<<10)
	for _, text := range []string{"a", "<b> & \"é\n", long} {
		q := string(event.Quote(text))
		want := digest([]event.JSON{event.Encoded(map[string]string{"type": "text", "text": text})})
		for name, decode := range map[string]func() (*run, error){
			"AG-UI": func() (*run, error) {
				return decodeAGUI([]byte(`{"messages":[{"id":"m","role":"user","content":` + q + `}]}`))
			},
			"AG-UI, a list": func() (*run, error) {
				return decodeAGUI([]byte(`{"messages":[{"id":"m","role":"user","content":[{"type":"text","text":` + q + `}]}]}`))
			},
			"AI SDK": func() (*run, error) {
				return decodeAISDK([]byte(`{"messages":[{"id":"m","role":"user","parts":[{"type":"step-start"},{"type":"text","text":` + q + `}]}]}`))
			},
		} {
			got, err := decode()
			if err != nil || got.prompt == nil || got.prompt.text != event.JSON(q) || got.prompt.content != nil || got.prompt.digest != want {
				t.Errorf("%s: %+v, %v; want the text %.60s and the digest %s", name, got.prompt, err, q, want)
			}
		}
	}
	for _, body := range []string{
		`{"messages":[{"id":"m","role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]}`,
		`{"messages":[{"id":"m","role":"user","content":"a"}],"context":[{"description":"d","value":"v"}]}`,
		`{"messages":[{"id":"m","role":"user","content":""}]}`,
	} {
		if q, err := decodeAGUI([]byte(body)); err != nil || q.prompt.text != "" || len(q.prompt.content) == 0 {
			t.Errorf("AG-UI %s: %+v, %v; want blocks", body, q.prompt, err)
		}
	}
	for _, parts := range []string{`{"type":"text","text":"a"},{"type":"text","text":"b"}`, `{"type":"text","text":"a"},{"type":"file","mediaType":"image/png","url":"data:image/png;base64,aGk="}`, `{"type":"text","text":""}`, `{"type":"text"}`} {
		q, err := decodeAISDK([]byte(`{"messages":[{"id":"m","role":"user","parts":[` + parts + `]}]}`))
		if err != nil || q.prompt.text != "" || len(q.prompt.content) == 0 || !json.Valid([]byte(q.prompt.content[0])) {
			t.Errorf("AI SDK %s: %+v, %v; want blocks", parts, q.prompt, err)
		}
	}
}

// TestBlocks_decode checks that parameters are decoded like encoding/json does, and that a single text block
// becomes a text.
func TestBlocks_decode(t *testing.T) {
	pad := strings.Repeat("x", largeText)
	for params, text := range map[string]string{
		`{"session_id":"s","content":[{"type":"text","text":"a\u00e9` + pad + `"}],"priority":"now","idempotency_key":"k"}`: `"aé` + pad + `"`,
		`{"content":[{"text":"` + pad + `","type":"text"}]}`:                                                                `"` + pad + `"`,
		`{"content":[{"type":"text","text":"` + pad + `","cache_control":{}}]}`:                                             "",
		`{"content":[{"type":"text","text":"a"},{"type":"text","text":"` + pad + `"}]}`:                                     "",
		`{"content":[{"type":"text","text":""}]}`:                                                                           "",
		`{"content":[{"type":"text","text":1}]}`:                                                                            "",
		`{"content":[{"type":"image","text":"` + pad + `"}]}`:                                                               "",
		`{"content":[{"type":"text","text":"` + pad + `"}],"contexts":[{"a":1}]}`:                                           "",
		`{"content":[]}`: "", `{"content":null}`: "", `{}`: "",
	} {
		var want api.QueryWithContentParams
		if err := json.Unmarshal([]byte(params), &want); err != nil {
			t.Fatal(err)
		}
		var got blocks
		if err := got.decode([]byte(params)); err != nil {
			t.Errorf("%s: %v", params, err)
			continue
		}
		if got.text != event.JSON(text) {
			t.Errorf("%.100s has the text %.100s, want %.100s", params, got.text, text)
		}
		if text != "" {
			want.Content = nil
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got.QueryWithContentParams)
		if string(a) != string(b) {
			t.Errorf("%.100s decodes to %.100s, want %.100s", params, b, a)
		}
	}
	for _, params := range []string{`{"content":{}}`, `{"content":"a"}`, `{"content":[1`, `{"session_id":1}`} {
		if err := new(blocks).decode([]byte(params)); err == nil {
			t.Errorf("%s decodes, want an error", params)
		}
	}
}

// TestLargePrompt checks that viewers get a large prompt, from the first to the last event, and that a restart keeps it.
func TestLargePrompt(t *testing.T) {
	short.SkipLong(t, "sends large prompts")
	for name, text := range map[string]string{"plain": strings.Repeat("a", 2<<20), "escaped": strings.Repeat("\"é\n", 1<<19)} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			id := h.connect()
			w := h.watch(id)
			h.query(id, "say "+text)
			w.results(1)
			look := func(when string, c *event.Conversation) {
				t.Helper()
				if n := strings.Count(strings.Join(prompts(c), ""), text); n != 1 {
					t.Errorf("%s the prompt is shown %d times, want once", when, n)
				}
			}
			w.until("the prompt", func(c *event.Conversation) bool { return strings.Count(strings.Join(prompts(c), ""), text) == 1 })
			look("in the history", h.history(id))
			h.restart()
			look("after a restart", h.history(id))
		})
	}
}

// accepting returns the stacks of accepting and sending a prompt, up to the function that does it; retries without an answer
// count once. It leaves out the test's agent, which copies the prompt, and the log, which reads its files.
func accepting(stacks []string) []string {
	var all []string
	for _, stack := range stacks {
		for _, f := range []string{"(*actor).sendInput", "(*Sessions).query", "(*Server).post1", "(*Server).runAGUI", "(*Server).runAISDK", "(*Server).mcp"} {
			s, _, found := strings.Cut(stack, f)
			if found && !strings.Contains(s, "agenttest") && !strings.Contains(s, "eventlog.readInto") {
				all = append(all, s+f)
				break
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestPrompt_decode checks that parameters are decoded as by encoding/json, and that the text is in the server's form.
func TestPrompt_decode(t *testing.T) {
	for _, params := range []string{
		`{"session_id":"s","text":"plain é","priority":"now","language":"en","contexts":[{"a":1}],"idempotency_key":"k"}`,
		`{"session_id":"s","text":"a\n\"b\"\u00e9\ud83d\ude00\\"}`,
		"{\"text\":\"a\xffb\"}", `{"text":""}`, `{"text":null}`, `{}`, `{"text":"a","text":"b"}`, `{"text":"\/\u0001\u2028"}`, `{"text":"\b\f\r\t"}`, `{"text":"` + strings.Repeat("x", 100) + `"}`,
		`{"text":"a","unknown":"` + strings.Repeat("x", 100) + `"}`,
	} {
		var want api.QueryParams
		if err := json.Unmarshal([]byte(params), &want); err != nil {
			t.Fatal(err)
		}
		var got prompt
		if err := got.decode([]byte(params)); err != nil {
			t.Errorf("%s: %v", params, err)
			continue
		}
		if got.text != "" && got.text != event.Quote(want.Text) || got.text == "" && want.Text != "" {
			t.Errorf("%s has the text %s, want %s", params, got.text, event.Quote(want.Text))
		}
		want.Text = ""
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(got.QueryParams)
		if string(a) != string(b) {
			t.Errorf("%s decodes to %s, want %s", params, b, a)
		}
	}
	for _, params := range []string{`{"text":1}`, `{"text":{}}`, `{"text":["a"]}`, `{"session_id":1,"text":"a"}`, `{"text":"a`} {
		if err := new(prompt).decode([]byte(params)); err == nil {
			t.Errorf("%s decodes, want an error", params)
		}
	}
}
