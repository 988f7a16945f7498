package claudepool_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed7221b0f9/parley/claude"
	"github.com/seed7221b0f9/parley/claude/claudepool"
	"github.com/seed7221b0f9/parley/claude/claudetest"
	"github.com/seed7221b0f9/parley/claude/message"
	"github.com/seed7221b0f9/parley/spawn"
)

// house is a program for pools. It records its processes and their prompts, and the test can
// kill them or stop their answers.
type house struct {
	mu      sync.Mutex
	started int
	resumed []string
	tenants map[string][]string // prompts by process
	live    map[string]chan bool
	deaf    bool
}

func newHouse() *house { return &house{tenants: map[string][]string{}, live: map[string]chan bool{}} }

func (h *house) options(tenant string) *claude.Options {
	return &claude.Options{Spawner: h, CleanEnv: true, Logger: hushed, Tenant: tenant}
}

// hushed is the logger of all options in the tests, because options with another logger have
// another key.
var hushed = slog.New(slog.DiscardHandler)

// Spawn makes a house a spawner. All its options share it.
func (h *house) Spawn(ctx context.Context, cmd spawn.Command) (spawn.Process, error) {
	return claudetest.InProcess(h.program).Spawn(ctx, cmd)
}

func (h *house) program(cli *claudetest.CLI) int {
	h.mu.Lock()
	h.started++
	name := fmt.Sprint("process ", h.started)
	end := make(chan bool)
	h.live[name] = end
	if id, ok := cli.Flag("resume"); ok {
		h.resumed = append(h.resumed, id)
	}
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.live, name)
	}()
	cli.OnControl("mcp_status", func(claudetest.ControlRequest) (any, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.deaf {
			return nil, claudetest.ErrNoAnswer
		}
		return map[string]any{"mcpServers": []any{}}, nil
	})
	if _, err := cli.Handshake(); err != nil {
		return 1
	}
	for {
		next := make(chan string, 1)
		go func() {
			defer close(next)
			if m, err := cli.Prompt(); err == nil {
				next <- m.Text()
			}
		}()
		select {
		case <-end:
			return 3
		case text, ok := <-next:
			if !ok {
				return 0
			}
			h.mu.Lock()
			h.tenants[name] = append(h.tenants[name], text)
			h.mu.Unlock()
			cli.Turn(name)
		}
	}
}

func (h *house) count() (started, live int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.started, len(h.live)
}

// kill ends every process.
func (h *house) kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, end := range h.live {
		close(end)
	}
	h.live = map[string]chan bool{}
}

func quietPool(opts claudepool.Options) *claudepool.Pool {
	opts.Logger = hushed
	return claudepool.New(opts)
}

func lease(t *testing.T, p *claudepool.Pool, opts *claude.Options) *claudepool.Lease {
	t.Helper()
	l, err := p.Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// say sends a prompt and returns the answer.
func say(t *testing.T, l *claudepool.Lease, prompt string) string {
	t.Helper()
	var answer string
	for m, err := range l.Query(t.Context(), prompt) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := m.(*message.Result); ok {
			answer = r.Result
		}
	}
	return answer
}

// poolTest runs a test with a pool and checks that Close leaves no process or goroutine.
func poolTest(t *testing.T, opts claudepool.Options, f func(t *testing.T, h *house, p *claudepool.Pool)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h, p := newHouse(), quietPool(opts)
		f(t, h, p)
		for range 2 {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, live := h.count(); live > 0 {
			t.Errorf("%d processes are left", live)
		}
		if st := p.Stats(); st.Ready+st.Starting+st.InUse+st.Waiting > 0 {
			t.Errorf("left: %+v", st)
		}
		if _, err := p.Connect(t.Context(), h.options("a")); !errors.Is(err, claude.ErrClosed) {
			t.Errorf("behind Close: %v", err)
		}
		if err := p.Warm(t.Context(), h.options("a")); !errors.Is(err, claude.ErrClosed) {
			t.Errorf("behind Close: %v", err)
		}
	})
}

