package chat

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudeagent"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// testLoop returns a conversation whose input is not a terminal.
func testLoop(t *testing.T) (c *loop, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	c = newLoop(&Options{Console: &term.Console{Out: term.PenTo(out, false), Err: term.PenTo(err, false)}})
	c.ctx, c.ui = t.Context(), &lineUI{c: c}
	return c, out, err
}

// An agent that dies in a turn is an error, even if the input ends before its end is detected.
func TestVerdictOfLostTurn(t *testing.T) {
	died := &claude.ExitError{Code: -1, Signal: "SIGKILL"}
	all := func(*prompt) bool { return true }
	for _, tt := range []struct {
		name string
		end  func(c *loop)
		code int
		says bool
	}{
		{"it died", func(c *loop) { c.prompts.end(died, all) }, term.ExitCLIDied, true},
		{"it gave no result", func(c *loop) { c.prompts.end(errNoResult, all) }, term.ExitCLIDied, true},
		{"it was taken back", func(c *loop) { c.prompts.end(errTakenBack, all) }, term.ExitOK, false},
		{"the next was answered", func(c *loop) {
			c.prompts.end(died, all)
			c.show(&event.ResultMessage{})
		}, term.ExitOK, false},
		{"it was left", func(c *loop) {
			c.leaving = true
			c.prompts.end(agent.ErrClosed, all)
		}, term.ExitOK, false},
	} {
		c, _, said := testLoop(t)
		c.prompts.list = []*prompt{{text: "go"}}
		tt.end(c)
		said.Reset()
		c.leaving = true
		if code, err := c.verdict(died); code != tt.code || err != nil || (said.Len() > 0) != tt.says {
			t.Errorf("%s: code %d, want %d, %v, said %q", tt.name, code, tt.code, err, said)
		}
	}
}

// Output of the agent is shown from its first word, even if it is very fast.
func TestFollowsFromTheBeginning(t *testing.T) {
	answers := func(cli *claudetest.CLI) int {
		if _, err := cli.Handshake(); err != nil {
			return 1
		}
		if _, err := cli.Prompt(); err != nil {
			return 1
		}
		cli.Turn("at once")
		<-cli.InputEnd()
		return 0
	}
	c, out, _ := testLoop(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c.ctx = ctx
	p := &claudeagent.Provider{Options: claude.Options{Spawner: claudetest.InProcess(answers), Logger: slog.New(slog.DiscardHandler)}}
	session, err := p.Connect(ctx, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.session = session
	c.send("go")
	c.work.Go(c.follow)
	for c.last == nil && !c.ended {
		(<-c.posted)()
	}
	close(c.over)
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	c.work.Wait()
	if c.last == nil || out.String() != "at once\n" {
		t.Errorf("shown is %q, the result %v", out, c.last)
	}
}
