package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/parts"
	"github.com/seed7221b0f9/parley/server/session"
	"go.opentelemetry.io/otel/propagation"
)

// run is a request of a client that shows one answer at a time, over AG-UI or the AI SDK.
type run struct {
	protocol string
	thread   string // the client's name for the session, or the session's id
	connect  api.ConnectParams
	prompt   *runPrompt
	answers  []runAnswer
	after    *parts.Place // position of a resumed stream
	encoder  runEncoder
	trailer  string // the data of the last event, which is not JSON; may be empty
	accepted func() // called when the prompt is stored
}

// runPrompt is a prompt with the client's id for it, under which it is executed once.
type runPrompt struct {
	id      string
	digest  string // of the message, because an edited message keeps its id
	content []event.JSON
	text    event.JSON // a JSON string, instead of content that is a single text; it may be large and is not copied
}

// setText sets the whole prompt to a text.
func (p *runPrompt) setText(text event.JSON) {
	p.text, p.content, p.digest = text, nil, digestText(text)
}

// digest returns a hash of the blocks of a message.
func digest(blocks []event.JSON) string {
	h := sha256.New()
	for _, b := range blocks {
		fmt.Fprintf(h, "%d:%s", len(b), b)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// digestText returns the hash of a message that is one block of text.
func digestText(text event.JSON) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(textHead)+len(text)+len(textTail), textHead)
	for rest := text; rest != ""; { // without copying all of it
		n := min(len(rest), maxWrite)
		_, _ = h.Write([]byte(rest[:n])) // never fails
		rest = rest[n:]
	}
	_, _ = h.Write([]byte(textTail))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// runAnswer is a client's answer to a request. Only an explicit approval approves.
type runAnswer struct {
	id       string // from the encoder's Ask
	approved bool
	input    event.JSON // replaces the input of the call; absent is unchanged
	reason   string
	answers  event.JSON // to a question: an object with members, otherwise it is declined
}

// runEncoder encodes a stream in a protocol.
type runEncoder interface {
	Begin(messageID string) []json.RawMessage
	Part(p parts.Part) []json.RawMessage
	Ask(p parts.Part, id string) []json.RawMessage
}

// runRoutes returns the routes of the protocols that stream one answer at a time. A request is
// translated to method calls, with their access, limits and audit rows.
func runRoutes() []route {
	return []route{
		{&method{name: "agui", role: roleOperator, scope: unlinked, tenancy: ofTenant, audit: unaudited, body: maxBody}, "POST /v1/agui", (*Server).runAGUI},
		{&method{name: "aisdk", role: roleOperator, scope: unlinked, tenancy: ofTenant, audit: unaudited, body: maxBody}, "POST /v1/aisdk", (*Server).runAISDK},
		{&method{name: "aisdk.stream", role: roleViewer, scope: linked, tenancy: ofTenant, audit: unaudited, body: maxBody}, "GET /v1/aisdk/{id}/stream", (*Server).resumeAISDK},
	}
}

// answer executes a request and streams the result.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, c *caller, q *run) error {
	release, err := s.connection(r) // first, because a refusal must have no effect
	if err != nil {
		return err
	}
	defer release()
	ctx := s.tracer.From(r.Context(), propagation.HeaderCarrier(r.Header))
	id, err := s.runSession(ctx, c, q)
	if err != nil {
		return err
	}
	v := &turnView{session: id, encoder: q.encoder, trailer: q.trailer}
	for _, a := range q.answers {
		at, err := s.runRespond(ctx, c, id, a)
		if err != nil {
			return err
		}
		if at.Seq >= v.at.Seq {
			v.at = at
		}
	}
	if q.prompt != nil {
		accepted, err := s.runQuery(ctx, c, id, q.prompt)
		if err != nil {
			return err
		}
		if accepted.Held && q.after == nil {
			return session.Conflict("the prompt is in the queue and waits for a person: release the queue of the session, or remove it")
		}
		v.at, v.turn, v.message = parts.Place{Seq: accepted.Seq}, accepted.TurnID, accepted.TurnID
	}
	if q.after != nil {
		v.at, v.turn, v.message = *q.after, "", ""
	}
	q.accepted()
	return s.streamTurn(w, r, c, v)
}

