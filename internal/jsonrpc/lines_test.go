package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/internal/test/kept"
)

// TestLines checks a conversation that another process has begun: no earlier line is written again, an earlier call gets its answer,
// and requests without an answer are handled after the last line; a cancelled one gets an ended context.
func TestLines(t *testing.T) {
	past := []kept.Line{
		{Input: true, Text: `{"id":7,"method":"long"}`},
		{Text: `{"id":1,"method":"answered"}`},
		{Text: `{"id":2,"method":"open"}`},
		{Text: `{"id":3,"method":"cancelled"}`},
		{Text: `{"id":4,"method":"withdrawn"}`},
		{Text: `not JSON`},
		{Input: true, Text: `{"id":1,"result":1}`},
		{Text: `{"method":"$/cancel","params":{"requestId":3}}`},
	}
	synctest.Test(t, func(t *testing.T) {
		p := kept.New(t, past)
		var log []string
		note := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
		var c *Conn
		ready := make(chan struct{})
		c = NewLines(Lines{
			Process: p, Last: p.Last(),
			Begin: func(l Line) {
				<-ready
				if note("begin %d %v %v", l.Number, l.Past, l.Input); l.Text == "not JSON" {
					c.Withdraw("4")
				}
			},
			End: func(l Line) { note("end %d", l.Number) },
			Called: func(m *Message) func(json.RawMessage, error) {
				return func(result json.RawMessage, err error) { note("%s: %s %v", m.Method, result, err) }
			},
			Held: func(m *Message) { note("held %s", m.Method) },
		}, p.Stdin(), Options{Bare: true, CancelMethod: "$/cancel", Handle: func(ctx context.Context, m *Message) (any, error) {
			if m.Method != "cancelled" {
				return m.Line, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		close(ready)
		synctest.Wait()
		<-c.Past()
		written := p.Written()
		slices.Sort(written)
		if got, want := strings.Join(written, " "), `{"id":2,"result":3} {"id":3,"error":{"code":-32800,"message":"Request cancelled"}}`; got != want {
			t.Errorf("written %s, want %s", got, want)
		}
		for _, want := range []string{"begin 1 true true", "held answered", "begin 9 false true"} {
			if !strings.Contains(strings.Join(log, "\n")+"\n", want+"\n") {
				t.Errorf("no %q in %q", want, log)
			}
		}
		log = nil
		p.Add(kept.Line{Text: `{"id":7,"result":"late"}`})
		synctest.Wait()
		if got := strings.Join(log, ", "); got != `begin 11 false false, long: "late" <nil>, end 11` {
			t.Errorf("the answer to a call of the past: %s", got)
		}
		go func() { _, _ = c.Call(t.Context(), "next", nil) }()
		synctest.Wait()
		if w := p.Written(); w[len(w)-1] != `{"id":8,"method":"next"}` {
			t.Errorf("the next call is %s", w[len(w)-1])
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := c.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// namedLines stores the ids of the written lines.
type namedLines struct {
	*kept.Process
	ids []string
}

func (n *namedLines) WriteLine(ctx context.Context, id string, line []byte) error {
	n.ids = append(n.ids, id)
	return n.Process.WriteLine(ctx, id, line)
}

// TestLines_answerOnce checks that two processes that answer the same request use the same id, so
// that the host writes only one of the answers.
func TestLines_answerOnce(t *testing.T) {
	var ids []string
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			p := &namedLines{Process: kept.New(t, []kept.Line{{Text: `{"method":"note"}`}, {Text: `{"id":1,"method":"open"}`}})}
			c := NewLines(Lines{Process: p, Last: p.Last()}, p.Stdin(), Options{})
			synctest.Wait()
			ids = append(ids, p.ids...)
			_ = c.Close() // ends the process
			if err := c.Wait(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	if len(ids) != 2 || ids[0] != ids[1] {
		t.Errorf("the ids of the answers are %q, want the same one twice", ids)
	}
}

// TestLines_end checks that a call waits until the earlier lines have been read, and that this wait
// ends with the connection.
func TestLines_end(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := kept.New(t, nil)
		c := NewLines(Lines{Process: p, Last: 5}, p.Stdin(), Options{})
		failed := make(chan error, 1)
		go func() {
			_, err := c.Call(context.Background(), "x", nil)
			failed <- err
		}()
		synctest.Wait()
		if w := p.Written(); len(w) != 0 {
			t.Errorf("written %q before the past was read", w)
		}
		_ = p.Kill()
		if err := <-failed; err == nil {
			t.Error("a call after the end succeeded")
		}
		<-c.Past()
		_ = c.Close()
		if err := c.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
