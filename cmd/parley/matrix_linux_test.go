package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/modelapi"
	"github.com/seed7221b0f9/parley/server/api"
)

// cellLimit limits the time for one cell of the matrix. Some agents use 15 s of CPU time to start.
const cellLimit = 3 * time.Minute

// maxFailures is the number of failed cells of an agent after which the rest is skipped, because
// each failure can take up to the limit.
const maxFailures = 2

// matrixCells are the checks of each agent. They run in this order, in one session.
var matrixCells = []struct {
	name string
	try  func(s *matrixSession, ctx context.Context) (string, error)
}{
	{"prompt", (*matrixSession).prompt},
	{"stream", (*matrixSession).stream},
	{"second turn", (*matrixSession).second},
	{"allow", (*matrixSession).allow},
	{"reject", (*matrixSession).reject},
	{"cancel", (*matrixSession).cancel},
	{"model", (*matrixSession).model},
	{"image", (*matrixSession).image},
	{"kill, resume", (*matrixSession).kill},
}

// The results of a cell. An image that the agent does not support is refused before it is sent.
const (
	cellWorks   = "✓"
	cellRefused = "refused"
	cellCannot  = "–"
)

// TestAgentMatrix runs every agent through parley serve with a scripted model: in make test those that other tests
// install too, in make soak PART=agents all. Each cell without a check mark has a reason, and the table equals that of
// docs/comparison.md.
func TestAgentMatrix(t *testing.T) {
	w := newMatrixWorld(t)
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "comparison.md"))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, a := range w.agents {
		t.Run(a.name, func(t *testing.T) {
			began := time.Now()
			row := w.row(t, a)
			fmt.Fprintf(&table, "%s\n", row)
			t.Logf("%s in %v", row, time.Since(began).Round(time.Second))
			if !t.Failed() && !bytes.Contains(page, []byte(row+"\n")) {
				t.Errorf("docs/comparison.md does not have the row\n%s", row)
			}
			for cell, reason := range a.cannot {
				if line := fmt.Sprintf("- %s, %s: %s\n", a.name, cell, reason); !bytes.Contains(page, []byte(line)) {
					t.Errorf("docs/comparison.md does not have the line\n%s", line)
				}
			}
		})
	}
	fmt.Print(table.String())
}

// row checks an agent and returns its row of the table.
func (w *matrixWorld) row(t *testing.T, a *matrixAgent) string {
	row := "| " + a.name
	s := &matrixSession{matrixWorld: w, agent: a}
	failures := 0
	for _, cell := range matrixCells {
		if failures == maxFailures {
			t.Errorf("%s: not tried after %d failures", cell.name, failures)
			continue
		}
		began := time.Now()
		result, err := s.run(t, cell.try)
		t.Logf("%s: %v", cell.name, time.Since(began).Round(10*time.Millisecond))
		reason := a.cannot[cell.name]
		switch {
		case err != nil && reason == "":
			t.Errorf("%s: %v", cell.name, err)
			result = "✗"
			failures++
		case err != nil:
			t.Logf("%s: %s: %v", cell.name, reason, err)
			result = cellCannot
		case reason != "":
			t.Errorf("%s works, and is listed as: %s", cell.name, reason)
		}
		row += " | " + result
		if err != nil {
			s.leave()
		}
	}
	s.leave()
	return row + " |"
}

// matrixSession is a session with an agent; empty before the first cell and after a failed one.
type matrixSession struct {
	*matrixWorld
	agent *matrixAgent
	id    string
	began time.Time
	first string // the name in the first prompt, which the agent must remember
	asks  int
}

func (s *matrixSession) run(t *testing.T, try func(s *matrixSession, ctx context.Context) (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), cellLimit)
	defer cancel()
	if s.id == "" {
		var r api.ConnectResult
		began := time.Now()
		if err := s.client.Call(ctx, "session.connect", api.ConnectParams{Provider: s.agent.provider, PermissionMode: s.agent.mode}, &r); err != nil {
			return "", fmt.Errorf("session.connect: %w", err)
		}
		t.Logf("session.connect: %v", time.Since(began).Round(10*time.Millisecond))
		s.id, s.first, s.began = r.SessionID, "", time.Now()
	}
	return try(s, ctx)
}

// leave ends the session.
func (s *matrixSession) leave() {
	if s.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), cellLimit)
	defer cancel()
	_ = s.client.Call(ctx, "session.disconnect", api.SessionRef{SessionID: s.id}, nil) // otherwise the server ends the agent
	s.id = ""
}

