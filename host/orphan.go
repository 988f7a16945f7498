package host

import (
	"strconv"
	"time"
)

// orphanGrace is the time that an agent has after its orphan input.
const orphanGrace = 30 * time.Second

// orphanID is the id of the orphan input in the sequence; later ones of the same agent have a number.
const orphanID = "orphan"

// orphan is the state of an agent without an owner.
type orphan struct {
	input []byte
	count int // how often the input was written
	timer timer
	ended bool // the host ended the agent because of this
}

func (o *orphan) stop() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}

// setOrphan sets the options for an agent without an owner. The caller holds mu.
func (a *agent) setOrphan(o AgentOptions) {
	a.orphan.input = o.OrphanInput
	a.info.OrphanTimeout = o.OrphanTimeout
	if a.info.OrphanTimeout <= 0 {
		a.info.OrphanTimeout = a.h.o.OrphanTimeout
	}
}

// orphaned starts the orphan timeout.
func (a *agent) orphaned() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.orphan.stop()
	if a.exit == nil {
		a.orphan.timer = a.h.clock.AfterFunc(a.info.OrphanTimeout, a.warn)
	}
}

// owned stops the orphan timeout.
func (a *agent) owned() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.orphan.stop()
}

// warn writes the orphan input and starts the grace.
func (a *agent) warn() {
	a.h.ifOrphaned(func() {
		a.h.log.Warn("the agent had no owner for too long; ending it", "agent", a.number, "key", a.info.Key)
		a.mu.Lock()
		input := a.orphan.input
		a.orphan.count++
		id := orphanID
		if a.orphan.count > 1 {
			id += "-" + strconv.Itoa(a.orphan.count) // the host writes no known id again
		}
		a.orphan.timer = a.h.clock.AfterFunc(orphanGrace, a.giveUp)
		a.mu.Unlock()
		if len(input) > 0 {
			_, _ = a.write(id, input) // an agent that does not read it is ended anyway
		}
	})
}

func (a *agent) giveUp() {
	a.h.ifOrphaned(func() {
		a.mu.Lock()
		a.orphan.ended = a.exit == nil
		a.mu.Unlock()
		go a.end()
	})
}
