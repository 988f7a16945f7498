package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/internal/test/e2e"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// seat is one agent in the terminal suite.
type seat struct {
	// sit starts a conversation with an agent that answers as the scenario requires.
	sit    func(t *testing.T, scenario string) *person
	always string            // the answer that always allows similar calls
	picks  [][2]string       // the visible texts of the questions, and the answers
	cannot map[string]string // unsupported scenarios, with the reason
}

const (
	title   = "# Title\n\n- a point\n\nThe end."
	hostile = "ev\x1b[31mil &#27;[7mtext \x1b]0;owned\x07\n\nThe end."
	noEvil  = "the texts of the simulated agent are fixed and harmless"
)

// claudeScript returns the model's replies in a scenario.
func claudeScript(scenario string) claudetest.Script {
	say := func(text string) claudetest.Reply {
		return claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text(text).Chunked(5)}}
	}
	touch := claudetest.Reply{Blocks: []claudetest.Block{claudetest.ToolUse("Bash", map[string]any{"command": "touch made", "description": "x"})}}
	wait := claudetest.Reply{Blocks: []claudetest.Block{claudetest.Text("Waiting. And").Chunked(4)}, Hold: claudetest.HoldMid, HoldAfter: new(4)}
	ask := claudetest.Reply{Blocks: []claudetest.Block{claudetest.ToolUse("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
		"question": "Which colour?", "header": "Colour", "multiSelect": false,
		"options": []any{map[string]any{"label": "Red", "description": "r"}, map[string]any{"label": "Blue", "description": "b"}},
	}}})}}
	switch scenario {
	case "markdown", "resize":
		return claudetest.Replies(say(title), say(title))
	case "allow", "deny":
		return claudetest.Replies(touch, say("That was one command."))
	case "always":
		return claudetest.Replies(touch, say("What you have seen."), touch, say("What you have seen."))
	case "question":
		return claudetest.Replies(ask, say("Thank you."))
	case "interrupt", "dies":
		return claudetest.Replies(wait)
	case "queue":
		return claudetest.Replies(wait, say("three steps"))
	case "hostile":
		return claudetest.Replies(say(hostile))
	}
	return claudetest.Replies()
}

func sitWithClaude(t *testing.T, scenario string) *person {
	cli := e2e.CLI(t)
	api := claudetest.StartFakeAPI(t, claudeScript(scenario))
	return sitDown(t, api.URL(), []string{"NO_COLOR=1", "PARLEY_CLI=" + cli}, "chat")
}

func sitWithCodex(t *testing.T, scenario string) *person {
	program := codexcli.Require(t, codexcli.Newer)
	api := codextest.NewAPI(t)
	run := func(id string) codextest.Reply {
		return codextest.Calls(codextest.EscalatedCommand(id, "echo done > made", "May I?"))
	}
	half := codextest.Message("Waiting. ", "And")
	hold := codextest.Stream(codextest.Usage{}, append(half[:2:2], codextest.Event{Wait: make(chan struct{})})...)
	switch scenario {
	case "question":
		api.Reply(codextest.Calls(codextest.Call("call_1", "mcp__probe", "ask", map[string]any{})), codextest.Say("Thank you."))
	case "markdown", "resize":
		api.Reply(codextest.Say(title), codextest.Say(title))
	case "allow", "deny":
		api.Reply(run("call_1"), codextest.Say("That was one command."))
	case "always":
		api.Reply(run("call_1"), codextest.Say("What you have seen."), run("call_2"), codextest.Say("What you have seen."))
	case "interrupt", "dies":
		api.Reply(hold)
	case "queue":
		api.Reply(hold, codextest.Say("three steps"))
	case "hostile":
		api.Reply(codextest.Say(hostile))
	}
	asker, err := exec.LookPath("asker") // created by TestMain
	if err != nil {
		t.Fatal(err)
	}
	home := codextest.NewHome(t, api, fmt.Sprintf("[mcp_servers.probe]\ncommand = %q\nenv = { GORACE = \"atexit_sleep_ms=0\" }\n", asker))
	return sitDown(t, "http://127.0.0.1:9", append(home.Env(), "NO_COLOR=1", "PARLEY_CODEX="+program), "chat", "--agent", "codex", "--permission-mode", "default", "--cwd", home.Project)
}

func sitWithSim(t *testing.T, _ string) *person {
	return sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "chat", "--agent", "sim")
}

func sitWithACP(t *testing.T, _ string) *person {
	program, err := exec.LookPath("parley") // created by TestMain
	if err != nil {
		t.Fatal(err)
	}
	return sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "chat", "--agent", "acp:env PARLEY_SIM_PACE=0 "+program+" acp --agent sim")
}

