package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/agent/event/prose"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/server/api"
)

type listIn struct {
	State string `json:"state,omitempty" jsonschema:"only sessions in this state"`
}

type sessionOut struct {
	SessionID string `json:"session_id"`
	Title     string `json:"title,omitempty"`
	State     string `json:"state"`
	Directory string `json:"directory,omitempty"`
	Agent     string `json:"agent,omitempty"`
	Queued    int64  `json:"queued" jsonschema:"prompts that wait for their turn"`
	Requests  int64  `json:"requests" jsonschema:"requests that wait for an answer"`
}

func summary(s api.SessionSummary) sessionOut {
	return sessionOut{s.SessionID, s.Title, s.State, s.CWD, s.Provider, s.Queued, s.Prompts}
}

type listOut struct {
	Sessions []sessionOut `json:"sessions"`
}

func list(ctx context.Context, srv Service, in listIn) (listOut, error) {
	var r api.ListResult
	err := srv.Call(ctx, "session.list", api.ListParams{State: in.State}, &r)
	out := listOut{Sessions: []sessionOut{}}
	for _, s := range r.Sessions {
		out.Sessions = append(out.Sessions, summary(s))
	}
	return out, err
}

type startIn struct {
	Prompt    string `json:"prompt"`
	Directory string `json:"directory,omitempty" jsonschema:"absolute; the default is the server's first"`
	Agent     string `json:"agent,omitempty" jsonschema:"the provider of the agent; the default is the server's"`
	Model     string `json:"model,omitempty"`
	Title     string `json:"title,omitempty"`
}

type startOut struct {
	SessionID string `json:"session_id"`
}

func start(ctx context.Context, srv Service, in startIn) (startOut, error) {
	if in.Prompt == "" {
		return startOut{}, errors.New("the prompt is empty")
	}
	p := api.ConnectParams{CWD: in.Directory, Provider: in.Agent, Model: in.Model, Title: in.Title, InitialPrompt: in.Prompt}
	var r api.ConnectResult
	err := srv.Call(ctx, "session.connect", p, &r)
	return startOut{r.SessionID}, err
}

type sendIn struct {
	SessionID string `json:"session_id"`
	Text      string `json:"text"`
}

type sendOut struct {
	TurnID string `json:"turn_id"`
	Held   bool   `json:"held,omitempty" jsonschema:"it waits until a person releases the queue"`
}

func send(ctx context.Context, srv Service, in sendIn) (sendOut, error) {
	var r api.Accepted
	err := srv.Call(ctx, "session.query", api.QueryParams{SessionID: in.SessionID, Text: in.Text}, &r)
	return sendOut{r.TurnID, r.Held}, err
}

// The limits of the timeout of a wait.
const (
	defaultWait = 60 * time.Second
	maxWait     = 10 * time.Minute
)

type waitIn struct {
	SessionID string `json:"session_id"`
	Seconds   int    `json:"seconds,omitempty" jsonschema:"at most 600; the default is 60"`
}

type waitOut struct {
	Busy    bool       `json:"busy" jsonschema:"it is still busy after the time"`
	Session sessionOut `json:"session"`
}

// wait follows a session until it is idle, the timeout expires or ctx ends.
func wait(ctx context.Context, srv Service, in waitIn) (waitOut, error) {
	out, err := look(ctx, srv, in.SessionID)
	if err != nil || !out.Busy {
		return out, err
	}
	limit := defaultWait
	if in.Seconds > 0 {
		limit = time.Duration(min(in.Seconds, int(maxWait/time.Second))) * time.Second
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for ev, err := range srv.Follow(within, in.SessionID, nil) {
		if err == nil && concerns(ev) {
			var now waitOut
			if now, err = look(within, srv, in.SessionID); err == nil {
				out = now
			}
		}
		switch {
		case err == nil && !out.Busy:
			return out, nil
		case err != nil && within.Err() != nil: // the cause of err
			return out, ctx.Err()
		case err != nil:
			return out, err
		}
	}
	return out, ctx.Err()
}

// concerns reports whether a message may have changed the busy state of a session. The server
// updates its list before it sends the message.
func concerns(ev client.Event) bool {
	return ev.Attached != nil || slices.ContainsFunc(ev.Events, func(e event.Event) bool {
		switch e.(type) {
		case *event.SessionState, *event.QueueChanged, *event.QueueUpdated:
			return true
		}
		return false
	})
}

// look requests the state of a session.
func look(ctx context.Context, srv Service, id string) (waitOut, error) {
	s, err := lookup(ctx, srv, id)
	return waitOut{busy(s), summary(s)}, err
}

// busy reports whether a session works or will continue without a person.
func busy(s api.SessionSummary) bool {
	switch s.State {
	case "running", "starting", "draining":
		return true
	case "idle":
		return s.Queued > 0
	}
	return false
}

func lookup(ctx context.Context, srv Service, id string) (api.SessionSummary, error) {
	for _, archived := range []bool{false, true} {
		var r api.ListResult
		if err := srv.Call(ctx, "session.list", api.ListParams{Archived: archived}, &r); err != nil {
			return api.SessionSummary{}, err
		}
		for _, s := range r.Sessions {
			if s.SessionID == id {
				return s, nil
			}
		}
	}
	return api.SessionSummary{}, fmt.Errorf("session %q not found", id)
}

// The limits of the result of session_read, in bytes.
const (
	defaultRead = 20_000
	maxRead     = 200_000
)

type readIn struct {
	SessionID string `json:"session_id"`
	Bytes     int    `json:"bytes,omitempty" jsonschema:"how much of the end, at most 200000; the default is 20000"`
}

type readOut struct {
	Text    string `json:"text"`
	Omitted int    `json:"omitted,omitempty" jsonschema:"bytes before the text"`
}

func read(ctx context.Context, srv Service, in readIn) (readOut, error) {
	var r api.GetHistoryResult
	if err := srv.Call(ctx, "session.getHistory", api.SessionRef{SessionID: in.SessionID}, &r); err != nil {
		return readOut{}, err
	}
	var c event.Conversation
	if err := json.Unmarshal([]byte(r.Conversation), &c); err != nil {
		return readOut{}, fmt.Errorf("the conversation cannot be read: %w", err)
	}
	limit := defaultRead
	if in.Bytes > 0 {
		limit = min(in.Bytes, maxRead)
	}
	text := prose.Markdown(&c, prose.Options{})
	omitted := max(0, len(text)-limit)
	for omitted > 0 && omitted < len(text) && text[omitted]&0xC0 == 0x80 { // not inside a character
		omitted++
	}
	return readOut{text[omitted:], omitted}, nil
}

type refIn struct {
	SessionID string `json:"session_id"`
}

type interruptOut struct {
	Status string `json:"status" jsonschema:"interrupted, or idle if no turn runs"`
}

func interrupt(ctx context.Context, srv Service, in refIn) (interruptOut, error) {
	var r api.InterruptResult
	err := srv.Call(ctx, "session.interrupt", api.SessionRef{SessionID: in.SessionID}, &r)
	return interruptOut{r.Status}, err
}

type diffIn struct {
	SessionID string `json:"session_id"`
	Path      string `json:"path,omitempty" jsonschema:"one file alone"`
}

type diffOut struct {
	Diff json.RawMessage `json:"diff"`
}

func diff(ctx context.Context, srv Service, in diffIn) (any, error) {
	var out diffOut
	err := srv.Call(ctx, "workspace.diff", api.WorkspaceDiffParams{SessionID: in.SessionID, Path: in.Path}, &out.Diff)
	return out, err
}