// ask sends a prompt with a script for the model. It returns the turn and the name in the script.
func (s *matrixSession) ask(ctx context.Context, verb string) (turn, name string, err error) {
	s.asks++
	name = fmt.Sprintf("%s%d.txt", s.agent.name, s.asks)
	var r api.Accepted
	if err = s.client.Call(ctx, "session.query", api.QueryParams{SessionID: s.id, Text: "model:" + verb + " " + name}, &r); err != nil {
		return "", "", fmt.Errorf("session.query: %w", err)
	}
	if s.first == "" {
		s.first = name
	}
	return r.TurnID, name, nil
}

// until follows the session until a condition holds.
func (s *matrixSession) until(ctx context.Context, what string, holds func(c *event.Conversation) bool) error {
	var view client.View
	for ev, err := range s.client.Follow(ctx, s.id, nil) {
		if err == nil {
			err = view.Apply(ev)
		}
		if err != nil {
			return fmt.Errorf("%s: %w; the session: %s", what, err, excerpt(&view.Conversation))
		}
		if holds(&view.Conversation) {
			return nil
		}
	}
	return fmt.Errorf("%s: the events have ended", what)
}

// answered sends a prompt that the model answers immediately, and waits for the answer and the end
// of the turn.
func (s *matrixSession) answered(ctx context.Context) (name string, err error) {
	turn, name, err := s.ask(ctx, "say")
	if err != nil {
		return "", err
	}
	return name, s.answer(ctx, turn, name)
}

// answer waits for the end of a turn and checks that it contains the answer. A permission request
// ends the wait.
func (s *matrixSession) answer(ctx context.Context, turn, name string) error {
	var end *event.Conversation
	err := s.until(ctx, "an answer", func(c *event.Conversation) bool {
		end = c
		return done(c, turn) || len(c.Prompts) > 0
	})
	if err == nil && !strings.Contains(last(end), "Answer "+name+".") {
		err = fmt.Errorf("no answer %s: %s", name, excerpt(end))
	}
	return err
}

// remembers checks that a later request to the model contains the first prompt.
func (s *matrixSession) remembers(name string) error {
	if r, ok := s.script.Request(name); !ok || !strings.Contains(r.Body, s.first) || s.first == name {
		return fmt.Errorf("the model got %d bytes with %s, without the first prompt %s", len(r.Body), name, s.first)
	}
	return nil
}

func (s *matrixSession) prompt(ctx context.Context) (string, error) {
	_, err := s.answered(ctx)
	return cellWorks, err
}

// stream pauses the model in the middle of an answer and checks that the first half is shown.
func (s *matrixSession) stream(ctx context.Context) (string, error) {
	turn, name, err := s.ask(ctx, "stream")
	if err != nil {
		return "", err
	}
	whole := "Answer " + name + "."
	err = s.until(ctx, "a part of an answer", func(c *event.Conversation) bool { return strings.TrimSpace(last(c)) == "Answer" })
	s.script.Release(name)
	if err != nil {
		return "", err
	}
	return cellWorks, s.until(ctx, "the rest of the answer", func(c *event.Conversation) bool { return strings.Contains(last(c), whole) && done(c, turn) })
}

func (s *matrixSession) second(ctx context.Context) (string, error) {
	name, err := s.answered(ctx)
	if err != nil {
		return "", err
	}
	return cellWorks, s.remembers(name)
}

// decide makes the model run a command, and answers the permission request, which must show the
// command.
func (s *matrixSession) decide(ctx context.Context, behavior string) (file string, err error) {
	turn, name, err := s.ask(ctx, "run")
	if err != nil {
		return "", err
	}
	var request *event.Prompt
	err = s.until(ctx, "a request for permission", func(c *event.Conversation) bool {
		if len(c.Prompts) > 0 {
			request = c.Prompts[0]
		}
		return request != nil || done(c, turn)
	})
	if err != nil {
		return "", err
	}
	file = filepath.Join(s.project, name)
	if _, err := os.Stat(file); request == nil || err == nil {
		return "", fmt.Errorf("the turn has ended without a request; the file: %v", err)
	}
	if shown := string(event.Encoded(request)); !strings.Contains(shown, event.Quote(modelapi.Command(name)).Text()) && !strings.Contains(shown, "touch "+name) {
		return "", fmt.Errorf("the request does not show %q: %s", modelapi.Command(name), shown)
	}
	answer := api.PermissionRespondParams{SessionID: s.id, RequestID: request.RequestID(), Behavior: behavior}
	if err := s.client.Call(ctx, "permission.respond", answer, nil); err != nil {
		return "", fmt.Errorf("permission.respond: %w", err)
	}
	return file, s.until(ctx, "the end of the turn", func(c *event.Conversation) bool { return done(c, turn) && len(c.Prompts) == 0 })
}

