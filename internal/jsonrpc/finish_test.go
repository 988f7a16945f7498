package jsonrpc

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// written collects what a Conn writes until it closes its output.
type written struct{ strings.Builder }

func (*written) Close() error { return nil }

// TestFinishTime checks that requests before the end of the stream are answered within the time of the options, and
// that the end of the stream ends the handlers of all other requests at once.
func TestFinishTime(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":1,"method":"slow"}` + "\n"
	const answer = `{"jsonrpc":"2.0","id":1,"result":"done"}`
	for name, tt := range map[string]struct {
		finish, needs, ends time.Duration
		endless             bool
		want                string
	}{
		"in time":        {time.Minute, time.Second, time.Second, false, answer},
		"too late":       {time.Minute, time.Hour, time.Minute, false, ""},
		"endless":        {time.Minute, time.Second, 0, true, ""},
		"without a time": {0, time.Second, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out written
				begin := time.Now()
				c := New(strings.NewReader(request), &out, Options{FinishTime: tt.finish, Endless: func(*Message) bool { return tt.endless },
					Handle: func(ctx context.Context, _ *Message) (any, error) {
						select {
						case <-time.After(tt.needs):
							return "done", nil
						case <-ctx.Done():
							return nil, ctx.Err()
						}
					}})
				if err := c.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begin); took != tt.ends {
					t.Errorf("the connection ended after %v, want %v", took, tt.ends)
				}
				if got := strings.TrimSpace(out.String()); got != tt.want {
					t.Errorf("it wrote %q, want %q", got, tt.want)
				}
				if c.Err() != io.EOF {
					t.Errorf("the reason is %v, want EOF", c.Err())
				}
			})
		})
	}
}
