package webserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/claude/claudeevent"
	"github.com/seed7221b0f9/parley/claude/message"
)

// stage is a provider with agents that play scenes. A prompt names its scene; any other prompt
// is echoed. While the file forget exists, its agents have lost every session.
type stage struct {
	corpus recordings
	forget string
}

// Name returns the provider's name.
func (*stage) Name() string { return "scene" }

// Resume starts an actor that continues a session.
func (p *stage) Resume(ctx context.Context, id string, opts agent.Options) (agent.Session, error) {
	if _, err := os.Stat(p.forget); err == nil {
		return nil, agent.ErrNotFound
	}
	opts.ID = id
	return p.Open(ctx, opts)
}

// Open starts an actor.
func (p *stage) Open(_ context.Context, opts agent.Options) (agent.Session, error) {
	s := &actor{
		id: cmp.Or(opts.ID, uuid()), corpus: p.corpus, dir: opts.Dir, mode: opts.Mode, model: cmp.Or(opts.Model, "claude-scene-1"), inputs: make(chan agent.Input, 64),
		events: make(chan event.Event, 4096), stop: make(chan struct{}), answers: map[string]chan json.RawMessage{},
		conv: claudeevent.Converter{Provider: "sim"},
	}
	go s.run()
	return s, nil
}

// actor is a session of a stage.
type actor struct {
	id, dir string
	corpus  recordings
	inputs  chan agent.Input
	events  chan event.Event
	stop    chan struct{}
	once    sync.Once

	mu          sync.Mutex
	conv        claudeevent.Converter
	mode, model string
	interrupt   chan struct{}
	answers     map[string]chan json.RawMessage
	n           int
	cost        float64 // of all turns so far, in dollars
}

var errStopped = errors.New("interrupted")

func (s *actor) ID() string { return s.id }

// Events yields the events of the scenes.
func (s *actor) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			select {
			case ev := <-s.events:
				if !yield(ev, nil) {
					return
				}
			case <-s.stop:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

func (s *actor) Send(ctx context.Context, in agent.Input) error {
	select {
	case s.inputs <- in:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *actor) Interrupt(context.Context) (agent.Interrupted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.interrupt != nil {
		close(s.interrupt)
		s.interrupt = nil
	}
	return agent.Interrupted{}, nil
}

// Answer passes an answer to a waiting scene in the form of the CLI.
func (s *actor) Answer(_ context.Context, id string, a agent.Answer) error {
	s.mu.Lock()
	ch := s.answers[id]
	delete(s.answers, id)
	s.mu.Unlock()
	if ch == nil {
		return agent.ErrNotOpen
	}
	var v any
	switch a := a.(type) {
	case *agent.PermissionAnswer:
		v = map[string]any{"behavior": behavior(a.Allow), "message": a.Message, "updatedPermissions": a.UpdatedPermissions, "interrupt": a.Interrupt}
	case *agent.PlanAnswer:
		v = map[string]any{"behavior": behavior(a.Approve), "message": a.Message, "mode": a.Mode}
	case *agent.QuestionAnswer:
		v = map[string]any{"behavior": behavior(!a.Declined), "updatedInput": map[string]any{"answers": a.Answers}}
	case *agent.ElicitationAnswer:
		v = map[string]any{"action": a.Action, "content": a.Content}
	}
	data, err := json.Marshal(v)
	ch <- data
	return err
}

// member returns a text of a JSON object.
func member(data json.RawMessage, key string) string {
	v, _ := event.NewJSON(string(data)).Member(key)
	return v.Text()
}

func behavior(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny"
}

func (s *actor) Close() error {
	s.once.Do(func() { close(s.stop) })
	return nil
}

// SetModel and SetMode set the model and the mode of the next turn.
func (s *actor) SetModel(_ context.Context, model string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.model = model
	return model, nil
}

func (s *actor) SetMode(_ context.Context, mode string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
	return nil
}

func (s *actor) Modes() []string { return []string{"default", "acceptEdits", "plan"} }

func (s *actor) SetThinking(context.Context, *int64) error { return nil }

func (s *actor) Models(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "claude-scene-1", Description: "the default"}, {Name: "claude-scene-2"}}, nil
}

