//go:build unix

package host

import (
	"testing"
	"time"

	"github.com/seed7221b0f9/parley/spawn"
)

// An agent that had an owner again in its last half minute gets the orphan input once more when that owner leaves too.
func TestOrphan_again(t *testing.T) {
	h := newFakeHost(t, Options{}, talker)
	clock := newFakeClock()
	h.clock = clock
	l := h.connect()
	p := spawnAgent(t, l, spawn.Command{Path: "x"}, AgentOptions{OrphanTimeout: time.Hour, OrphanInput: []byte("interrupt\n")})
	for range 2 {
		l.Close()
		clock.awaitTimer(t, time.Hour)
		clock.advance(time.Hour)
		clock.awaitTimer(t, orphanGrace)
		l = h.connect()
	}
	p, err := l.Attach(within(t), p.Agent().Number, 0)
	must(t, err)
	wantNextOf(t, p, "hello\n")
	for range 2 {
		wantNextOf(t, p, "got interrupt\n")
	}
}