func sitAtServer(t *testing.T, _ string) *person {
	s := newSimServer(t)
	var r api.ConnectResult
	s.call("session.connect", api.ConnectParams{}, &r)
	return sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "attach", "--data", s.data, r.SessionID)
}

// seats are the agents of the suite.
var seats = map[string]seat{
	"claude": {sit: sitWithClaude, always: "a", picks: [][2]string{{"2. Blue", "2"}}},
	// Codex asks questions only in the plan mode of the experimental API. Its MCP servers ask with
	// forms.
	"codex": {sit: sitWithCodex, always: "s", picks: [][2]string{{"a form with 1 field", "y"}, {"2. Blue", "2"}}},
	"sim":   {sit: sitWithSim, always: "a", picks: [][2]string{{"2. Blue", "2"}, {"skips", "1"}}, cannot: map[string]string{"hostile": noEvil}},
	"acp": {sit: sitWithACP, always: "a", cannot: map[string]string{"hostile": noEvil}, picks: [][2]string{ // a form
		{"a form with 4 fields", "y"}, {"2. Blue", "2"}, {"? Other", "-"}, {"Which days?", "1,3"}, {"? Other", "or so"},
	}},
	"server": {sit: sitAtServer, always: "a", picks: [][2]string{{"2. Blue", "2"}, {"skips", "1"}}, cannot: map[string]string{
		"hostile": noEvil, "dies": "a view of a session reconnects to its server until the user leaves",
	}},
}

// scenarios are the actions of a user with every agent. Each ends with Ctrl-D.
var scenarios = map[string]func(p *person, s seat){
	"markdown": func(p *person, _ seat) {
		p.types("markdown\r")
		p.sees("> markdown", "The end.", "✓ ")
		if all := p.seen.text(); !strings.Contains(all, "• ") { // instead of "- "
			p.t.Errorf("the Markdown is not rendered: %q", all)
		}
	},
	"allow": func(p *person, _ seat) {
		p.types("bash\r")
		p.sees("? Allow this call?", "y yes", "waiting for you")
		p.types("perhaps\r")
		p.sees("? Allow this call?")
		p.types("y\r")
		p.sees("✓", "That was one command.", "✓ ")
	},
	"deny": func(p *person, _ seat) {
		p.types("bash\r")
		p.sees("? Allow this call?")
		p.types("n not now\r")
		p.sees("✗", "That was one command.", "✓ ")
	},
	"always": func(p *person, s seat) {
		p.types("hello\r")
		p.sees("? Allow this call?", s.always+" ")
		p.types(s.always + "\r")
		p.sees("What you have seen", "✓ ")
		from := p.from
		p.types("hello\r")
		p.sees("What you have seen", "✓ ")
		if again := p.seen.text()[from:]; strings.Contains(again, "Allow this call?") {
			p.t.Errorf("it asks again: %q", again)
		}
	},
	"question": func(p *person, s seat) {
		p.types("question\r")
		for _, pick := range s.picks {
			p.sees(pick[0])
			p.types(pick[1] + "\r")
		}
		p.sees("✓ ")
		if all := p.seen.text(); !strings.Contains(all, "Which colour?") {
			p.t.Errorf("the question is not shown: %q", all)
		}
	},
	"interrupt": func(p *person, _ seat) {
		p.types("wait\r")
		p.sees("Waiting.", "Ctrl-C interrupts")
		p.types("\x03")
		p.sees("interrupting", "interrupted")
	},
	"queue": func(p *person, _ seat) {
		p.types("wait\r")
		p.sees("Waiting.", "Ctrl-C interrupts")
		p.types("think\r")
		p.sees("↳ queued: think", "1 queued")
		p.types("/queue\r")
		p.sees("1. think")
		p.types("\x03")
		p.sees("interrupted", "> think", "three steps", "✓ ")
	},
	"slash": func(p *person, _ seat) {
		p.types("/help\r")
		p.sees("/interrupt", "continues on the next line. Tab")
		p.types("/quti\r")
		p.sees("unknown command /quti; did you mean /quit?")
		p.types("/inter\t\r")
		p.sees("nothing is running")
	},
	"resize": func(p *person, _ seat) {
		p.types("/help\r")
		p.sees("end the conversation (also Ctrl-D)")
		p.resizes(30, 20)
		from := p.from
		p.types("markdown\r")
		p.sees("The end.", "✓ ")
		p.types("/help\r")
		p.sees("/quit", "Ctrl-D)")
		if narrow := p.seen.text()[from:]; strings.Contains(narrow, "end the conversation (also Ctrl-D)") {
			p.t.Errorf("it is not wrapped: %q", narrow)
		}
	},
	"hostile": func(p *person, _ seat) {
		p.types("hostile\r")
		p.sees("The end.", "✓ ")
		for _, evil := range []string{"\x1b[31m", "\x1b[7m", "\x1b]0;", "\x07"} {
			if all := p.seen.text(); strings.Contains(all, evil) {
				p.t.Errorf("%q reaches the terminal: %q", evil, all)
			}
		}
	},
	"dies": func(p *person, _ seat) {
		p.types("wait\r")
		p.sees("Waiting.", "Ctrl-C interrupts")
		p.killsAgent()
		p.leaves(term.ExitCLIDied)
	},
}

