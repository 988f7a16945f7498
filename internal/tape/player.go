package tape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed7221b0f9/parley/internal/jsonwire"
	"github.com/seed7221b0f9/parley/spawn"
)

// Player plays the output of a recorded CLI to an SDK. It is a [spawn.Spawner]
// whose process is in memory, and can be started once.
//
// A control_response waits for its request and gets the id that the SDK gave it; every other
// line waits for the input before it in the recording. Lines after an end of input by the
// caller, by closing, aborting or leaving, wait for the end of input; lines after a signal wait
// for the signal. The process ends as it did in the recording.
type Player struct {
	// Protocol describes the protocol of the two sides; nil means that of the Claude CLI.
	Protocol *Protocol

	proc  *Process
	hints Hints

	mu      sync.Mutex
	cond    *sync.Cond // on mu, for readers of the output
	changed chan struct{}
	cmd     *spawn.Command
	files   map[string]string // of the command, with their content at the start
	partial []byte            // an incomplete line that is being written
	input   []string          // the written lines
	matched map[int]string
	hookIDs map[string]string // maps the ids of recorded hooks to those of the SDK
	counts  map[string]int
	eof     bool
	term    bool
	killed  bool
	out     []byte
	ended   bool // no more output
	err     error
	exited  chan struct{}
	status  spawn.ExitStatus
}

// Protocol holds the functions of a protocol that a player needs. They are called one at a
// time.
type Protocol struct {
	// Key returns the key by which a line of the input is matched, and the id of a request.
	Key func(line string) (key, id string)
	// Rewrite returns a line of the output in the form for the client. For an answer it gets
	// the recorded id of the request and the client's id.
	Rewrite func(line, recorded, own string) string
	// Take, if not nil, checks a line of the client. recorded is the matching line, next the
	// first line that the client had not sent; "" means none. The reply is sent to the client;
	// an error ends the process.
	Take func(line, recorded, next string) (reply string, err error)
	// Missing, if not nil, returns the error for a client that ends its input without a
	// recorded line.
	Missing func(recorded string) error
	// PassOver makes the lines optional that a client has not sent before the end of its input.
	PassOver bool
}

var claudeProtocol = &Protocol{Key: inputKey, Rewrite: func(line, recorded, own string) string {
	if own == "" {
		return line
	}
	return strings.ReplaceAll(line, quote(recorded), quote(own))
}}

// overtake is how long a waiting line may delay an answer after it. An SDK may wait for the
// answer before it sends the input that the line waits for.
const overtake = time.Millisecond

// NewPlayer returns a player of a recorded process.
func NewPlayer(p *Process, hints Hints) *Player {
	pl := &Player{proc: p, hints: hints, changed: make(chan struct{}, 1), matched: map[int]string{}, counts: map[string]int{}, exited: make(chan struct{})}
	pl.cond = sync.NewCond(&pl.mu)
	return pl
}

// Spawn starts playing.
func (p *Player) Spawn(_ context.Context, cmd spawn.Command) (spawn.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		return nil, errors.New("tape: the recording was started twice")
	}
	if p.Protocol == nil {
		p.Protocol = claudeProtocol
	}
	p.cmd, p.files = &cmd, map[string]string{}
	for _, path := range cmd.Files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("tape: a file of the command: %w", err)
		}
		p.files[path] = string(text)
	}
	go p.play()
	return &playedProcess{p: p}, nil
}

// Command returns the command that the SDK started, or nil.
func (p *Player) Command() *spawn.Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd
}

// Files returns the files of the command by their paths, with the content that they had at the
// start.
func (p *Player) Files() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.files)
}

// Input returns the lines that the SDK has written.
func (p *Player) Input() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.input...)
}

// Err returns the difference of the client from the recording if the protocol checks it, or
// nil.
func (p *Player) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// update changes the player and wakes the goroutine that plays.
func (p *Player) update(f func()) {
	p.mu.Lock()
	f()
	p.cond.Broadcast()
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// play runs the recorded process.
func (p *Player) play() {
	for pending := p.cues(); len(pending) > 0 && !p.dead(); {
		i, overtakes := p.next(pending)
		switch {
		case i < 0:
			if !p.missed() {
				p.pause(false)
			}
		case !overtakes || !p.pause(true):
			p.write(pending[i])
			// Move up the lines before it: they are few, and the rest can be a long recording.
			copy(pending[1:i+1], pending[:i])
			pending = pending[1:]
		}
	}
	p.waitForEnd()
	p.missed()
	p.exit()
}

func (p *Player) dead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// missed fails if the client has ended its input without a required line.
func (p *Player) missed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.missing()
	if p.Protocol.Missing == nil || !p.eof || next == "" || p.killed {
		return false
	}
	p.fail(p.Protocol.Missing(next))
	return true
}

// missing returns the first line of the input that the client has not sent. The caller holds
// p.mu.
func (p *Player) missing() string {
	for i, line := range p.proc.Stdin {
		if _, sent := p.matched[i+1]; !sent && !p.hints.Optional[i+1] {
			return line
		}
	}
	return ""
}

