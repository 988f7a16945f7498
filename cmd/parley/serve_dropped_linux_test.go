package main

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed7221b0f9/parley/internal/test/short"
)

// hostDoor is a proxy for the socket of a host. It can end the connections, like a host that drops its owner.
type hostDoor struct {
	listener *net.UnixListener
	host     string // the socket of the host
	work     sync.WaitGroup

	mu    sync.Mutex
	conns []*net.UnixConn
}

// newHostDoor writes its address to the file with the address of a host's socket.
func newHostDoor(t *testing.T, data string) *hostDoor {
	t.Helper()
	name := filepath.Join(data, "host", "sock")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]string
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "d") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	d := &hostDoor{host: content["socket"]}
	if d.listener, err = net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(dir, "s")}); err != nil {
		t.Fatal(err)
	}
	content["socket"] = d.listener.Addr().String()
	if text, err = json.Marshal(content); err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	d.work.Go(d.accept)
	t.Cleanup(func() {
		d.listener.Close()
		d.cut()
		d.work.Wait()
		_ = os.RemoveAll(dir)
	})
	return d
}

func (d *hostDoor) accept() {
	for {
		owner, err := d.listener.AcceptUnix()
		if err != nil {
			return
		}
		host, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: d.host})
		if err != nil {
			owner.Close()
			continue
		}
		d.mu.Lock()
		d.conns = append(d.conns, owner, host)
		d.mu.Unlock()
		for from, to := range map[*net.UnixConn]*net.UnixConn{owner: host, host: owner} {
			d.work.Go(func() {
				_, _ = io.Copy(to, from) // it ends with a cut
				to.Close()
			})
		}
	}
}

// cut ends all connections, and reports how many there were.
func (d *hostDoor) cut() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.conns {
		if c.Close() == nil {
			n++
		}
	}
	d.conns = nil
	return n
}

// TestServe_dropped is like TestServe_killed, but the server continues, and its host drops the
// connection at random points.
func TestServe_dropped(t *testing.T) {
	short.Skip(t, "servers")
	sessions, turns, points := short.Count(1, 3, 20), short.Count(1, 4, 12), short.Count(1, 12, 140)
	w := newKillWorld(t, testSeed(t))
	calm, err := w.connect(t.Context())
	if err == nil {
		err = calm.run(t.Context(), 1, turns)
	}
	if err != nil {
		t.Fatal(err)
	}
	door := newHostDoor(t, w.data)
	w.kill() // the next server connects through the door
	pid := w.server.Process.Pid
	gap := sessions * calm.messages() * 8 / 10 / points
	ended := 0
	cuts := w.runKilled(sessions, turns, points, gap, func(point int, done <-chan struct{}) bool {
		if !w.awaitMore(point, done) {
			return false
		}
		ended += door.cut()
		return true
	})
	t.Logf("%d cuts of %d ends of connections in %d sessions", cuts, ended, sessions)
	if cuts < points*7/10 || ended < cuts/2 || w.server.Process.Pid != pid {
		t.Errorf("%d cuts have ended %d ends of connections, want about %d cuts of one server", cuts, ended, points)
	}
	w.checkAll(calm, turns)
}
