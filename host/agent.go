package host

import (
	"encoding/json"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed7221b0f9/parley/internal/proc"
	"github.com/seed7221b0f9/parley/spawn"
)

// stderrTail is the number of bytes kept of the end of stderr, and the limit of those that wait for a slow owner.
const stderrTail = 32 << 10

// retryTime is the interval of retries to write files.
const retryTime = time.Second

// agent is a running process of the host, or one with an unacknowledged end.
type agent struct {
	h       *server
	number  uint32
	dir     string // its files
	process *proc.Supervisor
	raw     spawn.Process
	secrets []string      // files that are removed with the agent
	exited  chan struct{} // exit is set
	done    chan struct{} // closed when the last record is kept
	room    sync.Cond     // on mu: the spool may have space

	mu         sync.Mutex
	info       Agent
	spool      spool
	open       bool   // the agent has written an incomplete line
	tail       []byte // the frames from tailAt to the end of the spool; nil if they are only in files
	tailAt     int64
	inputs     map[string]*input
	queue      []*input
	writing    bool
	closing    bool // the input ends after the queued lines
	closed     bool // the input accepts no more lines
	unrecorded bool // the end of the input could not be stored yet
	dropping   bool // dropQueue is under way
	exit       *Exit
	waiting    bool   // for room
	trouble    string // the last reason for that
	dropped    bool   // the agent was forgotten: its records are not needed
	killed     bool
	orphan     orphan
	to         attachment
}

// attachment is the connection of an agent to its owner.
type attachment struct {
	conn   *conn // nil without an owner
	at     int64 // the spool position of the next frame to send
	from   uint64
	skip   bool // the next frames may include records before from
	credit int64
	stderr []byte
	exited bool // the owner was notified
}

// read reads the output of the agent to its end.
func (a *agent) read() {
	small := make([]byte, 4<<10)
	buf, large := small, []byte(nil)
	for {
		n, err := a.process.Stdout().Read(buf)
		if n > 0 {
			a.keepOutput(buf[:n])
		}
		if err != nil {
			break
		}
		// Use a small buffer for a quiet agent, a large one for a busy one.
		switch {
		case n == len(small) && large == nil:
			large = getBuffer()
			buf = large[:readSize]
		case n < len(small) && large != nil:
			putBuffer(large)
			large, buf = nil, small
		}
	}
	if large != nil {
		putBuffer(large)
	}
	a.mu.Lock()
	if a.open {
		a.keep(Record{Kind: Output})
	}
	a.keep(Record{Kind: OutputEnd})
	a.mu.Unlock()
	a.finish()
}

// keepOutput stores the output of the agent. It blocks while there is no space, and so does the agent.
func (a *agent) keepOutput(output []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	scratch := getBuffer()
	for !a.dropped {
		last, open := a.info.Last, a.open
		frames := appendLines(scratch[:0], a.number, a.h.clock.Now(), output, &last, &open)
		err := a.spool.append(frames, last, open, false)
		if err == nil {
			a.info.Last, a.open, a.trouble = last, open, ""
			a.show(frames)
			return
		}
		a.await(err)
	}
	putBuffer(scratch)
}

// keep assigns a number to a record and stores it, ignoring the limit. It retries if the record cannot be
// written. The caller holds mu.
func (a *agent) keep(r Record) {
	for !a.dropped {
		_, err := a.tryKeep(r)
		if err == nil {
			return
		}
		a.await(err)
	}
}

func (a *agent) tryKeep(r Record) (uint64, error) {
	r.Number, r.Time = a.info.Last+1, a.h.clock.Now()
	open := a.open && r.Kind != Output
	frames := appendRecord(getBuffer()[:0], a.number, r)
	if err := a.spool.append(frames, r.Number, open, true); err != nil {
		putBuffer(frames)
		return 0, err
	}
	a.info.Last, a.open, a.trouble = r.Number, open, ""
	a.show(frames)
	return r.Number, nil
}

