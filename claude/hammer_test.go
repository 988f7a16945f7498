package claude_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// echoCLI returns a CLI that answers each prompt with its text, one at a time, and every
// control request. If named is set, its messages name the prompts of their turn.
func echoCLI(t *testing.T, named bool) *memCLI {
	cli := newCLI(t)
	prompts := make(chan string, 10000)
	cli.onLine = func(line string) {
		l := parse(line)
		switch {
		case cli.answerInitialize(line):
		case l.Type == "control_request" && l.Request.Subtype == "cancel_async_message":
			cli.say(answer(l.RequestID, `{"cancelled":false}`))
		case l.Type == "control_request":
			cli.say(answer(l.RequestID, `{}`))
		case l.Type == "user":
			prompts <- line
		}
	}
	done := make(chan struct{})
	t.Cleanup(func() { close(prompts); <-done })
	go func() {
		defer close(done)
		for line := range prompts {
			_, text, _ := strings.Cut(line, `"text":"`)
			text, _, _ = strings.Cut(text, `"`)
			if named {
				cli.say(turnLines(parse(line).UUID, text)...)
			} else {
				cli.say(initLine(), assistant(text), good(text))
			}
		}
	}()
	return cli
}

func TestConcurrentSendsGetTheirOwnAnswers(t *testing.T) {
	for _, named := range []bool{true, false} {
		cli := echoCLI(t, named)
		client := cli.connect(cli.options())
		var work sync.WaitGroup
		for g := range 16 {
			work.Go(func() {
				for i := range 20 {
					prompt := fmt.Sprint("prompt ", g, " ", i)
					turn, err := client.Send(t.Context(), claude.Text(prompt))
					if err != nil {
						t.Error(err)
						return
					}
					if r, err := turn.Wait(t.Context()); err != nil || r.Result != prompt {
						t.Errorf("named %v: %s gave %v, %v", named, prompt, r, err)
					}
				}
			})
		}
		work.Wait()
		client.Close()
	}
}

// hammer uses a client from many goroutines.
func hammer(t *testing.T, client *claude.Client) error {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stop := time.AfterFunc(time.Duration(rand.IntN(2000))*time.Microsecond, cancel)
	defer stop.Stop()
	switch rand.IntN(6) {
	case 0, 1:
		n := rand.IntN(6)
		for m, err := range client.Query(ctx, "q") {
			if err != nil {
				return err
			}
			if n--; n < 0 || m == nil {
				break
			}
		}
		return nil
	case 2:
		turn, err := client.Send(ctx, claude.Text("s"))
		if err != nil {
			return err
		}
		return turn.Cancel(ctx)
	case 3:
		for _, err := range client.Messages(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	case 4:
		_, err := client.Interrupt(ctx)
		return err
	default:
		client.ServerInfo()
		client.SessionID()
		return client.Control(ctx, "mcp_status", nil, nil)
	}
}

func TestEveryMethodFromManyGoroutinesWhileTheClientCloses(t *testing.T) {
	short.SkipQuick(t, "closes many clients")
	for range 10 {
		cli := echoCLI(t, true)
		client := cli.connect(cli.options())
		var work sync.WaitGroup
		for range 16 {
			work.Go(func() {
				for range 40 {
					err := hammer(t, client)
					if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, claude.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
		work.Go(func() {
			<-time.After(time.Duration(rand.IntN(30)) * time.Millisecond)
			client.Close()
		})
		work.Wait()
		client.Close()
		if err := client.Wait(); err != nil {
			t.Error(err)
		}
	}
}
