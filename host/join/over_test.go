//go:build unix

package join

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/host"
)

// The connection over two streams ends when the peer is silent for too long, or has ended.
func TestPiped(t *testing.T) {
	for _, silent := range []bool{true, false} {
		in, theirs := io.Pipe()
		heard, out := io.Pipe()
		limit := 500 * time.Millisecond
		c := piped(in, out, limit)
		for range 6 { // together longer than the limit
			<-time.After(limit / 5)
			if _, err := theirs.Write([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Fatalf("a connection that is not silent: %v", err)
			}
		}
		go func() { _, _ = c.Write([]byte("y")) }() // the read shows whether it arrived
		if _, err := io.ReadFull(heard, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if !silent {
			theirs.Close()
		}
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("silent %v: the connection ends with %v, want %v", silent, err, io.EOF)
		}
		c.Close()
		theirs.Close()
		heard.Close()
	}
}

// A server without an address has a separate host on a machine. One process at a time can join such
// a server over two streams.
func TestOver(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const id = "0123456789abcdef"
	c := Config{DataDir: dir, Policy: shellPolicy{}, Registration: host.Registration{Name: "m1"}, Logger: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	in, toMachine := io.Pipe()
	fromMachine, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Over(ctx, c, id, in, out) }()
	conn := piped(fromMachine, toMachine, time.Minute)
	r, err := host.AcceptRegistration(ctx, conn, func(host.Registration) error { return nil })
	if err != nil || r.Name != "m1" || r.System == "" {
		t.Fatalf("the machine registers as %+v, %v", r, err)
	}
	link, err := host.NewLink(ctx, conn, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Beat(); err != nil {
		t.Error(err)
	}
	if agents, err := link.Agents(ctx); err != nil || len(agents) != 0 {
		t.Errorf("the machine has the agents %+v, %v", agents, err)
	}
	if err := Over(ctx, c, id, in, out); !errors.Is(err, ErrJoined) {
		t.Errorf("a second link: %v, want %v", err, ErrJoined)
	}
	link.Close()
	toMachine.Close()
	defer out.Close()
	if err := <-ended; !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		t.Errorf("the link ends with %v", err)
	}
	for _, id := range []string{"", "0123", "0123456789abcde/", "../0123456789abcdef"} {
		if err := Over(ctx, c, id, in, out); !errors.Is(err, ErrConfig) {
			t.Errorf("the id %q: %v, want %v", id, err, ErrConfig)
		}
	}
	at, err := OverDir(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	guest, err := host.Dial(ctx, at, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Close()
	if err := guest.Stop(ctx); err != nil {
		t.Error(err)
	}
}
