package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed7221b0f9/parley/server/api"
)

// TestFollow_cursor checks that a connection starts exactly at the end of the previous one: after the
// last message, also in the middle of deltas, or at the position of a resync.
func TestFollow_cursor(t *testing.T) {
	attached := `{"jsonrpc":"2.0","id":2,"result":{"cursor":{"epoch":"e","seq":3,"sub":2},"state":"idle"}}`
	event := func(seq, sub int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"event","params":{"seq":%d,"sub":%d,"epoch":"f","session_id":"s-1","ts":"t","msg":{"type":"notice","severity":"info","text":"x"}}}`, seq, sub)
	}
	for name, c := range map[string]struct {
		sent []string
		want api.Cursor
	}{
		"attached":          {[]string{attached}, api.Cursor{Epoch: "e", Seq: 3, Sub: 2}},
		"a durable message": {[]string{attached, event(4, 0)}, api.Cursor{Epoch: "f", Seq: 4}},
		"a delta":           {[]string{attached, event(4, 0), event(4, 7)}, api.Cursor{Epoch: "f", Seq: 4, Sub: 7}},
		"a resync":          {[]string{attached, event(4, 7), `{"jsonrpc":"2.0","method":"resync","params":{"cursor":{"epoch":"g","seq":9,"sub":1},"state":"idle"}}`}, api.Cursor{Epoch: "g", Seq: 9, Sub: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var connections atomic.Int32
			again := make(chan *api.Cursor, 10)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer conn.CloseNow()
				var attach struct{ Params api.AttachParams }
				for range 2 {
					_, data, err := conn.Read(ctx)
					if err != nil || json.Unmarshal(data, &attach) != nil {
						return
					}
				}
				if connections.Add(1) > 1 {
					again <- attach.Params.After
					return
				}
				for _, text := range c.sent {
					if conn.Write(ctx, websocket.MessageText, []byte(text)) != nil {
						return
					}
				}
				_ = conn.Close(websocket.StatusGoingAway, "")
			}))
			defer s.Close()
			client, err := New(Options{URL: s.URL, Token: "secret", Retry: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			over := make(chan struct{})
			go func() {
				defer close(over)
				for range client.Follow(ctx, "s-1", nil) {
				}
			}()
			select {
			case got := <-again:
				if got == nil || *got != c.want {
					t.Errorf("the next connection begins at %+v, want %+v", got, c.want)
				}
			case <-ctx.Done():
				t.Error("there is no second connection")
			}
			cancel()
			<-over
		})
	}
}

// TestFinal checks for each reason of a server whether a retry can help.
func TestFinal(t *testing.T) {
	again := map[api.Reason]bool{"": true, api.Draining: true, api.NotConnected: true, api.TooSlow: true, api.LimitReached: true}
	for _, reason := range []api.Reason{"", api.NotConnected, api.SessionExpired, api.AuthFailed, api.CLINotFound, api.NodeNotFound, api.InvalidParams, api.Conflict, api.TooSlow,
		api.Resync, api.NotOwner, api.Draining, api.LimitReached, api.Unsupported, api.BudgetExceeded, "of a newer server"} {
		err := &Error{ErrorObject: api.ErrorObject{Data: api.ErrorData{Reason: reason}}}
		if got := final(err); got == again[reason] {
			t.Errorf("Follow gives up after %q: %v, want %v", reason, got, !again[reason])
		}
	}
	if final(errors.New("the connection broke")) {
		t.Error("Follow gives up when a connection breaks")
	}
}
