package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/cmd/parley/internal/term"
	"github.com/seed7221b0f9/parley/server/api"
)

const attachLong = `Attach follows a session of a server and lets you take part in it. A line that you type is
a prompt; these are commands:

  /allow  /deny     answer the oldest request for a permission
  /answer TEXT      answer the oldest question
  /interrupt        stop the running turn
  /queue            show the inputs that wait, /release lets held ones run
  /continue         continue an interrupted turn
  /quit             leave; the session goes on

The connection is restored by itself, and nothing is shown twice.`

func newAttach(code *int) *cobra.Command {
	f := &remoteFlags{}
	cmd := &cobra.Command{Use: "attach [flags] SESSION", Short: "Follow a session of a server and take part", Long: attachLong, Args: term.Arguments(1, 1), DisableFlagsInUseLine: true}
	cmd.RunE = remote(code, f, func(ctx context.Context, c *client.Client, out io.Writer, args []string) error {
		return attach(ctx, c, out, args[0])
	})
	f.register(cmd)
	return cmd
}

// chatRemote makes a session on a server and attaches to it.
func chatRemote(ctx context.Context, c *client.Client, out io.Writer) error {
	var r api.ConnectResult
	if err := call(ctx, c, "session.connect", api.ConnectParams{Idempotency: api.Idempotency{Key: client.Key()}}, &r); err != nil {
		return err
	}
	fmt.Fprintf(out, "Session %s. \"parley attach %s\" comes back to it.\n", term.OneLine(r.SessionID), term.OneLine(r.SessionID))
	return attach(ctx, c, out, r.SessionID)
}

// attachment is a session that a terminal follows.
type attachment struct {
	c       *client.Client
	session string
	out     io.Writer

	mu   sync.Mutex
	view client.View
	open bool // text was written and its line is not ended
}

func attach(ctx context.Context, c *client.Client, out io.Writer, session string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a := &attachment{c: c, session: session, out: out}
	lines := make(chan string)
	go func() { // it ends with standard input, which nothing else can interrupt
		defer close(lines)
		scanner := bufio.NewScanner(os.Stdin)
		scanner.Buffer(nil, 8<<20)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		defer cancel()
		for line := range lines {
			if !a.line(ctx, line) {
				return
			}
		}
		a.settle(ctx)
	}()
	for ev, err := range c.Follow(ctx, session, nil) {
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			return err
		}
		if err := a.show(ev); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.printf("")
	return nil
}

// settle waits for the end of the work when the input has ended, so that prompts can come
// through a pipe.
func (a *attachment) settle(ctx context.Context) {
	var v client.View
	for ev, err := range a.c.Follow(ctx, a.session, nil) {
		if err != nil || v.Apply(ev) != nil {
			return
		}
		switch c := &v.Conversation; c.State {
		case "running", "starting":
		case "idle":
			if len(c.Queue) == 0 {
				return
			}
		default:
			return
		}
	}
}

// show folds an event and prints what is new in it.
func (a *attachment) show(ev client.Event) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.view.Apply(ev); err != nil {
		return err
	}
	if at := ev.Attached; at != nil {
		if at.Snapshot != "" {
			a.printf("— %s, %s —", a.session, at.State)
			a.past()
		}
		return nil
	}
	switch m := ev.Message.(type) {
	case *api.StreamEvent:
		if d, ok := m.Event.(*api.ContentBlockDeltaEvent); ok && m.ParentToolUseID == "" {
			if t, ok := d.Delta.(*api.TextDelta); ok {
				fmt.Fprint(a.out, term.Sanitize(t.Text))
				a.open = true
			}
		}
	case *api.UserMessage:
		if m.IsPrompt {
			a.printf("> %s", blocksText(m.Message.Content))
		}
	case *api.PermissionRequest:
		a.printf("? %s %s (/allow or /deny)", m.ToolName, m.Input)
	case *api.PermissionResolved:
		a.printf("  %s by %s", m.Behavior, m.By)
	case *api.QuestionRequest:
		a.printf("? %s (/answer TEXT)", questionText(m))
	case *api.Notice:
		a.printf("! %s", m.Text)
	case *api.ErrorMessage:
		a.printf("! %s", m.Message)
	case *api.ResultMessage:
		if m.IsError {
			a.printf("! %s %s", m.Subtype, strings.Join(m.Errors, "; "))
		} else {
			a.printf("")
		}
	}
	return nil
}

