package codex_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/codex"
	"github.com/seed7221b0f9/parley/codex/codextest"
	"github.com/seed7221b0f9/parley/codex/item"
	"github.com/seed7221b0f9/parley/internal/test/e2e/codexcli"
)

// balance counts the items that start without an end, or end without a start.
type balance map[string]int

func (b balance) see(n item.Notification) {
	key := item.ThreadOf(n) + " " + n.Head().TurnID + " " + item.ItemOf(n)
	switch n.(type) {
	case *item.ItemStarted:
		b[key]++
	case *item.ItemCompleted, *item.ItemCut:
		b[key]--
	}
}

func (b balance) check(t *testing.T) {
	t.Helper()
	for key, n := range b {
		if n != 0 {
			t.Errorf("item %s: %d starts too many", key, n)
		}
	}
}

// TestLive_interruptStream interrupts in the middle of a message: the partial message is closed with its text.
func TestLive_interruptStream(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		half := codextest.Message("Half a ", "message")
		w.api.Reply(codextest.Stream(codextest.Usage{}, append(half[:2:2], codextest.Event{Wait: make(chan struct{})})...), codextest.Say("Next."))
		th := w.thread(nil)
		turn, err := th.Send(t.Context(), codex.Text("Talk"))
		if err != nil {
			t.Fatal(err)
		}
		b := balance{}
		var cut *item.ItemCut
		for n, err := range turn.Notifications(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			b.see(n)
			switch n := n.(type) {
			case *item.AgentMessageDelta:
				if err := turn.Interrupt(t.Context()); err != nil {
					t.Error(err)
				}
			case *item.ItemCut:
				cut = n
			}
		}
		b.check(t)
		r, err := turn.Wait(t.Context())
		if !errors.Is(err, codex.ErrInterrupted) || r.Status != item.StatusInterrupted {
			t.Errorf("%+v, %v; want errors.Is(err, codex.ErrInterrupted) and r.Status == item.StatusInterrupted", r, err)
		}
		if cut == nil || cut.Reason != item.CutTurnEnded || cut.Item.(*item.AgentMessage).Text != "Half a " {
			t.Errorf("cut %+v", cut)
		}
		if r := w.run(th, "Go on"); r.Text != "Next." {
			t.Errorf("the next turn: %q", r.Text)
		}
	})
}

// TestLive_interruptEarly interrupts at the first notification of a turn: the server may report that no turn runs yet.
func TestLive_interruptEarly(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		for _, first := range []string{"turn/started", "item/started", "sent"} {
			t.Run(first, func(t *testing.T) {
				w := live(t, version, nil)
				half := codextest.Message("Half a ", "message")
				w.api.Reply(codextest.Stream(codextest.Usage{}, append(half[:2:2], codextest.Event{Wait: make(chan struct{})})...))
				turn, err := w.thread(nil).Send(t.Context(), codex.Text("Talk"))
				if err != nil {
					t.Fatal(err)
				}
				stop := func() {
					if err := turn.Interrupt(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if first == "sent" {
					stop()
				}
				for n, err := range turn.Notifications(t.Context()) {
					if err != nil {
						t.Fatal(err)
					}
					if item.Method(n) == first {
						stop()
						first = ""
					}
				}
				if _, err := turn.Wait(t.Context()); !errors.Is(err, codex.ErrInterrupted) {
					t.Error(err)
				}
			})
		}
	})
}

func TestLive_interruptCommand(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) { w.decide(codex.Accept) })
		w.api.Reply(codextest.Calls(codextest.EscalatedCommand("call_1", "while sleep 0.1; do echo begun; done", "May I?")))
		th := w.thread(nil)
		b, stopped := balance{}, false
		for n, err := range th.Query(t.Context(), "Sleep") {
			if err != nil {
				if !errors.Is(err, codex.ErrInterrupted) {
					t.Fatal(err)
				}
				continue
			}
			b.see(n)
			if d, ok := n.(*item.CommandOutputDelta); ok && strings.Contains(d.Delta, "begun") && !stopped {
				stopped = true // more notifications may follow
				if err := th.Interrupt(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		b.check(t)
		if err := th.Interrupt(t.Context()); !errors.Is(err, codex.ErrNoTurn) {
			t.Errorf("an interrupt without a turn: %v", err)
		}
	})
}

