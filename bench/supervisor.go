package main

import (
	"bufio"
	"context"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

var supervisorRows = []string{"supervisor_start_ms", "supervisor_rss_bytes"}

// supervisorRound starts a shell with and without a supervisor, in turn. The first row is the delay of its
// first line with a supervisor, the second the resident memory of the supervisor.
func (b *bench) supervisorRound(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		b.notef("without %s: supervisors are for Linux", supervisorRows[0])
		return nil
	}
	const starts = 20
	var bare, under, memory []float64
	for range starts {
		ms, _, err := startShell(ctx, "")
		if err != nil {
			return err
		}
		bare = append(bare, ms)
		ms, resident, err := startShell(ctx, b.path("parley"))
		if err != nil {
			return err
		}
		under, memory = append(under, ms), append(memory, resident)
	}
	b.add(supervisorRows[0], "parley", median(under)-median(bare))
	b.add(supervisorRows[1], "parley", median(memory))
	return nil
}

// startShell returns the milliseconds until a shell has written a line, and the resident memory of its parent.
func startShell(ctx context.Context, supervisor string) (ms, resident float64, err error) {
	began := time.Now()
	p, err := proc.Start(ctx, spawn.Command{Path: "/bin/sh", Args: []string{"-c", "echo $PPID; read line"}}, proc.Options{Local: proc.LocalOptions{Supervisor: supervisor}})
	if err != nil {
		return 0, 0, err
	}
	defer p.Close()
	line, err := bufio.NewReader(p.Stdout()).ReadString('\n')
	ms = float64(time.Since(began)) / float64(time.Millisecond)
	if err != nil {
		return 0, 0, err
	}
	parent, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return 0, 0, err
	}
	resident, err = residentBytes(parent)
	return ms, resident, err
}