func (s *matrixSession) allow(ctx context.Context) (string, error) {
	file, err := s.decide(ctx, "allow")
	if err == nil {
		_, err = os.Stat(file)
	}
	return cellWorks, err
}

// reject denies a command: it does not run, its call ends, and the session continues.
func (s *matrixSession) reject(ctx context.Context) (string, error) {
	file, err := s.decide(ctx, "deny")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(file); err == nil {
		return "", fmt.Errorf("%s was made", file)
	}
	err = s.until(ctx, "the end of the call", func(c *event.Conversation) bool { return !running(c) })
	if err == nil {
		_, err = s.answered(ctx)
	}
	return cellWorks, err
}

// wait starts a turn that does not end.
func (s *matrixSession) wait(ctx context.Context) (turn string, err error) {
	turn, name, err := s.ask(ctx, "wait")
	if err != nil {
		return "", err
	}
	return turn, s.until(ctx, "the begin of an answer", func(c *event.Conversation) bool { return strings.Contains(last(c), "Waiting "+name) })
}

func (s *matrixSession) cancel(ctx context.Context) (string, error) {
	turn, err := s.wait(ctx)
	if err != nil {
		return "", err
	}
	if err := s.client.Call(ctx, "session.interrupt", api.SessionRef{SessionID: s.id}, nil); err != nil {
		return "", fmt.Errorf("session.interrupt: %w", err)
	}
	if err := s.until(ctx, "the end of the turn", func(c *event.Conversation) bool { return done(c, turn) && c.State == "idle" }); err != nil {
		return "", err
	}
	_, err = s.answered(ctx)
	return cellWorks, err
}

// model changes to a model that the agent lists, and checks that the next request uses it.
func (s *matrixSession) model(ctx context.Context) (string, error) {
	var list api.NamesResult
	if err := s.client.Call(ctx, "models.list", api.SessionRef{SessionID: s.id}, &list); err != nil {
		return "", fmt.Errorf("models.list: %w", err)
	}
	if !strings.Contains(string(event.Encoded(list)), event.Quote(s.agent.other).Text()) {
		return "", fmt.Errorf("models.list does not have %q: %s", s.agent.other, event.Encoded(list))
	}
	if err := s.client.Call(ctx, "session.setModel", api.SetModelParams{SessionID: s.id, Model: s.agent.other}, nil); err != nil {
		return "", fmt.Errorf("session.setModel: %w", err)
	}
	name, err := s.answered(ctx)
	if err != nil {
		return "", err
	}
	if r, _ := s.script.Request(name); !strings.Contains(r.Model, s.agent.asked) {
		return "", fmt.Errorf("the agent asked for the model %q, want %q", r.Model, s.agent.asked)
	}
	return cellWorks, nil
}

// pixel is a PNG. pixels are prefixes of images in a request: of a PNG, or of a JPEG that an agent
// converted it to.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

var pixels = []string{"iVBORw0KGgo", "/9j/"}

func (s *matrixSession) image(ctx context.Context) (string, error) {
	s.asks++
	name := fmt.Sprintf("%s%d.txt", s.agent.name, s.asks)
	var r api.Accepted
	err := s.client.Call(ctx, "session.queryWithContent", api.QueryWithContentParams{SessionID: s.id, Content: []event.JSON{
		event.NewJSON(`{"type":"text","text":"model:say ` + name + `"}`),
		event.NewJSON(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}}`),
	}}, &r)
	if client.Reason(err) == api.Unsupported {
		return cellRefused, nil
	}
	if err != nil {
		return "", fmt.Errorf("session.queryWithContent: %w", err)
	}
	if err := s.until(ctx, "an answer", func(c *event.Conversation) bool { return done(c, r.TurnID) }); err != nil {
		return "", err
	}
	asked, _ := s.script.Request(name)
	if !slices.ContainsFunc(pixels, func(begin string) bool { return strings.Contains(asked.Body, begin) }) {
		return "", fmt.Errorf("the model got %d bytes without an image", len(asked.Body))
	}
	return cellWorks, nil
}
