package agenttest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
)

var errInterrupted = errors.New("agenttest: interrupted")

// run is the agent's loop: it processes one input after the other until it is stopped.
func (s *Session) run() {
	var failed error
	defer func() { s.kit.End(failed, nil) }()
	defer s.provider.ended(s.id)
	for {
		select {
		case <-s.kit.Context().Done():
			return
		case <-s.inputs:
		}
		for {
			in, ctx := s.next()
			if ctx == nil {
				break
			}
			if failed = s.turn(ctx, in); failed != nil {
				return
			}
		}
	}
}

// next takes the first input of the queue and starts its turn, which an interrupt ends. The context
// is nil without an input.
func (s *Session) next() (agent.Input, context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 || s.kit.Alive() != nil {
		return agent.Input{}, nil
	}
	in := s.queue[0]
	s.queue = s.queue[1:]
	ctx, interrupt := context.WithCancel(s.kit.Context())
	s.busy, s.interrupt = true, interrupt
	if s.early {
		s.early, s.interrupt = false, nil
		interrupt()
	}
	s.turns++
	return in, ctx
}

// turn is the work on one input.
type turn struct {
	s         *Session
	ctx       context.Context // ends with an interrupt or the session
	messageID string
	began     time.Time
}

// turn returns an error only if the agent dies.
func (s *Session) turn(ctx context.Context, in agent.Input) error {
	s.mu.Lock()
	t := &turn{s: s, ctx: ctx, began: time.Now()}
	model, mode := s.model, s.mode
	s.mu.Unlock()
	text := textOf(in)
	t.emit(&event.SystemInit{CWD: s.opts.Dir, Model: model, PermissionMode: mode, Tools: []string{"Bash", "Read"}})
	t.emit(&event.UserMessage{Header: event.Header{UUID: in.UUID}, Blocks: []event.Content{textContent(text)}, IsText: true, IsPrompt: true})
	err := t.work(text)
	if errors.Is(err, errDied) {
		return err
	}
	s.mu.Lock()
	if s.busy = false; s.interrupt != nil {
		s.interrupt()
		s.interrupt = nil
	}
	s.mu.Unlock()
	t.result(err)
	return nil
}

// work performs the action of the first word of a prompt.
func (t *turn) work(prompt string) error {
	word, rest, _ := strings.Cut(prompt, " ")
	n, _ := strconv.Atoi(rest)
	switch word {
	case "say":
		return t.say("", rest)
	case "think":
		return t.say("I think about it.", rest)
	case "count":
		return t.say("", words(n))
	case "tool":
		return t.tool(rest, true, "done")
	case "auto":
		return t.tool(rest, false, "done")
	case "big":
		return t.tool("Bash", false, strings.Repeat("x", n))
	case "ask", "plan", "elicit":
		return t.question(word)
	case "wait", "stall":
		if word == "wait" {
			if err := t.say("", "I wait."); err != nil {
				return err
			}
		}
		<-t.ctx.Done()
		return errInterrupted
	case "cut":
		_ = t.stream("", words(n)) // an interrupt does not prevent the crash
		return errDied
	case "die":
		return errDied
	case "task":
		return t.task()
	case "fail":
		return errors.New("the turn failed")
	case "model":
		return t.say("", t.settings())
	}
	return t.say("", prompt)
}

func (t *turn) settings() string {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	thinking := "default"
	if t.s.thinking != nil {
		thinking = strconv.FormatInt(*t.s.thinking, 10)
	}
	if t.s.effort != "" {
		thinking += " effort " + t.s.effort
	}
	return fmt.Sprintf("model %s mode %s thinking %s", t.s.model, t.s.mode, thinking)
}

// words returns n distinct words.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString("w" + strconv.Itoa(i+1))
	}
	return b.String()
}

// ended returns the reason why the turn cannot continue, or nil.
func (t *turn) ended() error {
	if t.ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// pause waits between two deltas.
func (t *turn) pause() error {
	if t.s.provider.Pause <= 0 {
		return t.ended()
	}
	timer := time.NewTimer(t.s.provider.Pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-t.ctx.Done():
		return errInterrupted
	}
}

// emit passes an event to the consumer. After the end of the session it has no effect.
func (t *turn) emit(ev event.Event) {
	t.s.kit.Add(func() []event.Event {
		if t.s.kit.Context().Err() != nil {
			return nil
		}
		return []event.Event{t.s.sign(ev)}
	})
}

// sign sets the session and the provider of an event.
func (s *Session) sign(ev event.Event) event.Event {
	h := ev.Head()
	h.SessionID, h.Provider = s.id, s.provider.Name()
	return ev
}

// number returns an id that is unique in the session.
func (t *turn) number(prefix string) string {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.numbered++
	return fmt.Sprintf("%s_%s_%d", prefix, t.s.runID, t.s.numbered)
}

func textContent(text string) event.Content {
	return event.Content{Type: "text", Text: text, Raw: encoded(map[string]string{"type": "text", "text": text})}
}

// result ends the turn.
func (t *turn) result(err error) {
	ev := &event.ResultMessage{
		Header: event.Header{UUID: random.UUID()}, Subtype: "success", Result: "", NumTurns: 1,
		DurationMS: time.Since(t.began).Milliseconds(), TotalCostUSD: new(0.001 * float64(t.s.turns)),
		Usage: `{"input_tokens":10,"output_tokens":5}`,
	}
	if err != nil {
		ev.Subtype, ev.IsError, ev.Errors = "error_during_execution", true, []string{err.Error()}
		if errors.Is(err, errInterrupted) {
			ev.TerminalReason = "aborted_streaming"
		}
	}
	t.emit(ev)
}
