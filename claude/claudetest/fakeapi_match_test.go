package claudetest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/claude/claudetest"
)

const harmless = `{"title":"Fake title","isNewTopic":false}`

// TestSides checks which requests take replies, and which get the default answer.
func TestSides(t *testing.T) {
	sideReply := claudetest.Say("for the side").When(claudetest.Match{Side: true})
	for _, tc := range []struct {
		name    string
		script  claudetest.Script
		bodies  []string
		want    []string
		replies []int
		unused  int
	}{
		{
			"default", claudetest.Replies(claudetest.Say("a"), claudetest.Say("b")),
			[]string{noTools, plain, probe, plain, plain},
			[]string{harmless, "a", harmless, "b", "SCRIPT EXHAUSTED"},
			[]int{-1, 0, -1, 1, -1}, 0,
		},
		{
			"without max_tokens", claudetest.Replies(claudetest.Say("a")),
			[]string{`{"model":"m1","tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"hi"}]}`}, []string{"a"}, []int{0}, 0,
		},
		{
			"all_main", claudetest.Script{Replies: []claudetest.Reply{claudetest.Say("a").Times(3)}, AllMain: true},
			[]string{noTools, probe}, []string{"a", "a"}, []int{0, 1}, 1,
		},
		{
			"no_tools_main", claudetest.Script{Replies: []claudetest.Reply{claudetest.Say("a")}, NoToolsMain: true},
			[]string{probe, noTools}, []string{harmless, "a"}, []int{-1, 0}, 0,
		},
		{
			"side_text", claudetest.Script{SideText: "aside"},
			[]string{noTools}, []string{"aside"}, []int{-1}, 0,
		},
		{
			"match.side", claudetest.Replies(sideReply, claudetest.Say("a")),
			[]string{plain, plain, probe, probe}, []string{"a", "SCRIPT EXHAUSTED", "for the side", harmless}, []int{1, -1, 0, -1}, 0,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := claudetest.StartFakeAPI(t, tc.script)
			for i, body := range tc.bodies {
				if got := text(t, mustPost(t, api, body)); got != tc.want[i] {
					t.Errorf("request %d: %q, want %q", i, got, tc.want[i])
				}
			}
			for i, r := range api.Requests() {
				side := tc.want[i] == harmless || strings.Contains(tc.want[i], "side")
				if r.Reply != tc.replies[i] || r.Side != side {
					t.Errorf("request %d: side %v, reply %d, want %v, %d", i, r.Side, r.Reply, side, tc.replies[i])
				}
			}
			if got := api.Unused(); got != tc.unused {
				t.Errorf("%d unused, want %d", got, tc.unused)
			}
		})
	}
}

// TestSideIDs: an answer to a side request has its own message id.
func TestSideIDs(t *testing.T) {
	api := start(t, claudetest.Say("a"), claudetest.Say("b"))
	for i, body := range []string{plain, noTools, plain} {
		want := []string{`"msg_0001"`, `"msg_0002"`, `"msg_0003"`}[i]
		if got := mustPost(t, api, body); !strings.Contains(got, want) {
			t.Errorf("answer %s, want id %s", got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	const body = `{"model":"m1","max_tokens":9,"tools":[{"name":"T"}],
		"system":[{"type":"text","text":"You are"},{"type":"text","text":"a \"HELPER\""}],
		"messages":[{"role":"user","content":"first"},{"role":"assistant","content":[{"type":"text","text":"mid"}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"last one"}]}]},
			{"role":"system","content":"environment"}]}`
	for _, tc := range []struct {
		name  string
		match claudetest.Match
		fits  bool
	}{
		{"any", claudetest.Match{}, true},
		{"model", claudetest.Match{Model: "m1"}, true},
		{"part of a model", claudetest.Match{Model: "m"}, false},
		{"system", claudetest.Match{SystemIncludes: `a "HELPER"`}, true},
		{"not the system", claudetest.Match{SystemIncludes: "first"}, false},
		{"last", claudetest.Match{LastIncludes: "last one"}, true},
		{"last is of the user", claudetest.Match{LastIncludes: "environment"}, false},
		{"last is not the first", claudetest.Match{LastIncludes: "first"}, false},
		{"any first", claudetest.Match{AnyIncludes: "first"}, true},
		{"any of the assistant", claudetest.Match{AnyIncludes: "mid"}, true},
		{"any of the system role", claudetest.Match{AnyIncludes: "environment"}, true},
		{"any is not the system prompt", claudetest.Match{AnyIncludes: "HELPER"}, false},
		{"all", claudetest.Match{Model: "m1", SystemIncludes: "HELPER", LastIncludes: "last", AnyIncludes: "mid"}, true},
		{"all but one", claudetest.Match{Model: "m1", SystemIncludes: "HELPER", LastIncludes: "no"}, false},
		{"side", claudetest.Match{Side: true}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := start(t, claudetest.Say("plain"), claudetest.Say("matched").When(tc.match))
			want := "plain"
			if tc.fits {
				want = "matched"
			}
			if got := text(t, mustPost(t, api, body)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestMatchIndexes: indexes count repetitions, and replies before a taken one remain.
func TestMatchIndexes(t *testing.T) {
	api := start(t,
		claudetest.Say("other model").Times(3).When(claudetest.Match{Model: "m2"}),
		claudetest.Say("a"),
		claudetest.Say("m1").When(claudetest.Match{Model: "m1"}),
	)
	for range 3 {
		mustPost(t, api, plain)
	}
	mustPost(t, api, strings.Replace(plain, "m1", "m2", 1))
	for i, want := range []int{4, 3, -1, 0} {
		if got := api.Requests()[i].Reply; got != want {
			t.Errorf("request %d took reply %d, want %d", i, got, want)
		}
	}
	if got := api.Unused(); got != 2 {
		t.Errorf("%d unused, want 2", got)
	}
}

func TestOtherPaths(t *testing.T) {
	api := start(t, claudetest.Say("a"))
	for _, tc := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"HEAD", "/", "", 200, ""},
		{"GET", "/v1/messages", "", 404, "not_found_error"},
		{"POST", "/api/event_logging/batch", "{}", 404, "not_found_error"},
		{"POST", "/v1/messages/count_tokens?beta=true", plain, 200, `{"input_tokens":10}`},
		{"POST", "/v1/messages", "{", 400, "invalid_request_error"},
		{"POST", "/v1/messages", `{"model":7}`, 400, "invalid_request_error"},
	} {
		resp, err := do(t.Context(), api, tc.method, tc.path, tc.body)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tc.status || !strings.Contains(string(data), tc.want) {
			t.Errorf("%s %s: status %d, %s, %v", tc.method, tc.path, resp.StatusCode, data, err)
		}
	}
	got := api.Requests()
	if len(got) != 6 || got[0].Method != http.MethodHead || got[0].Body != nil || !got[0].Side || api.Unused() != 1 {
		t.Errorf("requests %v, %d unused", got, api.Unused())
	}
}

// TestSideStreamed: a side request may ask for a stream too.
func TestSideStreamed(t *testing.T) {
	api := start(t)
	got := events(t, mustPost(t, api, strings.Replace(noTools, "{", `{"stream":true,`, 1)))
	if len(got) != 6 || !strings.Contains(got[2], "Fake title") {
		t.Errorf("events %q", got)
	}
}
