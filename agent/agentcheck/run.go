package agentcheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
)

// run is one check.
type run struct {
	T
	Subject
	base   context.Context
	prompt string
	uuid   string // of the last prompt
	events chan event.Event
	err    error // the reason why the events ended; valid after events is closed
	seen   []event.Event
}

func (r *run) ctx() context.Context {
	ctx, cancel := context.WithTimeout(r.base, r.Timeout)
	r.Cleanup(cancel)
	return ctx
}

func (r *run) open() agent.Session {
	r.Helper()
	s, err := r.Provider.Open(r.ctx(), r.Options)
	if err != nil {
		r.Fatalf("Open: %v", err)
	}
	return r.follow(s)
}

// follow reads the events of a session, and ends the session with the test. It then checks that
// each request was resolved once.
func (r *run) follow(s agent.Session) agent.Session {
	events := make(chan event.Event)
	r.events, r.seen, r.err = events, nil, nil
	finished := make(chan struct{})
	var requests requests
	ctx, cancel := context.WithCancel(r.base)
	go func() {
		defer close(finished)
		defer close(events)
		for ev, err := range s.Events(ctx) {
			if err != nil {
				r.err = err
				return
			}
			requests.add(ev)
			select {
			case events <- ev:
			case <-ctx.Done():
			}
		}
	}()
	r.Cleanup(func() {
		if err := s.Close(); err != nil {
			r.Errorf("Close: %v", err)
		}
		timeout := time.AfterFunc(r.Timeout, cancel)
		defer timeout.Stop()
		for range events { // until the end
		}
		cancel()
		<-finished
		for _, fault := range requests.faults() {
			r.Error(fault)
		}
	})
	return s
}

// requests counts how often each request was resolved.
type requests struct {
	ids      []string
	resolved map[string]int
}

func (q *requests) add(ev event.Event) {
	id := ""
	switch ev := ev.(type) {
	case *event.PermissionRequest:
		id = ev.RequestID
	case *event.QuestionRequest:
		id = ev.RequestID
	}
	if q.resolved == nil {
		q.resolved = map[string]int{}
	}
	if id != "" && !slices.Contains(q.ids, id) {
		q.ids = append(q.ids, id)
	}
	if id = event.ResolvedID(ev); id != "" {
		q.resolved[id]++
	}
}

func (q *requests) faults() (list []string) {
	for _, id := range q.ids {
		if n := q.resolved[id]; n != 1 {
			list = append(list, fmt.Sprintf("the request %s was resolved %d times, want once", id, n))
		}
	}
	return list
}

func (r *run) send(s agent.Session) {
	r.Helper()
	r.uuid = random.UUID()
	if err := s.Send(r.ctx(), agent.Input{UUID: r.uuid, Text: r.prompt}); err != nil {
		r.Fatalf("Send: %v", err)
	}
}

// next waits for an event of type T that match accepts.
func next[T event.Event](r *run, match func(T) bool) T {
	r.Helper()
	timeout := time.NewTimer(r.Timeout)
	defer timeout.Stop()
	for {
		select {
		case ev, ok := <-r.events:
			if !ok {
				r.Fatalf("the events ended (%v) before a %T", r.err, *new(T))
			}
			r.seen = append(r.seen, ev)
			if e, ok := ev.(T); ok && (match == nil || match(e)) {
				return e
			}
		case <-timeout.C:
			r.Fatalf("no %T within %v; the last of %d events is %#v", *new(T), r.Timeout, len(r.seen), slices.Concat([]event.Event{nil}, r.seen)[len(r.seen)])
		}
	}
}

// end waits for the end of the events.
func (r *run) end() error {
	r.Helper()
	timeout := time.NewTimer(r.Timeout)
	defer timeout.Stop()
	for {
		select {
		case ev, ok := <-r.events:
			if !ok {
				return r.err
			}
			r.seen = append(r.seen, ev)
		case <-timeout.C:
			r.Fatalf("the events did not end within %v", r.Timeout)
		}
	}
}

// answers returns the text of all complete answers so far.
func (r *run) answers() string {
	text := ""
	for _, ev := range r.seen {
		if a, ok := ev.(*event.AssistantMessage); ok {
			for _, b := range a.Blocks {
				text += b.Block.Text
			}
		}
	}
	return text
}

// prompts returns how often the last prompt occurs in the events.
func (r *run) prompts() int {
	n := 0
	for _, ev := range r.seen {
		if u, ok := ev.(*event.UserMessage); ok && u.IsPrompt && u.UUID == r.uuid {
			n++
		}
	}
	return n
}
