package main

import (
	"context"
	"errors"
	"runtime"
	"runtime/pprof"
	"sync"

	"github.com/seed7221b0f9/parley/claude"
)

// idled is the total cost of the idle clients.
type idled struct {
	Clients    int    `json:"clients"`
	Heap       int64  `json:"heap"`
	Stack      int64  `json:"stack"`
	Goroutines int    `json:"goroutines"`
	Threads    int    `json:"threads"`
	Limit      string `json:"limit,omitempty"` // the reason why there are fewer than requested
}

// connecting is the number of clients started concurrently.
const connecting = 8

func idle(ctx context.Context, cli string, n int) (*idled, error) {
	// Connect one client before measuring, to exclude one-time costs.
	warm, err := claude.Connect(ctx, &claude.Options{CLIPath: cli})
	if err != nil {
		return nil, err
	}
	defer warm.Close()
	before := footprint()
	clients, err := connect(ctx, cli, n)
	defer closeAll(clients)
	if len(clients) == 0 {
		return nil, err
	}
	after := footprint()
	out := &idled{
		Clients:    len(clients),
		Heap:       after.Heap - before.Heap,
		Stack:      after.Stack - before.Stack,
		Goroutines: after.Goroutines - before.Goroutines,
		Threads:    after.Threads - before.Threads,
	}
	if err != nil {
		out.Limit = err.Error()
	}
	for _, c := range clients {
		if c.ServerInfo() == nil {
			return nil, errors.New("a client without the answer to initialize")
		}
	}
	return out, nil
}

func footprint() idled {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return idled{
		Heap:       int64(m.HeapAlloc),
		Stack:      int64(m.StackInuse),
		Goroutines: runtime.NumGoroutine(),
		Threads:    pprof.Lookup("threadcreate").Count(),
	}
}

// connect connects n clients, or as many as the machine allows; then it also returns the first
// error.
func connect(ctx context.Context, cli string, n int) (clients []*claude.Client, failed error) {
	var mu sync.Mutex
	var work sync.WaitGroup
	slots := make(chan struct{}, connecting)
	for range n {
		slots <- struct{}{}
		mu.Lock()
		stop := failed != nil
		mu.Unlock()
		if stop {
			break
		}
		work.Go(func() {
			defer func() { <-slots }()
			c, err := claude.Connect(ctx, &claude.Options{CLIPath: cli})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				clients = append(clients, c)
			case failed == nil:
				failed = err
			}
		})
	}
	work.Wait()
	return clients, failed
}

func closeAll(clients []*claude.Client) {
	var work sync.WaitGroup
	for _, c := range clients {
		work.Go(func() { c.Close() })
	}
	work.Wait()
}
