package claude_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/internal/test/short"
)

// cliControlEcho answers every request with its number, sometimes twice, and stops
// answering at some point.
func cliControlEcho(cli *claudetest.CLI) int {
	left := atomic.Int64{}
	left.Store(int64(cliCount(cli)))
	cli.OnControl("echo", func(req claudetest.ControlRequest) (any, error) {
		var body struct{ N int }
		if err := req.Request.Decode(&body); err != nil {
			return nil, err
		}
		if left.Add(-1) < 0 {
			return nil, claudetest.ErrNoAnswer
		}
		if rand.IntN(16) == 0 {
			cli.Respond(req.ID, body, nil)
		}
		return body, nil
	})
	if _, err := cli.Handshake(); err != nil {
		return 1
	}
	<-cli.InputEnd()
	return 0
}

// roundTrips counts the outcomes of control requests.
type roundTrips struct{ answered, cancelled, killed atomic.Int64 }

// one makes one round trip, which may be cancelled.
func (r *roundTrips) one(t *testing.T, client *claude.Client, n int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if rand.IntN(8) == 0 {
		stop := time.AfterFunc(time.Duration(rand.IntN(2000))*time.Microsecond, cancel)
		defer stop.Stop()
	}
	var got struct{ N int }
	err := client.Control(ctx, "echo", map[string]int{"N": n}, &got)
	exit, dead := errors.AsType[*claude.ExitError](err)
	switch {
	case err == nil && got.N == n:
		r.answered.Add(1)
	case errors.Is(err, context.Canceled):
		r.cancelled.Add(1)
	case dead && exit.Signal == "SIGKILL":
		r.killed.Add(1)
	default:
		t.Errorf("request %d gave %d, %v", n, got.N, err)
	}
}

// Each of many requests ends exactly once: with its answer, its cancellation, or the
// death of the process.
func TestControlRequestsEndOnce(t *testing.T) {
	short.SkipLong(t, "starts many processes")
	const callers, each = 64, 160
	opts := claudetest.FakeCLI("control-echo")
	opts.Env["COUNT"] = "9000"
	client, err := claude.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	process, err := os.FindProcess(client.View().PID)
	if err != nil {
		t.Fatal(err)
	}
	var trips roundTrips
	var work sync.WaitGroup
	ended := make(chan struct{}, callers*each)
	for c := range callers {
		work.Go(func() {
			for i := range each {
				trips.one(t, client, c*each+i)
				ended <- struct{}{}
			}
		})
	}
	for range 8500 { // the CLI stops answering soon
		<-ended
	}
	if err := process.Kill(); err != nil {
		t.Error(err)
	}
	work.Wait()
	answered, cancelled, killed := trips.answered.Load(), trips.cancelled.Load(), trips.killed.Load()
	if answered+cancelled+killed != callers*each || answered < 5000 || cancelled == 0 || killed == 0 {
		t.Errorf("%d answered, %d cancelled, %d killed of %d", answered, cancelled, killed, callers*each)
	}
	if err := client.Wait(); !errors.As(err, new(*claude.ExitError)) {
		t.Error(err)
	}
}
