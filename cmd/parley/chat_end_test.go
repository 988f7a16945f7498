package main

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
)

// testLoop is a conversation whose input is not a terminal.
func testLoop(t *testing.T) (c *chatLoop, out, err *bytes.Buffer) {
	out, err = new(bytes.Buffer), new(bytes.Buffer)
	con := &term.Console{Out: term.PenTo(out, false), Err: term.PenTo(err, false)}
	c = newChatLoop(con, (&runFlags{changed: func(string) bool { return false }}).newPrinter(con))
	c.ctx, c.ui = t.Context(), &lineUI{c: c}
	return c, out, err
}

// A CLI that dies in a turn is not a conversation that was ended, though the input ends before its
// end is noticed.
func TestChatVerdictOfALostTurn(t *testing.T) {
	died := &claude.ExitError{Code: -1, Signal: "SIGKILL"}
	for _, tt := range []struct {
		name string
		end  func(c *chatLoop, turn *chatTurn)
		code int
		says bool
	}{
		{"it died", func(c *chatLoop, turn *chatTurn) { c.finished(turn, nil, died) }, term.ExitCLIDied, true},
		{"it gave no result", func(c *chatLoop, turn *chatTurn) { c.finished(turn, nil, claude.ErrNoResult) }, term.ExitCLIDied, true},
		{"it was taken back", func(c *chatLoop, turn *chatTurn) { c.finished(turn, nil, claude.ErrCancelled) }, term.ExitOK, false},
		{"the next was answered", func(c *chatLoop, turn *chatTurn) {
			c.finished(turn, nil, died)
			c.show(&message.Result{})
		}, term.ExitOK, false},
		{"it was left", func(c *chatLoop, turn *chatTurn) {
			c.leaving = true
			c.finished(turn, nil, claude.ErrClosed)
		}, term.ExitOK, false},
	} {
		c, _, said := testLoop(t)
		turn := &chatTurn{text: "go"}
		c.turns = []*chatTurn{turn}
		tt.end(c, turn)
		said.Reset()
		c.leaving = true
		if code, err := c.verdict(died); code != tt.code || err != nil || (said.Len() > 0) != tt.says {
			t.Errorf("%s: code %d, want %d, %v, said %q", tt.name, code, tt.code, err, said)
		}
	}
}

// What the agent says is shown from its first word on, however fast it is.
func TestChatFollowsFromTheBeginning(t *testing.T) {
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
	if err := c.connect(&claude.Options{Spawner: claudetest.InProcess(answers), Logger: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	turn, err := c.client.Send(ctx, claude.Text("go"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	c.work.Go(c.follow)
	for c.last == nil && !c.ended {
		(<-c.posted)()
	}
	close(c.over)
	c.client.Close()
	c.work.Wait()
	if c.last == nil || out.String() != "at once\n" {
		t.Errorf("shown is %q, the result %v", out, c.last)
	}
}
