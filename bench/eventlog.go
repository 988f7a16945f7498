package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed7221b0f9/parley/eventlog"
)

// The load of the event log: writers that append records of several events, each to a separate log.
const (
	logWriters    = 20
	eventsPerCall = 10
	bytesPerEvent = 500
	logTime       = 2 * time.Second
)

// eventlogRound counts the durable events per second, and for comparison the records of the same size that a bare loop of
// write and fsync puts on the same disk.
func (b *bench) eventlogRound(ctx context.Context) error {
	dir, err := os.MkdirTemp(b.tmp, "eventlog-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	synced, err := appendFor(ctx, filepath.Join(dir, "data"), logTime)
	if err != nil {
		return err
	}
	bare, err := fsyncFor(filepath.Join(dir, "bare"), logTime)
	if err != nil {
		return err
	}
	b.logf("  eventlog %.0f events/s; a bare fsync loop %.0f records/s", synced, bare)
	b.add("eventlog_synced_per_s", "parley", synced)
	b.add("eventlog_synced_per_s", "fsync", bare*eventsPerCall)
	return nil
}

// appendFor appends for some time and returns the acknowledged events per second.
func appendFor(ctx context.Context, dir string, limit time.Duration) (float64, error) {
	store, err := eventlog.Open(ctx, &eventlog.Options{Dir: dir})
	if err != nil {
		return 0, err
	}
	events := make([][]byte, eventsPerCall)
	for i := range events {
		events[i] = make([]byte, bytesPerEvent)
	}
	var count atomic.Int64
	var writers sync.WaitGroup
	failed := make(chan error, logWriters)
	start := time.Now()
	for w := range logWriters {
		writers.Go(func() {
			log := store.Log(fmt.Sprint("s", w))
			for last := uint64(0); time.Since(start) < limit; count.Add(eventsPerCall) {
				var err error
				if last, err = log.Append(ctx, last, events...); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	writers.Wait()
	took := time.Since(start).Seconds()
	close(failed)
	return float64(count.Load()) / took, errors.Join(<-failed, store.Close(ctx))
}

// fsyncFor writes and syncs records one after the other and returns their number per second.
func fsyncFor(name string, limit time.Duration) (float64, error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	record := make([]byte, eventsPerCall*bytesPerEvent)
	start := time.Now()
	count := 0
	for ; time.Since(start) < limit; count++ {
		if _, err := f.Write(record); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return float64(count) / time.Since(start).Seconds(), nil
}
