package acphttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/acp/acphttp"
)

// playWS plays a recording over WebSocket.
func playWS(t *testing.T, lines []record) {
	agents := &scripts{t: t, list: wsScripts(lines)}
	h := acphttp.New(acphttp.Options{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/acp" {
			http.Error(w, "Not Found", http.StatusNotFound)
			return
		}
		if err := h.Serve(w, r, acphttp.Client{Agent: agents.agent}); err != nil {
			t.Error(err)
		}
	}))
	p := &wsPlayer{t: t, h: h, url: srv.URL, conns: map[int]*websocket.Conn{}, failed: map[int]int{}}
	t.Cleanup(func() {
		for _, c := range p.conns {
			_ = c.CloseNow()
		}
		h.Close()
		srv.Close()
	})
	for i, l := range lines {
		if p.play(lines, i); t.Failed() {
			t.Fatalf("at line %d: %s of connection %d", i+1, l.What, l.Connection)
		}
	}
}

// wsScripts returns the agents of a recording. Invalid or forbidden messages do not reach them.
func wsScripts(lines []record) (list [][]step) {
	place, begun := map[int]int{}, map[int]bool{}
	for _, l := range lines {
		if l.What == "answer" && strings.Contains(l.Line, " 101 ") {
			place[l.Connection] = len(list)
			list = append(list, nil)
		}
		if l.What != "text" {
			continue
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Error  struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		object := json.Unmarshal(l.Data, &m) == nil && strings.HasPrefix(string(l.Data), "{")
		own := string(m.ID) == "null" || m.Error.Message == "Initialize not allowed on existing connection"
		again := m.Method == "initialize" && begun[l.Connection]
		switch {
		case !object || l.From == "server" && own || l.From == "client" && again:
			continue
		case m.Method == "initialize":
			begun[l.Connection] = true
		}
		list[place[l.Connection]] = append(list[place[l.Connection]], step{in: l.From == "client", line: string(l.Data)})
	}
	return list
}

// wsPlayer is a WebSocket client that repeats a recording.
type wsPlayer struct {
	t      *testing.T
	h      *acphttp.Handler
	url    string
	conns  map[int]*websocket.Conn
	failed map[int]int // statuses of failed upgrades
}

func (p *wsPlayer) play(lines []record, i int) {
	t, l := p.t, lines[i]
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	c := p.conns[l.Connection]
	switch {
	case l.What == "upgrade":
		p.dial(ctx, l)
	case l.What == "answer":
		p.answer(l)
	case l.From == "client" && l.What == "text":
		var text string
		if json.Unmarshal(l.Data, &text) != nil {
			text = string(l.Data)
		}
		if err := c.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			t.Error(err)
		}
	case l.From == "client" && l.What == "binary":
		if err := c.Write(ctx, websocket.MessageBinary, []byte{1, 2, 3}); err != nil {
			t.Error(err)
		}
	case l.From == "server" && l.What == "text":
		_, data, err := c.Read(ctx)
		if err != nil || canonical(string(data)) != canonical(string(l.Data)) {
			t.Errorf("the message is %s (%v), want %s", data, err, l.Data)
		}
	case l.What == "close":
		p.close(ctx, lines, i)
	case l.What == "ping", l.What == "pong", l.What == "tcp closed by the client side":
	default:
		t.Errorf("%q is not known", l.What)
	}
}

func (p *wsPlayer) dial(ctx context.Context, l record) {
	header := http.Header{}
	var protocols []string
	for name, value := range l.Headers {
		switch strings.ToLower(name) {
		case "sec-websocket-protocol":
			protocols = strings.Split(value, ",")
		case "authorization", "cookie":
			header.Set(name, value)
		}
	}
	_, path, _ := strings.Cut(l.Line, " ")
	path, _, _ = strings.Cut(path, " ")
	c, resp, err := websocket.Dial(ctx, p.url+path, &websocket.DialOptions{HTTPHeader: header, Subprotocols: protocols})
	if err != nil {
		if resp == nil {
			p.t.Error(err)
			return
		}
		p.failed[l.Connection] = resp.StatusCode
		return
	}
	c.SetReadLimit(-1)
	p.conns[l.Connection] = c
	if resp.Header.Get(acphttp.HeaderConnection) == "" {
		p.t.Error("the answer has no id of the connection")
	}
	if len(protocols) > 0 && c.Subprotocol() != strings.TrimSpace(protocols[0]) {
		p.t.Errorf("the protocol is %q, want %q", c.Subprotocol(), protocols[0])
	}
}

func (p *wsPlayer) answer(l record) {
	accepted := strings.Contains(l.Line, " 101 ")
	if accepted != (p.conns[l.Connection] != nil) {
		p.t.Errorf("the upgrade ended with %d, recorded %s", p.failed[l.Connection], l.Line)
	}
	if status := p.failed[l.Connection]; !accepted && !strings.Contains(l.Line, http.StatusText(status)) {
		p.t.Errorf("the status is %d, recorded %s", status, l.Line)
	}
}

// close closes the socket or waits for its end, depending on which side has closed it in the
// recording.
func (p *wsPlayer) close(ctx context.Context, lines []record, i int) {
	l, first := lines[i], true
	for _, before := range lines[:i] {
		first = first && !(before.Connection == l.Connection && before.What == "close")
	}
	c := p.conns[l.Connection]
	switch {
	case !first: // the library has answered
	case l.From == "client":
		code := websocket.StatusNoStatusRcvd
		if l.Code != nil {
			code = websocket.StatusCode(*l.Code)
		}
		_ = c.Close(code, l.Reason) // the other side may have disconnected
	default:
		if l.Code == nil {
			go p.h.Close() // the recorded server was closed here
		}
		_, data, err := c.Read(ctx)
		var end websocket.CloseError
		if !errors.As(err, &end) {
			p.t.Errorf("the socket was not closed: %s %v", data, err)
			return
		}
		want := websocket.StatusGoingAway // the intended code of the official server, which it does not send
		if l.Code != nil {
			want = websocket.StatusCode(*l.Code)
		}
		if end.Code != want || l.Code != nil && end.Reason != l.Reason {
			p.t.Errorf("the socket was closed with %d %q, want %d %q", end.Code, end.Reason, want, l.Reason)
		}
	}
}
