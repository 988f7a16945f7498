package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/test/largealloc"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestPromptCopies checks how often the server copies a large prompt: its body is all there is.
func TestPromptCopies(t *testing.T) {
	if !largealloc.Exact {
		t.Skip("the race detector makes copies")
	}
	const size = 4 << 20
	h := newHarness(t)
	id := h.connect()
	for name, text := range map[string]string{"plain": strings.Repeat("a", size), "escaped": strings.Repeat("ab\\n", size/4)} {
		t.Run(name, func(t *testing.T) {
			body := `{"session_id":"` + id + `","text":"` + text + `"}`
			stacks := largealloc.Stacks(size/2, func() {
				r, err := http.NewRequest(http.MethodPost, h.url+"/v1/session.query", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", "Bearer "+h.token)
				r.Header.Set("Content-Type", "application/json")
				answer, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				var accepted api.Accepted
				if err := json.NewDecoder(answer.Body).Decode(&accepted); err != nil || accepted.TurnID == "" {
					t.Fatalf("the prompt is answered with %s: %+v, %v", answer.Status, accepted, err)
				}
				eventually(t, "the end of the turn", func() bool {
					x := h.summary(id)
					return x.State == string(session.Idle) && x.Queued == 0
				})
			})
			stacks = accepting(stacks)
			want := 1
			if name == "escaped" {
				want = 4 // the text for the agent, and twice for the event
			}
			if len(stacks) > want {
				t.Errorf("a prompt of %d bytes takes %d allocations of its size, want at most %d:\n%s", len(body), len(stacks), want, strings.Join(stacks, "\n"))
			}
		})
	}
}

// TestLargePrompt checks that viewers get a large prompt, from the first to the last event, and that a restart keeps it.
func TestLargePrompt(t *testing.T) {
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

// accepting returns the stacks of accepting and sending a prompt, up to the function that does it: what is done again for
// lack of an answer counts once. The test's agent repeats the prompt and copies it as it likes, and the log reads its files.
func accepting(stacks []string) []string {
	var all []string
	for _, stack := range stacks {
		for _, f := range []string{"(*actor).sendInput", "(*Sessions).query", "(*Server).post1"} {
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
