package session

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/eventlog"
	"github.com/seed7221b0f9/parley/internal/test/short"
	"github.com/seed7221b0f9/parley/server/api"
)

// queueActor returns an actor without a loop with an idle session.
func queueActor(t *testing.T) (*actor, *memLog, func() *actor) {
	t.Helper()
	s, st := memSessions(t)
	id := Prefix + "queue"
	a := s.newActor(id, "e")
	t.Cleanup(a.cancel)
	a.draft(draft{event: &event.SessionState{State: string(Idle)}, facts: &facts{State: Idle, Opened: &Opened{Provider: "claude"}}})
	if err := a.write(); err != nil {
		t.Fatal(err)
	}
	return a, st.logs[id], func() *actor {
		b := s.newActor(id, "e")
		t.Cleanup(b.cancel)
		for i, data := range st.logs[id].events {
			if err := b.replay(eventlog.Event{Seq: uint64(i + 1), Data: data}, 0); err != nil {
				t.Fatal(err)
			}
		}
		b.core.knowQueue(b.conv.Queue)
		return b
	}
}

// queueSteps are the kinds of changes of a queue.
var queueSteps = []func(r *rand.Rand, c *core, n int) []draft{
	func(_ *rand.Rand, c *core, n int) []draft {
		d, err := c.enqueue(input{ID: fmt.Sprint("p", n), Content: mustJSON(fmt.Sprint("text ", n)), Status: inputQueued}, "")
		return kept(d, err)
	},
	func(r *rand.Rand, c *core, n int) []draft {
		return kept(c.editInput(anyInput(r, c), mustJSON(fmt.Sprint("edited ", n))))
	},
	func(r *rand.Rand, c *core, _ int) []draft { return kept(c.removeInput(anyInput(r, c))) },
	func(r *rand.Rand, c *core, _ int) []draft {
		var ids []string
		for _, in := range c.queue() {
			ids = append(ids, in.ID)
		}
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		return kept(c.reorder(ids))
	},
	func(_ *rand.Rand, c *core, _ int) []draft { return c.hold() },
	func(r *rand.Rand, c *core, _ int) []draft {
		in, err := c.queued(anyInput(r, c))
		in.Status, in.Priority = inputQueued, []string{priorityNow, "next", ""}[r.IntN(3)]
		return kept(c.first(in), err)
	},
	func(_ *rand.Rand, c *core, _ int) []draft { return []draft{c.release()} },
	func(_ *rand.Rand, c *core, _ int) []draft {
		if in, ok := c.nextInput(); ok {
			return c.send(in)
		}
		return nil
	},
	func(r *rand.Rand, c *core, _ int) []draft {
		return c.died(func(input) agent.Delivery {
			return agent.Delivery(r.IntN(3))
		})
	},
}

func kept(d draft, err error) []draft {
	if err != nil {
		return nil
	}
	return []draft{d}
}

func anyInput(r *rand.Rand, c *core) string {
	if q := c.queue(); len(q) > 0 {
		return q[r.IntN(len(q))].ID
	}
	return ""
}