// printf prints a line of its own, with what others wrote made fit for a terminal.
func (a *attachment) printf(format string, args ...any) {
	if a.open {
		fmt.Fprintln(a.out)
		a.open = false
	}
	if text := fmt.Sprintf(format, args...); text != "" {
		fmt.Fprintln(a.out, term.Sanitize(text))
	}
}

// past prints the end of what was said before.
func (a *attachment) past() {
	main := a.view.Conversation.Thread("")
	if main == nil {
		return
	}
	items := main.Items
	for _, it := range items[max(0, len(items)-20):] {
		m := it.Message
		if m == nil {
			continue
		}
		mark := ""
		if m.Role == "user" {
			mark = "> "
		}
		for _, b := range m.Blocks {
			if text := b.Text.String(); b.Type == "text" && text != "" {
				a.printf("%s%s", mark, text)
			}
		}
	}
	for _, p := range a.view.Conversation.Prompts {
		a.printf("? %s %s waits for an answer", p.ToolName, p.Kind)
	}
}

func blocksText(blocks []api.ContentBlock) string {
	var parts []string
	for _, b := range blocks {
		if t, ok := b.(*api.TextBlock); ok {
			parts = append(parts, t.Text)
		} else {
			parts = append(parts, "["+b.Type()+"]")
		}
	}
	return strings.Join(parts, " ")
}

func questionText(m *api.QuestionRequest) string {
	if m.Message != "" {
		return m.Message
	}
	var parts []string
	for _, q := range m.Questions {
		var options []string
		for _, o := range q.Options {
			options = append(options, o.Label)
		}
		parts = append(parts, q.Question+" ["+strings.Join(options, ", ")+"]")
	}
	return strings.Join(parts, " ")
}

// line does what a typed line says and reports whether to go on.
func (a *attachment) line(ctx context.Context, line string) bool {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	ref := api.SessionRef{SessionID: a.session}
	var err error
	switch word {
	case "":
		return true
	case "/quit", "/exit":
		return false
	case "/interrupt":
		err = call(ctx, a.c, "session.interrupt", ref, nil)
	case "/continue":
		err = call(ctx, a.c, "session.continue", ref, nil)
	case "/release":
		err = call(ctx, a.c, "queue.release", ref, nil)
	case "/queue":
		err = a.queue(ctx, ref)
	case "/allow", "/deny", "/answer":
		err = a.answer(ctx, word, rest)
	default:
		if strings.HasPrefix(word, "/") {
			err = fmt.Errorf("there is no command %s", word)
			break
		}
		err = call(ctx, a.c, "session.query", api.QueryParams{SessionID: a.session, Text: line, Idempotency: api.Idempotency{Key: client.Key()}}, nil)
	}
	if err != nil && ctx.Err() == nil {
		a.mu.Lock()
		a.printf("! %s", err)
		a.mu.Unlock()
	}
	return true
}

func (a *attachment) queue(ctx context.Context, ref api.SessionRef) error {
	var r api.QueueListResult
	if err := call(ctx, a.c, "queue.list", ref, &r); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, it := range r.Items {
		a.printf("  %s %s %s", it.ID, it.Status, decodeText([]byte(it.Content)))
	}
	return nil
}

// answer answers the oldest request that the word fits.
func (a *attachment) answer(ctx context.Context, word, text string) error {
	a.mu.Lock()
	var found *event.Prompt
	for _, p := range a.view.Conversation.Prompts {
		if (p.Type == event.PromptQuestion) == (word == "/answer") {
			found = p
			break
		}
	}
	a.mu.Unlock()
	if found == nil {
		return errors.New("nothing waits for that answer")
	}
	key := api.Idempotency{Key: client.Key()}
	if word != "/answer" {
		return call(ctx, a.c, "permission.respond", api.PermissionRespondParams{Idempotency: key, SessionID: a.session, RequestID: found.RequestID,
			Behavior: strings.TrimPrefix(word, "/"), Reason: text}, nil)
	}
	answers := map[string]string{}
	for _, q := range found.Questions {
		name := q.ID
		if name == "" {
			name = q.Question
		}
		answers[name] = text
	}
	return call(ctx, a.c, "question.respond", api.QuestionRespondParams{Idempotency: key, SessionID: a.session, RequestID: found.RequestID,
		Action: "accept", Answers: event.Encoded(answers)}, nil)
}
