package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

func asks(bodies []*codextest.APIRequest, text string) bool {
	return slices.ContainsFunc(bodies, func(r *codextest.APIRequest) bool { return strings.Contains(string(r.Body), text) })
}

// TestACP_codexUser runs parley acp with the real codex: MCP servers of the client reach it, a title is only the script, an option
// names its rule, slash commands do not reach the model, and a loaded session shows only its history.
func TestACP_codexUser(t *testing.T) {
	for _, version := range []string{codexcli.Newer, codexcli.Older} {
		t.Run(version, func(t *testing.T) { codexUser(t, codexcli.Require(t, version)) })
	}
}

func codexUser(t *testing.T, program string) {
	t.Parallel()
	asker, err := exec.LookPath("asker")
	if err != nil {
		t.Fatal(err)
	}
	api := codextest.NewAPI(t)
	said := codextest.Say("All of it.")
	said.Repeat = true
	api.Reply(said)
	api.ReplyTo("make a file", codextest.Calls(codextest.EscalatedCommand("call_1", "touch made", "May I?")), codextest.Say("Made."))
	home := codextest.NewHome(t, api, "")
	e := newACPEditor(t, home.Project, append(home.Env(), "PARLEY_CODEX="+program), "--agent", "codex")
	if got := e.call("initialize", map[string]any{"protocolVersion": 1}); !strings.Contains(got, `"mcpCapabilities":{"http":true,"sse":false}`) {
		t.Errorf("initialize: %s", got)
	}
	var opened struct{ SessionID string }
	created := e.call("session/new", map[string]any{"cwd": home.Project, "mcpServers": []any{map[string]any{
		"name": "my probe", "command": asker, "args": []string{}, "env": []any{map[string]string{"name": "GORACE", "value": "atexit_sleep_ms=0"}},
	}}})
	if err := json.Unmarshal([]byte(created), &opened); err != nil {
		t.Fatal(err)
	}
	e.session = opened.SessionID
	e.prompt("make a file")
	request := string(<-e.asked)
	for _, want := range []string{`"title":"touch made"`, "Always allow commands that start with `touch made`"} {
		if !strings.Contains(request, want) {
			t.Errorf("no %s in %s", want, request)
		}
	}
	if !asks(api.Requests(), "my_probe") {
		t.Error("the model is not offered the tools of the MCP server")
	}
	for _, command := range []string{"/review", "/compact"} {
		if got := e.prompt(command); !strings.Contains(got, `"end_turn"`) {
			t.Errorf("%s: %s; want strings.Contains(got, `\"end_turn\"`)", command, got)
		}
		if asks(api.Requests(), `"`+command+`"`) {
			t.Errorf("%s reaches the model", command)
		}
		if !strings.Contains(e.updates(), `"name":"`+strings.TrimPrefix(command, "/")+`"`) {
			t.Errorf("%s is not offered: %s", command, e.updates())
		}
	}
	if got := e.updates(); !strings.Contains(got, "All of it.") {
		t.Errorf("the review is not shown: %s", got)
	}
	e.call("session/close", map[string]any{})
	before := len(e.updates())
	e.call("session/load", map[string]any{"cwd": home.Project, "mcpServers": []any{}})
	loaded := e.updates()[before:]
	if strings.Contains(loaded, "deprecated") || strings.Contains(loaded, "-lc") && !strings.Contains(loaded, `"title":"touch made"`) || !strings.Contains(loaded, "Made.") {
		t.Errorf("a loaded session shows %s", loaded)
	}
}