// killsAgent kills the child processes of the program.
func (p *person) killsAgent() {
	p.t.Helper()
	killed := 0
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/task/*/children")
	for _, task := range tasks {
		b, err := os.ReadFile(task)
		if err != nil {
			continue // a thread of the test that has ended
		}
		for _, field := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(field)
			if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				killed++
			}
		}
	}
	if killed == 0 {
		p.t.Fatal("the program has started no agent")
	}
}

// TestTerminalSuite plays every scenario with every agent.
func TestTerminalSuite(t *testing.T) {
	short.SkipQuick(t, "starts many commands")
	for name, s := range seats {
		for scenario := range s.cannot {
			if scenarios[scenario] == nil {
				t.Errorf("%s: there is no scenario %s", name, scenario)
			}
		}
		for scenario, play := range scenarios {
			t.Run(name+"/"+scenario, func(t *testing.T) {
				if reason := s.cannot[scenario]; reason != "" {
					t.Skip(reason)
				}
				if testing.Short() && name != "sim" && !slices.Contains([]string{"allow", "interrupt", "question"}, scenario) {
					t.Skip("-short: the simulated agent plays all of them in one process")
				}
				p := s.sit(t, scenario)
				p.sees("/help lists the commands")
				play(p, s)
				if scenario != "dies" {
					p.types("\x04")
					p.leaves(term.ExitOK)
				}
			})
		}
	}
}

// Earlier messages are rendered like new ones.
func TestAttach_past(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	s := newSimServer(t)
	var r api.ConnectResult
	s.call("session.connect", api.ConnectParams{}, &r)
	for _, text := range []string{"markdown\r", ""} {
		p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "attach", "--data", s.data, r.SessionID)
		p.sees("/help lists")
		if text != "" {
			p.types(text)
			p.sees("✓ ")
		}
		p.types("\x04")
		if seen := p.leaves(0); !strings.Contains(seen, "• ") { // instead of "- "
			t.Errorf("the Markdown is not rendered: %q", seen)
		}
	}
}

// TestAttach_memory checks that a person at a terminal sees that the agent has lost the
// conversation, and chooses how to continue.
func TestAttach_memory(t *testing.T) {
	short.SkipQuick(t, "starts several commands")
	s := newSimServer(t)
	var r api.ConnectResult
	s.call("session.connect", api.ConnectParams{InitialPrompt: "markdown"}, &r)
	s.until(r.SessionID, func(c *event.Conversation) bool { return c.Totals.Turns == 1 && c.State == "idle" })
	s.call("session.disconnect", api.SessionRef{SessionID: r.SessionID}, nil)
	if err := os.RemoveAll(filepath.Join(s.data, "sim")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.data, "sim"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "attach", "--data", s.data, r.SessionID)
	p.sees("/help lists the commands")
	p.types("and now?\r")
	p.sees("The agent no longer has this conversation", "Continue with a summary", "Cancel")
	p.types("1\r")
	p.sees("A new agent continues with a summary")
	s.until(r.SessionID, func(c *event.Conversation) bool { return c.Totals.Turns == 2 && c.State == "idle" })
	p.types("\x04")
	p.leaves(term.ExitOK)
}

// A command that neither the program nor the agent knows is refused and not sent as a prompt.
func TestAttach_unknownCommand(t *testing.T) {
	s := newSimServer(t)
	var r api.ConnectResult
	s.call("session.connect", api.ConnectParams{}, &r)
	p := sitDown(t, "http://127.0.0.1:9", []string{"NO_COLOR=1"}, "attach", "--data", s.data, r.SessionID)
	p.sees("/help lists the commands")
	p.types("/nosuch\r")
	p.sees("unknown command /nosuch")
	p.types("\x04")
	p.leaves(term.ExitOK)
	var h api.GetHistoryResult
	s.call("session.getHistory", api.SessionRef{SessionID: r.SessionID}, &h)
	if strings.Contains(string(event.Encoded(h)), "nosuch") {
		t.Errorf("the command was sent: %s", event.Encoded(h))
	}
}