func TestPoolKeepsReady(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 2}, func(t *testing.T, h *house, p *claudepool.Pool) {
		if err := p.Warm(t.Context(), h.options("a")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if st := p.Stats(); st.Ready != 2 {
			t.Errorf("%+v; want st.Ready == 2", st)
		}
		l := lease(t, p, h.options("a"))
		synctest.Wait()
		if st := p.Stats(); !l.Warm() || st.Hits != 1 || st.InUse != 1 || st.Ready != 2 {
			t.Errorf("warm %v, %+v", l.Warm(), st)
		}
		if one, two := say(t, l, "x"), say(t, l, "y"); one != two || one == "" {
			t.Errorf("two processes: %q, %q", one, two)
		}
		l.Close()
		if _, err := l.Send(t.Context(), claude.Text("z")); !errors.Is(err, claude.ErrClosed) {
			t.Error(err)
		}
	})
}

// TestPoolKeepsTenantsApart: many conversations of several tenants never share a
// process.
func TestPoolKeepsTenantsApart(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 1, Max: 6}, func(t *testing.T, h *house, p *claudepool.Pool) {
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				tenant := fmt.Sprint("tenant ", i%4)
				l, err := p.Connect(t.Context(), h.options(tenant))
				if err != nil {
					t.Error(err)
					return
				}
				defer l.Close()
				for range 2 {
					say(t, l, tenant)
				}
			})
		}
		all.Wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		heard := 0
		for name, prompts := range h.tenants {
			heard += len(prompts)
			for _, p := range prompts {
				if p != prompts[0] {
					t.Errorf("%s has served %q and %q", name, prompts[0], p)
				}
			}
			if len(prompts) > 2 {
				t.Errorf("%s has served two conversations: %q", name, prompts)
			}
		}
		if heard != 120 {
			t.Errorf("%d prompts were heard", heard)
		}
	})
}

func TestPoolMax(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 1, Max: 2}, func(t *testing.T, h *house, p *claudepool.Pool) {
		a := lease(t, p, h.options("a"))
		synctest.Wait() // one more is ready for tenant a
		if _, live := h.count(); live != 2 {
			t.Fatalf("%d processes", live)
		}
		b := lease(t, p, h.options("b")) // takes the place of the ready one
		synctest.Wait()
		if st := p.Stats(); st.Ready != 0 || st.Discarded != 1 || st.InUse != 2 {
			t.Errorf("%+v; want st.Ready == 0 and st.Discarded == 1 and st.InUse == 2", st)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Connect(ctx, h.options("c")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a third one: %v", err)
		}
		got := make(chan *claudepool.Lease)
		go func() { got <- lease(t, p, h.options("c")) }()
		synctest.Wait()
		if st := p.Stats(); st.Waiting != 1 {
			t.Errorf("%+v; want st.Waiting == 1", st)
		}
		a.Close()
		c := <-got
		if _, live := h.count(); live != 2 || say(t, c, "x") == "" {
			t.Errorf("%d processes", live)
		}
		b.Close()
	})
}

func TestPoolForgets(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 2, IdleTime: time.Minute, CheckEvery: time.Second}, func(t *testing.T, h *house, p *claudepool.Pool) {
		if err := p.Warm(t.Context(), h.options("a")); err != nil {
			t.Fatal(err)
		}
		pass(t, 50*time.Second)
		if st := p.Stats(); st.Ready < 2 {
			t.Errorf("%+v; want st.Ready >= 2", st)
		}
		pass(t, 20*time.Second)
		if _, live := h.count(); live != 0 || p.Stats().Ready != 0 {
			t.Errorf("%d live, %+v", live, p.Stats())
		}
	})
}

func TestPoolReplacesTheDead(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 1, CheckEvery: time.Second}, func(t *testing.T, h *house, p *claudepool.Pool) {
		if err := p.Warm(t.Context(), h.options("a")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ready := p.Stats().Ready
		h.kill()
		synctest.Wait()
		if st := p.Stats(); st.Ready != 0 || st.Lost != int64(ready) {
			t.Errorf("%+v; want st.Ready == 0 and st.Lost == int64(ready)", st)
		}
		pass(t, 2*time.Second)
		if st := p.Stats(); st.Ready != 1 {
			t.Errorf("%+v; want st.Ready == 1", st)
		}
	})
}

func TestPoolReplacesTheDeaf(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 1, CheckEvery: time.Second, CheckTimeout: time.Second}, func(t *testing.T, h *house, p *claudepool.Pool) {
		if err := p.Warm(t.Context(), h.options("a")); err != nil {
			t.Fatal(err)
		}
		pass(t, 5*time.Second)
		started, _ := h.count()
		if p.Stats().Lost != 0 {
			t.Errorf("%+v; want p.Stats().Lost == 0", p.Stats())
		}
		h.mu.Lock()
		h.deaf = true
		h.mu.Unlock()
		pass(t, 20*time.Second)
		if now, _ := h.count(); now == started || p.Stats().Lost == 0 {
			t.Errorf("%+v; want now != started and p.Stats().Lost != 0", p.Stats())
		}
	})
}