// fail ends the process. The caller holds p.mu.
func (p *Player) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.term, p.killed = true, true
}

// cue is a line of output and its conditions.
type cue struct {
	text   string
	answer int    // the input line that it answers, or 0
	id     string // the recorded id of that request
	after  []int  // input lines before it
	eof    bool
	signal bool
}

// cues returns the lines of the recording.
func (p *Player) cues() []cue {
	var cues []cue
	var before []int
	var eof, signal bool
	requests := map[string]int{}
	for _, ev := range p.proc.Timeline {
		switch {
		case ev.Dir == "in" && ev.Ev == "line":
			if !p.hints.Optional[ev.N] {
				before = append(before, ev.N)
			}
			if ev.Type == "control_request" {
				requests[ev.RequestID] = ev.N
			}
		case ev.Dir == "in" && ev.Ev == "eof":
			eof = p.hints.EndsInput
		case ev.Dir == "proc" && ev.Ev == "signal":
			signal = true
		case ev.Dir == "out" && ev.Ev == "line" && ev.N >= 1 && ev.N <= len(p.proc.Stdout):
			c := cue{text: p.proc.Stdout[ev.N-1], after: before[:len(before):len(before)], eof: eof, signal: signal}
			if n, ok := requests[ev.RequestID]; ok && ev.Type == "control_response" {
				c.answer, c.id = n, ev.RequestID
			}
			cues = append(cues, c)
		}
	}
	for _, rest := range p.proc.Stdout[min(len(cues), len(p.proc.Stdout)):] {
		cues = append(cues, cue{text: rest, after: before, eof: eof, signal: signal}) // an unfinished line
	}
	return cues
}

// next returns the line to play now, or -1. wait is true if that is an answer that would
// overtake the lines before it.
func (p *Player) next(pending []cue) (i int, wait bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.due(pending[0]) {
		return 0, false
	}
	for i, c := range pending {
		if c.answer > 0 && p.due(c) {
			return i, true
		}
	}
	// A CLI that refuses to start does not wait for a prompt, because the SDK may wait for the
	// handshake first.
	if c := pending[0]; p.refuses() && p.counts["request initialize"] > 0 && !c.eof && !c.signal {
		return 0, true
	}
	return -1, false
}

// refuses reports whether the recorded CLI never answered initialize.
func (p *Player) refuses() bool {
	return !slices.ContainsFunc(p.proc.Timeline, func(ev Event) bool { return ev.Dir == "out" && ev.Type == "control_response" })
}

func (p *Player) due(c cue) bool {
	if c.eof && !p.eof || c.signal && !p.term {
		return false
	}
	if c.answer > 0 {
		_, ok := p.matched[c.answer]
		return ok
	}
	for _, n := range c.after {
		if _, ok := p.matched[n]; !ok && !(p.eof && p.Protocol.PassOver) {
			return false
		}
	}
	return true
}

// pause waits for a change, only briefly if short is set. It reports whether there was one.
func (p *Player) pause(short bool) (changed bool) {
	var moment <-chan time.Time
	if short {
		t := time.NewTimer(overtake)
		defer t.Stop()
		moment = t.C
	}
	select {
	case <-p.changed:
		return true
	case <-moment:
		return false
	}
}

func (p *Player) write(c cue) {
	p.update(func() {
		text := p.Protocol.Rewrite(c.text, c.id, p.matched[c.answer])
		p.out = append(p.out, p.rewritten(p.withHook(text))...)
	})
}

// rewritten replaces the recorded configuration directory in a line by that of this run. The caller
// holds p.mu.
func (p *Player) rewritten(text string) string {
	recorded := p.proc.Env.Added["CLAUDE_CONFIG_DIR"]
	if recorded == "" {
		return text
	}
	for _, kv := range p.cmd.Env {
		if own, ok := strings.CutPrefix(kv, "CLAUDE_CONFIG_DIR="); ok {
			text = strings.ReplaceAll(text, recorded, own)
		}
	}
	return text
}

// waitForEnd waits for the event that ended the recorded process: the end of its input or a
// signal, if any, and then for the input that it had when it died.
func (p *Player) waitForEnd() {
	needEOF, needSignal := false, false
	lines := map[int]bool{}
	for _, ev := range p.proc.Timeline {
		switch {
		case ev.Ev == "tee_sigkill":
			return
		case ev.Dir == "in" && ev.Ev == "eof":
			needEOF = ev.Err == "" && !p.refuses() // a refusing process ends by itself
		case ev.Dir == "in" && ev.Ev == "line":
			lines[ev.N] = true
		case ev.Ev == "signal":
			needSignal = true
		}
	}
	for !p.over(needEOF, needSignal, lines) {
		if free := !needEOF && !needSignal; !p.pause(free) && free {
			return // the SDK will not write the rest
		}
	}
}

func (p *Player) over(needEOF, needSignal bool, lines map[int]bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := range lines {
		if _, ok := p.matched[n]; !ok && !needEOF && !needSignal && !p.killed {
			return false
		}
	}
	return p.killed || (!needEOF || p.eof) && (!needSignal || p.term)
}