func (s *actor) Commands(context.Context) ([]agent.Entry, error) {
	return []agent.Entry{{Name: "review", Description: "Review what changed against main"}, {Name: "release-notes", Description: "Write notes from the commits since a tag"}, {Name: "compact", Description: "Make the conversation shorter"}}, nil
}

func (s *actor) Agents(context.Context) ([]agent.Entry, error) { return nil, nil }

func (s *actor) run() {
	for {
		select {
		case in := <-s.inputs:
			s.turn(in)
		case <-s.stop:
			return
		}
	}
}

func (s *actor) turn(in agent.Input) {
	s.mu.Lock()
	stop := make(chan struct{})
	s.interrupt = stop
	s.mu.Unlock()
	content := any(in.Text)
	text := in.Text
	if len(in.Content) > 0 {
		content = in.Content
		for _, b := range in.Content {
			if v := member(b, "text"); v != "" {
				text = v
			}
		}
	}
	raw, _ := json.Marshal(map[string]any{"type": "user", "uuid": in.UUID, "session_id": s.id, "parent_tool_use_id": nil, "message": map[string]any{"role": "user", "content": content}})
	s.emit(s.converted(func(c *claudeevent.Converter) []event.Event { return c.Prompt(message.UserInput{Raw: raw}) })...)
	s.add(map[string]any{"type": "system", "subtype": "init", "uuid": uuid(), "session_id": s.id, "cwd": s.dir, "model": s.model, "permissionMode": s.mode,
		"apiKeySource": "none", "tools": []string{"Bash"}, "mcp_servers": []any{}, "slash_commands": []string{"review", "release-notes", "compact"}})
	began := time.Now()
	t := &scene{actor: s, stop: stop}
	err := t.play(text)
	s.mu.Lock()
	cost := s.cost
	s.mu.Unlock()
	result := map[string]any{"type": "result", "subtype": "success", "uuid": uuid(), "session_id": s.id, "is_error": err != nil, "num_turns": t.turns,
		"duration_ms": time.Since(began).Milliseconds(), "duration_api_ms": 5, "total_cost_usd": cost, "result": t.last,
		"modelUsage": map[string]any{s.model: map[string]any{"inputTokens": 900, "outputTokens": 120, "contextWindow": 200_000, "costUSD": cost}},
		"usage":      map[string]int{"input_tokens": 900, "output_tokens": 120, "cache_read_input_tokens": 12000}}
	if err != nil {
		result["subtype"], result["terminal_reason"] = "error_during_execution", "aborted_tools"
	}
	s.add(result)
}

// add emits a message of the CLI.
func (s *actor) add(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the scene is invalid
	}
	s.addLine(data)
}

func (s *actor) addLine(data []byte) {
	m, err := message.Decode(data)
	if err != nil {
		m = &message.BadLine{Size: len(data), Err: err}
	}
	s.emit(s.converted(func(c *claudeevent.Converter) []event.Event { return c.Add(m) })...)
}

func (s *actor) converted(f func(*claudeevent.Converter) []event.Event) []event.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(f(&s.conv)) // the converter reuses its slice
}

func (s *actor) emit(events ...event.Event) {
	for _, ev := range events {
		select {
		case s.events <- ev:
		case <-s.stop:
			return
		}
	}
}

func (s *actor) next(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	return fmt.Sprintf("%s_%s_%d", prefix, s.id[:8], s.n)
}

func uuid() string {
	text := strings.ToLower(rand.Text() + rand.Text())
	hex := fmt.Sprintf("%x", text)[:32]
	return hex[:8] + "-" + hex[8:12] + "-4" + hex[13:16] + "-8" + hex[17:20] + "-" + hex[20:32]
}