// runSession returns the session of a request. A prompt for an unknown thread starts one.
func (s *Server) runSession(ctx context.Context, c *caller, q *run) (string, error) {
	if q.thread == "" {
		return "", session.Invalid("the request names no thread")
	}
	id := q.thread
	if !strings.HasPrefix(id, session.Prefix) {
		q.connect.Key = q.protocol + ":" + q.thread
		id = newSessionID(c.id, q.connect.Key)
	}
	_, err := s.sessions.Lookup(withCaller(ctx, c), id)
	if err == nil || q.prompt == nil || id == q.thread {
		return id, err
	}
	var made api.ConnectResult
	err = s.callAs(ctx, c, "session.connect", q.connect, &made)
	return made.SessionID, err
}

// callAs calls a method for a caller, like a separate request.
func (s *Server) callAs(ctx context.Context, c *caller, name string, params, result any) error {
	data, err := json.Marshal(params)
	if err != nil {
		return session.Invalid("the parameters: %v", err)
	}
	return s.callWith(ctx, c, name, data, result)
}

// callWith is like callAs but takes encoded parameters.
func (s *Server) callWith(ctx context.Context, c *caller, name string, params []byte, result any) error {
	got, err := s.call(ctx, c, name, params)
	if err != nil {
		return err
	}
	data, err := json.Marshal(got)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, result)
}

func (s *Server) runQuery(ctx context.Context, c *caller, id string, p *runPrompt) (api.Accepted, error) {
	params := api.QueryWithContentParams{SessionID: id, Content: p.content}
	if p.id != "" {
		params.Key = "run:" + p.id + ":" + p.digest
	}
	if p.text != "" {
		return s.runText(ctx, c, params, p)
	}
	var accepted api.Accepted
	err := s.callAs(ctx, c, "session.queryWithContent", params, &accepted)
	return accepted, err
}

// runText sends a prompt that is a single text. It copies the text once.
func (s *Server) runText(ctx context.Context, c *caller, of api.QueryWithContentParams, p *runPrompt) (api.Accepted, error) {
	head := `{"session_id":` + string(event.Quote(of.SessionID)) + `,"idempotency_key":` + string(event.Quote(of.Key)) + `,"text":`
	params := make([]byte, 0, len(head)+len(p.text)+1)
	params = append(append(append(params, head...), p.text...), '}')
	p.text = "" // so that the body of the request can be freed
	got, err := s.call(ctx, c, "session.query", params)
	accepted, _ := got.(api.Accepted) // none with an error
	return accepted, err
}

// runRespond passes an answer to its request and returns the position at which the stream with the
// request ended. If another answer was first, that one counts.
func (s *Server) runRespond(ctx context.Context, c *caller, id string, a runAnswer) (parts.Place, error) {
	place, request, ok := strings.Cut(a.id, "/")
	at, err := parts.ParsePlace(place)
	if !ok || err != nil || request == "" {
		return at, session.Invalid("%.200q is not the id of a request", a.id)
	}
	p, err := s.openRequest(ctx, c, id, request)
	if err != nil || p == nil {
		return at, err
	}
	key := api.Idempotency{Key: "answer:" + request}
	var result api.RespondResult
	if p.Question != nil {
		params := api.QuestionRespondParams{Idempotency: key, SessionID: id, RequestID: request, Action: "decline"}
		if a.answers != "" {
			params.Action, params.Answers = "accept", a.answers
		}
		err = s.callAs(ctx, c, "question.respond", params, &result)
	} else {
		params := api.PermissionRespondParams{Idempotency: key, SessionID: id, RequestID: request, Behavior: event.ResolvedDeny, Reason: a.reason}
		if a.approved {
			params.Behavior, params.UpdatedInput = event.ResolvedAllow, a.input
		}
		err = s.callAs(ctx, c, "permission.respond", params, &result)
	}
	if err != nil && session.FailureOf(err).Reason == api.Conflict {
		err = nil
	}
	return at, err
}

// openRequest returns an open request, or nil.
func (s *Server) openRequest(ctx context.Context, c *caller, id, request string) (*event.Prompt, error) {
	list, err := session.Of[session.Requests](s.sessions).List(withCaller(ctx, c), api.PermissionListParams{SessionID: id})
	for _, p := range list.Prompts {
		if p.Prompt.RequestID() == request {
			return &p.Prompt, err
		}
	}
	return nil, err
}
