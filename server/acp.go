package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"

	"go.opentelemetry.io/otel/propagation"

	"github.com/seed7221b0f9/parley/acp/acphttp"
	"github.com/seed7221b0f9/parley/acp/editor"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/client/serveragent"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// acpRoutes are the addresses of the Agent Client Protocol. Actions of a client are calls of methods, with
// their rights, limits and audit rows.
func acpRoutes() []route {
	return []route{{&method{name: "acp", role: roleViewer, scope: unlinked, tenancy: ofTenant, audit: unaudited, body: maxBody}, "/acp", (*Server).acp}}
}

// acpBody limits a message of an ACP client, in bytes.
const acpBody = 16 << 20

// acp serves a request of an ACP client, or its WebSocket. A connection belongs to a token and ends
// with it.
func (s *Server) acp(w http.ResponseWriter, r *http.Request, c *caller, m *method) error {
	own := *c.principal
	who := &caller{principal: &own}
	if r.Method == http.MethodGet { // a stream or a WebSocket
		release, err := s.connection(r)
		if err != nil {
			return err
		}
		defer release()
	}
	return s.remoteACP.Serve(w, r, acphttp.Client{
		Owner: c.id, MaxBody: min(s.limit(c, m), acpBody),
		Agent: func(ctx context.Context, in io.Reader, out io.WriteCloser) error {
			return editor.Serve(ctx, in, out, editor.Options{
				Provider: &serveragent.Provider{Client: &local{s, who}}, Name: "parley", Title: "Parley", Version: s.opts.Version, Remote: true, Logger: s.logger,
			})
		},
		Open: func() (context.Context, func(), error) { return s.openACP(r, who) },
	})
}

// openACP reserves a place for a connection. The context ends with the token and with the server.
func (s *Server) openACP(r *http.Request, c *caller) (context.Context, func(), error) {
	leave, ok := s.acpClients.enter(c.id)
	if !ok {
		return nil, nil, &httpError{http.StatusTooManyRequests, &session.Failure{Reason: api.LimitReached, Message: "there are too many ACP connections with this token"}}
	}
	ctx := s.tracer.From(context.WithoutCancel(r.Context()), propagation.HeaderCarrier(r.Header))
	held, release := s.tokens.hold(ctx, c.principal)
	held, cancel := context.WithCancel(held)
	stop := context.AfterFunc(s.ctx, cancel)
	return held, func() {
		stop()
		cancel()
		release()
		leave()
	}, nil
}

// maxACPClients is the maximum number of ACP connections of one token.
const maxACPClients = 64

// local calls the methods of the server for a caller in the same process.
type local struct {
	srv *Server
	who *caller
}

// failure converts an error of a method for an ACP client.
func failure(err error) error {
	if err == nil || isCancelled(err) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	status, ok := statuses[session.FailureOf(err).Reason]
	if !ok {
		status = http.StatusBadRequest
	}
	return &client.Error{Status: status, ErrorObject: errorObject(err)}
}

// Call calls a method.
func (l *local) Call(ctx context.Context, method string, params, result any) error {
	if result == nil {
		result = new(json.RawMessage)
	}
	return failure(l.srv.callAs(ctx, l.who, method, params, result))
}

// Follow yields the messages of a session, like those of a socket.
func (l *local) Follow(ctx context.Context, id string, after *api.Cursor) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		if err := l.follow(ctx, id, after, func(ev client.Event) bool { return yield(ev, nil) }); err != nil {
			yield(client.Event{}, failure(err))
		}
	}
}

func (l *local) follow(ctx context.Context, id string, after *api.Cursor, yield func(client.Event) bool) error {
	if _, err := l.srv.method(l.who, "session.attach"); err != nil {
		return err
	}
	v, attached, end, err := l.srv.sessions.Watch(withCaller(ctx, l.who), id, after, session.Capabilities{})
	if err != nil {
		return err
	}
	defer end()
	if !yield(client.Event{Attached: &attached}) {
		return nil
	}
	var decoder event.Decoder
	for {
		items, err := v.Next(ctx)
		if errors.Is(err, session.ErrResync) {
			if attached, err = v.Resync(ctx); err == nil {
				decoder = event.Decoder{}
				if !yield(client.Event{Attached: &attached}) {
					return nil
				}
				continue
			}
		}
		if err != nil {
			return err
		}
		for _, it := range items {
			envelope, events, err := api.DecodeEnvelope(&decoder, v.Envelope(it))
			if err != nil {
				return err
			}
			if !yield(client.Event{Envelope: envelope, Events: events}) {
				return nil
			}
		}
	}
}
