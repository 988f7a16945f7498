package proc

import (
	"bufio"
	"testing"
	"time"
)

// TestSessionsEnded: Kill finds descendants that have left the group, also nested ones.
func TestSessionsEnded(t *testing.T) {
	kill := map[string]func(*Supervisor) error{"Kill": (*Supervisor).Kill, "Close": (*Supervisor).Close}
	for name, end := range kill {
		t.Run(name, func(t *testing.T) {
			census(t)
			line := newLifeline(t)
			const short = 10 * time.Millisecond
			s := start(t, behaviour("deaf-family", line.env()), Options{CloseGrace: short, TermGrace: short})
			readLine(t, bufio.NewReader(s.Stdout()))
			line.holder(t)
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			line.awaitDeath(t)
		})
	}
}
