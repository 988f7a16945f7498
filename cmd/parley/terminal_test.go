package main

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

// terminalTest is a session that moves from a terminal to a server and back.
type terminalTest struct {
	*testing.T
	*claudeWorld
	ctx      context.Context
	terminal *claude.Client // a CLI that the server did not start
	agentID  string
	session  string // the server's id
}

// open opens the session in a CLI outside of the server, like a user in a terminal.
func (x *terminalTest) open(resume string) {
	x.Helper()
	o := &claude.Options{CLIPath: x.cli, Env: x.env, CleanEnv: true, Dir: x.project, Resume: resume}
	if resume == "" {
		o.SessionID = x.agentID
	}
	var err error
	if x.terminal, err = claude.Connect(x.ctx, o); err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() { _ = x.terminal.Close() }) // in case the test has failed
}

// say sends a prompt in the terminal and waits for the end of the turn.
func (x *terminalTest) say(prompt string) {
	x.Helper()
	for _, err := range x.terminal.Query(x.ctx, prompt) {
		if err != nil {
			x.Fatalf("in the terminal: %v", err)
		}
	}
}

func (x *terminalTest) call(method string, params, result any) {
	x.Helper()
	if err := x.client.Call(x.ctx, method, params, result); err != nil {
		x.Fatalf("%s: %v", method, err)
	}
}

// refused checks that a method is refused while the session is open in the terminal.
func (x *terminalTest) refused(method string, params any) {
	x.Helper()
	if err := x.client.Call(x.ctx, method, params, nil); client.Reason(err) != api.Conflict {
		x.Errorf("%s while the terminal has the session: %v, want a conflict", method, err)
	}
}

// live returns the place where the session is open according to the server.
func (x *terminalTest) live() string {
	x.Helper()
	var list api.ListResult
	x.call("session.list", api.ListParams{}, &list)
	for _, one := range list.Sessions {
		if one.SessionID == x.session {
			return one.Live
		}
	}
	x.Fatal("the session is not in the list")
	return ""
}

// until waits for a condition.
func (x *terminalTest) until(what string, ok func() bool) {
	x.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-x.ctx.Done():
			x.Fatalf("it never came: %s; the server has %q", what, x.texts())
		}
	}
}

// texts returns the texts of the server's conversation, in order.
func (x *terminalTest) texts() []string {
	x.Helper()
	var history api.GetHistoryResult
	if err := x.client.Call(context.Background(), "session.getHistory", api.SessionRef{SessionID: x.session}, &history); err != nil {
		x.Fatal(err)
	}
	var c event.Conversation
	if err := json.Unmarshal([]byte(history.Conversation), &c); err != nil {
		x.Fatal(err)
	}
	var texts []string
	for _, th := range c.Threads {
		for _, it := range th.Items {
			if it.Message == nil || it.Message.User != nil && it.Message.User.IsMeta {
				continue
			}
			for _, b := range it.Message.Blocks {
				texts = append(texts, b.Text.String())
			}
		}
	}
	return texts
}

// has waits until the conversation equals want.
func (x *terminalTest) has(want ...string) {
	x.Helper()
	x.until(strings.Join(want, ", "), func() bool { return slices.Equal(x.texts(), want) })
}

// TestServe_terminal takes a session of the real CLI from a terminal to the server and back:
// the server shows it as open there, follows its growth, takes it over when it is free, and
// hands it back; the server's log has each text once.
func TestServe_terminal(t *testing.T) {
	w := serveClaude(t, claudetest.Replies(claudetest.Say("A1"), claudetest.Say("A2"), claudetest.Say("A3"), claudetest.Say("A4"), claudetest.Say("A5")))
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	x := &terminalTest{T: t, claudeWorld: w, ctx: ctx, agentID: "11111111-1111-4111-8111-111111111111"}
	x.open("")
	x.say("Q1")

	var disk api.HistoryListResult
	x.call("history.list", api.HistoryListParams{}, &disk)
	if len(disk.Sessions) != 1 || disk.Sessions[0].Live != "terminal" || disk.Sessions[0].Provider != "claude" {
		t.Errorf("the history is %+v", disk.Sessions)
	}
	var connected api.ConnectResult
	x.call("session.connect", api.ConnectParams{ResumeSessionID: x.agentID}, &connected)
	if x.session = connected.SessionID; connected.Status != "following" {
		t.Errorf("the session that the terminal has is %+v", connected)
	}
	x.has("Q1", "A1")
	if live := x.live(); live != "terminal" {
		t.Errorf("the session is live in %q", live)
	}
	x.say("Q2") // the server follows it
	x.has("Q1", "A1", "Q2", "A2")
	query := api.QueryParams{SessionID: x.session, Text: "Q3"}
	ref := api.SessionRef{SessionID: x.session}
	x.refused("session.query", query)
	x.refused("session.takeOver", ref)

	if err := x.terminal.Close(); err != nil {
		t.Error(err)
	}
	x.call("session.takeOver", ref, &connected)
	if live := x.live(); live != "" || connected.Status != "connected" {
		t.Errorf("after it was taken over the session is live in %q, %+v", live, connected)
	}
	x.call("session.query", query, nil)
	x.has("Q1", "A1", "Q2", "A2", "Q3", "A3")

	var back api.HandBackResult
	x.call("session.handBack", ref, &back)
	if back.Command != "claude --resume "+x.agentID || back.CWD != w.project {
		t.Errorf("it is handed back with %+v", back)
	}
	x.open(x.agentID)
	x.say("Q4")
	x.has("Q1", "A1", "Q2", "A2", "Q3", "A3", "Q4", "A4")
	x.until("the server sees the terminal", func() bool { return x.live() == "terminal" })
	if err := x.terminal.Close(); err != nil {
		t.Error(err)
	}
	x.until("the session is free", func() bool { return x.live() == "" })
	query.Text = "Q5"
	x.until("a query is taken", func() bool { return x.client.Call(ctx, "session.query", query, nil) == nil })
	x.has("Q1", "A1", "Q2", "A2", "Q3", "A3", "Q4", "A4", "Q5", "A5")
}
