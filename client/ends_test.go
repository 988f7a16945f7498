package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/server/api"
)

// counted is a body that records whether it was closed.
type counted struct {
	io.Reader
	closed *int
}

func (c counted) Close() error {
	*c.closed++
	return nil
}

// TestClosesBodies checks that each response is closed once, whatever it contains: an open one keeps its connection.
func TestClosesBodies(t *testing.T) {
	calls := map[string]func(c *Client) error{
		"a call":           func(c *Client) error { return c.Call(context.Background(), "m", api.Empty{}, &api.Accepted{}) },
		"without a result": func(c *Client) error { return c.Call(context.Background(), "m", api.Empty{}, nil) },
		"metrics": func(c *Client) error {
			_, err := c.Metrics(context.Background())
			return err
		},
		"a backup": func(c *Client) error { return c.Backup(context.Background(), new(bytes.Buffer)) },
	}
	for name, call := range calls {
		for _, answer := range []struct {
			status int
			body   io.Reader
			fails  bool
		}{{200, strings.NewReader("{}"), false}, {400, strings.NewReader("no"), true}, {200, &brokenReader{}, true}} {
			closed := 0
			c := wired(t, Options{}, func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: answer.status, Header: http.Header{}, Body: counted{answer.body, &closed}}, nil
			})
			if err := call(c); (err != nil) != answer.fails {
				t.Errorf("%s with the status %d: %v, want an error: %v", name, answer.status, err, answer.fails)
			}
			if closed != 1 {
				t.Errorf("%s with the status %d: the response is closed %d times, want once", name, answer.status, closed)
			}
		}
	}
}

// TestFollow_ends checks that Follow yields one error, as its last element, and nothing after the caller has left.
func TestFollow_ends(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer func() (*http.Response, error)
		want   error
	}{
		{"its context ends in a pause", func() (*http.Response, error) { return nil, errors.New("broken") }, context.DeadlineExceeded},
		{"its context ends in a request", nil, context.DeadlineExceeded},
		{"it is rejected", func() (*http.Response, error) { return reply(401, ""), nil }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				c := wired(t, Options{}, func(r *http.Request) (*http.Response, error) {
					if tt.answer == nil {
						<-r.Context().Done()
						return nil, r.Context().Err()
					}
					return tt.answer()
				})
				var all []error
				for ev, err := range c.Follow(ctx, "s", nil) {
					if ev.Attached != nil || ev.Events != nil {
						t.Errorf("Follow yields %+v", ev)
					}
					all = append(all, err)
				}
				if len(all) != 1 || all[0] == nil || tt.want != nil && !errors.Is(all[0], tt.want) {
					t.Errorf("Follow yields the errors %v, want one: %v", all, tt.want)
				}
				for range c.Follow(ctx, "s", nil) {
					break
				}
			})
		})
	}
}

// TestFollower_snapshot checks that the message that is being streamed is known after a reconnection without a gap, and forgotten with a snapshot, which
// replaces everything before it.
func TestFollower_snapshot(t *testing.T) {
	envelope := func(msg string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"seq":4,"sub":1,"epoch":"f","session_id":"s","ts":"t","msg":%s}`, msg))
	}
	start := envelope(`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1"}},"parent_tool_use_id":null}`)
	delta := envelope(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}},"parent_tool_use_id":null}`)
	for snapshot, want := range map[string]string{"": "m1", `,"snapshot":{}`: ""} {
		got := "none"
		f := &follower{yield: func(ev Event, _ error) bool {
			for _, e := range ev.Events {
				if d, ok := e.(*event.TextDelta); ok {
					got = d.MessageID
				}
			}
			return true
		}}
		for _, m := range []message{
			{Method: "event", Params: start}, {ID: 2, Result: json.RawMessage(`{"cursor":{"epoch":"e","seq":3},"state":"running"` + snapshot + `}`)}, {Method: "event", Params: delta},
		} {
			if err := f.handle(m); err != nil {
				t.Fatalf("%s%s: %v", m.Method, m.Result, err)
			}
		}
		if got != want {
			t.Errorf("with the snapshot %q a delta belongs to the message %q, want %q", snapshot, got, want)
		}
	}
}

// TestFollower_detached checks that an unreadable reason is not taken for the server's rejection.
func TestFollower_detached(t *testing.T) {
	f := &follower{}
	if err := f.handle(message{Method: "detached", Params: json.RawMessage(`7`)}); err == nil {
		t.Error("an unreadable message is accepted")
	} else if e, ok := errors.AsType[*Error](err); ok {
		t.Errorf("an unreadable message is the rejection %+v", e)
	}
}
