package claude_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
)

const bashCall = `{"type":"assistant","message":{"id":"msg_0001","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]},"parent_tool_use_id":null,` + session + `}`

const bashResult = `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"ok"}]},"parent_tool_use_id":null,` + session + `}`

// withDeadlines is withClient for a client with these deadlines.
func withDeadlines(t *testing.T, d claude.Deadlines, f func(t *testing.T, cli *memCLI, client *claude.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		cli.answers(map[string]string{"interrupt": `{"still_queued":[]}`, "cancel_async_message": `{"cancelled":true}`})
		opts := cli.options()
		opts.Deadlines = d
		client := cli.connect(opts)
		defer client.Close()
		f(t, cli, client)
	})
}

func wantStalled(t *testing.T, err error, phase string, since time.Duration) *claude.StalledError {
	t.Helper()
	stalled, ok := errors.AsType[*claude.StalledError](err)
	if !ok || stalled.Phase != phase || stalled.Since != since {
		t.Fatalf("got %v", err)
	}
	return stalled
}

func TestSilenceEndsTurnNotSession(t *testing.T) {
	withDeadlines(t, claude.Deadlines{SilenceTimeout: time.Minute}, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a := send(t, client, "a")
		s := collect(a.Messages(t.Context()))
		cli.say(lifecycle(a.ID, "started"), initLine(a.ID))
		within(t, 50*time.Second)
		cli.say(bashCall)
		within(t, 59*time.Second)
		s.running(t)
		within(t, time.Second)
		stalled := wantStalled(t, s.ended(t), "silence", time.Minute)
		if stalled.LastEvent != "assistant" || stalled.InFlightTool != "Bash" || !strings.Contains(stalled.Error(), "Bash") {
			t.Errorf("%+v; want stalled.LastEvent == \"assistant\" and stalled.InFlightTool == \"Bash\" and strings.Contains(stalled.Error(), \"Bash\")", stalled)
		}
		if _, err := a.Wait(t.Context()); err != error(stalled) {
			t.Error(err)
		}
		if kinds := cli.kinds(); kinds[len(kinds)-1] != "interrupt" {
			t.Fatalf("kinds is %v; want kinds[len(kinds)-1] == \"interrupt\"", kinds)
		}
		// Its remaining messages belong to no turn, and the next prompt waits for its
		// end.
		q := collect(client.Query(t.Context(), "b"))
		cli.say(assistant("late"))
		if kinds := cli.kinds(); kinds[len(kinds)-1] != "interrupt" {
			t.Fatalf("kinds is %v; want kinds[len(kinds)-1] == \"interrupt\"", kinds)
		}
		cli.say(bad("interrupted", a.ID))
		cli.say(turnLines(lastUUID(cli), "B")...)
		q.want(t, "lifecycle:started", "system/init", "assistant:B", "result:B")
		q.ended(t)
		within(t, time.Hour) // no call is waiting
		if err := client.Control(t.Context(), "interrupt", nil, nil); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSilencePausesDuringRequest(t *testing.T) {
	withDeadlines(t, claude.Deadlines{SilenceTimeout: time.Minute}, func(t *testing.T, cli *memCLI, client *claude.Client) {
		a := send(t, client, "a")
		s := collect(a.Messages(t.Context()))
		cli.say(initLine(a.ID))
		synctest.Wait()
		cli.stuck()
		cli.say(questionLine("r1", "elicitation"))
		within(t, time.Hour)
		s.running(t)
		cli.unstuck()
		within(t, 59*time.Second)
		s.running(t)
		within(t, time.Second)
		wantStalled(t, s.ended(t), "silence", time.Minute)
	})
}

func TestFirstMessageTimeout(t *testing.T) {
	withDeadlines(t, claude.Deadlines{FirstMessageTimeout: time.Minute}, func(t *testing.T, cli *memCLI, client *claude.Client) {
		within(t, time.Hour)
		a, b := send(t, client, "a"), send(t, client, "b")
		cli.say(lifecycle(a.ID, "started"), initLine(a.ID))
		within(t, time.Hour) // only the turn that runs counts, and b waits for it
		cli.say(good("A", a.ID))
		if _, err := a.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := collect(b.Messages(t.Context()))
		within(t, 59*time.Second)
		s.running(t)
		within(t, time.Second)
		wantStalled(t, s.ended(t), "first message", time.Minute)
		if kinds := cli.kinds(); kinds[len(kinds)-1] != "cancel_async_message" {
			t.Fatalf("kinds is %v; want kinds[len(kinds)-1] == \"cancel_async_message\"", kinds)
		}
		send(t, client, "c")
	})
}

func TestStallOfAQueryStopsTheCLI(t *testing.T) {
	for phase, lines := range map[string][]string{"first message": nil, "silence": {initLine(), assistant("half")}} {
		synctest.Test(t, func(t *testing.T) {
			cli, s := query(t, func(o *claude.Options) { o.FirstMessageTimeout, o.SilenceTimeout = time.Minute, time.Minute })
			cli.say(lines...)
			within(t, time.Minute)
			wantStalled(t, s.ended(t), phase, time.Minute)
			if _, _, closes := cli.counts(); closes == 0 {
				t.Error("the CLI was not stopped")
			}
		})
	}
}

func TestQuerySilenceIgnoresBackgroundTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli, s := query(t, func(o *claude.Options) { o.SilenceTimeout = time.Minute })
		cli.say(state("running"), initLine(), tasks("x"), good("a"), state("idle"))
		within(t, 9*time.Minute)
		s.running(t)
		cli.say(state("running"), tasks(), initLine())
		within(t, time.Minute)
		wantStalled(t, s.ended(t), "silence", time.Minute)
	})
}

func TestControlTimeoutNamesLastMessage(t *testing.T) {
	withDeadlines(t, claude.Deadlines{SilenceTimeout: -1, ControlTimeout: time.Minute}, func(t *testing.T, cli *memCLI, client *claude.Client) {
		cli.say(state("idle"))
		err := client.Control(t.Context(), "never_answered", nil, nil)
		if stalled := wantStalled(t, err, "control request never_answered", time.Minute); stalled.LastEvent != "system/session_state_changed" {
			t.Errorf("%+v; want stalled.LastEvent == \"system/session_state_changed\"", stalled)
		}
	})
}

func TestSilenceIgnoresSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cli := newCLI(t)
		opts := cli.options()
		opts.MaxBuffered, opts.SilenceTimeout = 1<<10, time.Minute
		client := cli.connect(opts)
		defer client.Close()
		turn := send(t, client, "a")
		next := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			for m, err := range turn.Messages(t.Context()) {
				if err != nil {
					done <- err
					return
				}
				if label(m) == "system/init" {
					<-next
				}
			}
			done <- nil
		}()
		cli.say(initLine(turn.ID))
		for range 100 {
			cli.say(assistant(strings.Repeat("x", 100)))
		}
		within(t, time.Hour)
		cli.say(good("A", turn.ID))
		close(next)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}