// TestQueue_changes checks that viewers, who get the changes, have the server's queue, and that the
// log folds to both, for all kinds of changes.
func TestQueue_changes(t *testing.T) {
	for seed := range uint64(short.Count(3, 10, 100)) {
		r := rand.New(rand.NewPCG(seed, 0))
		a, _, load := queueActor(t)
		for n := range 80 {
			a.draft(queueSteps[r.IntN(len(queueSteps))](r, &a.core, n)...)
			if err := a.write(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(a.core.queueItems(), a.conv.Queue); diff != "" {
				t.Fatalf("seed %d, change %d: viewers have another queue (-server +viewers):\n%s", seed, n, diff)
			}
			if n%8 > 0 {
				continue
			}
			b := load()
			if diff := cmp.Diff(a.core.queueItems(), b.conv.Queue); diff != "" {
				t.Fatalf("seed %d, change %d: the log folds to another queue (-server +log):\n%s", seed, n, diff)
			}
			want, err1 := json.Marshal(a.core)
			got, err2 := json.Marshal(b.core)
			if err1 != nil || err2 != nil || string(got) != string(want) {
				t.Fatalf("seed %d, change %d: the log folds to\n%s\nthe server has\n%s", seed, n, got, want)
			}
			b.batch = nil
			b.seq, b.encoder, b.hub = a.seq, a.encoder, a.hub
			a = b
		}
	}
}

// TestQueue_withoutChanges checks that a viewer without support for changes gets complete queues: one for every change if it is
// live or starts at the beginning of the log, and only the current queue from any other position.
func TestQueue_withoutChanges(t *testing.T) {
	for seed := range uint64(short.Count(2, 5, 50)) {
		r := rand.New(rand.NewPCG(seed, 1))
		a, log, _ := queueActor(t)
		go func() {
			for {
				select {
				case f := <-a.cmds:
					f()
				case <-t.Context().Done():
					return
				}
			}
		}()
		live := &Viewer{srv: a.srv, actor: a, Cursor: api.Cursor{Epoch: a.hub.epoch, Seq: a.seq}}
		var seen, queue []event.QueueItem
		take := func(items []Item, changes bool) {
			t.Helper()
			for _, it := range items {
				switch kind := event.MessageType(it.msg); {
				case kind == "queue_updated" && !changes:
					t.Fatalf("seed %d: a viewer got %s", seed, it.msg)
				case kind == "queue_changed":
					var e event.QueueChanged
					if err := event.Unmarshal(it.msg, &e); err != nil {
						t.Fatal(err)
					}
					queue = e.Items
				}
			}
		}
		for n := range 40 {
			before := a.seq
			a.draft(queueSteps[r.IntN(len(queueSteps))](r, &a.core, n)...)
			if err := a.write(); err != nil {
				t.Fatal(err)
			}
			if a.seq > before {
				items, err := live.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				take(items, false)
			}
			if diff := cmp.Diff(a.core.queueItems(), queue, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("seed %d, change %d (-server +viewer):\n%s", seed, n, diff)
			}
		}
		seen = queue
		for from := range len(log.events) {
			queue = nil
			v := &Viewer{srv: a.srv, actor: a, Cursor: api.Cursor{Epoch: a.hub.epoch, Seq: uint64(from)}}
			page, err := v.page(t.Context())
			if err == nil {
				err = v.readQueues(t.Context(), page)
			}
			if err != nil {
				t.Fatal(err)
			}
			take(v.whole(page), from > 0)
			told := slices.ContainsFunc(page, func(it Item) bool { return strings.HasPrefix(event.MessageType(it.msg), "queue_") })
			if diff := cmp.Diff(seen, queue, cmpopts.EquateEmpty()); diff != "" && told {
				t.Fatalf("seed %d, from %d (-server +viewer):\n%s", seed, from, diff)
			}
		}
	}
}

// TestQueue_order checks that a change contains the order only if viewers cannot infer it: by default new inputs are
// last and others keep their position.
func TestQueue_order(t *testing.T) {
	in := func(ids string) (list []input) {
		for id := range strings.FieldsSeq(ids) {
			list = append(list, input{ID: id, Content: `"x"`, Status: inputQueued})
		}
		return list
	}
	for _, tt := range []struct{ told, now, order string }{
		{"a b", "a b c d", ""}, {"a b c", "a c", ""}, {"a b c", "c d", ""}, {"a b", "b a", "b a"}, {"a b", "c a b", "c a b"}, {"a b c", "b d c", "b d c"}, {"a", "b", "whole"},
	} {
		c := &core{told: in(tt.told), Inputs: in(tt.now)}
		u, ok := c.queueEvent().(*event.QueueUpdated)
		if !ok {
			if tt.order != "whole" {
				t.Errorf("from %s to %s viewers get the whole queue, want the change", tt.told, tt.now)
			}
			continue
		}
		if got := strings.Join(u.Order, " "); got != tt.order {
			t.Errorf("from %s to %s the order is %q, want %q", tt.told, tt.now, got, tt.order)
		}
	}
}

// TestReadQueues checks that a viewer without support for changes gets complete queues, even if the log contains
// changes.
func TestReadQueues(t *testing.T) {
	message := func(ev event.Event) Item {
		msg, err := event.Marshal(ev)
		if err != nil {
			t.Fatal(err)
		}
		return Item{msg: msg}
	}
	whole := message(&event.QueueChanged{Items: []event.QueueItem{{ID: "a", Content: `"a"`}}})
	added := message(&event.QueueUpdated{Items: []event.QueueItem{{ID: "b", Content: `"b"`}}})
	for name, page := range map[string][]Item{"whole, then a change": {whole, added}, "twice": {added, whole, added}} {
		v := &Viewer{}
		for i := range page {
			page[i].Seq = uint64(i + 5)
		}
		if err := v.readQueues(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		var got event.QueueChanged
		last := page[len(page)-1].msg
		if err := event.Unmarshal(last, &got); err != nil || event.MessageType(last) != "queue_changed" || len(got.Items) != 2 || got.Items[0].ID != "a" || got.Items[1].ID != "b" {
			t.Errorf("%s: the last message is %s (%v), want the queue with a and b", name, last, err)
		}
	}
}

// TestQueue_log checks that the log has the content of an input once while it waits and once when it
// is sent, regardless of the others.
func TestQueue_log(t *testing.T) {
	a, log, _ := queueActor(t)
	const count, size = 20, 100_000
	for n := range count {
		a.draft(queueSteps[0](nil, &a.core, n)...)
		a.draft(kept(a.core.editInput(fmt.Sprint("p", n), mustJSON(strings.Repeat("x", size))))...)
	}
	a.draft(a.core.hold()...)
	a.draft(a.core.release())
	var ids []string
	for _, in := range slices.Backward(a.core.queue()) {
		ids = append(ids, in.ID)
	}
	a.draft(kept(a.core.reorder(ids))...)
	in, _ := a.core.nextInput()
	a.draft(a.core.send(in)...)
	a.delivered(in)
	a.draft(a.core.result()...)
	if err := a.write(); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, data := range log.events {
		total += len(data)
	}
	if want := (count + 1) * size; total < want || total > want+2000*count {
		t.Errorf("the log of %d inputs of %d bytes, of which one was sent, has %d bytes; want little more than %d", count, size, total, want)
	}
}

// TestQueue_memory checks the total memory for a large input, from its acceptance until it is sent: the
// listed copies, and little more.
func TestQueue_memory(t *testing.T) {
	const size = 4 << 20
	a, _, _ := queueActor(t)
	content := mustJSON(strings.Repeat("x", size))
	used := func(f func()) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		if err := a.write(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / size
	}
	accepted := used(func() {
		a.draft(kept(a.core.enqueue(input{ID: "p", Content: content, Status: inputQueued}, ""))...)
	})
	const most = 5       // with the race detector the compiler makes one more copy
	if accepted > most { // the message, the record, the queue of the conversation
		t.Errorf("accepting an input takes %.1f times its size, want 3, at most %d", accepted, most)
	}
	in, _ := a.core.nextInput()
	sent := used(func() { a.draft(a.core.send(in)...) })
	if sent > most { // the message, the record, the text of the conversation
		t.Errorf("sending an input takes %.1f times its size, want 3, at most %d", sent, most)
	}
}

// TestRetained checks how much memory a session keeps for large messages after their turn: almost
// nothing for a tool result that is too large, and one copy of a prompt, in the conversation.
func TestRetained(t *testing.T) {
	short.SkipQuick(t, "writes many events")
	a, log, _ := queueActor(t)
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	write := func(drafts ...draft) {
		a.draft(drafts...)
		if err := a.write(); err != nil {
			t.Fatal(err)
		}
		for i := range log.events {
			log.events[i] = nil // a log is not in memory
		}
	}
	small := func(text string) draft { return draft{event: &event.Notice{Text: text}} }
	const size = 20 << 20
	before := heap()
	func() {
		result := event.Quote(strings.Repeat("x", size))
		write(draft{event: &event.ToolComplete{ToolUseID: "t", Content: result}}, small("after the result"))
	}()
	if kept := (heap() - before) / size; kept > 0.1 {
		t.Errorf("%.2f of the size of a result is kept, want nothing", kept)
	}
	before = heap()
	func() {
		write(kept(a.core.enqueue(input{ID: "p", Content: mustJSON(strings.Repeat("x", size)), Status: inputQueued}, ""))...)
		in, _ := a.core.nextInput()
		write(a.core.send(in)...)
		a.delivered(in)
		write(a.core.result()...)
		write(small("after the prompt"))
	}()
	if kept := (heap() - before) / size; kept < 0.9 || kept > 1.2 {
		t.Errorf("%.2f times the size of a prompt is kept, want 1", kept)
	}
	runtime.KeepAlive(a)
}

// TestQueue_lost checks that an input with lost content is dropped.
func TestQueue_lost(t *testing.T) {
	c := core{State: Running}
	c.apply(1, "", &facts{Inputs: []input{{ID: "lost", Status: inputSent}, {ID: "kept", Content: mustJSON("x"), Status: inputQueued}}})
	if len(c.Inputs) != 1 || c.Inputs[0].ID != "kept" {
		t.Errorf("the inputs are %v, want the one with a content", c.Inputs)
	}
}

// mustJSON returns a text as the content of an input.
func mustJSON(text string) event.JSON { return event.Quote(text) }

// A prompt that SendNow sends during a turn reaches the agent at once, before the waiting ones, as
// part of the turn.
func TestSendNow_busy(t *testing.T) {
	c := newStage(t, Opened{Params: api.ConnectParams{CWD: "/d"}})
	p := c.connect()
	c.turn("work")
	p.take()
	var last string
	for _, text := range []string{"first", "second"} {
		r, err := c.Query(t.Context(), c.id, "", event.Quote(text), "", "by")
		if err != nil {
			t.Fatal(err)
		}
		last = r.TurnID
	}
	if got := p.take(); got != "" {
		t.Errorf("prompts during a turn reached the agent: %s", got)
	}
	r, err := Of[Queues](c.Sessions).SendNow(t.Context(), api.QueueItemParams{SessionID: c.id, ID: last})
	if err != nil || r.TurnID != last || r.Seq == 0 {
		t.Fatalf("SendNow returned %+v, %v", r, err)
	}
	c.await("the prompt reaches the agent", func() bool { return p.got("Send second") })
	if p.got("Send first") {
		t.Error("another prompt reached the agent too")
	}
	if !c.has(`"id":"`+last+`"`, `"priority":"now"`) {
		t.Error("the log does not have the prompt as one for now")
	}
}

// A prompt that SendNow sends without a turn begins a turn as every other one does.
func TestSendNow_idle(t *testing.T) {
	for name, connected := range map[string]bool{"with an agent": true, "without an agent": false} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			if connected {
				c.connect()
			}
			c.inLoop(func(a *actor) {
				d, err := a.core.enqueue(input{ID: "held", Content: `"held"`, Status: inputHeld}, "")
				if err == nil {
					err = a.commit(d)
				}
				if err != nil {
					t.Fatal(err)
				}
			})
			r, err := Of[Queues](c.Sessions).SendNow(t.Context(), api.QueueItemParams{SessionID: c.id, ID: "held"})
			if err != nil {
				t.Fatal(err)
			}
			_, log := c.records(int(r.Seq) - 1)
			if record, _, _ := strings.Cut(log, "\n"); !strings.Contains(record, `"order":["held"]`) {
				t.Errorf("message %d is\n%s\nwant the one that puts the prompt first", r.Seq, record)
			}
			c.await("the prompt reaches the agent", func() bool { p := c.puppets.agent(); return p != nil && p.got("Send held") })
			if c.has(`"id":"held"`, `"priority":"now"`) {
				t.Error("the prompt has the priority now in the log, want none: there was no turn that it could join")
			}
		})
	}
}

