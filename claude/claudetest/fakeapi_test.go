package claudetest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed7221b0f9/parley/claude/claudetest"
)

// Bodies of requests: of the main conversation, streamed or not, and of others.
const (
	streamed = `{"model":"m1","max_tokens":100,"stream":true,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hi"}]}`
	plain    = `{"model":"m1","max_tokens":100,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hi"}]}`
	noTools  = `{"model":"m1","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}`
	probe    = `{"model":"m1","max_tokens":1,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hi"}]}`
)

// client does not reuse connections, so that each answer has its own.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

func do(ctx context.Context, api *claudetest.FakeAPI, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, api.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

// post requests a message and returns the whole answer; err is the error of the request
// or of reading the body.
func post(t *testing.T, api *claudetest.FakeAPI, body string) (resp *http.Response, answer string, err error) {
	t.Helper()
	resp, err = do(t.Context(), api, http.MethodPost, "/v1/messages?beta=true", body)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp, string(data), err
}

// mustPost is post that fails the test on any error.
func mustPost(t *testing.T, api *claudetest.FakeAPI, body string) string {
	t.Helper()
	resp, answer, err := post(t, api, body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Request-Id") != "req_fake" {
		t.Errorf("status %d, header %v", resp.StatusCode, resp.Header)
	}
	return answer
}

// events returns the data of each event of a stream and checks that its type equals its
// name.
func events(t *testing.T, stream string) []string {
	t.Helper()
	var all []string
	for chunk := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(chunk, "\ndata: ")
		if !ok || !strings.HasPrefix(data, `{"type":"`+strings.TrimPrefix(name, "event: ")+`"`) {
			t.Fatalf("event %q", chunk)
		}
		all = append(all, data)
	}
	return all
}

