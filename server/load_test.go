package server

import (
	"context"
	"fmt"
	"iter"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/agent"
	"github.com/seed7221b0f9/parley/agent/event"
	"github.com/seed7221b0f9/parley/internal/random"
	"github.com/seed7221b0f9/parley/server/session"
)

// envInt returns a number from the environment, for manual runs.
func envInt(name string, value int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return value
}

// stamped is a provider with text deltas that contain the time of their creation.
type stamped struct {
	agent.Provider
	every  time.Duration
	deltas int
}

func (p stamped) Open(ctx context.Context, opts agent.Options) (agent.Session, error) {
	s, err := p.Provider.Open(ctx, agent.Options{Dir: opts.Dir, ID: opts.ID})
	if err != nil {
		return nil, err
	}
	return &stampedSession{Session: s, p: p, events: make(chan event.Event, 16), stop: make(chan struct{})}, nil
}

type stampedSession struct {
	agent.Session
	p      stamped
	events chan event.Event
	stop   chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
}

func (s *stampedSession) Send(_ context.Context, in agent.Input) error {
	s.wg.Go(func() { s.turn(in) })
	return nil
}

func (s *stampedSession) Close() error {
	s.once.Do(func() { close(s.stop) })
	s.wg.Wait()
	return s.Session.Close()
}

func (s *stampedSession) emit(ev event.Event) {
	h := ev.Head()
	h.Provider, h.SessionID = "sim", s.ID()
	select {
	case s.events <- ev:
	case <-s.stop:
	}
}

// stampSize is the number of bytes of a delta's text: a time in nanoseconds and a blank.
const stampSize = 20

// turn streams messages of 50 deltas each.
func (s *stampedSession) turn(in agent.Input) {
	s.emit(&event.UserMessage{Header: event.Header{UUID: in.UUID}, IsPrompt: true})
	ticker := time.NewTicker(s.p.every)
	defer ticker.Stop()
	for n := 0; n < s.p.deltas; {
		h := event.Header{MessageID: random.UUID()}
		s.emit(&event.MessageStart{Header: h})
		s.emit(&event.TextStart{Header: h})
		text := ""
		for range 50 {
			select {
			case <-ticker.C:
			case <-s.stop:
				return
			}
			stamp := strconv.FormatInt(time.Now().UnixNano(), 10) + " "
			text += stamp
			s.emit(&event.TextDelta{Header: h, Text: stamp})
			n++
		}
		block := event.Content{Type: "text", Text: text, Raw: event.Encoded(map[string]string{"type": "text", "text": text})}
		s.emit(&event.AssistantMessage{Header: h, Blocks: []event.IndexedBlock{{Block: block}}})
		s.emit(&event.BlockStop{Header: h})
		s.emit(&event.MessageComplete{Header: h, StopReason: "end_turn"})
	}
	s.emit(&event.ResultMessage{Header: event.Header{UUID: random.UUID()}, Subtype: "success"})
}

func (s *stampedSession) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			select {
			case ev := <-s.events:
				if !yield(ev, nil) {
					return
				}
			case <-s.stop:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// TestLoad measures the time from an agent to a viewer while many sessions stream to many viewers,
// and checks that no data is lost, and that memory grows only with the conversations. The viewers
// run in a separate process, as in production, on the same cores.
func TestLoad(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("set PARLEY_SOAK=1 for the load test")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(200)) // as in parley serve
	sessions, viewers, seconds := envInt("PARLEY_LOAD_SESSIONS", 200), envInt("PARLEY_LOAD_VIEWERS", 400), envInt("PARLEY_LOAD_SECONDS", 300)
	h := newHarness(t, func(o *Options) { o.MaxAgents = sessions; o.Logger = nil })
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	h.synced = true
	h.opts.Providers = []agent.Provider{stamped{h.provider, 20 * time.Millisecond, 50 * seconds}}
	h.start()
	var ids []string
	for range sessions {
		ids = append(ids, h.connect())
	}
	crowd := startCrowd(t, crowdOrder{URL: h.url, Token: h.token, Sessions: ids, Viewers: viewers, Seconds: seconds, Text: 50 * seconds * stampSize})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, used := time.Now(), cpuTime(t)
	for _, id := range ids {
		h.query(id, "go")
	}
	heaps := make(chan uint64, 2) // after a quarter of the time, and shortly before the end
	for _, share := range []int{5, 19} {
		time.AfterFunc(time.Duration(seconds*share)*time.Second/20, func() { heaps <- heapInUse() })
	}
	seen := crowd.wait()
	cpu := cpuTime(t) - used
	cores := cpu.Seconds() / time.Since(began).Seconds()
	runtime.ReadMemStats(&after)
	deltas := float64(sessions * 50 * seconds)
	first, last := <-heaps, <-heaps
	text := uint64(sessions * 50 * seconds * stampSize * 14 / 20) // text received between the two
	fmt.Printf("server_p99_ms %.1f server_cores %.2f server_cpu_us %.1f server_allocs %.1f p50 %.1f deltas %d heap_early_mb %d heap_late_mb %d text_mb %d\n",
		seen.P99, cores, float64(cpu.Microseconds())/deltas, float64(after.Mallocs-before.Mallocs)/deltas, seen.P50, seen.Deltas, first>>20, last>>20, text>>20)
	if seen.Deltas == 0 {
		t.Fatal("no delta came")
	}
	if seen.Failed > 0 {
		t.Errorf("%d of %d viewers were cut off: %s", seen.Failed, viewers, seen.Why)
	}
	if seen.Short > 0 {
		t.Errorf("%d of %d viewers miss text", seen.Short, viewers)
	}
	if seen.P99 > 100 {
		t.Errorf("the 99th percentile from agent to viewer is %.1f ms, want at most 100 ms", seen.P99)
	}
	if limit := first + 4*text + 32<<20; last > limit {
		t.Errorf("the heap grew from %d to %d MB while the conversations got %d MB longer", first>>20, last>>20, text>>20)
	}
}

// TestManySessions checks the memory usage of unused sessions.
func TestManySessions(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("set PARLEY_SOAK=1 for the memory test")
	}
	h := newHarness(t, func(o *Options) { o.IdleTimeout, o.UnloadAfter, o.Logger = time.Millisecond, time.Millisecond, nil })
	for range 1000 {
		id := h.connect()
		h.query(id, "count 50")
	}
	eventually(t, "all are evicted", func() bool {
		return !slices.ContainsFunc(h.server.sessions.All(h.ctx()), func(e session.Info) bool { return e.Loaded })
	})
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("evicted_1000_heap_mb %d\n", m.HeapAlloc>>20)
	if m.HeapAlloc > 200<<20 {
		t.Errorf("1000 evicted sessions take %d MB", m.HeapAlloc>>20)
	}
}
