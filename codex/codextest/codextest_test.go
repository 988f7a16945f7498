package codextest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

// This example replays a recording of a scripted server to another client, which receives the same
// messages.
func ExampleReplay() {
	self, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		return
	}
	talk := func(spawner codex.Spawner) {
		ctx := context.Background()
		client, err := codex.Connect(ctx, &codex.Options{Path: self, Spawner: spawner})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer client.Close()
		thread, err := client.StartThread(ctx, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := thread.Run(ctx, "Talk")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Text)
	}
	recorder := &codextest.Recorder{Next: &codextest.Server{Turn: func(t *codextest.ServerTurn) { t.Say("Hello " + t.Prompt) }}}
	talk(recorder)
	talk(codextest.NewReplay(recorder.Lines()))
	// Output:
	// Hello Talk
	// Hello Talk
}

func ask(t *testing.T, api *codextest.API, prompt string) (status int, body string) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"input": []any{
		map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": prompt}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(api.URL()+"/responses", "application/json", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, "broken"
	}
	return resp.StatusCode, string(got)
}

func TestAPI(t *testing.T) {
	api := codextest.NewAPI(t)
	first := codextest.Say("one")
	repeat := codextest.Say("again")
	repeat.Repeat = true
	api.Reply(first, codextest.Fail(429, "slow"), codextest.Reply{Events: []codextest.Event{codextest.Message("x")[0], {Drop: true}}})
	api.ReplyTo("special", repeat)
	for _, tt := range []struct {
		prompt string
		status int
		want   string
	}{
		{"a", 200, `"delta":"one"`},
		{"special", 200, `"delta":"again"`},
		{"b", 429, `"slow"`},
		{"special", 200, `"delta":"again"`},
		{"c", 200, "broken"},
	} {
		if status, body := ask(t, api, tt.prompt); status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s; want status == tt.status and strings.Contains(body, tt.want)", tt.prompt, status, body)
		}
	}
	if n := len(api.Requests()); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// TestAPI_missing checks that a request without a reply fails its test.
func TestAPI_missing(t *testing.T) {
	fake := &failing{TB: t}
	api := codextest.NewAPI(fake)
	if status, _ := ask(t, api, "x"); status != http.StatusBadRequest {
		t.Errorf("status %d", status)
	}
	for _, f := range fake.cleanup {
		f()
	}
	if !fake.failed {
		t.Error("the test did not fail")
	}
}

// failing is a testing.TB that may fail.
type failing struct {
	testing.TB
	failed  bool
	cleanup []func()
}

func (f *failing) Errorf(string, ...any) { f.failed = true }
func (f *failing) Cleanup(fn func())     { f.cleanup = append(f.cleanup, fn) }

// TestReplay_differs checks that a different order of requests is an error, not a wrong answer.
func TestReplay_differs(t *testing.T) {
	lines := []codextest.Line{
		{Seq: 1, Client: true, Msg: json.RawMessage(`{"id":1,"method":"initialize"}`)},
		{Seq: 2, Msg: json.RawMessage(`{"id":1,"result":{"userAgent":"x"}}`)},
		{Seq: 3, Client: true, Msg: json.RawMessage(`{"method":"initialized"}`)},
		{Seq: 4, Client: true, Msg: json.RawMessage(`{"id":2,"method":"model/list"}`)},
	}
	replay := codextest.NewReplay(lines)
	c, err := codex.Connect(t.Context(), &codex.Options{Path: os.Args[0], Spawner: replay})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.StartThread(t.Context(), nil); err == nil {
		t.Error("another method was answered")
	}
	if err := replay.Err(); err == nil || !strings.Contains(err.Error(), "thread/start instead of model/list") {
		t.Errorf("got %v", err)
	}
}