// TestLive_interruptApproval interrupts during an approval: the callback ends, and the command never runs.
func TestLive_interruptApproval(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		asked, ended := make(chan struct{}), make(chan error, 1)
		w := live(t, version, func(w *world) {
			w.opts.Approve = func(ctx context.Context, _ *codex.Approval) (codex.Decision, error) {
				close(asked)
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return codex.Accept, nil // too late
			}
		})
		w.api.Reply(codextest.Calls(codextest.EscalatedCommand("call_1", "touch ran", "May I?")))
		th := w.thread(nil)
		turn, err := th.Send(t.Context(), codex.Text("Run it"))
		if err != nil {
			t.Fatal(err)
		}
		<-asked
		if err := turn.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
		r, err := turn.Wait(t.Context())
		if !errors.Is(err, codex.ErrInterrupted) {
			t.Error(err)
		}
		<-ended
		if cmds := items[*item.CommandExecution](r.Items); len(cmds) != 1 || !r.Cut["call_1"] && cmds[0].Status == item.StatusCompleted {
			t.Errorf("commands %+v, cut %v", cmds, r.Cut)
		}
		if w.read("ran") != "" {
			t.Error("the command ran")
		}
	})
}

// TestLive_queueAndSteer checks that a prompt sent during a turn waits for its end, unlike Steer.
func TestLive_queueAndSteer(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		gate := make(chan struct{})
		first := codextest.Message("First ", "answer.")
		w.api.Reply(codextest.Stream(codextest.Usage{}, slices.Concat(first[:2], []codextest.Event{{Wait: gate}}, first[2:])...),
			codextest.Say("Steered."), codextest.Say("Second."))
		th := w.thread(nil)
		one, err := th.Send(t.Context(), codex.Text("one"))
		if err != nil {
			t.Fatal(err)
		}
		two, err := th.Send(t.Context(), codex.Text("two"))
		if err != nil || two.ID() != "" {
			t.Fatalf("%v, id %q", err, two.ID())
		}
		gone, err := th.Send(t.Context(), codex.Text("three"))
		if err != nil {
			t.Fatal(err)
		}
		if err := gone.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
		if err := th.Steer(t.Context(), &codex.Prompt{Input: []item.Input{&item.Text{Text: "also this"}}, ClientID: "steer-1"}); err != nil {
			t.Fatal(err)
		}
		close(gate)
		r, err := one.Wait(t.Context())
		if err != nil || r.Text != "Steered." {
			t.Fatalf("%+v, %v; want err == nil and r.Text == \"Steered.\"", r, err)
		}
		var prompts []string
		for _, m := range items[*item.UserMessage](r.Items) {
			prompts = append(prompts, m.Content[0].(*item.Text).Text+m.ClientID)
		}
		if got := strings.Join(prompts, "|"); got != "one|also thissteer-1" {
			t.Errorf("prompts of the first turn: %s", got)
		}
		if r, err := two.Wait(t.Context()); err != nil || r.Text != "Second." || r.Steered {
			t.Errorf("%+v, %v; want err == nil and r.Text == \"Second.\" and not r.Steered", r, err)
		}
		if _, err := gone.Wait(t.Context()); !errors.Is(err, codex.ErrInterrupted) {
			t.Errorf("the withdrawn prompt: %v", err)
		}
		if err := th.Steer(t.Context(), codex.Text("late")); !errors.Is(err, codex.ErrNoTurn) {
			t.Errorf("steering nothing: %v", err)
		}
	})
}