// text returns the text of an answer that was not streamed.
func text(t *testing.T, answer string) string {
	t.Helper()
	var m struct {
		Content []struct{ Text string } `json:"content"`
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil || len(m.Content) == 0 {
		t.Fatalf("answer %s: %v", answer, err)
	}
	return m.Content[0].Text
}

func start(t *testing.T, replies ...claudetest.Reply) *claudetest.FakeAPI {
	t.Helper()
	return claudetest.StartFakeAPI(t, claudetest.Replies(replies...))
}

func TestStream(t *testing.T) {
	script, err := claudetest.ReadScript("testdata/scripts/partial-tool.json")
	if err != nil {
		t.Fatal(err)
	}
	api := claudetest.StartFakeAPI(t, script)
	want := []string{
		`{"type":"message_start","message":{"id":"msg_0001","type":"message","role":"assistant","model":"m1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I will look."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_0001","name":"Bash","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command\""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":":\"echo hi\""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":",\"descript"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"ion\":\"say "}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"hi\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}}`,
		`{"type":"message_stop"}`,
	}
	if diff := cmp.Diff(want, events(t, mustPost(t, api, streamed))); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	last := events(t, mustPost(t, api, streamed))
	if !strings.Contains(last[0], `"msg_0002"`) || !strings.Contains(last[len(last)-2], `"end_turn"`) {
		t.Errorf("second reply %q", last)
	}
}

// blockCases are the deltas of each kind of block, and the whole block.
var blockCases = []struct {
	name   string
	block  claudetest.Block
	start  string
	deltas []string
	whole  string
}{
	{
		"text", claudetest.Text("a<b"), `{"type":"text","text":""}`,
		[]string{`{"type":"text_delta","text":"a<b"}`}, `{"type":"text","text":"a<b"}`,
	},
	{
		"code points", claudetest.Text("äé🎈z").Chunked(3), `{"type":"text","text":""}`,
		[]string{`{"type":"text_delta","text":"äé🎈"}`, `{"type":"text_delta","text":"z"}`}, `{"type":"text","text":"äé🎈z"}`,
	},
	{
		"empty text", claudetest.Text(""), `{"type":"text","text":""}`,
		[]string{`{"type":"text_delta","text":""}`}, `{"type":"text","text":""}`,
	},
	{
		"chunks", claudetest.Block{Text: new("abc"), Chunks: []string{"a", "", "bc"}}, `{"type":"text","text":""}`,
		[]string{`{"type":"text_delta","text":"a"}`, `{"type":"text_delta","text":""}`, `{"type":"text_delta","text":"bc"}`},
		`{"type":"text","text":"abc"}`,
	},
	{
		"text_repeat", claudetest.Block{TextRepeat: &claudetest.TextRepeat{S: "ab", N: 3}}, `{"type":"text","text":""}`,
		[]string{`{"type":"text_delta","text":"ababab"}`}, `{"type":"text","text":"ababab"}`,
	},
	{
		"thinking", claudetest.Thinking("hmm!").Chunked(3), `{"type":"thinking","thinking":"","signature":""}`,
		[]string{
			`{"type":"thinking_delta","thinking":"hmm"}`, `{"type":"thinking_delta","thinking":"!"}`,
			`{"type":"signature_delta","signature":"c2lnbmF0dXJl"}`,
		},
		`{"type":"thinking","thinking":"hmm!","signature":"c2lnbmF0dXJl"}`,
	},
	{
		"thinking without signature", claudetest.Block{Thinking: new("x")}, `{"type":"thinking","thinking":"","signature":""}`,
		[]string{`{"type":"thinking_delta","thinking":"x"}`}, `{"type":"thinking","thinking":"x","signature":""}`,
	},
	{
		"tool without input", claudetest.ToolUse("Bash", nil), `{"type":"tool_use","id":"toolu_0001","name":"Bash","input":{}}`,
		[]string{`{"type":"input_json_delta","partial_json":"{}"}`}, `{"type":"tool_use","id":"toolu_0002","name":"Bash","input":{}}`,
	},
	{
		"tool with id", claudetest.Block{ToolUse: &claudetest.ToolCall{Name: "T", ID: "x", Input: json.RawMessage("{\n\"b\": 1, \"a\": 2}")}},
		`{"type":"tool_use","id":"x","name":"T","input":{}}`,
		[]string{`{"type":"input_json_delta","partial_json":"{\"b\":1,\"a\":2}"}`}, `{"type":"tool_use","id":"x","name":"T","input":{"b":1,"a":2}}`,
	},
	{
		"raw_input", claudetest.Block{ToolUse: &claudetest.ToolCall{Name: "T", ID: "x", RawInput: new(`{"a`)}},
		`{"type":"tool_use","id":"x","name":"T","input":{}}`,
		[]string{`{"type":"input_json_delta","partial_json":"{\"a"}`}, `{"type":"tool_use","id":"x","name":"T","input":{}}`,
	},
	{"raw", claudetest.Block{Raw: json.RawMessage("{\"type\": \"future\",\n\"foo\": 1}")}, `{"type":"future","foo":1}`, nil, `{"type":"future","foo":1}`},
}

func TestBlocks(t *testing.T) {
	for _, tc := range blockCases {
		t.Run(tc.name, func(t *testing.T) {
			api := start(t, claudetest.Reply{Blocks: []claudetest.Block{tc.block}}.Times(2))
			want := []string{`{"type":"content_block_start","index":0,"content_block":` + tc.start + `}`}
			for _, delta := range tc.deltas {
				want = append(want, `{"type":"content_block_delta","index":0,"delta":`+delta+`}`)
			}
			want = append(want, `{"type":"content_block_stop","index":0}`)
			got := events(t, mustPost(t, api, streamed))
			if diff := cmp.Diff(want, got[1:len(got)-2]); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if whole := mustPost(t, api, plain); !strings.Contains(whole, `"content":[`+tc.whole+`]`) {
				t.Errorf("not streamed: %s, want the block %s", whole, tc.whole)
			}
		})
	}
}

func TestNotStreamed(t *testing.T) {
	api := start(t,
		claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("a"), claudetest.ToolUse("Bash", map[string]any{"command": "ls"})}},
		claudetest.Reply{
			Blocks: []claudetest.Block{claudetest.Text("b")}, StopReason: "max_tokens", ID: "msg_mine", Model: "m2",
			Usage: map[string]any{"input_tokens": 7, "zeta": 1, "alpha": 2}, Headers: map[string]string{"X-Mine": "yes"},
		},
		claudetest.Say("c"),
	)
	want := `{"id":"msg_0001","type":"message","role":"assistant","model":"m1","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"toolu_0001","name":"Bash","input":{"command":"ls"}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}}`
	if got := mustPost(t, api, plain); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	resp, got, err := post(t, api, plain)
	want = `{"id":"msg_mine","type":"message","role":"assistant","model":"m2","content":[{"type":"text","text":"b"}],"stop_reason":"max_tokens","stop_sequence":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5,"alpha":2,"zeta":1}}`
	if err != nil || got != want || resp.Header.Get("X-Mine") != "yes" {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
	if got := mustPost(t, api, plain); !strings.Contains(got, `"msg_0002"`) {
		t.Errorf("an id of the script's own used up a number: %s", got)
	}
}

