package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/client"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
	"github.com/seed7221b0f9/parley/server/session"
)

// TestClients_dropAndStall makes clients drop, stall and reconnect at random while sessions stream.
// Each must end with exactly the server's state.
func TestClients_dropAndStall(t *testing.T) {
	short.SkipQuick(t, "sends many megabytes")
	const turns = 2
	sessions, clients := short.Count(8, 20, 20), short.Count(16, 50, 50)
	h := newHarness(t, func(o *Options) { o.MaxAgents = sessions })
	h.provider.Pause = time.Millisecond
	var ids []string
	for range sessions {
		ids = append(ids, h.connect())
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	ctx, cancel := context.WithTimeout(context.Background(), 8*wait)
	defer cancel()
	ended := make(chan struct{})               // all turns have ended
	final := map[string]api.GetHistoryResult{} // read after ended
	views := make([]*client.View, clients)
	var wg sync.WaitGroup
	drops := make([]int, clients)
	for i := range clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			views[i], drops[i] = &client.View{}, 0
			h.wander(ctx, ids[i%sessions], views[i], r, ended, final, &drops[i])
		})
	}
	for n := range turns {
		for i, id := range ids {
			h.query(id, []string{"count 60", "think about it", "count 40", "auto Bash"}[(n+i)%4])
		}
	}
	for _, id := range ids {
		eventually(t, "the turns of "+id, func() bool {
			c := h.history(id)
			return c.State == string(session.Idle) && int(c.Totals.Turns) == turns && c.Title != "" && len(c.Queue) == 0
		})
		var r api.GetHistoryResult
		h.call("session.getHistory", api.SessionRef{SessionID: id}, &r)
		final[id] = r
	}
	close(ended)
	wg.Wait()
	total := 0
	for i, v := range views {
		want := final[ids[i%sessions]]
		if v.Cursor.Seq != want.Cursor.Seq {
			t.Errorf("client %d ended at %d, want %d", i, v.Cursor.Seq, want.Cursor.Seq)
			continue
		}
		if got := conversationJSON(t, &v.Conversation); got != string(want.Conversation) {
			t.Errorf("client %d has another conversation\ngot  %s\nwant %s", i, got, want.Conversation)
		}
		total += drops[i]
	}
	t.Logf("%d drops", total)
	if total < clients {
		t.Errorf("there were only %d drops", total)
	}
}

// wander follows a session over connections that break and stall. When ended is closed it follows
// to the end.
func (h *harness) wander(ctx context.Context, id string, v *client.View, r *rand.Rand, ended <-chan struct{}, final map[string]api.GetHistoryResult, drops *int) {
	c := h.client(h.token)
	for {
		var after *api.Cursor
		if v.Cursor.Epoch != "" {
			after = &v.Cursor
		}
		over := false
		select {
		case <-ended:
			over = true
		default:
		}
		bound, cancel := context.WithTimeout(ctx, time.Duration(20+r.IntN(500))*time.Millisecond)
		if over {
			cancel()
			bound, cancel = context.WithCancel(ctx)
		}
		left := 1 + r.IntN(80)
		for ev, err := range c.Follow(bound, id, after) {
			if err != nil {
				break
			}
			if err := v.Apply(ev); err != nil {
				h.Errorf("%s: %v", id, err)
				cancel()
				return
			}
			if r.IntN(40) == 0 {
				stall(bound, time.Duration(r.IntN(30))*time.Millisecond)
			}
			if left--; left == 0 && !over || over && v.Cursor.Seq >= final[id].Cursor.Seq {
				break
			}
		}
		cancel()
		*drops++
		if over || ctx.Err() != nil {
			return
		}
		stall(ctx, time.Duration(r.IntN(200))*time.Millisecond) // disconnected for a while
	}
}

func stall(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// TestViewer_slow checks that a viewer that falls out of the ring reads the log and then gets the
// beginning of the streamed block.
func TestViewer_slow(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	w := h.watch(id)
	v, _, end, err := h.server.sessions.Watch(h.ctx(), id, nil, session.Capabilities{})
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	h.query(id, fmt.Sprintf("count %d", 756))
	w.results(1)
	h.provider.Pause = 50 * time.Millisecond
	h.query(id, "count 10000")
	w.awaitAnswer("w1 w2 w3")
	view := client.View{Cursor: v.Cursor}
	if err := view.Conversation.UnmarshalJSON([]byte(`{"version":2,"threads":[],"turns":[],"tasks":[],"prompts":[],"queue":[],"hooks":[],"notices":[],"totals":{"turns":0}}`)); err != nil {
		t.Fatal(err)
	}
	var decoder event.Decoder
	for strings.Count(text(&view.Conversation), "w1 w2 w3") < 2 { // in both turns
		items, err := v.Next(h.ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			var env api.Envelope
			if err := json.Unmarshal(v.Envelope(it), &env); err != nil {
				t.Fatal(err)
			}
			events, err := decoder.Decode(env.Msg)
			if err != nil {
				t.Fatal(err)
			}
			if err := view.Apply(client.Event{Envelope: env, Events: events}); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := text(&view.Conversation)
	state := text(h.history(id))
	if len(got) == 0 || len(got) > len(state) || state[:len(got)] != got {
		t.Errorf("the viewer has\n%.200q…\nthe server\n%.200q…", got, state)
	}
	h.call("session.interrupt", api.SessionRef{SessionID: id}, nil)
	w.results(2)
}

// TestFollow_restart follows a session over a restart of the server: the client reconnects and
// misses no message.
func TestFollow_restart(t *testing.T) {
	h := newHarness(t)
	id := h.connect()
	token, err := h.server.CreateToken("viewer", "viewer", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	w := h.watchAs(token, id)
	h.query(id, "say before")
	w.results(1)
	h.restart()
	h.query(id, "say after")
	w.results(2)
	w.until("the title", func(c *uiConversation) bool { return c.Title != "" })
	var want api.GetHistoryResult
	eventually(t, "the viewer has everything", func() bool {
		h.call("session.getHistory", api.SessionRef{SessionID: id}, &want)
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.view.Cursor.Seq == want.Cursor.Seq && conversationJSON(t, &w.view.Conversation) == string(want.Conversation)
	})
}

// TestDeltas_joined checks that small pieces of an agent reach viewers in fewer messages, complete
// and in order.
func TestDeltas_joined(t *testing.T) {
	h := newHarness(t, func(o *Options) { o.JoinInterval, o.ViewerInterval = 10*time.Second, time.Nanosecond })
	h.provider.Pause = 2 * time.Millisecond
	id := h.connect()
	w := h.watch(id)
	h.query(id, "count 100")
	w.results(1)
	w.awaitAnswer("w1 w2 w3")
	w.awaitAnswer("w99 w100")
	n := 0
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.events {
		if _, ok := m.(*event.TextDelta); ok {
			n++
		}
	}
	if n == 0 || n > 5 {
		t.Errorf("100 words came in %d deltas", n)
	}
}

func conversationJSON(t *testing.T, c *event.Conversation) string {
	t.Helper()
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