func TestLive_twoThreads(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		w.api.ReplyTo("ALPHA", codextest.Say("alpha"))
		w.api.ReplyTo("BETA", codextest.Say("beta"))
		a, b := w.thread(nil), w.thread(nil)
		var wg sync.WaitGroup
		for th, prompt := range map[*codex.Thread]string{a: "ALPHA", b: "BETA"} {
			wg.Go(func() {
				for n, err := range th.Query(t.Context(), prompt) {
					if err != nil {
						t.Error(err)
					} else if item.ThreadOf(n) != th.ID() {
						t.Errorf("%T of another thread", n)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestLive_twentyThreads(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, nil)
		for i := range 20 {
			w.api.ReplyTo(fmt.Sprintf("prompt-%02d.", i), codextest.Say(fmt.Sprintf("answer-%02d", i)))
		}
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				th, err := w.client.StartThread(t.Context(), &codex.ThreadOptions{CWD: w.home.Project})
				if err != nil {
					t.Error(err)
					return
				}
				r, err := th.Run(t.Context(), fmt.Sprintf("prompt-%02d.", i))
				if err != nil || r.Text != fmt.Sprintf("answer-%02d", i) {
					t.Errorf("%d: %+v, %v; want err == nil and r.Text == fmt.Sprintf(\"answer-%%02d\", i)", i, r, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestLive_errors(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		drop := codextest.Message("half a ", "rest")
		refused := item.ErrorHTTPConnectionFailed
		if version == codexcli.Older {
			refused = item.ErrorOther // it has no class for this error
		}
		w := live(t, version, nil)
		better := codextest.Say("Better.")
		better.Repeat = true
		w.api.ReplyTo("Again", better)
		for name, tt := range map[string]struct {
			reply codextest.Reply
			kind  string
		}{
			"400":         {codextest.Fail(400, "bad"), item.ErrorOther},
			"401":         {codextest.Fail(401, "who"), refused},
			"429":         {codextest.Fail(429, "slow"), item.ErrorResponseTooManyFailedAttempts},
			"500":         {codextest.Fail(500, "oops"), item.ErrorInternalServerError},
			"usage limit": {codextest.Reply{Status: 429, Body: `{"error":{"type":"usage_limit_reached","message":"limit","plan_type":"plus","resets_at":1794739999}}`}, item.ErrorUsageLimitExceeded},
			"drop":        {codextest.Reply{Events: append(drop[:2:2], codextest.Event{Drop: true})}, ""},
		} {
			w.api.ReplyTo("Try "+name, tt.reply)
			th := w.thread(nil)
			b := balance{}
			var failed error
			for n, err := range th.Query(t.Context(), "Try "+name) {
				if err != nil {
					failed = err
					continue
				}
				b.see(n)
			}
			b.check(t)
			e, ok := errors.AsType[*codex.TurnError](failed)
			if !ok || tt.kind != "" && e.Info.Kind != tt.kind || e.Message == "" || e.Result.Status != item.StatusFailed {
				t.Errorf("%s: %v, want %s", name, failed, tt.kind)
			}
			if r := w.run(th, "Again"); r.Text != "Better." {
				t.Errorf("%s: the next turn: %q", name, r.Text)
			}
		}
	})
}

// TestLive_retry checks that a retry voids the partial message, which is closed as incomplete.
func TestLive_retry(t *testing.T) {
	both(t, func(t *testing.T, version string) {
		w := live(t, version, func(w *world) {
			w.opts.Config = map[string]any{"model_providers.fake.stream_max_retries": 2}
		})
		half := codextest.Message("half a ", "rest")
		w.api.Reply(codextest.Reply{Events: append([]codextest.Event{{Data: map[string]any{"type": "response.created", "response": map[string]any{"id": "r1"}}}},
			append(half[:2:2], codextest.Event{Drop: true})...)}, codextest.Say("Whole answer."))
		th := w.thread(nil)
		var got []string
		for n, err := range th.Query(t.Context(), "Try") {
			if err != nil {
				t.Fatal(err)
			}
			switch n := n.(type) {
			case *item.ErrorNotice:
				got = append(got, fmt.Sprint("retry ", n.WillRetry))
			case *item.ItemCut:
				got = append(got, "cut "+n.Reason+" "+n.Item.(*item.AgentMessage).Text)
			case *item.ItemCompleted:
				if m, ok := n.Item.(*item.AgentMessage); ok {
					got = append(got, m.Text)
				}
			}
		}
		if s := strings.Join(got, "|"); s != "retry true|cut retry half a |Whole answer." {
			t.Errorf("got %s", s)
		}
	})
}