func TestErrors(t *testing.T) {
	api := start(t,
		claudetest.Reply{Error: &claudetest.APIError{Status: 429, Body: json.RawMessage(`{"a":1}`), Headers: map[string]string{"Retry-After": "1"}}},
		claudetest.Reply{Error: &claudetest.APIError{Status: 502, Body: json.RawMessage(`"<b>bad</b>"`)}, Headers: map[string]string{"Content-Type": "text/html"}},
		claudetest.Reply{Error: &claudetest.APIError{Status: 500}},
		claudetest.Fail(529, "overloaded_error", "Overloaded"),
		claudetest.Say("fine"),
	)
	for _, want := range []struct {
		status            int
		body, contentType string
	}{
		{429, `{"a":1}`, "application/json"},
		{502, "<b>bad</b>", "text/html"},
		{500, `{"type":"error","error":{"type":"api_error","message":"Internal server error"},"request_id":"req_fake"}`, "application/json"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_fake"}`, "application/json"},
	} {
		resp, body, err := post(t, api, streamed)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want.status || body != want.body || resp.Header.Get("Content-Type") != want.contentType {
			t.Errorf("status %d, body %s, header %v, want %v", resp.StatusCode, body, resp.Header, want)
		}
		if retry := resp.Header.Get("Retry-After"); (want.status == 429) != (retry == "1") {
			t.Errorf("status %d has Retry-After %q", want.status, retry)
		}
	}
	if got := mustPost(t, api, plain); !strings.Contains(got, `"msg_0001"`) {
		t.Errorf("errors used up ids: %s", got)
	}
}

// TestFaults breaks the stream of "abcdef" in three deltas in each way.
func TestFaults(t *testing.T) {
	const overloaded = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_fake"}`
	for _, tc := range []struct {
		name   string
		reply  claudetest.Reply
		events int
		broken bool   // the body ends with an error
		tail   string // data after the events
	}{
		{name: "none", events: 8},
		{name: "drop", reply: claudetest.Reply{DropAfter: new(4)}, events: 4, broken: true},
		{name: "drop at once", reply: claudetest.Reply{DropAfter: new(0)}, broken: true},
		{name: "drop late", reply: claudetest.Reply{DropAfter: new(99)}, events: 8, broken: true},
		{name: "end", reply: claudetest.Reply{EndAfter: new(4)}, events: 4},
		{name: "malformed", reply: claudetest.Reply{MalformedAfter: new(5)}, events: 5, tail: `{"type":"content_bl`},
		{name: "sse error", reply: claudetest.Reply{SSEErrorAfter: new(3)}, events: 3, tail: overloaded},
		{name: "sse error in place", reply: claudetest.Reply{SSEError: json.RawMessage("{\"type\":\n\"error\"}")}, events: 6, tail: `{"type":"error"}`},
		{name: "earliest", reply: claudetest.Reply{DropAfter: new(5), EndAfter: new(2), SSEErrorAfter: new(3)}, events: 2},
		{name: "slow", reply: claudetest.Reply{DelayMS: 1, EventDelayMS: 1}, events: 8},
		{name: "hold before", reply: claudetest.Reply{Hold: claudetest.HoldBefore, HoldMS: 1}, events: 8},
		{name: "hold mid", reply: claudetest.Reply{Hold: claudetest.HoldMid, HoldMS: 1}, events: 8},
		{name: "hold at the end", reply: claudetest.Reply{Hold: claudetest.HoldMid, HoldAfter: new(99), HoldMS: 1, EndAfter: new(4)}, events: 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.reply.Blocks = []claudetest.Block{claudetest.Text("abcdef").Chunked(2)}
			api := start(t, tc.reply, claudetest.Say("next"))
			_, got, err := post(t, api, streamed)
			if (err != nil) != tc.broken {
				t.Errorf("error %v, broken %v", err, tc.broken)
			}
			parts := strings.Split(got, "\n\n")
			parts = parts[:len(parts)-1]
			if tc.tail != "" && len(parts) > 0 {
				if last := parts[len(parts)-1]; !strings.HasSuffix(last, "\ndata: "+tc.tail) {
					t.Errorf("the last event is %q, want data %s", last, tc.tail)
				}
				parts = parts[:len(parts)-1]
			}
			if len(parts) != tc.events {
				t.Errorf("%d events in %q, want %d", len(parts), got, tc.events)
			}
			if next := mustPost(t, api, plain); !strings.Contains(next, `"msg_0002"`) || text(t, next) != "next" {
				t.Errorf("next answer %s", next)
			}
		})
	}
}

