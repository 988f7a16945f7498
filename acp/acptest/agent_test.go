package acptest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/acp/acptest"
)

// An agent answers a request that is not in its script, waits for notifications, and can end during
// a turn.
func TestAgent(t *testing.T) {
	waiting := make(chan string, 1)
	agent := &acptest.Agent{Waiting: func(method string) { waiting <- method }, Exchanges: []acptest.Exchange{
		{Method: "session/load", Match: map[string]string{"sessionId": `"b"`}, Steps: []acptest.Step{acptest.Reply("b")}},
		{Method: "session/load", Match: map[string]string{"sessionId": `"a"`}, Steps: []acptest.Step{acptest.Fail(-32002, "gone")}},
		acptest.On("session/prompt", acptest.Noted("session/cancel"), acptest.Reply("cancelled")),
		acptest.On("session/prompt", acptest.Raw("no JSON"), acptest.Exit()),
	}}
	client := &acptest.Client{}
	client.Connect(agent.Dial())
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := client.Call(ctx, "session/new", nil, nil); err == nil || !strings.Contains(err.Error(), "-32601") {
		t.Errorf("a method that is not in the script: %v", err)
	}
	if err := client.Call(ctx, "session/load", map[string]string{"sessionId": "a"}, nil); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("the exchange of another session was played: %v", err)
	}
	cancelled := make(chan error)
	go func() { cancelled <- client.Call(ctx, "session/prompt", nil, nil) }()
	if method := <-waiting; method != "session/cancel" {
		t.Errorf("the agent waits for %s", method)
	}
	if err := client.Notify(ctx, "session/cancel", nil); err != nil {
		t.Fatal(err)
	}
	if err := <-cancelled; err != nil {
		t.Error(err)
	}
	agent.Send(acptest.Say("s", "later"))
	if _, err := client.Until(ctx, func(m json.RawMessage) bool { return strings.Contains(string(m), "later") }); err != nil {
		t.Error(err)
	}
	if err := client.Call(ctx, "session/prompt", nil, nil); err == nil {
		t.Error("an agent that has ended answers")
	}
}

// A recorded agent answers a client that sends fewer requests than the recorded one. It uses the ids of the new requests, and sends
// the recorded lines that followed an answer. A client that resumes gets no replay.
func TestRecording(t *testing.T) {
	dir := t.TempDir()
	r, err := acptest.ReadRecording("../../testdata/acp-agents/opencode-kill_load", dir)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Killed(1) || r.Killed(2) || len(r.Meta.Asks) != 1 || r.Meta.Asks[0].Texts()[0] != "sleep 20" {
		t.Errorf("%+v; want r.Killed(1) and not r.Killed(2) and len(r.Meta.Asks) == 1 and r.Meta.Asks[0].Texts()[0] == \"sleep 20\"", r.Meta)
	}
	out, in := r.Agent(2).Dial()
	defer out.Close()
	go func() {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":"x","method":"session/resume","params":{}}`, `{"jsonrpc":"2.0","id":"y","method":"session/prompt","params":{}}`,
		} {
			_, _ = in.Write([]byte(line + "\n")) // the reader detects a failure
		}
	}()
	lines := bufio.NewReader(out)
	var got []string
	for range 5 {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			ID     string
			Params struct {
				Update struct{ SessionUpdate string }
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		got = append(got, m.ID+m.Params.Update.SessionUpdate)
	}
	if want := "x available_commands_update agent_message_chunk usage_update y"; strings.Join(got, " ") != want {
		t.Errorf("the agent sent %q, want %q", got, want)
	}
	if _, err := acptest.ReadRecording(t.TempDir(), dir); err == nil {
		t.Error("a folder without a recording was read")
	}
}