// await waits until the spool may have space. The caller holds mu, which is released meanwhile.
func (a *agent) await(err error) {
	if a.trouble != err.Error() {
		a.trouble = err.Error()
		a.h.log.Warn("the agent is blocked: its lines cannot be stored", "agent", a.number, "err", err)
	}
	a.waiting = true
	if err != errFull {
		defer a.h.clock.AfterFunc(retryTime, func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.room.Broadcast()
		}).Stop()
	}
	a.room.Wait()
	a.waiting = false
}

// show passes frames that were just stored to the owner, if it has all earlier ones. It takes their buffer. The caller holds mu.
func (a *agent) show(frames []byte) {
	before := a.spool.end - int64(len(frames))
	switch {
	case a.tail != nil:
		a.tail = append(a.tail, frames...)
		putBuffer(frames)
	case a.to.conn != nil && a.to.at == before:
		a.tail, a.tailAt = frames, before
	default:
		putBuffer(frames)
	}
	if len(a.tail) > a.h.o.Memory {
		a.dropTail() // the owner is slow: it reads from the files
	}
	a.wake()
}

func (a *agent) dropTail() {
	if a.tail != nil {
		putBuffer(a.tail)
		a.tail = nil
	}
}

func (a *agent) wake() {
	if a.to.conn != nil {
		a.to.conn.ready(a)
	}
}

// onStderr queues the agent's stderr for the owner. If the owner is slow, the oldest data is dropped.
func (a *agent) onStderr(text []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.to.conn == nil {
		return
	}
	a.to.stderr = append(a.to.stderr, text...)
	if over := len(a.to.stderr) - stderrTail; over > 0 {
		a.to.stderr = append([]byte(nil), a.to.stderr[over:]...)
	}
	a.wake()
}

// watch waits for the exit.
func (a *agent) watch() {
	<-a.process.Done()
	end := a.process.Exit()
	defer close(a.exited)
	a.mu.Lock()
	defer a.mu.Unlock()
	exit := &Exit{
		ExitStatus: end.ExitStatus, Time: a.h.clock.Now(), Stderr: end.Stderr, Foreign: end.Foreign && !a.killed, OutOfMemory: end.OutOfMemory,
		Orphaned: a.orphan.ended,
	}
	exit.CPU, exit.MaxMemory = a.process.Usage()
	if end.Err != nil {
		exit.Error = end.Err.Error()
	}
	a.exit, a.closed = exit, true
	a.orphan.stop()
	a.removeSecrets()
	a.wake()
}

// finish stores the last record, when the output and the process have ended.
func (a *agent) finish() {
	<-a.exited
	a.mu.Lock()
	a.dropQueue()
	for a.dropping { // by the goroutine that writes; the exit is the last record
		a.room.Wait()
	}
	text, _ := json.Marshal(a.exit)
	a.keep(Record{Kind: Exited, Data: text})
	a.spool.close()
	a.mu.Unlock()
	close(a.done)
	a.h.agentEnded()
}

// describe returns the description of the agent. The caller holds mu.
func (a *agent) describe() Agent {
	d := a.info
	d.Kept, d.Spooled, d.Waits, d.Exit = a.info.Checkpoint+1, a.spool.size(), a.waiting, a.exit
	return d
}

// save writes the description for ReadSpool after the death of the host.
func (a *agent) save() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, err := json.Marshal(a.info)
	if err != nil {
		return err
	}
	return a.h.disk.replace(filepath.Join(a.dir, agentFile), text)
}

// end ends the agent and all its descendants, first with SIGTERM.
func (a *agent) end() {
	if err := a.process.Stop(); err != nil {
		a.h.log.Warn("the agent has not ended", "agent", a.number, "err", err)
	}
}

func (a *agent) signal(name string) error {
	if name == signalTerminate {
		return a.raw.Terminate()
	}
	a.mu.Lock()
	a.killed = true
	a.mu.Unlock()
	go func() {
		if err := a.process.Kill(); err != nil {
			a.h.log.Warn("the agent was killed and has not ended", "agent", a.number, "err", err)
		}
	}()
	return nil
}