// signalNames are the names that the recorder gives signals.
var signalNames = map[string]string{"killed": "SIGKILL", "terminated": "SIGTERM", "interrupt": "SIGINT", "hangup": "SIGHUP"}

func (p *Player) exit() {
	p.update(func() {
		p.status = spawn.ExitStatus{Code: p.proc.Exit.Code}
		if sig := p.proc.Exit.Signal; sig != nil {
			p.status = spawn.ExitStatus{Code: -1, Signal: *sig}
			if name, ok := signalNames[*sig]; ok {
				p.status.Signal = name
			}
		} else if p.killed {
			p.status = spawn.ExitStatus{Code: -1, Signal: "SIGKILL"}
		}
		p.ended = true
	})
	close(p.exited)
}

// take processes a line of the SDK. It matches the first unsent line of its kind in the
// recording; among several written at once, the one with the same content. The caller holds
// p.mu.
func (p *Player) take(line string) {
	p.input = append(p.input, line)
	key, id := p.Protocol.Key(line)
	p.counts[key]++
	next, first := p.missing(), 0
	for i, recorded := range p.proc.Stdin {
		if k, _ := p.Protocol.Key(recorded); k != key {
			continue
		}
		if _, ok := p.matched[i+1]; ok {
			continue
		}
		if sameInput(recorded, line) {
			first = i + 1
			break
		}
		if first == 0 {
			first = i + 1
		}
	}
	if first > 0 {
		p.matched[first] = id
	}
	recorded := ""
	if first > 0 {
		recorded = p.proc.Stdin[first-1]
	}
	if key == "request initialize" && first > 0 {
		p.hookIDs = mapHooks(recorded, line)
	}
	if p.Protocol.Take != nil {
		reply, err := p.Protocol.Take(line, recorded, next)
		p.out = append(p.out, reply...)
		if err != nil {
			p.fail(err)
		}
	}
}

// sameInput compares two lines of input without generated ids.
func sameInput(a, b string) bool {
	var values [2]map[string]any
	for i, line := range []string{a, b} {
		if json.Unmarshal([]byte(line), &values[i]) != nil {
			return a == b
		}
		delete(values[i], "request_id")
		delete(values[i], "uuid")
		delete(values[i], "session_id")
	}
	return reflect.DeepEqual(values[0], values[1])
}

// inputKey returns the key of a line on stdin without generated ids, and the id of a request.
func inputKey(line string) (key, id string) {
	var v struct {
		Type      string `json:"type"`
		RequestID string `json:"request_id"`
		Request   struct {
			Subtype string `json:"subtype"`
		} `json:"request"`
		Response struct {
			RequestID string `json:"request_id"`
		} `json:"response"`
	}
	_ = json.Unmarshal([]byte(line), &v) // a line that is not JSON has a separate key
	switch v.Type {
	case "control_request":
		return "request " + v.Request.Subtype, v.RequestID
	case "control_response":
		return "response " + v.Response.RequestID, ""
	}
	return v.Type, ""
}

// playedProcess is the process that a Player starts.
type playedProcess struct{ p *Player }

func (q *playedProcess) Stdin() io.WriteCloser { return playedStdin{q.p} }

func (q *playedProcess) Stdout() io.ReadCloser { return playedStdout{q.p} }

func (q *playedProcess) Stderr() io.ReadCloser {
	return io.NopCloser(strings.NewReader(q.p.proc.Stderr))
}

func (q *playedProcess) PID() int { return 0 }

func (q *playedProcess) Terminate() error {
	q.p.update(func() { q.p.term = true })
	return nil
}

func (q *playedProcess) Kill() error {
	q.p.update(func() { q.p.term, q.p.killed = true, true })
	return nil
}

func (q *playedProcess) Wait() (spawn.ExitStatus, error) {
	<-q.p.exited
	return q.p.status, nil
}

type playedStdin struct{ p *Player }

func (s playedStdin) Write(b []byte) (n int, err error) {
	s.p.update(func() {
		if s.p.eof || s.p.ended {
			err = syscall.EPIPE
			return
		}
		n = len(b)
		s.p.partial = append(s.p.partial, b...)
		for {
			line, rest, ok := strings.Cut(string(s.p.partial), "\n")
			if !ok {
				return
			}
			s.p.partial = []byte(rest)
			s.p.take(line)
		}
	})
	return n, err
}

func (s playedStdin) Close() error {
	s.p.update(func() { s.p.eof = true })
	return nil
}

type playedStdout struct{ p *Player }

func (s playedStdout) Read(b []byte) (int, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	for len(s.p.out) == 0 {
		if s.p.ended {
			return 0, io.EOF
		}
		s.p.cond.Wait()
	}
	n := copy(b, s.p.out)
	s.p.out = s.p.out[n:]
	return n, nil
}

func (s playedStdout) Close() error {
	s.p.update(func() { s.p.ended, s.p.out = true, nil })
	return nil
}

func quote(s string) string { return string(jsonwire.AppendString(nil, s)) }
