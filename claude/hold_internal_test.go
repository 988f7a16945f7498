package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
)

// heldConn is a CLI that writes the lines which the test puts into out.
type heldConn struct {
	out    chan string
	closed chan struct{} // the input
	once   sync.Once
}

func (c *heldConn) Connect(context.Context) (Conn, error) { return c, nil }

func (c *heldConn) Read(context.Context) (json.RawMessage, error) {
	line, ok := <-c.out
	if !ok {
		return nil, io.EOF
	}
	return json.RawMessage(line), nil
}

func (c *heldConn) Write(_ context.Context, line json.RawMessage) error {
	var l struct {
		RequestID string `json:"request_id"`
		Request   struct{ Subtype string }
	}
	if json.Unmarshal(line, &l) == nil && l.Request.Subtype == "initialize" {
		c.out <- fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"claude_code_version":"2.1.325"}}}`, l.RequestID)
	}
	return nil
}

func (c *heldConn) CloseWrite() error {
	c.once.Do(func() { close(c.closed); close(c.out) })
	return nil
}

func (c *heldConn) Close() error { return c.CloseWrite() }

func (c *heldConn) open() bool {
	synctest.Wait()
	select {
	case <-c.closed:
		return false
	default:
		return true
	}
}

// startHeld starts a session like Options with callbacks do.
func startHeld(t *testing.T, out sink) (*session, *heldConn) {
	c := &heldConn{out: make(chan string, 100), closed: make(chan struct{})}
	s, err := startSession(t.Context(), unchecked(&Options{Transport: c, Logger: slog.New(slog.DiscardHandler)}), out, true)
	if err != nil {
		t.Fatal(err)
	}
	<-s.ready
	return s, c
}

func TestCloseStreamWithOpenRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := startHeld(t, &query{box: newLineQueue(nil)})
		defer s.close()
		if err := s.prompt(t.Context(), promptLine{whole: []byte(`{"type":"user"}`)}); err != nil {
			t.Fatal(err)
		}
		s.noMoreInput()
		c.out <- runEndLines["running"]
		c.out <- runEndLines["init"]
		if !c.open() {
			t.Fatal("closed in the turn")
		}
		c.out <- runEndLines["result"]
		if !c.open() {
			t.Fatal("closed before idle")
		}
		c.out <- runEndLines["idle"]
		if c.open() {
			t.Fatal("open behind the run")
		}
	})
}

func TestCloseClientWithOpenTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &Client{r: newRouter(), sending: make(chan struct{}, 1)}
		s, c := startHeld(t, client.r)
		client.s = s
		defer s.close()
		a, err := client.Send(t.Context(), Text("a"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := client.Send(t.Context(), Text("b"))
		if err != nil {
			t.Fatal(err)
		}
		if err := client.CloseInput(); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Send(t.Context(), Text("c")); err == nil {
			t.Fatal("sent behind the end")
		}
		// The session is idle after a result, while the CLI has not read the second
		// prompt.
		c.out <- fmt.Sprintf(`{"type":"result","subtype":"success","user_message_uuid":%q}`, a.ID)
		c.out <- runEndLines["idle"]
		if !c.open() {
			t.Fatal("closed before the second turn")
		}
		c.out <- fmt.Sprintf(`{"type":"result","subtype":"success","user_message_uuid":%q}`, b.ID)
		if c.open() {
			t.Fatal("open behind the last turn")
		}
	})
}