func TestPoolBindsLate(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 1}, func(t *testing.T, h *house, p *claudepool.Pool) {
		opts := h.options("a")
		opts.Model = "one"
		if err := p.Warm(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		opts.Model, opts.PermissionMode = "two", ""
		l := lease(t, p, opts)
		var model string
		for m, err := range l.Query(t.Context(), "x") {
			if err != nil {
				t.Fatal(err)
			}
			if init, ok := m.(*message.Init); ok {
				model = init.Model
			}
		}
		if !l.Warm() || model != "two" {
			t.Errorf("warm %v, model %q", l.Warm(), model)
		}
	})
}

func TestPoolOfNamedSessions(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 3}, func(t *testing.T, h *house, p *claudepool.Pool) {
		opts := h.options("a")
		opts.Resume = "11111111-1111-4111-8111-111111111111"
		if err := p.Warm(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		l := lease(t, p, opts)
		synctest.Wait()
		if started, _ := h.count(); started != 1 || !l.Warm() {
			t.Errorf("%d were started", started)
		}
	})
}

func TestPoolRecycles(t *testing.T) {
	var why []claudepool.RecycleReason
	note := func(_ context.Context, c *claude.Client, reason claudepool.RecycleReason) error {
		why = append(why, reason)
		return nil
	}
	poolTest(t, claudepool.Options{Recycle: claudepool.Recycle{Turns: 2, Age: time.Hour}, OnRecycle: note}, func(t *testing.T, h *house, p *claudepool.Pool) {
		l := lease(t, p, h.options("a"))
		var served []string
		for range 3 {
			served = append(served, say(t, l, "x"))
		}
		id := l.Client().SessionID()
		pass(t, 2*time.Hour)
		served = append(served, say(t, l, "x"))
		h.kill()
		synctest.Wait()
		served = append(served, say(t, l, "x"))
		if got := strings.Join(served, ", "); got != "process 1, process 1, process 2, process 3, process 4" {
			t.Errorf("got is %v; want got == \"process 1, process 1, process 2, process 3, process 4\"", got)
		}
		if got := fmt.Sprint(why); got != "[turns age ended]" {
			t.Errorf("got is %v; want got == \"[turns age ended]\"", got)
		}
		if len(h.resumed) != 3 || h.resumed[0] != id || h.resumed[2] != id || p.Stats().Recycled != 3 {
			t.Errorf("resumed %q, the session is %s, %+v", h.resumed, id, p.Stats())
		}
	})
}

// TestPoolKeepsBusyClients: a conversation keeps its process while a turn
// runs, and always if it is not persisted.
func TestPoolKeepsBusyClients(t *testing.T) {
	poolTest(t, claudepool.Options{Recycle: claudepool.Recycle{Turns: 1}}, func(t *testing.T, h *house, p *claudepool.Pool) {
		opts := h.options("a")
		opts.PersistSession = new(false)
		l := lease(t, p, opts)
		if one, two := say(t, l, "x"), say(t, l, "y"); one != two {
			t.Errorf("%q, %q; want one == two", one, two)
		}
		l = lease(t, p, h.options("b"))
		var turns []*claude.Turn
		for range 3 {
			turn, err := l.Send(t.Context(), claude.Text("x"))
			if err != nil {
				t.Fatal(err)
			}
			turns = append(turns, turn)
		}
		for _, turn := range turns {
			if r, err := turn.Wait(t.Context()); err != nil || r.Result == "" {
				t.Errorf("%+v, %v; want err == nil and r.Result != \"\"", r, err)
			}
		}
	})
}

func TestPoolCloseEndsEverybody(t *testing.T) {
	poolTest(t, claudepool.Options{Min: 2, Max: 3}, func(t *testing.T, h *house, p *claudepool.Pool) {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				l, err := p.Connect(t.Context(), h.options(fmt.Sprint(i%2)))
				if err == nil {
					_, err = l.Send(t.Context(), claude.Text("x"))
				}
				if err != nil && !errors.Is(err, claude.ErrClosed) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		p.Close()
		all.Wait()
	})
}

// pass waits for a duration in the test's fake time.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
}