// A prompt for the running turn waits while another one is being sent, and then joins the turn.
func TestNow_sending(t *testing.T) {
	for name, send := range map[string]func(c *stage) error{
		"query": func(c *stage) error {
			_, err := c.Query(c.Context(), c.id, "", `"now"`, "now", "by")
			return err
		},
		"sendNow": func(c *stage) error {
			r, err := c.Query(c.Context(), c.id, "", `"now"`, "", "by")
			if err == nil {
				_, err = Of[Queues](c.Sessions).SendNow(c.Context(), api.QueueItemParams{SessionID: c.id, ID: r.TurnID})
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{})
			p := c.connect()
			open := p.block("Send")
			for _, text := range []string{"first", "last"} {
				if _, err := c.Query(t.Context(), c.id, "", event.Quote(text), "", "by"); err != nil {
					t.Fatal(err)
				}
			}
			if err := send(c); err != nil {
				t.Fatal(err)
			}
			if err := c.with(t.Context(), c.id, func(a *actor) error {
				if n := len(a.core.inflight()); n != 1 {
					t.Errorf("%d prompts are being sent, want one at a time", n)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			open()
			c.await("the prompt becomes part of the turn", func() bool { return p.got("Send now") })
			if p.got("Send last") {
				t.Error("a prompt that waits for the end of the turn reached the agent")
			}
		})
	}
}

// A session that has ended cannot be ended again; one without an agent is ended once.
func TestEnd_again(t *testing.T) {
	c := newStage(t, Opened{Params: api.ConnectParams{CWD: "/d"}})
	c.connect()
	n := 0
	for i := range 3 {
		if _, err := Of[Details](c.Sessions).Disconnect(t.Context(), api.SessionRef{SessionID: c.id}); err != nil {
			t.Fatal(err)
		}
		c.inState(Ended)
		m, records := c.records(n)
		if n = m; i > 0 && records != "" {
			t.Errorf("the end of a session that has ended wrote\n%s", records)
		}
	}
	if !c.HasAgent(t.Context(), "agent-1") || c.HasAgent(t.Context(), "agent-2") || c.HasAgent(t.Context(), "") {
		t.Error("the session has the agent agent-1, and no other session has one")
	}
}

// A person's request is not stored and has no effect while earlier actions of the agent cannot be stored.
func TestCommit_behind(t *testing.T) {
	c := newStage(t, Opened{Params: api.ConnectParams{CWD: "/d"}})
	p := c.connect()
	c.turn("work")
	c.log.set("Append", eventlog.ErrFull)
	p.events <- &event.AssistantMessage{Header: event.Header{UUID: "m", MessageID: "m"}, Blocks: []event.IndexedBlock{{Block: event.Content{Type: "text", Text: "said"}}}}
	c.await("the log is full", func() bool {
		full := false
		_ = c.with(t.Context(), c.id, func(a *actor) error { full = a.blocked != nil; return nil })
		return full
	})
	_, err := Of[Details](c.Sessions).Rename(t.Context(), api.SessionRenameParams{SessionID: c.id, Title: "new"})
	c.reason("a rename behind a full log", err, api.LimitReached)
	c.log.set("Append", nil)
	c.await("what the agent said", func() bool { return c.has(`"said"`) })
	if c.has(`"title":"new"`) {
		t.Error("the rename that failed is in the log")
	}
}

// TestQuery_heldAgain checks that the answer to a prompt that is held names its message in the log, not that of the notice, and is the same
// when the call is repeated.
func TestQuery_heldAgain(t *testing.T) {
	c, _ := callStage(t, false)
	var answers [2]api.Accepted
	for i := range answers {
		var err error
		if answers[i], err = c.Query(t.Context(), c.id, "key", `"x"`, "", "by"); err != nil {
			t.Fatal(err)
		}
	}
	first := answers[0]
	if !first.Held || answers[1] != first {
		t.Errorf("the answers are %+v, want a held prompt twice", answers)
	}
	_, log := c.records(int(first.Seq) - 1)
	if record, _, _ := strings.Cut(log, "\n"); !strings.Contains(record, first.TurnID) || !strings.Contains(record, `"queue`) {
		t.Errorf("message %d is\n%s\nwant the one with prompt %s", first.Seq, record, first.TurnID)
	}
}

// TestEnd_holds checks that ending a session holds its prompts, with and without an agent: otherwise they would start an agent again, for
// example when a rate limit is reset.
func TestEnd_holds(t *testing.T) {
	for name, connected := range map[string]bool{"with an agent": true, "without an agent": false} {
		t.Run(name, func(t *testing.T) {
			c := newStage(t, Opened{Params: api.ConnectParams{WaitForRateLimit: true}})
			if connected {
				c.connect()
			}
			c.inLoop(func(a *actor) { a.core.Limited = Timestamp(a.srv.opts.Now().Add(time.Hour)) })
			if _, err := c.Query(t.Context(), c.id, "", `"later"`, "", "by"); err != nil {
				t.Fatal(err)
			}
			if _, err := Of[Details](c.Sessions).Disconnect(t.Context(), api.SessionRef{SessionID: c.id}); err != nil {
				t.Fatal(err)
			}
			c.inState(Ended)
			list, err := Of[Queues](c.Sessions).List(t.Context(), ref(c.id))
			if err != nil || len(list.Items) != 1 || list.Items[0].Status != string(inputHeld) {
				t.Errorf("after the end the queue is %+v, %v, want the prompt held", list.Items, err)
			}
		})
	}
}