func TestReset(t *testing.T) {
	api := start(t, claudetest.Reply{Reset: true}.Times(2), claudetest.Say("third"))
	for range 2 {
		if resp, _, err := post(t, api, streamed); err == nil {
			t.Errorf("status %d in place of a broken connection", resp.StatusCode)
		}
	}
	if got := mustPost(t, api, plain); !strings.Contains(got, `"msg_0001"`) || text(t, got) != "third" {
		t.Errorf("answer after resets %s", got)
	}
}

// TestHangUp has clients that hang up on held replies.
func TestHangUp(t *testing.T) {
	api := start(t,
		claudetest.Reply{Hold: claudetest.HoldBefore},
		claudetest.Reply{DelayMS: 60_000},
		claudetest.Say("next"),
	)
	for n := 1; n <= 2; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			resp, err := do(ctx, api, http.MethodPost, "/v1/messages", streamed)
			if err == nil {
				resp.Body.Close()
			}
			done <- err
		}()
		if err := api.WaitRequests(t.Context(), n); err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	if got := mustPost(t, api, plain); !strings.Contains(got, `"msg_0001"`) || text(t, got) != "next" {
		t.Errorf("answer after clients hung up %s", got)
	}
}

func TestCloseEndsHold(t *testing.T) {
	api := start(t, claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("abc").Chunked(1)}, Hold: claudetest.HoldMid})
	resp, err := do(t.Context(), api, http.MethodPost, "/v1/messages", streamed)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	for range 3 * 3 { // lines of the three events before the hold
		if _, err := body.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := api.Close(); err != nil {
		t.Error(err)
	}
	if rest, err := io.ReadAll(body); err == nil || len(rest) > 0 {
		t.Errorf("after Close %q, %v", rest, err)
	}
	if err := api.Close(); err != nil {
		t.Error(err)
	}
	if _, _, err := post(t, api, plain); err == nil {
		t.Error("an answer after Close")
	}
	if err := api.WaitRequests(t.Context(), 2); !errors.Is(err, net.ErrClosed) {
		t.Errorf("WaitRequests after Close: %v", err)
	}
}

func TestWaitRequests(t *testing.T) {
	api := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := api.WaitRequests(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := api.WaitRequests(ctx, 0); err != nil {
		t.Error(err)
	}
	done := make(chan error)
	go func() { done <- api.WaitRequests(t.Context(), 2) }()
	for _, body := range []string{plain, noTools, plain} {
		mustPost(t, api, body)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestManyAtOnce(t *testing.T) {
	api := start(t, claudetest.Say("x").Times(20))
	ids := make(chan string)
	for range 20 {
		go func() {
			_, got, err := post(t, api, streamed)
			if err != nil {
				t.Error(err)
			}
			_, id, _ := strings.Cut(got, `"id":"`)
			ids <- id[:len("msg_0000")]
		}()
	}
	var got []string
	for range 20 {
		got = append(got, <-ids)
	}
	slices.Sort(got)
	if got = slices.Compact(got); len(got) != 20 || got[19] != "msg_0020" || api.Unused() != 0 {
		t.Errorf("ids %q, %d unused", got, api.Unused())
	}
}

func TestNewFakeAPIChecks(t *testing.T) {
	if _, err := claudetest.NewFakeAPI(claudetest.Replies(claudetest.Reply{Hold: "never"})); err == nil {
		t.Error("no error for a hold that does not exist")
	}
}

// TestRequests checks the recorded requests, including those that take no reply.
func TestRequests(t *testing.T) {
	api := start(t, claudetest.Say("a"))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.URL()+"/v1/messages?beta=true", bytes.NewBufferString(plain))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"X-Api-Key": {"secret"}, "Authorization": {"Bearer secret"}, "Proxy-Authorization": {"secret"}, "Cookie": {"a=secret"}, "X-App": {"cli"}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	got := api.Requests()
	if len(got) != 1 {
		t.Fatalf("requests %v", got)
	}
	h := got[0].Header
	for name := range req.Header {
		if want := map[bool]string{true: "cli", false: "REDACTED"}[name == "X-App"]; h.Get(name) != want {
			t.Errorf("header %s: %q, want %q", name, h.Get(name), want)
		}
	}
	got[0].Header = nil
	want := claudetest.APIRequest{Method: "POST", Path: "/v1/messages?beta=true", Body: json.RawMessage(plain)}
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
