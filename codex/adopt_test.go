package codex_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/internal/test/kept"
)

// keptLines returns lines between a client and a server; those of the client begin with "> ".
func keptLines(texts ...string) (lines []kept.Line) {
	for _, text := range texts {
		rest, input := strings.CutPrefix(text, "> ")
		lines = append(lines, kept.Line{Input: input, Text: rest})
	}
	return lines
}

const (
	helloCall   = `> {"id":1,"method":"initialize","params":{"clientInfo":{"name":"n","version":"1"}}}`
	helloAnswer = `{"id":1,"result":{"userAgent":"codextest/0.166.0"}}`
	openAnswer  = `{"id":2,"result":{"thread":{"id":"t"}}}`
)

// adopted adopts a server with these lines.
func adopted(t *testing.T, o codex.Options, lines ...string) (*codex.Client, *kept.Process, error) {
	t.Helper()
	p := kept.New(t, keptLines(lines...))
	c, err := codex.Adopt(t.Context(), &o, codex.Adoption{Process: p, Last: p.Last()})
	return c, p, err
}

// TestAdopt_thread checks that each call that opens a thread is restored, and that a thread whose call failed is not there.
func TestAdopt_thread(t *testing.T) {
	for _, method := range []string{"thread/start", "thread/resume", "thread/fork"} {
		for answer, want := range map[string]error{openAnswer: nil, `{"id":2,"error":{"code":-32600,"message":"no"}}`: codex.ErrNoThread} {
			synctest.Test(t, func(t *testing.T) {
				c, _, err := adopted(t, codex.Options{}, helloCall, helloAnswer, `> {"id":2,"method":"`+method+`","params":{"threadId":"t"}}`, answer)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if th, err := c.Thread(t.Context(), "t"); !errors.Is(err, want) || err == nil && th.ID() != "t" {
					t.Errorf("%s, answered with %s: the thread is %v, %v; want %v", method, answer, th, err, want)
				}
			})
		}
	}
}

// TestAdopt_handshake checks that Adopt reports at once that the lines have no handshake, or a refused one, and ends the server.
func TestAdopt_handshake(t *testing.T) {
	for name, lines := range map[string][]string{
		"none":     {`{"method":"configWarning","params":{"summary":"odd"}}`},
		"open":     {helloCall},
		"refused":  {helloCall, `{"id":1,"error":{"code":-32600,"message":"no"}}`},
		"of other": {`> {"id":1,"method":"model/list"}`, helloAnswer},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, p, err := adopted(t, codex.Options{}, lines...)
			if _, ok := errors.AsType[*codex.HandshakeError](err); !ok || errors.Is(err, context.DeadlineExceeded) || !p.Ended() {
				t.Errorf("%s: Adopt returns %v, and the server has ended: %v; want a handshake error without a wait", name, err, p.Ended())
			}
		})
	}
}

// TestAdopt_asks checks which requests of the earlier lines are asked again.
func TestAdopt_asks(t *testing.T) {
	const ask = `{"id":5,"method":"item/commandExecution/requestApproval","params":{"threadId":"t","turnId":"u","itemId":"c","command":"ls"}}`
	ended := func(turn string) string {
		return `{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"` + turn + `","status":"interrupted"}}}`
	}
	for name, tt := range map[string]struct {
		line string
		want int
	}{
		"an open one":             {`{"method":"configWarning","params":{"summary":"odd"}}`, 1},
		"answered":                {`> {"id":5,"result":{"decision":"accept"}}`, 0},
		"resolved by another one": {`{"method":"serverRequest/resolved","params":{"threadId":"t","requestId":5}}`, 0},
		"of a turn that ended":    {ended("u"), 0},
		"another turn ended":      {ended("v"), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			o := codex.Options{Approve: func(context.Context, *codex.Approval) (codex.Decision, error) {
				asked++
				return codex.Decline, nil
			}}
			c, _, err := adopted(t, o, helloCall, helloAnswer, `> {"id":2,"method":"thread/resume","params":{"threadId":"t"}}`, openAnswer, ask, tt.line)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			synctest.Wait()
			if asked != tt.want {
				t.Errorf("%s: the callback is called %d times, want %d", name, asked, tt.want)
			}
		})
	}
}
