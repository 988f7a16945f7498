package acptest

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"
)

// Agent is a scripted agent. It plays each of its exchanges once, in turn. Its fields must be set
// before it serves.
type Agent struct {
	Exchanges []Exchange
	// Waiting, unless it is nil, is called when the agent waits for a notification of the client.
	// It must not block.
	Waiting func(method string)

	mu       sync.Mutex
	changed  *sync.Cond
	used     []bool
	answers  map[string]json.RawMessage // to requests of the agent, by id
	notes    map[string]int
	received []Message
	sent     []int
	queue    []func()
	ended    bool
	out      io.WriteCloser
}

// Message is a message of the client.
type Message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// Dial runs the agent in this process and returns its output and its input. Closing the output waits for the agent.
func (a *Agent) Dial() (io.ReadCloser, io.WriteCloser) {
	in, toAgent := io.Pipe()
	fromAgent, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Serve(in, out)
	}()
	return &output{PipeReader: fromAgent, in: in, done: done}, toAgent
}

type output struct {
	*io.PipeReader
	in   *io.PipeReader
	done chan struct{}
}

func (o *output) Close() error {
	err := o.PipeReader.Close()
	o.in.Close()
	<-o.done
	return err
}

// Serve runs the agent until its input ends. It closes both ends.
func (a *Agent) Serve(in io.ReadCloser, out io.WriteCloser) {
	a.mu.Lock()
	a.changed, a.out = sync.NewCond(&a.mu), out
	a.used, a.answers, a.notes = make([]bool, len(a.Exchanges)), map[string]json.RawMessage{}, map[string]int{}
	a.mu.Unlock()
	var work sync.WaitGroup
	work.Go(a.work)
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var m Message
		if json.Unmarshal(line, &m) == nil {
			a.take(m)
		}
	}
	a.update(func() { a.ended = true })
	out.Close()
	in.Close()
	work.Wait()
}

func (a *Agent) update(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
	a.changed.Broadcast()
}

// take notes a message of the client and queues the exchange of a request.
func (a *Agent) take(m Message) {
	a.update(func() {
		a.received = append(a.received, m)
		switch {
		case m.Method == "":
			a.answers[string(m.ID)] = m.Result
		case len(m.ID) == 0:
			a.notes[m.Method]++
		default:
			before := maps.Clone(a.notes)
			i := a.pick(&m)
			a.queue = append(a.queue, func() { a.play(i, m.ID, m.Method, before) })
		}
	})
}

// pick returns the index of the exchange for a request and marks it as used; -1 if no exchange is
// left.
func (a *Agent) pick(m *Message) int {
	var params map[string]json.RawMessage
	_ = json.Unmarshal(m.Params, &params) // a request without members matches no exchange
	first := -1
	for i, x := range a.Exchanges {
		if x.Method != m.Method || a.used[i] {
			continue
		}
		matches := true
		for name, value := range x.Match {
			matches = matches && string(params[name]) == value
		}
		if matches {
			a.used[i] = true
			return i
		}
		if first < 0 {
			first = i
		}
	}
	if first >= 0 {
		a.used[first] = true
	}
	return first
}

// work plays the queued exchanges.
func (a *Agent) work() {
	for {
		var do func()
		a.update(func() {
			for len(a.queue) == 0 && !a.ended {
				a.changed.Wait()
			}
			if !a.ended {
				do, a.queue = a.queue[0], a.queue[1:]
			}
		})
		if do == nil {
			return
		}
		do()
	}
}

// Send performs steps outside of any exchange, after the exchanges of requests that have arrived.
func (a *Agent) Send(steps ...Step) {
	a.update(func() {
		a.queue = append(a.queue, func() {
			for _, s := range steps {
				a.step(s, nil, map[string]int{})
			}
		})
	})
}

// play plays an exchange.
func (a *Agent) play(i int, id json.RawMessage, method string, before map[string]int) {
	if i < 0 {
		a.write(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":` + encoded(map[string]any{"code": -32601, "message": "Method not found: " + method}) + `}`)
		return
	}
	for _, s := range a.Exchanges[i].Steps {
		if !a.step(s, id, before) {
			return
		}
		if s.number > 0 {
			a.update(func() { a.sent = append(a.sent, s.number) })
		}
	}
}

// step executes one step. It returns false after the end of the agent.
func (a *Agent) step(s Step, id json.RawMessage, before map[string]int) bool {
	switch {
	case s.exit:
		a.out.Close()
		return false
	case s.answer != "":
		return a.wait(func() bool { _, ok := a.answers[s.answer]; return ok })
	case s.note != "":
		if a.Waiting != nil {
			a.Waiting(s.note)
		}
		ok := a.wait(func() bool { return a.notes[s.note] > before[s.note] })
		before[s.note]++
		return ok
	case s.reply != "":
		return a.write(`{"jsonrpc":"2.0","id":` + string(id) + `,` + s.reply + `}`)
	}
	return a.write(s.line)
}

func (a *Agent) wait(ok func() bool) (done bool) {
	a.update(func() {
		for !ok() && !a.ended {
			a.changed.Wait()
		}
		done = ok()
	})
	return done
}

func (a *Agent) write(line string) bool {
	_, err := io.WriteString(a.out, line+"\n")
	return err == nil
}

// Received returns the messages of the client so far.
func (a *Agent) Received() []Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.received)
}

// Played returns the numbers of the recorded lines that were played so far, in order.
func (a *Agent) Played() []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.sent)
}
